// The check is tested by breaking what it guards: each test plants a violation in a copy of the repository
// and sees the copy's own check fail and name it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plantedCopy } from './check/planted-copy.ts';

test('a stale generated file fails', async () => {
  using copy = plantedCopy();
  copy.write('contract/openapi.json', copy.read('contract/openapi.json').replace('"1.0.0"', '"0.9.0"'));
  const { ok, output } = await copy.check('--only=generated');
  assert.equal(ok, false);
  assert.match(output, /contract\/openapi\.json/);
});

test('an error code without a page fails', async () => {
  using copy = plantedCopy();
  const source = copy.read('contract/src/errors.ts');
  const planted = source.replace('export const errors = {', '$&\n  planted_code: { status: 400 },');
  assert.notEqual(planted, source);
  copy.write('contract/src/errors.ts', planted);
  const { ok, output } = await copy.check('--only=tidy');
  assert.equal(ok, false);
  assert.match(output, /docs\/reference\/errors\/planted_code\.md error-pages: is missing/);
});

test('a route that does not say who may call it, or names a scope that does not exist, fails in the types', async () => {
  using copy = plantedCopy();
  const plant = (path: string, from: RegExp, to: string) => {
    const source = copy.read(path);
    const planted = source.replace(from, to);
    assert.notEqual(planted, source);
    copy.write(path, planted);
  };
  plant('contract/src/routes/inference.ts', /^ {4}access: .*\n/m, '');
  plant('contract/src/resources/lane.ts', /scope: 'relay:routing:read'/, "scope: 'relay:planted:read'");
  const { ok, output } = await copy.check('--only=types');
  assert.equal(ok, false);
  assert.match(output, /routes\/inference\.ts\(\d+,\d+\): error TS1360: [\s\S]*Property 'access' is missing/);
  assert.match(output, /route-tables\.ts\(\d+,\d+\): error TS1360: [\s\S]*"relay:planted:read"/);
});

test('a way out past the egress door, the environment and a lost promise fail', async () => {
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
  const planted = ['inference', 'http', 'kit/egress'].map((room) => `server/src/${room}/planted.ts`);
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

test('bad format, a wrong type, dead code and a failing test fail, each named after all have run', async () => {
  using copy = plantedCopy();
  copy.write('contract/src/planted.ts', 'export const  planted : string = 1;\n');
  copy.write(
    'contract/src/planted.test.ts',
    "import { test } from 'node:test';\ntest('x', () => { throw 1; });\n",
  );
  const { ok, output } = await copy.check('--only=format,types,knip,unit', 'contract/src/planted');
  assert.equal(ok, false);
  assert.match(output, /contract\/src\/planted\.ts: format/);
  assert.match(output, /contract\/src\/planted\.ts\(1,15\): error TS2322/);
  assert.match(output, /Unused files.*contract\/src\/planted\.ts/s);
  assert.match(output, /0 passed, 1 failed/);
  assert.match(output, /check failed: format, types, knip, unit\n$/);
});
