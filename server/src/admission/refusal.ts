import type { ErrorCode, LimitPeriod } from '@relay/contract';
import { isCalendar } from '../domain/limits/period.ts';
import type { Refusal } from './engine.ts';

/** Concurrency frees up when a request ends, which no clock predicts. The desk replaces this by an estimate. */
export const RETRY_UNKNOWN_MS = 1_000;
/** Client libraries cap their backoff at this. Given a later time, they would retry too early, again and again. */
const BACKOFF_MS_MAX = 60_000;

export function refusal(
  reason: Refusal['reason'],
  retryAfterMs: number,
  policyId: string | null,
  resetMs: number,
): Refusal {
  return { kind: 'refused', reason, retryAfterMs, policyId, resetMs, window: null };
}

/** No unit of this concurrency limit became free within the wait budget. */
export function concurrencyRefusal(policyId: string, freeInMs = RETRY_UNKNOWN_MS): Refusal {
  return refusal('wait_budget', freeInMs, policyId, freeInMs);
}

/** How Relay answers a refused request. */
export interface RefusalOutcome {
  readonly code: ErrorCode;
  /** Null when no wait helps. */
  readonly retryAfterMs: number | null;
  /** False: this refusal differs from its code, because the provider asked for more than the backoff of client libraries. */
  readonly retry?: false;
}

/**
 * The code is a function of the limit, so that a client gets the same one at every moment: `budget_exhausted` for calendar windows, also in their
 * last seconds, and a retryable one for sliding windows and concurrency. `limit` is the refusal's, and null where it has none.
 */
export function outcomeOf(
  { reason, retryAfterMs, policyId }: Refusal,
  limit: { readonly period: LimitPeriod } | null,
): RefusalOutcome {
  switch (reason) {
    case 'exceeds_limit':
      return { code: 'request_exceeds_limit', retryAfterMs: null };
    case 'queue_full':
      return { code: 'queue_full', retryAfterMs };
    case 'wait_budget': {
      if (limit !== null && isCalendar(limit.period)) return { code: 'budget_exhausted', retryAfterMs };
      const isLongPause = policyId === null && retryAfterMs > BACKOFF_MS_MAX;
      return { code: 'rate_limit_wait_budget_exceeded', retryAfterMs, ...(isLongPause && { retry: false }) };
    }
  }
}
