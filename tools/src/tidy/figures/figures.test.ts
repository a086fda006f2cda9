import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeOf } from '../tree.ts';
import { measure } from './figures.ts';
import { longFunctions } from './long-functions.ts';
import { readCode } from './read-code.ts';

const NONE = { functions_over_70: 0, casts: 0, back_imports: {} };
const functionOf = (lines: number): string => `export function long() {\n${'  a();\n'.repeat(lines - 2)}}\n`;

test('tests, fixtures, generated files and other members are not production code', () => {
  const { figures } = measure(
    treeOf({
      'server/src/kit/clock.ts': 'export const a = 1;\nexport const b = 2;\n',
      'server/src/kit/clock.test.ts': 'x as y;\n',
      'server/src/kit/clock.fixture.ts': 'x as y;\n',
      'server/src/management/fixture.ts': 'x as y;\n',
      'contract/src/api-types.ts': 'x as y;\n',
      'tools/src/check.ts': 'x as y;\n',
    }),
    NONE,
  );
  assert.equal(figures.files, 1);
  assert.equal(figures.production_lines, 2);
  assert.equal(figures.casts, 0);
});

test('70 lines are accepted, 71 are refused, and more casts than allowed are refused', () => {
  const planted = (lines: number, casts: string) =>
    measure(treeOf({ 'server/src/kit/a.ts': functionOf(lines) + casts }), { ...NONE, casts: 1 });
  assert.deepEqual(planted(70, 'x as y;\n').findings, []);
  assert.match(planted(71, '').findings[0]?.message ?? '', /^long has 71 lines/);
  assert.match(planted(70, 'x as y;\nx as z;\n').findings[0]?.message ?? '', /^2 casts/);
});

test('a listed function may be long and is counted apart; an entry that no longer applies is refused', () => {
  const files = [readCode({ path: 'a.ts', text: functionOf(71) })];
  const entry = { path: 'a.ts', name: 'long', reason: 'one table' };
  assert.deepEqual(longFunctions(files, [entry]), { unlisted: [], listed: 1, stale: [] });
  assert.equal(longFunctions(files, [entry, { ...entry, name: 'other' }]).stale.length, 1);
});

test('an import from a lower floor to a higher is refused in a module that may have none', () => {
  const tree = treeOf({
    'server/src/store/index.ts': "import './keys/a.ts';\nimport './redis.ts';\n",
    'server/src/store/keys/a.ts': "import type { B } from '../redis.ts';\n",
    'server/src/store/keys/b.ts': 'export const b = 1;\n',
    'server/src/store/redis.ts': "export { b } from './keys/b.ts';\n",
  });
  const { figures, findings } = measure(tree, NONE);
  assert.equal(figures.back_imports['server/src/store'], 1);
  assert.equal(findings.length, 1);
  assert.deepEqual(measure(tree, { ...NONE, back_imports: { 'server/src/store': 1 } }).findings, []);
});

test('each page of the console is a node of its own', () => {
  const { figures } = measure(
    treeOf({
      'console/src/pages/a/page.tsx': "import '../b/page.tsx';\n",
      'console/src/pages/b/page.tsx': "import '../../app/shell.tsx';\n",
      'console/src/app/shell.tsx': "import '../pages/a/page.tsx';\n",
    }),
    NONE,
  );
  assert.equal(figures.back_imports['console/src'], 1);
});
