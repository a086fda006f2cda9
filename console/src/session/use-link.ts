import { useEffect, useState } from 'react';

/** The fragment of a one-time link. It is removed from the URL, so that it does not stay in the history. */
export function useLink(): { readonly token: string; readonly email: string } {
  const [link] = useState(() => {
    const fields = new URLSearchParams(window.location.hash.slice(1));
    return { token: fields.get('token') ?? '', email: fields.get('email') ?? '' };
  });
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname);
  }, []);
  return link;
}
