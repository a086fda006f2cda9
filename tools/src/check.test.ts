// Violations are planted in a small tree of the contract alone; the check must fail and name them.
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { runCommand } from './check/run-command.ts';
import { smallTree } from './check/small-tree.ts';
import { steps } from './check/steps.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const PLANTED = 'contract/src/planted.ts';
// Copied: Biome does not read a tree whose links lead out of it.
const COPIED = [
  ...['biome.json', 'knip.json', 'oxlint.config.ts', '.dependency-cruiser.cjs', 'contract/package.json'],
  ...['restricted-syntax', 'import-rules', 'import-table'].map((name) => `tools/src/check/${name}.ts`),
];

let output = '';

before(async () => {
  const { include: _all, exclude: _some, ...options } = JSON.parse(repositoryText('tsconfig.json'));
  const project = JSON.stringify({ ...options, include: ['contract/src/**/*.ts'] });
  // What the check compiles besides is not there.
  const none = JSON.stringify({ ...options, files: ['../contract/src/schema.ts'] });
  using tree = smallTree(
    {
      'package.json': '{"name":"planted","private":true,"type":"module","workspaces":["contract"]}\n',
      'tsconfig.json': project,
      '.gitignore': 'node_modules\n',
      ...Object.fromEntries(COPIED.map((path) => [path, repositoryText(path)])),
      'console/tsconfig.json': none,
      'site/tsconfig.json': none,
    },
    ['node_modules'],
  );
  cpSync(join(REPOSITORY, 'contract/src'), join(tree.root, 'contract/src'), { recursive: true });
  tree.write(
    PLANTED,
    "import '../../server/src/kit/clock.ts';\nexport const  planted : string = 1;\nPromise.resolve();\n",
  );
  // A route that does not say who may call it, and one that names a scope that does not exist.
  const routes = 'contract/src/routes/inference.ts';
  tree.write(routes, planted(routes, /^ {4}access: .*\n/m, ''));
  const lane = 'contract/src/resources/lane.ts';
  tree.write(lane, planted(lane, /scope: 'relay:routing:read'/, "scope: 'relay:planted:read'"));
  const args = ['--only=format,imports,types,knip,lint', `--root=${tree.root}`, PLANTED];
  const run = await runCommand(
    process.execPath,
    [join(REPOSITORY, 'tools/src/check.ts'), ...args],
    tree.root,
  );
  assert.equal(run.ok, false);
  output = run.output;
});

for (const [what, pattern] of Object.entries({
  'bad format': /contract\/src\/planted\.ts: format/,
  'an import against the table':
    /member-contract: contract\/src\/planted\.ts → .*server\/src\/kit\/clock\.ts|no-unresolvable: contract\/src\/planted\.ts/,
  'a wrong type': /contract\/src\/planted\.ts\(2,15\): error TS2322/,
  'a route without access':
    /routes\/inference\.ts\(\d+,\d+\): error TS\d+: [\s\S]*Property 'access' is missing/,
  'a scope that does not exist': /route-tables\.ts\(\d+,\d+\): error TS\d+: [\s\S]*"relay:planted:read"/,
  'dead code': /Unused files.*contract\/src\/planted\.ts/s,
  'a lost promise': /no-floating-promises[\s\S]*planted\.ts:3/,
}))
  test(`${what} fails`, () => assert.match(output, pattern));

test('every step runs after one that failed, and the failed ones are named last', () => {
  assert.match(output, /check failed: format, imports, types, knip, lint\n$/);
  const names = steps.map(({ name }) => name);
  assert.deepEqual(names, ['format', 'imports', 'types', 'generated', 'tidy', 'knip', 'lint', 'unit']);
});

function repositoryText(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}

function planted(path: string, from: RegExp, to: string): string {
  const source = repositoryText(path);
  const text = source.replace(from, to);
  assert.notEqual(text, source);
  return text;
}
