import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { listen, type Subscription } from './listen.ts';
import type { Database } from './schema.ts';
import { asStoreError, isConnectionLost, storeUnavailable } from './store-error.ts';
import type { StoreLog } from './store-log.ts';

export interface DatabaseOptions {
  readonly url: string;
  readonly log: StoreLog;
  /** Small and fixed: a fleet of gateways must not exhaust the server's connections. */
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  /** Bounds the wait for a free connection as well as the making of one. */
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
}

export interface DatabaseHandle {
  /** Works for the whole deployment, past row-level security. */
  readonly db: Kysely<Database>;
  /** Works for one organization: row-level security hides every other, whatever a query says. */
  ofOrganization(organizationId: string): Kysely<Database>;
  readonly pool: pg.Pool;
  /** For what needs one session for several statements: migrations, advisory locks. */
  withSession<T>(use: (session: Session) => Promise<T>, statementTimeoutMs?: number): Promise<T>;
  /** Hints from `pg_notify`, on a connection of its own that is made again when it breaks. */
  listen(channel: string, onHint: () => void): Subscription;
  close(): Promise<void>;
}

/**
 * One database session. Without parameters the text may hold several statements. Narrow, so that an
 * embedded PostgreSQL can stand behind it as well.
 */
export interface Session {
  query(text: string, parameters?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

const INT8_OID = 20;
const INT8_ARRAY_OID = 1016;
/** The server cancels first; the client gives up only when the server or the network is silent. */
const CLIENT_GRACE_MS = 1_000;

export function createDatabase(options: DatabaseOptions): DatabaseHandle {
  const { statementTimeoutMs = 5_000, connectTimeoutMs = 2_000 } = options;
  const connection: pg.ClientConfig = {
    connectionString: options.url,
    application_name: options.applicationName ?? 'relay',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + CLIENT_GRACE_MS,
    lock_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    // No statement here runs for long enough to be worth compiling, and compiling takes a second.
    options: '-c jit=off',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: typeParserOf },
  };
  const poolMax = options.poolMax ?? 10;
  const openPool = (max: number) => {
    const opened = new pg.Pool({ ...connection, max, idleTimeoutMillis: 30_000 });
    // An idle connection that breaks reports here, and the pool has already dropped it.
    opened.on('error', (error) => options.log.warn({ err: error }, 'idle PostgreSQL connection lost'));
    return opened;
  };
  // Apart, so that a connection that acts for an organization never acts for the deployment.
  const tenantPool = openPool(Math.max(1, Math.floor(poolMax / 2)));
  const pool = openPool(Math.max(1, Math.ceil(poolMax / 2)));

  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: guarded(pool) }) });
  let closing: Promise<void> | undefined;
  return {
    db,
    ofOrganization: (organizationId) =>
      new Kysely<Database>({ dialect: new PostgresDialect({ pool: confined(tenantPool, organizationId) }) }),
    pool,
    withSession: (use, timeoutMs = statementTimeoutMs) => useSession(pool, use, timeoutMs),
    listen: (channel, onHint) => listen({ connection, channel, log: options.log }, onHint),
    close() {
      closing ??= Promise.all([pool.end(), tenantPool.end()]).then(() => undefined);
      return closing;
    },
  };
}

function typeParserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const known = pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
  if (format === 'binary') return known;
  if (oid === INT8_OID) return parseSafeInteger;
  if (oid === INT8_ARRAY_OID) return (value) => (known(value) as string[]).map(parseSafeInteger);
  return known;
}

function parseSafeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`bigint ${value} is not a safe integer`);
  return number;
}

/**
 * The pool as Kysely sees it: failures to reach PostgreSQL become store errors here, once for every query,
 * and a connection that failed or fell silent is closed instead of going back to the pool, where the next
 * query would wait behind the lost one.
 */
function guarded(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    connect: () => acquireForKysely(pool),
    end: () => pool.end(),
  };
}

/** Every connection is told anew for whom it works: what it did before must not matter. */
function confined(pool: pg.Pool, organizationId: string): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      const client = await acquireForKysely(pool);
      try {
        await client.query(
          "select set_config('role', 'relay_app', false), set_config('relay.organization_id', $1, false)",
          [organizationId],
        );
      } catch (error) {
        client.release();
        throw error;
      }
      return client;
    },
    end: () => Promise.resolve(),
  };
}

/** What both doors to a connection share: store errors, and the memory that the connection is lost. */
interface GuardedClient {
  query(query: pg.QueryConfig & { query_timeout?: number }): Promise<pg.QueryResult>;
  release(destroy?: boolean): void;
}

async function acquire(pool: pg.Pool): Promise<GuardedClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw storeUnavailable('postgresql', error);
  });
  let lost: unknown;
  // Without a listener, a connection that breaks while it is checked out would end the process.
  const onError = (error: Error) => {
    lost ??= error;
  };
  client.on('error', onError);
  return {
    async query(query) {
      if (lost !== undefined) throw storeUnavailable('postgresql', lost);
      try {
        return await client.query(query);
      } catch (error) {
        if (isConnectionLost(error)) lost ??= error;
        throw asStoreError(error);
      }
    },
    release(destroy) {
      client.off('error', onError);
      client.release(destroy === true || lost !== undefined);
    },
  };
}

async function acquireForKysely(pool: pg.Pool): Promise<PostgresPoolClient> {
  const client = await acquire(pool);
  const query: unknown = (text: string, values: unknown[]) => client.query({ text, values });
  return { query: query as PostgresPoolClient['query'], release: client.release };
}

async function useSession<T>(
  pool: pg.Pool,
  use: (session: Session) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const client = await acquire(pool);
  try {
    await client.query({ text: `set statement_timeout = ${timeoutMs}` });
    return await use({
      async query(text, parameters = []) {
        const result = await client.query({
          text,
          values: [...parameters],
          query_timeout: timeoutMs + CLIENT_GRACE_MS,
        });
        return { rows: result.rows ?? [] };
      },
    });
  } finally {
    // Always closed: settings and session locks must not leak into the pool.
    client.release(true);
  }
}
