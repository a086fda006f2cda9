import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { costMicros } from '../money/money.ts';
import { type RequestMost, reservationAt, writtenCaps } from './hard-reservation.ts';
import type { AppliedLimit } from './limit.ts';
import { EVERY_REQUEST } from './limits.fixture.ts';

const MOST: RequestMost = {
  inputTokens: 1_000,
  unboundedInput: null,
  hasOutput: true,
  outputCap: null,
  unboundedOutput: null,
  outputAtLeast: 0,
  choices: 1,
  predictedTokens: 0,
};
const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 10_000_000,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};
const ANY = { contextWindow: null };

function limit(metric: AppliedLimit['metric'], value: number): AppliedLimit {
  return { id: metric, metric, period: 'day', limit: value, hard: true, counts: EVERY_REQUEST };
}

function at(over: Partial<RequestMost>, contextWindow: number | null = null, cap = 4_096) {
  return reservationAt({ ...MOST, ...over }, { contextWindow }, PRICE, [], cap);
}

describe('what a request reserves from a hard limit', () => {
  it('is its input and the client’s own cap, for each choice, and no cap is written', () => {
    const reservation = at({ outputCap: 50, choices: 3, predictedTokens: 7 });
    assert.deepEqual(reservation, {
      inputTokens: 1_000,
      outputTokens: 171,
      tokens: 1_171,
      spendMicros: 2_710,
      writtenCap: null,
    });
  });
  it('is the cap that is written where the client has none', () => {
    const reservation = at({ choices: 2 });
    assert.equal(reservation.writtenCap, 4_096);
    assert.equal(reservation.outputTokens, 8_192);
  });
  it('counts the largest number that a provider could take for a cap', () => {
    const reservation = at({ outputAtLeast: 100_000 });
    assert.equal(reservation.writtenCap, 4_096);
    assert.equal(reservation.outputTokens, 100_000);
  });
  it('is bounded by the context window: the input, the cap, and what the body leaves open', () => {
    assert.equal(at({}, 3_000).writtenCap, 2_000);
    assert.equal(at({ inputTokens: 50_000 }, 3_000).inputTokens, 3_000);
    assert.equal(at({ unboundedInput: 'tools' }, 3_000).inputTokens, 3_000);
    const uncapped = at({ unboundedOutput: 'max_tokens', choices: 2 }, 3_000);
    assert.deepEqual([uncapped.outputTokens, uncapped.writtenCap], [6_000, null]);
    assert.equal(at({ outputCap: 1_000_000_000 }, 3_000).outputTokens, 3_000);
  });
  it('is nothing but input where the model writes nothing', () => {
    const { outputTokens, writtenCap } = at({ hasOutput: false });
    assert.deepEqual([outputTokens, writtenCap], [0, null]);
  });
  it('costs nothing where providers charge nothing', () => {
    assert.equal(at({ hasOutput: false, free: true }).spendMicros, 0);
  });
  it('fits the smallest limit alone, down to the least cap that providers take', () => {
    const written = (...limits: AppliedLimit[]) => reservationAt(MOST, ANY, PRICE, limits, 4_096);
    assert.equal(written(limit('tokens', 1_500)).writtenCap, 500);
    assert.equal(written(limit('tokens', 1_500), limit('spend', 2_001)).writtenCap, 100);
    assert.equal(written(limit('tokens', 1_001)).writtenCap, 16);
    assert.equal(written(limit('requests', 1)).writtenCap, 4_096);
  });

  it('is never less than what a request within its caps costs', () => {
    const count = fc.integer({ min: 0, max: 100_000 });
    const most = fc.record({
      inputTokens: count,
      outputCap: fc.option(fc.integer({ min: 1, max: 100_000 })),
      outputAtLeast: count,
      choices: fc.integer({ min: 1, max: 8 }),
      predictedTokens: count,
    });
    fc.assert(
      fc.property(
        most,
        fc.option(fc.integer({ min: 1, max: 200_000 })),
        count,
        count,
        (over, window, input, output) => {
          const reservation = at(over, window);
          const cap = reservation.writtenCap ?? over.outputCap ?? 0;
          // What the provider accepts and can write.
          const inputTokens = Math.min(input, over.inputTokens, window ?? Number.POSITIVE_INFINITY);
          const ofOne = Math.min(output, cap, window ?? Number.POSITIVE_INFINITY);
          const usage = { inputTokens, outputTokens: ofOne * over.choices, cachedInputTokens: 0 };
          assert.ok(costMicros(PRICE, usage) <= reservation.spendMicros);
          assert.ok(usage.inputTokens + usage.outputTokens <= reservation.tokens);
        },
      ),
    );
  });
});

describe('the caps that Relay tries', () => {
  const cases: [number, number[]][] = [
    [256, [4_096, 1_024, 256]],
    [1, [4_096, 1_024, 256, 64, 16]],
    [3_000, [6_000, 3_000]],
    [1_000_000, [32_000]],
  ];
  for (const [typical, expected] of cases)
    it(`for ${typical} typical tokens: ${expected.join(', ')}`, () => {
      assert.deepEqual(writtenCaps(typical), expected);
    });
});
