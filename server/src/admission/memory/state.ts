import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import { amountOf, isPaced } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { type CalendarWindow, nextWindowMs, windowStartMs } from '../calendar-window.ts';
import type { Actual, CandidateAsk, Opening, PolicyUsage, Recount } from '../engine.ts';
import {
  addToSliding,
  emptySlidingWindow,
  GEOMETRY,
  paceIntervalMs,
  pruneSliding,
  type SlidingWindow,
  sumOfSliding,
} from './sliding-window.ts';

/** The state of one organization. */
export interface OrganizationState {
  readonly sliding: Map<string, SlidingWindow>;
  readonly calendar: Map<string, CalendarWindow>;
  /** Of each calendar window: when it was started or last recounted. */
  readonly marks: Map<string, number>;
  /** Limit → operations that hold a unit of its concurrency. */
  readonly holders: Map<string, Set<string>>;
  /** Limit → operations in line for its concurrency. */
  readonly lines: Map<string, Set<string>>;
  /** Queue → operations that wait, in a slot or in line. */
  readonly queues: Map<string, Set<string>>;
  /** Endpoint → end of its cooldown. */
  readonly cooldowns: Map<string, number>;
}

export interface Lease {
  readonly organizationId: string;
  readonly operationId: string;
  readonly queue: string;
  readonly arrivedMs: number;
  candidates: readonly CandidateAsk[];
  draft: string;
  /** `tried`: an attempt was dispatched and failed; the lease holds nothing until it is settled. */
  state: 'waiting' | 'line' | 'dispatched' | 'tried';
  candidate: number;
  slotMs: number;
  postings: readonly Posting[];
  expiresMs: number;
  /** The earlier attempt that was sent and failed, for the row of an operation that is never settled. */
  tried: Tried | null;
}

export interface Tried {
  readonly draft: string;
  readonly candidate: number;
}

/** Where a charge was written, so that settling can correct it there. */
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
    marks: new Map(),
    holders: new Map(),
    lines: new Map(),
    queues: new Map(),
    cooldowns: new Map(),
  };
}

/** A limit whose metric or period changes starts with a new window; one whose value changes keeps its window. */
function windowKey({ id, metric, period }: AppliedLimit): string {
  return `${id}:${metric}:${period}`;
}

export function slidingOf(state: OrganizationState, policy: AppliedLimit): SlidingWindow {
  return getOrAdd(state.sliding, windowKey(policy), emptySlidingWindow);
}

export function hasSliding(state: OrganizationState, policy: AppliedLimit): boolean {
  return state.sliding.has(windowKey(policy));
}

/** Undefined until it is initialized from the ledger: an unknown window is not an empty one. */
export function calendarOf(state: OrganizationState, policy: AppliedLimit): CalendarWindow | undefined {
  return state.calendar.get(windowKey(policy));
}

/** Leaves windows that are known by now as they are. A short window gets one opening per dispatch. */
export function initializeWindows(
  state: OrganizationState,
  openings: readonly Opening[],
  nowMs: number,
): void {
  const isUnknown = ({ policy }: Opening) =>
    isSliding(policy.period) ? !hasSliding(state, policy) : calendarOf(state, policy) === undefined;
  for (const { policy, startMs, amount } of openings.filter(isUnknown)) {
    if (isSliding(policy.period))
      addToSliding(slidingOf(state, policy), Math.floor(startMs / GEOMETRY[policy.period].bucketMs), amount);
    else {
      state.calendar.set(windowKey(policy), new Map(amount > 0 ? [[startMs, amount]] : []));
      state.marks.set(windowKey(policy), nowMs);
    }
  }
}

/** Changes windows by what they differ from the ledger, if they still are those that were compared with it. */
export function recountWindows(
  state: OrganizationState,
  recounts: readonly Recount[],
  nowMs: number,
): number {
  let changed = 0;
  for (const { policy, startMs, amount, mark } of recounts) {
    const key = windowKey(policy);
    const { period } = policy;
    if (period === 'none' || isSliding(period) || state.marks.get(key) !== mark) continue;
    if (startMs >= windowStartMs(period, nowMs)) addToCalendar(state.calendar.get(key), startMs, amount);
    state.marks.set(key, Math.max(nowMs, mark + 1));
    changed += 1;
  }
  return changed;
}

/** Writes a candidate's charges at the slot and returns where they went. */
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
      // The mark keeps fractions of a millisecond, so that several requests can share one.
      const lastMs = Math.floor(paceBeforeMs) === slotMs ? paceBeforeMs : slotMs;
      window.paceNextMs = Math.max(paceBeforeMs, lastMs + paceIntervalMs(geometry, policy.limit));
    }
    postings.push({ charge, place, paceBeforeMs, paceAfterMs: window.paceNextMs });
  }
  return postings;
}

/**
 * Settles one posting: the unused part goes back to the window that was charged; usage beyond the estimate is charged to
 * the current window. `null`: nothing was used.
 */
export function correct(
  state: OrganizationState,
  posting: Posting,
  actual: Actual | null,
  nowMs: number,
): void {
  const { charge, place } = posting;
  const { policy, cost } = charge;
  const { period } = policy;
  if (period === 'none') return;
  const used = actualOf(policy, actual);
  const refund = Math.max(0, cost - used);
  const extra = Math.max(0, used - cost);
  if (!isSliding(period)) {
    const window = calendarOf(state, policy);
    addToCalendar(window, place, -refund);
    if (extra > 0) addToCalendar(window, windowStartMs(period, nowMs), extra);
    return;
  }
  const window = slidingOf(state, policy);
  addToSliding(window, place, -refund);
  if (extra > 0) addToSliding(window, Math.floor(nowMs / GEOMETRY[period].bucketMs), extra);
  // An unused request that was paced last returns its place; an earlier gap stays until it has passed.
  if (used === 0 && window.paceNextMs === posting.paceAfterMs) window.paceNextMs = posting.paceBeforeMs;
}

function actualOf(policy: AppliedLimit, actual: Actual | null): number {
  return actual?.dispatched === true ? amountOf(policy.metric, actual) : 0;
}

export function usageOf(
  state: OrganizationState,
  policy: AppliedLimit,
  nowMs: number,
): Omit<PolicyUsage, 'policyId'> {
  const { period } = policy;
  if (period === 'none')
    return { used: state.holders.get(policy.id)?.size ?? 0, reserved: 0, resetMs: 0, mark: null };
  if (isSliding(period)) {
    const geometry = GEOMETRY[period];
    // Reading must not make an unknown window known.
    const window = state.sliding.get(windowKey(policy)) ?? emptySlidingWindow();
    const last = Math.max(-1, ...window.buckets.keys());
    const wholeMs = (last + geometry.span) * geometry.bucketMs;
    const resetMs = last < 0 ? 0 : Math.max(0, wholeMs - nowMs);
    return { ...sumOfSliding(window, geometry, nowMs), resetMs, mark: null };
  }
  const window = calendarOf(state, policy);
  const startMs = windowStartMs(period, nowMs);
  let reserved = 0;
  for (const [start, amount] of window ?? []) if (start > startMs) reserved += amount;
  return {
    used: window?.get(startMs) ?? 0,
    reserved,
    resetMs: nextWindowMs(period, nowMs) - nowMs,
    mark: state.marks.get(windowKey(policy)) ?? null,
  };
}

/** Deletes past windows; no request is counted there any more. */
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
