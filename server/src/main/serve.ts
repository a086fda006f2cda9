import { randomBytes, randomUUIDv7 } from 'node:crypto';
import serverPackage from '../../package.json' with { type: 'json' };
import { createAskGuardrail } from '../guardrails/ask-guardrail.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { listen } from '../http/listener.ts';
import { createManagementApp } from '../http/management-app.ts';
import { createMetricsPage } from '../http/metrics-page.ts';
import { createNewestSnapshot } from '../inference/guard/newest-snapshot.ts';
import { createInferenceHandler } from '../inference/handler.ts';
import { createTypicalOutput } from '../inference/settle/typical-output.ts';
import { systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog, type Log } from '../kit/log.ts';
import { createSealer } from '../kit/seal.ts';
import { Secret } from '../kit/secret.ts';
import { createManagementHandlers } from '../management/index.ts';
import { ensureImplicitOrganization } from '../store/configuration/implicit-organization.ts';
import { resealCredentials } from '../store/configuration/reseal-credentials.ts';
import { createSnapshots } from '../store/configuration/snapshots.ts';
import { rememberFences } from '../store/keys/known-fences.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../store/postgres/migrate.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import { authSecretsFrom } from './auth-secrets.ts';
import type { Environment } from './environment.ts';
import { createMeasurements } from './measurements.ts';
import { type DataDirectory, type MeteringPart, openStores } from './open-stores.ts';
import { type RoleName, roles } from './roles.ts';
import { applyConfigAtStart } from './start-config.ts';
import { withConsole } from './start-console.ts';
import { startDoors } from './start-doors.ts';
import { startInference } from './start-inference.ts';
import { createServerMetrics } from './start-metrics.ts';
import { startSessions } from './start-sessions.ts';

const MANAGEMENT_BODY_BYTES_MAX = 1024 * 1024;
const FLUSH_MS_MAX = 5_000;

export interface RunningServer {
  readonly address: string;
  /** Drains, then closes everything. Safe to call twice. */
  stop(): Promise<{ cut: number }>;
}

export interface ServeOptions {
  /** Where everything is kept; without it PostgreSQL and Redis are servers. */
  readonly dataDirectory?: DataDirectory;
  readonly log?: Log;
}

/** Starts one process in the given role: stores, then the rooms that the role needs, then the listener. */
export async function serve(
  environment: Environment,
  roleName: RoleName,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const { log = createLog(environment.RELAY_LOG_LEVEL), dataDirectory = null } = options;
  const role = roles[roleName];
  const clock = systemClock;
  const sealer = createSealer({
    primary: environment.RELAY_MASTER_KEY,
    previous: environment.RELAY_MASTER_KEY_PREVIOUS,
  });
  const stores = await openStores({ environment, roleName, clock, log, dataDirectory });
  const { database, redis } = stores;
  await prepareDatabase(database, log);
  if (environment.RELAY_MASTER_KEY_PREVIOUS.length > 0)
    await resealCredentials({ db: database.db, sealer, log });
  const owner = environment.RELAY_MODE === 'hosted' ? null : await ensureImplicitOrganization(database.db);

  const fences = rememberFences(stores.fences, clock);
  const snapshots = createSnapshots({ database, sealer, clock, log });
  if (owner !== null) await snapshots.load(owner.organizationId);
  snapshots.start();

  const egressOptions = {
    allowedCidrs: environment.RELAY_ALLOW_PRIVATE_NETWORKS,
    connectTimeoutMs: environment.RELAY_UPSTREAM_CONNECT_TIMEOUT_MS,
    connectionsPerOriginMax: environment.RELAY_UPSTREAM_CONNECTIONS_MAX,
    originsMax: 1_000,
  };
  const egress = createEgress(egressOptions);
  const typicalOutput = createTypicalOutput();
  const newest = createNewestSnapshot({ fences, snapshots, clock, log });
  const askGuardrail = createAskGuardrail({ egress, clock, log });
  const measurements = createMeasurements(clock);
  const admission = stores.admission(measurements.timed);
  await admission.prepare();
  const publicUrl = publicUrlOf(environment);
  const deployment = {
    mode: environment.RELAY_MODE,
    accounts: environment.RELAY_ACCOUNTS,
    version: serverPackage.version,
  };
  const sessions = startSessions({
    environment,
    owner,
    database,
    redis,
    fences,
    publicUrl,
    clock,
    log,
  });
  const { keyPepper } = authSecretsFrom(environment.RELAY_AUTH_SECRET ?? '');
  const doors = startDoors({
    environment,
    owner,
    database,
    fences,
    snapshots,
    clock,
    log,
    keyPepper,
    session: sessions.door,
  });

  let draining = false;
  const shared = { clock, log, publicUrl, draining: () => draining };
  const inferenceFor = (authenticate: Authenticate) =>
    createInferenceHandler({
      ...shared,
      egress,
      desk: admission.desk,
      waitersMax: environment.RELAY_WAITERS_MAX,
      authenticate,
      snapshotOf: (organizationId) => snapshots.get(organizationId) ?? snapshots.load(organizationId),
      newest,
      askGuardrail,
      typicalOutput,
      bodyBytesMax: environment.RELAY_MAX_BODY_BYTES,
      attemptsMax: environment.RELAY_ATTEMPTS_MAX,
      headersTimeoutMs: environment.RELAY_UPSTREAM_HEADERS_TIMEOUT_MS,
      idleTimeoutMs: environment.RELAY_UPSTREAM_IDLE_TIMEOUT_MS,
      onSettled: measurements.settled,
    });
  const inference = startInference(roleName, {
    ...shared,
    environment,
    database,
    redis,
    snapshots,
    authenticate: doors.inference,
    inferenceFor,
  });
  const everythingElse = await createManagementApp({
    ...shared,
    bodyBytesMax: MANAGEMENT_BODY_BYTES_MAX,
    authenticate: doors.management,
    handlers: role.management
      ? {
          ...sessions.handlers(),
          ...createManagementHandlers({
            ofOrganization: database.ofOrganization,
            fences,
            keyPepper,
            randomBytes,
            deployment,
            billing: {
              db: database.db,
              stripeWebhookSecret: environment.RELAY_STRIPE_WEBHOOK_SECRET,
            },
            publicUrl,
            sealer,
            egress,
            openEgress: () => createEgress(egressOptions),
            snapshots,
            admission: admission.desk,
            limitUsage: admission.limitUsage,
            liveFlows: admission.liveFlows,
            clock,
            newId: randomUUIDv7,
            typicalOutputTokens: typicalOutput.tokens,
          }),
        }
      : null,
  });

  let metering: MeteringPart | null = null;
  const isPostgresqlUp = () => isRecent(snapshots.state().lastPollOkAtMs, clock.nowMs());
  const metrics = createServerMetrics({
    info: { version: serverPackage.version, role: roleName, mode: environment.RELAY_MODE },
    measurements,
    admission,
    snapshots,
    redis,
    keysHeld: doors.keysHeld,
    metering: () => metering,
    isPostgresqlUp,
    clock,
  });
  const metricsToken = environment.RELAY_METRICS_TOKEN;
  const withMetrics = createMetricsPage(
    { metrics, token: metricsToken === null ? null : new Secret(metricsToken), publicUrl, log },
    everythingElse,
  );

  await applyConfigAtStart({
    environment,
    role: roleName,
    owner,
    deps: {
      ofOrganization: database.ofOrganization,
      deployment,
      snapshots,
      sealer,
      egress,
      fences,
      clock,
      newId: randomUUIDv7,
    },
    log,
  });
  const listener = await listen(environment.RELAY_HTTP_ADDR, {
    newRequestId: randomUUIDv7,
    publicUrl,
    inference: inference.handler === null ? null : measurements.counted(inference.handler),
    everythingElse: measurements.counted(role.management ? withConsole(publicUrl, withMetrics) : withMetrics),
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 120_000,
    health: () => ({
      // Inference goes on from memory while a store is away, so that alone does not take it out of rotation.
      ready: !draining,
      parts: {
        role: roleName,
        stores: redis === null ? 'embedded' : 'servers',
        postgresql: isPostgresqlUp() ? 'up' : 'down',
        ...(redis === null ? {} : { redis: redis.state().ready ? 'up' : 'down' }),
        draining: String(draining),
        ...(metering === null ? {} : { metering: metering.health() }),
      },
    }),
  });
  await admission.start();
  if (role.metering) admission.startSweeping();
  if (role.metering) {
    const { usage } = admission.engine;
    metering = stores.metering({ usage, retentionDays: environment.RELAY_LEDGER_RETENTION_DAYS });
  }
  log.info({ address: listener.address, role: roleName, mode: environment.RELAY_MODE }, 'listening');

  let stopped: Promise<{ cut: number }> | null = null;
  async function stop(): Promise<{ cut: number }> {
    draining = true;
    log.info({ open_requests: listener.openRequests() }, 'draining');
    const { cut } = await listener.drain(environment.RELAY_DRAIN_TIMEOUT_MS);
    const { kept, lost } = await admission.stop(FLUSH_MS_MAX);
    await metering?.stop();
    await inference.stop();
    await doors.stop();
    await snapshots.stop();
    await egress.close();
    await stores.close();
    log.info({ cut, kept_on_disk: kept, lost }, 'stopped');
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
