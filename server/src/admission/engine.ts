import type { AppliedLimit, Charge } from '../domain/limits/limit.ts';
import type { UsedAmounts } from '../domain/limits/metric.ts';
import type { LaneSelection } from '../domain/snapshot.ts';

/**
 * The limits engine. Two implementations keep the same rules: `memory-engine.ts`, the reference, and
 * `redis/`, where each call is one atomic script. The time is the engine's own.
 */
export interface AdmissionEngine {
  /**
   * Asks for capacity, or asks again: for an operation that waits, this is also how it is confirmed when its slot
   * has come. A refusal writes nothing.
   */
  admit(ask: AdmissionAsk): Promise<AdmissionAnswer>;
  /** Ends a dispatched operation once: corrects its charges and hands `record` to the usage stream. */
  settle(ask: SettleAsk): Promise<SettleAnswer>;
  /** Gives everything back of an operation that was never dispatched. */
  void(organizationId: string, operationId: string): Promise<void>;
  /** Heartbeat. Answers the operations it does not know: expired, or lost with the store. */
  extend(organizationId: string, operationIds: readonly string[], leaseMs: number): Promise<string[]>;
  /**
   * Writes a dispatched operation down again after the store lost it, as it was and without asking whether it fits: it
   * is under way. Answers false when its calendar windows have to be rebuilt first.
   */
  restore(ask: AdmissionAsk, candidate: number, agoMs: number): Promise<boolean>;
  /** Keeps requests away from an endpoint until the moment given, in milliseconds from now. */
  penalize(organizationId: string, endpointId: string, forMs: number): Promise<void>;
  /** Ends leases that were not extended: waiting ones are voided, dispatched ones posted at their estimate. */
  sweep(): Promise<number>;
  usage(organizationId: string, policies: readonly AppliedLimit[]): Promise<PolicyUsage[]>;
  /** Answers a `rebuild`: what the ledger knows of these windows. Those that exist by now are left as they are. */
  initialize(organizationId: string, openings: readonly Opening[]): Promise<void>;
}

export interface AdmissionAsk {
  readonly organizationId: string;
  /** The request's id. */
  readonly operationId: string;
  /** Requests of one caller in one lane are served in the order of their arrival. */
  readonly queue: string;
  /** How many requests of one queue may wait. */
  readonly waitersMax: number;
  /** In the order of preference; never empty. */
  readonly candidates: readonly CandidateAsk[];
  readonly selection: LaneSelection;
  /** What is left of the wait budget. */
  readonly waitMsMax: number;
  readonly leaseMs: number;
  /** Present when an attempt failed and another is asked for: what the failed one took. */
  readonly release?: Actual;
  /** Whose it is and for which lane, for whoever looks at what is under way; the engines do not. */
  readonly about?: { readonly laneId: string | null; readonly userId: string };
  /** Kept with the lease; handed to the usage stream if the operation has to be ended by the sweep. */
  readonly draft: string;
}

export interface CandidateAsk {
  readonly endpointId: string;
  readonly paced: boolean;
  readonly charges: readonly Charge[];
}

export interface Actual extends UsedAmounts {
  /** False: the provider never saw the attempt, so it takes no request from any window either. */
  readonly dispatched: boolean;
}

export type AdmissionAnswer =
  /** These windows are not known here: initialize them from the ledger, then ask again. */
  | { readonly kind: 'rebuild'; readonly policyIds: readonly string[] }
  /** Dispatch now. */
  | { readonly kind: 'admitted'; readonly candidate: number; readonly windows: readonly WindowState[] }
  /** A slot is held; ask again when it has come. No policy for a cooldown, the order of the queue, or a slot held before. */
  | {
      readonly kind: 'wait';
      readonly candidate: number;
      readonly waitMs: number;
      readonly policyId: string | null;
    }
  /** A place in line for concurrency, whose end nobody knows; ask again when woken. */
  | { readonly kind: 'line'; readonly candidate: number; readonly policyId: string }
  | Refusal;

/** An ask before it has a lease, and an answer after windows were rebuilt: what the data plane says and hears. */
export type DeskAsk = Omit<AdmissionAsk, 'leaseMs'>;
export type DeskAnswer = Exclude<AdmissionAnswer, { kind: 'rebuild' }>;

export interface Refusal {
  readonly kind: 'refused';
  readonly reason: 'wait_budget' | 'exceeds_limit' | 'queue_full';
  /** The same request, sent alone after this time, is accepted. 0 when no time helps. */
  readonly retryAfterMs: number;
  /** Null when no policy stood in the way but a cooldown or the queue. */
  readonly policyId: string | null;
  /** When the policy would have room for this request, in milliseconds from now. */
  readonly resetMs: number;
}

/** A policy of the chosen candidate after the reservation, for the rate headers. */
export interface WindowState {
  readonly policyId: string;
  /** Reservations for later included. */
  readonly used: number;
  /** Milliseconds until the window is whole again if nothing else comes. */
  readonly resetMs: number;
}

export interface SettleAsk {
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: Actual;
  /** The terminal record as text; it reaches the usage stream in the same step. */
  readonly record: string;
}

/** `unknown`: the lease was lost or already ended; the record was appended all the same unless it was a repeat. */
export type SettleAnswer = 'settled' | 'unknown';

/** What a window held before the engine knew of it: one of the calendar as a whole, a short one in parts. */
export interface Opening {
  readonly policy: AppliedLimit;
  /** When the window of the calendar began, or when this part of a short one was dispatched. */
  readonly startMs: number;
  readonly amount: number;
}

export interface PolicyUsage {
  readonly policyId: string;
  readonly used: number;
  readonly reserved: number;
  /** Milliseconds until the window is whole again, seen from now; 0 for concurrency. */
  readonly resetMs: number;
}
