import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOrdinal, formatSpan } from './spans.ts';

test('a span has its two largest units and at least one second', () => {
  assert.equal(formatSpan(0), '1 s');
  assert.equal(formatSpan(5_400), '5 s');
  assert.equal(formatSpan(12_000_000), '3 h 20 min');
  assert.equal(formatSpan(86_400_000), '1 d');
  assert.equal(formatSpan(100 * 3_600_000 + 59_000), '4 d 4 h');
});

test('ordinals have the correct suffix', () => {
  assert.deepEqual([1, 2, 3, 4, 11, 101, 1_002].map(formatOrdinal), [
    '1st',
    '2nd',
    '3rd',
    '4th',
    '11th',
    '101st',
    '1,002nd',
  ]);
});
