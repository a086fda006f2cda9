import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { asStoreError, isConnectionLost, storeUnavailable } from '../store-error.ts';
import { CopyData, copyIn } from './copy-in.ts';
import type { DatabaseHandle, Session } from './database-handle.ts';
import type { Subscription } from './listen.ts';
import type { Database } from './schema.ts';

export interface PoolParts {
  /** Serves the deployment. */
  readonly pool: pg.Pool;
  /** Serves organizations. When both are one pool, the role is set each time a connection is used. */
  readonly tenantPool: pg.Pool;
  readonly statementTimeoutMs: number;
  /** How much longer than its timeout a session's statement may stay unanswered. */
  readonly clientGraceMs: number;
  /** Waits for a turn at the pool; the result ends it. Without it, the pool itself makes callers wait. */
  readonly takeTurn?: (pool: pg.Pool) => Promise<() => void>;
  /** Wraps everything that holds a connection. */
  readonly guard?: ConnectionGuard;
  listen(channel: string, onHint: () => void): Subscription;
  end(): Promise<void>;
}

export interface ConnectionGuard {
  kysely(pool: PostgresPool): Kysely<Database>;
  holding<T>(use: () => Promise<T>): Promise<T>;
}

const unguarded: ConnectionGuard = {
  kysely: (pool) => new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }),
  holding: (use) => use(),
};

const noTurn = () => Promise.resolve(() => undefined);

/** A `DatabaseHandle` over the driver's pools. */
export function databaseOver(parts: PoolParts): DatabaseHandle {
  const { pool, tenantPool, guard = unguarded, takeTurn = noTurn } = parts;
  const shared = pool === tenantPool;
  const acquire = async (from: pg.Pool) => acquireInTurn(from, await takeTurn(from));
  const acquireForDeployment = async () => (shared ? actFor(await acquire(pool), null) : acquire(pool));

  let closing: Promise<void> | undefined;
  return {
    db: guard.kysely(forKysely(pool, acquireForDeployment)),
    ofOrganization: (organizationId) =>
      guard.kysely(forKysely(tenantPool, async () => actFor(await acquire(tenantPool), organizationId))),
    query: ({ name, text, values }) =>
      guard.holding(async () => {
        const client = await acquireForDeployment();
        try {
          return await client.query({ name, text, values: [...values] });
        } finally {
          client.release();
        }
      }),
    withSession: (use, timeoutMs = parts.statementTimeoutMs) =>
      guard.holding(async () => {
        const client = await acquireForDeployment();
        return useSession(client, use, timeoutMs, parts.clientGraceMs);
      }),
    listen: parts.listen,
    watchConnections(watch) {
      const acquired = () => watch('acquired');
      const released = () => watch('released');
      const removed = () => watch('removed');
      pool.on('acquire', acquired).on('release', released).on('remove', removed);
      return () => void pool.off('acquire', acquired).off('release', released).off('remove', removed);
    },
    close() {
      closing ??= parts.end();
      return closing;
    },
  };
}

/** A connection whose errors are store errors, and which remembers that it was lost. */
interface GuardedClient {
  query(query: pg.QueryConfig & { query_timeout?: number }): Promise<pg.QueryResult>;
  copyIn(text: string, data: CopyData): Promise<pg.QueryResult>;
  release(destroy?: boolean): void;
}

/**
 * Turns failures to reach PostgreSQL into store errors, for every query. A connection that failed or fell silent is closed
 * rather than returned to the pool, where the next query would wait behind the lost one.
 */
async function acquireInTurn(pool: pg.Pool, endTurn: () => void): Promise<GuardedClient> {
  const client = await pool.connect().catch((error: unknown) => {
    endTurn();
    throw storeUnavailable('postgresql', error);
  });
  let lost: unknown;
  // Without a listener, a connection that breaks while it is checked out would end the process.
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  async function guarded<T>(use: () => Promise<T>): Promise<T> {
    if (lost !== undefined) throw storeUnavailable('postgresql', lost);
    try {
      return await use();
    } catch (error) {
      if (isConnectionLost(error)) lost ??= error;
      throw asStoreError(error);
    }
  }
  return {
    query: (query) => guarded(() => client.query(query)),
    copyIn: (text, data) => guarded(() => copyIn(client, text, data)),
    release(destroy) {
      client.off('error', onError);
      client.release(destroy === true || lost !== undefined);
      endTurn();
    },
  };
}

/** Sets the role each time a connection is used, so that its earlier use does not matter. Null: for the deployment. */
async function actFor(client: GuardedClient, organizationId: string | null): Promise<GuardedClient> {
  try {
    await client.query({
      text: "select set_config('role', $1, false), set_config('relay.organization_id', $2, false)",
      values: organizationId === null ? ['none', ''] : ['relay_app', organizationId],
    });
  } catch (error) {
    client.release();
    throw error;
  }
  return client;
}

function forKysely(pool: pg.Pool, acquireClient: () => Promise<GuardedClient>): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      const client = await acquireClient();
      const query: unknown = (text: string, values: unknown[]) =>
        values[0] instanceof CopyData ? client.copyIn(text, values[0]) : client.query({ text, values });
      return { query: query as PostgresPoolClient['query'], release: client.release };
    },
    // The creator of the pools ends them.
    end: () => Promise.resolve(),
  };
}

async function useSession<T>(
  client: GuardedClient,
  use: (session: Session) => Promise<T>,
  timeoutMs: number,
  clientGraceMs: number,
): Promise<T> {
  try {
    await client.query({ text: `set statement_timeout = ${timeoutMs}` });
    return await use({
      async query(text, parameters = []) {
        const result = await client.query({
          text,
          values: [...parameters],
          query_timeout: timeoutMs + clientGraceMs,
        });
        return { rows: result.rows ?? [] };
      },
    });
  } finally {
    // Always closed: settings and session locks must not leak into the pool.
    client.release(true);
  }
}
