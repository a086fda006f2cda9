import pg from 'pg';
import { reasonOf, type StoreHealth } from '../store-health.ts';
import type { StoreLog } from '../store-log.ts';
import { createConnectionLine } from './connection-line.ts';
import type { DatabaseHandle } from './database-handle.ts';
import { databaseOver } from './database-over-pools.ts';
import { listen } from './listen.ts';
import { typeParserOf } from './type-parsers.ts';

export type { DatabaseHandle, Session } from './database-handle.ts';

export interface DatabaseOptions {
  readonly url: string;
  /** PostgreSQL itself, where `url` leads to a pooler such as PgBouncer in transaction mode. */
  readonly directUrl?: string | null;
  readonly log: StoreLog;
  /** Small and fixed: a fleet of gateways must not exhaust the server's connections. */
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  /** Bounds the wait for a new connection, and for any connection to come back while callers wait for one. */
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
  readonly health?: Pick<StoreHealth, 'failed'>;
}

/** The server cancels first; the client gives up only when the server or the network is silent. */
const CLIENT_GRACE_MS = 1_000;

export function createDatabase(options: DatabaseOptions): DatabaseHandle {
  const { statementTimeoutMs = 5_000, connectTimeoutMs = 2_000 } = options;
  const client: pg.ClientConfig = {
    connectionString: options.url,
    application_name: options.applicationName ?? 'relay',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs + CLIENT_GRACE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: typeParserOf },
  };
  const direct: pg.ClientConfig = {
    ...client,
    connectionString: options.directUrl ?? options.url,
    statement_timeout: statementTimeoutMs,
    lock_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    // No statement runs long enough to be worth compiling, and compiling takes a second.
    options: '-c jit=off',
  };
  const pooled = options.directUrl != null;
  // A pooler rejects settings of a session; there, the database user has them.
  const connection = pooled ? client : direct;
  const poolMax = options.poolMax ?? 10;
  const openPool = (max: number, config = connection) => {
    const opened = new pg.Pool({ ...config, max, idleTimeoutMillis: 30_000 });
    // An idle connection that breaks reports here; the pool has already dropped it.
    opened.on('error', (error) =>
      options.log.warn({ reason: reasonOf(error) }, 'idle PostgreSQL connection lost'),
    );
    return opened;
  };
  // Separate, so that a connection that acts for an organization never acts for the deployment.
  const tenantMax = Math.max(1, Math.floor(poolMax / 2));
  const deploymentMax = Math.max(1, Math.ceil(poolMax / 2));
  const [tenantPool, pool] = [openPool(tenantMax), openPool(deploymentMax)];
  const sessionPool = pooled ? openPool(1, direct) : pool;
  const openLine = (places: number) => createConnectionLine({ places, stillMsMax: connectTimeoutMs });
  const lines = new Map([
    [tenantPool, openLine(tenantMax)],
    [pool, openLine(deploymentMax)],
  ]);
  return databaseOver({
    pool,
    tenantPool,
    sessionPool,
    pooled,
    takeTurn: async (of) => (await lines.get(of)?.enter()) ?? (() => undefined),
    statementTimeoutMs,
    onFailed: (operation, error) => options.health?.failed(operation, error),
    clientGraceMs: CLIENT_GRACE_MS,
    listen: (channel, onHint) => listen({ connection: direct, channel, log: options.log }, onHint),
    end: () =>
      Promise.all([...new Set([pool, tenantPool, sessionPool])].map((each) => each.end())).then(
        () => undefined,
      ),
  });
}
