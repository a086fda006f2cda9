import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlannedChange, partsOf } from './plan-parts.ts';

const owner = { field: 'managed_by', before: null, after: 'file' };
const wait = { field: 'default_max_wait_ms', before: 5_000, after: 7_500 };

function change(key: string, fields: PlannedChange['fields']): PlannedChange {
  return { action: 'update', section: 'lanes', key, id: key, fields };
}

test('what only becomes the file’s stands apart from what is different', () => {
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

test('a secret that only gets a name is told apart, and one that gets another name is a change', () => {
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

test('what is given back is a change', () => {
  const release: PlannedChange = {
    ...change('a', [{ field: 'managed_by', before: 'file', after: null }]),
    action: 'release',
  };
  assert.equal(partsOf({ changes: [release] }).changes.length, 1);
});
