import type {
  Endpoint,
  EndpointStats,
  EndpointStatsPage,
  Lane,
  PricingPolicy,
  Provider,
} from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointStatsQuery } from '../../api/endpoint-stats-query.ts';
import {
  endpointsQuery,
  HEALTH_REFRESH,
  lanesQuery,
  membershipsQuery,
  pricesQuery,
  providersQuery,
} from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** An endpoint with its provider, price and lanes, as far as the caller can read them. */
export interface EndpointRow {
  readonly endpoint: Endpoint;
  readonly provider: Provider | undefined;
  readonly price: PricingPolicy | undefined;
  readonly lanes: readonly Lane[];
  /** The last 24 hours; undefined while loading and without access. */
  readonly stats: EndpointStats | undefined;
  /** Whether the tightest limit is known; undefined while loading. */
  readonly limits: EndpointStatsPage['limits'] | undefined;
}

export function useEndpointRows() {
  const api = useApi();
  const { can } = useAccess();
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const prices = useQuery({ ...pricesQuery(api), enabled: can('listPricingPolicies') });
  const lanes = useQuery(lanesQuery(api));
  const memberships = useQuery(membershipsQuery(api));
  const mayReadStats = can('getEndpointStats');
  const stats = useQuery({ ...endpointStatsQuery(api), enabled: mayReadStats });
  const read = stats.data?.limits ?? (stats.isError ? 'unavailable' : undefined);
  const limits = mayReadStats ? read : 'no_access';
  const rows = useMemo(() => {
    if (endpoints.data === undefined) return undefined;
    const providerOf = new Map(providers.data?.map((each) => [each.id, each]));
    const priceOf = new Map(prices.data?.map((each) => [each.endpoint_id, each]));
    const statsOf = new Map(stats.data?.endpoints.map((each) => [each.endpoint_id, each]));
    const laneOf = new Map(lanes.data?.map((each) => [each.id, each]));
    const lanesOf = new Map<string, Lane[]>();
    for (const { endpoint_id: endpointId, lane_id: laneId } of memberships.data ?? []) {
      const lane = laneOf.get(laneId);
      if (lane === undefined) continue;
      const found = lanesOf.get(endpointId);
      if (found === undefined) lanesOf.set(endpointId, [lane]);
      else found.push(lane);
    }
    return endpoints.data.map(
      (endpoint): EndpointRow => ({
        endpoint,
        provider: providerOf.get(endpoint.provider_id),
        price: priceOf.get(endpoint.id),
        lanes: lanesOf.get(endpoint.id) ?? [],
        stats: statsOf.get(endpoint.id),
        limits,
      }),
    );
  }, [endpoints.data, providers.data, prices.data, lanes.data, memberships.data, stats.data, limits]);
  return { rows, endpoints, providers, pricesReadable: can('listPricingPolicies') };
}
