import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from './change-search.ts';
import type { ListSearch } from './list-search.ts';

/**
 * The URL parameters of a list and their setters. Typing replaces the URL; opening a row adds a history entry.
 */
export function useListSearch() {
  const search: ListSearch = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const { q = '', open = null } = search;
  return useMemo(() => {
    const change = (next: ListSearch, replace: boolean) =>
      changeSearch({ q: undefined, open: undefined, ...next }, { replace });
    const withQuery = q === '' ? {} : { q };
    return {
      query: q,
      openId: open,
      setQuery: (value: string) => change({ ...(value === '' ? {} : { q: value }) }, true),
      open: (id: string) => change({ ...withQuery, open: id }, false),
      close: () => change(withQuery, false),
    };
  }, [q, open, changeSearch]);
}
