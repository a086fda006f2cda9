import { randomUUIDv7 } from 'node:crypto';
import { createTokenDoors } from '../edge/deployment-tokens.ts';
import { listen, type RequestHandler } from '../http/listener.ts';
import { createManagementApp } from '../http/management-app.ts';
import { createInferenceHandler } from '../inference/handler.ts';
import { createTypicalOutput } from '../inference/settle/typical-output.ts';
import { systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog, type Log } from '../kit/log.ts';
import { createSealer } from '../kit/seal.ts';
import { Secret } from '../kit/secret.ts';
import { createManagementHandlers } from '../management/index.ts';
import { startLedgerWorker } from '../metering/ledger-worker.ts';
import { createUsageStream } from '../metering/usage-stream.ts';
import { ensureImplicitOrganization } from '../store/implicit-organization.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../store/migrate.ts';
import { createDatabase, type DatabaseHandle } from '../store/postgres.ts';
import { createRedis } from '../store/redis.ts';
import { resealCredentials } from '../store/reseal-credentials.ts';
import { createSnapshots } from '../store/snapshots.ts';
import type { Environment } from './environment.ts';
import { type RoleName, roles } from './roles.ts';
import { createAdmission } from './start-admission.ts';

const MANAGEMENT_BODY_BYTES_MAX = 1024 * 1024;
const USAGE_RECORDS_MAX = 50_000;
const FLUSH_MS_MAX = 5_000;

export interface RunningServer {
  readonly address: string;
  /** Drains, then closes everything. Safe to call twice. */
  stop(): Promise<{ cut: number }>;
}

/** Starts one process in the given role: stores, then the rooms that the role needs, then the listener. */
export async function serve(environment: Environment, roleName: RoleName): Promise<RunningServer> {
  const role = roles[roleName];
  const log = createLog(environment.RELAY_LOG_LEVEL);
  const clock = systemClock;
  const sealer = createSealer({
    primary: environment.RELAY_MASTER_KEY,
    previous: environment.RELAY_MASTER_KEY_PREVIOUS,
  });
  const database = createDatabase({
    url: environment.DATABASE_URL,
    log,
    poolMax: environment.RELAY_DATABASE_POOL_MAX,
    applicationName: `relay-${roleName}`,
  });
  await prepareDatabase(database, log);
  if (environment.RELAY_MASTER_KEY_PREVIOUS.length > 0)
    await resealCredentials({ db: database.db, sealer, log });
  const owner = await ensureImplicitOrganization(database.db);

  const redis = createRedis({ url: environment.REDIS_URL, clock, log });
  const snapshots = createSnapshots({ database, sealer, clock, log });
  await snapshots.load(owner.organizationId);
  snapshots.start();

  const egress = createEgress({
    allowedCidrs: environment.RELAY_ALLOW_PRIVATE_NETWORKS,
    connectTimeoutMs: environment.RELAY_UPSTREAM_CONNECT_TIMEOUT_MS,
    connectionsPerOriginMax: environment.RELAY_UPSTREAM_CONNECTIONS_MAX,
    originsMax: 1_000,
  });
  const typicalOutput = createTypicalOutput();
  const usage = createUsageStream({ redis, log, recordsMax: USAGE_RECORDS_MAX });
  const processId = `${process.pid}-${randomUUIDv7()}`;
  const admission = createAdmission({
    redis,
    db: database.db,
    snapshots,
    clock,
    log,
    append: usage.append,
    gatewayId: processId,
  });
  const doors = createTokenDoors({
    apiToken: new Secret(environment.RELAY_API_TOKEN ?? ''),
    adminToken: new Secret(environment.RELAY_ADMIN_TOKEN ?? ''),
    ...owner,
  });

  let draining = false;
  const publicUrl = publicUrlOf(environment);
  const shared = { clock, log, publicUrl, draining: () => draining };
  const inference: RequestHandler | null = role.inference
    ? createInferenceHandler({
        ...shared,
        egress,
        desk: admission.desk,
        waitersMax: environment.RELAY_WAITERS_MAX,
        authenticate: doors.inference,
        snapshotOf: (organizationId) => snapshots.get(organizationId) ?? snapshots.load(organizationId),
        typicalOutput,
        bodyBytesMax: environment.RELAY_MAX_BODY_BYTES,
        attemptsMax: environment.RELAY_ATTEMPTS_MAX,
        headersTimeoutMs: environment.RELAY_UPSTREAM_HEADERS_TIMEOUT_MS,
        idleTimeoutMs: environment.RELAY_UPSTREAM_IDLE_TIMEOUT_MS,
      })
    : null;
  const everythingElse = await createManagementApp({
    ...shared,
    bodyBytesMax: MANAGEMENT_BODY_BYTES_MAX,
    authenticate: doors.management,
    handlers: role.management
      ? createManagementHandlers({
          db: database.db,
          sealer,
          egress,
          snapshots,
          admission: admission.desk,
          limitUsage: admission.engine.usage,
          clock,
          newId: randomUUIDv7,
          typicalOutputTokens: typicalOutput.tokens,
        })
      : null,
  });

  const listener = await listen(environment.RELAY_HTTP_ADDR, {
    newRequestId: randomUUIDv7,
    publicUrl,
    inference,
    everythingElse,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 120_000,
    health: () => ({
      // Inference goes on from memory while a store is away, so that alone does not take it out of rotation.
      ready: !draining,
      parts: {
        role: roleName,
        postgresql: isRecent(snapshots.state().lastPollOkAtMs, clock.nowMs()) ? 'up' : 'down',
        redis: redis.state().ready ? 'up' : 'down',
        draining: String(draining),
      },
    }),
  });
  await admission.start();
  if (role.metering) admission.startSweeping();
  const worker = role.metering
    ? startLedgerWorker({ redis, db: database.db, clock, log, consumer: processId })
    : null;
  log.info({ address: listener.address, role: roleName, mode: environment.RELAY_MODE }, 'listening');

  let stopped: Promise<{ cut: number }> | null = null;
  async function stop(): Promise<{ cut: number }> {
    draining = true;
    log.info({ open_requests: listener.openRequests() }, 'draining');
    const { cut } = await listener.drain(environment.RELAY_DRAIN_TIMEOUT_MS);
    const unsettled = await admission.stop(FLUSH_MS_MAX);
    const unsent = await usage.close(FLUSH_MS_MAX);
    await worker?.stop();
    await snapshots.stop();
    await egress.close();
    await redis.close();
    await database.close();
    log.info({ cut, unsettled, unsent_records: unsent }, 'stopped');
    return { cut };
  }
  return { address: listener.address, stop: () => (stopped ??= stop()) };
}

async function prepareDatabase(database: DatabaseHandle, log: Log): Promise<void> {
  const applied = await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
}

/** The configuration is polled every second; a poll that is this old has failed several times. */
function isRecent(lastPollOkAtMs: number | null, nowMs: number): boolean {
  return lastPollOkAtMs !== null && nowMs - lastPollOkAtMs < 5_000;
}

function publicUrlOf(environment: Environment): string {
  const { host, port } = environment.RELAY_HTTP_ADDR;
  const url = environment.RELAY_PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return url.replace(/\/+$/, '');
}
