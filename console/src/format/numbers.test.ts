import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount, formatDuration, formatMoney, formatMoneyShort } from './numbers.ts';

test('a small amount of money is never shown as zero', () => {
  assert.match(formatMoney(1), /0[.,]000001/);
  assert.match(formatMoney(0), /0[.,]00$|0[.,]00\b/);
  assert.match(formatMoney(1_234_567_890), /1.?234[.,]57/);
});

test('a duration is shown in a fitting unit', () => {
  const said = [850, 2_400, 200_000, 120_000, 31_140_000].map(formatDuration);
  assert.equal(formatDuration(119_700), '2 min');
  assert.deepEqual(said, ['850 ms', '2.4 s', '3 min 20 s', '2 min', '8 h 39 min']);
});

test('an amount is in the minor unit of its currency, which not every currency has', () => {
  assert.match(formatAmount(123_456, 'EUR'), /1.?234[.,]56/);
  assert.match(formatAmount(-500, 'USD'), /5[.,]00/);
  assert.match(formatAmount(5_000, 'JPY'), /5.?000(?![.,]\d)/);
  assert.match(formatAmount(5_000, 'ISK'), /\b50\b/);
});

test('a short amount is never shown as zero either', () => {
  assert.match(formatMoneyShort(4_217), /0[.,]0042$|0[.,]0042\b/);
  assert.match(formatMoneyShort(1), /0[.,]000001/);
  assert.match(formatMoneyShort(858_904), /0[.,]86/);
  assert.match(formatMoneyShort(0), /0[.,]00/);
});
