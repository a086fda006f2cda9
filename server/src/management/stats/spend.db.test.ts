import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { addMember, addOneOfEach, asKey, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests, sentAtArrival } from '../requests/ledger.fixture.ts';

/** The middle of a month of 30 days. */
const NOW_MS = Date.parse('2026-11-16T00:00:00.000Z');
const HOUR_MS = 3_600_000;

describe('the spend of the month', () => {
  let nowMs = NOW_MS;
  let database: FreshDatabase;
  let room: ManagementFixture;
  let developer: Caller;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    });
    developer = await addMember(room, room.acme, 'developer');
    const { endpoint, provider } = await addOneOfEach(room, room.acme, 'One');
    const { body: unpriced } = await room.call('createEndpoint', room.acme, {
      body: { provider_id: provider.id, name: 'Two', upstream_model: 'two', route_kind: 'multi' },
    });
    const row = (number: number, agoMs: number, micros: number, userId: string) =>
      sampleRow({
        request_id: idAt(NOW_MS - agoMs, number),
        organization_id: room.acme.organizationId,
        user_id: userId,
        endpoint_id: micros === 0 ? unpriced.id : endpoint.id,
        usage_source: 'reported',
        actual_cost_micros: micros,
        actual_cost_rounding_picos: 0,
      });
    await recordRequests(room.db, [
      sentAtArrival(row(1, 2 * HOUR_MS, 30_000_000, room.acme.userId), 0.1),
      row(2, 50 * HOUR_MS, 20_000_000, developer.userId),
      // Of the month before.
      row(3, 16 * 24 * HOUR_MS, 90_000_000, room.acme.userId),
      row(4, 3 * HOUR_MS, 0, room.acme.userId),
    ]);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('is that since its first day, by day, with what it comes to at this rate', async () => {
    const { body } = await room.call('getSpend', room.acme);
    assert.equal(body.counted, 'organization');
    const { days, ...month } = body.month;
    assert.deepEqual(month, {
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-12-01T00:00:00.000Z',
      cost_micros: 50_000_000,
      cost_usd: '50',
      fallback_cost_micros: 3_000_000,
      fallback_cost_usd: '3',
      metered_requests: 3,
      unpriced_requests: 1,
      forecast_micros: 100_000_000,
      budget_micros: null,
      over_budget_at: null,
    });
    assert.deepEqual([days.length, days[12], days[14], days[15]], [16, 20_000_000, 30_000_000, 0]);
    assert.deepEqual(
      [body.today.from, body.today.cost_micros, body.today.metered_requests],
      ['2026-11-16T00:00:00.000Z', 0, 0],
    );
  });

  it('has the tightest budget of the organization, and when it is spent', async () => {
    const budget = { scope_type: 'global', metric: 'spend', period: 'month' } as const;
    for (const limit_value of [90_000_000, 75_000_000])
      await room.call('createLimitPolicy', room.acme, { body: { ...budget, limit_value } });
    await room.snapshots.load(room.acme.organizationId);
    const { month } = (await room.call('getSpend', room.acme)).body;
    assert.deepEqual([month.budget_micros, month.over_budget_at], [75_000_000, '2026-11-23T12:00:00.000Z']);
    const reader = asKey(room.acme, ['relay:usage:read', 'relay:usage:read:organization']);
    assert.equal((await room.call('getSpend', reader)).body.month.budget_micros, null);
  });

  it('is their own for those who may see no other, and says nothing of another organization', async () => {
    const { body } = await room.call('getSpend', developer);
    assert.deepEqual(
      [body.counted, body.month.cost_micros, body.month.budget_micros],
      ['own', 20_000_000, null],
    );
    assert.equal((await room.call('getSpend', room.globex)).body.month.cost_micros, 0);
  });

  it('tells a day without a price from a day without requests', async () => {
    nowMs = NOW_MS - 1;
    const { today } = (await room.call('getSpend', room.acme)).body;
    assert.deepEqual(
      [today.cost_micros, today.fallback_cost_micros, today.metered_requests, today.unpriced_requests],
      [30_000_000, 3_000_000, 2, 1],
    );
  });
});
