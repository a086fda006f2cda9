import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scanObject } from '../../kit/json-members.ts';
import type { Operation } from '../routing/operation.ts';
import { estimateTokens, outputCap } from './estimate.ts';
import { costMicros } from './money.ts';
import { parseUsage } from './usage.ts';

describe('usage', () => {
  const cases: [string, unknown, unknown][] = [
    ['chat', { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, [3, 4, 0]],
    [
      'responses',
      { input_tokens: 3, output_tokens: 4, input_tokens_details: { cached_tokens: 2 } },
      [3, 4, 2],
    ],
    ['embeddings', { prompt_tokens: 5, total_tokens: 5 }, [5, 0, 0]],
    ['explicit zero', { prompt_tokens: 0, completion_tokens: 0 }, [0, 0, 0]],
    [
      'more cached than there is',
      { prompt_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
      [1, 0, 1],
    ],
    ['null', null, null],
    ['empty', {}, null],
    ['text', { prompt_tokens: '3' }, null],
    ['negative', { prompt_tokens: -1 }, null],
    ['fractional', { prompt_tokens: 1.5 }, null],
  ];
  for (const [what, value, expected] of cases) {
    it(`reads ${what}`, () => {
      const usage = parseUsage(value);
      assert.deepEqual(usage && [usage.inputTokens, usage.outputTokens, usage.cachedInputTokens], expected);
    });
  }
});

describe('cost', () => {
  const pricing = {
    inputCostMicrosPer1mTokens: 2_500_000,
    outputCostMicrosPer1mTokens: 10_000_000,
    cachedInputCostMicrosPer1mTokens: 1_250_000,
    flatRequestCostMicros: 7,
  };
  it('adds input, cached input, output and the flat price, rounded up once', () => {
    assert.equal(costMicros(pricing, { inputTokens: 3, outputTokens: 1, cachedInputTokens: 1 }), 24);
  });
  it('takes the input price for cached input without a price of its own', () => {
    const plain = { ...pricing, cachedInputCostMicrosPer1mTokens: null, flatRequestCostMicros: 0 };
    assert.equal(costMicros(plain, { inputTokens: 4, outputTokens: 0, cachedInputTokens: 4 }), 10);
  });
  it('never falls below the exact price and never exceeds it by a whole micro', () => {
    const tokens = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(tokens, tokens, fc.integer({ min: 0, max: 1_000_000_000 }), (input, output, price) => {
        const flat = { ...pricing, inputCostMicrosPer1mTokens: price, flatRequestCostMicros: 0 };
        const cost = BigInt(
          costMicros(flat, { inputTokens: input, outputTokens: output, cachedInputTokens: 0 }),
        );
        const exact = BigInt(input) * BigInt(price) + BigInt(output) * 10_000_000n;
        assert.ok(cost * 1_000_000n >= exact && (cost - 1n) * 1_000_000n < exact);
      }),
    );
  });
});

describe('estimates', () => {
  const estimate = (operation: Operation, body: Record<string, unknown>, typicalTokens = 100) => {
    const spans = scanObject(Buffer.from(JSON.stringify(body)).toString('latin1'), 64);
    assert.ok(typeof spans !== 'string');
    return estimateTokens(operation, { members: spans.members, settings: body }, typicalTokens);
  };

  it('takes the output cap by any of its names, times the number of choices', () => {
    assert.equal(outputCap({ max_tokens: 5 }), 5);
    assert.equal(outputCap({ max_completion_tokens: 6, max_tokens: 5 }), 6);
    assert.equal(outputCap({ max_output_tokens: 7 }), 7);
    assert.equal(outputCap({ max_tokens: null }), null);
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 5, n: 3 };
    assert.equal(estimate('chat', body).outputTokens, 15);
  });
  it('takes the typical output without a cap, and none for embeddings', () => {
    assert.equal(estimate('chat', { messages: [] }).outputTokens, 100);
    const greedy = { messages: [], max_tokens: Number.MAX_SAFE_INTEGER, n: Number.MAX_SAFE_INTEGER };
    assert.equal(estimate('chat', greedy).outputTokens, 1_000_000_000);
    assert.equal(estimate('embeddings', { input: 'x' }).outputTokens, 0);
  });
  it('counts four bytes of text as a token, wherever it stands', () => {
    const text = 'word '.repeat(400);
    const inputs = [
      { input: text },
      { input: [{ role: 'user', content: text }] },
      { input: 'x', instructions: text },
    ];
    for (const body of inputs) {
      const { inputTokens } = estimate('responses', body);
      assert.ok(inputTokens >= 500 && inputTokens <= 506, String(inputTokens));
    }
  });
  it('counts an image at a fixed price, whatever the length of its data', () => {
    const image = (data: string) => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:,${data}` } }] }],
    });
    const small = estimate('chat', image('a')).inputTokens;
    assert.ok(small > 765);
    assert.equal(estimate('chat', image('a'.repeat(100_000))).inputTokens, small);
  });
  it('counts token ids as one token each', () => {
    assert.equal(estimate('embeddings', { input: [1, 2, 3] }).inputTokens, 3);
  });
});
