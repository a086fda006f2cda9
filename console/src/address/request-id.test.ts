import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestIdIn } from './request-id.ts';

const ID = '019a8a3c-5d1e-7c40-9c0b-5f8f2a1d3e4f';

test('a request id is found in whatever it was pasted with', () => {
  assert.equal(requestIdIn(ID), ID);
  assert.equal(requestIdIn(`  x-request-id: ${ID.toUpperCase()} `), ID);
  assert.equal(requestIdIn(`{"request_id":"${ID}"}`), ID);
});

test('part of an id is none', () => {
  assert.equal(requestIdIn(ID.slice(1)), null);
  assert.equal(requestIdIn('assistant'), null);
});
