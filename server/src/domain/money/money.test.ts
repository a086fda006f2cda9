import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { costLines, costMicros, costPicos, exactUsd, picosOf, shownMicros, storedMoney } from './money.ts';
import { prices, usages, variants } from './pricing.fixture.ts';

describe('cost', () => {
  const pricing = {
    inputCostMicrosPer1mTokens: 2_500_000,
    outputCostMicrosPer1mTokens: 10_000_000,
    cachedInputCostMicrosPer1mTokens: 1_250_000,
    flatRequestCostMicros: 7,
  };
  it('adds input, cached input, output and the flat price, exactly', () => {
    const usage = { inputTokens: 3, outputTokens: 1, cachedInputTokens: 1 };
    assert.equal(costPicos(pricing, usage), 23_250_000n);
    assert.equal(costMicros(pricing, usage), 24, 'limits count whole micro-USD');
  });
  it('takes the input price for cached input without a price of its own', () => {
    const plain = { ...pricing, cachedInputCostMicrosPer1mTokens: null, flatRequestCostMicros: 0 };
    assert.equal(costMicros(plain, { inputTokens: 4, outputTokens: 0, cachedInputTokens: 4 }), 10);
  });
  it('of a small embedding is a fraction of a micro-USD', () => {
    const embedding = {
      ...pricing,
      inputCostMicrosPer1mTokens: 20_000,
      outputCostMicrosPer1mTokens: 0,
      flatRequestCostMicros: 0,
    };
    const picos = costPicos(embedding, { inputTokens: 10, outputTokens: 0, cachedInputTokens: 0 });
    assert.equal(exactUsd(picos), '0.0000002');
    assert.deepEqual(storedMoney(picos), { micros: 1, roundingPicos: 800_000 });
    assert.equal(shownMicros(picos), 0);
  });
  it('has a price for each part of the input and the output, and charges no token twice', () => {
    const parts = {
      ...pricing,
      cacheWrite5mCostMicrosPer1mTokens: 3_000_000,
      cacheWrite1hCostMicrosPer1mTokens: 5_000_000,
      audioInputCostMicrosPer1mTokens: 40_000_000,
      imageInputCostMicrosPer1mTokens: 7_000_000,
      reasoningCostMicrosPer1mTokens: 3_000_000,
      audioOutputCostMicrosPer1mTokens: 80_000_000,
      imageOutputCostMicrosPer1mTokens: 90_000_000,
      flatRequestCostMicros: 0,
    };
    const usage = {
      inputTokens: 100,
      cachedInputTokens: 10,
      cacheWrite5mTokens: 20,
      cacheWrite1hTokens: 30,
      audioInputTokens: 5,
      imageInputTokens: 3,
      outputTokens: 50,
      reasoningTokens: 40,
      audioOutputTokens: 2,
      imageOutputTokens: 4,
    };
    const media = 5 * 40_000_000 + 3 * 7_000_000;
    const input = 10 * 1_250_000 + 20 * 3_000_000 + 30 * 5_000_000 + media + 32 * 2_500_000;
    const output = 40 * 3_000_000 + 2 * 80_000_000 + 4 * 90_000_000 + 4 * 10_000_000;
    assert.equal(costPicos(parts, usage), BigInt(input + output));
    const short = { ...parts, cacheWrite1hCostMicrosPer1mTokens: null };
    assert.equal(costPicos(short, usage), BigInt(input - 30 * 2_000_000 + output));
    const all = { ...usage, cachedInputTokens: 100 };
    assert.equal(costPicos(parts, all), BigInt(100 * 1_250_000 + output), 'the earlier parts count');
  });
  it('is by other prices above a length of the input, and in another service tier', () => {
    const tiered = {
      ...pricing,
      cachedInputCostMicrosPer1mTokens: null,
      flatRequestCostMicros: 0,
      variants: [
        { aboveInputTokens: 200, inputCostMicrosPer1mTokens: 5_000_000 },
        { serviceTier: 'flex', inputCostMicrosPer1mTokens: 1_000_000 },
        { serviceTier: 'flex', aboveInputTokens: 200, inputCostMicrosPer1mTokens: 2_000_000 },
      ],
    };
    const cost = (inputTokens: number, serviceTier?: string) =>
      costPicos(tiered, {
        inputTokens,
        outputTokens: 0,
        cachedInputTokens: 100,
        ...(serviceTier !== undefined && { serviceTier }),
      });
    assert.equal(cost(200), 500_000_000n);
    assert.equal(cost(201), 1_005_000_000n, 'all of its tokens, also the cached ones');
    assert.equal(cost(200, 'flex'), 200_000_000n);
    assert.equal(cost(201, 'flex'), 402_000_000n);
    assert.equal(cost(200, 'priority'), 500_000_000n, 'a tier without prices of its own');
  });
  it('never exceeds what a column holds', () => {
    const dear = { ...pricing, outputCostMicrosPer1mTokens: Number.MAX_SAFE_INTEGER };
    const usage = { inputTokens: 0, outputTokens: Number.MAX_SAFE_INTEGER, cachedInputTokens: 0 };
    assert.equal(costMicros(dear, usage), Number.MAX_SAFE_INTEGER);
  });
});

describe('the lines of a cost', () => {
  const pricing = {
    inputCostMicrosPer1mTokens: 3_000_000,
    outputCostMicrosPer1mTokens: 15_000_000,
    cachedInputCostMicrosPer1mTokens: 300_000,
    flatRequestCostMicros: 0,
  };
  const linesOf = (over: object, usage: object) =>
    costLines(
      { ...pricing, ...over },
      { cachedInputTokens: 0, outputTokens: 0, inputTokens: 0, ...usage },
    ).map(
      ({ kind, tokens, priceMicros, picos }) => `${kind}: ${tokens} × ${priceMicros} = ${exactUsd(picos)}`,
    );

  it('are each kind of tokens at its price, and the flat price', () => {
    const usage = { inputTokens: 5_460, cachedInputTokens: 2_048, outputTokens: 504 };
    assert.deepEqual(linesOf({ flatRequestCostMicros: 7 }, usage), [
      'input: 3412 × 3000000 = 0.010236',
      'cachedInputTokens: 2048 × 300000 = 0.0006144',
      'output: 504 × 15000000 = 0.00756',
      'request: null × 7 = 0.000007',
    ]);
  });
  it('leave parts without a price of their own in the whole, and nothing at zero', () => {
    const usage = { inputTokens: 10, cachedInputTokens: 4, audioInputTokens: 3, reasoningTokens: 2 };
    assert.deepEqual(linesOf({ cachedInputCostMicrosPer1mTokens: null }, usage), [
      'input: 10 × 3000000 = 0.00003',
    ]);
    assert.deepEqual(linesOf({}, { inputTokens: 4, cachedInputTokens: 9 }), [
      'cachedInputTokens: 4 × 300000 = 0.0000012',
    ]);
  });
  it('are none of a free request', () => {
    assert.deepEqual(linesOf({ flatRequestCostMicros: 7 }, { inputTokens: 10, free: true }), []);
  });
  it('always add up to the cost, and have every token once', () => {
    fc.assert(
      fc.property(prices, variants, usages, (set, more, usage) => {
        const policy = { ...set, variants: more };
        const lines = costLines(policy, usage);
        assert.equal(
          lines.reduce((sum, { picos }) => sum + picos, 0n),
          costPicos(policy, usage),
        );
        const tokens = lines.reduce((sum, line) => sum + (line.tokens ?? 0), 0);
        assert.equal(tokens, usage.inputTokens + usage.outputTokens);
        assert.equal(new Set(lines.map(({ kind }) => kind)).size, lines.length);
        for (const { tokens: count, priceMicros, picos } of lines)
          assert.equal(picos, BigInt(count ?? 1_000_000) * BigInt(priceMicros));
      }),
    );
  });
});

describe('money', () => {
  const amounts = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) * 1_000_000n });

  it('is stored without loss, rounded up by less than a micro-USD', () => {
    fc.assert(
      fc.property(amounts, (picos) => {
        const stored = storedMoney(picos);
        assert.equal(picosOf(stored), picos);
        assert.ok(stored.roundingPicos >= 0 && stored.roundingPicos < 1_000_000);
        assert.ok(Number.isSafeInteger(stored.micros));
      }),
    );
  });
  it('is shown rounded half up', () => {
    const shown = [0n, 499_999n, 500_000n, 1_499_999n, 1_500_000n].map(shownMicros);
    assert.deepEqual(shown, [0, 0, 1, 1, 2]);
  });
  it('is written as an exact decimal number', () => {
    const written = [0n, 1n, 200_000n, 10n ** 12n, 1_500_000_000_000n, 1_200_000n * 10n ** 12n].map(exactUsd);
    assert.deepEqual(written, ['0', '0.000000000001', '0.0000002', '1', '1.5', '1200000']);
    fc.assert(
      fc.property(amounts, (picos) => {
        const [whole = '', part = ''] = exactUsd(picos).split('.');
        assert.equal(BigInt(whole) * 10n ** 12n + BigInt(part.padEnd(12, '0')), picos);
        assert.doesNotMatch(part, /0$/);
      }),
    );
  });
});
