import { useQuery } from '@tanstack/react-query';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';

/** What requests without an API key are called in this deployment. */
export function useKeylessName(): string {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  return text.keyless[data?.mode ?? 'self_hosted'];
}
