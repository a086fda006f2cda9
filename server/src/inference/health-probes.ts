import type { EndpointHealth } from '../admission/health/endpoint-health.ts';
import { type Candidate, isPrepared, routingTableOf } from '../domain/routing/routing.ts';
import { isContentIndependent, verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { OrganizationSnapshot, Provider } from '../domain/snapshot.ts';
import type { Clock } from '../kit/clock.ts';
import type { Egress, EgressHandler, EgressRequest } from '../kit/egress/index.ts';
import { probedProtocol } from '../protocols/index.ts';
import type { UpstreamAuth } from '../protocols/upstream-auth/create-upstream-auth.ts';
import { TokenError } from '../protocols/upstream-auth/google-tokens.ts';
import { modelListTarget, operationTarget, withExtraHeaders } from '../protocols/upstream-request.ts';
import { connectionFaultOf } from './dispatch/failure-code.ts';
import { statusWords } from './note-health.ts';

const TICK_MS = 5_000;
const EVERY_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** More are sent with the next tick. */
const CONCURRENT_MAX = 50;
const CALLER = 'health_probe';

export interface HealthProbeDeps {
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly upstreamAuth: UpstreamAuth;
  readonly health: Pick<EndpointHealth, 'ended' | 'claimProbe'>;
  readonly clock: Clock;
  readonly version: string;
}

export interface HealthProbes {
  /** The organization's newest configuration; undefined when it is gone. */
  know(organizationId: string, snapshot: OrganizationSnapshot | undefined): void;
  /** Sends what is due. Resolves when all of it is answered. */
  tick(): Promise<void>;
  start(): void;
  stop(): void;
}

/**
 * Asks providers that are configured so whether they answer, though no client does. One process of the deployment asks each provider
 * every 30 s. The result counts like that of a request, except that a list of models says nothing about a model that fails.
 */
export function createHealthProbes(deps: HealthProbeDeps): HealthProbes {
  /** Those with a provider to probe. */
  const organizations = new Map<string, OrganizationSnapshot>();
  let timer: NodeJS.Timeout | null = null;
  let running = 0;

  async function probe(organizationId: string, candidates: readonly Candidate[]): Promise<void> {
    const [first] = candidates;
    if (first === undefined || running >= CONCURRENT_MAX) return;
    if (!(await deps.health.claimProbe(organizationId, `provider:${first.provider.id}`, EVERY_MS))) return;
    running += 1;
    try {
      const result = await send(deps, organizationId, first);
      const met = first.provider.healthProbe === 'models' ? candidates : [first];
      for (const candidate of met) note(deps, organizationId, candidate, result);
    } finally {
      running -= 1;
    }
  }

  async function tick(): Promise<void> {
    const all = [...organizations].flatMap(([organizationId, snapshot]) =>
      probed(snapshot).map((candidates) => probe(organizationId, candidates)),
    );
    await Promise.allSettled(all);
  }

  return {
    know(organizationId, snapshot) {
      if (snapshot !== undefined && probed(snapshot).length > 0) organizations.set(organizationId, snapshot);
      else organizations.delete(organizationId);
    },
    tick,
    start() {
      timer = setInterval(() => void tick(), TICK_MS);
      timer.unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}

/** The enabled endpoints of each provider that is to be probed. */
function probed(snapshot: OrganizationSnapshot): Candidate[][] {
  const isProbed = (provider: Provider) =>
    provider.enabled &&
    provider.healthProbe !== 'off' &&
    (provider.healthProbe === 'request' || modelListTarget(provider, '') !== null);
  const candidates = [...routingTableOf(snapshot).candidates.values()].filter(
    (each) => each.endpoint.enabled && isProbed(each.provider) && isPrepared(each),
  );
  return [...Map.groupBy(candidates, ({ provider }) => provider.id).values()];
}

interface Probed {
  readonly status: number | null;
  /** Why there was no answer; null also when the provider was not asked. */
  readonly why: string | null;
  readonly unsent: boolean;
  readonly tookMs: number;
}

function note(deps: HealthProbeDeps, organizationId: string, candidate: Candidate, result: Probed): void {
  const { status, why, unsent, tookMs } = result;
  const ofModels = candidate.provider.healthProbe === 'models';
  const silent = why === null ? 'neither' : 'fault';
  const count = status === null ? silent : verdictOfStatus(status).health;
  // A provider without a list of models answers 404.
  if (ofModels && (status === 404 || status === 405)) return;
  deps.health.ended({
    organizationId,
    candidate,
    caller: CALLER,
    count,
    error: count === 'ok' ? null : { message: why ?? statusWords(status ?? 0), status },
    hard: unsent || (status !== null && isContentIndependent(status)),
    tookMs,
    probe: !ofModels,
    // The list shows that the provider answers, and not that a model does that was found to fail.
    noted: ofModels,
    cooldownUntilMs: null,
  });
}

async function send(deps: HealthProbeDeps, organizationId: string, candidate: Candidate): Promise<Probed> {
  const { provider, credential, origin } = candidate;
  const request = requestFor(deps, candidate);
  const startMs = deps.clock.monotonicMs();
  const target = { provider, origin, secret: credential?.secret ?? null, organizationId };
  try {
    await deps.upstreamAuth.authorize(request, target);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return { status: null, why: error.message, unsent: true, tookMs: deps.clock.monotonicMs() - startMs };
  }
  return await new Promise((resolve) => {
    let stop: (() => void) | null = null;
    let connected = false;
    let status: number | null = null;
    const end = (result: Pick<Probed, 'status' | 'why' | 'unsent'>) => {
      clearTimeout(timer);
      resolve({ ...result, tookMs: deps.clock.monotonicMs() - startMs });
    };
    const timer = setTimeout(() => {
      stop?.();
      end({ status: null, why: 'no response within 10 s', unsent: !connected });
    }, TIMEOUT_MS);
    const handler: EgressHandler = {
      onRequestStart(controller) {
        connected = true;
        stop = () => controller.abort(new Error('the probe is over'));
      },
      onResponseStart(_controller, head) {
        if (head >= 200) status = head;
        if (head === 401) deps.upstreamAuth.rejected(request, target);
      },
      onResponseData() {},
      onResponseEnd: () => end({ status, why: null, unsent: false }),
      onResponseError(_controller, error) {
        const { code, why } = connectionFaultOf(error, connected);
        const isOwn = code === 'internal_error';
        end({ status: null, why: isOwn ? null : why, unsent: !connected && !isOwn });
      },
    };
    deps.egress.dispatch(candidate.origin, request, handler, organizationId);
  });
}

function requestFor(
  { version }: HealthProbeDeps,
  { endpoint, provider, pathPrefix }: Candidate,
): EgressRequest {
  const { path, probe, headers: rules } = probedProtocol(endpoint.routeKind, endpoint.protocol);
  const own = ['accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', `relay/${version}`];
  const headers = withExtraHeaders([...own, ...rules.own], provider.extraHeaders);
  const models = provider.healthProbe === 'models' ? modelListTarget(provider, pathPrefix) : null;
  if (models !== null) return { method: 'GET', path: models, headers, body: null };
  return {
    method: 'POST',
    path: operationTarget(provider, pathPrefix, path, endpoint.upstreamModel),
    headers: [...headers, 'content-type', 'application/json'],
    body: Buffer.from(JSON.stringify(probe.request(endpoint.upstreamModel))),
  };
}
