import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dollarWords, durationWords } from './index.ts';

it('a duration is said in the two units that matter', () => {
  const said: readonly (readonly [number, string])[] = [
    [0, '0 s'],
    [-5, '0 s'],
    [40, '40 ms'],
    [400, '0.4 s'],
    [1_000, '1 s'],
    [1_540, '1.5 s'],
    [12_000, '12 s'],
    [60_000, '1 min'],
    [200_000, '3 min 20 s'],
    [(8 * 60 + 39) * 60_000, '8 h 39 min'],
    [24 * 3_600_000, '1 d'],
    [74 * 3_600_000, '3 d 2 h'],
  ];
  for (const [ms, words] of said) assert.equal(durationWords(ms), words);
});

it('a duration that rounds to the next unit is said in that unit', () => {
  assert.equal(durationWords(99.7), '0.1 s');
  assert.equal(durationWords(9_960), '10 s');
  assert.equal(durationWords(59_700), '1 min');
  assert.equal(durationWords(3_599_700), '1 h');
  assert.equal(durationWords(86_399_000), '1 d');
});

it('the time until something is never said shorter than it is', () => {
  assert.equal(durationWords(9_001, Math.ceil), '9.1 s');
  assert.equal(durationWords(12_001, Math.ceil), '13 s');
  assert.equal(durationWords(8 * 3_600_000 + 1, Math.ceil), '8 h 1 min');
});

it('money is said in dollars, and no amount is rounded away', () => {
  assert.equal(dollarWords(0), '$0.00');
  assert.equal(dollarWords(1), '$0.000001');
  assert.equal(dollarWords(12_500_000), '$12.50');
  assert.equal(dollarWords(-42_000), '-$0.042');
  assert.equal(dollarWords(5_000_000_000), '$5000.00');
});
