import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const KEY = 'sk-ant-Qm2PzL9vTrW4hx7';
const PATH = '/v1/messages';
const ASKED =
  '{ "model" : "both","max_tokens":50,  "messages":[{"role":"user","content":"Hi"}], "x":12345678901234567890 }';
const STREAMED = ASKED.replace('"x"', '"stream":true,"x"');
const VERSION = { 'anthropic-version': '2023-06-01' };
const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 7,
  cache_read_input_tokens: 20,
  cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 3 },
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello' }],
};
const WHOLE = `${JSON.stringify({ ...MESSAGE, usage: { ...USAGE, output_tokens: 5 } })}\n`;
const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 10_000_000,
  cachedInputCostMicrosPer1mTokens: 100_000,
  flatRequestCostMicros: 0,
};

const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const START = event('message_start', {
  message: { ...MESSAGE, content: [], usage: { ...USAGE, output_tokens: 1 } },
});
const PING = event('ping');
const BLOCK = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
const delta = (text: string) =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const CLOSE = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } });
const STOP = event('message_stop');
const ERROR = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
const STREAM = [
  START,
  BLOCK,
  PING,
  delta('Hel'),
  delta('lo'),
  event('content_block_stop', { index: 0 }),
  CLOSE,
  STOP,
];

describe('messages', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let says: Record<string, ((response: ServerResponse) => void)[]>;
  const asked = () => upstream.heard.map(({ path }) => path.split('/')[1]).join('');

  beforeEach(async () => {
    says = {};
    upstream = await startListening();
    upstream.answer = (response, { path }) =>
      (says[path.split('/')[1] ?? '']?.shift() ?? whole(200, WHOLE))(response);
    const names = ['a', 'b', 'c'];
    gateway = await startGateway(
      snapshot({
        providers: names.map((id) =>
          provider(`p${id}`, {
            baseUrl: `${upstream.url}/${id}`,
            authMode: 'header_static',
            authHeaderName: 'x-api-key',
          }),
        ),
        credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(KEY) })),
        endpoints: names.map((id) =>
          endpoint(id, `p${id}`, `m-${id}`, { pacing: false, protocol: id === 'c' ? 'openai' : 'anthropic' }),
        ),
        lanes: [lane('both', { defaultMaxWaitMs: 0 }), lane('other', { defaultMaxWaitMs: 0 })],
        memberships: [
          member('both', 'c', 0),
          member('both', 'a', 1),
          member('both', 'b', 2),
          member('other', 'c', 1),
        ],
        limitPolicies: [limit('tokens', 'tokens', 'minute', 1e9)],
        pricing: new Map(names.map((id) => [id, PRICE])),
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const whole =
    (status: number, text: string, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  const stream =
    (...frames: string[]) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (const frame of frames) response.write(frame);
      response.end();
    };
  const cut =
    (...frames: string[]) =>
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(frames.join(''), () => response.destroy());
    };
  const send = async (text: string, headers: Record<string, string> = VERSION) => {
    const answered = await gateway.send(text, PATH, headers).answered;
    assert.ok(answered);
    return { ...answered, record: await gateway.nthRecord(1) };
  };
  const counts = async () => {
    const { usageSource, actualInputTokens, actualCachedInputTokens, actualOutputTokens, ...record } =
      await gateway.nthRecord(1);
    const writes = [record.actualCacheWrite5mTokens, record.actualCacheWrite1hTokens];
    return [usageSource, actualInputTokens, actualCachedInputTokens, ...writes, actualOutputTokens];
  };

  it('pass a whole answer and its request byte for byte, and count what both caches hold', async () => {
    const { status, text, headers, record } = await send(ASKED);
    assert.deepEqual([status, text, asked()], [200, WHOLE, 'a']);
    assert.equal(upstream.heard[0]?.path, '/a/messages');
    assert.equal(upstream.heard[0].text, ASKED.replace('"both"', '"m-a"'));
    assert.deepEqual(await counts(), ['reported', 37, 20, 4, 3, 5]);
    assert.equal(record.operation, 'messages');
    // Writes cost as input.
    assert.equal(record.actualCostMicros, 17 + 2 + 50);
    assert.equal(await gateway.usage('tokens', 'tokens'), 42);
    assert.deepEqual([headers['request-id'], headers['x-request-id']], [record.requestId, record.requestId]);
  });

  it('pass a stream byte for byte, pings included, with usage from its start and its end', async () => {
    says = { a: [stream(...STREAM)] };
    const { text } = await send(STREAMED);
    assert.equal(text, STREAM.join(''));
    assert.equal(upstream.heard[0]?.text, STREAMED.replace('"both"', '"m-a"'));
    assert.deepEqual(await counts(), ['reported', 37, 20, 4, 3, 5]);
  });

  it('take the larger count where the end repeats the input, with or without its parts', async () => {
    const close = (usage: object) => event('message_delta', { delta: { stop_reason: 'end_turn' }, usage });
    says = { a: [stream(START, delta('x'), close({ input_tokens: 15, output_tokens: 9 }), STOP)] };
    await send(STREAMED);
    assert.deepEqual(await counts(), ['reported', 37, 20, 4, 3, 9]);
  });

  it('forward every anthropic header and none that carries a key of Relay', async () => {
    const sent = {
      ...VERSION,
      'anthropic-beta': 'context-1m-2025-08-07,made-up',
      'anthropic-made-up-tomorrow': 'yes',
      'x-api-key': 'rly_client',
      'openai-beta': 'assistants=v2',
      'user-agent': 'test',
    };
    await send(ASKED, sent);
    const { 'x-api-key': key, 'openai-beta': beta, ...headers } = upstream.heard[0]?.headers ?? {};
    assert.deepEqual([key, beta, headers.authorization], [KEY, undefined, undefined]);
    assert.equal(headers['anthropic-version'], VERSION['anthropic-version']);
    assert.equal(headers['anthropic-beta'], sent['anthropic-beta']);
    assert.equal(headers['anthropic-made-up-tomorrow'], 'yes');
    assert.equal(headers['user-agent'], 'test');
  });

  it('keep back what the provider says of its own limits and account', async () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '1',
      'anthropic-organization-id': 'org',
      'request-id': 'req_theirs',
    };
    says = { a: [whole(200, WHOLE, headers)] };
    const seen = await send(ASKED);
    assert.deepEqual(
      Object.keys(seen.headers).filter((name) => name.startsWith('anthropic-')),
      [],
    );
    assert.equal(seen.headers['request-id'], seen.record.requestId);
  });

  it('pass the provider’s own error byte for byte', async () => {
    const error =
      '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}} ';
    says = { a: [whole(400, error)] };
    const { status, text, headers } = await send(ASKED);
    assert.deepEqual([status, text, headers['x-relay-error-source']], [400, error, 'upstream']);
  });

  it('fall back before content: after 529, after an error in the preamble, after a cut', async () => {
    for (const first of [whole(529, '{}'), stream(START, PING, ERROR), cut(START, BLOCK, PING)]) {
      upstream.heard.length = 0;
      says = { a: [first], b: [stream(...STREAM)] };
      const answered = await gateway.send(STREAMED, PATH, VERSION).answered;
      assert.deepEqual([answered?.status, answered?.text, asked()], [200, STREAM.join(''), 'ab']);
    }
  });

  it('end an interrupted stream with an error event, and charge the input as reported', async () => {
    says = { a: [cut(START, BLOCK, delta('Hel'), delta('lo'))] };
    const { text, record } = await send(STREAMED);
    const [last = ''] = text.split('\n\n').slice(-2);
    assert.match(last, /^event: error\ndata: \{"type":"error","error":\{/);
    const { error, request_id } = JSON.parse(last.slice(last.indexOf('data: ') + 6));
    assert.deepEqual(
      [error.type, error.code, request_id],
      ['api_error', 'stream_interrupted', record.requestId],
    );
    assert.equal(record.state, 'failed');
    assert.deepEqual(await counts(), ['streamed', 37, 20, 4, 3, 2]);
  });

  it('pass an error event in the middle of a stream on, and fail the request', async () => {
    says = { a: [stream(START, delta('Hel'), ERROR)] };
    const { text, record } = await send(STREAMED);
    assert.equal(text, START + delta('Hel') + ERROR);
    assert.deepEqual([record.state, record.cause], ['failed', 'upstream_error_frame']);
  });

  it('are not sent to an endpoint in whose protocol they cannot be said, and the error names the field', async () => {
    const { status, text, headers } = await send(ASKED.replace('"both"', '"other"'));
    const { type, error, request_id } = JSON.parse(text);
    assert.deepEqual(
      [status, type, error.type, error.code],
      [400, 'error', 'invalid_request_error', 'no_route'],
    );
    assert.match(error.message, /messages to chat: "x" cannot be translated/);
    assert.deepEqual([request_id, headers['request-id']], [headers['x-request-id'], headers['x-request-id']]);
    assert.equal(upstream.heard.length, 0);
  });
});
