import { isUnitCost } from '../../domain/limits/metric.ts';
import { compareWaiters } from './line.ts';
import type { Call, Candidate, Units, Waiter, Window } from './model.ts';
import { paceNextMs } from './pace.ts';
import { cooldownUntilMs, isFull } from './state.ts';
import { amountAt, dispatchedAt, endOf, NEVER_MS, placeOf } from './window.ts';

/** How often the limits of a candidate may push its earliest moment before it counts as never. */
const PASSES_MAX = 32;

/** `turn`: in order, at the pace. `due`: its reserved moment or its deadline has come. `unpaced`: has no time to wait, or waited already. */
export type Why = 'turn' | 'due' | 'unpaced';

/** The candidates that the waiter may go to, in order of preference. */
export function openCandidates({ candidates, only }: Pick<Waiter, 'candidates' | 'only'>): number[] {
  return only >= 0 ? [only] : candidates.map((_, index) => index);
}

/** The first candidate that can take the waiter now; -1 when there is none. */
export function candidateNow(call: Call, waiter: Waiter, why: Why): number {
  for (const index of openCandidates(waiter)) if (blockedBy(call, waiter, index, why) === null) return index;
  return -1;
}

/** The place where the waiter's way to a candidate is blocked now; null when it may go. */
export function blockedBy(call: Call, waiter: Waiter, index: number, why: Why): string | null {
  const candidate = candidateOf(waiter, index);
  const { nowMs } = call;
  if (cooldownUntilMs(call, candidate) > nowMs) return cooldownKey(candidate.endpointId);
  // What has no time comes first: a waiter that is blocked there is woken by a unit, and by nothing else.
  for (const units of candidate.units) if (isFull(units)) return units.key;
  // Then what one number tells, and last what takes a look at the plan.
  for (const { window, cost } of candidate.charges) {
    if (dispatchedAt(window, nowMs) + cost > window.limit) return window.key;
    if (why === 'turn' && candidate.paced && paceNextMs(window, nowMs) > nowMs) return window.key;
  }
  for (const { window, cost } of candidate.charges) {
    // A charge of 0 delays no other request.
    if (cost > 0 && breaksPlanNow(call, waiter, window, cost, why)) return window.key;
  }
  return null;
}

export function candidateOf({ candidates }: Waiter, index: number): Candidate {
  const candidate = candidates[index];
  if (candidate === undefined) throw new RangeError(`no candidate ${index}`);
  return candidate;
}

/** A limit that is smaller than the request alone. */
export function exceededOf({ charges, units }: Candidate): Window | Units | null {
  const charge = charges.find(({ window, cost }) => cost > window.limit);
  return charge?.window ?? units.find(({ limit }) => limit < 1) ?? null;
}

export function cooldownKey(endpointId: string): string {
  return `cooldown:${endpointId}`;
}

function breaksPlanNow(call: Call, waiter: Waiter, window: Window, cost: number, why: Why): boolean {
  const shadow = why === 'due' ? null : shadowFor(call, waiter, window, cost);
  const own = reservedCost(waiter, window);
  // Past and plan together leave room: no run can be too full.
  if (shadow === null && dispatchedAt(window, call.nowMs) + window.plannedTotal - own + cost <= window.limit)
    return false;
  return lastFullRun(waiter, window, cost, call.nowMs, shadow, true) >= 0;
}

/** What the waiter has reserved of a window. */
function reservedCost({ candidates, reservedOn }: Waiter, window: Window): number {
  return candidates[reservedOn]?.charges.find((each) => each.window === window)?.cost ?? 0;
}

/**
 * Would moving the waiter's reservation to this moment break a run? Runs that contain both moments hold what they held. Returns the
 * end of the last run that would be too full; -1 when none would.
 */
function lastFullRun(
  waiter: Waiter,
  window: Window,
  cost: number,
  atMs: number,
  shadow: Shadow | null,
  isAnyEnough = false,
): number {
  const { geometry, limit } = window;
  const own = reservedCost(waiter, window);
  const slot = own > 0 ? placeOf(window, waiter.slotMs) : NEVER_MS;
  const place = placeOf(window, atMs);
  const span = geometry?.span ?? 1;
  let sum = 0;
  for (let index = place - span + 1; index < place; index += 1) sum += amountAt(window, index);
  let last = -1;
  for (let end = place; end < place + span; end += 1) {
    sum += amountAt(window, end);
    const holdsOwn = end >= slot;
    if (holdsOwn && cost <= own && shadow === null) break;
    let total = sum + cost - (holdsOwn ? own : 0);
    if (shadow !== null && end >= shadow.place && end < shadow.slot) total += shadow.cost;
    if (total > limit) {
      last = end;
      if (isAnyEnough) break;
    }
    sum -= amountAt(window, end - span + 1);
  }
  return last;
}

/** What is kept free of a window, from a place on until the place where its owner's reservation is. */
interface Shadow {
  readonly place: number;
  readonly slot: number;
  readonly cost: number;
}

/** The earliest moment of a waiter ahead that takes more, which this one must not delay. */
function shadowFor({ state }: Call, waiter: Waiter, window: Window, smaller: number): Shadow | null {
  const shadow = state.line?.places.get(window.key)?.shadow ?? null;
  if (shadow === null || smaller === 0) return null;
  const { waiter: first, atMs } = shadow;
  if (first === waiter || state.line?.waiting.get(first.operationId) !== first) return null;
  if (compareWaiters(first, waiter) > 0) return null;
  const charges = first.candidates[Math.max(0, first.reservedOn)]?.charges ?? [];
  const cost = charges.find((each) => each.window === window)?.cost ?? 0;
  if (cost <= smaller) return null;
  const slot = first.slotMs >= 0 ? placeOf(window, first.slotMs) : NEVER_MS;
  return { place: placeOf(window, atMs), slot, cost };
}

/** Keeps the earliest moment of a waiter free that is too large for now, unless one ahead of it has it kept. */
export function castShadow(call: Call, waiter: Waiter, placeKey: string): void {
  const { line, windows } = call.state;
  const window = windows.get(placeKey);
  const place = line?.places.get(placeKey);
  if (line === null || place === undefined || window === undefined || isUnitCost(window.metric)) return;
  const held = place.shadow?.waiter;
  const isHeld = held !== undefined && held !== waiter && line.waiting.get(held.operationId) === held;
  if (isHeld && compareWaiters(held, waiter) < 0) return;
  place.shadow = null;
  const atMs = earliestMove(call, waiter);
  if (atMs < NEVER_MS) place.shadow = { waiter, atMs };
}

/** When the waiter could go if no other moved; never while units are missing, since it is unknown when they are free. */
function earliestMove(call: Call, waiter: Waiter): number {
  let bestMs = NEVER_MS;
  for (const index of openCandidates(waiter))
    bestMs = Math.min(bestMs, earliestMoveTo(call, waiter, candidateOf(waiter, index)));
  return bestMs;
}

function earliestMoveTo(call: Call, waiter: Waiter, candidate: Candidate): number {
  if (candidate.units.some(isFull) || exceededOf(candidate) !== null) return NEVER_MS;
  let atMs = Math.max(call.nowMs, cooldownUntilMs(call, candidate));
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const beforeMs = atMs;
    for (const { window, cost } of candidate.charges) {
      if (atMs === call.nowMs && dispatchedAt(window, atMs) + cost > window.limit)
        atMs = endOf(window, placeOf(window, atMs));
      else if (cost > 0 || atMs > call.nowMs) {
        const last = lastFullRun(waiter, window, cost, atMs, shadowFor(call, waiter, window, cost));
        if (last >= 0) atMs = endOf(window, last);
      }
    }
    if (atMs === beforeMs) return atMs;
  }
  return atMs;
}
