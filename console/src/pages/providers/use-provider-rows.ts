import type { Credential, Endpoint, Provider } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointStatsQuery } from '../../api/endpoint-stats-query.ts';
import { credentialsQuery, endpointsQuery, HEALTH_REFRESH, providersQuery } from '../../api/queries.ts';
import { useApi } from '../../api/use-api.ts';
import { type EndpointSums, NO_SUMS, sumsByProvider } from '../../parts/endpoint-sums.ts';
import { useAccess } from '../../session/use-access.ts';

/** A provider with its endpoints, credentials and last 24 hours, as far as the caller can read them. */
export interface ProviderRow {
  readonly provider: Provider;
  readonly endpoints: readonly Endpoint[];
  readonly credentials: readonly Credential[];
  /** Undefined while loading and without access. */
  readonly stats: EndpointSums | undefined;
}

export function useProviderRows() {
  const api = useApi();
  const { can } = useAccess();
  const providers = useQuery({ ...providersQuery(api), ...HEALTH_REFRESH });
  const endpoints = useQuery({ ...endpointsQuery(api), ...HEALTH_REFRESH, enabled: can('listEndpoints') });
  const credentials = useQuery({ ...credentialsQuery(api), enabled: can('listCredentials') });
  const { data: stats } = useQuery({ ...endpointStatsQuery(api), enabled: can('getEndpointStats') });
  const rows = useMemo(() => {
    const endpointsOf = Map.groupBy(endpoints.data ?? [], ({ provider_id: id }) => id);
    const credentialsOf = Map.groupBy(credentials.data ?? [], ({ provider_id: id }) => id);
    const statsOf = stats && sumsByProvider(stats.endpoints);
    return providers.data?.map((provider): ProviderRow => {
      const { id } = provider;
      return {
        provider,
        endpoints: endpointsOf.get(id) ?? [],
        credentials: credentialsOf.get(id) ?? [],
        stats: statsOf?.get(id) ?? (statsOf && NO_SUMS),
      };
    });
  }, [providers.data, endpoints.data, credentials.data, stats]);
  return { rows, providers };
}
