import type { Kysely } from 'kysely';
import type { Subscription } from './listen.ts';
import type { Database } from './schema.ts';

/** PostgreSQL as the rest of Relay sees it, on a server or embedded. */
export interface DatabaseHandle {
  /** Acts for the whole deployment; row-level security does not apply. */
  readonly db: Kysely<Database>;
  /** Acts for one organization: row-level security hides all others from every query. */
  ofOrganization(organizationId: string): Kysely<Database>;
  /** Acts for the whole deployment. For frequent statements: each connection plans a named statement once. */
  query<Row = Record<string, unknown>>(statement: NamedStatement): Promise<{ rows: Row[] }>;
  /** For work that needs one session across statements: migrations, advisory locks. */
  withSession<T>(use: (session: Session) => Promise<T>, statementTimeoutMs?: number): Promise<T>;
  /** Hints from `pg_notify`, for as long as the subscription is open. */
  listen(channel: string, onHint: () => void): Subscription;
  /** Reports what happens to the deployment's connections. Returns a function that stops it. */
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
 * One database session. Without parameters the text may hold several statements. Narrow, so that an embedded PostgreSQL can
 * implement it.
 */
export interface Session {
  query<Row = Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
  ): Promise<{ rows: Row[] }>;
}
