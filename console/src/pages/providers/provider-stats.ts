import type { EndpointStats } from '@relay/contract';
import type { FailedCounts } from '../../parts/error-share.tsx';

/** What the endpoints of a provider did together. Percentiles do not add up, so there are none. */
export interface ProviderStats extends FailedCounts {
  readonly series: readonly number[];
  readonly costMicros: number;
}

export const NO_STATS: ProviderStats = {
  requests: 0,
  failed: 0,
  rejected: 0,
  errors: [],
  series: [],
  costMicros: 0,
};

/** The sums over endpoints, by provider. */
export function statsByProvider(endpoints: readonly EndpointStats[]): ReadonlyMap<string, ProviderStats> {
  const sums = new Map<string, ProviderStats>();
  for (const { provider_id: id, cost_micros: costMicros, ...stats } of endpoints)
    sums.set(id, sumOf(sums.get(id) ?? NO_STATS, { ...stats, costMicros }));
  return sums;
}

/** All providers together. */
export function allOf(providers: readonly ProviderStats[]): ProviderStats {
  return providers.reduce(sumOf, NO_STATS);
}

function sumOf(sum: ProviderStats, more: ProviderStats): ProviderStats {
  const [long, short] =
    sum.series.length >= more.series.length ? [sum.series, more.series] : [more.series, sum.series];
  const codes = new Map(sum.errors.map(({ error_code: code, requests }) => [code, requests]));
  for (const { error_code: code, requests } of more.errors)
    codes.set(code, (codes.get(code) ?? 0) + requests);
  return {
    requests: sum.requests + more.requests,
    failed: sum.failed + more.failed,
    rejected: sum.rejected + more.rejected,
    errors: [...codes]
      .map(([code, requests]) => ({ error_code: code, requests }))
      .toSorted((a, b) => b.requests - a.requests),
    series: long.map((count, place) => count + (short[place] ?? 0)),
    costMicros: sum.costMicros + more.costMicros,
  };
}
