import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import { filtersIn, type RequestFilters, type RequestSearch } from '../../address/request-search.ts';
import { type TimeRangeSearch, timeRangeSearch } from '../../time-range/time-range.ts';

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
};

/** What the address says of the log, and how to change it. */
export function useRequestSearch() {
  const search: RequestSearch & TimeRangeSearch = useSearch({ strict: false });
  const change = useChangeSearch();
  // The same words are the same objects, so that what hangs by them is not read again.
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
      setFilters: (next: Partial<Record<keyof RequestFilters, string | undefined>>) => change(next),
      /** A saved view, or what is left when all filters are taken away. */
      show: (next: RequestFilters, nextRange: TimeRangeSearch) =>
        change({ ...NO_FILTERS, range: undefined, from: undefined, to: undefined, ...next, ...nextRange }),
    };
  }, [filters, range, search.live, change]);
}
