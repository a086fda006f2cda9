import type { EndpointStats } from '@relay/contract';
import type { FailedCounts } from './error-share.tsx';

/** What several endpoints did together. Percentiles do not add up, so there are none. */
export interface EndpointSums
  extends FailedCounts,
    Pick<EndpointStats, 'cost_micros' | 'metered_requests' | 'unpriced_requests'> {
  readonly series: readonly number[];
}

export const NO_SUMS: EndpointSums = {
  requests: 0,
  failed: 0,
  rejected: 0,
  errors: [],
  series: [],
  cost_micros: 0,
  metered_requests: 0,
  unpriced_requests: 0,
};

/** The sums over endpoints, by provider. */
export function sumsByProvider(endpoints: readonly EndpointStats[]): ReadonlyMap<string, EndpointSums> {
  const sums = new Map<string, EndpointSums>();
  for (const stats of endpoints)
    sums.set(stats.provider_id, addedTo(sums.get(stats.provider_id) ?? NO_SUMS, stats));
  return sums;
}

/** All rows together; undefined while one of them is unknown. */
export function sumOfAll(rows: readonly (EndpointSums | undefined)[]): EndpointSums | undefined {
  let sum = NO_SUMS;
  for (const row of rows) {
    if (row === undefined) return undefined;
    sum = addedTo(sum, row);
  }
  return sum;
}

type Cost = Pick<EndpointSums, 'cost_micros' | 'metered_requests' | 'unpriced_requests'>;

/** As the server adds up: null if none of the requests has a price. */
function addedCost(sum: Cost, more: Cost): Cost {
  const micros = (sum.cost_micros ?? 0) + (more.cost_micros ?? 0);
  const metered = sum.metered_requests + more.metered_requests;
  const unpriced = sum.unpriced_requests + more.unpriced_requests;
  const isUnpriced = micros === 0 && unpriced > 0 && unpriced >= metered;
  return {
    cost_micros: isUnpriced ? null : micros,
    metered_requests: metered,
    unpriced_requests: unpriced,
  };
}

function addedTo(sum: EndpointSums, more: EndpointSums): EndpointSums {
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
    ...addedCost(sum, more),
  };
}
