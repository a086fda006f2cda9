import type { Actual } from '../admission/engine.ts';
import type { Reservation } from '../domain/limits/hard-reservation.ts';
import { useAt } from '../domain/metered-usage.ts';
import { boundUsage } from '../domain/money/bound-usage.ts';
import { costMicros } from '../domain/money/money.ts';
import type { Usage } from '../domain/money/usage.ts';
import type { AttemptUse } from '../domain/request-record.ts';
import type { Candidate } from '../domain/routing/routing.ts';
import type { Log } from '../kit/log.ts';
import {
  type AttemptRecord,
  type AttemptResult,
  type Exchange,
  isFailure,
  logged,
  type Metered,
  type RoutedRequest,
} from './exchange.ts';

/**
 * Returns what an attempt used: the one definition, which limits, the row and the headers share. Undefined: the attempt was not sent, or the
 * provider answered with an error and reported no usage.
 */
export function useOfAttempt(
  deps: { readonly log: Log },
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  result: AttemptResult,
  status: number | null,
): AttemptUse | undefined {
  const { metered } = result;
  if (!metered.sent) return undefined;
  const pricing = exchange.snapshot.pricing.get(candidate.endpoint.id);
  const hasFailed = status !== null && isFailure(status);
  const whole = !hasFailed && isWritten(exchange, result, status);
  if (metered.reported !== null || namesCount(metered.inPart)) {
    const known = metered.reported ?? completed(exchange, routed, metered, hasFailed, whole);
    const usage = withinBounds(deps, exchange, routed, candidate, known);
    if (metered.reported !== null) return useAt(pricing, usage, 'reported');
    const isCounted = metered.streamedTokens > 0 && exchange.reservation === null;
    return useAt(pricing, usage, isCounted ? 'streamed' : 'estimated');
  }
  if (hasFailed) return undefined;
  const { reservation } = exchange;
  if (reservation !== null) return reserved(reservation, pricing !== undefined);
  const usage = { ...guessed(exchange, routed, metered, whole), ...metered.inPart };
  const isCounted = metered.streamedTokens > 0 && usage.outputTokens === metered.streamedTokens;
  return useAt(pricing, usage, isCounted ? 'streamed' : 'estimated');
}

export const NOT_DISPATCHED: Actual = { dispatched: false, tokens: 0, spendMicros: 0 };

/** Returns what the limits engine counts. Undefined: the exchange has no attempt. */
export function actualOf(record: Pick<AttemptRecord, 'sent' | 'use'> | undefined): Actual {
  if (record === undefined) return NOT_DISPATCHED;
  const { sent, use } = record;
  return {
    dispatched: sent,
    tokens: use === undefined ? 0 : use.usage.inputTokens + use.usage.outputTokens,
    spendMicros: use?.costMicros ?? 0,
  };
}

/**
 * Adds the missing count to a report of the input only, or of the output only. Under hard limits this is the reserved count, because the model may
 * have written more than arrived.
 */
function completed(
  exchange: Exchange,
  routed: RoutedRequest,
  metered: Metered,
  hasFailed: boolean,
  whole: boolean,
): Usage {
  const { reservation } = exchange;
  if (reservation === null || hasFailed)
    return { ...guessed(exchange, routed, metered, whole), ...metered.inPart };
  const { inputTokens, outputTokens } = reservation;
  return { inputTokens, outputTokens, cachedInputTokens: 0, ...metered.inPart };
}

/** True if the report names input or output, and not the service tier alone. */
function namesCount(inPart: Partial<Usage> | null): boolean {
  return inPart?.inputTokens !== undefined || inPart?.outputTokens !== undefined;
}

function reserved({ inputTokens, outputTokens, spendMicros }: Reservation, isPriced: boolean): AttemptUse {
  const usage = { inputTokens, outputTokens, cachedInputTokens: 0 };
  return { source: 'estimated', usage, costMicros: isPriced ? spendMicros : null };
}

/**
 * Returns the estimated input and the text that passed. If the provider has written its whole answer and Relay does not know all of its text, the
 * output is at least the estimate.
 */
function guessed(
  { streaming }: Exchange,
  { estimate }: RoutedRequest,
  { streamedTokens }: Metered,
  written: boolean,
): Usage {
  const { inputTokens, outputTokens, free } = estimate;
  const isKnown = !written || (streaming && streamedTokens > 0);
  return {
    inputTokens,
    outputTokens: isKnown ? streamedTokens : Math.max(streamedTokens, outputTokens),
    cachedInputTokens: 0,
    ...(free === true && { free }),
  };
}

/**
 * True if the provider has written its whole answer. A provider sends a non-streaming answer when the whole text exists: if the client disconnects
 * after its first byte, the provider has done all of the work.
 */
function isWritten({ streaming }: Exchange, result: AttemptResult, status: number | null): boolean {
  if (result.kind === 'answer') return true;
  if (result.kind === 'failure') return false;
  if (result.kind === 'delivered' && result.delivery.state !== 'cancelled')
    return result.delivery.state === 'completed';
  return !streaming && status !== null;
}

/** Bounds what a provider reported by what the model can process, and keeps an implausible report for the record. */
function withinBounds(
  { log }: { readonly log: Log },
  exchange: Exchange,
  { body, estimate }: RoutedRequest,
  candidate: Candidate,
  reported: Usage,
): Usage {
  const { endpoint } = candidate;
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
  return usage;
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
