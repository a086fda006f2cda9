import { useEffect, useState } from 'react';

/** The token of a one-time link. It is removed from the URL, so that it does not stay in the history. */
export function useLinkToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '');
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }, []);
  return token;
}
