import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type SearchChange, useChangeSearch } from '../../address/change-search.ts';
import type { LimitSearch } from '../../address/limit-search.ts';

export type LimitFilters = Pick<LimitSearch, 'kind' | 'scope' | 'metric' | 'lane'>;

const NO_FILTERS = { kind: undefined, scope: undefined, metric: undefined, lane: undefined };

/** The filters of the URL and their setters. */
export function useLimitSearch() {
  const { kind, scope, metric, lane }: LimitSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  return useMemo(() => {
    const change = (next: SearchChange) => changeSearch(next, { replace: true });
    return {
      filters: { kind, scope, metric, lane },
      choose: (next: { readonly [Name in keyof LimitFilters]?: LimitFilters[Name] | undefined }) =>
        change(next),
      clear: () => change({ ...NO_FILTERS, q: undefined }),
    };
  }, [kind, scope, metric, lane, changeSearch]);
}
