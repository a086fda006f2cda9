import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ListSearch } from './list-search.ts';

/** What the address says of a list, and how to change it. Typing replaces the address; opening a row adds to history. */
export function useListSearch() {
  const search: ListSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const { q = '', open = null } = search;
  return useMemo(() => {
    const change = (next: ListSearch, replace: boolean) =>
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, q: undefined, open: undefined, ...next })) as never,
        replace,
        resetScroll: false,
      });
    const withQuery = q === '' ? {} : { q };
    return {
      query: q,
      openId: open,
      setQuery: (value: string) => change({ ...(value === '' ? {} : { q: value }) }, true),
      open: (id: string) => change({ ...withQuery, open: id }, false),
      close: () => change(withQuery, false),
    };
  }, [q, open, navigate]);
}
