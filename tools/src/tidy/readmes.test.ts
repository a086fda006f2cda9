import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readmes } from './readmes.ts';
import { treeOf } from './tree.ts';

test('members and modules with a README are accepted', () => {
  const tree = treeOf({
    'server/package.json': '',
    'server/README.md': '',
    'server/src/kit/clock.ts': '',
    'server/src/kit/README.md': '',
  });
  assert.deepEqual(readmes(tree), []);
});

test('a member and a module without a README are refused', () => {
  const found = readmes(treeOf({ 'server/package.json': '', 'server/src/kit/clock.ts': '' }));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['server/README.md', 'server/src/kit/README.md'],
  );
});

test('a module of the store without a README is named; its fixtures need none', () => {
  const found = readmes(
    treeOf({
      'server/src/store/README.md': '',
      'server/src/store/redis/redis.ts': '',
      'server/src/store/fixtures/database.fixture.ts': '',
    }),
  );
  assert.deepEqual(
    found.map(({ path }) => path),
    ['server/src/store/redis/README.md'],
  );
});
