import type { Operation } from '@relay/contract';
import { sumOfAttempts, type UsedSums } from './attempt-sums.ts';
import type { AttemptUse, RecordedAttempt, RequestRecord } from './request-record.ts';
import type { Attribution } from './teams.ts';

/**
 * What a gateway stores with the reservation of a request, so that the request gets its ledger row even if the gateway dies after
 * the dispatch: everything the terminal record needs that is known before the answer.
 */
export interface ExpiredDraft extends Attribution {
  /** As `RequestRecord.v`. */
  readonly v?: number;
  /** As `RequestRecord.deploymentId`. */
  readonly deploymentId?: string | undefined;
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
 * The record of a request that was dispatched and never settled. What its last attempt used is unknown and not zero, so it is posted at its
 * estimate, or at what hard limits reserved, beside what the attempts before it used. A request that waited for its next attempt used what
 * these did. It is marked as an estimate, so that what its gateway may still send replaces it.
 */
export function recordOfExpired(draft: ExpiredDraft, candidate: number, expiredAtMs: number): RequestRecord {
  const { candidates, attempts: earlier = [], ...known } = draft;
  const chosen = candidates[candidate];
  const latencyMs = Math.max(0, Math.round(expiredAtMs - draft.arrivedAtMs));
  const attempts = chosen === undefined ? earlier : [...earlier, lostAttempt(draft, chosen, latencyMs)];
  const last = attempts.at(-1);
  return {
    ...known,
    endpointId: last?.endpointId ?? null,
    providerId: last?.providerId ?? null,
    upstreamModel: last?.upstreamModel ?? null,
    ...(last?.credentialId !== undefined && { credentialId: last.credentialId }),
    state: 'failed',
    status: 500,
    cause: GATEWAY_LOST,
    attempts,
    waitMs: 0,
    ttftMs: null,
    latencyMs,
    estimatedCostMicros: chosen?.estimatedCostMicros ?? null,
    ...usedBy(draft, attempts),
    usageSource: 'estimated',
  };
}

/** A draft without a known attempt counts its estimate. */
function usedBy(draft: ExpiredDraft, attempts: readonly RecordedAttempt[]): UsedSums {
  return sumOfAttempts(attempts.length > 0 ? attempts : [{ use: lostUse(draft, undefined) }]);
}

function lostAttempt(draft: ExpiredDraft, chosen: DraftCandidate, latencyMs: number): RecordedAttempt {
  const { endpointId, providerId, credentialId, upstreamModel } = chosen;
  return {
    endpointId,
    providerId,
    upstreamModel,
    ...(credentialId !== undefined && { credentialId }),
    status: null,
    outcome: 'failed',
    cause: GATEWAY_LOST,
    latencyMs,
    sent: true,
    use: lostUse(draft, chosen),
  };
}

function lostUse(draft: ExpiredDraft, chosen: DraftCandidate | undefined): AttemptUse {
  const { estimatedCostMicros = null, reserved } = chosen ?? {};
  return {
    source: 'estimated',
    usage: {
      inputTokens: reserved?.inputTokens ?? draft.estimatedInputTokens,
      outputTokens: reserved?.outputTokens ?? draft.estimatedOutputTokens,
      cachedInputTokens: 0,
    },
    costMicros: estimatedCostMicros === null ? null : (reserved?.costMicros ?? estimatedCostMicros),
  };
}
