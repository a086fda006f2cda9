import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import { finish } from '../kit/slices.ts';
import { protocols } from './index.ts';
import { parseUsage } from './openai/usage.ts';
import { outlineOf } from './outline.ts';

const MOST = Number.MAX_SAFE_INTEGER;

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
      { prompt_tokens: 1, total_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
      [1, 0, 1],
    ],
    [
      'an input that leaves out what a cache held',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 10_150,
        prompt_tokens_details: { cached_tokens: 10_000 },
      },
      [10_100, 50, 10_000],
    ],
    ['null', null, null],
    ['empty', {}, null],
    ['text', { prompt_tokens: '3' }, null],
    ['negative', { prompt_tokens: -1 }, null],
    ['fractional', { prompt_tokens: 1.5 }, null],
    ['an output that is negative', { prompt_tokens: 3, completion_tokens: -4 }, null],
    ['an output that is fractional', { prompt_tokens: 3, completion_tokens: 0.5 }, null],
    ['an output that is text', { prompt_tokens: 3, completion_tokens: '4', total_tokens: 7 }, null],
    ['an output that is null', { prompt_tokens: 3, completion_tokens: null, total_tokens: 7 }, [3, 4, 0]],
    ['a total below the input', { prompt_tokens: 3, total_tokens: 1 }, [3, 0, 0]],
    ['the input alone', { prompt_tokens: 3 }, [3, undefined, 0]],
    ['an output that is null, without a total', { input_tokens: 3, output_tokens: null }, [3, undefined, 0]],
    ['a total that is text', { prompt_tokens: 3, total_tokens: '7' }, [3, undefined, 0]],
    ['the largest number', { prompt_tokens: MOST, completion_tokens: MOST }, [MOST, MOST, 0]],
    ['a number beyond it', { prompt_tokens: 1e300, completion_tokens: 4 }, [MOST, 4, 0]],
    ['infinity', { prompt_tokens: 3, completion_tokens: JSON.parse('1e999') }, [3, MOST, 0]],
    [
      'cached tokens that are no count',
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: -1 } },
      [3, 4, 0],
    ],
  ];
  for (const [what, value, expected] of cases) {
    it(`reads ${what}`, () => {
      const usage = parseUsage(value);
      assert.deepEqual(usage && [usage.inputTokens, usage.outputTokens, usage.cachedInputTokens], expected);
    });
  }
});

describe('the parts of usage', () => {
  const counted = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 };
  const plain = { inputTokens: 30, outputTokens: 4, cachedInputTokens: 0 };
  const cases: [string, object, string | undefined, object][] = [
    ['DeepSeek', { ...counted, prompt_cache_hit_tokens: 20 }, undefined, { cachedInputTokens: 20 }],
    ['Mistral', { ...counted, num_cached_tokens: 7 }, undefined, { cachedInputTokens: 7 }],
    ['vLLM', { ...counted, prompt_tokens_details: null }, undefined, {}],
    ['Gemini', { ...counted, total_tokens: 40 }, undefined, { outputTokens: 10, reasoningTokens: 6 }],
    [
      'xAI',
      { ...counted, total_tokens: 40, completion_tokens_details: { reasoning_tokens: 6 } },
      undefined,
      { outputTokens: 10, reasoningTokens: 6 },
    ],
    [
      'OpenAI',
      {
        ...counted,
        prompt_tokens_details: { cached_tokens: 1, audio_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 1 },
      },
      'priority',
      {
        cachedInputTokens: 1,
        audioInputTokens: 2,
        reasoningTokens: 3,
        audioOutputTokens: 1,
        serviceTier: 'priority',
      },
    ],
    ['the standard tier', counted, 'default', {}],
    ['a tier that is no name', counted, 'A TIER', {}],
  ];
  for (const [what, value, tier, expected] of cases) {
    it(`reads those of ${what}`, () => {
      assert.deepEqual(parseUsage(value, tier), { ...plain, ...expected });
    });
  }

  it('reads the service tier of a whole answer, large or small', () => {
    const { answer } = protocols.chat;
    for (const text of ['', 'x'.repeat(10_000)]) {
      const body = JSON.stringify({ text, service_tier: 'flex', usage: counted });
      assert.equal(finish(answer.read(Buffer.from(body))).usage?.serviceTier, 'flex');
    }
  });
});

describe('usage of a complete answer', () => {
  const read = (text: string) => finish(protocols.embeddings.answer.read(Buffer.from(text)));
  const known = { prompt_tokens: 8, total_tokens: 8 };
  const floats = (count: number) => Array.from({ length: count }, (_, index) => Math.sin(index));
  const usage = { inputTokens: 8, outputTokens: 0, cachedInputTokens: 0 };
  const fake = '{"usage":{"prompt_tokens":1}}';

  /** Small answers are parsed, large ones scanned. */
  for (const count of [3, 3_000]) {
    const data = [{ embedding: floats(count), note: fake, usage: { prompt_tokens: 2 } }];
    const whole = JSON.stringify({ data, usage: known });

    it(`is that of the top level, the last of several, among ${count} numbers`, () => {
      assert.deepEqual(read(whole), { sound: true, usage });
      const twice = whole.replace('{', '{"usage":{"prompt_tokens":3},');
      assert.deepEqual(read(twice), { sound: true, usage });
      assert.deepEqual(read(whole.replaceAll('"usage"', '"us\\u0061ge"')), { sound: true, usage });
      assert.deepEqual(read(JSON.stringify({ data })), { sound: true, usage: null });
    });

    it(`is unknown of an answer of ${count} numbers that is cut off or goes on`, () => {
      for (const text of [whole.slice(0, -1), whole.slice(0, 40), `${whole}x`, `${whole}{}`, `[${whole}]`])
        assert.deepEqual(read(text), { sound: false, usage: null });
    });

    it(`is read although a string among ${count} numbers is not spelled as JSON asks`, () => {
      assert.deepEqual(read(whole.replace('{', '{"note":"a\nb\\x",')), { sound: true, usage });
    });
  }
});

describe('usage that has no count of the output', () => {
  const usageOf = (operation: Operation, usage: object) =>
    finish(protocols[operation].answer.read(Buffer.from(JSON.stringify({ usage })))).usage;

  it('is the input alone, except where there is no output to count', () => {
    const input = { inputTokens: 3, cachedInputTokens: 0 };
    assert.deepEqual(usageOf('chat', { prompt_tokens: 3 }), input);
    assert.deepEqual(usageOf('responses', { input_tokens: 3 }), input);
    assert.deepEqual(usageOf('messages', { input_tokens: 3 }), input);
    assert.deepEqual(usageOf('embeddings', { prompt_tokens: 3 }), { ...input, outputTokens: 0 });
  });
});

describe('usage that has no count of the input', () => {
  it('is the output alone, or both where a total says the rest', () => {
    assert.deepEqual(parseUsage({ completion_tokens: 9 }), { outputTokens: 9 });
    assert.deepEqual(parseUsage({ output_tokens: 9, total_tokens: 21 }), {
      inputTokens: 12,
      outputTokens: 9,
    });
    assert.equal(parseUsage({ prompt_tokens: -1, completion_tokens: 9 }), null);
  });
});

describe('the outline of an answer', () => {
  const outlined = (operation: Operation, text: string) => {
    const { answer } = protocols[operation];
    const outline = outlineOf(answer.textMembers);
    outline.push(text);
    return { usage: finish(answer.read(Buffer.from(outline.json() ?? ''))).usage, text: outline.textBytes };
  };
  const usage = { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } };
  const counts = { inputTokens: 3, outputTokens: 4, cachedInputTokens: 2 };
  const choices = [{ message: { content: 'x'.repeat(20_000), usage: { prompt_tokens: 9 } } }];

  it('tells usage and tier wherever they stand, and how much text there is', () => {
    for (const answer of [
      { usage, service_tier: 'flex', choices },
      { choices, service_tier: 'flex', usage },
    ]) {
      const read = outlined('chat', JSON.stringify(answer));
      assert.deepEqual(read, { usage: { ...counts, serviceTier: 'flex' }, text: 20_000 });
    }
  });

  it('tells what was reported before an answer was cut, and in which text it was', () => {
    const { length } = JSON.stringify({ usage });
    const text = JSON.stringify({ usage, choices });
    assert.deepEqual(outlined('chat', text.slice(0, length - 1)).usage, counts);
    assert.deepEqual(outlined('chat', text.slice(0, 30)).usage, { inputTokens: 3, cachedInputTokens: 0 });
    const cut = text.slice(0, text.indexOf('xxx') + 100);
    assert.deepEqual(outlined('chat', cut), { usage: counts, text: 100 });
  });

  it('has the text of each protocol', () => {
    assert.equal(outlined('messages', JSON.stringify({ content: [{ type: 'text', text: 'four' }] })).text, 4);
    const output = [{ content: [{ type: 'output_text', text: 'four' }] }];
    assert.equal(outlined('responses', JSON.stringify({ output })).text, 4);
    assert.equal(outlined('embeddings', JSON.stringify({ data: [{ embedding: 'AAAA' }] })).text, 0);
  });
});

describe('the usage of an error frame', () => {
  const meaning = (operation: Operation, payload: object, event: string | null = null) => {
    const { kind, usage } = protocols[operation].stream.readFrame({ event, data: JSON.stringify(payload) });
    return { kind, usage };
  };
  const counts = { inputTokens: 11, outputTokens: 5, cachedInputTokens: 0 };
  const spent = { input_tokens: 11, output_tokens: 5 };
  const failed = { error: { message: 'no' } };

  it('is read in every protocol', () => {
    const usage = { prompt_tokens: 11, completion_tokens: 5 };
    const expected = { kind: 'error', usage: counts };
    assert.deepEqual(meaning('chat', { ...failed, usage }), expected);
    assert.deepEqual(meaning('chat', { message: 'no', usage }, 'error'), expected);
    assert.deepEqual(
      meaning('embeddings', { ...failed, usage: { prompt_tokens: 11, total_tokens: 16 } }),
      expected,
    );
    assert.deepEqual(meaning('responses', { type: 'response.failed', response: { usage: spent } }), expected);
    assert.deepEqual(meaning('responses', { type: 'error', usage: spent }), expected);
    assert.deepEqual(meaning('messages', { type: 'error', ...failed, usage: spent }, 'error'), expected);
    for (const operation of ['chat', 'responses', 'messages', 'embeddings'] as const)
      assert.deepEqual(meaning(operation, { type: 'error', ...failed }), { kind: 'error', usage: null });
  });
});

describe('estimates', () => {
  const estimate = (operation: Operation, body: Record<string, unknown>, outputTokens = 100) => {
    const { request } = protocols[operation];
    const measured = request.measure(body);
    assert.ok(measured !== null);
    return request.estimate(measured, { outputTokens, unseenInputTokens: 2_000 });
  };

  it('takes the output cap, times the number of choices', () => {
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 5, n: 3 };
    assert.equal(estimate('chat', body).outputTokens, 15);
    assert.equal(estimate('chat', { ...body, max_tokens: 5_000, n: 1 }).outputTokens, 5_000);
  });
  it('takes a cap as it is, whether the typical output is less or more', () => {
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 5_000 };
    assert.equal(estimate('chat', body, 100).outputTokens, 5_000);
    assert.equal(estimate('chat', body, 9_000).outputTokens, 5_000);
    assert.equal(estimate('responses', { input: 'x', max_output_tokens: 5_000 }, 100).outputTokens, 5_000);
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
      messages: [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
        },
      ],
    });
    const small = estimate('chat', image('a')).inputTokens;
    assert.ok(small > 765);
    assert.equal(estimate('chat', image('a'.repeat(100_000))).inputTokens, small);
  });
  it('counts token ids as one token each', () => {
    assert.equal(estimate('embeddings', { input: [1, 2, 3] }).inputTokens, 3);
  });
});
