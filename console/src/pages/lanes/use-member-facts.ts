import type { Endpoint, EndpointStats } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointStatsQuery } from '../../api/endpoint-stats-query.ts';
import { liveQuery, pollEvery } from '../../api/live-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { type EndpointLoad, loadsOf } from '../../parts/endpoint-load.ts';
import { useAccess } from '../../session/use-access.ts';
import { type EndpointFacts, useEndpointFacts } from './use-endpoint-facts.ts';

const LOOK_MS = 5_000;

/** What is known of an endpoint in a lane, saved or not. All of it counts every lane. */
export interface MemberFacts extends EndpointFacts {
  /** Undefined while loading and where unknown. */
  readonly load: EndpointLoad | undefined;
  /** The last 24 hours; undefined while loading and where unknown. */
  readonly stats: EndpointStats | undefined;
}

/** What the caller may read, and so which columns there are. */
export interface MemberColumns {
  readonly load: boolean;
  readonly figures: boolean;
  /** They count the caller’s own requests only. */
  readonly isOwn: boolean;
}

export function useMemberFacts(endpoints: readonly Endpoint[] | undefined): {
  readonly factsOf: (endpoint: Endpoint) => MemberFacts;
  readonly columns: MemberColumns;
} {
  const api = useApi();
  const { can, holds } = useAccess();
  const columns = {
    load: can('getLive'),
    figures: can('getEndpointStats'),
    isOwn: !holds('relay:usage:read:organization'),
  };
  const sourceOf = useEndpointFacts();
  const now = useQuery({
    ...liveQuery(api),
    refetchInterval: pollEvery(LOOK_MS),
    enabled: columns.load,
  });
  const live = now.isError ? undefined : now.data;
  const stats = useQuery({ ...endpointStatsQuery(api), enabled: columns.figures });
  const factsOf = useMemo(() => {
    const loadOf = live === undefined ? undefined : loadsOf(live, endpoints ?? []);
    const statsOf = new Map(stats.data?.endpoints.map((each) => [each.endpoint_id, each]));
    return (endpoint: Endpoint): MemberFacts => ({
      ...sourceOf(endpoint),
      load: loadOf?.(endpoint.id),
      stats: statsOf.get(endpoint.id),
    });
  }, [live, endpoints, stats.data, sourceOf]);
  return { factsOf, columns };
}
