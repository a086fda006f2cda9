import { type LimitPeriod, limitMetrics } from '@relay/contract';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { amountOf, isUnitCost, METRICS } from '../../domain/limits/metric.ts';
import type { CandidateAsk } from '../engine.ts';

/** A repeatable generator: the same seed gives the same history on every machine. */
export function createRandom(seed: number): {
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
} {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    integer,
    pick<T>(items: readonly T[]): T {
      const item = items[integer(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}

export type Random = ReturnType<typeof createRandom>;

/** The setting of one history: organizations with overlapping limits and endpoints that share some of them. */
export interface World {
  readonly organizationIds: readonly string[];
  policies: AppliedLimit[];
  readonly queues: readonly string[];
  readonly endpoints: readonly string[];
}

const PERIODS: readonly LimitPeriod[] = ['second', 'minute', 'minute', 'hour', 'day', 'month'];

export function randomWorld(random: Random, name: string): World {
  const policies = Array.from({ length: random.integer(2, 7) }, (_, index) =>
    randomPolicy(random, `${name}-p${index}`),
  );
  return {
    organizationIds: [`${name}-a`, `${name}-b`],
    policies,
    queues: ['lane:key1', 'lane:key2', 'other:key1'],
    endpoints: ['e1', 'e2', 'e3'],
  };
}

export function randomPolicy(random: Random, id: string): AppliedLimit {
  const metric = random.pick(limitMetrics);
  const { held } = METRICS[metric];
  const limit = held
    ? random.integer(1, 6)
    : isUnitCost(metric)
      ? random.integer(1, 40)
      : random.integer(50, 3_000);
  return { id, metric, period: held ? 'none' : random.pick(PERIODS), limit, counts: EVERY_REQUEST };
}

/** Candidates that share some limits, as those of a lane do. */
export function randomCandidates(random: Random, world: World): CandidateAsk[] {
  const tokens = random.integer(1, 120) * (random.integer(1, 30) === 1 ? 40 : 1);
  return Array.from({ length: random.integer(1, 3) }, (_, index) => ({
    endpointId: world.endpoints[index] ?? 'e1',
    paced: random.integer(1, 4) > 1,
    charges: world.policies
      .filter((_policy, position) => position < 2 || position % 3 === index)
      .map((policy) => ({
        policy,
        cost: amountOf(policy.metric, { tokens, spendMicros: tokens * (index + 1) }),
      })),
  }));
}
