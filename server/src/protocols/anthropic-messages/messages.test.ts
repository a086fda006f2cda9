import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { finish } from '../../kit/slices.ts';
import { parseFrame } from '../../kit/sse-frames.ts';
import { anthropicMessages as protocol } from './index.ts';

const parse = (text: string) => finish(protocol.request.parse(Buffer.from(text)));
const body = (over: object = {}) => ({
  model: 'm',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi' }],
  ...over,
});

describe('a Messages request', () => {
  it('reaches the provider byte for byte except for the value of model', () => {
    const text =
      '{ "model" : "lane", "max_tokens":1e2,\n"messages":[{"role":"user","content":"\\u00fc\u{1f642}"}], "stream" :true, "x":12345678901234567890 }';
    const sent = Buffer.concat(protocol.request.forUpstream(parse(text), 'claude')).toString();
    assert.equal(sent, text.replace('"lane"', '"claude"'));
    assert.equal(protocol.request.asksForUsage(parse(text)), false);
  });

  it('streams only when it says so', () => {
    assert.equal(parse(JSON.stringify(body({ stream: true }))).streaming, true);
    assert.equal(parse(JSON.stringify(body({ stream: 'true' }))).streaming, false);
    assert.equal(parse(JSON.stringify(body())).streaming, false);
  });

  for (const [what, text, param] of [
    ['no model', '{"messages":[{}]}', 'model'],
    ['no messages', '{"model":"m"}', 'messages'],
    ['empty messages', '{"model":"m","messages":[ ]}', 'messages'],
    ['text for messages', '{"model":"m","messages":"Hi"}', 'messages'],
  ] as const) {
    it(`with ${what} is rejected by its field`, () => {
      assert.throws(
        () => parse(text),
        (error) => error instanceof RelayError && error.detail.param === param,
      );
    });
  }

  it('without max_tokens is left to the provider', () => {
    const parsed = parse('{"model":"m","messages":[{"role":"user","content":"x"}]}');
    assert.equal(protocol.request.output(parsed).cap, null);
  });
});

describe('the estimate of a Messages request', () => {
  const estimate = (over: object, outputTokens = 100) =>
    protocol.request.estimate(parse(JSON.stringify(body(over))), { outputTokens, unseenInputTokens: 2_000 });
  const bare = estimate({}).inputTokens;

  it('takes max_tokens for the output, and the typical output without it', () => {
    assert.equal(estimate({}).outputTokens, 50);
    assert.equal(estimate({ max_tokens: undefined }).outputTokens, 100);
    assert.equal(estimate({ max_tokens: Number.MAX_SAFE_INTEGER }).outputTokens, 1_000_000_000);
  });

  it('counts the system prompt and tools, as text or as blocks', () => {
    const text = 'word '.repeat(400);
    for (const over of [
      { system: text },
      { system: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }] },
      { tools: [{ name: 'f', description: text, input_schema: { type: 'object' } }] },
    ]) {
      const more = estimate(over).inputTokens - bare;
      assert.ok(more >= 500 && more < 530, String(more));
    }
  });

  const block = (type: string, source: object) => ({
    messages: [{ role: 'user', content: [{ type, source }] }],
  });
  const base64 = (data: string) => block('image', { type: 'base64', media_type: 'image/png', data });

  it('counts an image at a fixed price, whatever the length of its base64, and a file by its length', () => {
    const small = estimate(base64('iVBORw0KGgo=')).inputTokens;
    assert.ok(small - bare >= 765 && small - bare < 800, String(small - bare));
    assert.equal(estimate(base64(`${'iVBORw0KGgo'.repeat(20_000)}=`)).inputTokens, small);
    const file = (data: string) =>
      estimate(block('document', { type: 'base64', media_type: 'application/pdf', data })).inputTokens - bare;
    assert.ok(file('JVBERi'.repeat(9)) < 800);
    assert.ok(file('JVBERi'.repeat(10_000)) > 10_000);
  });

  it('counts text as text where it only stands in the place of base64', () => {
    const text = 'word '.repeat(4_000);
    const cases = [
      block('document', { type: 'text', media_type: 'text/plain', data: text }),
      base64(`iVBORw0KGgo${text}`),
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', data: 'A'.repeat(20_000) }] }] },
      { messages: [{ role: 'user', content: [{ source: { deeper: { data: 'A'.repeat(20_000) } } }] }] },
    ];
    for (const over of cases)
      assert.ok(estimate(over).inputTokens >= 5_000, JSON.stringify(over).slice(0, 80));
  });
});

describe('the usage of a message', () => {
  const read = (usage: unknown) => finish(protocol.answer.read(Buffer.from(JSON.stringify({ usage })))).usage;

  it('has as its input what was read from a cache, written to one, and the rest', () => {
    assert.deepEqual(read({ input_tokens: 10, output_tokens: 5 }), {
      inputTokens: 10,
      outputTokens: 5,
      cachedInputTokens: 0,
    });
    const cached = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
      output_tokens: 5,
    };
    assert.deepEqual(read(cached), {
      inputTokens: 3_210,
      outputTokens: 5,
      cachedInputTokens: 200,
      cacheWrite5mTokens: 1_000,
      cacheWrite1hTokens: 2_000,
    });
  });

  it('counts writes as those of 5 minutes unless the provider says otherwise', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 9,
      cache_read_input_tokens: null,
      output_tokens: 2,
    };
    const writes = (parts: unknown) => read({ ...usage, cache_creation: parts });
    assert.equal(writes(null)?.cacheWrite5mTokens, 9);
    const beyond = writes({ ephemeral_1h_input_tokens: 50 });
    assert.deepEqual([beyond?.cacheWrite5mTokens, beyond?.cacheWrite1hTokens], [0, 9]);
  });

  it('is unknown when a count is missing or is not one', () => {
    for (const usage of [
      null,
      {},
      { input_tokens: -3, output_tokens: 3 },
      { input_tokens: 3, output_tokens: 3, cache_read_input_tokens: '9' },
    ])
      assert.equal(read(usage), null, JSON.stringify(usage));
  });

  it('is known in part when one side is missing', () => {
    assert.deepEqual(read({ output_tokens: 3 }), { outputTokens: 3 });
    assert.deepEqual(read({ input_tokens: 3 }), { inputTokens: 3, cachedInputTokens: 0 });
  });
});

describe('a frame of a Messages stream', () => {
  const read = (type: string, fields: object = {}) =>
    protocol.stream.readFrame(parseFrame(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`));
  const start = (content_block: object) => read('content_block_start', { index: 0, content_block });

  it('is preamble as long as it says nothing of the answer', () => {
    const frames = [
      read('message_start', { message: {} }),
      start({ type: 'text', text: '' }),
      start({ type: 'thinking', thinking: '', signature: '' }),
      read('content_block_stop', { index: 0 }),
    ];
    assert.deepEqual(new Set(frames.map(({ kind }) => kind)), new Set(['preamble']));
  });

  it('is a keep-alive if it is a ping or a comment', () => {
    for (const frame of [read('ping'), protocol.stream.readFrame(parseFrame(': comment\n\n'))])
      assert.equal(frame.kind, 'keep_alive');
  });

  it('is content with a delta, a tool that is called, or what Relay does not know', () => {
    const frames = [
      read('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a' } }),
      read('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'a' } }),
      start({ type: 'tool_use', id: 't', name: 'f', input: {} }),
      start({ type: 'redacted_thinking', data: 'x' }),
      read('made_up_tomorrow'),
      protocol.stream.readFrame(parseFrame('data: not JSON\n\n')),
    ];
    assert.deepEqual(new Set(frames.map(({ kind }) => kind)), new Set(['content']));
  });

  it('ends the content, the stream, or reports an error', () => {
    assert.equal(read('message_delta', { delta: { stop_reason: 'end_turn' } }).kind, 'closing');
    assert.equal(read('message_stop').kind, 'done');
    assert.equal(read('error', { error: { type: 'overloaded_error' } }).kind, 'error');
    const unnamed = 'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n';
    assert.equal(protocol.stream.readFrame(parseFrame(unnamed)).kind, 'error');
  });

  it('reports the input at the start and the output at the end', () => {
    const usage = { input_tokens: 3, cache_creation_input_tokens: 4, output_tokens: 1 };
    assert.deepEqual(read('message_start', { message: { usage } }).usage, {
      inputTokens: 7,
      cachedInputTokens: 0,
      cacheWrite5mTokens: 4,
      cacheWrite1hTokens: 0,
    });
    const delta = { stop_reason: 'end_turn' };
    assert.deepEqual(read('message_delta', { delta, usage: { output_tokens: 9 } }).usage, {
      outputTokens: 9,
    });
    const cumulative = { input_tokens: 3, cache_creation_input_tokens: 4, output_tokens: 9 };
    assert.deepEqual(read('message_delta', { delta, usage: cumulative }).usage, {
      inputTokens: 7,
      cachedInputTokens: 0,
      outputTokens: 9,
    });
    assert.equal(read('message_delta', { delta }).usage, null);
  });

  it('is noticed in a chunk if it ends the stream or reports, and not because its text says so', () => {
    const { noteworthy } = protocol.stream;
    for (const text of [
      'event: message_delta\n',
      'data: {"type":"message_stop"}\n',
      'event: error\n',
      'data: {"type": "error"}\n',
    ])
      assert.match(text, noteworthy);
    const spoken = JSON.stringify({
      type: 'content_block_delta',
      delta: { text: '{"type":"message_stop"}' },
    });
    assert.doesNotMatch(`event: content_block_delta\ndata: ${spoken}\n\n`, noteworthy);
  });
});

describe('what guardrails see of Messages', () => {
  const { text } = protocol;
  assert.ok(text !== null);

  it('is the system prompt, messages, tool calls, results and documents of plain text', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const shown = text.ofRequest({
      system: [{ type: 'text', text: 'rules' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'AAAA' },
            { type: 'tool_use', id: 't', name: 'f', input: { city: 'Bern', deep: ['x'] } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'cold' }] },
            {
              type: 'document',
              title: 'memo',
              source: { type: 'text', media_type: 'text/plain', data: 'plain' },
            },
          ],
        },
      ],
    });
    assert.equal(shown.text, 'rules\nlook\nhm\nBern\nx\ncold\nplain\nmemo');
    assert.equal(shown.skippedParts, 1);
  });

  it('is the text, thoughts and tool input of an answer, which a replacement takes the place of', () => {
    const answer = {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'AAAA' },
        { type: 'text', text: 'answer' },
        { type: 'tool_use', id: 't', name: 'f', input: { q: 'secret' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2 },
      container: { id: 'c' },
    };
    assert.equal(text.ofAnswer(answer).text, 'hm\nanswer\nsecret');
    assert.deepEqual(text.replace(answer, 'no'), {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'm',
      usage: { input_tokens: 1, output_tokens: 2 },
      content: [{ type: 'text', text: 'no' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
  });
});

describe('an error of Relay for a client of Messages', () => {
  const error = { type: 'ours', code: 'queue_full', message: 'Wait.', request_id: 'r', doc_url: 'd' };

  it('has the type that Anthropic gives to its status, and Relay’s own code', () => {
    const types = [400, 401, 402, 403, 404, 409, 413, 429, 500, 502, 503, 504, 529].map((status) => {
      const said = protocol.errors.body(error, status);
      assert.deepEqual(Object.keys(said as object), ['type', 'error', 'request_id']);
      const { error: inner } = said as { error: { type: string; code: string } };
      assert.equal(inner.code, 'queue_full');
      return inner.type;
    });
    assert.deepEqual(types, [
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'invalid_request_error',
      'request_too_large',
      'rate_limit_error',
      'api_error',
      'api_error',
      'overloaded_error',
      'timeout_error',
      'overloaded_error',
    ]);
  });

  it('ends a stream as an event of its own', () => {
    const frame = parseFrame(protocol.errors.interruptedFrame(error, 502, ''));
    assert.equal(frame.event, 'error');
    assert.equal(JSON.parse(frame.data).error.type, 'api_error');
    assert.equal(protocol.stream.readFrame(frame).kind, 'error');
  });
});
