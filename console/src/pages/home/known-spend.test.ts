import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isSpendKnown } from './known-spend.ts';

it('no spend is known to be none without requests, and when all failed', () => {
  assert.equal(isSpendKnown(0, 5, 2), false);
  assert.equal(isSpendKnown(0, 2, 2), true);
  assert.equal(isSpendKnown(0, 0, 0), true);
  assert.equal(isSpendKnown(7, 5, 0), true);
});
