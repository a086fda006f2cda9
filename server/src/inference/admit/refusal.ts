import { errors, headers } from '@relay/contract';
import { capitalized, durationWords, limitAmountWords } from '@relay/contract/words';
import { resetTimeMs } from '../../admission/calendar-window.ts';
import type { Refusal, WindowState } from '../../admission/engine.ts';
import { outcomeOf } from '../../admission/refusal.ts';
import type { PolicyDescription } from '../../domain/limits/limit.ts';
import { limitWords } from '../../domain/limits/limit-words.ts';
import { describePolicy } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isCalendar } from '../../domain/limits/period.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Route } from '../../domain/routing/routing.ts';
import type { Exchange } from '../exchange.ts';
import { rateHeaders } from '../rate-headers.ts';

/** The 429 of a refusal: which limit caused it, when it resets, and whether a retry can help. */
export function refusalError(exchange: Exchange, route: Route, refusal: Refusal): RelayError {
  const { snapshot, caller } = exchange;
  const policy = refusal.policyId === null ? null : describePolicy(snapshot, caller, refusal.policyId);
  const { code, retryAfterMs, retry = errors[code].retry } = outcomeOf(refusal, policy);
  const retry_after = retryAfterMs === null ? {} : { retry_after: secondsOf(retryAfterMs) };
  const sent = {
    ...(retryAfterMs === null ? {} : retryHeaders(retryAfterMs)),
    ...windowHeaders(refusal.window, policy),
  };
  switch (refusal.reason) {
    case 'exceeds_limit': {
      const words = limitWords(policy, snapshot);
      const message =
        policy?.limit_value === 0
          ? `${capitalized(words)} allows nothing. Raise or remove the limit.`
          : `This request exceeds ${words} by itself. Make it smaller, lower max tokens, or raise the limit.`;
      return new RelayError(code, { message, fields: { policy }, retry, headers: sent });
    }
    case 'queue_full':
      return new RelayError(code, { fields: retry_after, retry, headers: sent });
    case 'wait_budget': {
      const aboutMs = exchange.arrivedAtMs + exchange.waitMs + refusal.resetMs;
      const resetsAtMs = (policy === null ? null : resetTimeMs(policy.period, aboutMs)) ?? aboutMs;
      return new RelayError(code, {
        message: `${whyNotNow(exchange, route, refusal, policy)} Retry in ${waitWords(refusal.retryAfterMs, policy)}.`,
        fields: { ...retry_after, policy, resets_at: new Date(resetsAtMs).toISOString() },
        retry,
        headers: sent,
      });
    }
  }
}

/** What is used up, and for how long this route waits. A calendar window says how much of it is used, so that the reader sees a spent budget. */
function whyNotNow(
  { snapshot }: Exchange,
  { maxWaitMs }: Route,
  { window }: Refusal,
  policy: PolicyDescription | null,
): string {
  const wait = durationWords(maxWaitMs);
  if (policy === null) return `No candidate has capacity within the wait budget of ${wait}.`;
  const limit = capitalized(limitWords(policy, snapshot));
  if (!isCalendar(policy.period))
    return `${limit} has been reached, and this request can wait at most ${wait}.`;
  if (window === null) return `${limit} has no room for this request.`;
  const used = limitAmountWords(policy.metric, Math.min(window.used, policy.limit_value));
  return `${limit} has no room for this request: ${used} used or reserved.`;
}

function retryHeaders(retryAfterMs: number): Record<string, string> {
  return {
    [headers.retryAfter]: String(secondsOf(retryAfterMs)),
    [headers.retryAfterMs]: String(Math.max(1, Math.ceil(retryAfterMs))),
  };
}

/** Rounds up so that a retry then succeeds. */
function secondsOf(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1_000));
}

/** The same whole seconds as in `Retry-After`. Behind a concurrency limit they are an estimate. */
function waitWords(durationMs: number, policy: PolicyDescription | null): string {
  const words = durationWords(secondsOf(durationMs) * 1_000, Math.ceil);
  return policy !== null && METRICS[policy.metric].held ? `about ${words}` : words;
}

function windowHeaders(window: WindowState | null, policy: PolicyDescription | null): Record<string, string> {
  if (window === null || policy === null) return {};
  const { metric, limit_value: limit } = policy;
  const list = rateHeaders([{ metric, limit, used: window.used, resetMs: window.resetMs }]);
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? ''] as const] : []));
  return Object.fromEntries(pairs);
}
