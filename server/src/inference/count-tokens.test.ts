import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const PATH = '/v1/messages/count_tokens';
const VERSION = { 'anthropic-version': '2023-06-01' };
const asked = (model: string) =>
  `{"model": "${model}", "messages":[{"role":"user","content":"Hello there"}] }`;
const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 1_000_000,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 500,
};

let upstream: Listening;
let gateway: Gateway;

/** A list, a model or an error. */
interface Listed {
  readonly type: string;
  readonly object: string;
  readonly id: string;
  readonly data: readonly Readonly<Record<string, string | null>>[];
  readonly has_more: boolean;
  readonly first_id: string;
  readonly last_id: string;
  readonly error: { readonly type: string };
}

describe('a gateway with two models', () => {
  beforeEach(async () => {
    upstream = await startListening();
    upstream.answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens": 42}\n');
    const providers = [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })];
    gateway = await startGateway(
      snapshot({
        providers,
        endpoints: [
          endpoint('claude', 'p', 'm-claude', {
            protocol: 'anthropic',
            routeKind: 'messages',
            createdAtMs: 3_000,
          }),
          endpoint('old', 'p', 'm-old', { protocol: 'anthropic', createdAtMs: 1_000 }),
          endpoint('new', 'p', 'm-new', { protocol: 'anthropic', createdAtMs: 4_000 }),
          endpoint('gpt', 'p', 'm-gpt', { routeKind: 'embeddings', createdAtMs: 2_000 }),
        ],
        lanes: [lane('fast'), lane('plain', { hidden: true })],
        memberships: [member('fast', 'claude', 1), member('plain', 'gpt', 1)],
        limitPolicies: [limit('requests', 'requests', 'minute', 100), limit('tokens', 'tokens', 'minute', 1)],
        pricing: new Map([['claude', PRICE]]),
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  describe('counting tokens', () => {
    it('is passed through to an endpoint that can, counts as a request and costs nothing', async () => {
      const answer = await gateway.send(asked('fast'), PATH, VERSION).answered;
      assert.deepEqual([answer?.status, answer?.text], [200, '{"input_tokens": 42}\n']);
      assert.equal(answer?.headers['x-relay-estimated'], undefined);
      const [heard] = upstream.heard;
      assert.deepEqual([heard?.path, heard?.text], ['/v1/messages/count_tokens', asked('m-claude')]);
      const record = await gateway.nthRecord(1);
      assert.deepEqual(
        [record.operation, record.usageSource, record.actualInputTokens, record.actualCostMicros],
        ['count_tokens', 'reported', 0, 0],
      );
      assert.equal(record.estimatedCostMicros, 0);
      assert.equal(await gateway.usage('requests', 'requests'), 1);
      assert.equal(await gateway.usage('tokens', 'tokens'), 0);
    });

    it('is estimated, and marked so, where no endpoint speaks the protocol', async () => {
      const answer = await gateway.send(asked('plain'), PATH, VERSION).answered;
      assert.equal(answer?.status, 200);
      const { input_tokens } = JSON.parse(answer.text);
      assert.ok(input_tokens > 3 && input_tokens < 20, answer.text);
      assert.equal(answer.headers['x-relay-estimated'], 'true');
      const record = await gateway.nthRecord(1);
      assert.deepEqual([record.state, record.status, record.usageSource], ['completed', 200, 'none']);
      assert.equal(answer.headers['request-id'], record.requestId);
      assert.equal(await gateway.usage('requests', 'requests'), 0);
      assert.equal(upstream.heard.length, 0);
    });

    it('of an unknown model is an error, and so is an error of the provider', async () => {
      const unknown = await gateway.send(asked('nothing'), PATH, VERSION).answered;
      assert.deepEqual(
        [unknown?.status, JSON.parse(unknown?.text ?? '').error.code],
        [400, 'model_not_found'],
      );
      upstream.answer = (response) => response.writeHead(400).end('{"type":"error"}');
      const refused = await gateway.send(asked('fast'), PATH, VERSION).answered;
      assert.deepEqual([refused?.status, refused?.text], [400, '{"type":"error"}']);
    });
  });

  describe('the list of models', () => {
    const read = async (path: string, headers: Record<string, string> = VERSION) => {
      const response = await fetch(gateway.url + path, { headers });
      const body = (await response.json()) as Listed;
      return { status: response.status, headers: response.headers, body };
    };
    const ids = ({ data }: Listed) => data.map(({ id }) => String(id));

    it('has Anthropic’s shape for clients that name a version, the newest first', async () => {
      const { body, headers } = await read('/v1/models');
      const models = ids(body).filter((id) => id.startsWith('m-'));
      assert.deepEqual(models, ['m-new', 'm-claude', 'm-old']);
      assert.equal(body.data.length, 4);
      assert.deepEqual([body.has_more, body.first_id], [false, ids(body)[0]]);
      assert.deepEqual(
        body.data.find(({ id }) => id === 'm-claude'),
        {
          ...body.data[0],
          type: 'model',
          id: 'm-claude',
          display_name: 'm-claude',
          created_at: '1970-01-01T00:00:03.000Z',
        },
      );
      assert.equal(headers.get('request-id'), headers.get('x-request-id'));
      const plain = await read('/v1/models', {});
      assert.deepEqual([plain.body.object, plain.headers.get('request-id')], ['list', null]);
      // Chat completions are translated for those that speak Anthropic's protocol.
      assert.deepEqual(ids(plain.body).toSorted(), ['fast', 'm-claude', 'm-gpt', 'm-new', 'm-old']);
    });

    it('comes in pages, forward and backward', async () => {
      const all = ids((await read('/v1/models')).body);
      const forward = (await read(`/v1/models?limit=2&after_id=${all[0]}`)).body;
      assert.deepEqual([ids(forward), forward.has_more], [all.slice(1, 3), true]);
      const last = (await read(`/v1/models?limit=2&after_id=${all[1]}`)).body;
      assert.deepEqual([ids(last), last.has_more, last.last_id], [all.slice(2), false, all[3]]);
      const backward = (await read(`/v1/models?limit=2&before_id=${all[3]}`)).body;
      assert.deepEqual([ids(backward), backward.has_more], [all.slice(1, 3), true]);
      const first = (await read(`/v1/models?limit=2&before_id=${all[1]}`)).body;
      assert.deepEqual([ids(first), first.has_more], [all.slice(0, 1), false]);
      for (const query of ['limit=0', 'limit=x', 'limit=1001', 'after_id=nothing']) {
        const refused = await read(`/v1/models?${query}`);
        assert.deepEqual([refused.status, refused.body.error.type], [400, 'invalid_request_error'], query);
      }
    });

    it('has single models, and says in the same shape that one is missing', async () => {
      const one = await read('/v1/models/m-claude');
      assert.deepEqual([one.status, one.body.type, one.body.id], [200, 'model', 'm-claude']);
      assert.equal((await read('/v1/models/m-gpt')).status, 404);
      const none = await read('/v1/models/nothing');
      assert.deepEqual(
        [none.status, none.body.type, none.body.error.type],
        [404, 'error', 'not_found_error'],
      );
      const elsewhere = await read('/v1/messages/batches');
      assert.deepEqual([elsewhere.status, elsewhere.body.error.type], [404, 'not_found_error']);
    });
  });
});
