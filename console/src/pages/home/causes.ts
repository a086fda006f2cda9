import type { Endpoint, FailureCause } from '@relay/contract';
import type { TimeRange } from '../../time-range/time-range.ts';

/**
 * Causes with one sentence and one action, as those of two endpoints of one provider, are one for the reader. What they differ in is null.
 * The most frequent first.
 */
export function mergeCauses(causes: readonly FailureCause[]): readonly FailureCause[] {
  const alike = Map.groupBy(causes, ({ error_code: code, summary, action, limited_by: limit }) =>
    JSON.stringify([code, summary, action?.kind, action?.resource_id, limit?.policy_id]),
  );
  return [...alike.values()].map((group) => group.reduce(merged)).toSorted((a, b) => b.requests - a.requests);
}

function merged(a: FailureCause, b: FailureCause): FailureCause {
  const [latest, other] = a.last_at >= b.last_at ? [a, b] : [b, a];
  const isFirst = other.first_at < latest.first_at;
  const shared = (name: 'provider_id' | 'endpoint_id' | 'lane_id' | 'guardrail_id') =>
    a[name] === b[name] ? a[name] : null;
  return {
    ...latest,
    requests: a.requests + b.requests,
    first_at: isFirst ? other.first_at : latest.first_at,
    provider_id: shared('provider_id'),
    endpoint_id: shared('endpoint_id'),
    lane_id: shared('lane_id'),
    guardrail_id: shared('guardrail_id'),
  };
}

/** When a cause happened: it still does since a moment, it did for a time, or only once. */
export type CauseTime =
  | { readonly kind: 'since'; readonly atMs: number; readonly isOlder: boolean }
  | { readonly kind: 'between' }
  | { readonly kind: 'once' };

const RECENT_MS = 15 * 60_000;
const ONE_MOMENT_MS = 60_000;
/** Of the range: what failed so early in it may have begun before. */
const EDGE_SHARE = 0.02;

export function timeOf(
  { first_at: first, last_at: last }: Pick<FailureCause, 'first_at' | 'last_at'>,
  { from, to }: Pick<TimeRange, 'from' | 'to'>,
  nowMs: number,
): CauseTime {
  const [firstMs, lastMs, fromMs] = [Date.parse(first), Date.parse(last), Date.parse(from)];
  if (lastMs - firstMs < ONE_MOMENT_MS) return { kind: 'once' };
  if (nowMs - lastMs > RECENT_MS) return { kind: 'between' };
  const edgeMs = (Date.parse(to) - fromMs) * EDGE_SHARE;
  return { kind: 'since', atMs: firstMs, isOlder: firstMs - fromMs < edgeMs };
}

/** When a cause ends by itself: its limit resets, or Relay tries its endpoint again. */
export interface CauseEnd {
  readonly kind: 'resets' | 'retries';
  readonly atMs: number;
}

export function endOf(
  { endpoint_id: endpointId, limited_by: limit }: Pick<FailureCause, 'endpoint_id' | 'limited_by'>,
  endpoints: readonly Pick<Endpoint, 'id' | 'cooldown_until'>[],
  nowMs: number,
): CauseEnd | null {
  const cooldown = endpoints.find(({ id }) => id === endpointId)?.cooldown_until ?? null;
  const at = limit?.resets_at ?? cooldown;
  if (at === null || Date.parse(at) <= nowMs) return null;
  return { kind: limit?.resets_at == null ? 'retries' : 'resets', atMs: Date.parse(at) };
}
