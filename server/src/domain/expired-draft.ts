import type { Operation } from '@relay/contract';
import type { RecordedAttempt, RequestRecord } from './request-record.ts';
import type { Attribution } from './teams.ts';

/**
 * What a gateway stores with the reservation of a request, so that the request gets its ledger row even if the gateway dies after
 * the dispatch: everything the terminal record needs that is known before the answer.
 */
export interface ExpiredDraft extends Attribution {
  /** As `RequestRecord.v`. */
  readonly v?: number;
  readonly requestId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly clientRequestId: string | null;
  readonly operation: Operation;
  readonly model?: string | null;
  readonly streaming: boolean;
  readonly laneId: string | null;
  readonly arrivedAtMs: number;
  readonly estimatedInputTokens: number;
  readonly estimatedOutputTokens: number;
  /** In the order in which admission got them; admission identifies the chosen one by its index. */
  readonly candidates: readonly DraftCandidate[];
  /** Those that ended before this ask: limits count them too. Left out where there is none. */
  readonly attempts?: readonly RecordedAttempt[];
}

export interface DraftCandidate {
  readonly endpointId: string;
  readonly providerId: string;
  readonly credentialId?: string | null;
  readonly upstreamModel: string;
  /** Null when the endpoint has no price. */
  readonly estimatedCostMicros: number | null;
  /** What hard limits reserved; left out where none applies. */
  readonly reserved?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costMicros: number;
  };
}

/** The cause of a request whose gateway died before it settled. */
export const GATEWAY_LOST = 'gateway_lost';

/** Whether the record was posted for an expired draft: only such a row may be replaced by a later record. */
export function isExpiredEstimate(cause: string | null, usageSource: string): boolean {
  return cause === GATEWAY_LOST && usageSource === 'estimated';
}

/**
 * The record of a request that was dispatched and never settled. Its usage is unknown and not zero, so it is posted at its estimate, or at
 * what hard limits reserved, and marked as such.
 */
export function recordOfExpired(draft: ExpiredDraft, candidate: number, expiredAtMs: number): RequestRecord {
  const { candidates, attempts = [], ...known } = draft;
  const chosen = candidates[candidate];
  const latencyMs = Math.max(0, Math.round(expiredAtMs - draft.arrivedAtMs));
  const cause = GATEWAY_LOST;
  const {
    estimatedCostMicros = null,
    reserved,
    ...target
  } = chosen ?? {
    endpointId: null,
    providerId: null,
    upstreamModel: null,
  };
  return {
    ...known,
    ...target,
    state: 'failed',
    status: 500,
    cause,
    attempts: chosen === undefined ? attempts : [...attempts, lostAttempt(chosen, latencyMs)],
    waitMs: 0,
    ttftMs: null,
    latencyMs,
    estimatedCostMicros,
    usageSource: 'estimated',
    actualInputTokens: reserved?.inputTokens ?? draft.estimatedInputTokens,
    actualOutputTokens: reserved?.outputTokens ?? draft.estimatedOutputTokens,
    actualCachedInputTokens: 0,
    actualCostMicros: estimatedCostMicros === null ? null : (reserved?.costMicros ?? estimatedCostMicros),
  };
}

function lostAttempt(
  { endpointId, providerId, upstreamModel }: DraftCandidate,
  latencyMs: number,
): RecordedAttempt {
  return {
    endpointId,
    providerId,
    upstreamModel,
    status: null,
    outcome: 'failed',
    cause: GATEWAY_LOST,
    latencyMs,
  };
}
