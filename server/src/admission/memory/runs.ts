import { METRICS } from '../../domain/limits/metric.ts';
import type { Headroom, Window } from './model.ts';
import { amountAt, dispatchedAt, endOf, NEVER_MS, ofRank, placeOf, startOf } from './window.ts';

/** Bounds of the searches below; each turn passes at least one bucket that is full. */
const TURNS_MAX = 4_096;

export const NO_HEADROOM: Headroom = { rank: 0, free: 0, floor: 1 };

/** A priority class leaves headroom to others; a charge of 0 needs none. */
export function headroomFor(cost: number, headroom: Headroom): Headroom {
  return cost > 0 ? headroom : NO_HEADROOM;
}

const HEADROOM: readonly Headroom[] = [
  { rank: 0, free: 0.15, floor: 0.85 },
  { rank: 1, free: 0.25, floor: 0.1 },
  { rank: 2, free: 0.5, floor: 0.1 },
];

export function headroomOf(rank: number, mixedClasses: boolean): Headroom {
  return (mixedClasses ? HEADROOM[rank] : undefined) ?? NO_HEADROOM;
}

/** The ends of the first and of the last run in which a cost does not fit. */
export interface FullRuns {
  readonly first: number;
  readonly last: number;
}

/** Looks at every run that contains `place`, with past and plan, as if asked later. Null: `cost` fits there. */
function fullRuns(
  window: Window,
  place: number,
  cost: number,
  nowMs: number,
  headroom: Headroom,
  asOfMs = nowMs,
): FullRuns | null {
  const { geometry, limit, plannedTotal } = window;
  // Past and plan together leave room: no run can be too full.
  if (dispatchedAt(window, nowMs) + plannedTotal + cost <= limit * (1 - headroom.free)) return null;
  if (geometry === null) return amountAt(window, place) + cost > limit ? { first: place, last: place } : null;
  const { span } = geometry;
  const nowPlace = placeOf(window, asOfMs);
  const mine = headroom.free === 0 ? null : ofRank(window, headroom.rank);
  let sum = 0;
  let ours = 0;
  for (let index = place - span + 1; index < place; index += 1) {
    sum += amountAt(window, index);
    ours += mine?.get(index) ?? 0;
  }
  let first = -1;
  let last = -1;
  for (let end = place; end < place + span; end += 1) {
    sum += amountAt(window, end);
    ours += mine?.get(end) ?? 0;
    if (isTooFull(sum, ours, end)) {
      if (first < 0) first = end;
      last = end;
    }
    sum -= amountAt(window, end - span + 1);
    ours -= mine?.get(end - span + 1) ?? 0;
  }
  return first < 0 ? null : { first, last };

  function isTooFull(held: number, heldByClass: number, end: number): boolean {
    if (held + cost > limit) return true;
    if (headroom.free === 0) return false;
    const future = Math.min(1, (end - nowPlace) / span);
    const leavesRoom = held + cost <= limit * (1 - headroom.free * future);
    return !leavesRoom && heldByClass + cost > Math.max(cost, limit * headroom.floor * future);
  }
}

/** The first moment, not before `fromMs`, at which `cost` fits for one who asks `leadMs` ahead of it. */
export function earliest(
  window: Window,
  fromMs: number,
  cost: number,
  nowMs: number,
  headroom: Headroom,
  leadMs: number,
): number {
  let atMs = fromMs;
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const asOfMs = Math.max(nowMs, atMs - leadMs);
    const full = fullRuns(window, placeOf(window, atMs), cost, nowMs, headroom, asOfMs);
    if (full === null) return atMs;
    atMs = endOf(window, full.last);
  }
  return NEVER_MS;
}

/** The latest moment, not after `untilMs` and not before `fromMs`, at which `cost` fits; -1 when there is none. */
export function latest(
  window: Window,
  untilMs: number,
  fromMs: number,
  cost: number,
  nowMs: number,
  headroom: Headroom,
): number {
  let atMs = untilMs;
  for (let turn = 0; turn < TURNS_MAX && atMs >= fromMs; turn += 1) {
    const full = fullRuns(window, placeOf(window, atMs), cost, nowMs, headroom);
    if (full === null) return atMs;
    // The run that ends first and is too full must not contain it, so it goes before that run begins.
    atMs = startOf(window, full.first - (window.geometry?.span ?? 1) + 1) - 1;
  }
  return -1;
}

/**
 * The latest such moment at which the plan of paced requests stays as even as the limit's own pace. It lies after the bucket of now: a
 * promise there is due, leaves the plan with its dispatch, and would make room for any number of others.
 */
export function latestEven(
  window: Window,
  untilMs: number,
  nowMs: number,
  cost: number,
  headroom: Headroom,
): number {
  const { geometry, limit, metric, planned } = window;
  if (geometry === null || !METRICS[metric].paced) return untilMs;
  const { bucketMs, span, cell } = geometry;
  const rate = (limit * cell) / span;
  const rateOfClass = rate * (1 - headroom.free);
  const mine = ofRank(window, headroom.rank);
  const fromMs = startOf(window, placeOf(window, nowMs) + 1);
  let atMs = untilMs;
  for (let turn = 0; turn < TURNS_MAX && atMs >= fromMs; turn += 1) {
    const index = Math.floor(atMs / (bucketMs * cell));
    let held = 0;
    let ours = 0;
    for (let place = index * cell; place < (index + 1) * cell; place += 1) {
      held += planned.get(place) ?? 0;
      ours += mine.get(place) ?? 0;
    }
    const room = Math.floor((index + 1) * rate) - Math.floor(index * rate);
    const roomOfClass = Math.floor((index + 1) * rateOfClass) - Math.floor(index * rateOfClass);
    if (held + cost <= room && (headroom.free === 0 || ours + cost <= roomOfClass)) return atMs;
    atMs = index * bucketMs * cell - 1;
  }
  return -1;
}
