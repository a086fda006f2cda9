import type { AdmissionDesk } from '../admission/desk.ts';
import type { Reservation } from '../domain/limits/hard-reservation.ts';
import { boundUsage } from '../domain/money/bound-usage.ts';
import { costMicros } from '../domain/money/money.ts';
import type { TokenEstimate, Usage } from '../domain/money/usage.ts';
import { RelayError } from '../domain/relay-error.ts';
import { type Candidate, sentCredential, sentSecret } from '../domain/routing/routing.ts';
import { verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { FairSlices } from '../kit/fair-slices.ts';
import type { Log } from '../kit/log.ts';
import type { OneAtATime } from '../kit/one-at-a-time.ts';
import type { Passage } from '../protocols/passage.ts';
import { quirksOf } from '../protocols/provider-presets.ts';
import { cooldownUntilMs } from './dispatch/cooldown.ts';
import { type DispatchDeps, sendUpstream } from './dispatch/send-upstream.ts';
import { passageOf, sentRequest, translatedFor, translatorFor } from './dispatch/sent-request.ts';
import {
  type AttemptRecord,
  type AttemptResult,
  type Exchange,
  isFailure,
  logged,
  type RoutedRequest,
  type UpstreamAnswer,
  type UpstreamHead,
} from './exchange.ts';
import { type HealthDeps, noteContent, noteHealth } from './note-health.ts';
import { errorFrame } from './respond/answer.ts';
import { withoutCredential } from './respond/clean-answer.ts';
import { keptMessage } from './respond/kept-message.ts';
import { Reply } from './respond/reply.ts';
import { upstreamRequestId } from './respond/request-id.ts';
import { responseHeaders } from './respond/response-headers.ts';
import { translateError, translateWhole } from './respond/translate-answer.ts';
import { traceAttempt } from './trace-attempt.ts';

export interface AttemptDeps extends DispatchDeps, HealthDeps {
  readonly desk: Pick<AdmissionDesk, 'penalize'>;
  readonly log: Log;
  readonly publicUrl: string;
  readonly slices: FairSlices;
  readonly decoding: OneAtATime;
}

export interface AttemptSettings {
  /** Time that the request waited for capacity before this attempt. */
  readonly waitMs: number;
  /** A guardrail has to read the answer before the client does. */
  readonly inspected: boolean;
  /** The endpoint is down, and the request finds out whether it still is. */
  readonly probe: { readonly headersMsMax: number } | null;
}

/** Sends the request to one candidate. Nothing has reached the client unless the result is `delivered`. */
export async function attempt(
  deps: AttemptDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  { waitMs, inspected, probe }: AttemptSettings,
): Promise<AttemptResult> {
  const sentMs = deps.clock.monotonicMs();
  const passage = passageOf(exchange, candidate);
  const record = startedRecord(exchange, candidate, passage, sentMs, waitMs);
  exchange.attempts.push(record);
  noteChosen(exchange, candidate);
  const { protocol: upstream, translation } = passage;
  const translator = translatorFor(deps, exchange, routed, translation);
  let hasContent = false;
  const reply = new Reply({
    exchange,
    protocol: upstream,
    clock: deps.clock,
    slices: deps.slices,
    decoding: deps.decoding,
    dropUsageFrame:
      translation === null &&
      upstream.request.asksForUsage(routed.body, quirksOf(candidate.provider.presetSlug)),
    whole: inspected || (translation !== null && !routed.body.streaming),
    translator,
    headersFor: (head, usage) => {
      const nowMs = deps.clock.monotonicMs();
      hasContent = noteContent(deps, exchange, candidate, head, nowMs - sentMs);
      return responseHeaders(exchange, routed, candidate, head, usage, nowMs);
    },
    errorFrame: (error) => errorFrame(deps, exchange, error),
    cleanFrame: (frame) => withoutCredential(frame, sentSecret(candidate)),
  });
  const sending = probe === null ? deps : withHeadersWithin(deps, probe.headersMsMax);
  const sent = sentRequest(exchange, routed, passage, candidate, inspected);
  reply.stopUpstream = sendUpstream(sending, exchange, sent, candidate, reply);
  exchange.inCharge = reply;
  // The exchange may have been stopped before there was an upstream request to stop.
  if (exchange.stopped !== null) reply.stop(exchange.stopped);
  const ended = withBoundedUsage(deps, exchange, routed, candidate, await reply.result);
  const result = translator === null ? ended : await translateWhole(ended, translator);
  exchange.inCharge = null;
  const tookMs = deps.clock.monotonicMs() - sentMs;
  record.latencyMs = Math.round(tookMs);
  record.status = reply.head?.status ?? null;
  const idThere = upstreamRequestId(reply.head, routed.body, sentSecret(candidate));
  if (idThere !== null) record.upstreamRequestId = idThere;
  exchange.marks.upstreamFirstByteMs = reply.headMs === null ? null : reply.headMs - sentMs;
  noteHealth(deps, exchange, candidate, {
    result,
    head: reply.head,
    tookMs,
    hasContent,
    probe: probe !== null,
    cooldownUntilMs: noteCooldown(deps, exchange, candidate, reply.head),
  });
  noteResult(deps, exchange, candidate, record, result);
  traceAttempt(exchange, { candidate, passage, record, result, startMs: sentMs, endMs: sentMs + tookMs });
  if (result.kind === 'answer' && verdictOfStatus(result.answer.status).rejects !== null)
    await keepMessage(deps, routed, candidate, record, result.answer);
  return translation === null ? result : await translateError(result, translation);
}

function noteChosen(exchange: Exchange, candidate: Candidate): void {
  exchange.credentialId = sentCredential(candidate)?.id ?? null;
  exchange.presetSlug = candidate.provider.presetSlug;
}

function startedRecord(
  exchange: Exchange,
  candidate: Candidate,
  passage: Passage,
  sentMs: number,
  waitMs: number,
): AttemptRecord {
  return {
    endpointId: candidate.endpoint.id,
    providerId: candidate.provider.id,
    upstreamModel: candidate.endpoint.upstreamModel,
    startedMs: Math.round(sentMs - exchange.startMs),
    waitMs: Math.round(waitMs),
    status: null,
    outcome: 'failed',
    cause: null,
    latencyMs: 0,
    ...translatedFor(exchange, passage, candidate),
  };
}

/** A provider may report any number. What cannot be true is charged at most at what could be, and kept for the record. */
function withBoundedUsage(
  { log }: AttemptDeps,
  exchange: Exchange,
  { body, estimate }: RoutedRequest,
  candidate: Candidate,
  result: AttemptResult,
): AttemptResult {
  const { endpoint } = candidate;
  const reported = reportedIn(result, estimate, exchange.reservation);
  exchange.reportedUsage = null;
  if (reported === null) return result;
  const { reservation } = exchange;
  const isCapped = exchange.protocol.request.output(body).cap !== null;
  const outputMax = reservation?.outputTokens ?? (isCapped ? estimate.outputTokens : null);
  const usage = boundUsage(reported, endpoint.contextWindow, outputMax);
  if (usage !== reported) {
    exchange.reportedUsage = reported;
    log.warn(
      { ...logged(exchange), endpoint: endpoint.id, reported, charged: usage },
      'a provider reported implausible usage',
    );
  } else if (reservation !== null && exceeds(exchange, candidate, usage, reservation)) {
    exchange.reportedUsage = reported;
    log.warn(
      { ...logged(exchange), endpoint: endpoint.id, reported, reserved: reservation },
      'a provider reported more usage than a hard limit reserved; check the endpoint’s context window and prices',
    );
  }
  if (result.kind === 'answer') return { ...result, usage };
  return result.kind === 'delivered' ? { ...result, delivery: { ...result.delivery, usage } } : result;
}

function exceeds(
  { snapshot }: Exchange,
  { endpoint }: Candidate,
  usage: Usage,
  { inputTokens, outputTokens, spendMicros }: Reservation,
): boolean {
  const pricing = snapshot.pricing.get(endpoint.id);
  if (usage.inputTokens > inputTokens || usage.outputTokens > outputTokens) return true;
  return pricing !== undefined && costMicros(pricing, usage) > spendMicros;
}

/**
 * A stream that ended in the middle may have reported its input only; its output is then what was streamed, or what hard limits
 * reserved, because the model may have written more than arrived.
 */
function reportedIn(
  result: AttemptResult,
  { inputTokens }: TokenEstimate,
  reservation: Reservation | null,
): Usage | null {
  if (result.kind === 'answer') return result.usage;
  if (result.kind !== 'delivered') return null;
  const { usage, usageInPart, streamedTokens } = result.delivery;
  if (usage !== null || usageInPart === undefined) return usage;
  const known = { inputTokens, outputTokens: streamedTokens, cachedInputTokens: 0, ...usageInPart };
  return reservation === null ? known : { ...known, outputTokens: reservation.outputTokens };
}

/** For those who can correct the credential or the address; the client does not get it. */
async function keepMessage(
  deps: AttemptDeps,
  { body }: RoutedRequest,
  candidate: Candidate,
  record: AttemptRecord,
  answer: UpstreamAnswer,
): Promise<void> {
  const kept = await keptMessage(answer, body, sentSecret(candidate));
  if (kept !== undefined) record.upstreamMessage = kept;
  deps.log.warn({ endpoint: candidate.endpoint.id, status: answer.status }, 'credential or address rejected');
}

/** Until when the provider asked to be left alone; null unless it did. */
function noteCooldown(
  deps: AttemptDeps,
  exchange: Exchange,
  candidate: Candidate,
  head: UpstreamHead | null,
): number | null {
  const untilMs = head === null ? null : cooldownUntilMs(head, deps.clock.nowMs());
  if (untilMs !== null) deps.desk.penalize(exchange.caller.organizationId, candidate.endpoint.id, untilMs);
  return untilMs;
}

function withHeadersWithin(deps: AttemptDeps, headersMsMax: number): AttemptDeps {
  return { ...deps, headersTimeoutMs: Math.min(deps.headersTimeoutMs, headersMsMax) };
}

function noteResult(
  deps: AttemptDeps,
  exchange: Exchange,
  candidate: Candidate,
  record: AttemptRecord,
  result: AttemptResult,
): void {
  const { stopped } = exchange;
  switch (result.kind) {
    case 'delivered':
      record.outcome = result.delivery.state;
      record.cause = result.delivery.cause;
      return;
    case 'stopped':
      record.outcome = 'cancelled';
      record.cause = stopped instanceof RelayError ? stopped.code : 'client_disconnected';
      return;
    case 'failure':
      record.cause = result.fault.code;
      if (result.fault.unsent === true) exchange.reservation = null;
      deps.log.warn(
        {
          ...logged(exchange),
          endpoint: candidate.endpoint.id,
          cause: result.fault.code,
          why: result.fault.internal ?? result.fault.why,
        },
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
