import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import type { TestContext } from 'node:test';
import { startRedis } from '@relay/testbed';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { nothingAside } from '../../kit/set-aside.fixture.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../../store/redis/shards.ts';
import { SOMEBODY } from '../ask.fixture.ts';
import { windowStartMs } from '../calendar-window.ts';
import { deskParts } from '../desk.fixture.ts';
import { type AdmissionDesk, createDesk } from '../desk.ts';
import type { AdmissionEngine, DeskAsk, Opening } from '../engine.ts';
import { relayTo } from '../line.ts';
import { createRedisEngine } from './engine.ts';
import type { EpochStore } from './epochs.ts';
import { createScripts } from './scripts.ts';

const log = createLog('silent');
const LIMIT = 10;
type PolicyParts = Pick<AppliedLimit, 'metric' | 'period'> & Partial<Pick<AppliedLimit, 'limit'>>;
export const policy = (id: string, over: PolicyParts): AppliedLimit => ({
  id,
  limit: LIMIT,
  counts: EVERY_REQUEST,
  ...over,
});
export const MINUTE = policy('minute', { metric: 'requests', period: 'minute' });
export const DAY = policy('day', { metric: 'requests', period: 'day' });
export const UNITS = policy('units', { metric: 'concurrency', period: 'none' });
export const USED = { dispatched: true, tokens: 1, spendMicros: 1 };
/** Longer than a shard stays closed, on a busy machine. */
const REBUILT_MS_MAX = 30_000;

/** What a replica has that stopped following here. */
export const SAVE = `for _, key in ipairs(redis.call('KEYS', 'relay:{*')) do redis.call('COPY', key, 'saved:' .. key, 'REPLACE') end`;
/** That replica takes over. */
export const FALL_BACK = `for _, key in ipairs(redis.call('KEYS', 'relay:{*')) do redis.call('DEL', key) end
for _, key in ipairs(redis.call('KEYS', 'saved:*')) do redis.call('RENAME', key, string.sub(key, 7)) end`;

export interface Gateway {
  readonly desk: AdmissionDesk;
  readonly engine: AdmissionEngine;
}

export interface Fleet {
  readonly redis: Redis;
  readonly gateways: readonly [Gateway, Gateway];
  /** By shard, in the order in which they were started. */
  readonly epochs: Map<number, number[]>;
  /** Requests that a worker has written: when each was dispatched. */
  readonly ledger: Map<string, number>;
  /** Whether the ledger cannot be read. */
  readonly away: { ledger: boolean };
  /** Brings what is in the stream to the ledger. */
  work(): Promise<void>;
  ask(limits: readonly AppliedLimit[], over?: Partial<DeskAsk>): DeskAsk;
  /** Asks until the shard is open. Returns the kind of the answer, or fails with another error than 503. */
  whenOpen(gateway: Gateway, ask: DeskAsk): Promise<string>;
  stream(): Promise<string[]>;
  used(limit: AppliedLimit): Promise<number>;
}

export async function startFleet(test: TestContext): Promise<Fleet> {
  const server = await startRedis();
  const redis = createRedis({ url: server.url, clock, log, commandTimeoutMs: 5_000 });
  await redis.whenReady(60_000);
  const organizationId = randomUUIDv7();
  const epochs = new Map<number, number[]>();
  const ledger = new Map<string, number>();
  const away = { ledger: false };
  const gateways = ['one', 'two'].map((id) => gatewayOf(id, { redis, epochs, ledger, away, organizationId }));
  const [one, two] = gateways;
  assert.ok(one !== undefined && two !== undefined);
  test.after(async () => {
    for (const { desk } of gateways) await desk.stop(1_000);
    await redis.close();
    await server.remove();
  });
  const key = usageStreamOf(prefixOf(organizationId));

  async function stream(): Promise<string[]> {
    const entries = (await redis.run(['XRANGE', key, '-', '+'])) as [string, string[]][];
    return entries.flatMap(([, fields]) => fields.filter((_, index) => index % 2 === 1));
  }

  return {
    redis,
    gateways: [one, two],
    epochs,
    ledger,
    away,
    stream,
    async work() {
      for (const operationId of await stream()) ledger.set(operationId, Date.now());
      await redis.run(['XTRIM', key, 'MAXLEN', '0']);
    },
    ask(limits, over = {}) {
      const charges = limits.map((each) => ({ policy: each, cost: 1 }));
      return {
        organizationId,
        operationId: randomUUIDv7(),
        queue: 'lane:key',
        waitersMax: 10,
        ...SOMEBODY,
        candidates: [{ endpointId: 'e', paced: false, charges }],
        selection: 'soonest',
        waitMsMax: 0,
        draft: 'draft',
        ...over,
      };
    },
    async whenOpen({ desk }, ask) {
      const deadlineMs = Date.now() + REBUILT_MS_MAX;
      for (;;) {
        const answer = await desk.admit(ask).catch((error: { code?: string }) => {
          if (error.code !== 'policy_unavailable' || Date.now() > deadlineMs) throw error;
          return null;
        });
        if (answer !== null) return answer.kind;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async used(limit) {
      const [usage] = await one.engine.usage(organizationId, [limit]).catch(() => []);
      return usage?.used ?? Number.NaN;
    },
  };
}

export function gatewayOf(
  gatewayId: string,
  parts: Pick<Fleet, 'redis' | 'epochs' | 'ledger' | 'away'> & { readonly organizationId: string },
): Gateway {
  const { redis, epochs, ledger, away, organizationId } = parts;
  const epochOf = (shard: number) => epochs.get(shard)?.at(-1) ?? 0;
  const store: EpochStore = {
    read: async (shard) => ({ epoch: epochOf(shard), isRecent: true }),
    async raise(shard, from, to) {
      if (epochOf(shard) !== from) return false;
      epochs.set(shard, [...(epochs.get(shard) ?? []), to]);
      return true;
    },
  };
  const engine = createRedisEngine({
    aside: nothingAside,
    scripts: createScripts(redis),
    gatewayId,
    line: relayTo(() => desk),
    epochs: {
      store,
      organizations: async () => [organizationId],
      restarted: (restarted) => desk.shardRestarted(restarted),
      random: Math.random,
      demandOwn: redis.demandOwn,
      log,
    },
  });
  const desk: AdmissionDesk = createDesk({
    ...deskParts(),
    engine,
    posted: async (ids) => new Set(ids.filter((id) => ledger.has(id))),
    async openings(_organizationId, limits) {
      if (away.ledger) throw new Error('the ledger is away');
      return limits.flatMap((limit) => openingsOf(limit, ledger));
    },
  });
  desk.start();
  return { desk, engine };
}

function openingsOf(limit: AppliedLimit, ledger: ReadonlyMap<string, number>): Opening[] {
  if (limit.period === 'day')
    return [{ policy: limit, startMs: windowStartMs('day', Date.now()), amount: ledger.size }];
  if (limit.period !== 'minute') return [];
  const uses = [...ledger.values()].map((startMs) => ({ policy: limit, startMs, amount: 1 }));
  return [{ policy: limit, startMs: Date.now() - 60_000, amount: 0 }, ...uses];
}

/** Lets requests in and settles some of them. Returns the operations in flight. */
export async function serve({ gateways, ask }: Fleet, count: number, settled: number): Promise<DeskAsk[]> {
  const asks: DeskAsk[] = [];
  for (let index = 0; index < count; index += 1) {
    const { desk } = gateways[index % 2 === 0 ? 0 : 1];
    const each = ask([MINUTE, DAY, UNITS]);
    assert.equal((await desk.admit(each)).kind, 'admitted');
    if (index < settled) desk.settle(each.organizationId, each.operationId, USED, each.operationId);
    else asks.push(each);
  }
  return asks;
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + REBUILT_MS_MAX;
  while (!(await holds())) {
    assert.ok(Date.now() < deadlineMs, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
