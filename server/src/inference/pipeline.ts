import type { AdmissionDesk } from '../admission/desk.ts';
import type { Actual } from '../admission/engine.ts';
import { digestOfBody } from '../domain/body-digest.ts';
import { estimateTokens } from '../domain/estimate.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import type { Candidate } from '../domain/routing.ts';
import { ClientGoneError, readBody } from '../http/read-body.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { awaitCapacity, remainingCandidates } from './admit/await-capacity.ts';
import { boundEstimate } from './admit/bound-estimate.ts';
import { cooldownUntilMs } from './dispatch/cooldown.ts';
import { type DispatchDeps, sendUpstream } from './dispatch/send-upstream.ts';
import { asksForUsage } from './dispatch/upstream-body.ts';
import { sentCredentialId } from './dispatch/upstream-headers.ts';
import {
  type AttemptRecord,
  type AttemptResult,
  type Exchange,
  type InferenceBody,
  isFailure,
  type RoutedRequest,
  type UpstreamHead,
} from './exchange.ts';
import { parseBody } from './receive/parse-body.ts';
import { interruptedFrame, sendAnswer, sendError } from './respond/answer.ts';
import { Reply } from './respond/reply.ts';
import { responseHeaders } from './respond/response-headers.ts';
import { routeRequest } from './route/route-request.ts';
import { type Ending, settle } from './settle/settle.ts';
import type { TypicalOutput } from './settle/typical-output.ts';

export interface PipelineDeps extends DispatchDeps {
  readonly desk: AdmissionDesk;
  /** How many requests of one caller may wait in one lane. */
  readonly waitersMax: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly typicalOutput: TypicalOutput;
  readonly bodyBytesMax: number;
  readonly attemptsMax: number;
  readonly publicUrl: string;
  /** True once the process was told to stop: nothing new is taken on. */
  readonly draining: () => boolean;
  /** Told of every terminal record, to count it. Must be quick. */
  readonly onSettled?: (record: RequestRecord) => void;
}

/** More than any lane or model is called; the record keeps no more of what a client sends in that place. */
const MODEL_CHARACTERS_MAX = 200;

/**
 * The life of a request, from top to bottom. The only code that knows the order of the steps; it owns the
 * wait and fallback loop, and it settles every exchange exactly once, however it ends.
 */
export async function serveExchange(deps: PipelineDeps, exchange: Exchange): Promise<void> {
  let routed: RoutedRequest | null = null;
  let ending: Ending;
  try {
    if (deps.draining()) throw new RelayError('draining');
    // receive: 400, 401, 413
    const bytes = await readBody(exchange.request, exchange.response, deps.bodyBytesMax);
    demandSignedBody(exchange, bytes);
    const body = parseBody(bytes, exchange.operation);
    noteBody(exchange, body, deps.clock.monotonicMs());
    // route: 400
    const { route, candidates } = routeRequest(exchange, body);
    const name = route.lane?.id ?? body.model;
    const guess = estimateTokens(exchange.operation, body, deps.typicalOutput.tokens(name));
    const { snapshot, caller } = exchange;
    const estimate = boundEstimate(snapshot, caller, route, candidates, body.settings, guess);
    routed = { body, route, estimate };
    exchange.marks.routedMs = deps.clock.monotonicMs();
    // admit, dispatch, respond: 429, 502, 503, and whatever the provider says
    ending = await serveFromCandidates(deps, exchange, routed, candidates);
    // Embeddings have no output; what they report says nothing about the lane's next completion.
    if (ending.usage !== null && exchange.operation !== 'embeddings')
      deps.typicalOutput.learn(name, ending.usage.outputTokens);
  } catch (error) {
    ending = endWithError(deps, exchange, error);
  }
  // settle
  settle(deps, exchange, routed, ending);
}

/** Whoever is known by a signed context was signed for one body, and another body is another request. */
function demandSignedBody({ caller }: Exchange, bytes: Buffer): void {
  if (caller.bodyDigest === undefined || caller.bodyDigest === digestOfBody(bytes)) return;
  throw new RelayError('invalid_context', { internal: 'the body is not the one that was signed' });
}

function noteBody(exchange: Exchange, body: InferenceBody, nowMs: number): void {
  exchange.marks.receivedMs = nowMs;
  exchange.model = body.model.slice(0, MODEL_CHARACTERS_MAX);
  exchange.streaming = body.streaming;
}

/** Tries candidates until one answers, the client leaves, or nothing is left to try. */
async function serveFromCandidates(
  deps: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
): Promise<Ending> {
  const tried = new Set<string>();
  const attemptsMax = routed.route.allowFallback ? Math.min(deps.attemptsMax, candidates.length) : 1;
  let last: AttemptResult | null = null;
  let lastCandidate: Candidate | null = null;
  let waitedMs = 0;

  while (tried.size < attemptsMax) {
    const remaining = remainingCandidates(candidates, tried);
    const taken = last === null ? null : takenByAttempt(exchange, routed);
    const capacity = await awaitCapacity(deps, exchange, routed, remaining, taken);
    if (capacity === 'client_gone') return clientGone();
    if (capacity === 'draining') throw new RelayError('draining');
    if (capacity.kind === 'refused') {
      if (last === null) throw capacity.error;
      break;
    }
    const { candidate } = capacity;
    exchange.rateWindows = capacity.windows;
    tried.add(candidate.endpoint.id);
    const result = await attempt(deps, exchange, routed, candidate, exchange.waitMs - waitedMs);
    waitedMs = exchange.waitMs;
    if (result.kind === 'delivered') return { ...result.delivery };
    if (result.kind === 'client_gone') return clientGone();
    last = result;
    lastCandidate = candidate;
    if (!mayTryAnother(result)) break;
  }
  return answerWith(deps, exchange, routed, last, lastCandidate);
}

/**
 * What a failed attempt took from the limits. A provider that answered with an error did no work that it bills; of one
 * that did not answer nobody knows, so the input counts.
 */
function takenByAttempt(exchange: Exchange, { estimate }: RoutedRequest): Actual {
  const last = exchange.attempts.at(-1);
  const answered = last?.status != null;
  return {
    dispatched: last?.cause !== 'upstream_not_prepared',
    tokens: answered ? 0 : estimate.inputTokens,
    spendMicros: 0,
  };
}

function mayTryAnother(result: AttemptResult): boolean {
  if (result.kind === 'failure') return true;
  return result.kind === 'answer' && (result.answer.status === 429 || result.answer.status >= 500);
}

/** Sends the request to one candidate. Nothing has reached the client unless the result is `delivered`. */
async function attempt(
  deps: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  waitMs: number,
): Promise<AttemptResult> {
  const sentMs = deps.clock.monotonicMs();
  const record: AttemptRecord = {
    endpointId: candidate.endpoint.id,
    providerId: candidate.provider.id,
    upstreamModel: candidate.endpoint.upstreamModel,
    startedMs: Math.round(sentMs - exchange.startMs),
    waitMs: Math.round(waitMs),
    status: null,
    outcome: 'failed',
    cause: null,
    latencyMs: 0,
  };
  exchange.attempts.push(record);
  exchange.credentialId = sentCredentialId(candidate);
  const reply = new Reply({
    exchange,
    clock: deps.clock,
    dropUsageFrame: asksForUsage(exchange.operation, routed.body),
    headersFor: (head, usage) =>
      responseHeaders(exchange, routed, candidate, head, usage, deps.clock.monotonicMs()),
    interruptedFrame: () => interruptedFrame(deps, exchange),
  });
  reply.stopUpstream = sendUpstream(deps, exchange, routed.body, candidate, reply);
  exchange.inCharge = reply;
  // The client may have left before there was anything to stop.
  if (exchange.clientGone) reply.clientLeft();
  const result = await reply.result;
  exchange.inCharge = null;
  record.latencyMs = Math.round(deps.clock.monotonicMs() - sentMs);
  record.status = reply.head?.status ?? null;
  exchange.marks.upstreamFirstByteMs = reply.headMs === null ? null : reply.headMs - sentMs;
  noteResult(deps, exchange, candidate, record, result, reply.head);
  return result;
}

function noteResult(
  deps: PipelineDeps,
  exchange: Exchange,
  candidate: Candidate,
  record: AttemptRecord,
  result: AttemptResult,
  head: UpstreamHead | null,
): void {
  const untilMs = head === null ? null : cooldownUntilMs(head, deps.clock.nowMs());
  if (untilMs !== null) deps.desk.penalize(exchange.caller.organizationId, candidate.endpoint.id, untilMs);
  switch (result.kind) {
    case 'delivered':
      record.outcome = result.delivery.state;
      record.cause = result.delivery.cause;
      return;
    case 'client_gone':
      record.outcome = 'cancelled';
      record.cause = 'client_disconnected';
      return;
    case 'failure':
      record.cause = result.code;
      deps.log.warn(
        { endpoint: candidate.endpoint.id, cause: result.code, why: result.internal },
        'attempt failed',
      );
      return;
    case 'answer': {
      const failed = isFailure(result.answer.status);
      record.outcome = failed ? 'failed' : 'completed';
      if (failed) record.cause = `upstream_status_${result.answer.status}`;
    }
  }
}

/** The last result is all there is: the provider's own words where it said any, else our 502. */
function answerWith(
  deps: PipelineDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  last: AttemptResult | null,
  candidate: Candidate | null,
): Ending {
  if (last?.kind === 'failure' && last.held === null) {
    throw new RelayError(last.code, { internal: last.internal });
  }
  if (last === null || candidate === null || last.kind === 'delivered' || last.kind === 'client_gone') {
    throw new RelayError('internal_error', { internal: 'the candidate loop ended without a result' });
  }
  const answer = last.kind === 'answer' ? last.answer : last.held;
  if (answer === null) throw new RelayError('internal_error', { internal: 'a held answer vanished' });
  const usage = last.kind === 'answer' ? last.usage : null;
  const firstByteMs = deps.clock.monotonicMs();
  const headers = responseHeaders(exchange, routed, candidate, answer, usage, firstByteMs);
  sendAnswer(exchange, answer, headers, last.kind === 'failure');
  const failed = last.kind === 'failure' || isFailure(answer.status);
  return {
    state: failed ? 'failed' : 'completed',
    status: answer.status,
    cause: failed ? (exchange.attempts.at(-1)?.cause ?? null) : null,
    usage,
    streamedTokens: 0,
    firstByteMs,
  };
}

function clientGone(): Ending {
  return {
    state: 'cancelled',
    // No status was ever sent; 499 is what logs elsewhere call it.
    status: 499,
    cause: 'client_disconnected',
    usage: null,
    streamedTokens: 0,
    firstByteMs: null,
  };
}

function endWithError(deps: PipelineDeps, exchange: Exchange, error: unknown): Ending {
  if (error instanceof ClientGoneError || exchange.clientGone) return clientGone();
  const known = error instanceof RelayError ? error : new RelayError('internal_error', { cause: error });
  if (known.code === 'internal_error')
    deps.log.error({ err: error, request_id: exchange.requestId }, 'defect');
  sendError(deps, exchange, known);
  return {
    state: 'failed',
    status: known.status,
    cause: known.code,
    usage: null,
    streamedTokens: 0,
    firstByteMs: deps.clock.monotonicMs(),
  };
}
