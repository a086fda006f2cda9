import type { RequestLogEntry } from '@relay/contract';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { RequestFilters } from '../../address/request-search.ts';
import { cacheKeys } from '../../api/queries.ts';
import { filterQueryOf, type RequestsShown, requestsQuery } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { useLiveTail } from '../../parts/use-live-tail.ts';
import type { TimeRangeSearch } from '../../time-range/time-range.ts';
import { addRows, noLiveRows, notListed, releaseRows } from './live-rows.ts';

interface RequestsOptions {
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
  readonly isLive: boolean;
  /** Holds back new rows, because the first row is not visible. */
  readonly isHolding: boolean;
}

/** The rows of the list, and above them requests that finished since. */
export function useRequests({ filters, range, isLive, isHolding }: RequestsOptions) {
  const { shown, readAgain, keepPlace } = useOpened(filters, range);
  const list = useInfiniteQuery(requestsQuery(useApi(), shown));
  const [live, setLive] = useState(noLiveRows);
  const listed = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  const isWhole = !list.hasNextPage;
  const tail = useLiveTail({
    isOn: isLive,
    query: filterQueryOf(filters),
    onBeginning() {
      // Keeps the scroll position of a user who is scrolled down.
      if (isHolding) setLive((before) => ({ ...before, isCut: true }));
      else readAgain();
    },
    onEntries: (entries) => setLive((before) => addRows(before, entries, isHolding)),
  });

  const key = JSON.stringify([filters, range]);
  const [liveKey, setLiveKey] = useState(key);
  if (liveKey !== key) {
    setLiveKey(key);
    setLive(noLiveRows);
  }
  const isPlaceholder = list.isPlaceholderData;
  useEffect(() => {
    if (listed === undefined || isPlaceholder) return;
    setLive((before) => ({ ...before, shown: notListed(before.shown, listed, isWhole) }));
  }, [listed, isWhole, isPlaceholder]);
  const isFull = live.isCut && !isHolding;
  useEffect(() => {
    if (!isFull) return;
    setLive((before) => ({ ...before, isCut: false }));
    readAgain();
  }, [isFull, readAgain]);

  const rows = useMemo<readonly RequestLogEntry[] | undefined>(() => {
    if (listed === undefined) return undefined;
    const above = notListed(live.shown, listed, isWhole);
    return above.length === 0 ? listed : [...above, ...listed];
  }, [live.shown, listed, isWhole]);
  const held = useMemo(
    () => notListed(live.held, listed ?? [], isWhole).length,
    [live.held, listed, isWhole],
  );
  useEffect(() => {
    if (!isHolding) setLive(releaseRows);
  }, [isHolding]);
  return { list, rows, tail, held, isCut: live.isCut, readAgain, keepPlace, shown };
}

/**
 * When the list was opened, which fixes its pages and time range. Going back from a request restores the list;
 * opening the page reloads it.
 */
function useOpened(filters: RequestFilters, range: TimeRangeSearch) {
  const client = useQueryClient();
  const search = JSON.stringify([filters, range]);
  const [opened, setOpened] = useState(() => {
    const left = client.getQueryData<Opened>(cacheKeys.requestsOpened);
    return left?.search === search ? left : { search, atMs: Date.now() };
  });
  if (opened.search !== search) setOpened({ search, atMs: Date.now() });
  const readAgain = useCallback(() => setOpened((before) => ({ ...before, atMs: Date.now() })), []);
  const keepPlace = useCallback(
    () => client.setQueryData(cacheKeys.requestsOpened, opened),
    [client, opened],
  );
  useEffect(() => client.removeQueries({ queryKey: cacheKeys.requestsOpened }), [client]);
  const shown = useMemo<RequestsShown>(
    () => ({ filters, range, openedAtMs: opened.atMs }),
    [filters, range, opened.atMs],
  );
  return { shown, readAgain, keepPlace };
}

interface Opened {
  readonly search: string;
  readonly atMs: number;
}
