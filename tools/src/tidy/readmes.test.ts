import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readmes } from './readmes.ts';
import { treeOf } from './tree.ts';

test('members and rooms with a README are accepted', () => {
  const tree = treeOf({
    'server/package.json': '',
    'server/README.md': '',
    'server/src/kit/clock.ts': '',
    'server/src/kit/README.md': '',
  });
  assert.deepEqual(readmes(tree), []);
});

test('a member and a room without a README are refused', () => {
  const found = readmes(treeOf({ 'server/package.json': '', 'server/src/kit/clock.ts': '' }));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['server/README.md', 'server/src/kit/README.md'],
  );
});
