import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { cacheKeys } from '../../api/queries.ts';

/** With 5,000 keys each of these is a large read. */
const PAUSE_MS = 15_000;
const CHANGED_BY_REQUESTS = [
  cacheKeys.apiKeyStats,
  cacheKeys.limitUsage,
  cacheKeys.apiKeys,
  cacheKeys.orgApiKeys,
];

/** Reads again what requests change in the list: its traffic, limits and last uses. Not before a pause, and never aborts a read that has begun. */
export function useRefreshKeys(): () => void {
  const client = useQueryClient();
  const readMs = useRef(Number.NEGATIVE_INFINITY);
  return useCallback(() => {
    if (performance.now() - readMs.current < PAUSE_MS) return;
    readMs.current = performance.now();
    for (const queryKey of CHANGED_BY_REQUESTS)
      void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  }, [client]);
}

/** Whether a key has other requests than the list shows; not while one of them is unknown. */
export function isListStale(listed: number | null | undefined, read: number | undefined): boolean {
  return typeof listed === 'number' && read !== undefined && listed !== read;
}
