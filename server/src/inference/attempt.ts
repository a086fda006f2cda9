import type { AdmissionDesk } from '../admission/desk.ts';
import { RelayError } from '../domain/relay-error.ts';
import { type Candidate, sentCredential, sentSecret } from '../domain/routing/routing.ts';
import { verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { FairSlices } from '../kit/fair-slices.ts';
import type { Log } from '../kit/log.ts';
import type { OneAtATime } from '../kit/one-at-a-time.ts';
import type { Passage } from '../protocols/passage.ts';
import { quirksOf } from '../protocols/provider-presets.ts';
import { useOfAttempt } from './attempt-use.ts';
import { cooldownUntilMs } from './dispatch/cooldown.ts';
import type { ProviderSilence } from './dispatch/provider-silence.ts';
import { type DispatchDeps, sendUpstream } from './dispatch/send-upstream.ts';
import { passageOf, sentRequest, translatedFor, translatorFor } from './dispatch/sent-request.ts';
import {
  type AttemptRecord,
  type AttemptResult,
  type Exchange,
  heldAnswer,
  isFailure,
  logged,
  type RoutedRequest,
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
  readonly silence: Omit<ProviderSilence, 'silent'>;
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
  /** How long a stream may be held, because another attempt could replace it. */
  readonly holdMs: number;
  /** The endpoint is down, and the request finds out whether it still is. */
  readonly probe: { readonly headersMsMax: number } | null;
}

/** Sends the request to one candidate. Nothing has reached the client unless the result is `delivered`. */
export async function attempt(
  deps: AttemptDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  { waitMs, inspected, holdMs, probe }: AttemptSettings,
): Promise<AttemptResult> {
  const sentMs = deps.clock.monotonicMs();
  const passage = passageOf(exchange, candidate);
  const record = startedRecord(exchange, candidate, passage, sentMs, waitMs);
  exchange.attempts.push(record);
  exchange.presetSlug = candidate.provider.presetSlug;
  const { protocol: upstream, translation } = passage;
  const translator = translatorFor(deps, exchange, routed, translation, candidate);
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
    holdMs: routed.body.streaming ? holdMs : null,
    choices: () => exchange.protocol.request.output(routed.body).choices,
    onHead: () => deps.silence.answered(candidate.endpoint.id),
    onContent: (head) => {
      hasContent = noteContent(deps, exchange, candidate, head, deps.clock.monotonicMs() - sentMs);
    },
    headersFor: (head) => responseHeaders(exchange, routed, candidate, head, false, deps.clock.monotonicMs()),
    errorFrame: (error, before) => errorFrame(deps, exchange, error, before),
    cleanFrame: (frame) => withoutCredential(frame, sentSecret(candidate)),
  });
  const sending = probe === null ? deps : withHeadersWithin(deps, probe.headersMsMax);
  const sent = sentRequest(exchange, routed, passage, candidate, inspected);
  deps.silence.sent(candidate.endpoint.id);
  reply.stopUpstream = sendUpstream(sending, exchange, sent, candidate, reply);
  exchange.inCharge = reply;
  // The exchange may have been stopped before there was an upstream request to stop.
  if (exchange.stopped !== null) reply.stop(exchange.stopped);
  const ended = await reply.result;
  if (reply.headMs === null) deps.silence.unanswered(candidate.endpoint.id);
  const client = { streaming: routed.body.streaming, secret: sentSecret(candidate) };
  const result = translator === null ? ended : await translateWhole(ended, translator, client);
  exchange.inCharge = null;
  if (translator !== null) noteLeftOut(record, translator.leftOut);
  const tookMs = deps.clock.monotonicMs() - sentMs;
  record.latencyMs = Math.round(tookMs);
  record.status = reply.head?.status ?? null;
  record.sent = result.metered.sent;
  const use = useOfAttempt(deps, exchange, routed, candidate, result, record.status);
  if (use !== undefined) record.use = use;
  noteUpstreamId(record, upstreamRequestId(reply.head, routed.body, sentSecret(candidate)));
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
  await keepMessage(deps, routed, candidate, record, result);
  return translation === null ? result : await translateError(result, translation, exchange.requestId);
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
    credentialId: sentCredential(candidate)?.id ?? null,
    sent: false,
    startedMs: Math.round(sentMs - exchange.startMs),
    waitMs: Math.round(waitMs),
    status: null,
    outcome: 'failed',
    cause: null,
    latencyMs: 0,
    ...translatedFor(exchange, passage, candidate),
  };
}

/** Adds what the answer lost to what the request lost. The head of a stream is sent by then, so that only the request's details name it. */
function noteLeftOut(record: AttemptRecord, leftOut: readonly string[]): void {
  const { translated } = record;
  if (leftOut.length > 0 && translated !== undefined)
    record.translated = { ...translated, leftOut: [...translated.leftOut, ...leftOut] };
}

/** Keeps what the provider said about Relay's credential or address for those who can correct it; the client does not get it. */
async function keepMessage(
  deps: AttemptDeps,
  { body }: RoutedRequest,
  candidate: Candidate,
  record: AttemptRecord,
  result: AttemptResult,
): Promise<void> {
  const answer = heldAnswer(result);
  if (answer === null || verdictOfStatus(answer.status).rejects === null) return;
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

function noteUpstreamId(record: AttemptRecord, id: string | null): void {
  if (id !== null) record.upstreamRequestId = id;
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
