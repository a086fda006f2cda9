import type { ErrorCode } from '@relay/contract';
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
  /** False: this refusal differs from its code, because the wait exceeds the backoff of client libraries. */
  readonly retry?: false;
}

export function outcomeOf({ reason, retryAfterMs, policyId }: Refusal): RefusalOutcome {
  switch (reason) {
    case 'exceeds_limit':
      return { code: 'request_exceeds_limit', retryAfterMs: null };
    case 'queue_full':
      return { code: 'queue_full', retryAfterMs };
    case 'wait_budget': {
      if (retryAfterMs <= BACKOFF_MS_MAX) return { code: 'rate_limit_wait_budget_exceeded', retryAfterMs };
      // A provider that asks for a long pause uses up no budget.
      const isBudget = policyId !== null;
      const code = isBudget ? 'budget_exhausted' : 'rate_limit_wait_budget_exceeded';
      return { code, retryAfterMs, retry: false };
    }
  }
}
