import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNames } from './file-names.ts';
import { treeOf } from './tree.ts';

test('kebab-case names and conventional names are accepted', () => {
  const tree = treeOf({
    'README.md': '',
    '.ci/run': '',
    '.dependency-cruiser.cjs': '',
    'server/src/domain/pick-candidates.test.ts': '',
    'server/src/store/postgres/migrations/20261115000000-create-ledger.sql': '',
    'docs/reference/errors/invalid_json.md': '',
  });
  assert.deepEqual(fileNames(tree), []);
});

test('a name in another case is refused, in folders too', () => {
  const found = fileNames(treeOf({ 'server/src/pickCandidates.ts': '', 'server/My_Folder/a.ts': '' }));
  assert.equal(found.length, 2);
});

test('a name that says nothing is refused, as a whole word only', () => {
  const found = fileNames(treeOf({ 'a/key-utils.ts': '', 'a/common/b.ts': '', 'a/database.ts': '' }));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['a/key-utils.ts', 'a/common/b.ts'],
  );
});
