// Each test plants violations in a copy of the repository, and the copy's own check must fail and name them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlantedCopy, plantedCopy } from './check/planted-copy.ts';

// Compiling and linting the whole tree takes its time on a busy machine.
const TIMEOUT_MS = 300_000;

test('a stale generated file and an error code without a page fail', async () => {
  using copy = plantedCopy();
  copy.write('contract/openapi.json', copy.read('contract/openapi.json').replace('"1.0.0"', '"0.9.0"'));
  const stale = await copy.check('--only=generated');
  assert.equal(stale.ok, false);
  assert.match(stale.output, /contract\/openapi\.json/);
  plant(copy, 'contract/src/errors.ts', /export const errors = \{/, '$&\n  planted_code: { status: 400 },');
  const { ok, output } = await copy.check('--only=tidy');
  assert.equal(ok, false);
  assert.match(output, /docs\/reference\/errors\/planted_code\.md error-pages: is missing/);
});

test('a connection past the egress module, a read of the environment and a lost promise fail', {
  timeout: TIMEOUT_MS,
}, async () => {
  using copy = plantedCopy();
  const lines = [
    "import { request } from 'node:http';",
    "import { Pool } from 'undici';",
    "import { Client } from 'pg';",
    'export const used = [request, Pool, Client];',
    "export const client = () => fetch('http://127.0.0.1');",
    "export const other = () => globalThis.fetch('http://127.0.0.1');",
    "export const later = () => import('node:tls');",
    "export const setting = process.env['X'];",
    'export function lose(): void {\n  Promise.resolve(1);\n}',
    "export function pick(x: 'a' | 'b'): void {\n  switch (x) {\n    case 'a':\n  }\n}",
  ];
  copy.write('server/src/inference/planted.ts', `${lines.join('\n')}\n`);
  copy.write('server/src/http/planted.ts', "export { createServer, request } from 'node:http';\n");
  copy.write('server/src/kit/egress/planted.ts', "export { request } from 'undici';\n");
  const planted = ['inference', 'http', 'kit/egress'].map((folder) => `server/src/${folder}/planted.ts`);
  const { ok, output } = await copy.check('--only=lint', ...planted);
  assert.equal(ok, false);
  const complaints = (rule: string): number => output.split(rule).length - 1;
  assert.equal(complaints('no-restricted-imports'), 4, output);
  assert.equal(complaints('no-restricted-globals'), 1, output);
  assert.equal(complaints('no-restricted-syntax'), 3, output);
  assert.equal(complaints('no-floating-promises'), 1, output);
  assert.equal(complaints('switch-exhaustiveness-check'), 1, output);
  assert.doesNotMatch(output, /egress\/planted/);
});

test('bad format, wrong types, dead code and a failing test fail, each named after all have run', {
  timeout: TIMEOUT_MS,
}, async () => {
  using copy = plantedCopy();
  copy.write('contract/src/planted.ts', 'export const  planted : string = 1;\n');
  copy.write(
    'contract/src/planted.test.ts',
    "import { test } from 'node:test';\ntest('x', () => { throw 1; });\n",
  );
  // A route that does not say who may call it, and one that names a scope that does not exist.
  plant(copy, 'contract/src/routes/inference.ts', /^ {4}access: .*\n/m, '');
  plant(copy, 'contract/src/resources/lane.ts', /scope: 'relay:routing:read'/, "scope: 'relay:planted:read'");
  const { ok, output } = await copy.check('--only=format,types,knip,unit', 'contract/src/planted');
  assert.equal(ok, false);
  assert.match(output, /contract\/src\/planted\.ts: format/);
  assert.match(output, /contract\/src\/planted\.ts\(1,15\): error TS2322/);
  assert.match(output, /routes\/inference\.ts\(\d+,\d+\): error TS\d+: [\s\S]*Property 'access' is missing/);
  assert.match(output, /route-tables\.ts\(\d+,\d+\): error TS\d+: [\s\S]*"relay:planted:read"/);
  assert.match(output, /Unused files.*contract\/src\/planted\.ts/s);
  assert.match(output, /0 passed, 1 failed/);
  assert.match(output, /check failed: format, types, knip, unit\n$/);
});

function plant(copy: PlantedCopy, path: string, from: RegExp, to: string): void {
  const source = copy.read(path);
  const planted = source.replace(from, to);
  assert.notEqual(planted, source);
  copy.write(path, planted);
}
