import { createFollowLimits } from '../admission/follow-limits.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { CLOCK_LEEWAY_SECONDS, CONTEXT_SECONDS } from '../edge/context/context.ts';
import { createContextGate } from '../edge/context/context-gate.ts';
import { createContextSigner } from '../edge/context/sign-context.ts';
import { createContextVerifier } from '../edge/context/verify-context.ts';
import { createForwarder } from '../edge/forward.ts';
import type { Authenticate } from '../http/authenticate.ts';
import { createBodyMemory } from '../http/body-memory.ts';
import { createBodyPace } from '../http/body-pace.ts';
import { withCors } from '../http/cors.ts';
import type { RequestHandler } from '../http/listener.ts';
import { type OpenWork, stopOpenWork } from '../http/open-work.ts';
import type { BodyBounds } from '../http/read-body.ts';
import type { ProviderSilence } from '../inference/dispatch/provider-silence.ts';
import { createNewestSnapshot } from '../inference/guard/newest-snapshot.ts';
import type { InferenceDeps } from '../inference/handler.ts';
import { createInferenceHandler } from '../inference/handler.ts';
import { createHealthProbes, type HealthProbes } from '../inference/health-probes.ts';
import type { SettleDeps } from '../inference/settle/settle.ts';
import type { Clock } from '../kit/clock.ts';
import { DeadlineWheel } from '../kit/deadline-wheel.ts';
import { createInternalLink } from '../kit/egress/index.ts';
import { createFairSlices } from '../kit/fair-slices.ts';
import { createOneAtATime } from '../kit/one-at-a-time.ts';
import { createShares } from '../kit/shares.ts';
import { type CredentialUses, createCredentialUses } from '../store/keys/credential-uses.ts';
import { createKeyBudgets } from '../store/keys/key-budgets.ts';
import { createUsedContexts } from '../store/keys/used-contexts.ts';
import type { RunningTracing } from './create-tracing.ts';
import type { Upstream } from './create-upstream.ts';
import type { Environment } from './environment.ts';
import type { Configuration } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';
import type { RunningAdmission } from './start-admission.ts';

/** Longer than any lane's wait, provider timeout or idle stream, so that only a hanging process reaches it. */
const HEAD_TIMEOUT_MS = 4 * 3_600_000;
const IDLE_TIMEOUT_MS = 3_660_000;
/** The signer's clock and the verifier's may be off by the leeway in opposite directions, at both ends of the context's life. */
const CONTEXT_LIFE_MS = (CONTEXT_SECONDS + 4 * CLOCK_LEEWAY_SECONDS) * 1_000;

/** How long one turn of the event loop may read large bodies. All other requests wait meanwhile. */
const SLICE_MS = 1;
/** Keys with limits of their own whose requests wait when the configuration changes. */
const WAITING_KEYS_MAX = 1_000;

export interface InferenceParts {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'database' | 'redis'>;
  readonly configuration: Configuration;
  readonly upstream: Upstream;
  readonly admission: RunningAdmission;
  /** Authenticates clients. */
  readonly authenticate: Authenticate;
  /** Null while tracing is off. */
  readonly tracing: Pick<RunningTracing, 'tracer'> | null;
  readonly onSettled: NonNullable<SettleDeps['onSettled']>;
  readonly onRefused: NonNullable<InferenceDeps['onRefused']>;
  readonly silence: ProviderSilence;
}

export interface RunningInference {
  /** Null in a role that serves nothing below `/v1/`. */
  readonly handler: RequestHandler | null;
  /** Ends every request in progress with an error. */
  cutOff(): void;
  stop(): Promise<void>;
}

/**
 * Serves `/v1/` in this process. In hosted mode with separate roles, the platform authenticates clients and forwards their
 * requests, and inference accepts only requests that a platform signed.
 */
export function startInference(parts: InferenceParts): RunningInference {
  const { environment, roleName } = parts.runtime;
  const isSplit = environment.RELAY_MODE === 'hosted' && roleName !== 'all';
  const origins = new Set(environment.RELAY_CORS_ORIGINS);
  const open: OpenWork = new Set();
  const cutOff = () => stopOpenWork(open);
  if (isSplit && roleName === 'platform') {
    const { handler, stop } = startForwarding(parts, open);
    return { handler: withCors(origins, handler), cutOff, stop };
  }
  if (!roles[roleName].inference) return { handler: null, cutOff, stop: nothing };
  const { noted, uses } = noteCredentials(parts);
  const probes = followHealth(parts);
  followLimits(parts);
  const stop = () => {
    probes.stop();
    return uses.stop();
  };
  // Browsers call the platform and never the inference behind it.
  if (isSplit) return { handler: createGate(noted, open), cutOff, stop };
  return { handler: withCors(origins, createDataPlane(noted, open, noted.authenticate)), cutOff, stop };
}

/** Every settled request notes the credential that it used. */
function noteCredentials(parts: InferenceParts): { noted: InferenceParts; uses: CredentialUses } {
  const { runtime, stores } = parts;
  const uses = createCredentialUses({ db: stores.database.db, clock: runtime.clock, log: runtime.log });
  uses.start();
  const noted: InferenceParts = {
    ...parts,
    onSettled(record, figures) {
      parts.onSettled(record, figures);
      uses.note(record.organizationId, record.credentialId);
    },
  };
  return { noted, uses };
}

function createDataPlane(parts: InferenceParts, open: OpenWork, authenticate: Authenticate): RequestHandler {
  const { runtime, configuration, upstream, admission } = parts;
  const { environment, clock, log } = runtime;
  const { fences, snapshots } = configuration;
  return createInferenceHandler({
    clock,
    log,
    publicUrl: runtime.publicUrl,
    draining: runtime.draining,
    open,
    egress: upstream.egress,
    upstreamAuth: upstream.upstreamAuth,
    slices: createFairSlices(clock, SLICE_MS),
    decoding: createOneAtATime(),
    desk: admission.desk,
    health: admission.health,
    waitersMax: environment.RELAY_WAITERS_MAX,
    waitingPlaces: createShares(environment.RELAY_WAITING_MAX, environment.RELAY_MODE === 'hosted'),
    authenticate,
    snapshotOf: (organizationId) => snapshots.get(organizationId) ?? snapshots.load(organizationId),
    newest: createNewestSnapshot({ fences, snapshots, clock, log }),
    askGuardrail: upstream.askGuardrail,
    typicalUse: upstream.typicalUse,
    bodyBytesMax: environment.RELAY_MAX_BODY_BYTES,
    ...bodySharesOf(environment, clock),
    attemptsMax: environment.RELAY_ATTEMPTS_MAX,
    deadlines: new DeadlineWheel(clock),
    headersTimeoutMs: environment.RELAY_UPSTREAM_HEADERS_TIMEOUT_MS,
    idleTimeoutMs: environment.RELAY_UPSTREAM_IDLE_TIMEOUT_MS,
    tracer: parts.tracing?.tracer ?? null,
    onSettled: parts.onSettled,
    onRefused: parts.onRefused,
    silence: parts.silence,
  });
}

/**
 * A gateway that has just started, or meets an organization for the first time, learns which of its endpoints are down, and
 * which of its providers to ask.
 */
function followHealth({ runtime, configuration, upstream, admission }: InferenceParts): HealthProbes {
  const { owner, snapshots } = configuration;
  const { clock, deployment } = runtime;
  const { health } = admission;
  const { egress, upstreamAuth } = upstream;
  const probes = createHealthProbes({ egress, upstreamAuth, health, clock, version: deployment.version });
  const follow = (organizationId: string, snapshot: OrganizationSnapshot | undefined) => {
    if (snapshot !== undefined) health.learn(snapshot);
    probes.know(organizationId, snapshot);
  };
  const known = owner === null ? undefined : snapshots.get(owner.organizationId);
  if (known !== undefined) follow(known.organizationId, known);
  snapshots.onChange(follow);
  probes.start();
  return probes;
}

/** Those who wait are told when a limit changes. */
function followLimits({ runtime, stores, configuration, admission }: InferenceParts): void {
  const { db } = stores.database;
  const budgets = createKeyBudgets({ db, keysMax: WAITING_KEYS_MAX });
  const { desk } = admission;
  const follow = createFollowLimits({
    desk,
    keyPoliciesOf: async (...key) => (await budgets.of(...key)).policies,
    log: runtime.log,
  });
  configuration.snapshots.onChange((_organizationId, snapshot) => {
    if (snapshot !== undefined) void follow(snapshot);
  });
}

function startForwarding(
  { runtime, configuration, authenticate }: InferenceParts,
  open: OpenWork,
): {
  readonly handler: RequestHandler;
  stop(): Promise<void>;
} {
  const { environment, clock } = runtime;
  const { snapshots } = configuration;
  const link = createInternalLink({
    origin: environment.RELAY_INFERENCE_URL ?? '',
    connectTimeoutMs: environment.RELAY_UPSTREAM_CONNECT_TIMEOUT_MS,
    requestsMax: environment.RELAY_UPSTREAM_CONNECTIONS_MAX,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  });
  const handler = createForwarder({
    authenticate,
    sign: createContextSigner({ seed: environment.RELAY_CONTEXT_SIGNING_KEY ?? Buffer.alloc(0), clock }),
    versionOf: (organizationId) => snapshots.get(organizationId)?.version ?? 0,
    link,
    bodyBytesMax: environment.RELAY_MAX_BODY_BYTES,
    ...bodySharesOf(environment, clock),
    slices: createFairSlices(clock, SLICE_MS),
    publicUrl: runtime.publicUrl,
    draining: runtime.draining,
    open,
    log: runtime.log,
  });
  return { handler, stop: () => link.close() };
}

function createGate(parts: InferenceParts, open: OpenWork): RequestHandler {
  const { runtime, stores, configuration } = parts;
  const { environment, clock, log, publicUrl } = runtime;
  const { database, redis } = stores;
  const { snapshots } = configuration;
  if (redis === null) throw new Error('a separate process for the inference role needs Redis');
  const budgets = createKeyBudgets({ db: database.db, keysMax: environment.RELAY_KEY_CACHE_MAX });
  return createContextGate({
    verify: createContextVerifier({ publicKeys: environment.RELAY_CONTEXT_VERIFY_KEYS, clock }),
    used: createUsedContexts({ redis, clock, lifeMs: CONTEXT_LIFE_MS }),
    snapshotAtLeast(organizationId, version) {
      const known = snapshots.get(organizationId);
      return known !== undefined && known.version >= version
        ? known
        : snapshots.atLeast(organizationId, version);
    },
    keyTermsOf: budgets.of,
    publicUrl,
    log,
    inner: (authenticate) => createDataPlane(parts, open, authenticate),
  });
}

/** One body of the largest size always fits the share of an organization that is alone, which is a half. */
function bodySharesOf(
  { RELAY_BODY_MEMORY_BYTES, RELAY_MAX_BODY_BYTES, RELAY_MODE }: Environment,
  clock: Clock,
): Pick<BodyBounds, 'bodyMemory' | 'bodyPace'> {
  const shared = RELAY_MODE === 'hosted';
  const bytesMax = Math.max(RELAY_BODY_MEMORY_BYTES, 2 * RELAY_MAX_BODY_BYTES);
  return {
    bodyMemory: createBodyMemory({ bytesMax, shared }),
    bodyPace: shared ? createBodyPace(clock) : null,
  };
}

async function nothing(): Promise<void> {}
