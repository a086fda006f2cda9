import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type {
  Endpoint,
  PriceApplied,
  PriceListEntry,
  PricePlan,
  PricingPolicy,
  Provider,
} from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const listed = (model: string, more: object = {}) => ({
  provider: 'openai',
  preset_slug: 'openai',
  host: null,
  model,
  input_cost_micros_per_1m_tokens: 2_000_000,
  output_cost_micros_per_1m_tokens: 8_000_000,
  ...more,
});

describe('a price list', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let provider: Provider;
  const as_of = '2026-11-01T00:00:00.000Z';
  const list = (...entries: PriceListEntry[]) => ({ source: 'litellm' as const, as_of, entries });

  async function call<T>(route: Parameters<ManagementFixture['call']>[0], given: object = {}): Promise<T> {
    return (await room.call(route, room.acme, given)).body as T;
  }
  const plan = (body: object) => call<PricePlan>('planPrices', { body });
  const apply = async (body: object, accept: string[] = []) => {
    const { plan_hash } = await plan(body);
    return call<PriceApplied>('applyPrices', { body: { ...body, plan_hash, accept } });
  };
  const endpointOf = (upstream_model: string, more: object = {}) =>
    call<Endpoint>('createEndpoint', {
      body: { provider_id: provider.id, name: upstream_model, upstream_model, route_kind: 'multi', ...more },
    });
  const priceOf = async ({ id }: Endpoint) =>
    (await call<PricingPolicy[]>('listPricingPolicies')).find(({ endpoint_id }) => endpoint_id === id);
  const rowOf = ({ rows }: PricePlan, { id }: Endpoint) => {
    const row = rows.find(({ endpoint_id }) => endpoint_id === id);
    assert.ok(row !== undefined);
    return row;
  };

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    provider = await call<Provider>('createProvider', {
      body: {
        name: 'A proxy',
        base_url: 'https://llm.example.com/v1',
        auth_mode: 'none',
        preset_slug: 'openai',
        enabled: true,
      },
    });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('adds prices of every kind with their source and date, and fills in the context window', async () => {
    const endpoint = await endpointOf('made-up-1');
    const variants = [
      { above_input_tokens: 200_000, input_cost_micros_per_1m_tokens: 4_000_000 },
      { service_tier: 'batch', input_cost_micros_per_1m_tokens: 1_000_000 },
    ];
    const more = {
      cache_write_1h_cost_micros_per_1m_tokens: 3,
      reasoning_cost_micros_per_1m_tokens: 4,
      audio_input_cost_micros_per_1m_tokens: 5,
      variants,
      context_window: 400_000,
      output_tokens_max: 100_000,
      capabilities: ['tools'],
    };
    const body = list(listed('made-up-1', more));
    const row = rowOf(await plan(body), endpoint);
    assert.deepEqual([row.action, row.held_back, row.listed_as], ['add', null, ['openai/made-up-1']]);
    assert.deepEqual([row.output_tokens_max, row.capabilities], [100_000, ['tools']]);
    assert.deepEqual(await apply(body), { applied: [endpoint.id], held_back: [] });
    const price = await priceOf(endpoint);
    assert.deepEqual([price?.source, price?.as_of], ['litellm', as_of]);
    assert.deepEqual(
      [price?.cache_write_1h_cost_micros_per_1m_tokens, price?.reasoning_cost_micros_per_1m_tokens],
      [3, 4],
    );
    assert.deepEqual(price?.variants, variants);
    const read = await call<Endpoint>('getEndpoint', { id: endpoint.id });
    assert.equal(read.context_window, 400_000);
    assert.equal(rowOf(await plan(body), endpoint).action, 'same');
    assert.deepEqual(await apply(body), { applied: [], held_back: [] });
    // A price that is set by hand is as old as that.
    const [was] = await call<PricingPolicy[]>('listPricingPolicies');
    await call('updatePricingPolicy', { id: was?.id, body: { flat_request_cost_micros: 9 } });
    const changed = await priceOf(endpoint);
    assert.equal(changed?.source, 'manual');
    assert.ok(Date.parse(changed.as_of) > Date.parse(as_of));
  });

  it('holds back a move over ten times, or to zero, until it is accepted', async () => {
    const [dear, cheap, free, plain] = [
      await endpointOf('dear'),
      await endpointOf('cheap'),
      await endpointOf('free'),
      await endpointOf('plain'),
    ];
    for (const model of ['dear', 'cheap', 'free', 'plain']) await apply(list(listed(model)));
    const body = list(
      listed('dear', { output_cost_micros_per_1m_tokens: 80_000_001 }),
      listed('cheap', { input_cost_micros_per_1m_tokens: 100_000 }),
      listed('free', { input_cost_micros_per_1m_tokens: 0, output_cost_micros_per_1m_tokens: 0 }),
      listed('plain', { output_cost_micros_per_1m_tokens: 80_000_000 }),
    );
    const planned = await plan(body);
    const shown = [dear, cheap, free, plain].map((endpoint) => {
      const { action, held_back, factor } = rowOf(planned, endpoint);
      return [action, held_back, factor];
    });
    assert.deepEqual(shown, [
      ['change', 'factor', 10],
      ['change', 'factor', 0.05],
      ['change', 'zero', 0],
      ['change', null, 10],
    ]);
    assert.deepEqual(await apply(body), { applied: [plain.id], held_back: [dear.id, cheap.id, free.id] });
    assert.equal((await priceOf(free))?.input_cost_micros_per_1m_tokens, 2_000_000);
    assert.deepEqual(await apply(body, [free.id]), { applied: [free.id], held_back: [dear.id, cheap.id] });
    assert.equal((await priceOf(free))?.input_cost_micros_per_1m_tokens, 0);
    const first = await endpointOf('first-free');
    const nothing = { input_cost_micros_per_1m_tokens: 0, output_cost_micros_per_1m_tokens: 0 };
    const { action, held_back } = rowOf(await plan(list(listed('first-free', nothing))), first);
    assert.deepEqual([action, held_back], ['add', 'zero']);
  });

  it('never guesses: what fits twice is reported, and what is gone stays', async () => {
    const [twice, gone, elsewhere] = [
      await endpointOf('twice'),
      await endpointOf('gone'),
      await endpointOf('elsewhere'),
    ];
    await apply(list(listed('gone')));
    const other = { output_cost_micros_per_1m_tokens: 9_000_000 };
    const planned = await plan(
      list(
        listed('twice', { provider: 'text-completion-openai' }),
        listed('twice', other),
        listed('elsewhere', { provider: 'groq', preset_slug: 'groq' }),
      ),
    );
    assert.deepEqual(
      [twice, gone, elsewhere].map((endpoint) => rowOf(planned, endpoint).action),
      ['ambiguous', 'removed', 'unlisted'],
    );
    assert.equal(rowOf(planned, twice).listed_as.length, 2);
    const same = await plan(list(listed('twice'), listed('twice', { provider: 'text-completion-openai' })));
    assert.equal(rowOf(same, twice).action, 'add', 'two entries that say the same are one');
    assert.ok((await priceOf(gone)) !== undefined);
  });

  it('keeps what it does not know of, and prices that are still to begin', async () => {
    const endpoint = await endpointOf('kept');
    await apply(
      list(
        listed('kept', {
          cache_write_1h_cost_micros_per_1m_tokens: 7_000_000,
          cached_input_cost_micros_per_1m_tokens: 500_000,
          variants: [{ service_tier: 'flex', input_cost_micros_per_1m_tokens: 1_000_000 }],
        }),
      ),
    );
    const policy = await priceOf(endpoint);
    const scheduled = [
      {
        valid_from: '2999-01-01T00:00:00.000Z',
        input_cost_micros_per_1m_tokens: 1,
        output_cost_micros_per_1m_tokens: 2,
      },
    ];
    await call('updatePricingPolicy', { id: policy?.id, body: { scheduled } });
    const body = {
      ...list(
        listed('kept', {
          input_cost_micros_per_1m_tokens: 3_000_000,
          cached_input_cost_micros_per_1m_tokens: null,
          variants: [{ above_input_tokens: 5, input_cost_micros_per_1m_tokens: 3 }],
        }),
      ),
      source: 'models_dev',
    };
    await apply(body, [endpoint.id]);
    const price = await priceOf(endpoint);
    assert.equal(price?.cache_write_1h_cost_micros_per_1m_tokens, 7_000_000);
    assert.equal(price.cached_input_cost_micros_per_1m_tokens, null);
    assert.deepEqual(
      price.variants.map(({ service_tier, above_input_tokens }) => service_tier ?? above_input_tokens),
      [5, 'flex'],
    );
    assert.deepEqual(price.scheduled, scheduled);
  });

  it('is applied as it was approved, or not at all', async () => {
    const endpoint = await endpointOf('moving');
    const { plan_hash } = await plan(list(listed('moving')));
    const other = list(listed('moving', { flat_request_cost_micros: 5 }));
    await assert.rejects(
      room.call('applyPrices', room.acme, { body: { ...other, plan_hash } }),
      refusal('version_conflict', 'plan_hash', /Create a new plan/),
    );
    assert.equal(await priceOf(endpoint), undefined);
  });

  it('may be the one that comes with Relay, which also knows a model for the form', async () => {
    const openai = await call<Provider>('createProvider', {
      body: { name: 'OpenAI', base_url: 'https://api.openai.com/v1', auth_mode: 'none', enabled: true },
    });
    const endpoint = await endpointOf('gpt-4o', { provider_id: openai.id, name: 'From the catalog' });
    const catalog = await priceOf(endpoint);
    await call('updatePricingPolicy', { id: catalog?.id, body: { input_cost_micros_per_1m_tokens: 1 } });
    const body = { source: 'catalog' };
    const row = rowOf(await plan(body), endpoint);
    assert.deepEqual([row.action, row.held_back], ['change', 'factor']);
    await apply(body, [endpoint.id]);
    const { as_of: _was, etag: _before, ...was } = catalog ?? {};
    const { as_of: _is, etag: _after, ...is } = (await priceOf(endpoint)) ?? {};
    assert.deepEqual(is, was);
    const facts = await call<{ context_window: number | null }>('getModelFacts', {
      query: { provider_id: openai.id, upstream_model: 'gpt-4o' },
    });
    assert.ok((facts.context_window ?? 0) > 0);
  });
});
