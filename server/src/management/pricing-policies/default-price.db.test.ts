import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Endpoint, PricingPolicy } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const MINI = {
  currency: 'USD',
  input_cost_micros_per_1m_tokens: 150_000,
  output_cost_micros_per_1m_tokens: 600_000,
  cached_input_cost_micros_per_1m_tokens: 75_000,
  cache_write_5m_cost_micros_per_1m_tokens: null,
  cache_write_1h_cost_micros_per_1m_tokens: null,
  audio_input_cost_micros_per_1m_tokens: null,
  image_input_cost_micros_per_1m_tokens: null,
  reasoning_cost_micros_per_1m_tokens: null,
  audio_output_cost_micros_per_1m_tokens: null,
  image_output_cost_micros_per_1m_tokens: null,
  flat_request_cost_micros: 0,
  variants: [],
  scheduled: [],
  source: 'catalog',
};
const OWN = { input_cost_micros_per_1m_tokens: 7, output_cost_micros_per_1m_tokens: 8 };

describe('prices that nobody set', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let openai: string;
  let elsewhere: string;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    openai = await addProvider('OpenAI', 'https://api.openai.com/v1');
    elsewhere = await addProvider('Own', 'https://llm.example.com/v1');
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function addProvider(name: string, base_url: string): Promise<string> {
    const body = { name, base_url, auth_mode: 'bearer_static', enabled: true } as const;
    return (await room.call('createProvider', room.acme, { body })).body.id;
  }
  async function addEndpoint(
    upstream_model: string,
    provider_id = openai,
    route_kind: Endpoint['route_kind'] = 'chat',
  ) {
    const body = { provider_id, name: upstream_model, upstream_model, route_kind };
    return room.call('createEndpoint', room.acme, { body });
  }
  async function priceOf(endpointId: string): Promise<PricingPolicy | undefined> {
    const { body } = await room.call('listPricingPolicies', room.acme);
    return body.find(({ endpoint_id }) => endpoint_id === endpointId);
  }
  const inForce = async (endpointId: string) =>
    (await room.snapshots.load(room.acme.organizationId)).pricing.get(endpointId);
  const addMini = async () => (await addEndpoint('gpt-4o-mini')).body.id;
  const changeModel = (id: string, upstream_model: string) =>
    room.call('updateEndpoint', room.acme, { id, body: { upstream_model } });
  async function entriesOf(requestId: string): Promise<string[]> {
    const rows = await room.db
      .selectFrom('audit_log')
      .select('action')
      .where('request_id', '=', requestId)
      .orderBy('action')
      .execute();
    return rows.map(({ action }) => action);
  }

  it('come with an endpoint whose provider and model the catalogue knows, in the log and in force', async () => {
    const { body: endpoint, requestId } = await addEndpoint('gpt-4o-mini');
    const price = await priceOf(endpoint.id);
    assert.deepEqual(price, {
      id: price?.id,
      endpoint_id: endpoint.id,
      as_of: price?.as_of,
      etag: '"1"',
      ...MINI,
    });
    assert.deepEqual(await entriesOf(requestId), ['endpoint.create', 'pricing_policy.create']);
    assert.equal(
      (await inForce(endpoint.id))?.inputCostMicrosPer1mTokens,
      MINI.input_cost_micros_per_1m_tokens,
    );
  });

  it('are not there, rather than zero, for a model or an address that it does not know', async () => {
    for (const [model, provider] of [
      ['a-model-of-our-own', openai],
      ['gpt-4o-mini', elsewhere],
    ] as const) {
      const { body: endpoint } = await addEndpoint(model, provider);
      assert.equal(await priceOf(endpoint.id), undefined);
      assert.equal(await inForce(endpoint.id), undefined);
    }
  });

  it('are there for embeddings, and not where output has no known price', async () => {
    const embeddings = await addEndpoint('text-embedding-3-small', openai, 'embeddings');
    const price = await priceOf(embeddings.body.id);
    assert.deepEqual(
      [price?.input_cost_micros_per_1m_tokens, price?.output_cost_micros_per_1m_tokens],
      [20_000, 0],
    );
    const multi = await addEndpoint('text-embedding-3-small', openai, 'multi');
    assert.equal(await priceOf(multi.body.id), undefined);
  });

  it('become one’s own when they are changed, and the catalogue’s again when asked for', async () => {
    const id = await addMini();
    const price = await priceOf(id);
    const change = (body: object) =>
      room.call('updatePricingPolicy', room.acme, { id: price?.id ?? '', body });
    const own = (await change({ flat_request_cost_micros: 6 })).body;
    const undated = ({ as_of: _date, etag: _version, ...rest }: Partial<PricingPolicy> = {}) => rest;
    assert.deepEqual(undated(own), { ...undated(price), flat_request_cost_micros: 6, source: 'manual' });
    assert.deepEqual((await change({})).body, own);
    assert.deepEqual(undated((await change({ source: 'catalog' })).body), undated(price));
    assert.deepEqual(undated((await change({ source: 'manual' })).body), {
      ...undated(price),
      source: 'manual',
    });
    await assert.rejects(
      change({ source: 'catalog', output_cost_micros_per_1m_tokens: 1 }),
      refusal('invalid_request', 'output_cost_micros_per_1m_tokens', /600000 in Relay’s price list/),
    );
  });

  it('cannot be claimed to be the catalogue’s', async () => {
    const { body: endpoint } = await addEndpoint('a-model-of-our-own');
    const body = { endpoint_id: endpoint.id, ...OWN, source: 'catalog' as const };
    await assert.rejects(
      room.call('createPricingPolicy', room.acme, { body }),
      refusal('invalid_request', 'source'),
    );
  });

  it('make room for prices that are set, once', async () => {
    const id = await addMini();
    const body = { endpoint_id: id, ...OWN };
    const { body: set, requestId } = await room.call('createPricingPolicy', room.acme, { body });
    assert.deepEqual(await priceOf(id), set);
    assert.equal(set.source, 'manual');
    assert.equal(set.cached_input_cost_micros_per_1m_tokens, null);
    assert.deepEqual(await entriesOf(requestId), ['pricing_policy.create', 'pricing_policy.delete']);
    await assert.rejects(room.call('createPricingPolicy', room.acme, { body }), refusal('conflict'));
  });

  it('follow the model of the endpoint, also to where there is none and back', async () => {
    const id = await addMini();
    const policy = (await priceOf(id))?.id;
    const { requestId } = await changeModel(id, 'gpt-4o');
    const price = await priceOf(id);
    assert.deepEqual(
      [price?.id, price?.source, price?.input_cost_micros_per_1m_tokens],
      [policy, 'catalog', 2_500_000],
    );
    assert.deepEqual(await entriesOf(requestId), ['endpoint.update', 'pricing_policy.update']);
    await changeModel(id, 'a-model-of-our-own');
    assert.equal(await priceOf(id), undefined);
    await changeModel(id, 'gpt-4o-mini');
    assert.equal((await priceOf(id))?.input_cost_micros_per_1m_tokens, 150_000);
  });

  it('never follow over prices that were set, nor come back once taken away', async () => {
    const set = await addMini();
    await room.call('createPricingPolicy', room.acme, { body: { endpoint_id: set, ...OWN } });
    const own = await priceOf(set);
    await changeModel(set, 'gpt-4o');
    assert.deepEqual(await priceOf(set), own);

    const bare = await addMini();
    await room.call('deletePricingPolicy', room.acme, { id: (await priceOf(bare))?.id ?? '' });
    await room.call('updateEndpoint', room.acme, { id: bare, body: { name: 'Renamed' } });
    await changeModel(bare, 'gpt-4o');
    assert.equal(await priceOf(bare), undefined);
  });

  it('leave alone what the configuration file owns', async () => {
    const id = await addMini();
    await room.db
      .updateTable('pricing_policies')
      .set({ managed_by: 'file' })
      .where('endpoint_id', '=', id)
      .execute();
    const owned = await priceOf(id);
    await changeModel(id, 'gpt-4o');
    assert.deepEqual(await priceOf(id), owned);
    await assert.rejects(
      room.call('createPricingPolicy', room.acme, { body: { endpoint_id: id, ...OWN } }),
      refusal('conflict'),
    );
  });

  it('are not written when the endpoint is not', async () => {
    const count = async () => (await room.call('listPricingPolicies', room.acme)).body.length;
    const before = await count();
    await assert.rejects(
      room.call('createEndpoint', room.acme, {
        body: {
          provider_id: openai,
          name: 'Refused',
          upstream_model: 'gpt-4o-mini',
          route_kind: 'chat',
          credential_id: openai,
        },
      }),
      refusal('not_found', 'credential_id'),
    );
    assert.equal(await count(), before);
  });
});
