import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useChangeSearch } from './change-search.ts';

/** What a link starts on the page that it opens. */
export type Started = 'test' | 'edit' | 'credential' | 'create';

declare module '@tanstack/react-router' {
  interface HistoryState {
    started?: Started;
  }
}

/**
 * What the link to this page started; null if nothing. It is not part of the URL, so that no link from elsewhere can start
 * anything, and it is forgotten, so that a reload starts nothing.
 */
export function useStarted(): Started | null {
  const started = useLocation({ select: ({ state }) => state.started ?? null });
  const [first] = useState(started);
  const changeSearch = useChangeSearch();
  useEffect(() => {
    if (started !== null) changeSearch({}, { replace: true });
  }, [started, changeSearch]);
  return first;
}
