import { durationWords } from '@relay/contract/words';
import type { Candidate } from '../../domain/routing/routing.ts';
import { inferenceKeyOf } from '../../http/authenticate.ts';
import type { Egress, EgressController, EgressHandler, EgressRequest } from '../../kit/egress/index.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import type { Authorized, UpstreamAuth } from '../../protocols/upstream-auth/create-upstream-auth.ts';
import { TokenError } from '../../protocols/upstream-auth/google-tokens.ts';
import { operationTarget, passedQuery, withExtraHeaders } from '../../protocols/upstream-request.ts';
import type { AttemptFault, Exchange, UpstreamListener } from '../exchange.ts';
import { type DeadlineKind, type DeadlinesMs, DeadlineWatch, type WatchDeps } from './deadlines.ts';
import { failureOf } from './failure-code.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/** What the provider is asked. */
export interface SentRequest {
  /** What the provider speaks. */
  readonly protocol: Protocol;
  /** In parts, which are sent one after the other. */
  readonly body: readonly Buffer[];
  /** The answer must not be encoded, because it is read before the client gets it. */
  readonly plain: boolean;
  /** The client speaks another protocol, so that what the provider's clients always send is missing. */
  readonly translated: boolean;
}

export interface DispatchDeps extends WatchDeps {
  readonly egress: Egress;
  readonly upstreamAuth: UpstreamAuth;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const TIMEOUT_WORDS: Record<DeadlineKind, (limit: string) => string> = {
  headers: (limit) => `no response within ${limit}`,
  idle: (limit) => `the response stalled for ${limit}`,
  total: (limit) => `no complete response within ${limit}, which is max_latency_ms`,
};
const NO_CREDENTIAL = {
  code: 'upstream_not_prepared',
  why: 'it has no enabled credential that Relay can decrypt and that fits its auth_mode',
} as const;

const UNSIGNED = {
  code: 'upstream_not_prepared',
  why: 'the request cannot be signed',
} as const;

const NO_TOKEN = { code: 'upstream_unreachable' } as const;

/** A client of another protocol says nothing in these headers that the provider would read. */
const FORWARDS_NOTHING = { forwarded: [], forwardedPrefix: null } as const;

/**
 * Sends one attempt and passes everything that comes back to the listener, which gets exactly one end: `onEnd` or `onFailure`. It
 * learns when the request leaves: a connection may fail, or the attempt end, before that.
 * Answers nothing itself; the pipeline turns a failure into a fallback or 502.
 *
 * Returns a function that stops the attempt; the listener gets nothing after it.
 */
export function sendUpstream(
  deps: DispatchDeps,
  exchange: Exchange,
  sent: SentRequest,
  candidate: Candidate,
  listener: UpstreamListener,
): () => void {
  const { provider, credential, endpoint, pathPrefix } = candidate;
  const headers = upstreamHeaders(
    exchange.request.headers,
    sent.translated ? FORWARDS_NOTHING : sent.protocol.headers,
    sent.plain,
    exchange.trace?.startAttempt() ?? null,
  );
  if (sent.translated) headers.push(...sent.protocol.headers.own);
  const request: EgressRequest = {
    method: 'POST',
    path: operationTarget(
      provider,
      pathPrefix,
      sent.protocol.path,
      endpoint.upstreamModel,
      sent.translated ? null : queryOf(exchange),
    ),
    headers: withExtraHeaders(headers, provider.extraHeaders),
    body: sent.body,
  };
  const { egress, upstreamAuth } = deps;
  const { origin } = candidate;
  const { organizationId } = exchange.caller;
  const target = { provider, origin, secret: credential?.secret ?? null, organizationId };
  const onRejected = () => upstreamAuth.rejected(request, target);
  const handler = new UpstreamHandler(deps, deadlinesOf(deps, candidate), listener, onRejected);
  const send = () => egress.dispatch(origin, request, handler, organizationId);
  const authorized = upstreamAuth.authorize(request, target);
  if (authorized === 'ready') send();
  else void sendAfter(authorized, handler, send);
  return () => handler.stop();
}

/** Null for most requests, which have no query. */
function queryOf({ request }: Exchange): URLSearchParams | null {
  const { url = '' } = request;
  const at = url.indexOf('?');
  return at < 0 ? null : passedQuery(url.slice(at + 1), inferenceKeyOf(request));
}

/** Sends what has to be signed first, unless the attempt is over by then. */
async function sendAfter(
  authorized: Authorized | Promise<Authorized>,
  handler: UpstreamHandler,
  send: () => void,
): Promise<void> {
  try {
    if ((await authorized) !== 'ready') handler.fail(NO_CREDENTIAL);
    else if (!handler.isOver) send();
  } catch (error) {
    if (error instanceof TokenError) handler.fail({ ...NO_TOKEN, why: error.message });
    else handler.fail({ ...UNSIGNED, internal: error instanceof Error ? error.message : String(error) });
  }
}

function deadlinesOf(deps: DispatchDeps, { endpoint, provider }: Candidate): DeadlinesMs {
  const total = Math.min(endpoint.maxLatencyMs, provider.maxLatencyMs ?? endpoint.maxLatencyMs);
  return { headers: deps.headersTimeoutMs, idle: deps.idleTimeoutMs, total };
}

class UpstreamStoppedError extends Error {}

class UpstreamHandler implements EgressHandler {
  readonly #listener: UpstreamListener;
  readonly #watch: DeadlineWatch;
  readonly #onRejected: () => void;
  #controller: EgressController | null = null;
  #answering = false;
  #over = false;

  constructor(deps: WatchDeps, limits: DeadlinesMs, listener: UpstreamListener, onRejected: () => void) {
    this.#listener = listener;
    this.#onRejected = onRejected;
    this.#watch = new DeadlineWatch(deps, limits, (kind) =>
      this.#timedOut(TIMEOUT_WORDS[kind](durationWords(limits[kind]))),
    );
  }

  /** Idempotent. An attempt without a connection is aborted when it gets one. */
  stop(): void {
    this.#over = true;
    this.#watch.stop();
    this.#controller?.abort(new UpstreamStoppedError());
  }

  get isOver(): boolean {
    return this.#over;
  }

  fail(fault: AttemptFault): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch.stop();
    this.#listener.onFailure(fault);
  }

  onRequestStart(controller: EgressController): void {
    this.#controller = controller;
    // undici calls this on an established connection and writes the request right after it, unless it is aborted here.
    if (this.#over) controller.abort(new UpstreamStoppedError());
    else this.#listener.onSent();
  }

  onResponseStart(
    controller: EgressController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses concern the connection only.
    if (this.#over || status < 200) return;
    if (status === 401) this.#onRejected();
    this.#answering = true;
    // Relay does not use the raw list, and its slices would retain the first read for as long as a stream lasts.
    controller.rawHeaders = null;
    this.#watch.headersArrived();
    this.#listener.onHead(
      { status, headers },
      {
        pause: () => {
          this.#watch.pause();
          controller.pause();
        },
        resume: () => {
          this.#watch.resume();
          controller.resume();
        },
        abort: () => this.stop(),
      },
    );
  }

  onResponseData(_controller: EgressController, chunk: Buffer): void {
    if (this.#over) return;
    this.#watch.touch();
    this.#listener.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch.stop();
    this.#listener.onEnd();
  }

  onResponseError(_controller: EgressController, error: Error): void {
    this.fail(failureOf(error, this.#answering));
  }

  #timedOut(why: string): void {
    if (this.#over) return;
    this.stop();
    this.#listener.onFailure({ code: 'upstream_timeout', why, deadline: true });
  }
}
