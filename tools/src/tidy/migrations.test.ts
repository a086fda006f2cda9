import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrationNames } from './migrations.ts';
import { treeOf } from './tree.ts';

const at = (name: string): string => `server/src/store/postgres/migrations/${name}`;

test('timestamped verb-noun names are accepted', () => {
  const tree = treeOf({
    [at('20261115000000-create-ledger.sql')]: '',
    [at('20261115000001-add-keys.sql')]: '',
  });
  assert.deepEqual(migrationNames(tree), []);
});

test('a name without timestamp, verb or noun is refused', () => {
  const tree = treeOf({ [at('0001_init.sql')]: '', [at('20261115000000-ledger.sql')]: '' });
  assert.equal(migrationNames(tree).length, 2);
});

test('two migrations with one timestamp are refused', () => {
  const tree = treeOf({ [at('20261115000000-add-keys.sql')]: '', [at('20261115000000-add-lanes.sql')]: '' });
  assert.equal(migrationNames(tree).length, 1);
});
