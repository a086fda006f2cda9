import type { QueryClient } from '@tanstack/react-query';
import { type Api, take } from '../api/client.ts';
import { cacheKeys } from '../api/queries.ts';

const NAME = 'sign_in';

/** Signs in with the code in the link that `relay start` prints. If that fails, the sign-in page asks for the token. */
export async function signInByLink(api: Api, client: QueryClient): Promise<void> {
  const token = codeIn(window.location.hash);
  if (token === null) return;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  try {
    client.setQueryData(cacheKeys.session, await take(api.POST('/api/session', { body: { token } })));
  } catch {
    // The sign-in page says what is wrong with a token that is entered there.
  }
}

function codeIn(fragment: string): string | null {
  return new URLSearchParams(fragment.slice(1)).get(NAME);
}
