import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../kit/slices.ts';
import { protocols } from './index.ts';

const TYPICAL = { outputTokens: 1, unseenInputTokens: 7_000 };
const DATA = 'iVBORw0KGgo'.repeat(4_000);
const TEXT_TOKENS = DATA.length / 4;
const IMAGE_TOKENS_MAX = 900;

type Content = Record<string, unknown>;

function input(operation: 'chat' | 'responses' | 'messages' | 'embeddings', body: Content | string): number {
  const { request } = protocols[operation];
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'm', ...body });
  return request.estimate(finish(request.parse(Buffer.from(text))), TYPICAL).inputTokens;
}

const chat = (...content: unknown[]) => input('chat', { messages: [{ role: 'user', content }] });
const responses = (...content: unknown[]) => input('responses', { input: [{ role: 'user', content }] });
const messages = (...content: unknown[]) => input('messages', { messages: [{ role: 'user', content }] });
const url = `data:image/png;base64,${DATA}`;
const source = (over: object = {}) => ({ type: 'base64', media_type: 'image/png', data: DATA, ...over });

describe('base64', () => {
  it('is an image where the protocol has one, at a fixed price', () => {
    assert.ok(chat({ type: 'image_url', image_url: { url } }) < IMAGE_TOKENS_MAX);
    assert.ok(responses({ type: 'input_image', image_url: url }) < IMAGE_TOKENS_MAX);
    assert.ok(messages({ type: 'image', source: source() }) < IMAGE_TOKENS_MAX);
    const result = [{ type: 'image', source: source() }];
    assert.ok(messages({ type: 'tool_result', tool_use_id: 't', content: result }) < IMAGE_TOKENS_MAX);
  });

  it('of a file counts by its length', () => {
    const fileTokens = (DATA.length * 3) / 16;
    const file = `data:application/pdf;base64,${DATA}`;
    for (const tokens of [
      chat({ type: 'file', file: { file_data: file } }),
      responses({ type: 'input_file', file_data: file }),
      messages({ type: 'document', source: source({ media_type: 'application/pdf' }) }),
    ])
      assert.ok(tokens >= fileTokens && tokens < fileTokens + IMAGE_TOKENS_MAX, String(tokens));
  });

  it('of a file, and of audio, is a guess beyond the price of an image, and bounded', () => {
    const large = 'JVBERi0x'.repeat(1_000_000);
    const estimateOf = (part: object) => {
      const { request } = protocols.chat;
      const body = { model: 'm', messages: [{ role: 'user', content: [part] }] };
      return request.estimate(finish(request.parse(Buffer.from(JSON.stringify(body)))), TYPICAL);
    };
    for (const part of [
      { type: 'file', file: { file_data: `data:application/pdf;base64,${large}` } },
      { type: 'input_audio', input_audio: { data: large, format: 'wav' } },
    ]) {
      const { inputTokens, guessedInputTokens = 0 } = estimateOf(part);
      assert.ok(inputTokens - guessedInputTokens < IMAGE_TOKENS_MAX, String(inputTokens));
      assert.equal(guessedInputTokens, 1_000_000);
    }
    const spoken = { type: 'input_audio', input_audio: { data: 'not base64, but text. '.repeat(1_000) } };
    assert.ok(estimateOf(spoken).inputTokens > 5_000, 'text is not audio');
  });

  for (const [what, tokens] of [
    ['a prompt', () => input('chat', { messages: [{ role: 'user', content: url }] })],
    ['a prompt of responses', () => input('responses', { input: url })],
    ['an embedding', () => input('embeddings', { input: [url] })],
    ['a part of text', () => chat({ type: 'text', text: url })],
    [
      'the system prompt',
      () => input('messages', { system: url, messages: [{ role: 'user', content: 'x' }] }),
    ],
    ['another member of an image', () => chat({ type: 'image_url', image_url: { url: 'x', detail: url } })],
    ['a list in place of a URL', () => chat({ type: 'image_url', image_url: [url] })],
    [
      'a URL of another kind',
      () => chat({ type: 'image_url', image_url: { url: `data:text/plain,${DATA}` } }),
    ],
    [
      'a file that is not base64',
      () => chat({ type: 'file', file: { file_data: `data:text/plain,${DATA}` } }),
    ],
    [
      'the definition of a tool',
      () =>
        input('chat', {
          messages: [{ role: 'user', content: 'x' }],
          tools: [{ type: 'function', function: { name: 'f', parameters: { image_url: { url } } } }],
        }),
    ],
    [
      'the input of a tool',
      () => messages({ type: 'tool_use', id: 't', name: 'f', input: { a: [{ source: source() }] } }),
    ],
    [
      'a document of text',
      () => messages({ type: 'document', source: source({ type: 'text', media_type: 'text/plain' }) }),
    ],
    ['a source without a type', () => messages({ type: 'image', source: { data: DATA } })],
    [
      'a source with two types',
      () => {
        const twice = `{"type":"base64","data":"${DATA}","type":"text"}`;
        return input(
          'messages',
          `{"model":"m","messages":[{"role":"user","content":[{"source":${twice}}]}]}`,
        );
      },
    ],
    [
      'a source around another',
      () => messages({ source: { type: 'base64', data: DATA, x: { source: source() } } }),
    ],
  ] as const)
    it(`in ${what} is text`, () => {
      const counted = tokens();
      assert.ok(counted >= TEXT_TOKENS, `${counted} of ${TEXT_TOKENS}`);
    });

  it('is found whichever way the names are escaped', () => {
    const escaped = JSON.stringify({ type: 'image_url', image_url: { url } }).replaceAll(
      'image_url"',
      'im\\u0061ge_url"',
    );
    const body = `{"model":"m","messages":[{"role":"user","content":[${escaped}]}]}`;
    assert.ok(input('chat', body) < IMAGE_TOKENS_MAX);
  });
});

describe('what a request only refers to', () => {
  it('counts as what is typical for it', () => {
    for (const tokens of [
      input('responses', { input: 'x', previous_response_id: 'resp_1' }),
      input('responses', { input: 'x', conversation: { id: 'conv_1' } }),
      input('responses', { input: 'x', prompt: { id: 'pmpt_1' } }),
      input('responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }),
      responses({ type: 'input_file', file_id: 'file_1' }),
      responses({ type: 'input_file', 'file_\u0075rl': 'https://example.com/a.pdf' }),
      chat({ type: 'file', file: { file_id: 'file_1' } }),
      messages({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }),
      messages({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
    ])
      assert.ok(
        tokens > TYPICAL.unseenInputTokens && tokens < TYPICAL.unseenInputTokens + 100,
        String(tokens),
      );
    assert.ok(input('responses', { input: 'x', previous_response_id: null, conversation: null }) < 10);
  });
});

describe('what a model reads that is not text', () => {
  const many = 10_000;
  it('counts at least a token for each value', () => {
    for (const value of [true, null, [], {}, 'a', 1, 1e300])
      assert.ok(
        messages({ type: 'tool_use', id: 't', name: 'f', input: { a: Array(many).fill(value) } }) >= many,
        JSON.stringify(value),
      );
  });

  it('counts large members that Relay does not know, and small ones not', () => {
    const body = { messages: [{ role: 'user', content: 'x' }] };
    assert.ok(input('chat', { ...body, documents: ['word '.repeat(8_000)] }) >= 10_000);
    assert.ok(input('chat', { ...body, invented: ['word '.repeat(8_000)] }) >= 10_000);
    assert.ok(input('chat', { ...body, MESSAGES: [{ content: 'word '.repeat(8_000) }] }) >= 10_000);
    assert.equal(input('chat', { ...body, invented: 'word' }), input('chat', body));
    assert.equal(input('chat', { ...body, metadata: { a: 'x'.repeat(4_000) } }), input('chat', body));
  });
});
