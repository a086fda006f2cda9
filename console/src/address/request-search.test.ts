import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersIn, requestIdIn, requestSearch } from './request-search.ts';

const ID = '019a8a3c-5d1e-7c40-9c0b-5f8f2a1d3e4f';

test('filters are in the URL, and values the server would reject are dropped', () => {
  const search = { state: 'failed', operation: 'dreams', model: 4, live: true, lane: '', other: 'x' };
  assert.deepEqual(requestSearch(search), { state: 'failed', model: '4', live: true });
  assert.deepEqual(requestSearch({ state: 'broken', operation: 'chat' }), { operation: 'chat' });
});

test('whether a request waited or fell back is true or false in the URL, parsed by the router or not', () => {
  assert.deepEqual(requestSearch({ waited: true, fell_back: false }), { waited: true, fell_back: false });
  assert.deepEqual(requestSearch({ waited: 'false', fell_back: 'true' }), { waited: false, fell_back: true });
  assert.deepEqual(requestSearch({ waited: 'maybe', fell_back: 1 }), {});
  assert.deepEqual(requestSearch({ guardrail: 'g1', verdict: 'blocked' }), {
    guardrail: 'g1',
    verdict: 'blocked',
  });
  assert.deepEqual(requestSearch({ verdict: 'amused' }), {});
  assert.deepEqual(filtersIn({ fell_back: false, waited: true, model: 'a' }), {
    model: 'a',
    waited: true,
    fell_back: false,
  });
});

test('the same filters are serialized the same way in any order', () => {
  const one = filtersIn({ model: 'a', state: 'failed' });
  const other = filtersIn({ state: 'failed', model: 'a' });
  assert.equal(JSON.stringify(one), JSON.stringify(other));
});

test('a request ID is found in pasted text', () => {
  assert.equal(requestIdIn(ID), ID);
  assert.equal(requestIdIn(`  x-request-id: ${ID.toUpperCase()} `), ID);
  assert.equal(requestIdIn(`{"request_id":"${ID}"}`), ID);
});

test('part of an ID is not an ID', () => {
  assert.equal(requestIdIn(ID.slice(1)), null);
  assert.equal(requestIdIn('assistant'), null);
});
