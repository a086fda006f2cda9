import type { SignInCodes } from '../edge/sign-in-codes.ts';
import type { Health } from '../http/health.ts';
import { listen } from '../http/listener.ts';
import { createLog, type Log } from '../kit/log.ts';
import { uuidAt } from '../kit/uuid-time.ts';
import type { RunningMail } from '../mail/mail.ts';
import { createBrowserSessions } from './create-browser-sessions.ts';
import { createMail } from './create-mail.ts';
import { createManagement } from './create-management.ts';
import { createTracing, type RunningTracing } from './create-tracing.ts';
import { createUpstream, type Upstream } from './create-upstream.ts';
import type { Environment } from './environment.ts';
import { createMeasurements } from './measurements.ts';
import { type Configuration, openConfiguration } from './open-configuration.ts';
import { type DataDirectory, type MeteringPart, openStores, type Stores } from './open-stores.ts';
import { type RoleName, roles } from './roles.ts';
import { createRuntime, type Runtime } from './runtime.ts';
import { secretsHealth } from './secrets-health.ts';
import { type StoppedParts, shutDown } from './shut-down.ts';
import type { RunningAdmission } from './start-admission.ts';
import { type RunningAuthenticators, startAuthenticators } from './start-authenticators.ts';
import { applyConfigAtStart } from './start-config.ts';
import { loggingStart } from './start-failure.ts';
import { type RunningInference, startInference } from './start-inference.ts';
import { healthChecksOf, ledgerHealthOf } from './store-faults.ts';
import { type ClockWatch, timeSourcesOf, watchClocks } from './watch-clocks.ts';
import { withAlerts } from './with-alerts.ts';
import { withConsole } from './with-console.ts';
import { withMetrics } from './with-metrics.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;

export interface RunningServer {
  readonly address: string;
  /** Drains, then closes everything. Safe to call twice. */
  stop(): Promise<{ cut: number }>;
}

export interface ServeOptions {
  /** Where `relay start` keeps all state; without it PostgreSQL and Redis are servers. */
  readonly dataDirectory?: DataDirectory;
  readonly log?: Log;
  readonly signInCodes?: SignInCodes;
  /** The secret of the data directory, in whose place the environment may have another one. */
  readonly keptAuthSecret?: string | undefined;
}

/**
 * Starts one process in the given role and reads from top to bottom: stores, configuration, what the planes share, who may
 * call, the two planes, the listener, background work. `shutDown` closes them again.
 */
export async function serve(
  environment: Environment,
  roleName: RoleName,
  options: ServeOptions = {},
): Promise<RunningServer> {
  const log = options.log ?? createLog(environment.RELAY_LOG_LEVEL);
  return await loggingStart(log, () => startServing(environment, roleName, { ...options, log }));
}

async function startServing(
  environment: Environment,
  roleName: RoleName,
  options: ServeOptions & { readonly log: Log },
): Promise<RunningServer> {
  const { log, dataDirectory = null, signInCodes = null } = options;
  const runtime = createRuntime(environment, roleName, log, {
    isEmbedded: dataDirectory !== null,
    keptAuthSecret: options.keptAuthSecret ?? null,
  });
  const stores = await openStores(runtime, dataDirectory);
  const configuration = await openConfiguration(runtime, stores);
  await stores.claim();
  const clocks = await watchClocks(runtime, timeSourcesOf(stores));
  const upstream = createUpstream(runtime);
  const measurements = createMeasurements(runtime.clock);
  const tracing = createTracing(runtime);
  const admission = stores.admission(measurements);
  await admission.prepare();
  const parts = { runtime, stores, configuration, upstream, admission, tracing };

  const mail = createMail(parts);
  const sessions = createBrowserSessions({ ...parts, mail, signInCodes });
  const authenticators = startAuthenticators({ ...parts, session: sessions.authenticator });

  const inference = startInference({
    ...parts,
    authenticate: authenticators.inference,
    onSettled: measurements.settled,
    onRefused: measurements.refused,
    silence: measurements.silence,
  });
  const management = await createManagement({
    ...parts,
    sessions,
    mail,
    authenticate: authenticators.management,
  });
  let metering: MeteringPart | null = null;
  const running = {
    ...parts,
    clocks,
    mail,
    measurements,
    authenticators,
    inference,
    metering: () => metering,
  };
  const withPages = withConsole(runtime, withMetrics(running, management));

  // Before listening: a file that cannot be applied stops the start.
  await applyConfigAtStart(parts);
  const listener = await listen(environment.RELAY_HTTP_ADDR, {
    newRequestId: () => uuidAt(runtime.clock.nowMs()),
    publicUrl: runtime.publicUrl,
    inference: inference.handler === null ? null : measurements.counted(inference.handler),
    everythingElse: measurements.counted(withPages),
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    health: () => healthOf(running),
  });
  await admission.start();
  if (roles[roleName].metering) metering = startWorker({ ...parts, mail });
  log.info({ address: listener.address, role: roleName, mode: environment.RELAY_MODE }, 'listening');

  let stopped: Promise<{ cut: number }> | null = null;
  return { address: listener.address, stop: () => (stopped ??= shutDown(running, listener)) };
}

type WorkerParts = Pick<
  RunningParts,
  'runtime' | 'stores' | 'configuration' | 'upstream' | 'admission' | 'mail'
>;

function startWorker(parts: WorkerParts): MeteringPart {
  const { runtime, stores, admission } = parts;
  admission.startSweeping();
  const { usage, recount, inFlight } = admission.engine;
  const { RELAY_LEDGER_RETENTION_DAYS: retentionDays } = runtime.environment;
  return withAlerts(stores.metering({ usage, recount, inFlight, retentionDays }), parts);
}

interface RunningParts extends StoppedParts {
  readonly runtime: Runtime;
  readonly stores: Stores;
  readonly configuration: Configuration;
  readonly clocks: ClockWatch;
  readonly upstream: Upstream;
  readonly admission: RunningAdmission;
  readonly mail: RunningMail | null;
  readonly authenticators: RunningAuthenticators;
  readonly inference: RunningInference;
  readonly tracing: RunningTracing | null;
  /** Null in a role without metering, and until it starts. */
  readonly metering: () => MeteringPart | null;
}

function healthOf(running: RunningParts): Health {
  const { runtime, stores, clocks, metering } = running;
  const { redis } = stores;
  const { roleName, leaving, deployment } = runtime;
  const meteringHealth = metering()?.health();
  const redisSettings = stores.redisSettings();
  const postgresSettings = stores.postgresSettings();
  return {
    draining: leaving(),
    hasForeignStore: stores.foreignRedis() !== null,
    version: deployment.version,
    role: roleName,
    stores: redis === null ? 'embedded' : 'servers',
    checks: healthChecksOf(running),
    ledger: ledgerHealthOf(running),
    ...(redis !== null && { clock: clocks.health() }),
    ...secretsHealth(runtime, running.configuration),
    ...(postgresSettings !== null && { postgresql_settings: postgresSettings }),
    ...(redisSettings !== null && { redis_settings: redisSettings }),
    ...(meteringHealth !== undefined && { metering: meteringHealth }),
  };
}
