import type { LimitMetric } from '@relay/contract';
import type { CalendarPeriod, SlidingPeriod } from '../../domain/limits/period.ts';
import type { Release } from '../engine.ts';

/**
 * The engine's moments never go back. Where the clock did, they are ahead of it from then on, so that windows, leases and places in line keep
 * their distances; calendar windows follow the clock.
 */
export interface Timeline {
  lastMs: number;
  /** How far moments are ahead of the clock. */
  shiftMs: number;
}

/**
 * A sliding window is a sum per bucket of time. An interval of the period's length touches at most `periodMs / bucketMs + 1`
 * buckets. One more is counted, so that a dispatch that reaches the provider up to a bucket late cannot push any real
 * interval over the limit. The cost is two buckets of capacity per period: 1.6 % of a minute, 9 % of a second.
 */
export interface Geometry {
  readonly bucketMs: number;
  /** How many consecutive buckets may together hold no more than the limit: a run. */
  readonly span: number;
  /** How many buckets share one figure when a plan is kept even. */
  readonly cell: number;
}

/**
 * What one limit has counted, and what is planned: one reservation for everybody who waits with a promise. A place is the
 * number of a bucket, or the start of a calendar window.
 */
export interface Window {
  readonly key: string;
  readonly policyId: string;
  readonly metric: LimitMetric;
  readonly period: SlidingPeriod | CalendarPeriod;
  /** Null: a calendar window. */
  readonly geometry: Geometry | null;
  readonly time: Timeline;
  /** As the newest configuration has it that the engine was told. */
  limit: number;
  /** Place → dispatched. Places that no run reaches any more are absent. */
  readonly used: Map<number, number>;
  /** The sum of `used` over the span that ends with `headPlace`. */
  dispatched: number;
  headPlace: number;
  /** Place → reserved for later, in all and by class. */
  readonly planned: Map<number, number>;
  readonly plannedOf: readonly Map<number, number>[];
  plannedTotal: number;
  /** Those who hold the reservations, by their moment; not those whose charge is 0. */
  readonly plan: Waiter[];
  /** When pacing released the last request; 0 before the first. */
  paceMarkMs: number;
  /** The last result of `paceNextMs`, until something changes it. */
  paceKnown: { nowMs: number; nextMs: number };
  /** Of a calendar window: when it was started or last recounted. */
  mark: number | null;
}

/** A unit is held while a request is in flight: a concurrency limit. */
export interface Units {
  readonly key: string;
  readonly policyId: string;
  limit: number;
  readonly holders: Set<string>;
  /** How long units were held; null before the first was given back. */
  meanMs: number | null;
}

export interface WindowCharge {
  readonly window: Window;
  readonly cost: number;
}

/** A candidate with the windows and units that it is charged to. */
export interface Candidate {
  readonly endpointId: string;
  readonly paced: boolean;
  readonly charges: readonly WindowCharge[];
  readonly units: readonly Units[];
  /** All of them, as they were asked for. */
  readonly limits: readonly (Window | Units)[];
}

/** How much of the future the promises of a class may fill, where an organization has lanes of more than one class. */
export interface Headroom {
  readonly rank: number;
  /** Left free for the other classes, as a share of the future part of a run. */
  readonly free: number;
  /** What the class may promise whatever the others hold, as a share of the future part of a run. */
  readonly floor: number;
}

export interface Waiter {
  readonly operationId: string;
  /** `AdmissionAsk.queue`. */
  readonly lane: string;
  readonly rank: number;
  readonly caller: string;
  readonly candidates: readonly Candidate[];
  /** The same for requests that are blocked by the same things. */
  readonly shape: string;
  readonly waitMsMax: number;
  readonly deadlineMs: number;
  /** Order of arrival. */
  readonly seq: number;
  readonly headroom: Headroom;
  /** The sum of its costs. */
  readonly size: number;
  /** Start tag of fair queueing while it is in no queue. */
  readonly tag: number;
  queue: Queue | null;
  /** The one candidate that it waits for; -1 when it may go to any. */
  only: number;
  /** The reservation; -1 without a promise. */
  slotMs: number;
  reservedOn: number;
  /** What it was told when it came. */
  told: { candidate: number; firm: boolean; policyId: string | null };
}

/** Requests of one caller in one lane under the same limits, first come first served. */
export interface Queue {
  readonly key: string;
  readonly rank: number;
  readonly caller: string;
  /** By arrival. */
  readonly waiters: Waiter[];
  readonly bySize: Waiter[];
  /** Start tag of fair queueing: what the caller had been served when its first waiter came to the head. */
  tag: number;
  /** Where its head is blocked, once for each candidate. */
  readonly parked: Parked[];
}

export interface Parked {
  readonly place: Place;
  readonly queue: Queue;
  /** The least that its head or its smallest waiter is charged there. */
  cost: number;
  /** False: a candidate that is charged there is not paced. */
  readonly paced: boolean;
}

/** Those whose way is blocked by the same window, units or cooldown. */
export interface Place {
  readonly key: string;
  /** By class, in order. */
  readonly queues: readonly Queue[][];
  readonly byCost: Parked[];
  /** How many of its queues are not paced. */
  unpaced: number;
  /** What a class is owed by those who went ahead of it. */
  readonly credit: number[];
  atMs: number;
  /** The first in order that is too large for now: no waiter behind it may delay its earliest moment. */
  shadow: { readonly waiter: Waiter; readonly atMs: number } | null;
}

/**
 * Those of one organization who wait. Everybody holds one reservation, as late as its deadline allows: the proof that it can be
 * served in time. Everything before that moment is free for the one that comes first in order.
 */
export interface Line {
  /** By operation. */
  readonly waiting: Map<string, Waiter>;
  /** Those with a promise, by its moment. */
  readonly bySlot: Waiter[];
  /** Those without one, by deadline. */
  readonly unpromised: Waiter[];
  readonly queues: Map<string, Queue>;
  readonly places: Map<string, Place>;
  /** Places by the moment at which a waiter there may go. */
  readonly wake: Place[];
  /** Places at which something changed since the last step. */
  readonly touched: Set<string>;
  /** `AdmissionAsk.queue` → how many wait. */
  readonly lengths: Map<string, number>;
  /** Class and concurrency limit → how many of the class wait of those whom it counts. */
  readonly ahead: Map<string, number>;
  /** Limit → its newest value, while requests wait. */
  readonly limits: Map<string, NewestLimit>;
  /** Fair queueing, by class: virtual time, and what each caller was served. */
  readonly virtual: number[];
  readonly served: readonly Map<string, number>[];
}

export interface NewestLimit {
  readonly key: string;
  version: number;
  limit: number;
}

export interface Tried {
  readonly draft: string;
  readonly candidate: number;
}

export interface Lease {
  readonly organizationId: string;
  readonly operationId: string;
  /** Order of arrival; a fallback keeps it. */
  readonly seq: number;
  /** How many attempts were sent before the one that it is for. */
  readonly attempt: number;
  draft: string;
  /**
   * `tried`: an attempt was dispatched and failed; the lease holds nothing until it is settled. `late`: it was dispatched and ran out; it
   * holds no units, and what it was charged is kept for a late settlement.
   */
  state: 'waiting' | 'dispatched' | 'tried' | 'late';
  candidate: number;
  /** When and where it was charged, so that settling can correct it there. */
  dispatchedMs: number;
  charges: readonly WindowCharge[];
  units: readonly Units[];
  limits: readonly (Window | Units)[];
  expiresMs: number;
  /** The earlier attempt that was sent and failed, for the row of an operation that is never settled. */
  tried: Tried | null;
}

/** The state of one organization. */
export interface OrganizationState {
  readonly time: Timeline;
  /** A calendar window is absent until it is initialized from the ledger: an unknown window is not an empty one. */
  readonly windows: Map<string, Window>;
  readonly units: Map<string, Units>;
  /** Endpoint → end of its cooldown. */
  readonly cooldowns: Map<string, number>;
  /** Null while no request waits. */
  line: Line | null;
}

/** One call of the engine for one organization: what it works on, its moment, and what it has released. */
export interface Call {
  readonly organizationId: string;
  readonly state: OrganizationState;
  /** By operation, of all organizations. */
  readonly leases: Map<string, Lease>;
  readonly late: Map<string, Lease>;
  readonly nowMs: number;
  /** Requests waited when it began. */
  readonly hadLine: boolean;
  readonly released: Map<string, Release>;
}
