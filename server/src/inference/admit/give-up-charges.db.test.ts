import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { limitMetrics } from '@relay/contract';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { type AdmissionDesk, createDesk } from '../../admission/desk.ts';
import type { AdmissionEngine } from '../../admission/engine.ts';
import { relayTo } from '../../admission/line.ts';
import { createLocalCooldowns } from '../../admission/local-cooldowns.ts';
import { createRedisEngine } from '../../admission/redis/engine.ts';
import { createScripts } from '../../admission/redis/scripts.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { endpoint, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import type { LimitPolicy } from '../../domain/snapshot.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { nothingAside } from '../../kit/set-aside.fixture.ts';
import { protocols } from '../../protocols/index.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../../store/redis/shards.ts';
import type { Exchange, RoutedRequest } from '../exchange.ts';
import { askFor } from './ask.ts';
import { giveUpCharges } from './give-up-charges.ts';

const log = createLog('silent');
const ACTUAL = { dispatched: true, tokens: 12, spendMicros: 0 };
const POLICIES: LimitPolicy[] = limitMetrics.map((metric) => ({
  id: metric,
  scopeType: 'global',
  scopeId: null,
  metric,
  period: METRICS[metric].held ? 'none' : 'minute',
  limitValue: 1_000,
  enabled: true,
}));

describe('charges given up while a guardrail checks the response', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let engine: AdmissionEngine;
  let desk: AdmissionDesk;
  let organizationId: string;

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log, commandTimeoutMs: 10_000 });
    await redis.whenReady(60_000);
    engine = createRedisEngine({
      aside: nothingAside,
      scripts: createScripts(redis),
      gatewayId: 'gateway',
      line: relayTo(() => desk),
    });
    const channel = { announce: () => undefined, subscribe: () => undefined };
    desk = createDesk({
      engine,
      local: createLocalCooldowns({ clock: systemClock, channel }),
      append: () => assert.fail('it has a lease'),
      journal: { draft: () => undefined, settlement: () => undefined },
      openings: async () => [],
      clock: systemClock,
      log,
    });
  });
  beforeEach(() => {
    organizationId = randomUUIDv7();
  });
  after(async () => {
    await desk.stop(1_000);
    await redis.close();
    await server.remove();
  });

  function request() {
    const organization = snapshot({
      providers: [provider('p')],
      endpoints: [endpoint('e', 'p', 'm')],
      limitPolicies: POLICIES,
    });
    const route = routingTableOf(organization).resolve('m');
    const candidate = route?.members[0]?.candidate;
    assert.ok(route && candidate);
    const caller = { organizationId, userId: 'u', keyId: null, keyPolicies: [] };
    const exchange = {
      requestId: randomUUIDv7(),
      snapshot: organization,
      caller,
      protocol: protocols.chat,
      waitMs: 0,
      reservation: null,
      attempts: [],
    } as unknown as Exchange;
    const estimate = { inputTokens: 40, outputTokens: 60 };
    const body = { model: 'm', streaming: false } as RoutedRequest['body'];
    return { exchange, candidate, routed: { body, route, typicalOutputTokens: 256, estimate } };
  }

  it('leave the actual usage in the windows and no unit held, and settling later changes nothing', async () => {
    const { exchange, candidate, routed } = request();
    const ask = askFor({ waitersMax: 1 }, exchange, routed, [candidate], {
      release: null,
      mayWait: true,
      reservations: [],
    });
    assert.equal((await desk.admit(ask)).kind, 'admitted');
    const policies = (ask.candidates[0]?.charges ?? []).map(({ policy }) => policy);
    const amounts = async () => {
      const usages = await engine.usage(organizationId, policies);
      return Object.fromEntries(usages.map(({ policyId, used, reserved }) => [policyId, used + reserved]));
    };
    // Without a price nothing is charged to the limit on spend.
    assert.deepEqual(await amounts(), { requests: 1, tokens: 100, concurrency: 1 });

    // Neither a cooldown of the endpoint nor other waiters delay it.
    await engine.penalize(organizationId, 'e', 60_000);
    await giveUpCharges({ desk }, exchange, routed, ACTUAL);
    assert.deepEqual(await amounts(), { requests: 1, tokens: 12, concurrency: 0 });
    assert.deepEqual(desk.counts(), { waiting: 0, dispatched: 1 });

    desk.settle(organizationId, exchange.requestId, ACTUAL, 'the record');
    await desk.stop(1_000);
    assert.deepEqual(await amounts(), { requests: 1, tokens: 12, concurrency: 0 });
    const stream = (await redis.run([
      'XRANGE',
      usageStreamOf(prefixOf(organizationId)),
      '-',
      '+',
    ])) as unknown[];
    assert.equal(stream.length, 1);
    const leases = `${prefixOf(organizationId)}leases`;
    assert.equal(await redis.run(['HEXISTS', leases, exchange.requestId]), 0);
  });
});
