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
      scope_type: 'global',
      scope_id: null,
      metric: 'requests',
      period: 'minute',
      limit: 5,
      used: 0,
      reserved: 0,
      remaining: 5,
      resets_at: null,
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
  });

  it('has nothing remaining, and not less, when use went past the limit', async () => {
    await addOneOfEach(room, room.acme);
    const policyId = await limit({ metric: 'tokens', period: 'day', limit_value: 50 });
    const { settle } = await admit('main', { tokens: 50, spendMicros: 0 });
    await settle(80, 0);
    assert.deepEqual(numbers(await usage(policyId)), [50, 80, 0, 0]);
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
    for (let count = 0; count < 5; count += 1) ids.push(await limit({}));
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

  it('of shared policies is not for a caller who may see only its own traffic', async () => {
    await limit({});
    const scopes = new Set(['relay:usage:read'] as const);
    const { body } = await room.call('listLimitUsage', { ...room.acme, scopes });
    assert.deepEqual(body, []);
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
