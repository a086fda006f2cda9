import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, formatMoney } from './numbers.ts';

test('a small amount of money is never shown as nothing', () => {
  assert.match(formatMoney(1), /0[.,]000001/);
  assert.match(formatMoney(0), /0[.,]00$|0[.,]00\b/);
  assert.match(formatMoney(1_234_567_890), /1.?234[.,]57/);
});

test('a duration is shown in the unit that a person would use', () => {
  assert.match(formatDuration(850), /850/);
  assert.match(formatDuration(2_400), /2[.,]4/);
  assert.match(formatDuration(200_000), /3.*20/);
  assert.match(formatDuration(120_000), /^\D*2\D*$/);
});
