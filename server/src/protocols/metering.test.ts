import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import { protocols } from './index.ts';
import { outputCap } from './openai/estimate.ts';
import { parseUsage } from './openai/usage.ts';

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

describe('estimates', () => {
  const estimate = (operation: Operation, body: Record<string, unknown>, typicalTokens = 100) => {
    const { request } = protocols[operation];
    const measured = request.measure(body);
    assert.ok(measured !== null);
    return request.estimate(measured, typicalTokens);
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
