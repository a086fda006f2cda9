import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isListStale } from './use-refresh-keys.ts';

test('the list is stale if the panel of a key has read other requests, and not before both are read', () => {
  assert.equal(isListStale(0, 1), true);
  assert.equal(isListStale(1, 1), false);
  assert.equal(isListStale(undefined, 1), false);
  assert.equal(isListStale(null, 1), false);
  assert.equal(isListStale(1, undefined), false);
});
