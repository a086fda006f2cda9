import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import {
  type FilterChange,
  filtersIn,
  type RequestFilters,
  type RequestSearch,
} from '../../address/request-search.ts';
import { type TimeRangeSearch, timeRangeSearch } from '../../time-range/time-range.ts';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** On a request's page: what the list showed that it was opened from. */
    readonly requestList?: RequestFilters & TimeRangeSearch;
  }
}

const NO_FILTERS = {
  state: undefined,
  operation: undefined,
  model: undefined,
  lane: undefined,
  endpoint: undefined,
  provider: undefined,
  key: undefined,
  user: undefined,
  error: undefined,
  guardrail: undefined,
  verdict: undefined,
  waited: undefined,
  fell_back: undefined,
};

/** The URL parameters of the log and their setters. */
export function useRequestSearch() {
  const search: RequestSearch & TimeRangeSearch = useSearch({ strict: false });
  const change = useChangeSearch();
  // Keeps object identity for equal parameters, so that queries do not rerun.
  const filtersKey = JSON.stringify(filtersIn(search));
  const rangeKey = JSON.stringify(timeRangeSearch({ ...search }));
  const filters = useMemo((): RequestFilters => JSON.parse(filtersKey), [filtersKey]);
  const range = useMemo((): TimeRangeSearch => JSON.parse(rangeKey), [rangeKey]);
  return useMemo(() => {
    return {
      filters,
      range,
      isLive: search.live === true,
      setLive: (isLive: boolean) => change({ live: isLive ? true : undefined }, { replace: true }),
      setFilters: (next: FilterChange) => change(next),
      /** Applies a saved view or a cleared state. */
      show: (next: RequestFilters, nextRange: TimeRangeSearch) =>
        change({ ...NO_FILTERS, range: undefined, from: undefined, to: undefined, ...next, ...nextRange }),
    };
  }, [filters, range, search.live, change]);
}
