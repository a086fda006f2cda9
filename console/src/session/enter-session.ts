import type { Session } from '@relay/contract';
import type { QueryClient } from '@tanstack/react-query';
import { cacheKeys } from '../api/queries.ts';

/** These do not depend on who asks. */
const KEPT: readonly string[] = [cacheKeys.session[0], cacheKeys.signInMethods[0]];

/** Begins to work as somebody, or in another organization: nothing that was read before is shown after it. */
export function enterSession(client: QueryClient, session: Session): Promise<void> {
  client.setQueryData(cacheKeys.session, session);
  return client.resetQueries({ predicate: ({ queryKey }) => !KEPT.includes(String(queryKey[0])) });
}
