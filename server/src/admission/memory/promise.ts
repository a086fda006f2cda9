import { candidateOf, exceededOf } from './fitting.ts';
import { compareDeadlines, compareSlots } from './line.ts';
import type { Call, Candidate, Headroom, Line, Units, Waiter } from './model.ts';
import { touch } from './places.ts';
import { headroomFor, latest, latestEven } from './runs.ts';
import { insert, remove } from './sorted-list.ts';
import { cooldownUntilMs, isFull } from './state.ts';
import { placeOf, planAt, startOf } from './window.ts';

/** Reservations keep this distance from the deadline: for a timer, a message, a gateway that takes over. */
export const GUARD_MS = 200;
const PASSES_MAX = 256;

/** -1: it may wait, but only units can tell how long. */
export interface Promised {
  readonly slotMs: number;
  readonly firm: boolean;
}

export function guardMs({ waitMsMax }: Pick<Waiter, 'waitMsMax'>): number {
  return Math.min(GUARD_MS, Math.floor(waitMsMax / 10));
}

/** Where the plan can hold the waiter in time at one candidate; null when it cannot. */
export function promiseAt(call: Call, waiter: Waiter, index: number): Promised | null {
  const candidate = candidateOf(waiter, index);
  const fromMs = Math.max(call.nowMs, cooldownUntilMs(call, candidate));
  const untilMs = waiter.deadlineMs - guardMs(waiter);
  if (waiter.waitMsMax <= 0 || fromMs > untilMs) return null;
  if (exceededOf(candidate) !== null) return null;
  // It is unknown when a unit is free: a place in line if those ahead are likely to be served in time.
  const full = candidate.units.find(isFull);
  if (full !== undefined && expectedMs(call, full, waiter.rank) > waiter.waitMsMax) return null;
  const firm = candidate.units.length === 0;
  if (candidate.charges.length === 0) return { slotMs: firm ? fromMs : -1, firm };
  const slotMs = slotAt(call, waiter.headroom, candidate, fromMs, untilMs);
  return slotMs < 0 ? null : { slotMs, firm };
}

/** How long one more of this class would wait for a unit, from how long units were held. It goes before those of lower classes. */
function expectedMs({ state }: Call, { key, limit, meanMs }: Units, rank: number): number {
  let ahead = 0;
  for (let higher = 0; higher <= rank; higher += 1)
    ahead += state.line?.ahead.get(aheadKey(key, higher)) ?? 0;
  return ((ahead + 1) / limit) * (meanMs ?? 0);
}

export function aheadKey(key: string, rank: number): string {
  return `${rank}:${key}`;
}

/** The latest moment at which every window has room: evenly filled if that can be, since even plans leave no odd gaps. */
function slotAt(
  { nowMs }: Call,
  headroom: Headroom,
  { charges }: Candidate,
  fromMs: number,
  untilMs: number,
): number {
  for (const isEven of [true, false]) {
    let atMs = untilMs;
    for (let pass = 0; pass < PASSES_MAX && atMs >= fromMs; pass += 1) {
      const beforeMs = atMs;
      for (const { window, cost } of charges) {
        const room = headroomFor(cost, headroom);
        if (isEven) atMs = latestEven(window, atMs, nowMs, cost, room);
        if (atMs >= fromMs) atMs = latest(window, atMs, fromMs, cost, nowMs, room);
        if (atMs < fromMs) break;
      }
      if (atMs !== beforeMs) continue;
      // At the start of the shortest bucket: a timer that comes late is still in it.
      return charges.reduce(
        (startMs, { window }) => Math.max(startMs, startOf(window, placeOf(window, atMs))),
        fromMs,
      );
    }
  }
  return -1;
}

export function reserve(line: Line, waiter: Waiter, on: number, slotMs: number): void {
  remove(line.unpromised, waiter, compareDeadlines);
  waiter.slotMs = slotMs;
  waiter.reservedOn = on;
  insert(line.bySlot, waiter, compareSlots);
  for (const { window, cost } of candidateOf(waiter, on).charges) {
    planAt(window, slotMs, cost, waiter.rank);
    if (cost > 0) insert(window.plan, waiter, compareSlots);
  }
}

/** Gives a reservation back; those who wait for what it held are looked at in the next step. */
export function unreserve(line: Line, waiter: Waiter): void {
  if (waiter.slotMs < 0) return;
  for (const { window } of candidateOf(waiter, waiter.reservedOn).charges) touch(line, window.key);
  takeOut(line, waiter);
}

function takeOut(line: Line, waiter: Waiter): void {
  remove(line.bySlot, waiter, compareSlots);
  for (const { window, cost } of candidateOf(waiter, waiter.reservedOn).charges) {
    planAt(window, waiter.slotMs, -cost, waiter.rank);
    if (cost > 0) remove(window.plan, waiter, compareSlots);
  }
  waiter.slotMs = -1;
  waiter.reservedOn = -1;
}

/** Two waiters with the same charges change places in the plan, or also candidates; the sums stay as they are. */
export function swap(line: Line, one: Waiter, other: Waiter, withCandidates = false): void {
  const { slotMs, reservedOn } = one;
  const { slotMs: otherMs, reservedOn: otherOn } = other;
  takeOut(line, one);
  takeOut(line, other);
  reserve(line, one, withCandidates ? otherOn : reservedOn, otherMs);
  reserve(line, other, withCandidates ? reservedOn : otherOn, slotMs);
}

/** Its moment came and it could not go: it keeps its turn until its deadline. */
export function losePromise(line: Line, waiter: Waiter): void {
  unreserve(line, waiter);
  insert(line.unpromised, waiter, compareDeadlines);
}
