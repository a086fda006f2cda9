// One violation of every rule of oxlint.config.ts, and what looks like one and is allowed, in one run over a few files.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { runCommand } from './run-command.ts';
import { smallTree } from './small-tree.ts';

const NETWORK = ['http', 'https', 'http2', 'net', 'tls', 'dns', 'dns/promises', 'dgram'].map(
  (name) => `node:${name}`,
);
const STORES = ['pg', 'redis'];
const NATS = ['@nats-io/transport-node', '@nats-io/jetstream'];
const IMPORTS = [...NETWORK, 'undici', 'nodemailer', ...NATS, ...STORES];
/** Some of their names may be imported, so that a rule on imports cannot judge `import()`. */
const SPLIT = ['node:http', 'node:net'];
const CLIENTS = ['fetch', 'WebSocket', 'EventSource'];

const restores = (...names: readonly string[]) => names.map((name) => `export { connect } from '${name}';`);
const loads = (name: string) => `void import('${name}');`;
const uses = (name: string) => `use(${name});`;
const readsEnvironment = ["use(process.env['X']);", 'const { env } = process;', 'use(env);'];

/** By path: each line, and the rule that must refuse it; null where it is allowed. */
const planted: Readonly<
  Record<string, readonly (readonly [rule: string | null, lines: readonly string[]])[]>
> = {
  'server/src/inference/planted.ts': [
    ['no-restricted-imports', [...restores(...IMPORTS), "import { request } from 'node:http';"]],
    ['no-restricted-imports', ["import { env } from 'node:process';", "import all from 'node:process';"]],
    ['no-restricted-imports', [...IMPORTS.filter((name) => !SPLIT.includes(name)), 'tls'].map(loads)],
    ['restricted-syntax', SPLIT.map(loads)],
    ['restricted-syntax', CLIENTS.map((name) => uses(`globalThis.${name}`))],
    ['restricted-syntax', readsEnvironment.slice(0, 2)],
    ['no-restricted-globals', CLIENTS.map(uses)],
    ['no-floating-promises', ['Promise.resolve(1);']],
    ['no-misused-promises', ['[1].forEach(async () => { await 1; });']],
    ['switch-exhaustiveness-check', ["switch ('a' as 'a' | 'b') { case 'a': }"]],
    ['max-lines-per-function', [`export function long() {${'\n'.repeat(70)}}`]],
    ['max-lines-per-function', [`export const arrow = () => {${'\n'.repeat(70)}};`]],
    [null, [`export function full() {${'\n'.repeat(69)}}`]],
    [null, ["import type { Pool } from 'undici';", "import { isIP, BlockList } from 'node:net';"]],
    [null, ["import { STATUS_CODES } from 'node:http';", "import { argv } from 'node:process';"]],
    [null, [loads('node:fs'), 'use(process.argv);']],
  ],
  'server/src/http/planted.ts': [
    ['no-restricted-imports', ["export { createServer, request } from 'node:http';", ...restores('pg')]],
    [null, ["import { createServer } from 'node:http';"]],
  ],
  'server/src/store/planted.ts': [
    ['no-restricted-imports', restores('undici', 'nodemailer')],
    [null, restores(...STORES)],
  ],
  'server/src/store/embedded/data-directory-lock.ts': [
    ['no-restricted-imports', ["export { createConnection } from 'node:net';", ...restores('pg')]],
    [null, restores('node:net')],
  ],
  'server/src/kit/egress/planted.ts': [
    ['no-restricted-imports', restores('pg', 'nodemailer')],
    ['restricted-syntax', readsEnvironment.slice(0, 2)],
    [null, [...restores('undici', ...NETWORK), ...CLIENTS.map(uses), loads('node:tls')]],
  ],
  'server/src/mail/smtp-transport.ts': [
    ['no-restricted-imports', restores('undici', 'pg')],
    ['restricted-syntax', [uses('globalThis.fetch'), ...readsEnvironment.slice(0, 2)]],
    [null, [...restores('nodemailer'), loads('nodemailer')]],
  ],
  'server/src/metering/sinks/jetstream/usage-stream.ts': [
    ['no-restricted-imports', restores('undici', 'nodemailer')],
    ['restricted-syntax', [uses('globalThis.fetch'), ...readsEnvironment.slice(0, 2)]],
    [null, [...restores(...NATS), ...NATS.map(loads)]],
  ],
  'server/src/main/planted.ts': [
    ['no-restricted-imports', restores('undici', 'pg')],
    ['no-restricted-imports', [loads('undici')]],
    ['restricted-syntax', [uses('globalThis.fetch')]],
    ['no-restricted-globals', [uses('fetch')]],
    [null, readsEnvironment],
  ],
  'server/src/kit/planted.test.ts': [
    ['restricted-syntax', ['only', 'skip', 'todo'].map((mark) => `it.${mark}('x', () => {});`)],
    ['restricted-syntax', ["test('x', { skip: true }, () => {});", "test('x', (t) => t.skip('no server'));"]],
    [null, ['rows.skip(3);', "test('x', () => {});", ...restores('undici', 'pg'), uses('fetch')]],
  ],
  'tools/src/long.ts': [['max-lines', ['//\n'.repeat(401)]]],
  'tools/src/full.ts': [[null, ['//\n'.repeat(400)]]],
  'tools/src/short.ts': [['Unused', ['/* oxlint-disable max-lines -- was long */']]],
};

const declarations = 'declare const use: (value: unknown) => void, it: any, test: any, rows: any;\n';
let output = '';

before(async () => {
  using tree = smallTree({ 'tsconfig.json': '{"compilerOptions":{"strict":true,"types":["node"]}}' }, [
    'node_modules',
    'oxlint.config.ts',
    'tools/src/check/restricted-syntax.ts',
  ]);
  for (const [path, rows] of Object.entries(planted)) {
    const isBare = path.startsWith('tools/');
    const text = rows.flatMap(([, lines]) => lines).join('\n');
    tree.write(path, isBare ? text : `${text}\n${declarations}`);
  }
  const oxlint = 'node_modules/oxlint/bin/oxlint';
  ({ output } = await runCommand(
    process.execPath,
    [oxlint, '--deny-warnings', '--format=unix', ...Object.keys(planted)],
    tree.root,
  ));
});

for (const [path, rows] of Object.entries(planted)) {
  test(`${path}: what is planted is refused, and nothing else`, () => {
    let at = 1;
    const expected: string[] = [];
    for (const [rule, lines] of rows) {
      for (const line of lines) {
        if (rule !== null) expected.push(`${rule === 'max-lines' ? 401 : at} ${rule}`);
        at += line.split('\n').length;
      }
    }
    assert.deepEqual(found(path), expected.sort());
  });
}

/** Line and rule of what was said about a file. */
function found(path: string): string[] {
  const said = output.split('\n').filter((line) => line.startsWith(`${path}:`));
  return said.map((line) => line.replace(/^[^:]+:(\d+):.*?(?:\(([\w-]+)\)\]|(Unused).*)$/, '$1 $2$3')).sort();
}
