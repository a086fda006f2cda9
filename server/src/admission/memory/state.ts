import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import { amountOf, isPaced } from '../../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding } from '../../domain/limits/period.ts';
import { type CalendarWindow, nextWindowMs, windowStartMs } from '../calendar-window.ts';
import type { Actual, CandidateAsk, Opening } from '../engine.ts';
import {
  addToSliding,
  emptySlidingWindow,
  GEOMETRY,
  paceIntervalMs,
  pruneSliding,
  type SlidingWindow,
  sumOfSliding,
} from './sliding-window.ts';

/** Everything the engine remembers of one organization. */
export interface OrganizationState {
  readonly sliding: Map<string, SlidingWindow>;
  readonly calendar: Map<string, CalendarWindow>;
  /** AppliedLimit → operations that hold a unit of its concurrency. */
  readonly holders: Map<string, Set<string>>;
  /** AppliedLimit → operations in line for its concurrency. */
  readonly lines: Map<string, Set<string>>;
  /** Queue → operations that wait, in a slot or in line. */
  readonly queues: Map<string, Set<string>>;
  /** Endpoint → until when it is left alone. */
  readonly cooldowns: Map<string, number>;
}

export interface Lease {
  readonly organizationId: string;
  readonly operationId: string;
  readonly queue: string;
  readonly arrivedMs: number;
  candidates: readonly CandidateAsk[];
  draft: string;
  /** `tried`: it was dispatched, its attempt failed, and it holds nothing until it is settled. */
  state: 'waiting' | 'line' | 'dispatched' | 'tried';
  candidate: number;
  slotMs: number;
  postings: readonly Posting[];
  expiresMs: number;
  /** The attempt that was sent before this one and failed, for the row of an operation that is never settled. */
  tried: Tried | null;
}

export interface Tried {
  readonly draft: string;
  readonly candidate: number;
}

/** Where a charge was written, so that it can be corrected there. */
export interface Posting {
  readonly charge: Charge;
  /** Bucket number, or start of the calendar window. */
  readonly place: number;
  readonly paceBeforeMs: number;
  readonly paceAfterMs: number;
}

export function emptyState(): OrganizationState {
  return {
    sliding: new Map(),
    calendar: new Map(),
    holders: new Map(),
    lines: new Map(),
    queues: new Map(),
    cooldowns: new Map(),
  };
}

/** A policy that changes its metric or period starts on a new window; one that changes its limit keeps its own. */
function windowKey({ id, metric, period }: AppliedLimit): string {
  return `${id}:${metric}:${period}`;
}

export function slidingOf(state: OrganizationState, policy: AppliedLimit): SlidingWindow {
  return getOrAdd(state.sliding, windowKey(policy), emptySlidingWindow);
}

export function hasSliding(state: OrganizationState, policy: AppliedLimit): boolean {
  return state.sliding.has(windowKey(policy));
}

/** Undefined until it was initialized from the ledger: an unknown window is not an empty one. */
export function calendarOf(state: OrganizationState, policy: AppliedLimit): CalendarWindow | undefined {
  return state.calendar.get(windowKey(policy));
}

/** Windows that are known by now are left as they are. A short one is told in parts, by when they were dispatched. */
export function initializeWindows(state: OrganizationState, openings: readonly Opening[]): void {
  const isUnknown = ({ policy }: Opening) =>
    isSliding(policy.period) ? !hasSliding(state, policy) : calendarOf(state, policy) === undefined;
  for (const { policy, startMs, amount } of openings.filter(isUnknown)) {
    if (isSliding(policy.period))
      addToSliding(slidingOf(state, policy), Math.floor(startMs / GEOMETRY[policy.period].bucketMs), amount);
    else state.calendar.set(windowKey(policy), new Map(amount > 0 ? [[startMs, amount]] : []));
  }
}

/** Writes a candidate's charges at the slot and answers where they went. */
export function post(
  state: OrganizationState,
  charges: readonly Charge[],
  slotMs: number,
  nowMs: number,
): Posting[] {
  const postings: Posting[] = [];
  for (const charge of charges) {
    const { policy, cost } = charge;
    const { period } = policy;
    if (period === 'none') continue;
    if (!isSliding(period)) {
      const place = windowStartMs(period, slotMs);
      const window = calendarOf(state, policy);
      if (window?.has(place) === false) pruneCalendar(window, windowStartMs(period, nowMs));
      addToCalendar(window, place, cost);
      postings.push({ charge, place, paceBeforeMs: 0, paceAfterMs: 0 });
      continue;
    }
    const geometry = GEOMETRY[period];
    const window = slidingOf(state, policy);
    const place = Math.floor(slotMs / geometry.bucketMs);
    pruneSliding(window, geometry, nowMs);
    addToSliding(window, place, cost);
    const paceBeforeMs = window.paceNextMs;
    if (isPaced(policy)) {
      // Several may share a millisecond: the mark keeps the fraction that the slot leaves out.
      const lastMs = Math.floor(paceBeforeMs) === slotMs ? paceBeforeMs : slotMs;
      window.paceNextMs = Math.max(paceBeforeMs, lastMs + paceIntervalMs(geometry, policy.limit));
    }
    postings.push({ charge, place, paceBeforeMs, paceAfterMs: window.paceNextMs });
  }
  return postings;
}

/**
 * Corrects one posting: what was not used goes back to the window that was charged; what was used beyond the
 * estimate is charged to the current one. `null`: nothing was used.
 */
export function correct(
  state: OrganizationState,
  posting: Posting,
  actual: Actual | null,
  nowMs: number,
): void {
  const { charge, place } = posting;
  const { policy, cost } = charge;
  const used = actualOf(policy, actual);
  const refund = Math.max(0, cost - used);
  const extra = Math.max(0, used - cost);
  if (!isSliding(policy.period)) {
    const window = calendarOf(state, policy);
    addToCalendar(window, place, -refund);
    if (extra > 0) addToCalendar(window, windowStartMs(policy.period as CalendarPeriod, nowMs), extra);
    return;
  }
  const window = slidingOf(state, policy);
  addToSliding(window, place, -refund);
  if (extra > 0) addToSliding(window, Math.floor(nowMs / GEOMETRY[policy.period].bucketMs), extra);
  // Whoever is last in the pacing and leaves hands his place on; a gap further forward stays until it has passed.
  if (used === 0 && window.paceNextMs === posting.paceAfterMs) window.paceNextMs = posting.paceBeforeMs;
}

function actualOf(policy: AppliedLimit, actual: Actual | null): number {
  return actual?.dispatched === true ? amountOf(policy.metric, actual) : 0;
}

export function usageOf(
  state: OrganizationState,
  policy: AppliedLimit,
  nowMs: number,
): { used: number; reserved: number; resetMs: number } {
  const { period } = policy;
  if (period === 'none') return { used: state.holders.get(policy.id)?.size ?? 0, reserved: 0, resetMs: 0 };
  if (isSliding(period)) {
    const geometry = GEOMETRY[period];
    // Whoever only looks must not make it a window that is known.
    const window = state.sliding.get(windowKey(policy)) ?? emptySlidingWindow();
    const last = Math.max(-1, ...window.buckets.keys());
    const wholeMs = (last + geometry.span) * geometry.bucketMs;
    return { ...sumOfSliding(window, geometry, nowMs), resetMs: last < 0 ? 0 : Math.max(0, wholeMs - nowMs) };
  }
  const window = calendarOf(state, policy);
  const startMs = windowStartMs(period, nowMs);
  let reserved = 0;
  for (const [start, amount] of window ?? []) if (start > startMs) reserved += amount;
  return { used: window?.get(startMs) ?? 0, reserved, resetMs: nextWindowMs(period, nowMs) - nowMs };
}

/** Forgets windows that are over: nobody asks for them, and what is given back to them helps nobody. */
function pruneCalendar(window: CalendarWindow, startMs: number): void {
  for (const start of window.keys()) if (start < startMs) window.delete(start);
}

function addToCalendar(window: CalendarWindow | undefined, startMs: number, amount: number): void {
  if (window === undefined) return;
  const next = (window.get(startMs) ?? 0) + amount;
  if (next > 0) window.set(startMs, next);
  else window.delete(startMs);
}

export function addTo(sets: Map<string, Set<string>>, name: string, member: string): void {
  getOrAdd(sets, name, () => new Set<string>()).add(member);
}

export function removeFrom(sets: Map<string, Set<string>>, name: string, member: string): void {
  const set = sets.get(name);
  set?.delete(member);
  if (set?.size === 0) sets.delete(name);
}

function getOrAdd<T>(map: Map<string, T>, name: string, create: () => T): T {
  const known = map.get(name);
  if (known !== undefined) return known;
  const created = create();
  map.set(name, created);
  return created;
}
