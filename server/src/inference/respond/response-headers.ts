import { headersToClient, headers as names } from '@relay/contract';
import { sumOfAttempts } from '../../domain/attempt-sums.ts';
import { costMicros, picosOf, shownMicros } from '../../domain/money/money.ts';
import { fallbacksOf, type Translated } from '../../domain/request-record.ts';
import { type Candidate, sentSecret } from '../../domain/routing/routing.ts';
import {
  type Exchange,
  isFailure,
  overheadMsOf,
  type RoutedRequest,
  type UpstreamHead,
} from '../exchange.ts';
import { rateHeaders } from '../rate-headers.ts';
import { isEventStream } from './upstream-head.ts';

const PASSED_ON = headersToClient.map(({ name }) => name);

/** Clients and proxies bound the size of headers; the request's details name all. */
const LEFT_OUT_MAX = 20;

/** Names and values in turn. A value that quotes the credential is dropped. */
function passedOn(head: UpstreamHead, secret: string | null): string[] {
  const list: string[] = [];
  const pass = (name: string, value: string) => {
    if (secret === null || !value.includes(secret)) list.push(name, value);
  };
  for (const name of PASSED_ON) {
    const value = head.headers[name];
    if (typeof value === 'string') pass(name, value);
    else if (value !== undefined) for (const each of value) pass(name, each);
  }
  return list;
}

/** Returns the headers of an upstream's answer for the client. `isReported`: the answer is complete and its usage known, so the headers have the usage of the request. */
export function responseHeaders(
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  head: UpstreamHead,
  isReported: boolean,
  nowMs: number,
): string[] {
  const list = passedOn(head, sentSecret(candidate));
  // nginx, and proxies that follow it, would keep frames back until a buffer is full.
  if (isEventStream(head)) list.push('x-accel-buffering', 'no');
  list.push(names.requestId, exchange.requestId);
  for (const name of exchange.protocol.headers.requestIds) list.push(name, exchange.requestId);
  list.push(names.overheadMs, overheadMs(exchange, nowMs));
  if (isFailure(head.status)) list.push(names.errorSource, 'upstream');
  const { endpoint, provider } = candidate;
  const estimate = routed.estimate;
  list.push(names.selectedEndpoint, headerText(endpoint.name));
  list.push(names.selectedEndpointId, endpoint.id);
  list.push(names.selectedProviderId, provider.id);
  list.push(names.selectedUpstreamModel, headerText(endpoint.upstreamModel));
  list.push(names.waitMs, String(Math.round(exchange.waitMs)));
  list.push(names.fallbackCount, String(fallbacksOf(exchange.attempts)));
  list.push(names.estimatedInputTokens, String(estimate.inputTokens));
  list.push(names.estimatedOutputTokens, String(estimate.outputTokens));
  const pricing = exchange.snapshot.pricing.get(endpoint.id);
  if (pricing !== undefined) {
    list.push(names.estimatedCostMicros, String(costMicros(pricing, { ...estimate, cachedInputTokens: 0 })));
  }
  const writtenCap = exchange.reservation?.writtenCap ?? null;
  if (writtenCap !== null) list.push(names.outputCap, String(writtenCap));
  const { translated } = exchange.attempts.at(-1) ?? {};
  if (translated !== undefined) list.push(...translationHeaders(translated));
  list.push(...rateHeaders(exchange.rateWindows));
  if (!isReported) return list;
  const sums = sumOfAttempts(exchange.attempts);
  const { actualInputTokens: input, actualOutputTokens: output, actualCostMicros: micros } = sums;
  list.push(names.actualInputTokens, String(input));
  list.push(names.actualOutputTokens, String(output));
  list.push(names.actualTotalTokens, String(input + output));
  if (micros !== null) {
    const picos = picosOf({ micros, roundingPicos: sums.actualCostRoundingPicos ?? 0 });
    list.push(names.actualCostMicros, String(shownMicros(picos)));
  }
  return list;
}

export function overheadMs(exchange: Exchange, nowMs: number): string {
  return overheadMsOf(exchange, nowMs).toFixed(2);
}

/** Names may contain any letter; headers may not. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}

function translationHeaders({ to, leftOut }: Translated): string[] {
  const list: string[] = to === null ? [] : [names.translatedTo, to];
  if (leftOut.length > 0) list.push(names.leftOut, headerText(leftOut.slice(0, LEFT_OUT_MAX).join(', ')));
  return list;
}
