import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useChangeSearch } from '../../address/change-search.ts';
import type { AuditSearch } from '../../address/control-search.ts';
import type { AuditFilters, AuditSpan } from '../../api/control-queries.ts';
import { rangeOf, type TimeRangeSearch } from '../../time-range/time-range.ts';

type Filter = 'actor' | 'action' | 'type' | 'target';

/** The URL parameters of the log and their setters. */
export function useAuditSearch() {
  const search: AuditSearch & TimeRangeSearch = useSearch({ strict: false });
  const change = useChangeSearch();
  const { actor, action, type, target, open, range, from, to } = search;
  return useMemo(() => {
    const filters: AuditFilters = {
      ...(actor === undefined ? {} : { actor_id: actor }),
      ...(action === undefined ? {} : { action }),
      ...(type === undefined ? {} : { target_type: type }),
      ...(target === undefined ? {} : { target_id: target }),
    };
    const without = { actor: undefined, action: undefined, type: undefined, target: undefined };
    return {
      chosen: { actor, action, type, target },
      isFiltered: Object.keys(filters).length > 0,
      openId: open ?? null,
      filters,
      span: spanOf(range, from, to),
      set: (next: Partial<Record<Filter, string | undefined>>) => change({ ...next, open: undefined }),
      /** Clears every filter and selects the longest range. */
      clear: () => change({ ...without, open: undefined, range: '90d', from: undefined, to: undefined }),
      open: (id: string) => change({ open: id }),
      close: () => change({ open: undefined }),
    };
  }, [actor, action, type, target, open, range, from, to, change]);
}

/** A relative range has no end, so that new entries belong to it. */
function spanOf(
  range: TimeRangeSearch['range'],
  from: string | undefined,
  to: string | undefined,
): AuditSpan {
  if (from !== undefined && to !== undefined) return { name: `${from} ${to}`, bounds: () => ({ from, to }) };
  const search = range === undefined ? {} : { range };
  return { name: range ?? '', bounds: () => ({ from: rangeOf(search, Date.now()).from }) };
}
