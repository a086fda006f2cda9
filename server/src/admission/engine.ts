import type { AppliedLimit, Charge } from '../domain/limits/limit.ts';
import type { UsedAmounts } from '../domain/limits/metric.ts';
import type { LanePriority, LaneSelection } from '../domain/snapshot.ts';

/**
 * The limits engine. Two implementations follow the same rules: `memory/`, the reference, and `redis/`, where each call is
 * one atomic script. The engine uses its own clock.
 */
export interface AdmissionEngine {
  /**
   * Asks for capacity. A request that waits holds a place in line, and `LineListener.released` tells when it goes. A repeated ask gets
   * the same answer. A refusal writes nothing.
   */
  admit(ask: AdmissionAsk): Promise<AdmissionAnswer>;
  /** Ends a dispatched operation once: settles its charges and appends `record` to the usage stream. */
  settle(ask: SettleAsk): Promise<SettleAnswer>;
  /** Gives back everything that an operation holds which was never dispatched: it leaves the line. */
  void(organizationId: string, operationId: string): Promise<void>;
  /** Moves the organization's line: requests that are due or fit go. Called at the moment that `LineListener.next` told. */
  step(organizationId: string): Promise<void>;
  /** What limits are by now, for those who wait. A change that is older than one that is known is ignored. */
  changeLimits(organizationId: string, version: number, changes: readonly LimitChange[]): Promise<void>;
  /** Heartbeat. Returns the operations without a lease: they expired, or the store lost them. */
  extend(organizationId: string, operationIds: readonly string[], leaseMs: number): Promise<string[]>;
  /**
   * Writes a dispatched operation again after the store lost it. It is in flight, so no limit is checked. Returns false when
   * its windows have to be rebuilt first.
   */
  restore(ask: AdmissionAsk, candidate: number, agoMs: number): Promise<boolean>;
  /**
   * Writes the usage of an operation's failed attempts to windows that the store has lost, once after each loss. Returns false if the windows
   * have to be rebuilt first.
   */
  restoreUses(organizationId: string, operationId: string, uses: readonly PastUse[]): Promise<boolean>;
  /** Starts a cooldown: no request is sent to the endpoint for this long. */
  penalize(organizationId: string, endpointId: string, forMs: number): Promise<void>;
  /** Ends expired leases: waiting ones are voided, dispatched ones stay charged at their estimate. */
  sweep(): Promise<number>;
  usage(organizationId: string, policies: readonly AppliedLimit[]): Promise<PolicyUsage[]>;
  /**
   * What the windows of limits have used, and how much of it was charged for requests that are still in flight; both at one moment. Null when
   * that takes too long, or is not known. The memory engine loses no counts, so it has no such call.
   */
  inFlight?(
    organizationId: string,
    policies: readonly AppliedLimit[],
  ): Promise<readonly { readonly used: number; readonly inFlight: number }[] | null>;
  /**
   * In how many milliseconds each of these requests can go, as limits, pace, cooldowns and its own promise stand; others that wait for the
   * same may be ahead of it. Null when it does not wait, and when that is unknown, as behind a concurrency limit. Changes nothing.
   */
  nextSlots(organizationId: string, operationIds: readonly string[]): Promise<(number | null)[]>;
  /** The response to `rebuild`: sets windows from the ledger. Windows that exist by then stay as they are. */
  initialize(organizationId: string, openings: readonly Opening[]): Promise<void>;
  /**
   * Adds what calendar windows have missed, or takes back what they count too much, beside what happens to them meanwhile. A
   * window that was started or recounted since `usage` told its mark stays as it is. Returns how many were changed.
   */
  recount(organizationId: string, recounts: readonly Recount[]): Promise<number>;
}

/** What the engine tells a process about its own waiters. Called after the step that decided it, never within a call. */
export interface LineListener {
  /** The waiter goes now, or its deadline has come without a way for it. */
  released(operationId: string, release: Release): void;
  /** When the line of the organization has something to do if nothing else happens; null when no request of this process waits. */
  next(organizationId: string, inMs: number | null): void;
  /**
   * Releases may have been lost: a call of this shard failed although it may have run, or messages of the shard were not
   * heard for a while. The process asks again for those who wait there.
   */
  missed(shard: string): void;
}

export type Release = Extract<AdmissionAnswer, { kind: 'admitted' }> | Refusal;

/** Null: the limit was removed or switched off. */
export interface LimitChange {
  readonly policyId: string;
  readonly limit: number | null;
}

export interface AdmissionAsk {
  readonly organizationId: string;
  /** The request's id. */
  readonly operationId: string;
  /** Lane and caller: `waitersMax` of them may wait. */
  readonly queue: string;
  readonly waitersMax: number;
  /** The key, or the user without one: callers of one class are served fairly. */
  readonly caller: string;
  readonly priority: LanePriority;
  /** The organization has lanes of more than one priority, so promises of one leave room for the others. */
  readonly mixedClasses: boolean;
  /** Of the configuration that the limits below come from: the newest that the engine has seen of a limit counts. */
  readonly configVersion: number;
  /** In order of preference; never empty. */
  readonly candidates: readonly CandidateAsk[];
  readonly selection: LaneSelection;
  /** The rest of the wait budget. */
  readonly waitMsMax: number;
  readonly leaseMs: number;
  /** Set for a fallback: what the failed attempt used. */
  readonly release?: Actual;
  /** How many attempts of the request were sent before this one; none by default. */
  readonly attempt?: number;
  /** For the view of live traffic; the engines ignore it. */
  readonly about?: { readonly laneId: string | null; readonly userId: string; readonly keyId: string | null };
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
  | {
      readonly kind: 'admitted';
      readonly candidate: number;
      readonly windows: readonly WindowState[];
      /** How long ago the store let it go, as well as this process can tell; 0 when this call did. */
      readonly agoMs: number;
    }
  /** It has a place in line; `LineListener.released` tells when it goes. */
  | {
      readonly kind: 'wait';
      /** Where it is reserved; it may go elsewhere. */
      readonly candidate: number;
      /** It goes by then at the latest, or, where not `firm`, is refused at its deadline. */
      readonly withinMs: number;
      /** False behind a concurrency limit, whose end is unknown. */
      readonly firm: boolean;
      /** The limit that it waits for; null for a cooldown, the pace or the order of the line alone. */
      readonly policyId: string | null;
    }
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
  /** What the last attempt that was sent used. */
  readonly actual: Actual;
  /**
   * What the attempts before it used, oldest first. The engine may hold another attempt than the last: it may have run a fallback's ask whose answer
   * was lost, or never have heard of a fallback.
   */
  readonly earlier?: readonly Actual[];
  /** The terminal record as text, appended to the usage stream in the same step. */
  readonly record: string;
}

/** Past usage of an attempt under one limit. */
export interface PastUse {
  readonly policy: AppliedLimit;
  readonly agoMs: number;
  readonly amount: number;
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
