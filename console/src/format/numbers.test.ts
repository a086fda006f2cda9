import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  counted,
  formatAmount,
  formatBytes,
  formatChange,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatMoneyShort,
  formatPoints,
  formatShare,
} from './numbers.ts';

test('numbers are formatted for en-US in every browser', () => {
  assert.equal(formatCount(12_480), '12,480');
  assert.equal(formatCompact(12_480), '12.5K');
  assert.equal(formatShare(0.9718), '97.2%');
  assert.equal(formatChange(0.12), '+12%');
  assert.equal(formatPoints(0.012), '+1.2');
  assert.deepEqual([512, 65_536, 1_572_864].map(formatBytes), ['512 B', '64 KiB', '1.5 MiB']);
});

test('a count is a numeral with its noun in the right number', () => {
  assert.deepEqual(
    [0, 1, 2, 1_204].map((count) => counted(count, 'request')),
    ['0 requests', '1 request', '2 requests', '1,204 requests'],
  );
  assert.equal(counted(2, 'is', 'are'), '2 are');
});

test('a small amount of money is never shown as zero', () => {
  assert.equal(formatMoney(1), '$0.000001');
  assert.equal(formatMoney(0), '$0.00');
  assert.equal(formatMoney(4_200), '$0.0042');
  assert.equal(formatMoney(12_400_000), '$12.40');
  assert.equal(formatMoney(1_234_567_890), '$1,234.57');
});

test('a duration is shown in a fitting unit', () => {
  const said = [850, 2_400, 200_000, 120_000, 31_140_000].map(formatDuration);
  assert.equal(formatDuration(119_700), '2 min');
  assert.deepEqual(said, ['850 ms', '2.4 s', '3 min 20 s', '2 min', '8 h 39 min']);
});

test('an amount is in the minor unit of its currency, which not every currency has', () => {
  assert.equal(formatAmount(123_456, 'EUR'), '€1,234.56');
  assert.equal(formatAmount(-500, 'USD'), '-$5.00');
  assert.equal(formatAmount(5_000, 'JPY'), '¥5,000');
  assert.match(formatAmount(5_000, 'ISK'), /\b50$/);
});

test('a short amount is never shown as zero either', () => {
  assert.equal(formatMoneyShort(4_217), '$0.0042');
  assert.equal(formatMoneyShort(1), '$0.000001');
  assert.equal(formatMoneyShort(858_904), '$0.86');
  assert.equal(formatMoneyShort(0), '$0.00');
});

test('a small share is never shown as zero', () => {
  assert.deepEqual([0, 0.000_01, 0.000_5, 0.001].map(formatShare), ['0%', '<0.1%', '0.1%', '0.1%']);
});
