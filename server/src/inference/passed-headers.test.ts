import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { headersToProvider } from '@relay/contract';
import { credential, endpoint, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const KEY = 'sk-provider-0123456789';
const TOKEN = 'the-token-of-the-client';
const ANSWER = {
  openai: '{"choices":[]}',
  anthropic: '{"content":[],"usage":{"input_tokens":1,"output_tokens":1}}',
};
/** Credentials, connections, claims of origin, Relay's own, and what chooses who is billed: no provider gets them. */
const STAYS_BEHIND = {
  authorization: `Bearer ${TOKEN}`,
  'x-api-key': TOKEN,
  'api-key': TOKEN,
  'x-goog-api-key': TOKEN,
  cookie: 'a=b',
  'proxy-authorization': 'Basic x',
  'keep-alive': 'timeout=5',
  te: 'trailers',
  forwarded: 'for=10.0.0.1',
  'x-forwarded-for': '10.0.0.1',
  'x-real-ip': '10.0.0.1',
  'x-relay-anything': 'x',
  'openai-organization': 'org',
  'openai-project': 'proj',
  'idempotency-key': 'guessed',
  tracestate: 'tenant=secret',
  baggage: 'user=anne',
  'x-stainless-lang': 'js',
  'x-made-up-tomorrow': 'yes',
};
/** One client header for each of the list, with the name in place of a prefix. */
const PASSES = headersToProvider.map(({ name, only }) => ({
  name: name.replace('*', 'made-up-tomorrow'),
  only,
  value: `a value of ${name}`,
}));
/** Headers that Relay and its HTTP client set themselves. */
const SET = ['content-type', 'content-length', 'accept-encoding', 'host', 'connection'];

const CALLS = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }, 'openai'],
  ['/v1/responses', { input: 'Hi' }, 'openai'],
  ['/v1/embeddings', { input: 'Hi' }, 'openai'],
  ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }, 'anthropic'],
] as const;

describe('of a client’s request', () => {
  let upstream: Listening;
  let gateway: Gateway;

  beforeEach(async () => {
    upstream = await startListening();
    upstream.answer = (response, { path }) => {
      const family = path.includes('/messages') ? 'anthropic' : 'openai';
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER[family]);
    };
    gateway = await startGateway(
      snapshot({
        providers: [
          provider('o', { baseUrl: `${upstream.url}/o`, authMode: 'bearer_static' }),
          provider('q', {
            baseUrl: `${upstream.url}/q`,
            authMode: 'bearer_static',
            extraQuery: { 'api-version': '2024-10-21' },
          }),
          provider('a', {
            baseUrl: `${upstream.url}/a`,
            authMode: 'header_static',
            authHeaderName: 'x-api-key',
          }),
        ],
        credentials: ['o', 'q', 'a'].map((id) => credential(`c${id}`, id, { secret: new Secret(KEY) })),
        endpoints: [
          endpoint('eo', 'o', 'openai'),
          endpoint('eq', 'q', 'azure'),
          endpoint('ea', 'a', 'anthropic', { protocol: 'anthropic' }),
        ],
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    await gateway.send(body, path, headers).answered;
    const heard = upstream.heard.at(-1);
    assert.ok(heard, path);
    return heard;
  };

  for (const [path, body, client] of CALLS)
    for (const family of ['openai', 'anthropic'] as const) {
      if (path === '/v1/embeddings' && family === 'anthropic') continue;
      it(`exactly the headers of the list reach a provider of ${family} from ${path}`, async () => {
        const given = Object.fromEntries(PASSES.map(({ name, value }) => [name, value]));
        const { headers } = await send(path, { model: family, ...body }, { ...STAYS_BEHIND, ...given });
        const expected = PASSES.filter(({ only }) => only === null || (only === client && only === family));
        for (const { name, value } of expected) assert.equal(headers[name], value, name);
        const known = new Set([...SET, ...expected.map(({ name }) => name)]);
        const own = family === 'openai' ? ['authorization'] : ['x-api-key', 'anthropic-version'];
        const others = Object.keys(headers).filter((name) => !known.has(name) && !own.includes(name));
        assert.deepEqual(others, []);
        assert.ok(!JSON.stringify(headers).includes(TOKEN));
      });
    }

  it('the query reaches a provider of its protocol, after the provider’s own, without credentials', async () => {
    const query = `?beta=true&api-version=2020&key=AIza-0&k=${TOKEN}`;
    const token = { authorization: `Bearer ${TOKEN}` };
    for (const [path, body, client] of CALLS) {
      const { path: target } = await send(path + query, { model: client, ...body }, token);
      assert.match(target, /\?beta=true&api-version=2020$/);
    }
    const [chat, body] = CALLS[0];
    const { path: azure } = await send(chat + query, { model: 'azure', ...body }, token);
    assert.equal(azure, '/q/chat/completions?beta=true&api-version=2024-10-21');
    const { path: translated } = await send(chat + query, { model: 'anthropic', ...body }, token);
    assert.equal(translated, '/a/messages');
    const [messages, message] = CALLS[3];
    const { path: other } = await send(messages + query, { model: 'azure', ...message }, token);
    assert.equal(other, '/q/chat/completions?api-version=2024-10-21');
  });
});
