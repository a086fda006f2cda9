import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PricingPolicy } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('pricing policies', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  const prices = { input_cost_micros_per_1m_tokens: 3, output_cost_micros_per_1m_tokens: 4 };

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('are created with the defaults of the contract, once per endpoint', async () => {
    const { pricing, endpoint } = await addOneOfEach(room, room.acme, 'Priced');
    assert.deepEqual(pricing, {
      id: pricing.id,
      endpoint_id: endpoint.id,
      currency: 'USD',
      input_cost_micros_per_1m_tokens: 1_000_000,
      output_cost_micros_per_1m_tokens: 2_000_000,
      cached_input_cost_micros_per_1m_tokens: null,
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
      source: 'manual',
      as_of: pricing.as_of,
      etag: '"1"',
    });
    await assert.rejects(
      room.call('createPricingPolicy', room.acme, { body: { endpoint_id: endpoint.id, ...prices } }),
      refusal('conflict', 'endpoint_id', /"Priced" already has prices/),
    );
  });

  it('keep what an update leaves out, and can be deleted and set again', async () => {
    const { pricing, endpoint } = await addOneOfEach(room, room.acme, 'Changed');
    const sent = { cached_input_cost_micros_per_1m_tokens: 5, flat_request_cost_micros: 6 };
    const { body } = await room.call('updatePricingPolicy', room.acme, { id: pricing.id, body: sent });
    const { as_of } = body as PricingPolicy;
    assert.ok(as_of > pricing.as_of, 'a price is as old as its last change');
    assert.deepEqual(body, { ...pricing, ...sent, as_of, etag: '"2"' });
    await room.call('deletePricingPolicy', room.acme, { id: pricing.id });
    await room.call('createPricingPolicy', room.acme, { body: { endpoint_id: endpoint.id, ...prices } });
  });

  it('have variants and a schedule, of which the price that has begun is in force', async () => {
    const { pricing, endpoint } = await addOneOfEach(room, room.acme, 'Scheduled');
    const body = {
      reasoning_cost_micros_per_1m_tokens: 3,
      variants: [{ service_tier: 'flex', above_input_tokens: 9, output_cost_micros_per_1m_tokens: 5 }],
      scheduled: [
        { valid_from: '2020-01-01T00:00:00.000Z', ...prices, input_cost_micros_per_1m_tokens: 10 },
        { valid_from: '2999-01-01T00:00:00.000Z', ...prices, input_cost_micros_per_1m_tokens: 20 },
      ],
    };
    const changed = await room.call('updatePricingPolicy', room.acme, { id: pricing.id, body });
    const { as_of } = changed.body as PricingPolicy;
    assert.deepEqual(changed.body, { ...pricing, ...body, as_of, etag: '"2"' });
    const snapshot = await room.snapshots.load(room.acme.organizationId);
    assert.equal(snapshot.pricing.get(endpoint.id)?.inputCostMicrosPer1mTokens, 10);
    assert.equal(snapshot.pricesChangeAtMs, Date.UTC(2999, 0, 1));
    // A price that is set now takes the place of the one that has begun, which would hide it.
    const set = { input_cost_micros_per_1m_tokens: 30 };
    const now = await room.call('updatePricingPolicy', room.acme, { id: pricing.id, body: set });
    const { input_cost_micros_per_1m_tokens, scheduled, variants } = now.body as typeof body & typeof set;
    assert.deepEqual(
      [input_cost_micros_per_1m_tokens, scheduled, variants],
      [30, body.scheduled.slice(1), []],
    );
    const begun = { valid_from: '2020-01-01T00:00:00.000Z', ...prices };
    const tooDear = { scheduled: [{ ...begun, variants: [{ flat_request_cost_micros: 10 ** 15 }] }] };
    await assert.rejects(
      room.call('updatePricingPolicy', room.acme, { id: pricing.id, body: tooDear }),
      refusal('invalid_request', 'scheduled[0].variants[0].flat_request_cost_micros', /at most/),
    );
  });

  it('refuse a price past the range of the ledger and an endpoint of another organization', async () => {
    const { pricing } = await addOneOfEach(room, room.acme, 'Dear');
    const { endpoint } = await addOneOfEach(room, room.globex, 'Foreign');
    await assert.rejects(
      room.call('updatePricingPolicy', room.acme, {
        id: pricing.id,
        body: { output_cost_micros_per_1m_tokens: Number.MAX_SAFE_INTEGER },
      }),
      refusal('invalid_request', 'output_cost_micros_per_1m_tokens', /at most/),
    );
    await assert.rejects(
      room.call('createPricingPolicy', room.acme, { body: { endpoint_id: endpoint.id, ...prices } }),
      refusal('not_found', 'endpoint_id'),
    );
  });
});
