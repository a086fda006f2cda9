import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedShare } from './served-share.ts';

const bins = [
  { from_ms: 0, up_to_ms: 0, requests: 50 },
  { from_ms: 4_701, up_to_ms: 4_749, requests: 40 },
  { from_ms: 5_000, up_to_ms: 5_000, requests: 8 },
  { from_ms: 630_001, up_to_ms: null, requests: 2 },
];
const exactly = (share: number) => ({ least: share, most: share });

test('a wait budget serves requests that waited no longer', () => {
  assert.deepEqual(servedShare(bins, 0), exactly(0.5));
  assert.deepEqual(servedShare(bins, 4_700), exactly(0.5));
  assert.deepEqual(servedShare(bins, 4_800), exactly(0.9));
  assert.deepEqual(servedShare(bins, 5_000), exactly(0.98));
});

test('within a bin, the share is between all and none of it', () => {
  assert.deepEqual(servedShare(bins, 4_711), { least: 0.5, most: 0.9 });
  assert.deepEqual(servedShare(bins, 3_600_000), { least: 0.98, most: 1 });
});

test('without requests there is no share', () => {
  assert.equal(servedShare([], 1_000), null);
});
