import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Parameters to set in the URL; undefined removes one. */
export type SearchChange = Readonly<Record<string, unknown>>;

/**
 * For the `search` of a link: keeps the URL's other parameters. The router types the parameters of each route, while
 * shared code knows some of them only; every route validates them when it opens.
 */
export function withSearch(change: SearchChange): never {
  return ((before: object) => ({ ...before, ...change })) as never;
}

/** Changes parameters of the URL and stays on the page. `replace` adds no entry to the browser's history. */
export function useChangeSearch(): (change: SearchChange, options?: { readonly replace: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (change, { replace } = { replace: false }) =>
      void navigate({ to: '.', search: withSearch(change), replace, resetScroll: false }),
    [navigate],
  );
}
