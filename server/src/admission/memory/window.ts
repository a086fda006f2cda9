import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { type CalendarPeriod, isSliding, type SlidingPeriod } from '../../domain/limits/period.ts';
import { nextWindowMs, windowStartMs } from '../calendar-window.ts';
import { windowKey } from '../window-key.ts';
import type { Geometry, Timeline, Window } from './model.ts';

/** Later than any moment, and more than any limit. */
export const NEVER_MS = 9e15;
export const NO_LIMIT = 9e15;

export const GEOMETRY: Record<SlidingPeriod, Geometry> = {
  second: { bucketMs: 50, span: 22, cell: 4 },
  minute: { bucketMs: 500, span: 122, cell: 8 },
};

export function emptyWindow(
  policy: AppliedLimit,
  period: SlidingPeriod | CalendarPeriod,
  time: Timeline,
): Window {
  return {
    key: windowKey(policy),
    policyId: policy.id,
    metric: policy.metric,
    period,
    geometry: isSliding(period) ? GEOMETRY[period] : null,
    time,
    limit: policy.limit,
    used: new Map(),
    dispatched: 0,
    headPlace: 0,
    planned: new Map(),
    plannedOf: [new Map(), new Map(), new Map()],
    plannedTotal: 0,
    plan: [],
    paceMarkMs: 0,
    paceKnown: { nowMs: -1, nextMs: 0 },
    mark: null,
  };
}

export function placeOf({ geometry, period, time }: Window, atMs: number): number {
  return geometry === null
    ? windowStartMs(period as CalendarPeriod, atMs - time.shiftMs)
    : Math.floor(atMs / geometry.bucketMs);
}

export function startOf({ geometry, time }: Window, place: number): number {
  return geometry === null ? place + time.shiftMs : place * geometry.bucketMs;
}

/** The start of the next place. */
export function endOf({ geometry, period, time }: Window, place: number): number {
  return geometry === null
    ? nextWindowMs(period as CalendarPeriod, place) + time.shiftMs
    : (place + 1) * geometry.bucketMs;
}

/** What a calendar window counts is of a later one: the clock went back. */
export function isOfLater(window: Window, nowMs: number): boolean {
  return window.geometry === null && placeOf(window, nowMs) < window.headPlace;
}

/** Makes it a window of this moment, in which nothing was dispatched or planned. */
export function restart(window: Window, nowMs: number): void {
  window.headPlace = placeOf(window, nowMs);
  window.dispatched = 0;
  window.plannedTotal = 0;
  for (const sums of [window.used, window.planned, ...window.plannedOf]) sums.clear();
}

/** Changes what was dispatched at a moment; a moment that no run reaches any more is ignored. */
export function spend(window: Window, atMs: number, amount: number): void {
  const place = placeOf(window, atMs);
  if (place > window.headPlace) roll(window, place);
  if (place <= window.headPlace - (window.geometry?.span ?? 1)) return;
  const before = window.used.get(place) ?? 0;
  const after = Math.max(0, before + amount);
  if (after > 0) window.used.set(place, after);
  else window.used.delete(place);
  window.dispatched += after - before;
}

/** Dispatched in the span that ends now. */
export function dispatchedAt(window: Window, nowMs: number): number {
  const place = placeOf(window, nowMs);
  if (place > window.headPlace) roll(window, place);
  return isOfLater(window, nowMs) ? 0 : window.dispatched;
}

function roll(window: Window, place: number): void {
  const { geometry, used, headPlace } = window;
  window.headPlace = place;
  if (geometry === null || place - headPlace >= geometry.span) {
    used.clear();
    window.dispatched = 0;
    return;
  }
  for (let gone = headPlace - geometry.span + 1; gone <= place - geometry.span; gone += 1) {
    window.dispatched -= used.get(gone) ?? 0;
    used.delete(gone);
  }
}

/** Adds to the plan, or takes from it. */
export function planAt(window: Window, atMs: number, amount: number, rank: number): void {
  const place = placeOf(window, atMs);
  add(window.planned, place, amount);
  add(ofRank(window, rank), place, amount);
  window.plannedTotal = Math.max(0, window.plannedTotal + amount);
  window.paceKnown.nowMs = -1;
}

export function ofRank({ plannedOf }: Window, rank: number): Map<number, number> {
  return plannedOf[rank] ?? new Map();
}

/** Dispatched and planned at one place. */
export function amountAt({ used, planned }: Window, place: number): number {
  return (used.get(place) ?? 0) + (planned.get(place) ?? 0);
}

/** Milliseconds until the window is empty again if no other request arrives. */
export function resetMsOf(window: Window, nowMs: number): number {
  const { geometry, plan, used } = window;
  if (geometry === null) return endOf(window, placeOf(window, nowMs)) - nowMs;
  let last = -1;
  if (dispatchedAt(window, nowMs) > 0) {
    last = window.headPlace;
    while (!used.has(last)) last -= 1;
  }
  const planned = plan.at(-1);
  if (planned !== undefined) last = Math.max(last, placeOf(window, planned.slotMs));
  return last < 0 ? 0 : Math.max(0, startOf(window, last + geometry.span) - nowMs);
}

function add(sums: Map<number, number>, place: number, amount: number): void {
  const next = (sums.get(place) ?? 0) + amount;
  if (next > 0) sums.set(place, next);
  else sums.delete(place);
}
