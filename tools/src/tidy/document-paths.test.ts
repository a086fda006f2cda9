import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentPaths } from './document-paths.ts';
import { treeOf } from './tree.ts';

const code = { 'server/src/kit/clock.ts': '', 'docs/adr/0001-one.md': '', 'contract/package.json': '' };

test('paths that exist are accepted: exact, beside the document, or shortened', () => {
  const tree = treeOf({
    ...code,
    'docs/README.md': 'See `server/src/kit/clock.ts`, `contract/`, `kit/clock.ts`.',
    'server/src/kit/README.md': '`clock.ts` and `../kit/clock.ts`',
  });
  assert.deepEqual(documentPaths(tree), []);
});

test('what only looks like a path is left alone', () => {
  const text =
    '`/api/relay/providers` `application/json` `*.test.ts` `docs/adr/NNNN-title.md` `a/b` `node_modules/x`';
  assert.deepEqual(documentPaths(treeOf({ ...code, 'README.md': text })), []);
});

test('a quoted path that is gone is refused with its line, inline and in a block', () => {
  const text = 'a\n`server/src/kit/gone.ts`\n```sh\nnode tools/src/gone.ts --check\n```\n`gone.ts`';
  const found = documentPaths(treeOf({ ...code, 'README.md': text }));
  assert.deepEqual(
    found.map(({ line }) => line),
    [2, 4, 6],
  );
});
