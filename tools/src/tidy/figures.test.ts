import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from './figures.ts';
import { treeOf } from './tree.ts';

const castLines = (text: string, path = 'server/src/a.ts') =>
  measure(treeOf({ [path]: text })).casts.map(({ line }) => line);

test('tests, fixtures, generated files and other members are not production code; suites and tools count apart', () => {
  const { figures } = measure(
    treeOf({
      'server/src/kit/clock.ts': 'export const a = 1;\nexport const b = 2;\n',
      'server/src/kit/clock.test.ts': 'x as y;\n',
      'server/src/kit/clock.fixture.ts': 'x as y;\n',
      'server/src/management/fixture.ts': 'x as y;\n',
      'contract/src/api-types.ts': 'x as y;\n',
      'tools/src/check.ts': 'x as y;\n',
      'tools/src/check.test.ts': '1;\n2;\n3;\n',
      'tools/README.md': '# tools\n',
      'system-tests/src/run.ts': '1;\n2;\n3;\n',
    }),
  );
  const lines = { production_lines: 2, system_test_lines: 3, tool_lines: 4 };
  assert.deepEqual(figures, { files: 1, ...lines, casts: 0 });
});

test('more casts than allowed are refused, and the file with most is named first', () => {
  const tree = treeOf({ 'server/src/a.ts': 'x as y;\n', 'cli/src/b.ts': '1;\nx as y;\nx as z;\n' });
  assert.deepEqual(measure(tree, 3).findings, []);
  const [first] = measure(tree, 2).findings;
  assert.match(first?.message ?? '', /^3 casts/);
  assert.deepEqual([first?.path, first?.line], ['cli/src/b.ts', 2]);
});

test('every `as` except `as const` is a cast, also a doubled one', () => {
  assert.deepEqual(castLines("a = b as string;\nc = b as unknown as never;\nd = ['x'] as const;"), [1, 2, 2]);
  assert.deepEqual(castLines('const a = <b>{c as d}</b>;\n', 'console/src/a.tsx'), [1]);
});

test('a renaming import and the word in a comment or a text are not casts', () => {
  assert.deepEqual(castLines("import { a as b } from 'c'; // as d\nconst e = 'f as g';\n"), []);
});
