import type { Random } from '@relay/testbed/random';
import { policy } from '../../domain/limits/limits.fixture.ts';
import { endpoint, lane, member, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import type { LimitPolicy, OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { ProviderManners } from './provider.fixture.ts';

/** What one run simulates, drawn from its seed. */
export interface World {
  readonly organizations: ReadonlyMap<string, OrganizationSnapshot>;
  readonly gateways: number;
  readonly workers: number;
  /** How long clients send, and how long everything then has to end. */
  readonly activeMs: number;
  readonly betweenMs: number;
  readonly manners: ProviderManners;
  /** How far the clocks of processes may be off. */
  readonly skewMs: number;
  /** Chances in a hundred: a client that leaves, a stream, a message to a waiter that is lost or comes twice. */
  readonly leaves: number;
  readonly streams: number;
  readonly losesWakes: number;
  readonly repeatsWakes: number;
}

/** Everything that is left over has ended by then: leases, claims of dead workers, files of dead gateways. */
export const DRAIN_MS = 130_000;

export function randomWorld(random: Random): World {
  const ids = ['org-a', 'org-b'].slice(0, random.integer(1, 2));
  const isCalm = random.integer(1, 3) === 1;
  const badly = (most: number) => (isCalm ? 0 : random.integer(0, most));
  return {
    organizations: new Map(ids.map((id) => [id, randomOrganization(random, id)])),
    gateways: random.integer(1, 3),
    workers: random.integer(1, 2),
    activeMs: random.integer(6_000, 18_000),
    betweenMs: random.pick([120, 300, 700]),
    manners: {
      fails: badly(8),
      throttles: badly(4),
      hangs: badly(3),
      cuts: badly(6),
      refuses: badly(4),
      latencyMsMax: random.pick([100, 600, 2_500]),
      frameMs: random.pick([20, 120, 120, 4_400]),
    },
    skewMs: random.pick([0, 300, 2_000]),
    leaves: random.pick([0, 15, 40]),
    streams: random.pick([0, 30, 100]),
    losesWakes: random.pick([0, 0, 10]),
    repeatsWakes: random.pick([0, 0, 20]),
  };
}

const BUDGETS_MS = [0, 1_000, 4_000, 12_000];

function randomOrganization(random: Random, organizationId: string): OrganizationSnapshot {
  const endpoints = [1, 2].slice(0, random.integer(1, 2)).map((number) =>
    endpoint(`e${number}`, `p${number}`, 'model', {
      maxConcurrency: random.pick([null, null, 2, 5]),
      maxLatencyMs: 60_000,
      pacing: random.integer(1, 4) > 1,
    }),
  );
  const priorities = random.pick([['standard'], ['interactive', 'batch']] as const);
  const lanes = priorities.map((priority, index) =>
    lane(`lane${index}`, {
      defaultMaxWaitMs: random.pick(BUDGETS_MS),
      priority,
      selection: random.pick(['preferred', 'soonest'] as const),
    }),
  );
  const price = {
    inputCostMicrosPer1mTokens: 1_000_000,
    outputCostMicrosPer1mTokens: 3_000_000,
    cachedInputCostMicrosPer1mTokens: null,
    flatRequestCostMicros: 0,
  };
  return {
    ...snapshot({
      providers: [1, 2].map((number) =>
        provider(`p${number}`, { authMode: 'none', baseUrl: `https://e${number}.example.com/v1` }),
      ),
      endpoints,
      lanes,
      memberships: lanes.flatMap(({ id }) => endpoints.map((each, rank) => member(id, each.id, rank))),
      limitPolicies: randomPolicies(random),
      pricing: new Map(endpoints.map(({ id }) => [id, price])),
    }),
    organizationId,
  };
}

const POLICIES: readonly ((random: Random) => Partial<LimitPolicy>)[] = [
  (random) => ({ metric: 'requests', period: 'second', limitValue: random.integer(2, 6) }),
  (random) => ({ metric: 'requests', period: 'minute', limitValue: random.integer(5, 50) }),
  (random) => ({ metric: 'tokens', period: 'minute', limitValue: random.integer(600, 4_000) }),
  (random) => ({ metric: 'requests', period: 'hour', limitValue: random.integer(15, 200) }),
  (random) => ({ metric: 'tokens', period: 'day', limitValue: random.integer(1_500, 12_000) }),
  (random) => ({ metric: 'spend', period: 'month', limitValue: random.integer(3_000, 25_000) }),
  (random) => ({ metric: 'concurrency', period: 'none', limitValue: random.integer(2, 8) }),
];

function randomPolicies(random: Random): LimitPolicy[] {
  return Array.from({ length: random.integer(0, 4) }, (_, index) => {
    const scoped = random.integer(1, 3) === 1 ? ({ scopeType: 'endpoint', scopeId: 'e1' } as const) : {};
    return policy(`policy${index}`, { ...random.pick(POLICIES)(random), ...scoped });
  });
}
