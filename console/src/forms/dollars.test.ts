import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microsOf } from '@relay/contract/words';
import fc from 'fast-check';
import { dollarsOf } from './dollars.ts';

test('a displayed amount parses to the same amount', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 12 }), (micros) => {
      assert.equal(microsOf(dollarsOf(micros)), micros);
    }),
  );
});

test('dollars become micro-dollars without rounding errors', () => {
  assert.equal(microsOf('0.07'), 70_000);
  assert.equal(microsOf(' 2.50 '), 2_500_000);
  assert.equal(microsOf('1,000'), 1_000_000_000);
  assert.equal(microsOf('1,234,567.89'), 1_234_567_890_000);
  assert.equal(microsOf('15'), 15_000_000);
});

test('other text is not an amount', () => {
  for (const typed of ['', '-1', '1e3', '0.0000001', 'free', '1.2.3', '2,50', '0,075', '1,0000', '1,000,5'])
    assert.equal(microsOf(typed), undefined);
});
