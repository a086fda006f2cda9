import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { headersToClient, headers as names } from '@relay/contract';
import { credential, endpoint, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const SECRET = 'sk-provider-0123456789';

/** What could act on Relay's origin, steer a client past Relay, name an account, or pass as Relay's own. */
const STAYS_BEHIND: OutgoingHttpHeaders = {
  'clear-site-data': '"*"',
  'content-security-policy': "default-src 'none'",
  'content-security-policy-report-only': "default-src 'none'",
  location: 'https://elsewhere.example/',
  refresh: '0; url=https://elsewhere.example/',
  link: '<https://elsewhere.example/>; rel=preload',
  'alt-svc': 'h3="elsewhere.example:443"',
  'set-cookie': ['a=b', 'relay_session=stolen'],
  'www-authenticate': 'Basic',
  'proxy-authenticate': 'Basic',
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': '*',
  'cross-origin-opener-policy': 'unsafe-none',
  'cross-origin-resource-policy': 'cross-origin',
  'strict-transport-security': 'max-age=0',
  'public-key-pins': 'x',
  'service-worker-allowed': '/',
  sourcemap: '/map',
  'x-frame-options': 'ALLOWALL',
  'x-accel-redirect': '/etc/passwd',
  'x-sendfile': '/etc/passwd',
  'x-powered-by': 'provider',
  server: 'provider',
  via: '1.1 provider',
  'openai-organization': 'org-1',
  'x-ratelimit-limit-requests': '999',
  'x-ratelimit-remaining-requests': '998',
  'x-ratelimit-limit-tokens': '999',
  'x-made-up-tomorrow': 'yes',
  trailer: 'x',
  upgrade: 'h2c',
};
/** Values of their own, so that a header that Relay sets by itself does not pass for the provider's. The body decides two of the list. */
const PASSES = Object.fromEntries(
  headersToClient
    .map(({ name }) => name)
    .filter((name) => name !== 'content-length' && name !== 'content-encoding')
    .map((name) => [name, name === 'content-type' ? 'application/json; charset=utf-8' : `of ${name}`]),
);
/** Set by Relay on every answer, and by Node on every connection. */
const OURS = [
  'connection',
  'content-length',
  'date',
  'keep-alive',
  names.requestId,
  names.overheadMs,
  names.selectedEndpoint,
  names.selectedEndpointId,
  names.selectedProviderId,
  names.selectedUpstreamModel,
  names.waitMs,
  names.fallbackCount,
  names.estimatedInputTokens,
  names.estimatedOutputTokens,
].map((name) => name.toLowerCase());

describe('of a provider’s answer', () => {
  let upstream: Listening;
  let gateway: Gateway;

  before(async () => {
    upstream = await startListening();
    gateway = await startGateway(
      snapshot({
        providers: [
          provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' }),
          provider('q', { baseUrl: `${upstream.url}/v1`, authMode: 'bearer_static' }),
        ],
        credentials: [credential('c', 'q', { secret: new Secret(SECRET) })],
        endpoints: [endpoint('e', 'p', 'm'), endpoint('f', 'q', 'with-secret')],
      }),
    );
  });
  beforeEach(() => {
    gateway.records.length = 0;
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (over: object = {}) =>
    gateway.send({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...over }).answered;

  for (const [what, status, more] of [
    ['a success', 200, []],
    ['an error', 400, [names.errorSource]],
  ] as const) {
    it(`only headers of a fixed list reach the client of ${what}`, async () => {
      upstream.answer = (response) =>
        response.writeHead(status, { ...STAYS_BEHIND, ...PASSES }).end('{"choices":[]}');
      const answer = await send();
      assert.equal(answer?.status, status);
      const { headers } = answer;
      for (const [name, value] of Object.entries(PASSES)) assert.equal(headers[name], value, name);
      const known = new Set([...OURS, ...Object.keys(PASSES), ...more.map((name) => name.toLowerCase())]);
      assert.deepEqual(
        Object.keys(headers).filter((name) => !known.has(name)),
        [],
      );
    });
  }

  it('a stream asks proxies to forward it frame by frame, a whole response does not', async () => {
    upstream.answer = (response, { body }) => {
      const type = body['stream'] === true ? 'text/event-stream' : 'application/json';
      const text = body['stream'] === true ? 'data: {"choices":[]}\n\ndata: [DONE]\n\n' : '{"choices":[]}';
      response.writeHead(200, { 'content-type': type, 'x-accel-buffering': 'yes' }).end(text);
    };
    assert.equal((await send({ stream: true }))?.headers['x-accel-buffering'], 'no');
    assert.equal((await send())?.headers['x-accel-buffering'], undefined);
  });

  it('its ID of the request stays behind and is in the record, unless it repeats the request or the credential', async () => {
    for (const [name, sent, kept] of [
      ['x-request-id', 'req_0123456789', 'req_0123456789'],
      ['request-id', 'req_anthropic', 'req_anthropic'],
      ['x-request-id', 'with spaces', undefined],
      ['x-request-id', 'x'.repeat(129), undefined],
      ['x-request-id', 'confidential', undefined],
      ['x-request-id', `req-${SECRET}`, undefined],
    ] as const) {
      upstream.answer = (response) =>
        response.writeHead(200, { ...PASSES, [name]: sent }).end('{"choices":[]}');
      const answer = await send({
        model: 'with-secret',
        messages: [{ role: 'user', content: 'confidential' }],
      });
      assert.notEqual(answer?.headers['x-request-id'], sent);
      assert.equal(answer?.headers['request-id'], undefined);
      assert.equal(gateway.records.at(-1)?.attempts[0]?.upstreamRequestId, kept, sent);
    }
  });

  it('no header that is Relay’s own, in an answer or a stream', async () => {
    const forged = Object.fromEntries(
      Object.values(names).map((name) => [name.toLowerCase(), `forged-${name.length}`]),
    );
    const { connection: _connection, ...sent } = forged;
    upstream.answer = (response, { body }) => {
      const type = body['stream'] === true ? 'text/event-stream' : 'application/json';
      const text =
        body['stream'] === true
          ? 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n'
          : '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}';
      response.writeHead(200, { ...sent, 'x-relay-anything': 'forged', 'content-type': type }).end(text);
    };
    for (const stream of [false, true]) {
      const answer = await send({ stream });
      assert.equal(answer?.status, 200);
      const {
        'retry-after': _seconds,
        'retry-after-ms': _ms,
        'x-should-retry': _retry,
        ...headers
      } = answer.headers;
      const shown = Object.entries(headers).filter(([, value]) => String(value).startsWith('forged'));
      assert.deepEqual(shown, []);
    }
  });

  it('no header that repeats the credential, in an answer or a stream', async () => {
    upstream.answer = (response, { body }) => {
      const isStream = body['stream'] === true;
      response.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'openai-version': `for ${SECRET}`,
        'content-language': 'en',
      });
      response.end(
        isStream ? 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n' : '{"choices":[]}',
      );
    };
    for (const stream of [false, true]) {
      const answer = await send({ model: 'with-secret', stream });
      assert.equal(answer?.status, 200);
      assert.equal(answer.headers['content-language'], 'en');
      assert.equal(answer.headers['openai-version'], undefined);
    }
  });

  it('an error whose body does not come is given up long before an answer would be', async () => {
    upstream.answer = (response) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.write('{"error":');
    };
    const answer = await send();
    assert.equal(answer?.status, 502);
    assert.match(answer.text, /"code":"upstream_timeout"/);
    assert.match(answer.text, /its error \(500\) did not fully arrive within/);
  });
});
