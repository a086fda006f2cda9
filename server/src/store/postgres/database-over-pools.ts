import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { StoreHealth } from '../store-health.ts';
import { actForOrganization } from './act-for-organization.ts';
import { CopyData } from './copy-in.ts';
import type { DatabaseHandle, Session } from './database-handle.ts';
import { acquireInTurn, type GuardedClient } from './guarded-client.ts';
import type { Subscription } from './listen.ts';
import type { Database } from './schema.ts';

export interface PoolParts {
  /** Serves the deployment. */
  readonly pool: pg.Pool;
  /** Serves organizations. */
  readonly tenantPool: pg.Pool;
  /** Serves `withSession`. Its connections must lead to PostgreSQL itself. */
  readonly sessionPool: pg.Pool;
  /** A pooler gives each transaction another session, so no statement can stay prepared, and `sessionPool` must go past it. */
  readonly pooled: boolean;
  readonly statementTimeoutMs: number;
  /** How much longer than its timeout a session's statement may stay unanswered. */
  readonly clientGraceMs: number;
  /** Waits for a turn at the pool; the result ends it. Without it, the pool itself makes callers wait. */
  readonly takeTurn?: (pool: pg.Pool) => Promise<() => void>;
  /** Hears of calls whose failure says something about the server. */
  readonly onFailed?: StoreHealth['failed'];
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
  const acquire = async (from: pg.Pool) => acquireInTurn(from, await takeTurn(from), parts.onFailed);

  let closing: Promise<void> | undefined;
  return {
    db: guard.kysely(forKysely(pool, () => acquire(pool))),
    ofOrganization: (organizationId) =>
      guard.kysely(
        forKysely(tenantPool, async () => actForOrganization(await acquire(tenantPool), organizationId)),
      ),
    query: ({ name, text, values }) =>
      guard.holding(async () => {
        const client = await acquire(pool);
        try {
          return await client.query({ ...(parts.pooled ? {} : { name }), text, values: [...values] });
        } finally {
          client.release();
        }
      }),
    withSession: (use, timeoutMs = parts.statementTimeoutMs) =>
      guard.holding(async () => {
        const client = await acquire(parts.sessionPool).catch(asPoolerError);
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
    await demandDirect(client);
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

/** A pooler is between when the session has another process than the one that accepted the connection. */
export class PoolerError extends Error {
  constructor() {
    super(
      'DATABASE_URL points to a connection pooler. Migrations and notifications need a dedicated session, which a pooler does not keep. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, and leave DATABASE_URL as it is.',
    );
  }
}

/** PgBouncer rejects the settings of a session, unless `ignore_startup_parameters` lists them. */
function asPoolerError(error: unknown): never {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error && cause.message.includes('unsupported startup parameter'))
    throw new PoolerError();
  throw error;
}

async function demandDirect(client: GuardedClient): Promise<void> {
  // The embedded database announces none.
  if (!client.announcedPid) return;
  const { rows } = await client.query({ text: 'select pg_backend_pid() as pid' });
  if (rows[0]?.pid !== client.announcedPid) throw new PoolerError();
}
