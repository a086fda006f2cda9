import type { AdmissionDesk } from '../admission/desk.ts';
import { boundUsage } from '../domain/money/bound-usage.ts';
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
  exchange.credentialId = sentCredential(candidate)?.id ?? null;
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
  if (result.kind === 'answer' && verdictOfStatus(result.answer.status).rejects !== null)
    await keepMessage(deps, routed, candidate, record, result.answer);
  return translation === null ? result : await translateError(result, translation);
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
  { endpoint }: Candidate,
  result: AttemptResult,
): AttemptResult {
  const reported = reportedIn(result, estimate);
  exchange.reportedUsage = null;
  if (reported === null) return result;
  const isCapped = exchange.protocol.request.output(body).cap !== null;
  const usage = boundUsage(reported, endpoint.contextWindow, isCapped ? estimate.outputTokens : null);
  if (usage !== reported) {
    exchange.reportedUsage = reported;
    log.warn(
      { endpoint: endpoint.id, reported, charged: usage },
      'the usage that a provider reported cannot be true',
    );
  }
  if (result.kind === 'answer') return { ...result, usage };
  return result.kind === 'delivered' ? { ...result, delivery: { ...result.delivery, usage } } : result;
}

/** A stream that ended in the middle may have reported its input only; its output is then what was streamed. */
function reportedIn(result: AttemptResult, { inputTokens }: TokenEstimate): Usage | null {
  if (result.kind === 'answer') return result.usage;
  if (result.kind !== 'delivered') return null;
  const { usage, usageInPart, streamedTokens } = result.delivery;
  if (usage !== null || usageInPart === undefined) return usage;
  return { inputTokens, outputTokens: streamedTokens, cachedInputTokens: 0, ...usageInPart };
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
  { stopped }: Exchange,
  candidate: Candidate,
  record: AttemptRecord,
  result: AttemptResult,
): void {
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
      deps.log.warn(
        {
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
