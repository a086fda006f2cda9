import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type RedisCluster, startRedisCluster } from '@relay/testbed';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createFleetFlows, type FleetFlows } from './fleet-flows.ts';
import type { FlowsAsk, LiveFlow } from './live-flows.ts';
import type { LiveLane } from './live-lanes.ts';

const log = createLog('silent');
const LIMIT = { metric: 'concurrency', period: 'none', limit: 1, counts: EVERY_REQUEST } as const;

/** A gateway with its own connection and its own clock. */
interface Gateway {
  readonly fleet: FleetFlows;
  flows: readonly (LiveFlow & { organizationId: string; userId: string; keyId: string })[];
  lanes: readonly LiveLane[];
  shiftMs: number;
  stop(): Promise<void>;
}

describe('the live traffic of all gateways, on a cluster', () => {
  let cluster: RedisCluster;
  let watched: Redis;
  let gateways: Gateway[] = [];
  let organizationId: string;

  before(async () => {
    cluster = await startRedisCluster();
    watched = createRedis({ url: cluster.urls.join(','), clock: systemClock, log });
    await watched.whenReady(60_000);
  });
  beforeEach(async () => {
    organizationId = randomUUIDv7();
    for (const gateway of gateways) await gateway.stop();
    gateways = await Promise.all(['a', 'b', 'c'].map(start));
  });
  after(async () => {
    for (const gateway of gateways) await gateway.stop();
    await watched.close();
    await cluster.remove();
  });

  async function start(gatewayId: string, index: number): Promise<Gateway> {
    const redis = createRedis({ url: cluster.urls.join(','), clock: systemClock, log });
    await redis.whenReady(60_000);
    const gateway: Gateway = {
      flows: [],
      lanes: [],
      shiftMs: index * 86_400_000,
      fleet: createFleetFlows({
        aside: nothingAside,
        redis,
        gatewayId,
        own: async (ask) => ({
          flows: gateway.flows
            .filter((each) => each.organizationId === ask.organizationId)
            .filter((each) => ask.userId === undefined || each.userId === ask.userId)
            .filter((each) => ask.keyId === undefined || each.keyId === ask.keyId)
            .map(({ organizationId: _organization, userId: _user, keyId: _key, ...flow }) => flow),
          lanes: gateway.lanes,
        }),
        clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + gateway.shiftMs },
        log,
      }),
      async stop() {
        await gateway.fleet.stop();
        await redis.close();
      },
    };
    await gateway.fleet.start();
    return gateway;
  }

  const flow = (endpointId: string, waiting: number, longestWaitMs: number, inFlight: number) => ({
    laneId: 'chat',
    endpointId,
    waiting,
    longestWaitMs,
    inFlight,
  });
  const of = (userId: string, each: LiveFlow, keyId = 'app') => ({ ...each, organizationId, userId, keyId });
  const everybody = () => ({ organizationId, userId: undefined });
  const inOrder = (flows: readonly LiveFlow[]) =>
    flows.toSorted((a, b) => a.endpointId.localeCompare(b.endpointId));

  /** A slow gateway appears at one of the next reads. */
  async function shows(reader: Gateway, expected: readonly LiveFlow[], ask: FlowsAsk = everybody()) {
    let found: readonly LiveFlow[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      found = inOrder((await reader.fleet.read(ask)).flows);
      if (isDeepStrictEqual(found, expected)) return;
    }
    assert.deepEqual(found, expected);
  }

  it('is the sum over all gateways, whichever gateway reads it', async () => {
    const [a, b, c] = gateways as [Gateway, Gateway, Gateway];
    a.flows = [of('anne', flow('first', 1, 300, 2))];
    b.flows = [of('ben', flow('first', 2, 900, 1)), of('ben', flow('second', 0, 0, 4))];
    const all = [flow('first', 3, 900, 3), flow('second', 0, 0, 4)];
    for (const reader of [a, b, c]) await shows(reader, all);
    await shows(c, [flow('first', 1, 300, 2)], { organizationId, userId: 'anne' });
    const other = await c.fleet.read({ organizationId: randomUUIDv7(), userId: undefined });
    assert.deepEqual(other, { flows: [], lanes: [] });
  });

  it('adds up queues by priority, limits, fallbacks and rejections, and has the soonest slot that a gateway knows', async () => {
    const [a, b, c] = gateways as [Gateway, Gateway, Gateway];
    const lane = (interactive: number, nextSlotMs: number | null, fallbacks: number): LiveLane => ({
      laneId: 'chat',
      waiting: { interactive, standard: 0, batch: 1 },
      nextSlotMs,
      limits: [{ limit: { ...LIMIT, id: 'lane' }, waiting: 1, userId: 'anne' }],
      fallbacks,
      rejections: fallbacks,
    });
    const ofKey = { limit: { ...LIMIT, id: 'key' }, waiting: 5, userId: 'anne' };
    [a.lanes, b.lanes, c.lanes] = [
      [lane(1, null, 0)],
      [{ ...lane(2, 900, 1), limits: [ofKey] }],
      [lane(0, 400, 3)],
    ];
    const all = {
      ...lane(3, 400, 4),
      waiting: { interactive: 3, standard: 0, batch: 3 },
      limits: [ofKey, { ...lane(0, 0, 0).limits[0], waiting: 2 }],
    };
    let found: readonly LiveLane[] = [];
    for (let turn = 0; turn < 20 && !isDeepStrictEqual(found, [all]); turn += 1)
      found = (await b.fleet.read(everybody())).lanes;
    assert.deepEqual(found, [all]);
  });

  it('of one key is that of its requests alone, at all gateways', async () => {
    const [a, b, c] = gateways as [Gateway, Gateway, Gateway];
    a.flows = [of('anne', flow('first', 1, 300, 0), 'new'), of('anne', flow('first', 5, 900, 2))];
    b.flows = [of('anne', flow('first', 0, 0, 1), 'new')];
    await shows(c, [flow('first', 1, 300, 1)], { organizationId, userId: undefined, keyId: 'new' });
    await shows(c, [], { organizationId, userId: 'ben', keyId: 'new' });
    await shows(c, [flow('first', 6, 900, 3)]);
  });

  it('follows what changes, and forgets what is over', async () => {
    const [a, b, c] = gateways as [Gateway, Gateway, Gateway];
    a.flows = [of('anne', flow('first', 1, 300, 0))];
    await shows(b, [flow('first', 1, 300, 0)]);
    a.flows = [of('anne', flow('first', 0, 0, 1))];
    c.flows = [of('anne', flow('first', 0, 0, 1))];
    await shows(b, [flow('first', 0, 0, 2)]);
    [a.flows, c.flows] = [[], []];
    await shows(b, []);
  });

  it('keeps the last answer of a slow gateway, and drops that of a stopped one', async () => {
    const [a, b] = gateways as [Gateway, Gateway, Gateway];
    a.flows = [of('anne', flow('first', 0, 0, 1))];
    await shows(b, [flow('first', 0, 0, 1)]);
    await a.fleet.stop();
    await shows(b, [flow('first', 0, 0, 1)]);
    b.shiftMs += 5_000;
    await shows(b, []);
  });

  it('leaves no key without readers, and expires after the last read', async () => {
    const [a, b] = gateways as [Gateway, Gateway, Gateway];
    const key = `${prefixOf(organizationId)}${organizationId}:flows:b:`;
    a.flows = [of('anne', flow('first', 0, 0, 1))];
    assert.equal(await watched.run(['EXISTS', key], key), 0);
    await shows(b, [flow('first', 0, 0, 1)]);
    const leftMs = Number(await watched.run(['PTTL', key], key));
    assert.ok(leftMs > 0 && leftMs <= 10_000, `${leftMs} ms`);
  });

  it('is asked for once by concurrent readers', async () => {
    const [, b] = gateways as [Gateway, Gateway, Gateway];
    let asked = 0;
    const unsubscribe = await watched.subscribe('relay:flows', () => {
      asked += 1;
    });
    await Promise.all(Array.from({ length: 50 }, () => b.fleet.read(everybody())));
    assert.equal(asked, 2);
    await unsubscribe();
  });
});
