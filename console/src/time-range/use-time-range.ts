import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from '../address/change-search.ts';
import { useNow } from '../ui/use-now.ts';
import { rangeOf, type TimeRange, type TimeRangeSearch } from './time-range.ts';

const TICK_MS = 30_000;

/** The time range of the URL, updated with the clock, and its setter. */
export function useTimeRange(): {
  readonly range: TimeRange;
  readonly choose: (next: TimeRangeSearch) => void;
} {
  const { range: name, from, to }: TimeRangeSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  // Rounded to the minute, so that derived values change once a minute.
  const nowMs = wholeMinute(useNow(TICK_MS));
  return useMemo(() => {
    const named = name === undefined ? {} : { range: name };
    const moments = from === undefined || to === undefined ? {} : { from, to };
    const choose = (next: TimeRangeSearch) =>
      changeSearch({ range: undefined, from: undefined, to: undefined, ...next });
    return { range: rangeOf({ ...named, ...moments }, nowMs), choose };
  }, [name, from, to, nowMs, changeSearch]);
}

function wholeMinute(ms: number): number {
  return Math.floor(ms / 60_000) * 60_000;
}
