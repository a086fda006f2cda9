import pg from 'pg';
import type { StoreLog } from '../store-log.ts';
import { createConnectionLine } from './connection-line.ts';
import type { DatabaseHandle } from './database-handle.ts';
import { databaseOver } from './database-over-pools.ts';
import { listen } from './listen.ts';
import { typeParserOf } from './type-parsers.ts';

export type { DatabaseHandle, Session } from './database-handle.ts';

export interface DatabaseOptions {
  readonly url: string;
  readonly log: StoreLog;
  /** Small and fixed: a fleet of gateways must not exhaust the server's connections. */
  readonly poolMax?: number;
  readonly statementTimeoutMs?: number;
  /** Bounds the wait for a new connection, and for any connection to come back while callers wait for one. */
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
}

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
    // No statement runs long enough to be worth compiling, and compiling takes a second.
    options: '-c jit=off',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: typeParserOf },
  };
  const poolMax = options.poolMax ?? 10;
  const openPool = (max: number) => {
    const opened = new pg.Pool({ ...connection, max, idleTimeoutMillis: 30_000 });
    // An idle connection that breaks reports here; the pool has already dropped it.
    opened.on('error', (error) => options.log.warn({ err: error }, 'idle PostgreSQL connection lost'));
    return opened;
  };
  // Separate, so that a connection that acts for an organization never acts for the deployment.
  const tenantMax = Math.max(1, Math.floor(poolMax / 2));
  const deploymentMax = Math.max(1, Math.ceil(poolMax / 2));
  const [tenantPool, pool] = [openPool(tenantMax), openPool(deploymentMax)];
  const openLine = (places: number) => createConnectionLine({ places, stillMsMax: connectTimeoutMs });
  const [tenantLine, line] = [openLine(tenantMax), openLine(deploymentMax)];
  return databaseOver({
    pool,
    tenantPool,
    takeTurn: (of) => (of === pool ? line : tenantLine).enter(),
    statementTimeoutMs,
    clientGraceMs: CLIENT_GRACE_MS,
    listen: (channel, onHint) => listen({ connection, channel, log: options.log }, onHint),
    end: () => Promise.all([pool.end(), tenantPool.end()]).then(() => undefined),
  });
}
