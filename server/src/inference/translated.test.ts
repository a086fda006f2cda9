import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const KEY = 'sk-secret-Qm2PzL9vTrW4hx7';
const CHAT = { model: 'chat-first', messages: [{ role: 'user', content: 'Grüße 👋' }], max_tokens: 50 };
const MESSAGES = {
  model: 'anthropic-first',
  max_tokens: 50,
  system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: 'Grüße 👋' }],
};
const VERSION = { 'anthropic-version': '2023-06-01' };

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Schön 👋' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 0 },
};
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Schön 👋' }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const START = event('message_start', {
  message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
});
const BLOCK = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
const delta = (text: string) =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const MESSAGES_STREAM = [
  START,
  BLOCK,
  delta('Schö'),
  delta('n 👋'),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
  event('message_stop'),
];
const CHAT_STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Schö' }),
  chunk({ content: 'n 👋' }),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [], usage: COMPLETION.usage })}\n\n`,
  'data: [DONE]\n\n',
];

type Says = (response: ServerResponse) => void;

const whole =
  (status: number, body: unknown): Says =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
/** Frames in pieces of 7 bytes, which cut characters. */
const stream =
  (frames: readonly string[], end: 'end' | 'destroy' = 'end'): Says =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(frames.join(''));
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    response.write('', () => response[end]());
  };

describe('a request for a provider that speaks another protocol', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let says: Record<string, Says[]>;
  const asked = () => upstream.heard.map(({ path }) => path).join(' ');

  beforeEach(async () => {
    says = {};
    upstream = await startListening();
    upstream.answer = (response, { path }) =>
      (says[path.split('/')[1] ?? '']?.shift() ?? whole(500, {}))(response);
    const names = ['openai', 'anthropic'] as const;
    gateway = await startGateway(
      snapshot({
        providers: names.map((id) => provider(id, { baseUrl: `${upstream.url}/${id}` })),
        credentials: names.map((id) => credential(`key-${id}`, id, { secret: new Secret(KEY) })),
        endpoints: names.map((id) => endpoint(id, id, `m-${id}`, { pacing: false, protocol: id })),
        lanes: [
          lane('chat-first', { defaultMaxWaitMs: 0 }),
          lane('anthropic-first', { defaultMaxWaitMs: 0 }),
          lane('only-openai', { defaultMaxWaitMs: 0 }),
          lane('only-anthropic', { defaultMaxWaitMs: 0 }),
        ],
        memberships: [
          member('chat-first', 'openai', 0),
          member('chat-first', 'anthropic', 1),
          member('anthropic-first', 'anthropic', 0),
          member('anthropic-first', 'openai', 1),
          member('only-openai', 'openai', 0),
          member('only-anthropic', 'anthropic', 0),
        ],
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const sendChat = async (over: object = {}) =>
    await gateway.send({ ...CHAT, ...over }, '/v1/chat/completions').answered;
  const sendMessages = async (over: object = {}) =>
    await gateway.send({ ...MESSAGES, ...over }, '/v1/messages', VERSION).answered;
  const dataOf = (text = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));

  it('is asked in its words, and its answer is a chat completion', async () => {
    says = { anthropic: [whole(200, MESSAGE)] };
    const answer = await sendChat({ model: 'only-anthropic', user: 'u-1' });
    assert.equal(answer?.status, 200);
    const said = JSON.parse(answer?.text ?? '');
    assert.equal(said.choices[0].message.content, 'Schön 👋');
    assert.equal(said.object, 'chat.completion');
    const [heard] = upstream.heard;
    assert.equal(heard?.path, '/anthropic/messages');
    assert.deepEqual(heard?.body, {
      model: 'm-anthropic',
      max_tokens: 50,
      messages: CHAT.messages,
    });
    assert.equal(heard?.headers['anthropic-version'], '2023-06-01');
    assert.deepEqual(
      [answer?.headers['x-relay-translated-to'], answer?.headers['x-relay-left-out']],
      ['messages', 'user'],
    );
    const record = await gateway.nthRecord(1);
    assert.deepEqual(record.attempts[0]?.translated, { to: 'messages', leftOut: ['user'] });
    assert.deepEqual(
      [record.operation, record.usageSource, record.actualInputTokens, record.actualOutputTokens],
      ['chat', 'reported', 13, 5],
    );
  });

  it('is asked in its words, and its answer is a message', async () => {
    says = { openai: [whole(200, COMPLETION)] };
    const answer = await sendMessages({ model: 'only-openai' });
    const said = JSON.parse(answer?.text ?? '');
    assert.deepEqual([said.type, said.content], ['message', [{ type: 'text', text: 'Schön 👋' }]]);
    assert.equal(upstream.heard[0]?.path, '/openai/chat/completions');
    assert.equal(answer?.headers['x-relay-left-out'], 'system.cache_control');
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.operation, record.actualOutputTokens], ['messages', 5]);
  });

  it('names the thinking of an earlier translation that a provider of Messages does not get', async () => {
    says = { anthropic: [whole(200, MESSAGE)] };
    const unsigned = { type: 'thinking', thinking: 'x', signature: 'relay-unsigned' };
    const assistant = { role: 'assistant', content: [unsigned, { type: 'text', text: 'y' }] };
    const answer = await sendMessages({ messages: [...MESSAGES.messages, assistant, ...MESSAGES.messages] });
    assert.doesNotMatch(upstream.heard[0]?.text ?? 'relay', /relay/);
    assert.deepEqual(
      [answer?.headers['x-relay-translated-to'], answer?.headers['x-relay-left-out']],
      [undefined, 'messages.content'],
    );
    const record = await gateway.nthRecord(1);
    assert.deepEqual(record.attempts[0]?.translated, { to: null, leftOut: ['messages.content'] });
  });

  it('streams from Messages to a chat client, with characters and frames cut anywhere', async () => {
    says = { anthropic: [stream(MESSAGES_STREAM)] };
    const answer = await sendChat({ model: 'only-anthropic', stream: true });
    const text = dataOf(answer?.text).map(({ choices }) => choices[0]?.delta.content ?? '');
    assert.equal(text.join(''), 'Schön 👋');
    assert.ok(answer?.text.endsWith('data: [DONE]\n\n'), answer?.text);
    const record = await gateway.nthRecord(1);
    assert.deepEqual(
      [record.state, record.usageSource, record.actualInputTokens, record.actualOutputTokens],
      ['completed', 'reported', 10, 5],
    );
  });

  it('streams from chat to a client of Messages, and asks for usage', async () => {
    says = { openai: [stream(CHAT_STREAM)] };
    const answer = await sendMessages({ model: 'only-openai', stream: true });
    const types = dataOf(answer?.text).map(({ type }) => type);
    assert.deepEqual([types[0], types.at(-1)], ['message_start', 'message_stop']);
    assert.deepEqual(upstream.heard[0]?.body['stream_options'], { include_usage: true });
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.state, record.actualOutputTokens], ['completed', 5]);
  });

  it('falls back from one protocol to the other before content', async () => {
    const starts: [Says, boolean][] = [
      [whole(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }), false],
      [stream([START, BLOCK], 'destroy'), true],
      [stream([START, event('error', { error: { type: 'api_error', message: 'x' } })]), true],
    ];
    for (const [first, isStream] of starts) {
      upstream.heard.length = 0;
      says = { anthropic: [first], openai: [isStream ? stream(CHAT_STREAM) : whole(200, COMPLETION)] };
      const answer = await sendMessages(isStream ? { stream: true } : {});
      assert.equal(answer?.status, 200);
      assert.equal(asked(), '/anthropic/messages /openai/chat/completions');
      assert.match(answer?.text ?? '', /Schö/);
    }
  });

  it('gets an error of the provider in its own shape, with the status', async () => {
    const error = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: too high' },
    };
    says = { anthropic: [whole(400, error)] };
    const answer = await sendChat({ model: 'only-anthropic' });
    assert.equal(answer?.status, 400);
    assert.equal(JSON.parse(answer?.text ?? '').error.message, 'max_tokens: too high');
    assert.equal(answer?.headers['x-relay-error-source'], 'upstream');
  });

  it('gets the end of an interrupted stream in its own shape', async () => {
    says = { anthropic: [stream([START, BLOCK, delta('Schö')], 'destroy')] };
    const answer = await sendChat({ model: 'only-anthropic', stream: true });
    assert.equal(dataOf(answer?.text).at(-1).error.code, 'stream_interrupted');
    assert.ok(!answer?.text.includes('[DONE]'));
    assert.equal((await gateway.nthRecord(1)).state, 'failed');
  });

  it('fails instead of leaving out what the client cannot be told', async () => {
    const strange = event('content_block_start', { index: 1, content_block: { type: 'made_up_tool' } });
    says = { anthropic: [stream([START, BLOCK, delta('Schö'), strange, delta('n')])] };
    const answer = await sendChat({ model: 'only-anthropic', stream: true });
    assert.match(JSON.stringify(dataOf(answer?.text).at(-1)), /made_up_tool/);
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.state, record.cause], ['failed', 'upstream_invalid_response']);
  });

  const paused = event('message_delta', {
    delta: { stop_reason: 'pause_turn' },
    usage: { output_tokens: 5 },
  });
  const cut = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } };

  it('fails where only the writer finds that its protocol cannot express the end of a stream', async () => {
    const last = event('message_stop');
    // With the blank line the frame is read when it arrives, without it at the end of the stream.
    for (const [count, end] of [last, last.trimEnd()].entries()) {
      says = { anthropic: [stream([START, BLOCK, delta('Schö'), paused, end])] };
      const answer = await sendChat({ model: 'only-anthropic', stream: true });
      const message = 'The provider paused the response, which a chat completion cannot express.';
      assert.equal(dataOf(answer?.text).at(-1).error.message, message);
      assert.ok(!answer?.text.includes('[DONE]'));
      const { state, cause, attempts, actualOutputTokens } = await gateway.nthRecord(count + 1);
      assert.deepEqual([state, cause, actualOutputTokens], ['failed', 'upstream_invalid_response', 5]);
      assert.deepEqual(
        attempts.map((each) => [each.outcome, each.cause]),
        [['failed', 'upstream_invalid_response']],
      );
    }
  });

  it('falls back where only the writer finds that a whole answer cannot be expressed', async () => {
    const broken = { role: 'assistant', content: null, tool_calls: [cut] };
    const choices = [{ index: 0, message: broken, finish_reason: 'tool_calls', logprobs: null }];
    says = { openai: [whole(200, { ...COMPLETION, choices })], anthropic: [whole(200, MESSAGE)] };
    const answer = await sendMessages({ model: 'chat-first' });
    assert.deepEqual([answer?.status, JSON.parse(answer?.text ?? '').content], [200, MESSAGE.content]);
    const { attempts } = await gateway.nthRecord(1);
    assert.deepEqual(
      attempts.map(({ outcome, cause }) => [outcome, cause]),
      [
        ['failed', 'upstream_invalid_response'],
        ['completed', null],
      ],
    );
  });

  it('gets an error without the text of a provider whose whole answer cannot be expressed', async () => {
    const error = { message: `Wrong key ${KEY}`, type: 'server_error' };
    says = { openai: [whole(200, { error })] };
    const answer = await sendMessages({ model: 'only-openai' });
    assert.equal(answer?.status, 502);
    assert.match(
      JSON.parse(answer?.text ?? '').error.message,
      /invalid response: it cannot be translated\. Retry; [^.]+\.$/,
    );
    assert.ok(!answer?.text.includes(KEY));
  });

  it('is refused when no candidate can be told what it asks, and the reason names the field', async () => {
    const answer = await sendChat({ model: 'only-anthropic', logprobs: true });
    assert.equal(answer?.status, 400);
    assert.equal(
      JSON.parse(answer?.text ?? '').error.message,
      'No candidate for "only-anthropic" can serve this chat request: "anthropic": chat to messages: "logprobs" cannot be translated. The Messages API can’t express this field.',
    );
    assert.equal(upstream.heard.length, 0);
  });

  it('goes to those that can be told, past those that cannot', async () => {
    says = { openai: [whole(200, COMPLETION)] };
    const answer = await sendChat({ model: 'anthropic-first', logprobs: true });
    assert.equal(answer?.status, 200);
    assert.equal(answer?.headers['x-relay-translated-to'], undefined);
    const { candidates = [] } = await gateway.nthRecord(1);
    assert.deepEqual(
      candidates.map(({ verdict }) => verdict),
      ['incompatible', 'selected'],
    );
  });
});
