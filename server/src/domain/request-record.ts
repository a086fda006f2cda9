import type { Operation } from './operation.ts';

export type RequestState = 'completed' | 'failed' | 'cancelled';

/** Where the actual token counts come from; `none` when nothing was dispatched. */
export type UsageSource = 'reported' | 'estimated' | 'none';

export interface RecordedAttempt {
  readonly endpointId: string;
  readonly providerId: string;
  readonly upstreamModel: string;
  readonly status: number | null;
  readonly outcome: RequestState;
  readonly cause: string | null;
  readonly latencyMs: number;
}

/** The one terminal record of a request: numbers and identifiers, never a word of what was said. */
export interface RequestRecord {
  readonly requestId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly keyId: string | null;
  readonly clientRequestId: string | null;
  readonly operation: Operation;
  readonly streaming: boolean;
  readonly laneId: string | null;
  /** Of the last attempt; null when none was made. */
  readonly endpointId: string | null;
  readonly providerId: string | null;
  readonly upstreamModel: string | null;
  readonly state: RequestState;
  readonly status: number;
  readonly cause: string | null;
  readonly attempts: readonly RecordedAttempt[];
  readonly arrivedAtMs: number;
  readonly waitMs: number;
  readonly ttftMs: number | null;
  readonly latencyMs: number;
  readonly estimatedInputTokens: number;
  readonly estimatedOutputTokens: number;
  readonly estimatedCostMicros: number | null;
  readonly usageSource: UsageSource;
  readonly actualInputTokens: number;
  readonly actualOutputTokens: number;
  readonly actualCachedInputTokens: number;
  readonly actualCostMicros: number | null;
}
