import type { AdmissionDesk } from '../admission/desk.ts';
import { type Candidate, sentCredential, sentSecret } from '../domain/routing/routing.ts';
import { verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { Log } from '../kit/log.ts';
import { cooldownUntilMs } from './dispatch/cooldown.ts';
import { type DispatchDeps, sendUpstream } from './dispatch/send-upstream.ts';
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
import { interruptedFrame } from './respond/answer.ts';
import { withoutCredential } from './respond/clean-answer.ts';
import { keptMessage } from './respond/kept-message.ts';
import { Reply } from './respond/reply.ts';
import { responseHeaders } from './respond/response-headers.ts';

export interface AttemptDeps extends DispatchDeps, HealthDeps {
  readonly desk: Pick<AdmissionDesk, 'penalize'>;
  readonly log: Log;
  readonly publicUrl: string;
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
  exchange.credentialId = sentCredential(candidate)?.id ?? null;
  // The provider speaks what the client speaks; a translation would choose the candidate's own protocol here.
  const upstream = exchange.protocol;
  let hasContent = false;
  const reply = new Reply({
    exchange,
    protocol: upstream,
    clock: deps.clock,
    dropUsageFrame: upstream.request.asksForUsage(routed.body),
    whole: inspected,
    headersFor: (head, usage) => {
      const nowMs = deps.clock.monotonicMs();
      hasContent = noteContent(deps, exchange, candidate, head, nowMs - sentMs);
      return responseHeaders(exchange, routed, candidate, head, usage, nowMs);
    },
    interruptedFrame: () => interruptedFrame(deps, exchange),
    cleanFrame: (frame) => withoutCredential(frame, sentSecret(candidate)),
  });
  const sending = probe === null ? deps : withHeadersWithin(deps, probe.headersMsMax);
  reply.stopUpstream = sendUpstream(sending, exchange, upstream, routed.body, candidate, reply, inspected);
  exchange.inCharge = reply;
  // The client may have disconnected before there was an upstream request to stop.
  if (exchange.clientGone) reply.clientLeft();
  const result = await reply.result;
  exchange.inCharge = null;
  const tookMs = deps.clock.monotonicMs() - sentMs;
  record.latencyMs = Math.round(tookMs);
  record.status = reply.head?.status ?? null;
  exchange.marks.upstreamFirstByteMs = reply.headMs === null ? null : reply.headMs - sentMs;
  noteHealth(deps, exchange, candidate, {
    result,
    head: reply.head,
    tookMs,
    hasContent,
    probe: probe !== null,
    cooldownUntilMs: noteCooldown(deps, exchange, candidate, reply.head),
  });
  noteResult(deps, candidate, record, result);
  if (result.kind === 'answer' && verdictOfStatus(result.answer.status).rejects !== null)
    await keepMessage(deps, routed, candidate, record, result.answer);
  return result;
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
  candidate: Candidate,
  record: AttemptRecord,
  result: AttemptResult,
): void {
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
