import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitSearch } from './limit-search.ts';

test('the URL of the limits page keeps known filters and drops others', () => {
  const known = {
    q: 'assistant',
    kind: 'user',
    scope: 'lane',
    metric: 'spend',
    lane: 'l',
    open: 'p',
    create: 'k',
  };
  assert.deepEqual(limitSearch(known), known);
  assert.deepEqual(limitSearch({ kind: 'squad', scope: 7, metric: '', lane: '', create: '' }), {});
});
