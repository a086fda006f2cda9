import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { LimitPolicyCreate, LimitUsage } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { SOMEBODY } from '../../admission/ask.fixture.ts';
import { windowStartMs } from '../../admission/calendar-window.ts';
import type { AdmissionAsk, Opening } from '../../admission/engine.ts';
import { chargesFor } from '../../domain/limits/limits.ts';
import type { UsedAmounts } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('the live state of limits', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let nowMs: number;
  let storeIsAway: boolean;

  beforeEach(async () => {
    database = await freshDatabase();
    // Not near the end of any window in these tests.
    nowMs = Date.parse('2026-03-31T12:00:00.000Z');
    storeIsAway = false;
    room = await startManagement(database.url, {
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      limitUsage: (organizationId, policies) =>
        storeIsAway
          ? Promise.reject(storeUnavailable('redis', 'the breaker is open'))
          : room.engine.usage(organizationId, policies),
    });
  });
  afterEach(async () => {
    await room.close();
    await database.drop();
  });

  async function limit(body: Partial<LimitPolicyCreate>, caller = room.acme): Promise<string> {
    const whole = { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 100 } as const;
    return (await room.call('createLimitPolicy', caller, { body: { ...whole, ...body } })).body.id;
  }

  async function usage(policyId: string, caller = room.acme): Promise<LimitUsage> {
    const { body } = await room.call('listLimitUsage', caller);
    const found = body.find(({ policy_id }) => policy_id === policyId);
    assert.ok(found);
    return found;
  }
  const numbers = ({ limit, used, reserved, remaining }: LimitUsage) => [limit, used, reserved, remaining];

  /** Admits one request with the limits of the snapshot. */
  async function admit(model: string, amounts: UsedAmounts, caller = room.acme) {
    const { organizationId } = caller;
    const snapshot = await room.snapshots.load(organizationId);
    const route = routingTableOf(snapshot).resolve(model);
    assert.ok(route);
    const operationId = randomUUIDv7();
    const ask: AdmissionAsk = {
      organizationId,
      operationId,
      queue: 'a caller in a lane',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: route.members.map(({ candidate }) => ({
        endpointId: candidate.endpoint.id,
        paced: true,
        charges: chargesFor(snapshot, caller, route, candidate, amounts),
      })),
      selection: 'preferred',
      waitMsMax: 60_000,
      leaseMs: 60_000,
      draft: '',
    };
    let answer = await room.engine.admit(ask);
    if (answer.kind === 'rebuild') {
      await room.engine.initialize(organizationId, openings(ask));
      answer = await room.engine.admit(ask);
    }
    const settle = (tokens: number, spendMicros: number) =>
      room.engine.settle({
        organizationId,
        operationId,
        actual: { dispatched: true, tokens, spendMicros },
        record: '',
      });
    return { answer, settle };
  }

  /** These organizations have no ledger rows, so every calendar window starts at 0. */
  function openings({ candidates }: AdmissionAsk): Opening[] {
    return candidates.flatMap(({ charges }) =>
      charges.flatMap(({ policy }) => {
        const { period } = policy;
        if (period === 'none' || isSliding(period)) return [];
        return [{ policy, startMs: windowStartMs(period, nowMs), amount: 0 }];
      }),
    );
  }

  it('is nothing used before the first request', async () => {
    const policyId = await limit({ limit_value: 5 });
    assert.deepEqual(await usage(policyId), {
      policy_id: policyId,
      policy_kind: 'resource',
      subject_id: null,
      scope_type: 'global',
      scope_id: null,
      metric: 'requests',
      period: 'minute',
      limit: 5,
      used: 0,
      reserved: 0,
      remaining: 5,
      resets_at: null,
      rate_per_hour: 0,
      forecast: null,
      runs_out_at: null,
    });
  });

  it('counts what was admitted under every policy that applies, and corrects it when it is settled', async () => {
    const { lane, provider } = await addOneOfEach(room, room.acme);
    const requests = await limit({});
    const tokens = await limit({ metric: 'tokens', period: 'day', limit_value: 1_000 });
    const spend = await limit({
      scope_type: 'provider',
      scope_id: provider.id,
      metric: 'spend',
      period: 'month',
    });
    const atOnce = await limit({ metric: 'concurrency', period: 'none', limit_value: 2 });
    const inLane = await limit({ scope_type: 'lane', scope_id: lane.id, period: 'hour' });

    const first = await admit('main', { tokens: 300, spendMicros: 40 });
    nowMs += 1_000;
    const second = await admit('gpt-5', { tokens: 200, spendMicros: 10 });
    assert.deepEqual([first.answer.kind, second.answer.kind], ['admitted', 'admitted']);
    assert.deepEqual(numbers(await usage(requests)), [100, 2, 0, 98]);
    assert.deepEqual(numbers(await usage(tokens)), [1_000, 500, 0, 500]);
    assert.deepEqual(numbers(await usage(spend)), [100, 50, 0, 50]);
    assert.deepEqual(numbers(await usage(atOnce)), [2, 2, 0, 0]);
    assert.deepEqual(numbers(await usage(inLane)), [100, 1, 0, 99]);

    await first.settle(120, 15);
    assert.deepEqual(numbers(await usage(requests)), [100, 2, 0, 98]);
    assert.deepEqual(numbers(await usage(tokens)), [1_000, 320, 0, 680]);
    assert.deepEqual(numbers(await usage(spend)), [100, 25, 0, 75]);
    assert.deepEqual(numbers(await usage(atOnce)), [2, 1, 0, 1]);
  });

  it('says when a window is whole again: calendar windows at their end, short ones after the last use', async () => {
    await addOneOfEach(room, room.acme);
    const day = await limit({ period: 'day' });
    const month = await limit({ period: 'month' });
    const minute = await limit({ period: 'minute' });
    const atOnce = await limit({ metric: 'concurrency', period: 'none' });
    await admit('main', { tokens: 1, spendMicros: 0 });
    assert.equal((await usage(day)).resets_at, '2026-04-01T00:00:00.000Z');
    assert.equal((await usage(month)).resets_at, '2026-04-01T00:00:00.000Z');
    assert.equal((await usage(atOnce)).resets_at, null);
    const wholeMs = Date.parse((await usage(minute)).resets_at ?? '');
    assert.ok(wholeMs >= nowMs + 60_000 && wholeMs < nowMs + 62_000);
    nowMs = wholeMs;
    const { used, remaining, resets_at } = await usage(minute);
    assert.deepEqual([used, remaining, resets_at], [0, 100, null]);
  });

  it('counts what a waiter is promised as reserved', async () => {
    await addOneOfEach(room, room.acme);
    const policyId = await limit({ limit_value: 2 });
    await admit('main', { tokens: 1, spendMicros: 0 });
    const { answer } = await admit('main', { tokens: 1, spendMicros: 0 });
    assert.equal(answer.kind, 'wait');
    assert.deepEqual(numbers(await usage(policyId)), [2, 1, 1, 0]);
    // It counts in the rate, and nothing remains.
    const { rate_per_hour, runs_out_at } = await usage(policyId);
    assert.deepEqual([rate_per_hour, runs_out_at], [120, new Date(nowMs).toISOString()]);
  });

  it('has nothing remaining, and not less, when use went past the limit', async () => {
    await addOneOfEach(room, room.acme);
    const policyId = await limit({ metric: 'tokens', period: 'day', limit_value: 50 });
    const { settle } = await admit('main', { tokens: 50, spendMicros: 0 });
    await settle(80, 0);
    assert.deepEqual(numbers(await usage(policyId)), [50, 80, 0, 0]);
  });

  it('has the rate, the forecast and when the limit runs out; before a tenth of the window, nothing', async () => {
    await addOneOfEach(room, room.acme);
    const day = await limit({ metric: 'tokens', period: 'day', limit_value: 1_000 });
    const lasts = await limit({ metric: 'tokens', period: 'day', limit_value: 1_600 });
    const month = await limit({ metric: 'tokens', period: 'month', limit_value: 1_000_000 });
    const atOnce = await limit({ metric: 'concurrency', period: 'none', limit_value: 2 });
    const minute = await limit({ metric: 'tokens', period: 'minute', limit_value: 2_000 });
    const outlook = async (id: string) => {
      const { rate_per_hour, forecast, runs_out_at } = await usage(id);
      return [rate_per_hour, forecast, runs_out_at];
    };
    await admit('main', { tokens: 800, spendMicros: 0 });
    // 800 in 12 hours: the remaining 200 last 3 hours.
    assert.deepEqual(await outlook(day), [66.667, 1_600, '2026-03-31T15:00:00.000Z']);
    assert.deepEqual(await outlook(lasts), [66.667, 1_600, null]);
    assert.deepEqual((await outlook(month)).slice(1), [813, null]);
    assert.deepEqual(await outlook(atOnce), [null, null, null]);
    assert.deepEqual(await outlook(minute), [48_000, null, null]);
    nowMs = Date.parse('2026-04-01T02:00:00.000Z');
    assert.deepEqual(await outlook(day), [0, 0, null]);
    await admit('main', { tokens: 600, spendMicros: 0 });
    assert.deepEqual(await outlook(day), [300, 7_200, '2026-04-01T03:20:00.000Z']);
    assert.deepEqual(await outlook(lasts), [null, null, null]);
  });

  it('names the limits that run out first, then the tightest, and none for which requests wait', async () => {
    const { lane } = await addOneOfEach(room, room.acme);
    const tokens = { metric: 'tokens', period: 'day' } as const;
    const [later, first, tight, wide] = [
      await limit({ ...tokens, limit_value: 1_000 }),
      await limit({ ...tokens, limit_value: 800 }),
      await limit({ ...tokens, limit_value: 2_000, scope_type: 'lane', scope_id: lane.id }),
      await limit({ ...tokens, limit_value: 90_000 }),
    ];
    await limit({ ...tokens, period: 'minute', limit_value: 800 });
    await limit({ metric: 'concurrency', period: 'none', limit_value: 1 });
    const { answer } = await admit('main', { tokens: 800, spendMicros: 0 });
    assert.equal(answer.kind, 'admitted');
    await limit({ ...tokens, limit_value: 0 });
    const { body } = await room.call('getNextLimits', room.acme);
    assert.deepEqual(
      body.limits.map(({ policy_id }) => policy_id),
      [first, later, tight, wide],
    );
    assert.deepEqual(
      body.limits.map(({ runs_out_at }) => runs_out_at),
      ['2026-03-31T12:00:00.000Z', '2026-03-31T15:00:00.000Z', null, null],
    );
    assert.deepEqual([body.counted, body.total, body.complete], ['organization', 4, true]);
    const { body: one } = await room.call('getNextLimits', room.acme, { query: { limit: 1 } });
    assert.deepEqual([one.limits.length, one.total], [1, 4]);
    const own = await room.call('getNextLimits', { ...room.acme, scopes: new Set(['relay:usage:read']) });
    assert.deepEqual([own.body.counted, own.body.total], ['own', 4], 'shared limits can reject every caller');
    assert.deepEqual(
      body.limits.map(({ subject_id, subject_name, scope_name }) => [subject_id, subject_name, scope_name]),
      [null, null, 'Main', null].map((scope) => [null, null, scope]),
    );
    storeIsAway = true;
    await assert.rejects(room.call('getNextLimits', room.acme), refusal('policy_unavailable'));
  });

  it('of one organization says nothing about another', async () => {
    await addOneOfEach(room, room.acme);
    await addOneOfEach(room, room.globex);
    const ours = await limit({ period: 'day' });
    const theirs = await limit({ period: 'day' }, room.globex);
    await admit('main', { tokens: 1, spendMicros: 0 }, room.globex);
    assert.equal((await usage(ours)).used, 0);
    assert.equal((await usage(theirs, room.globex)).used, 1);
    const { body } = await room.call('listLimitUsage', room.acme);
    assert.ok(body.every(({ policy_id }) => policy_id !== theirs));
  });

  it('lists what is in force, whole or page by page', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.push(await limit({ limit_value: 100 + count }));
    const body = { scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 1 } as const;
    const { body: disabled } = await room.call('createLimitPolicy', room.acme, {
      body: { ...body, enabled: false },
    });
    const idsOf = (list: readonly LimitUsage[]) => list.map(({ policy_id }) => policy_id);
    const all = await room.call('listLimitUsage', room.acme);
    assert.deepEqual(idsOf(all.body), ids);
    assert.equal(all.headers.size, 0);
    assert.ok(!idsOf(all.body).includes(disabled.id));

    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? { limit: 2 } : { limit: 2, cursor };
      const page = await room.call('listLimitUsage', room.acme, { query });
      assert.ok(page.body.length <= 2);
      seen.push(...idsOf(page.body));
      cursor = page.headers.get('X-Next-Cursor');
    } while (cursor !== undefined);
    assert.deepEqual(seen, ids);
  });

  it('shows the bound that an endpoint sets itself', async () => {
    const { endpoint } = await addOneOfEach(room, room.acme);
    const body = { max_concurrency: 3 };
    await room.call('updateEndpoint', room.acme, { id: endpoint.id, body });
    const bound = `endpoint:${endpoint.id}:max_concurrency`;
    assert.deepEqual(numbers(await usage(bound)), [3, 0, 0, 3]);
    await admit('main', { tokens: 1, spendMicros: 0 });
    const { policy_kind, scope_type, scope_id, metric, period, used } = await usage(bound);
    assert.deepEqual(
      [policy_kind, scope_type, scope_id, metric, period, used],
      ['resource', 'endpoint', endpoint.id, 'concurrency', 'none', 1],
    );
  });

  it('of shared policies is for every caller, because they can reject every caller', async () => {
    const id = await limit({});
    const scopes = new Set(['relay:usage:read'] as const);
    const { body } = await room.call('listLimitUsage', { ...room.acme, scopes });
    assert.deepEqual(
      body.map(({ policy_id }) => policy_id),
      [id],
    );
  });

  it('is 503 policy_unavailable while its store is away, and asks it nothing when no policy is set', async () => {
    storeIsAway = true;
    assert.deepEqual((await room.call('listLimitUsage', room.acme)).body, []);
    await limit({});
    await assert.rejects(room.call('listLimitUsage', room.acme), refusal('policy_unavailable'));
    storeIsAway = false;
    assert.equal((await room.call('listLimitUsage', room.acme)).body.length, 1);
  });
});
