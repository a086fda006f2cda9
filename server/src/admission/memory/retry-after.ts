import { isUnitCost } from '../../domain/limits/metric.ts';
import type { Refusal } from '../engine.ts';
import { RETRY_UNKNOWN_MS, refusal } from '../refusal.ts';
import { candidateOf, exceededOf } from './fitting.ts';
import type { Call, Candidate, Headroom, Units, Waiter, Window } from './model.ts';
import { intervalMs } from './pace.ts';
import { guardMs } from './promise.ts';
import { earliest, headroomFor, NO_HEADROOM } from './runs.ts';
import { cooldownUntilMs, isFull, stateOf } from './state.ts';
import { dispatchedAt, endOf, NEVER_MS, placeOf, startOf } from './window.ts';

const PASSES_MAX = 16;

interface Room {
  readonly atMs: number;
  /** The limit that moved it furthest; null for a cooldown or no delay. */
  readonly boundBy: Window | null;
}

/**
 * Why a request is refused, and when the same request, sent alone, is accepted: when the line, served in turn, leaves room for
 * one more like this. Behind a concurrency limit it is unknown.
 */
export function refuse(call: Call, waiter: Waiter): Refusal {
  let best: { room: Room; candidate: Candidate } | null = null;
  for (const candidate of waiter.candidates) {
    if (exceededOf(candidate) !== null) continue;
    const room = roomAt(call, waiter, candidate);
    if (best === null || room.atMs < best.room.atMs) best = { room, candidate };
  }
  if (best === null) {
    const limit = exceededOf(candidateOf(waiter, 0));
    return withWindow(call, refusal('exceeds_limit', 0, limit?.policyId ?? null, 0), limit);
  }
  const { room, candidate } = best;
  const deadlineMs = waiter.deadlineMs;
  const retryAfterMs = Math.max(1, Math.ceil(room.atMs + guardMs(waiter) - deadlineMs));
  const resetMs = Math.max(0, Math.ceil(room.atMs - call.nowMs));
  const full: Units | undefined = candidate.units.find(isFull);
  if (full !== undefined) {
    const laterMs = Math.max(RETRY_UNKNOWN_MS, retryAfterMs);
    return refusal('wait_budget', laterMs, full.policyId, Math.max(RETRY_UNKNOWN_MS, resetMs));
  }
  return withWindow(
    call,
    refusal('wait_budget', retryAfterMs, room.boundBy?.policyId ?? null, resetMs),
    room.boundBy,
  );
}

function withWindow({ nowMs }: Call, refused: Refusal, limit: Window | Units | null): Refusal {
  return limit === null || 'holders' in limit ? refused : { ...refused, window: stateOf(limit, nowMs) };
}

function roomAt(call: Call, waiter: Waiter, candidate: Candidate): Room {
  const { nowMs } = call;
  const headroom: Headroom = waiter.waitMsMax > 0 ? waiter.headroom : NO_HEADROOM;
  const coolMs = Math.max(nowMs, cooldownUntilMs(call, candidate));
  let atMs = coolMs;
  let boundBy: Window | null = null;
  for (const { window, cost } of candidate.charges) {
    const after = isOneLine(call, window) ? afterLine : afterPromises;
    const room = headroomFor(cost, headroom);
    const laterMs = after(window, cost, nowMs, leftToOthers(call, window, room), coolMs);
    if (laterMs <= atMs) continue;
    atMs = laterMs;
    boundBy = window;
  }
  // Nor before the plan as it stands has a place for it, with what its class leaves to others by then.
  const leadMs = waiter.waitMsMax - guardMs(waiter);
  for (let pass = 0; pass < PASSES_MAX && atMs < NEVER_MS; pass += 1) {
    const beforeMs = atMs;
    for (const { window, cost } of candidate.charges) {
      const laterMs = earliest(window, atMs, cost, nowMs, headroomFor(cost, headroom), leadMs);
      if (laterMs <= atMs) continue;
      atMs = laterMs;
      boundBy = window;
    }
    if (atMs === beforeMs) break;
  }
  return { atMs, boundBy };
}

/** Everybody waits for this one window and takes the same from it, so the line is served as fast as it allows. */
function isOneLine({ state: { line } }: Call, { key, metric }: Window): boolean {
  return isUnitCost(metric) && line !== null && line.places.size === 1 && line.places.has(key);
}

/** What a class leaves to others counts beside requests of its own that wait; without any it may always promise one. */
function leftToOthers({ state: { line } }: Call, { key }: Window, headroom: Headroom): Headroom {
  if (line === null) return NO_HEADROOM;
  const place = line.places.size === 1 ? line.places.get(key) : undefined;
  return place?.queues[headroom.rank]?.length === 0 ? NO_HEADROOM : headroom;
}

/**
 * When one more fits if those who wait go one by one at the limit's own pace, from the first moment at which what was dispatched
 * never holds them back. They go no later than that; each counts for a span.
 */
function afterLine(window: Window, cost: number, nowMs: number, headroom: Headroom, coolMs: number): number {
  const { geometry, limit, used } = window;
  const past = afterPast(window, cost, nowMs, headroom);
  if (past.need <= 0 || geometry === null) return afterPromises(window, cost, nowMs, headroom);
  const interval = intervalMs(window);
  const { headPlace } = window;
  let fromMs = coolMs;
  // How many of the line may go before this place has left the span.
  let ahead = limit - window.dispatched;
  for (let place = headPlace - geometry.span + 1; place <= headPlace; place += 1) {
    const amount = used.get(place) ?? 0;
    if (amount > 0 && ahead + amount >= 1)
      fromMs = Math.max(fromMs, startOf(window, place + geometry.span) - Math.max(1, ahead + 1) * interval);
    ahead += amount;
  }
  // A timer may let the last of them go a bucket later.
  const gone = placeOf(window, Math.ceil(fromMs + past.need * interval)) + 1;
  return startOf(window, gone + geometry.span);
}

/** When `cost` fits whenever those who wait go: by its moment each of them is gone, and a span later it counts no more. */
function afterPromises(window: Window, cost: number, nowMs: number, headroom: Headroom): number {
  const { geometry, planned, plan } = window;
  let { atMs, need } = afterPast(window, cost, nowMs, headroom);
  if (need <= 0) return atMs;
  const last = placeOf(window, plan.at(-1)?.slotMs ?? nowMs);
  for (let place = window.headPlace; place <= last; place = placeOf(window, endOf(window, place))) {
    need -= planned.get(place) ?? 0;
    atMs = geometry === null ? endOf(window, place) : startOf(window, place + geometry.span);
    if (need <= 0) return atMs;
  }
  return atMs;
}

/**
 * When what was dispatched leaves room for `cost` beside the whole plan and what its class leaves to others, or how much of the
 * plan is too much even then.
 */
function afterPast(
  window: Window,
  cost: number,
  nowMs: number,
  { free }: Headroom,
): { atMs: number; need: number } {
  const { geometry, limit, plannedTotal, used } = window;
  const room = geometry === null ? limit : limit * (1 - free);
  let need = dispatchedAt(window, nowMs) + plannedTotal + cost - room;
  if (need <= 0) return { atMs: nowMs, need };
  const { headPlace } = window;
  if (geometry === null) return { atMs: endOf(window, headPlace), need: need - window.dispatched };
  for (let place = headPlace - geometry.span + 1; place <= headPlace; place += 1) {
    need -= used.get(place) ?? 0;
    if (need <= 0) return { atMs: startOf(window, place + geometry.span), need };
  }
  return { atMs: startOf(window, headPlace + geometry.span), need };
}
