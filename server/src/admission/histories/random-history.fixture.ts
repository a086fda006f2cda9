import { type LimitPeriod, limitMetrics } from '@relay/contract';
import type { Random } from '@relay/testbed/random';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { amountOf, isUnitCost, METRICS } from '../../domain/limits/metric.ts';
import type { LanePriority, LaneSelection } from '../../domain/snapshot.ts';
import type { CandidateAsk } from '../engine.ts';

export interface World {
  readonly organizationIds: readonly string[];
  /** Changed while the history continues. */
  policies: AppliedLimit[];
  readonly lanes: readonly Lane[];
  readonly callers: readonly string[];
  readonly mixedClasses: boolean;
  /** Wait budgets that clients have. */
  readonly budgetsMs: readonly number[];
  /** The mean time between two arrivals. */
  readonly betweenMs: number;
  /** One limit that every request takes the same from: order, shares and pace can be judged exactly. */
  readonly isPlain: boolean;
}

export interface Lane {
  readonly name: string;
  readonly priority: LanePriority;
  readonly selection: LaneSelection;
  readonly paced: boolean;
  readonly waitersMax: number;
  /** The positions of the limits that count for each of its candidates. */
  readonly candidates: readonly (readonly number[])[];
}

const PERIODS: readonly LimitPeriod[] = [
  'second',
  'minute',
  'minute',
  'minute',
  'hour',
  'day',
  'week',
  'month',
];
const PRIORITIES = ['interactive', 'standard', 'batch'] as const;
const BUDGETS_MS = [
  [5_000],
  [30_000],
  [0, 2_000, 30_000],
  [2_000, 30_000, 90_000],
  [0, 200, 30_000, 600_000],
];

export function randomWorld(random: Random, name: string): World {
  if (random.integer(1, 8) === 1) return crowdedWorld(random, name);
  const isPlain = random.integer(1, 3) === 1;
  const mixedClasses = random.integer(0, 1) === 1;
  const policies = isPlain
    ? [plainPolicy(random, `${name}-p0`)]
    : Array.from({ length: random.integer(1, 6) }, (_, index) => randomPolicy(random, `${name}-p${index}`));
  const lanes = Array.from({ length: random.integer(1, 4) }, (_, index): Lane => {
    const waitersMax = random.pick([3, 1_000, 1_000]);
    const common = { name: `lane${index}`, priority: mixedClasses ? random.pick(PRIORITIES) : 'standard' };
    if (isPlain)
      return { ...common, selection: 'soonest', paced: true, waitersMax: 1_000, candidates: [[0]] } as const;
    return {
      ...common,
      selection: random.pick(['preferred', 'soonest'] as const),
      paced: random.integer(1, 4) > 1,
      waitersMax,
      candidates: Array.from({ length: random.integer(1, 3) }, () =>
        [...policies.keys()].filter(() => random.integer(1, 3) > 1),
      ),
    };
  });
  return {
    organizationIds: [`${name}-a`, `${name}-b`].slice(0, random.integer(1, 2)),
    policies,
    lanes,
    callers: ['key1', 'key2', 'key3', 'key4'].slice(0, random.integer(1, 4)),
    mixedClasses,
    budgetsMs: random.pick(BUDGETS_MS),
    betweenMs: random.pick([20, 100, 400, 1_200]),
    isPlain,
  };
}

/** More interactive requests than a limit serves, and others that have time: who gets which share shows after a minute. */
function crowdedWorld(random: Random, name: string): World {
  const limit = random.integer(20, 90);
  return {
    organizationIds: [`${name}-a`],
    policies: [{ id: `${name}-p0`, metric: 'requests', period: 'minute', limit, counts: EVERY_REQUEST }],
    lanes: (['interactive', 'interactive', 'interactive', 'batch'] as const).map((priority, index) => ({
      name: `lane${index}`,
      priority,
      selection: 'soonest',
      paced: true,
      waitersMax: 1_000,
      candidates: [[0]],
    })),
    callers: ['key1', 'key2'],
    mixedClasses: true,
    budgetsMs: [30_000, 600_000],
    betweenMs: 400,
    isPlain: true,
  };
}

function plainPolicy(random: Random, id: string): AppliedLimit {
  const period = random.pick(['second', 'minute', 'minute'] as const);
  const limit = period === 'second' ? random.integer(1, 20) : random.integer(10, 240);
  return { id, metric: 'requests', period, limit, counts: EVERY_REQUEST };
}

function randomPolicy(random: Random, id: string): AppliedLimit {
  const metric = random.pick(limitMetrics);
  const { held } = METRICS[metric];
  const period = held ? 'none' : random.pick(PERIODS);
  return { id, metric, period, limit: randomLimit(random, metric, period), counts: EVERY_REQUEST };
}

function randomLimit(random: Random, metric: AppliedLimit['metric'], period: LimitPeriod): number {
  if (METRICS[metric].held) return random.integer(1, 8);
  const scale = period === 'second' ? 1 : period === 'minute' ? 10 : 40;
  return isUnitCost(metric) ? random.integer(1, 6) * scale : random.integer(100, 400) * scale;
}

/** The candidates of a lane, with what one request is charged there. */
export function candidatesOf(random: Random, { policies }: World, lane: Lane): CandidateAsk[] {
  // Some are expected to take nothing, and may take something all the same.
  const tokens =
    random.integer(1, 20) === 1 ? 0 : random.integer(1, 40) * (random.integer(1, 12) === 1 ? 8 : 1);
  return lane.candidates.map((positions, index) => {
    const spendMicros = random.integer(1, 6) === 1 ? 0 : tokens * (index + 1);
    return {
      endpointId: `${lane.name}-e${index}`,
      paced: lane.paced,
      charges: positions.flatMap((position) => {
        const policy = policies[position];
        if (policy === undefined) return [];
        return [{ policy, cost: amountOf(policy.metric, { tokens, spendMicros }) }];
      }),
    };
  });
}
