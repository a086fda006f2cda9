import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedShare } from './served-share.ts';

const bins = [
  { up_to_ms: 0, requests: 50 },
  { up_to_ms: 1_000, requests: 40 },
  { up_to_ms: 2_000, requests: 8 },
  { up_to_ms: null, requests: 2 },
];

test('a wait budget serves requests that waited no longer', () => {
  assert.equal(servedShare(bins, 0), 0.5);
  assert.equal(servedShare(bins, 1_000), 0.9);
  assert.equal(servedShare(bins, 2_000), 0.98);
  assert.equal(servedShare(bins, 3_600_000), 0.98);
});

test('the share grows linearly within a bin', () => {
  assert.equal(servedShare(bins, 500), 0.7);
  // A quarter of the eight requests of the bin that begins at 1,000 ms.
  assert.equal(servedShare(bins, 1_250), 0.92);
});

test('without requests there is no share', () => {
  assert.equal(servedShare([], 1_000), null);
});
