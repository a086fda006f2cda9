import type { Session } from '@relay/contract';
import type { QueryClient } from '@tanstack/react-query';
import { cacheKeys } from '../api/queries.ts';

/** Queries that do not depend on the caller. */
const KEPT: readonly string[] = [cacheKeys.session[0], cacheKeys.signInMethods[0]];

/** Starts a session or switches the organization, and drops all other cached data. */
export function enterSession(client: QueryClient, session: Session): Promise<void> {
  client.setQueryData(cacheKeys.session, session);
  return client.resetQueries({ predicate: ({ queryKey }) => !KEPT.includes(String(queryKey[0])) });
}
