import { createHash, randomUUIDv7 } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdmissionEngine } from '../admission/engine.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { createDirectLedger } from '../metering/direct/direct-ledger.ts';
import type { DataDirectoryLock } from '../store/embedded/data-directory-lock.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import { createFences, createLocalFences, type Fences } from '../store/keys/fences.ts';
import { createDatabase, type DatabaseHandle } from '../store/postgres/postgres.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import type { Environment } from './environment.ts';
import type { RoleName } from './roles.ts';
import { createAdmission, type RunningAdmission } from './start-admission.ts';
import { createEmbeddedAdmission } from './start-embedded-admission.ts';
import { startEmbeddedMetering, startMetering } from './start-metering.ts';
import type { RunningMetering } from './start-metrics.ts';

/** Where `relay start` keeps everything, and that nobody else does at the same time. */
export interface DataDirectory {
  readonly path: string;
  readonly lock: DataDirectoryLock;
}

export interface StoreParts {
  readonly environment: Environment;
  readonly roleName: RoleName;
  readonly clock: Clock;
  readonly log: Log;
  /** Null: PostgreSQL and Redis are servers, and the environment says where. */
  readonly dataDirectory: DataDirectory | null;
}

export interface MeteringOptions {
  readonly usage: AdmissionEngine['usage'];
  readonly retentionDays: number;
}

export interface MeteringPart extends RunningMetering {
  /** For the health report: how far limits and ledger agree. */
  health(): Readonly<Record<string, string | number | null>>;
  stop(): Promise<void>;
}

/** What a process keeps its state in, and what differs with it. The rest of the server does not know which it is. */
export interface Stores {
  readonly database: DatabaseHandle;
  readonly fences: Fences;
  /** Null where live state is in this process. */
  readonly redis: Redis | null;
  admission(timed: (engine: AdmissionEngine) => AdmissionEngine): RunningAdmission;
  /** Once, after admission. */
  metering(options: MeteringOptions): MeteringPart;
  close(): Promise<void>;
}

/** The one place that knows which stores there are. */
export function openStores(parts: StoreParts): Promise<Stores> {
  const { dataDirectory } = parts;
  return dataDirectory === null
    ? Promise.resolve(openServers(parts))
    : openEmbedded({ ...parts, dataDirectory });
}

function openServers({ environment, roleName, clock, log }: StoreParts): Stores {
  const database = createDatabase({
    url: environment.DATABASE_URL ?? '',
    log,
    poolMax: environment.RELAY_DATABASE_POOL_MAX,
    applicationName: `relay-${roleName}`,
  });
  const redis = createRedis({ url: environment.REDIS_URL ?? '', clock, log });
  const { db } = database;
  const processId = `${process.pid}-${randomUUIDv7()}`;
  const spool = { directory: spoolDirectory(environment), bytesMax: environment.RELAY_SPOOL_BYTES_MAX };
  return {
    database,
    redis,
    fences: createFences({ redis, db }),
    admission: (timed) => createAdmission({ redis, db, clock, log, spool, gatewayId: processId, timed }),
    metering: (options) => startMetering({ redis, db, clock, log, consumer: processId, ...options }),
    async close() {
      await redis.close();
      await database.close();
    },
  };
}

async function openEmbedded(parts: StoreParts & { dataDirectory: DataDirectory }): Promise<Stores> {
  const { environment, clock, log, dataDirectory } = parts;
  const { path, lock } = dataDirectory;
  const database = await createEmbeddedDatabase({ directory: path, lock, log, clock });
  const { db } = database;
  const ledger = createDirectLedger({
    directory: join(path, 'spool'),
    bytesMax: environment.RELAY_SPOOL_BYTES_MAX,
    ownerId: randomUUIDv7(),
    db,
    clock,
    log,
  });
  let isIdle = () => true;
  return {
    database,
    redis: null,
    fences: createLocalFences({ db }),
    admission(timed) {
      const admission = createEmbeddedAdmission({ db, clock, log, ledger, timed });
      isIdle = admission.isIdle;
      return admission;
    },
    metering: (options) =>
      startEmbeddedMetering({ db, clock, log, ledger, isIdle: () => isIdle(), ...options }),
    close: () => database.close(),
  };
}

/** Deployments that share a machine share its temporary files; usage of one must not be taken over by another. */
function spoolDirectory({ RELAY_SPOOL_DIR: given, DATABASE_URL: url }: Environment): string {
  if (given !== null) return given;
  const { host, pathname } = new URL(url ?? '');
  const deployment = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
  return join(tmpdir(), 'relay-spool', deployment);
}
