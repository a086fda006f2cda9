import type { HealthSlot } from './health-slots.ts';

/**
 * What all gateways have seen of an endpoint or a credential. It is stored as JSON, and gateways of several versions may read it.
 */
export interface HealthRecord {
  /** The configuration that it was seen under. With another address, model or secret, nothing of it holds. */
  readonly of: string;
  readonly seenMs: number;
  /** The last five minutes, oldest first. */
  readonly slots: readonly HealthSlot[];
  readonly latestFailed: boolean;
  readonly row: FaultRow | null;
  readonly okMs: number | null;
  readonly open: OpenBreaker | null;
  /** When the breaker last closed. Requests that were sent before say nothing about the time after. */
  readonly closedMs: number | null;
  readonly cooldown: { readonly sinceMs: number; readonly untilMs: number } | null;
  readonly level: { readonly degraded: boolean; readonly sinceMs: number };
  readonly lastError: SeenError | null;
}

/** Faults without a success in between. */
export interface FaultRow {
  readonly count: number;
  /** Those of them that no content of a request can cause. */
  readonly hard: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Null when several callers met them. */
  readonly caller: string | null;
}

export interface OpenBreaker {
  readonly sinceMs: number;
  readonly reason: string;
  readonly failedProbes: number;
  readonly probeDueMs: number;
}

export interface SeenError {
  readonly atMs: number;
  readonly message: string;
  readonly status: number | null;
}

/** What one gateway has seen since its last report. */
export interface HealthReport {
  readonly ended: number;
  readonly failed: number;
  /** The failures by caller. */
  readonly by: Readonly<Record<string, number>> | null;
  readonly latestFailed: boolean | null;
  /** The newest sign of life. */
  readonly ok: { readonly atMs: number; readonly sentMs: number } | null;
  /** The faults after it. */
  readonly faults: ReportedFaults | null;
  readonly error: SeenError | null;
  readonly cooldownUntilMs: number | null;
  readonly probeFailed: boolean;
}

export interface ReportedFaults extends FaultRow {
  /** When the newest of these requests was sent. */
  readonly sentMs: number;
  /** When a request of anybody else last succeeded here, as far as this gateway knows. */
  readonly othersOkMs: number | null;
}
