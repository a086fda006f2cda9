import { useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useChangeSearch } from './change-search.ts';

/**
 * Whether the dialog of a list page that creates is open. The palette opens it with the page, also on the page itself. `path` is
 * the page's own: while another page loads, the present one sees its location.
 */
export function useCreating(path: string): readonly [boolean, (creating: boolean) => void] {
  const isStarted = useLocation({
    select: ({ state, pathname }) => state.started === 'create' && pathname.endsWith(path),
  });
  const [creating, setCreating] = useState(false);
  const changeSearch = useChangeSearch();
  useEffect(() => {
    if (!isStarted) return;
    setCreating(true);
    // A reload opens no dialog.
    changeSearch({}, { replace: true });
  }, [isStarted, changeSearch]);
  return [creating, setCreating];
}
