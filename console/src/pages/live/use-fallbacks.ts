import type { Live } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { fallbacksQuery, pollEvery } from '../../api/live-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { type FallbackRow, fallbackOf } from './fallback-rows.ts';

export interface Fallbacks {
  /** Newest first; undefined while loading. */
  readonly rows: readonly FallbackRow[] | undefined;
  /** Whether older requests of the time span were looked at too. */
  readonly isWhole: boolean;
  readonly isFailed: boolean;
}

const LOOK_MS = 15_000;
/** The log has no index of fallbacks: it is read rarely while the board counts none. */
const LOOK_CALM_MS = 30_000;

/** The requests that fell back in the last minutes. */
export function useFallbacks(live: Live | undefined, isPaused: boolean): Fallbacks {
  const isHappening = live?.lanes.some(({ fallbacks }) => fallbacks > 0) === true;
  const { data, isError } = useQuery({
    ...fallbacksQuery(useApi()),
    select: ({ details, isWhole }) => ({ rows: details.map(fallbackOf), isWhole }),
    enabled: !isPaused,
    refetchInterval: pollEvery(isHappening ? LOOK_MS : LOOK_CALM_MS),
  });
  return { rows: data?.rows, isWhole: data?.isWhole ?? false, isFailed: isError };
}
