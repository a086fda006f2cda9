import type { AppliedLimit, Charge } from '../domain/limits/limit.ts';
import type { UsedAmounts } from '../domain/limits/metric.ts';
import type { LaneSelection } from '../domain/snapshot.ts';

/**
 * The limits engine. Two implementations follow the same rules: `memory/`, the reference, and `redis/`, where each call is
 * one atomic script. The engine uses its own clock.
 */
export interface AdmissionEngine {
  /**
   * Asks for capacity. A waiting operation asks again at its slot, which confirms the slot. A refusal writes nothing.
   */
  admit(ask: AdmissionAsk): Promise<AdmissionAnswer>;
  /** Ends a dispatched operation once: settles its charges and appends `record` to the usage stream. */
  settle(ask: SettleAsk): Promise<SettleAnswer>;
  /** Gives back everything that an operation holds which was never dispatched. */
  void(organizationId: string, operationId: string): Promise<void>;
  /** Heartbeat. Returns the operations without a lease: they expired, or the store lost them. */
  extend(organizationId: string, operationIds: readonly string[], leaseMs: number): Promise<string[]>;
  /**
   * Writes a dispatched operation again after the store lost it. It is in flight, so no limit is checked. Returns false when
   * its windows have to be rebuilt first.
   */
  restore(ask: AdmissionAsk, candidate: number, agoMs: number): Promise<boolean>;
  /** Starts a cooldown: no request is sent to the endpoint for this long. */
  penalize(organizationId: string, endpointId: string, forMs: number): Promise<void>;
  /** Ends expired leases: waiting ones are voided, dispatched ones stay charged at their estimate. */
  sweep(): Promise<number>;
  usage(organizationId: string, policies: readonly AppliedLimit[]): Promise<PolicyUsage[]>;
  /** The response to `rebuild`: sets windows from the ledger. Windows that exist by then stay as they are. */
  initialize(organizationId: string, openings: readonly Opening[]): Promise<void>;
  /**
   * Adds what calendar windows have missed, or takes back what they count too much, beside what happens to them meanwhile. A
   * window that was started or recounted since `usage` told its mark stays as it is. Returns how many were changed.
   */
  recount(organizationId: string, recounts: readonly Recount[]): Promise<number>;
}

export interface AdmissionAsk {
  readonly organizationId: string;
  /** The request's id. */
  readonly operationId: string;
  /** Lane and caller. Requests of one queue are served in order of arrival. */
  readonly queue: string;
  /** How many requests of one queue may wait. */
  readonly waitersMax: number;
  /** In order of preference; never empty. */
  readonly candidates: readonly CandidateAsk[];
  readonly selection: LaneSelection;
  /** The rest of the wait budget. */
  readonly waitMsMax: number;
  readonly leaseMs: number;
  /** Set for a fallback: what the failed attempt used. */
  readonly release?: Actual;
  /** For the view of live traffic; the engines ignore it. */
  readonly about?: { readonly laneId: string | null; readonly userId: string };
  /** Kept with the lease. The sweep appends it to the usage stream if the lease expires after the dispatch. */
  readonly draft: string;
}

export interface CandidateAsk {
  readonly endpointId: string;
  readonly paced: boolean;
  readonly charges: readonly Charge[];
}

export interface Actual extends UsedAmounts {
  /** False: the provider never received the attempt, so it counts toward no limit. */
  readonly dispatched: boolean;
}

export type AdmissionAnswer =
  /** The engine does not know these windows: initialize them from the ledger, then ask again. */
  | { readonly kind: 'rebuild'; readonly policyIds: readonly string[] }
  /** Dispatch now. */
  | { readonly kind: 'admitted'; readonly candidate: number; readonly windows: readonly WindowState[] }
  /** A slot is reserved; ask again then. No limit is named for a cooldown, the order of the queue, or a repeated ask. */
  | {
      readonly kind: 'wait';
      readonly candidate: number;
      readonly waitMs: number;
      readonly policyId: string | null;
    }
  /** Queued for concurrency; wait unknown. Ask again when woken. */
  | { readonly kind: 'line'; readonly candidate: number; readonly policyId: string }
  | Refusal;

/** What the data plane asks and gets: the desk adds the lease and rebuilds windows. */
export type DeskAsk = Omit<AdmissionAsk, 'leaseMs'>;
export type DeskAnswer = Exclude<AdmissionAnswer, { kind: 'rebuild' }>;

export interface Refusal {
  readonly kind: 'refused';
  readonly reason: 'wait_budget' | 'exceeds_limit' | 'queue_full';
  /** The same request, sent alone after this time, is accepted. 0 when no wait helps. */
  readonly retryAfterMs: number;
  /** Null when a cooldown or the queue is the cause. */
  readonly policyId: string | null;
  /** Milliseconds until the limit has room for this request. */
  readonly resetMs: number;
  /** The limit's window, for the rate headers; null without a limit, and for concurrency, which has no window. */
  readonly window: WindowState | null;
}

/** A limit of the chosen candidate after the reservation, or the one that refused; for the rate headers. */
export interface WindowState {
  readonly policyId: string;
  /** Includes reservations for later. */
  readonly used: number;
  /** Milliseconds until the window is empty again if no other request arrives. */
  readonly resetMs: number;
}

export interface SettleAsk {
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: Actual;
  /** The terminal record as text, appended to the usage stream in the same step. */
  readonly record: string;
}

/** `unknown`: the lease was lost or had ended. The record is appended in both cases. */
export type SettleAnswer = 'settled' | 'unknown';

/** Usage of a window before the engine knew it: of a calendar window the sum, of a short window one opening per dispatch. */
export interface Opening {
  readonly policy: AppliedLimit;
  /** The start of the calendar window, or the dispatch in a short window. */
  readonly startMs: number;
  readonly amount: number;
}

/** A difference between the ledger and what a calendar window has counted. */
export interface Recount {
  readonly policy: AppliedLimit;
  /** The start of the calendar window. */
  readonly startMs: number;
  readonly amount: number;
  /** Of the usage that was compared with the ledger. */
  readonly mark: number;
}

export interface PolicyUsage {
  readonly policyId: string;
  readonly used: number;
  readonly reserved: number;
  /** Milliseconds until the window is empty again; 0 for concurrency. */
  readonly resetMs: number;
  /** Of a calendar window that the engine knows: another after each start and recount. Otherwise null. */
  readonly mark: number | null;
}
