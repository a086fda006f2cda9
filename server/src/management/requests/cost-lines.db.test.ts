import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RequestDetail } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { sampleAttempt, sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { addOneOfEach, asKey, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

const JULY = Date.parse('2026-07-02T12:00:00.000Z');
const AUGUST = Date.parse('2026-08-02T12:00:00.000Z');

describe('the lines of a request’s cost', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let made: Awaited<ReturnType<typeof addOneOfEach>>;
  let number = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    made = await addOneOfEach(room, room.acme, 'Assistant');
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** Records a request that the endpoint served, and reads what its cost is made of. */
  async function linesOf(
    over: Partial<LedgerRow>,
    atMs = JULY,
    caller: Caller = room.acme,
  ): Promise<RequestDetail['cost_lines']> {
    number += 1;
    const row = sampleRow({
      request_id: idAt(atMs, number),
      organization_id: room.acme.organizationId,
      user_id: room.acme.userId,
      endpoint_id: made.endpoint.id,
      actual_input_tokens: 1_000,
      actual_output_tokens: 100,
      actual_cost_micros: 1_200,
      actual_cost_rounding_picos: 0,
      ...over,
    });
    await recordRequests(room.db, [row]);
    return (await room.call('getRequest', caller, { id: row.request_id })).body.cost_lines;
  }

  it('are each kind of tokens at its price, exactly', async () => {
    const { id } = made.pricing;
    await room.call('updatePricingPolicy', room.acme, {
      id,
      body: { cached_input_cost_micros_per_1m_tokens: 100_001, flat_request_cost_micros: 5 },
    });
    const row = {
      actual_cached_input_tokens: 1,
      actual_cost_micros: 1_205,
      actual_cost_rounding_picos: 899_999,
    };
    assert.deepEqual(await linesOf(row), [
      { attempt: 1, kind: 'input', tokens: 999, price_micros: 1_000_000, cost_usd: '0.000999' },
      { attempt: 1, kind: 'cached_input', tokens: 1, price_micros: 100_001, cost_usd: '0.000000100001' },
      { attempt: 1, kind: 'output', tokens: 100, price_micros: 2_000_000, cost_usd: '0.0002' },
      { attempt: 1, kind: 'request', tokens: null, price_micros: 5, cost_usd: '0.000005' },
    ]);
    await room.call('updatePricingPolicy', room.acme, {
      id,
      body: { cached_input_cost_micros_per_1m_tokens: null, flat_request_cost_micros: 0 },
    });
  });

  it('are by the prices of the request’s time, length and service tier', async () => {
    const august = {
      input_cost_micros_per_1m_tokens: 3_000_000,
      output_cost_micros_per_1m_tokens: 4_000_000,
    };
    await room.call('updatePricingPolicy', room.acme, {
      id: made.pricing.id,
      body: {
        scheduled: [{ valid_from: '2026-08-01T00:00:00.000Z', ...august }],
        variants: [
          { above_input_tokens: 5_000, input_cost_micros_per_1m_tokens: 2_000_000 },
          { service_tier: 'flex', output_cost_micros_per_1m_tokens: 1_000_000 },
        ],
      },
    });
    const pricesOf = async (over: Partial<LedgerRow>, atMs?: number) =>
      (await linesOf(over, atMs))?.map(({ price_micros }) => price_micros);
    assert.deepEqual(await pricesOf({}), [1_000_000, 2_000_000]);
    assert.deepEqual(await pricesOf({ actual_cost_micros: 3_400 }, AUGUST), [3_000_000, 4_000_000]);
    assert.deepEqual(
      await pricesOf({ actual_input_tokens: 6_000, actual_cost_micros: 12_200 }),
      [2_000_000, 2_000_000],
    );
    const details = {
      reasoning_tokens: 0,
      audio_input_tokens: 0,
      image_input_tokens: 0,
      audio_output_tokens: 0,
      image_output_tokens: 0,
      service_tier: 'flex',
    };
    const trace = { timings: null, candidates: [], guardrails: [], usage_details: details };
    assert.deepEqual(await pricesOf({ trace, actual_cost_micros: 1_100 }), [1_000_000, 1_000_000]);
  });

  it('are those of each attempt, at the price of its own endpoint', async () => {
    const [one, two] = [made, await addOneOfEach(room, room.acme, 'Second')];
    const { id } = two.pricing;
    const body = {
      input_cost_micros_per_1m_tokens: 4_000_000,
      output_cost_micros_per_1m_tokens: 8_000_000,
      flat_request_cost_micros: 0,
    };
    await room.call('updatePricingPolicy', room.acme, { id, body });
    const at = ({ endpoint, provider }: typeof made) =>
      sampleAttempt({ endpoint_id: endpoint.id, provider_id: provider.id });
    const attempts = [
      { ...at(one), use: { source: 'estimated', input_tokens: 10, output_tokens: 0, cost_micros: 10 } },
      { ...at(one), sent: false, cause: 'upstream_unreachable' },
      { ...at(two), use: { source: 'reported', input_tokens: 11, output_tokens: 7, cost_micros: 100 } },
    ] as const;
    const row = {
      endpoint_id: two.endpoint.id,
      attempts,
      actual_input_tokens: 21,
      actual_output_tokens: 7,
      actual_cost_micros: 110,
    };
    assert.deepEqual(
      (await linesOf(row))?.map(({ attempt, kind, tokens, cost_usd }) => [attempt, kind, tokens, cost_usd]),
      [
        [1, 'input', 10, '0.00001'],
        [3, 'input', 11, '0.000044'],
        [3, 'output', 7, '0.000056'],
      ],
    );
    const { flat_request_cost_micros: _, ...changed } = { ...body, output_cost_micros_per_1m_tokens: 1 };
    await room.call('updatePricingPolicy', room.acme, { id, body: changed });
    assert.equal(await linesOf(row), null, 'the price of one of them was changed');
  });

  it('are unknown where they do not add up to what was recorded, and where nothing was', async () => {
    assert.equal(await linesOf({ actual_cost_micros: 1_201 }), null, 'another price');
    assert.equal(await linesOf({ actual_cost_rounding_picos: 1 }), null);
    assert.equal(await linesOf({ actual_cost_micros: null }), null, 'no price then');
    assert.equal(await linesOf({ endpoint_id: null }), null);
    assert.deepEqual(await linesOf({ operation: 'count_tokens', actual_cost_micros: 0 }), [], 'free');
  });

  it('are shown only to those who may read prices', async () => {
    const narrow = asKey(room.acme, ['relay:usage:read']);
    assert.equal(await linesOf({}, JULY, narrow), null);
    const reader = asKey(room.acme, ['relay:usage:read', 'relay:providers:read']);
    assert.equal((await linesOf({}, JULY, reader))?.length, 2);
  });
});
