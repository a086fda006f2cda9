import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersIn, requestSearch } from './request-search.ts';

test('filters stand in the address, and what the server would refuse is left out', () => {
  const search = { state: 'failed', operation: 'dreams', model: 4, live: true, lane: '', other: 'x' };
  assert.deepEqual(requestSearch(search), { state: 'failed', model: '4', live: true });
});

test('the same filters are told the same way, whatever order they came in', () => {
  const one = filtersIn({ model: 'a', state: 'failed' });
  const other = filtersIn({ state: 'failed', model: 'a' });
  assert.equal(JSON.stringify(one), JSON.stringify(other));
});
