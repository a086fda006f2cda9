import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlannedChange, partsOf } from './plan-parts.ts';

const owner = { field: 'managed_by', before: null, after: 'file' };
const wait = { field: 'default_max_wait_ms', before: 5_000, after: 7_500 };

function change(key: string, fields: PlannedChange['fields']): PlannedChange {
  return { action: 'update', section: 'lanes', key, id: key, fields };
}

test('resources that only become managed are separate from real changes', () => {
  const { changes, adopted } = partsOf({ changes: [change('a', [owner]), change('b', [wait, owner])] });
  assert.deepEqual(
    changes.map(({ key, fields, adopted: also }) => [key, fields, also]),
    [['b', [wait], true]],
  );
  assert.deepEqual(
    adopted.map(({ key }) => key),
    ['a'],
  );
});

test('a secret that only gets a reference is separate, and a changed reference is a change', () => {
  const named = { field: 'secret_ref', before: null, after: 'env:KEY' };
  const renamed = { field: 'secret_ref', before: 'env:OLD', after: 'env:KEY' };
  const parts = partsOf({
    changes: [change('a', [named, owner]), change('b', [renamed, owner]), change('c', [named])],
  });
  assert.deepEqual(
    [parts.changes, parts.referenced].map((list) => list.map(({ key }) => key)),
    [['b', 'c'], ['a']],
  );
});

test('a release is a change', () => {
  const release: PlannedChange = {
    ...change('a', [{ field: 'managed_by', before: 'file', after: null }]),
    action: 'release',
  };
  assert.equal(partsOf({ changes: [release] }).changes.length, 1);
});
