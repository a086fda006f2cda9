import { type LimitMetric, limitMetrics, headers as names } from '@relay/contract';
import { costMicros } from '../../domain/money/money.ts';
import type { Usage } from '../../domain/money/usage.ts';
import { fallbacksOf } from '../../domain/request-record.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import {
  type Exchange,
  isFailure,
  type RateWindow,
  type RoutedRequest,
  type UpstreamHead,
} from '../exchange.ts';

/**
 * The only headers of a provider that reach the client: what the body is, when to retry, and OpenAI's notes on the answer. Any other
 * could steer the client past Relay (`location`, `refresh`, `link`, `alt-svc`, `set-cookie`), ask it for credentials, name the
 * provider's account, or be mistaken for Relay's own.
 */
const PASSED_ON = [
  'content-type',
  'content-encoding',
  'content-length',
  'content-language',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'openai-model',
  'openai-processing-ms',
  'openai-version',
] as const;

/** Names and values in turn. */
function passedOn(head: UpstreamHead): string[] {
  const list: string[] = [];
  for (const name of PASSED_ON) {
    const value = head.headers[name];
    if (typeof value === 'string') list.push(name, value);
    else if (value !== undefined) for (const each of value) list.push(name, each);
  }
  return list;
}

/** The headers of an upstream's answer for the client. `usage` is null for streams and when unknown. */
export function responseHeaders(
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  head: UpstreamHead,
  usage: Usage | null,
  nowMs: number,
): string[] {
  const list = passedOn(head);
  list.push(names.requestId, exchange.requestId);
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
  pushRateHeaders(list, exchange.rateWindows);
  if (usage === null) return list;
  list.push(names.actualInputTokens, String(usage.inputTokens));
  list.push(names.actualOutputTokens, String(usage.outputTokens));
  list.push(names.actualTotalTokens, String(usage.inputTokens + usage.outputTokens));
  if (pricing !== undefined) list.push(names.actualCostMicros, String(costMicros(pricing, usage)));
  return list;
}

interface RateHeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** OpenAI's clients read these; they know none for spend and concurrency. */
const RATE_HEADERS: Readonly<Record<LimitMetric, RateHeaderNames | null>> = {
  requests: {
    limit: names.rateLimitLimitRequests,
    remaining: names.rateLimitRemainingRequests,
    reset: names.rateLimitResetRequests,
  },
  tokens: {
    limit: names.rateLimitLimitTokens,
    remaining: names.rateLimitRemainingTokens,
    reset: names.rateLimitResetTokens,
  },
  spend: null,
  concurrency: null,
};

/** The tightest limit of each metric that has headers; Relay never passes on the provider's own values. */
function pushRateHeaders(list: string[], windows: readonly RateWindow[]): void {
  if (windows.length === 0) return;
  for (const metric of limitMetrics) {
    const header = RATE_HEADERS[metric];
    const window = header === null ? null : tightest(windows, metric);
    if (header === null || window === null) continue;
    list.push(header.limit, String(window.limit));
    list.push(header.remaining, String(Math.max(0, window.limit - window.used)));
    list.push(header.reset, durationText(window.resetMs));
  }
}

/** The limit with the smallest share left. */
function tightest(windows: readonly RateWindow[], metric: RateWindow['metric']): RateWindow | null {
  let found: RateWindow | null = null;
  for (const window of windows) {
    if (window.metric !== metric) continue;
    if (found === null || window.used * found.limit > found.used * window.limit) found = window;
  }
  return found;
}

function durationText(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(3)}s`;
}

/** The time that Relay itself took, without the wait for capacity, the provider and guardrails. */
export function overheadMs({ startMs, waitMs, upstreamMs, guard }: Exchange, nowMs: number): string {
  return Math.max(0, nowMs - startMs - waitMs - upstreamMs - (guard.tookMs ?? 0)).toFixed(2);
}

/** Names may contain any letter; headers may not. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}
