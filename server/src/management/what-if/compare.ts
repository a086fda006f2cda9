import {
  WHAT_IF_LISTED_MAX,
  type WhatIf,
  type WhatIfFigures,
  type WhatIfPart,
  type WhatIfRejecting,
} from '@relay/contract';
import { counted, dollarWords, durationWords } from '@relay/contract/words';
import type { Limit } from '../../domain/limits/limit.ts';
import { limitsInForce } from '../../domain/limits/limits.ts';
import type { ReplayedConfiguration } from './replay.ts';
import {
  type CallerTally,
  createCostTally,
  type EndpointTally,
  type Tally,
  type TallyPart,
  wireCost,
} from './tally.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const MONTH_MS = 30 * DAY_MS;
/** From less than this, nothing is projected. */
const PROJECTED_MS_MIN = DAY_MS;
type Part = Pick<WhatIfPart, 'rejected' | 'wait_ms' | 'cost_micros' | 'unpriced_requests'>;

/** One of the two replays. */
export interface Side {
  readonly configuration: ReplayedConfiguration;
  readonly tally: Tally;
}

export interface Compared {
  readonly before: Side;
  readonly after: Side;
  /** The time that the requests are of. */
  readonly spanMs: number;
}

export function compareSides({
  before,
  after,
  spanMs,
}: Compared): Pick<WhatIf, 'summary' | 'before' | 'after' | 'rejecting' | 'keys' | 'limits' | 'endpoints'> {
  const figures = { before: before.tally.figures('all'), after: after.tally.figures('all') };
  return {
    summary: summaryOf(figures.before, figures.after, spanMs),
    ...figures,
    rejecting: rejectingIn(after, 'all'),
    keys: callersOf(before.tally.callers, after.tally.callers),
    limits: limitsOf(before, after),
    endpoints: endpointsOf(before, after),
  };
}

interface ComparedEdit extends Compared {
  readonly history: Tally;
  /** How many requests the edited limit applies to. */
  readonly requests: number;
}

/** The requests that the edited limit applies to, on their own. */
export function compareEdited({
  before,
  after,
  spanMs,
  history,
  requests,
}: ComparedEdit): NonNullable<WhatIf['limit']> {
  const figures = { before: before.tally.figures('edited'), after: after.tally.figures('edited') };
  return {
    requests,
    summary: summaryOf(figures.before, figures.after, spanMs),
    history: history.figures('edited'),
    ...figures,
    rejecting: rejectingIn(after, 'edited'),
  };
}

/** "387 fewer rejections per week, p95 wait +1.7 s, +$38 a month". */
export function summaryOf(before: WhatIfFigures, after: WhatIfFigures, spanMs: number): string {
  const isProjected = spanMs >= PROJECTED_MS_MIN;
  const scaled = (difference: number, perMs: number) =>
    isProjected ? (difference * perMs) / spanMs : difference;
  const parts: string[] = [];
  const rejected = Math.round(scaled(after.rejected - before.rejected, WEEK_MS));
  if (rejected !== 0) {
    const more = rejected > 0 ? 'more' : 'fewer';
    const often = isProjected ? ' per week' : '';
    parts.push(`${counted(Math.abs(rejected), `${more} rejection`)}${often}`);
  }
  const waitMs = after.wait_ms_p95 - before.wait_ms_p95;
  if (waitMs !== 0) parts.push(`p95 wait ${signOf(waitMs)}${durationWords(Math.abs(waitMs))}`);
  const fallbacks = Math.round(scaled(after.fallbacks - before.fallbacks, WEEK_MS));
  if (fallbacks !== 0) {
    const more = fallbacks > 0 ? 'more' : 'fewer';
    parts.push(`${counted(Math.abs(fallbacks), `${more} fallback`)}${isProjected ? ' per week' : ''}`);
  }
  const micros = Math.round(scaled(microsMore(before, after), MONTH_MS));
  // Other requests without a price move spend by an amount that is not known.
  if (after.unpriced_requests !== before.unpriced_requests)
    parts.push(`unknown spend: ${counted(after.unpriced_requests, 'request')} at endpoints without a price`);
  else if (micros !== 0)
    parts.push(`${signOf(micros)}${dollarWords(rounded(Math.abs(micros)))}${isProjected ? ' a month' : ''}`);
  if (parts.length === 0) return 'No difference in rejections, waits, fallbacks or spend.';
  return isProjected ? parts.join(', ') : `${parts.join(', ')}, in ${durationWords(spanMs)} of requests`;
}

function signOf(difference: number): string {
  return difference < 0 ? '-' : '+';
}

/** To whole cents from a dollar on, and to two digits below it. */
function rounded(micros: number): number {
  return micros < 1_000_000
    ? Math.round(Number(micros.toPrecision(2)))
    : Math.round(micros / 10_000) * 10_000;
}

function callersOf(
  before: ReadonlyMap<string, CallerTally>,
  after: ReadonlyMap<string, CallerTally>,
): WhatIf['keys'] {
  const ids = new Set([...before.keys(), ...after.keys()]);
  const callers = [...ids].map((id) => {
    const known = before.get(id) ?? after.get(id);
    return {
      key_id: known?.keyId ?? null,
      user_id: known?.userId ?? null,
      before: partOf(before.get(id)),
      after: partOf(after.get(id)),
    };
  });
  return largestFirst(callers, ({ before: b, after: a }) => partDifferences(b, a));
}

/** In the order in which they matter to a caller, and to a lane. */
export function partDifferences(before: Part, after: Part): readonly number[] {
  return [
    Math.abs(after.rejected - before.rejected),
    Math.abs(after.wait_ms - before.wait_ms),
    Math.abs(microsMore(before, after)),
    Math.abs(after.unpriced_requests - before.unpriced_requests),
  ];
}

type Cost = Pick<WhatIfPart, 'cost_micros'>;

/** How much more is known to be spent. */
function microsMore(before: Cost, after: Cost): number {
  return (after.cost_micros ?? 0) - (before.cost_micros ?? 0);
}

function partOf(tally: CallerTally | undefined): WhatIfPart {
  const { served = 0, rejected = 0, waitMs = 0, cost = createCostTally() } = tally ?? {};
  return { served, rejected, wait_ms: waitMs, ...wireCost(cost) };
}

function limitsOf(before: Side, after: Side): WhatIf['limits'] {
  const [limitsBefore, limitsAfter] = [limitsById(before), limitsById(after)];
  const ids = new Set([...before.tally.limits.keys(), ...after.tally.limits.keys()]);
  const limits = [...ids].flatMap((id) => {
    const described = (limitsAfter.get(id) ?? limitsBefore.get(id))?.described;
    if (described === undefined) return [];
    const [b, a] = [before.tally.limits.get(id), after.tally.limits.get(id)];
    return [
      {
        policy_id: described.id,
        policy_kind: described.policy_kind,
        scope_type: described.scope_type,
        scope_id: described.scope_id,
        metric: described.metric,
        period: described.period,
        limit_before: limitsBefore.get(id)?.applied.limit ?? null,
        limit_after: limitsAfter.get(id)?.applied.limit ?? null,
        rejected_before: b?.rejected ?? 0,
        rejected_after: a?.rejected ?? 0,
        waited_before: b?.waited ?? 0,
        waited_after: a?.waited ?? 0,
      },
    ];
  });
  return largestFirst(limits, (limit) => [
    Math.abs(limit.rejected_after - limit.rejected_before),
    Math.abs(limit.waited_after - limit.waited_before),
  ]);
}

/** The limits that reject requests of a part, most rejections first. */
export function rejectingIn(side: Side, part: TallyPart): WhatIfRejecting[] {
  const rejectedBy = side.tally.rejectedBy(part);
  if (rejectedBy.size === 0) return [];
  const limits = limitsById(side);
  const rejecting = [...rejectedBy].flatMap(([id, requests]) => {
    const limit = limits.get(id);
    return limit === undefined ? [] : [rejectingOf(side, limit, requests)];
  });
  return rejecting.sort((a, b) => b.requests - a.requests).slice(0, WHAT_IF_LISTED_MAX);
}

function rejectingOf(
  { configuration: { snapshot } }: Side,
  { applied: { counts }, described }: Limit,
  requests: number,
): WhatIfRejecting {
  const { id, limit_value: limit, scope_type, scope_id, ...rule } = described;
  const scope = scope_id ?? '';
  const named = snapshot.lanes.get(scope) ?? snapshot.endpoints.get(scope) ?? snapshot.providers.get(scope);
  return {
    policy_id: id,
    ...rule,
    subject_id: counts.userId ?? counts.keyId ?? counts.teamId ?? null,
    scope_type,
    scope_id,
    scope_name: named?.name ?? null,
    limit,
    requests,
  };
}

function limitsById({ configuration: { snapshot, keys } }: Side): ReadonlyMap<string, Limit> {
  const keyPolicies = [...keys.values()].flatMap(({ policies }) => policies);
  return new Map(limitsInForce(snapshot, keyPolicies).map((limit) => [limit.applied.id, limit]));
}

function endpointsOf(before: Side, after: Side): WhatIf['endpoints'] {
  const ids = new Set([...before.tally.endpoints.keys(), ...after.tally.endpoints.keys()]);
  const nameOf = (id: string) =>
    (after.configuration.snapshot.endpoints.get(id) ?? before.configuration.snapshot.endpoints.get(id))
      ?.name ?? '';
  const endpoints = [...ids].map((id) => {
    return {
      endpoint_id: id,
      endpoint_name: nameOf(id),
      before: endpointPartOf(before.tally.endpoints.get(id)),
      after: endpointPartOf(after.tally.endpoints.get(id)),
    };
  });
  return largestFirst(endpoints, ({ before: b, after: a }) => [
    Math.abs(a.served - b.served),
    Math.abs(microsMore(b, a)),
    Math.abs(a.unpriced_requests - b.unpriced_requests),
  ]);
}

function endpointPartOf(tally: EndpointTally | undefined): WhatIf['endpoints'][number]['before'] {
  const { served = 0, cost = createCostTally() } = tally ?? {};
  return { served, ...wireCost(cost) };
}

/** Those that differ, by their first difference, then the second, and so on. */
export function largestFirst<T>(items: readonly T[], differences: (item: T) => readonly number[]): T[] {
  return items
    .map((item) => ({ item, by: differences(item) }))
    .filter(({ by }) => by.some((difference) => difference !== 0))
    .sort((a, b) => {
      const first = a.by.findIndex((difference, index) => difference !== b.by[index]);
      return first < 0 ? 0 : (b.by[first] ?? 0) - (a.by[first] ?? 0);
    })
    .slice(0, WHAT_IF_LISTED_MAX)
    .map(({ item }) => item);
}
