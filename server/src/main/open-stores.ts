import { createHash, randomUUIDv7 } from 'node:crypto';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HealthReport } from '@relay/contract';
import type { AdmissionEngine } from '../admission/engine.ts';
import type { Log } from '../kit/log.ts';
import { type Backlog, embeddedBacklog, startBacklog } from '../metering/backlog.ts';
import { createLedgerJournal } from '../metering/journal/index.ts';
import { createPostgresLedger } from '../metering/sinks/postgres-ledger.ts';
import { readDeploymentId } from '../store/deployment/identity.ts';
import type { DataDirectoryLock } from '../store/embedded/data-directory-lock.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import { createFences, createLocalFences, type Fences } from '../store/keys/fences.ts';
import { createDatabase, type DatabaseHandle } from '../store/postgres/postgres.ts';
import { watchPostgresWrites } from '../store/postgres/watch-writes.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { watchRedisWrites } from '../store/redis/watch-writes.ts';
import {
  createStoreHealth,
  reasonOf,
  type StoreFault,
  type StoreHealth,
  type StoreName,
} from '../store/store-health.ts';
import { claimSinks, createStoreClaims } from './claim-stores.ts';
import type { RunningMetering } from './create-metrics.ts';
import { createSinks } from './create-sinks.ts';
import { demandPostgresSettings, type WatchedPostgres } from './demand-postgres-settings.ts';
import { demandRedisSettings, type WatchedSettings } from './demand-redis-settings.ts';
import type { Environment } from './environment.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';
import { createAdmission, type MeasuredAdmission, type RunningAdmission } from './start-admission.ts';
import { createEmbeddedAdmission } from './start-embedded-admission.ts';
import { startEmbeddedMetering, startMetering } from './start-metering.ts';

/** Rows may be on another disk than what the probe writes: while a worker repeats an insert, this covers the time between two. */
const HELD_FAULT_MS = 5_000;

/** Where `relay start` keeps all state. The lock excludes a second process. */
export interface DataDirectory {
  readonly path: string;
  readonly lock: DataDirectoryLock;
}

export interface MeteringOptions {
  readonly usage: AdmissionEngine['usage'];
  readonly recount: AdmissionEngine['recount'];
  readonly inFlight: AdmissionEngine['inFlight'];
  readonly retentionDays: number;
}

export interface MeteringPart extends RunningMetering {
  /** For the health report: the last comparison of limits with the ledger. */
  health(): NonNullable<HealthReport['metering']>;
  stop(): Promise<void>;
}

/** The stores, and the parts that differ between servers and embedded stores. No other module knows which kind it has. */
export interface Stores {
  readonly database: DatabaseHandle;
  /** Answers statistics: a replica where there is one, else the same database. */
  readonly statistics: DatabaseHandle;
  readonly fences: Fences;
  /** Null with embedded stores, where live state is in this process. */
  readonly redis: Redis | null;
  /** Null with embedded stores, and before the server has told them. */
  postgresSettings(): ReturnType<WatchedPostgres['state']>;
  redisSettings(): ReturnType<WatchedSettings['state']>;
  /**
   * Marks all stores as those of this database's deployment; call before any of them is used. Throws `EnvironmentError` for one that belongs to
   * another deployment, and for a spool that cannot be written.
   */
  claim(): Promise<void>;
  /** Why this process may not use Redis at all: it belongs to another deployment. Otherwise null. */
  foreignRedis(): string | null;
  /** Why a server does not answer or accept writes, by its name; null with embedded stores, and while nothing is wrong. */
  fault(store: StoreName): StoreFault | null;
  /** Usage that is not in the ledger yet, of the whole deployment. */
  readonly backlog: Backlog;
  admission(measured: MeasuredAdmission): RunningAdmission;
  /** Call once, after `admission`. */
  metering(options: MeteringOptions): MeteringPart;
  close(): Promise<void>;
}

/** Opens PostgreSQL and Redis where the environment says, or, with a data directory, the embedded stores. */
export async function openStores(runtime: Runtime, dataDirectory: DataDirectory | null): Promise<Stores> {
  return dataDirectory === null ? await openServers(runtime) : await openEmbedded(runtime, dataDirectory);
}

/** Throws `EnvironmentError` for servers that lose data or cannot work. */
async function openServers({ environment, roleName, clock, sealer, log }: Runtime): Promise<Stores> {
  const health = {
    postgresql: createStoreHealth({ name: 'PostgreSQL', clock, log, holdMs: HELD_FAULT_MS }),
    redis: createStoreHealth({ name: 'Redis', clock, log }),
  };
  const { database, replica } = openPostgres(environment, roleName, log, health.postgresql);
  const onRejectedWrite = (error: unknown) => health.redis.failed('write', error);
  const redis = createRedis({ url: environment.REDIS_URL ?? '', clock, log, onRejectedWrite });
  const watches = [watchPostgresWrites(database, health.postgresql), watchRedisWrites(redis, health.redis)];
  async function close(): Promise<void> {
    for (const watch of watches) watch.stop();
    await redis.close();
    await replica?.close();
    await database.close();
  }
  const isPooled = environment.DATABASE_DIRECT_URL !== null;
  const [postgresSettings, settings] = await Promise.all([
    demandPostgresSettings({ database, replica, isPooled, log }),
    demandRedisSettings(redis, log),
  ]).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const { db } = database;
  const processId = `${process.pid}-${randomUUIDv7()}`;
  const spool = { directory: spoolDirectory(environment), bytesMax: environment.RELAY_SPOOL_BYTES_MAX };
  const sinks = createSinks(
    { environment, clock, log },
    { processTag: processId.slice(-8), holder: processId },
  );
  const ledger = createPostgresLedger({ db, clock, sinks: sinks.names, copies: true });
  const claims = createStoreClaims({
    ...{ redis, db, sinks, log, role: roles[roleName] },
    database: databaseOf(environment),
    spoolDirectory: spool.directory,
  });
  const backlog = startBacklog({
    redis,
    clock,
    worker: roles[roleName].metering ? processId : null,
    acceptsWrites: () => health.redis.fault() === null,
  });
  return {
    database,
    statistics: replica ?? database,
    redis,
    postgresSettings: postgresSettings.state,
    redisSettings: settings.state,
    fault: (store) =>
      store === 'redis' ? redisFault(redis, health.redis, claims.foreignRedis()) : health.postgresql.fault(),
    backlog,
    fences: createFences({ redis, db }),
    claim: claims.claim,
    foreignRedis: claims.foreignRedis,
    admission: ({ timed, timedScripts }) =>
      createAdmission({ redis, db, clock, log, spool, gatewayId: processId, timed, timedScripts }),
    metering(options) {
      const [owner, consumer] = [claims.ledgerOwner(), processId];
      return startMetering({ redis, ledger, owner, sinks, db, clock, sealer, log, consumer, ...options });
    },
    async close() {
      postgresSettings.stop();
      settings.stop();
      await backlog.stop();
      await close();
    },
  };
}

/** A server that is frozen keeps its connections, and only the circuit breaker notices. */
function redisFault(redis: Redis, health: StoreHealth, foreign: string | null): StoreFault | null {
  if (foreign !== null) return { operation: 'read', reason: foreign };
  const { ready, breaker } = redis.state();
  if (ready && breaker === 'closed') return health.fault();
  return { operation: 'read', reason: reasonOf(redis.fault() ?? 'not connected') };
}

function openPostgres(
  environment: Environment,
  roleName: string,
  log: Log,
  health: Pick<StoreHealth, 'failed'>,
) {
  const options = {
    log,
    poolMax: environment.RELAY_DATABASE_POOL_MAX,
    applicationName: `relay-${roleName}`,
  };
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_READ_URL: readUrl } = environment;
  return {
    database: createDatabase({ ...options, url: url ?? '', directUrl, health }),
    replica: readUrl === null ? null : createDatabase({ ...options, url: readUrl }),
  };
}

async function openEmbedded(
  { environment, clock, sealer, log }: Runtime,
  dataDirectory: DataDirectory,
): Promise<Stores> {
  const { path, lock } = dataDirectory;
  const database = await createEmbeddedDatabase({ directory: path, lock, log, clock });
  const { db } = database;
  const processId = randomUUIDv7();
  // The lock on the directory excludes other processes, so a restarted one keeps the lease.
  const sinks = createSinks(
    { environment, clock, log },
    { processTag: processId.slice(-8), holder: 'embedded' },
  );
  const journal = createLedgerJournal({
    directory: join(path, 'spool'),
    bytesMax: environment.RELAY_SPOOL_BYTES_MAX,
    ownerId: processId,
    ledger: createPostgresLedger({ db, clock, sinks: sinks.names }),
    db,
    clock,
    sealer,
    log,
  });
  let isIdle = () => true;
  return {
    database,
    statistics: database,
    redis: null,
    postgresSettings: () => null,
    redisSettings: () => null,
    fault: () => null,
    backlog: embeddedBacklog(journal.backlog, clock),
    fences: createLocalFences({ db }),
    // The lock on the directory keeps other deployments from everything in it.
    async claim() {
      const own = { id: await readDeploymentId(db), database: `${hostname()}:${path}` };
      await claimSinks(sinks, { own, log });
    },
    foreignRedis: () => null,
    admission({ timed }) {
      const admission = createEmbeddedAdmission({ db, clock, log, ledger: journal, timed });
      isIdle = admission.isIdle;
      return admission;
    },
    metering: (options) =>
      startEmbeddedMetering({ db, clock, log, journal, sinks, isIdle: () => isIdle(), ...options }),
    close: () => database.close(),
  };
}

/** Derived from the database, so that two deployments on one machine never take over each other's usage. */
function spoolDirectory(environment: Environment): string {
  const { RELAY_SPOOL_DIR: given } = environment;
  if (given !== null) return given;
  const deployment = createHash('sha256').update(databaseOf(environment)).digest('hex').slice(0, 16);
  return join(tmpdir(), 'relay-spool', deployment);
}

/** Its server and name. A pooler that is put in front of the database does not make it another one. */
function databaseOf({ DATABASE_DIRECT_URL: direct, DATABASE_URL: url }: Environment): string {
  const { host, pathname } = new URL(direct ?? url ?? '');
  return `${host}${pathname}`;
}
