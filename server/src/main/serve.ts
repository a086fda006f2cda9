import { setTimeout as afterMs } from 'node:timers/promises';
import type { SignInCodes } from '../edge/sign-in-codes.ts';
import type { Health } from '../http/health.ts';
import { type Listener, listen } from '../http/listener.ts';
import { createLog, type Log } from '../kit/log.ts';
import { uuidAt } from '../kit/uuid-time.ts';
import type { RunningMail } from '../mail/mail.ts';
import type { Redis } from '../store/redis/redis.ts';
import { keyPeppersFrom } from './auth-secrets.ts';
import { createBrowserSessions } from './create-browser-sessions.ts';
import { createMail } from './create-mail.ts';
import { createManagement } from './create-management.ts';
import { createTracing, type RunningTracing } from './create-tracing.ts';
import { createUpstream, type Upstream } from './create-upstream.ts';
import type { Environment } from './environment.ts';
import { createMeasurements } from './measurements.ts';
import { type Configuration, isPostgresqlUp, openConfiguration } from './open-configuration.ts';
import { type DataDirectory, type MeteringPart, openStores, type Stores } from './open-stores.ts';
import { type RoleName, roles } from './roles.ts';
import { createRuntime, type Runtime } from './runtime.ts';
import type { RunningAdmission } from './start-admission.ts';
import { type RunningAuthenticators, startAuthenticators } from './start-authenticators.ts';
import { applyConfigAtStart } from './start-config.ts';
import { type RunningInference, startInference } from './start-inference.ts';
import { type ClockWatch, timeSourcesOf, watchClocks } from './watch-clocks.ts';
import { withAlerts } from './with-alerts.ts';
import { withConsole } from './with-console.ts';
import { withMetrics } from './with-metrics.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;
const FLUSH_MS_MAX = 5_000;
const MAIL_MS_MAX = 5_000;

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
  const { log = createLog(environment.RELAY_LOG_LEVEL), dataDirectory = null, signInCodes = null } = options;
  const runtime = createRuntime(environment, roleName, log);
  const stores = await openStores(runtime, dataDirectory);
  const configuration = await openConfiguration(runtime, stores);
  const clocks = await watchClocks(runtime, timeSourcesOf(stores));
  const upstream = createUpstream(runtime);
  const measurements = createMeasurements(runtime.clock);
  const tracing = createTracing(runtime);
  const admission = stores.admission(measurements);
  await admission.prepare();
  const parts = { runtime, stores, configuration, upstream, admission, tracing };

  const keyPeppers = keyPeppersFrom(environment, options.keptAuthSecret);
  const mail = createMail(parts);
  const sessions = createBrowserSessions({ ...parts, mail, signInCodes });
  const authenticators = startAuthenticators({ ...parts, keyPeppers, session: sessions.authenticator });

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
    keyPepper: keyPeppers[0],
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
  if (roles[roleName].metering) {
    admission.startSweeping();
    const { usage, recount } = admission.engine;
    const { RELAY_LEDGER_RETENTION_DAYS: retentionDays } = environment;
    metering = withAlerts(stores.metering({ usage, recount, retentionDays }), { ...parts, mail });
  }
  log.info({ address: listener.address, role: roleName, mode: environment.RELAY_MODE }, 'listening');

  let stopped: Promise<{ cut: number }> | null = null;
  return { address: listener.address, stop: () => (stopped ??= shutDown(running, listener)) };
}

interface RunningParts {
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

function healthOf({ runtime, stores, configuration, clocks, metering }: RunningParts): Health {
  const { redis } = stores;
  const { roleName, leaving, clock, deployment } = runtime;
  const meteringHealth = metering()?.health();
  const redisSettings = stores.redisSettings();
  const postgresSettings = stores.postgresSettings();
  return {
    draining: leaving(),
    version: deployment.version,
    role: roleName,
    stores: redis === null ? 'embedded' : 'servers',
    checks: {
      postgresql: checkOf(
        isPostgresqlUp(configuration, clock.nowMs()),
        'Management returns 503. Inference uses the last known configuration.',
      ),
      ...(redis !== null && {
        redis: checkOf(
          isRedisUp(redis),
          'Requests that are subject to a limit get 503. Relay serves the others and keeps their usage on disk.',
        ),
      }),
    },
    ...(redis !== null && { clock: clocks.health() }),
    ...(postgresSettings !== null && { postgresql_settings: postgresSettings }),
    ...(redisSettings !== null && { redis_settings: redisSettings }),
    ...(meteringHealth !== undefined && { metering: meteringHealth }),
  };
}

function checkOf(isUp: boolean, detail: string): Health['checks'][string] {
  return isUp ? { status: 'ok' } : { status: 'unavailable', detail };
}

/** A server that is frozen keeps its connections, and only the circuit breaker notices. */
function isRedisUp(redis: Redis): boolean {
  const { ready, breaker } = redis.state();
  return ready && breaker === 'closed';
}

/**
 * Not ready first, while load balancers notice; then no new requests; at the end of the drain time what is open is cut off. Then
 * stops what serving needs, and closes the stores last.
 */
async function shutDown(running: RunningParts, listener: Listener): Promise<{ cut: number }> {
  const { environment, log, clock } = running.runtime;
  const endMs = clock.monotonicMs() + environment.RELAY_DRAIN_TIMEOUT_MS;
  running.runtime.startLeaving();
  listener.startLeaving();
  log.info({ open_requests: listener.openRequests() }, 'draining');
  await afterMs(lameDuckMsOf(running.runtime));
  running.runtime.startDraining();
  const { cut } = await listener.drain(Math.max(0, endMs - clock.monotonicMs()), running.inference.cutOff);
  await running.mail?.stop(MAIL_MS_MAX);
  const { kept, lost } = await running.admission.stop(FLUSH_MS_MAX);
  await running.tracing?.stop();
  await running.metering()?.stop();
  await running.inference.stop();
  await running.authenticators.stop();
  running.clocks.stop();
  await running.configuration.snapshots.stop();
  await running.upstream.egress.close();
  await running.stores.close();
  log.info({ cut, kept_on_disk: kept, lost }, 'stopped');
  return { cut };
}

/** A process without clients has none to wait for. */
function lameDuckMsOf({ environment, roleName }: Runtime): number {
  const { management, inference } = roles[roleName];
  if (!management && !inference) return 0;
  return Math.min(environment.RELAY_LAME_DUCK_MS, environment.RELAY_DRAIN_TIMEOUT_MS);
}
