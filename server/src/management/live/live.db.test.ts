import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { FlowsAsk, LiveFlow } from '../../admission/live-flows.ts';
import type { LiveLane } from '../../admission/live-lanes.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import { addMember, asKey, type ManagementFixture, REFUSED, refusal, startManagement } from '../fixture.ts';

describe('what is under way', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let endpointIds: string[];
  let flows: LiveFlow[];
  let lanes: LiveLane[];
  let asked: FlowsAsk[];
  let storeIsAway: boolean;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      async liveTraffic(ask) {
        if (storeIsAway) throw storeUnavailable('redis', 'the breaker is open');
        asked.push(ask);
        return { flows, lanes };
      },
    });
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: 'P', base_url: 'https://api.example.com/v1', auth_mode: 'none', enabled: true },
    });
    endpointIds = [];
    for (const [name, max_concurrency] of [
      ['one', 4],
      ['two', null],
      ['three', null],
    ] as const) {
      const shared = { provider_id: provider.id, upstream_model: name, route_kind: 'multi' } as const;
      const { body } = await room.call('createEndpoint', room.acme, {
        body: { ...shared, name, max_concurrency },
      });
      endpointIds.push(body.id);
    }
  });
  beforeEach(() => {
    [flows, lanes, asked, storeIsAway] = [[], [], [], false];
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const flow = (
    laneId: string | null,
    endpointId: string | undefined,
    [waiting, longestWaitMs, inFlight]: [number, number, number],
  ): LiveFlow => ({ laneId, endpointId: endpointId ?? '', waiting, longestWaitMs, inFlight });

  it('is told by lane, those that wait longest first, and by endpoint with its limit', async () => {
    const [one, two] = endpointIds;
    flows = [
      flow('calm', one, [0, 0, 3]),
      flow('crowded', one, [2, 700, 0]),
      flow('crowded', two, [1, 900, 5]),
      flow(null, 'deleted', [0, 0, 1]),
    ];
    const { body, headers } = await room.call('getLive', room.acme);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(body.counted, 'organization');
    assert.deepEqual(
      body.lanes.map((lane) => [lane.lane_id, lane.waiting, lane.longest_wait_ms, lane.in_flight]),
      [
        ['crowded', 3, 900, 5],
        ['calm', 0, 0, 3],
        [null, 0, 0, 1],
      ],
    );
    assert.deepEqual(body.lanes[0]?.endpoints, [
      { endpoint_id: one, waiting: 2, in_flight: 0 },
      { endpoint_id: two, waiting: 1, in_flight: 5 },
    ]);
    const well = {
      health: 'unknown',
      health_detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
      cooldown_until: null,
    };
    assert.deepEqual(body.endpoints, [
      { endpoint_id: one, waiting: 2, in_flight: 3, max_concurrency: 4, ...well },
      { endpoint_id: two, waiting: 1, in_flight: 5, max_concurrency: null, ...well },
      { endpoint_id: 'deleted', waiting: 0, in_flight: 1, max_concurrency: null, ...well },
    ]);
  });

  it('has the queue of a lane by priority, its next slot, fallbacks and rejections, also when nothing is in it', async () => {
    const [one] = endpointIds;
    const none = { interactive: 0, standard: 0, batch: 0 };
    flows = [flow('crowded', one, [3, 700, 0]), flow('calm', one, [0, 0, 1])];
    const quiet = { waiting: none, nextSlotMs: null, limits: [], fallbacks: 0, rejections: 0 };
    lanes = [
      {
        ...quiet,
        laneId: 'crowded',
        waiting: { ...none, interactive: 2, batch: 1 },
        nextSlotMs: 1_200,
        rejections: 2,
      },
      { ...quiet, laneId: 'fell', fallbacks: 4 },
    ];
    const { body } = await room.call('getLive', room.acme);
    assert.deepEqual(
      body.lanes.map((lane) => [
        lane.lane_id,
        lane.waiting_by_priority,
        lane.next_slot_ms,
        lane.fallbacks,
        lane.rejections,
        lane.endpoints.length,
      ]),
      [
        ['crowded', { ...none, interactive: 2, batch: 1 }, 1_200, 0, 2, 1],
        ['calm', none, null, 0, 0, 1],
        ['fell', none, null, 4, 0, 0],
      ],
    );
  });

  it('names the limits that requests of a lane wait for, three at most', async () => {
    const [one = ''] = endpointIds;
    const { body: policy } = await room.call('createLimitPolicy', room.acme, {
      body: {
        scope_type: 'endpoint',
        scope_id: one,
        metric: 'requests',
        period: 'minute',
        limit_value: 60,
      },
    });
    const counts = { userId: null, keyId: null, scopeType: 'endpoint', scopeId: one } as const;
    const perMinute: AppliedLimit = {
      id: `${policy.id}@${one}#2`,
      metric: 'requests',
      period: 'minute',
      limit: 60,
      counts,
    };
    const atOnce: AppliedLimit = {
      id: `endpoint:${one}:max_concurrency`,
      metric: 'concurrency',
      period: 'none',
      limit: 4,
      counts,
    };
    const anne = await addMember(room, room.acme, 'developer');
    const ofAnne: AppliedLimit = {
      ...atOnce,
      id: randomUUIDv7(),
      counts: { userId: anne.userId, keyId: null, scopeType: 'global', scopeId: null },
    };
    const limits = [perMinute, atOnce, ofAnne, perMinute].map((limit, index) => ({
      limit,
      waiting: 9 - index,
      userId: anne.userId,
    }));
    const waiting = { interactive: 9, standard: 0, batch: 0 };
    lanes = [{ laneId: 'crowded', waiting, nextSlotMs: null, limits, fallbacks: 0, rejections: 0 }];
    const { body } = await room.call('getLive', room.acme);
    assert.deepEqual(
      body.lanes[0]?.limited_by.map((limit) => [
        limit.waiting,
        limit.policy_id,
        limit.policy_kind,
        limit.scope_name,
        limit.metric,
        limit.limit_value,
        limit.subject_id,
      ]),
      [
        [9, policy.id, 'resource', 'one', 'requests', 60, null],
        [8, atOnce.id, 'resource', 'one', 'concurrency', 4, null],
        // It was deleted since.
        [7, ofAnne.id, 'user', null, 'concurrency', null, anne.userId],
      ],
    );
  });

  it('an endpoint that cools down is told also when nothing is there', async () => {
    const untilMs = Date.now() + 60_000;
    room.penalize(endpointIds[2] ?? '', untilMs);
    const { body } = await room.call('getLive', room.acme);
    assert.deepEqual(body.lanes, []);
    assert.deepEqual(
      body.endpoints.map(({ endpoint_id, health, cooldown_until }) => [endpoint_id, health, cooldown_until]),
      [[endpointIds[2], 'rate_limited', new Date(untilMs).toISOString()]],
    );
    assert.deepEqual((await room.call('getLive', room.globex)).body.endpoints, []);
  });

  it('is that of everybody for whoever may see it, and else that of the caller', async () => {
    const anne = await addMember(room, room.acme, 'developer');
    const viewer = await addMember(room, room.acme, 'viewer');
    const { organizationId } = room.acme;
    const counted = [];
    for (const caller of [room.acme, viewer, anne, asKey(room.acme, ['relay:usage:read'])])
      counted.push((await room.call('getLive', caller)).body.counted);
    assert.deepEqual(counted, ['organization', 'organization', 'own', 'own']);
    assert.deepEqual(asked.at(-1), { organizationId, userId: room.acme.userId, keyId: undefined });
    assert.deepEqual(asked[0], { organizationId, userId: undefined, keyId: undefined });
  });

  it('of one key names only endpoints that the key uses, and a member only sees their own', async () => {
    const [one, two = ''] = endpointIds;
    const { organizationId } = room.acme;
    const keyId = '0199A000-0000-7000-8000-00000000000A';
    room.penalize(two, Date.now() + 60_000);
    flows = [flow('crowded', one, [1, 700, 0])];
    const { body } = await room.call('getLive', room.acme, { query: { api_key_id: keyId } });
    assert.deepEqual(
      body.endpoints.map(({ endpoint_id, waiting }) => [endpoint_id, waiting]),
      [[one, 1]],
    );
    assert.deepEqual(asked, [{ organizationId, userId: undefined, keyId: keyId.toLowerCase() }]);
    const anne = await addMember(room, room.acme, 'developer');
    await room.call('getLive', anne, { query: { api_key_id: keyId } });
    assert.equal(asked.at(-1)?.userId, anne.userId);
    const { body: unknown } = await room.call('getLive', room.acme, { query: { api_key_id: 'no ID' } });
    assert.deepEqual([unknown.lanes, unknown.endpoints, asked.length], [[], [], 2]);
  });

  it('is 503 policy_unavailable while the live state is away', async () => {
    storeIsAway = true;
    await assert.rejects(room.call('getLive', room.acme), refusal('policy_unavailable'));
  });

  it('lists an endpoint that is down without any traffic', async () => {
    const [one = ''] = endpointIds;
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, one, REFUSED);
    const shown = async () =>
      (await room.call('getLive', room.acme)).body.endpoints.find(({ endpoint_id }) => endpoint_id === one);
    assert.equal((await shown())?.health, 'down');
    await room.attempted(room.acme, one, { tookMs: 0 });
    for (let n = 0; n < 30; n += 1) await room.attempted(room.acme, one);
    assert.equal(await shown(), undefined);
  });
});
