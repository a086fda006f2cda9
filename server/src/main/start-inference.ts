import { CLOCK_LEEWAY_SECONDS, CONTEXT_SECONDS } from '../edge/context/context.ts';
import { createContextGate } from '../edge/context/context-gate.ts';
import { createContextSigner } from '../edge/context/sign-context.ts';
import { createContextVerifier } from '../edge/context/verify-context.ts';
import { createForwarder } from '../edge/forward.ts';
import type { Authenticate } from '../http/authenticate.ts';
import type { RequestHandler } from '../http/listener.ts';
import type { Clock } from '../kit/clock.ts';
import { createInternalLink } from '../kit/egress/index.ts';
import type { Log } from '../kit/log.ts';
import type { Snapshots } from '../store/configuration/snapshots.ts';
import { createKeyBudgets } from '../store/keys/key-budgets.ts';
import { createUsedContexts } from '../store/keys/used-contexts.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Environment } from './environment.ts';
import { type RoleName, roles } from './roles.ts';

/** Beyond what any lane may wait, any provider take and any stream be silent: only a process that hangs gets here. */
const HEAD_TIMEOUT_MS = 4 * 3_600_000;
const IDLE_TIMEOUT_MS = 3_660_000;
/**
 * One clock may be ahead of the platform's by the leeway and another behind it, and each of them takes a context for
 * that much longer on either side.
 */
const CONTEXT_LIFE_MS = (CONTEXT_SECONDS + 4 * CLOCK_LEEWAY_SECONDS) * 1_000;

export interface InferenceParts {
  readonly environment: Environment;
  readonly database: DatabaseHandle;
  /** Null where live state is in this process, which then has every role. */
  readonly redis: Redis | null;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
  readonly draining: () => boolean;
  /** The door for clients. */
  readonly authenticate: Authenticate;
  readonly inferenceFor: (authenticate: Authenticate) => RequestHandler;
}

export interface RunningInference {
  /** Null where the role answers nothing below `/v1/`. */
  readonly handler: RequestHandler | null;
  stop(): Promise<void>;
}

/**
 * What answers below `/v1/` in this process. Hosted, with the roles in processes of their own, the platform is the
 * door and hands requests on, and inference takes them from platforms and nobody else.
 */
export function startInference(role: RoleName, parts: InferenceParts): RunningInference {
  const isSplit = parts.environment.RELAY_MODE === 'hosted' && role !== 'all';
  if (isSplit && role === 'platform') return startForwarding(parts);
  if (!roles[role].inference) return { handler: null, stop: nothing };
  const handler = isSplit ? createGate(parts) : parts.inferenceFor(parts.authenticate);
  return { handler, stop: nothing };
}

function startForwarding(parts: InferenceParts): RunningInference {
  const { environment, snapshots, clock } = parts;
  const link = createInternalLink({
    origin: environment.RELAY_INFERENCE_URL ?? '',
    connectTimeoutMs: environment.RELAY_UPSTREAM_CONNECT_TIMEOUT_MS,
    requestsMax: environment.RELAY_UPSTREAM_CONNECTIONS_MAX,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  });
  const handler = createForwarder({
    authenticate: parts.authenticate,
    sign: createContextSigner({ seed: environment.RELAY_CONTEXT_SIGNING_KEY ?? Buffer.alloc(0), clock }),
    versionOf: (organizationId) => snapshots.get(organizationId)?.version ?? 0,
    link,
    bodyBytesMax: environment.RELAY_MAX_BODY_BYTES,
    publicUrl: parts.publicUrl,
    draining: parts.draining,
    log: parts.log,
  });
  return { handler, stop: () => link.close() };
}

function createGate(parts: InferenceParts): RequestHandler {
  const { environment, redis, snapshots, clock } = parts;
  if (redis === null) throw new Error('a role of its own needs Redis');
  const budgets = createKeyBudgets({ db: parts.database.db, keysMax: environment.RELAY_KEY_CACHE_MAX });
  return createContextGate({
    verify: createContextVerifier({ publicKeys: environment.RELAY_CONTEXT_VERIFY_KEYS, clock }),
    used: createUsedContexts({ redis, clock, lifeMs: CONTEXT_LIFE_MS }),
    snapshotAtLeast(organizationId, version) {
      const known = snapshots.get(organizationId);
      return known !== undefined && known.version >= version
        ? known
        : snapshots.atLeast(organizationId, version);
    },
    keyPoliciesOf: budgets.of,
    publicUrl: parts.publicUrl,
    log: parts.log,
    inner: parts.inferenceFor,
  });
}

async function nothing(): Promise<void> {}
