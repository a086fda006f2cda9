import { headers } from '@relay/contract';
import type { Refusal } from '../../admission/engine.ts';
import type { PolicyDescription } from '../../domain/limits/limit.ts';
import { describePolicy } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Route } from '../../domain/routing/routing.ts';
import type { Exchange } from '../exchange.ts';

/** Client libraries wait no longer than this; told a later time, they come back too soon, again and again. */
const RETRY_MS_MAX = 60_000;
const RETRY_UNKNOWN_MS = 1_000;

/** The 429 of a refusal: which policy bound, when it has room again, and whether trying again can help. */
export function refusalError(exchange: Exchange, route: Route, refusal: Refusal): RelayError {
  const { snapshot, caller } = exchange;
  const policy = refusal.policyId === null ? null : describePolicy(snapshot, caller, refusal.policyId);
  switch (refusal.reason) {
    case 'exceeds_limit':
      return new RelayError('request_exceeds_limit', {
        message: `This request alone needs more than ${nameOf(policy)} admits. Make it smaller, set a lower output bound, or raise the limit.`,
        fields: { policy },
        headers: { [headers.shouldRetry]: 'false' },
      });
    case 'queue_full':
      return new RelayError('queue_full', {
        fields: { retry_after: secondsOf(refusal.retryAfterMs) },
        headers: retryHeaders(refusal.retryAfterMs),
      });
    case 'wait_budget':
      return waitBudgetError(exchange, route, refusal.retryAfterMs, refusal.resetMs, policy);
  }
}

/** The wait budget ran out in line for concurrency, whose end nobody knows. */
export function lineRefusal(exchange: Exchange, route: Route, policyId: string): RelayError {
  const policy = describePolicy(exchange.snapshot, exchange.caller, policyId);
  return waitBudgetError(exchange, route, RETRY_UNKNOWN_MS, RETRY_UNKNOWN_MS, policy);
}

function waitBudgetError(
  exchange: Exchange,
  route: Route,
  retryAfterMs: number,
  resetMs: number,
  policy: PolicyDescription | null,
): RelayError {
  const far = retryAfterMs > RETRY_MS_MAX;
  const seconds = secondsOf(retryAfterMs);
  const why = policy === null ? 'No candidate has capacity' : `${capital(nameOf(policy))} has no room`;
  return new RelayError(far ? 'budget_exhausted' : 'rate_limit_wait_budget_exceeded', {
    message: `${why} within the wait budget of ${route.maxWaitMs} ms. Try again in ${seconds} s.`,
    fields: {
      retry_after: seconds,
      policy,
      resets_at: new Date(exchange.arrivedAtMs + exchange.waitMs + resetMs).toISOString(),
    },
    headers: { ...retryHeaders(retryAfterMs), ...(far ? { [headers.shouldRetry]: 'false' } : {}) },
  });
}

function retryHeaders(retryAfterMs: number): Record<string, string> {
  return {
    [headers.retryAfter]: String(secondsOf(retryAfterMs)),
    [headers.retryAfterMs]: String(Math.max(1, Math.ceil(retryAfterMs))),
  };
}

/** Rounded up: whoever comes back then is served, and a second earlier is not. */
function secondsOf(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1_000));
}

function nameOf(policy: PolicyDescription | null): string {
  if (policy === null) return 'a limit';
  const period = policy.period === 'none' ? 'at once' : `per ${policy.period}`;
  const { quantity } = METRICS[policy.metric];
  return `the limit of ${policy.limit_value} ${quantity} ${period} on ${subjectOf(policy)}`;
}

/** Whom it binds, and where: a caller who knows that can tell whether another key, lane or colleague would do. */
function subjectOf({ policy_kind, scope_type }: PolicyDescription): string {
  const place = scope_type === 'global' ? null : `this ${scope_type}`;
  if (policy_kind === 'resource') return place ?? 'the whole organization';
  const subject = policy_kind === 'user' ? 'everything this user sends' : 'everything sent with this key';
  return place === null ? subject : `${subject} to ${place}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
