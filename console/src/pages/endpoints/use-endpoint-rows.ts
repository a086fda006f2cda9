import type { Endpoint, Lane, LimitUsage, PricingPolicy, Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import {
  endpointsQuery,
  firstLimitUsageQuery,
  HEALTH_REFRESH,
  lanesQuery,
  membershipsQuery,
  pricesQuery,
  providersQuery,
} from '../../api/queries.ts';
import { type DayFigure, dayFiguresQuery, figureIn } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useAccess } from '../../session/use-access.ts';

/** An endpoint with its provider, price and lanes, as far as the caller can read them. */
export interface EndpointRow {
  readonly endpoint: Endpoint;
  readonly provider: Provider | undefined;
  readonly price: PricingPolicy | undefined;
  readonly lanes: readonly Lane[];
  /** Undefined without a limit of its own, and without access. */
  readonly tightest: LimitUsage | undefined;
  readonly day: EndpointDay;
}

/** The last 24 hours of an endpoint; undefined while loading and where unknown. */
export interface EndpointDay {
  readonly requests: DayFigure | undefined;
  readonly errors: DayFigure | undefined;
  readonly spend: DayFigure | undefined;
  readonly ttft: DayFigure | undefined;
}

export function useEndpointRows() {
  const api = useApi();
  const { can } = useAccess();
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH });
  const providers = useQuery({ ...providersQuery(api), enabled: can('listProviders') });
  const prices = useQuery({ ...pricesQuery(api), enabled: can('listPricingPolicies') });
  const lanes = useQuery(lanesQuery(api));
  const memberships = useQuery(membershipsQuery(api));
  const dayOf = useDays();
  const tightestOf = useTightest();
  const rows = useMemo(() => {
    if (endpoints.data === undefined) return undefined;
    const providerOf = new Map(providers.data?.map((each) => [each.id, each]));
    const priceOf = new Map(prices.data?.map((each) => [each.endpoint_id, each]));
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
        tightest: tightestOf.get(endpoint.id),
        day: dayOf(endpoint.id),
      }),
    );
  }, [endpoints.data, providers.data, prices.data, lanes.data, memberships.data, dayOf, tightestOf]);
  return { rows, endpoints, providers, pricesReadable: can('listPricingPolicies') };
}

function useDays(): (endpointId: string) => EndpointDay {
  const api = useApi();
  const enabled = useAccess().can('getTimeseries');
  const { data: requests } = useQuery({ ...dayFiguresQuery(api, 'endpoint', 'requests'), enabled });
  const { data: errors } = useQuery({ ...dayFiguresQuery(api, 'endpoint', 'errors'), enabled });
  const { data: spend } = useQuery({ ...dayFiguresQuery(api, 'endpoint', 'cost_micros'), enabled });
  const { data: ttft } = useQuery({ ...dayFiguresQuery(api, 'endpoint', 'ttft_ms'), enabled });
  return useCallback(
    (id: string) => ({
      requests: figureIn(requests, id),
      errors: figureIn(errors, id),
      spend: figureIn(spend, id),
      ttft: ttft?.of.get(id),
    }),
    [requests, errors, spend, ttft],
  );
}

/** The limit of each endpoint with the least room left. */
function useTightest(): ReadonlyMap<string, LimitUsage> {
  const enabled = useAccess().can('listLimitUsage');
  const { data } = useQuery({ ...firstLimitUsageQuery(useApi()), enabled });
  return useMemo(() => {
    const tightest = new Map<string, LimitUsage>();
    for (const usage of data?.limits ?? []) {
      if (usage.scope_type !== 'endpoint' || usage.scope_id === null) continue;
      const before = tightest.get(usage.scope_id);
      if (before === undefined || leftOf(usage) < leftOf(before)) tightest.set(usage.scope_id, usage);
    }
    return tightest;
  }, [data]);
}

function leftOf({ limit, remaining }: LimitUsage): number {
  return limit === 0 ? 0 : remaining / limit;
}
