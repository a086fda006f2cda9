import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { rangeOf, type TimeRange, type TimeRangeSearch } from '../../app/time-range.ts';

const TICK_MS = 30_000;

/** The time range that the address names, kept up with the clock, and how to choose another. */
export function useTimeRange(): {
  readonly range: TimeRange;
  readonly choose: (next: TimeRangeSearch) => void;
} {
  const { range: name, from, to }: TimeRangeSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const nowMs = useNow();
  return useMemo(() => {
    const named = name === undefined ? {} : { range: name };
    const moments = from === undefined || to === undefined ? {} : { from, to };
    const choose = (next: TimeRangeSearch) => {
      const without = { range: undefined, from: undefined, to: undefined };
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...without, ...next })) as never,
        resetScroll: false,
      });
    };
    return { range: rangeOf({ ...named, ...moments }, nowMs), choose };
  }, [name, from, to, nowMs, navigate]);
}

/** The time, to the minute: what is derived from it stays the same in between. */
function useNow(): number {
  const [nowMs, setNowMs] = useState(() => wholeMinute(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setNowMs(wholeMinute(Date.now())), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}

function wholeMinute(ms: number): number {
  return Math.floor(ms / 60_000) * 60_000;
}
