import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { SOMEBODY } from './ask.fixture.ts';
import { deskParts } from './desk.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import type { DeskAsk } from './engine.ts';
import { relayTo } from './line.ts';
import { createRedisEngine } from './redis/engine.ts';
import { createScripts } from './redis/scripts.ts';
import type { WaitEnd } from './waiters.ts';

const WAITERS = 500;
const PORTION = 50;
const FROZEN_MS = 800;
const log = createLog('silent');

describe('those who wait while Redis is away for less than their wait budget', () => {
  let server: PrivateRedis;
  const gateways: { redis: Redis; desk: AdmissionDesk }[] = [];

  before(async () => {
    server = await startRedis();
    for (const gatewayId of ['one', 'two']) {
      const redis = createRedis({ url: server.url, clock, log });
      await redis.whenReady(60_000);
      const engine = createRedisEngine({
        aside: nothingAside,
        scripts: createScripts(redis),
        gatewayId,
        line: relayTo(() => desk),
      });
      const desk: AdmissionDesk = createDesk({ ...deskParts(), engine });
      desk.start();
      gateways.push({ redis, desk });
    }
  });
  after(async () => {
    for (const { redis, desk } of gateways) {
      await desk.stop(1_000);
      await redis.close();
    }
    await server.remove();
  });

  function ask(organizationId: string, operationId: string): DeskAsk {
    const limit = { metric: 'requests', period: 'second', counts: EVERY_REQUEST } as const;
    const policy = { id: 'p', ...limit, limit: 100 };
    return {
      organizationId,
      operationId,
      queue: 'lane:key',
      waitersMax: 2 * WAITERS,
      ...SOMEBODY,
      candidates: [{ endpointId: 'e', paced: true, charges: [{ policy, cost: 1 }] }],
      selection: 'soonest',
      waitMsMax: 15_000,
      draft: '{}',
    };
  }

  async function crowd(organizationId: string): Promise<Promise<WaitEnd>[]> {
    const waits: Promise<WaitEnd>[] = [];
    const enter = async (index: number) => {
      const { desk } = gateways[index % gateways.length] ?? assert.fail();
      const reply = await desk.admit(ask(organizationId, `${organizationId}-${index}`));
      waits.push(reply.kind === 'wait' ? reply.ended : Promise.resolve<WaitEnd>(reply as WaitEnd));
    };
    // On a busy machine, all of them at the same time would take longer than a call may.
    for (let from = 0; from < WAITERS; from += PORTION)
      await Promise.all(Array.from({ length: PORTION }, (_, index) => enter(from + index)));
    return waits;
  }

  for (const [what, away, back] of [
    ['frozen', () => server.pause(), () => server.resume()],
    ['cut off', () => cutOff(), () => undefined],
  ] as const) {
    it(`are delayed and not failed when it is ${what}`, async (test) => {
      const waits = await crowd(what);
      const waiting = gateways.reduce((sum, { desk }) => sum + desk.counts().waiting, 0);
      assert.ok(waiting > WAITERS / 2, `${waiting} wait`);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await away();
      await new Promise((resolve) => setTimeout(resolve, FROZEN_MS));
      await back();
      const ends: Record<string, number> = {};
      for (const { kind } of await Promise.all(waits)) ends[kind] = (ends[kind] ?? 0) + 1;
      test.diagnostic(JSON.stringify(ends));
      assert.deepEqual(ends, { admitted: WAITERS });
    });
  }

  /** Closes every connection: messages and replies in flight are lost. */
  async function cutOff(): Promise<void> {
    const { redis } = gateways[0] ?? assert.fail();
    for (const type of ['pubsub', 'normal'])
      await redis.run(['CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'no']).catch(() => undefined);
  }
});
