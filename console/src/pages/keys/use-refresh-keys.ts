import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { cacheKeys } from '../../api/queries.ts';

const CHANGED_BY_REQUESTS = [
  cacheKeys.apiKeyStats,
  cacheKeys.keyDay,
  cacheKeys.limitUsage,
  cacheKeys.apiKeys,
  cacheKeys.orgApiKeys,
];

/** Reads again what requests change in the list: its traffic, limits and last uses. */
export function useRefreshKeys(): () => void {
  const client = useQueryClient();
  return useCallback(() => {
    for (const queryKey of CHANGED_BY_REQUESTS) void client.invalidateQueries({ queryKey });
  }, [client]);
}

/** Whether a key has other requests than the list shows; not while one of them is unknown. */
export function isListStale(listed: number | null | undefined, read: number | undefined): boolean {
  return typeof listed === 'number' && read !== undefined && listed !== read;
}
