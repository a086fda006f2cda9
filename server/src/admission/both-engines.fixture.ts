import { randomUUIDv7 } from 'node:crypto';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import type { SetAside } from '../kit/set-aside.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { SOMEBODY } from './ask.fixture.ts';
import type { AdmissionAsk, AdmissionEngine, LineListener, Release } from './engine.ts';
import { createMemoryEngine } from './memory/engine.ts';
import { createRedisEngine } from './redis/engine.ts';
import { createScripts } from './redis/scripts.ts';

const START_MS = Date.UTC(2027, 0, 15, 12);

/** One engine under a clock of the test, with what it told. */
export interface Bench {
  readonly engine: AdmissionEngine;
  readonly released: Map<string, Release>;
  nowMs: number;
}

export type StartBench = (aside?: Pick<SetAside, 'note'>) => Bench;

/** The same test for both engines. The Redis engine takes the way through all rules, or the short one. */
export function benches(redis: () => Redis): readonly [string, StartBench][] {
  return [
    ['in memory', () => onMemory()],
    ['in Redis', (aside) => onRedis(redis(), aside ?? nothingAside, false)],
    ['in Redis, by all rules', (aside) => onRedis(redis(), aside ?? nothingAside, true)],
  ];
}

function onMemory(): Bench {
  return bench((nowMs, line) =>
    createMemoryEngine({
      clock: { nowMs },
      append: () => undefined,
      appendExpired: () => undefined,
      line,
    }),
  );
}

function onRedis(redis: Redis, aside: Pick<SetAside, 'note'>, inFull: boolean): Bench {
  const scripts = createScripts(redis);
  return bench((nowMs, line) =>
    createRedisEngine({ scripts, gatewayId: 'gateway', nowMs, line, aside, inFull: () => inFull }),
  );
}

function bench(create: (nowMs: () => number, line: LineListener) => AdmissionEngine): Bench {
  const released = new Map<string, Release>();
  const made = {
    released,
    nowMs: START_MS,
    engine: create(() => made.nowMs, {
      released: (operationId, release) => void released.set(operationId, release),
      next: () => undefined,
      missed: () => undefined,
    }),
  } as Bench;
  return made;
}

const DAILY = {
  id: 'day',
  metric: 'tokens',
  period: 'day',
  limit: 1_000,
  counts: EVERY_REQUEST,
} as const;
export const MINUTE = {
  id: 'm',
  metric: 'tokens',
  period: 'minute',
  limit: 1_000,
  counts: EVERY_REQUEST,
} as const;
export const UNITS = {
  id: 'u',
  metric: 'concurrency',
  period: 'none',
  limit: 2,
  counts: EVERY_REQUEST,
} as const;

const shards = new Set<string>();

/** In a shard that no other has: tests name their operations alike, and move the clock of the shard. */
export function newOrganization(): string {
  let organizationId: string;
  do organizationId = randomUUIDv7();
  while (shards.has(prefixOf(organizationId)));
  shards.add(prefixOf(organizationId));
  return organizationId;
}

/** An ask for 100 tokens and a unit. */
export function askOf(
  organizationId: string,
  operationId: string,
  over: Partial<AdmissionAsk> = {},
): AdmissionAsk {
  const charges = [
    { policy: DAILY, cost: 100 },
    { policy: MINUTE, cost: 100 },
    { policy: UNITS, cost: 1 },
  ];
  return {
    ...SOMEBODY,
    organizationId,
    operationId,
    queue: 'lane:key',
    waitersMax: 10,
    candidates: [{ endpointId: 'e', paced: false, charges }],
    selection: 'preferred',
    waitMsMax: 0,
    leaseMs: 20_000,
    draft: `draft of ${operationId}`,
    ...over,
  };
}

/** Admits, and starts the day's window at nothing where it is unknown. */
export async function admitted({ engine, nowMs }: Bench, ask: AdmissionAsk): Promise<string> {
  const answer = await engine.admit(ask);
  if (answer.kind !== 'rebuild') return answer.kind;
  const startMs = nowMs - (nowMs % 86_400_000);
  await engine.initialize(ask.organizationId, [{ policy: DAILY, startMs, amount: 0 }]);
  return (await engine.admit(ask)).kind;
}

/** Tokens of the day, tokens of the minute, units held. */
export async function usedIn({ engine }: Bench, organizationId: string): Promise<number[]> {
  return (await engine.usage(organizationId, [DAILY, MINUTE, UNITS])).map(({ used }) => used);
}
