import type { Kysely } from 'kysely';
import type { Subscription } from './listen.ts';
import type { Database } from './schema.ts';

/** PostgreSQL as the rest of Relay sees it, on a server or embedded. */
export interface DatabaseHandle {
  /** Works for the whole deployment, past row-level security. */
  readonly db: Kysely<Database>;
  /** Works for one organization: row-level security hides every other, whatever a query says. */
  ofOrganization(organizationId: string): Kysely<Database>;
  /** For the whole deployment as well: a statement that is asked so often that each connection plans it only once. */
  query<Row = Record<string, unknown>>(statement: NamedStatement): Promise<{ rows: Row[] }>;
  /** For what needs one session for several statements: migrations, advisory locks. */
  withSession<T>(use: (session: Session) => Promise<T>, statementTimeoutMs?: number): Promise<T>;
  /** Hints from `pg_notify`, for as long as the subscription is open. */
  listen(channel: string, onHint: () => void): Subscription;
  /** Tells what happens to the deployment's connections; answers how to stop that. */
  watchConnections(watch: (event: ConnectionEvent) => void): () => void;
  close(): Promise<void>;
}

export interface NamedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type ConnectionEvent = 'acquired' | 'released' | 'removed';

/**
 * One database session. Without parameters the text may hold several statements. Narrow, so that an
 * embedded PostgreSQL can stand behind it as well.
 */
export interface Session {
  query<Row = Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
  ): Promise<{ rows: Row[] }>;
}
