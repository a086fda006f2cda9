import { dispatch } from './dispatch.ts';
import { blockedBy, candidateNow } from './fitting.ts';
import { compareQueues } from './line.ts';
import type { Call, Line, Place, Queue, Waiter } from './model.ts';
import { nextOf, wakeAt } from './places.ts';
import { losePromise, promiseAt, reserve, unreserve } from './promise.ts';
import { loseOnly } from './queues.ts';
import { giveUp, leaseOf, letGo } from './releases.ts';
import { compareText } from './sorted-list.ts';
import { serve } from './turns.ts';

/** How often the places that a step changed itself are looked at in it. */
const ROUNDS_MAX = 4;

/** One step of the line: those that are due go, then those that fit, in order. */
export function step(call: Call): void {
  const { line } = call.state;
  if (line === null) return;
  for (let next = line.bySlot[0]; next !== undefined && next.slotMs <= call.nowMs; next = line.bySlot[0])
    servePromise(call, line, next);
  for (
    let next = line.unpromised[0];
    next !== undefined && next.deadlineMs <= call.nowMs;
    next = line.unpromised[0]
  )
    endOfWait(call, next);
  for (const { atMs, key } of line.wake) {
    if (atMs > call.nowMs) break;
    line.touched.add(key);
  }
  for (let round = 0; round < ROUNDS_MAX && line.touched.size > 0; round += 1) {
    const places = takeTouched(line);
    for (const { key } of places) serve(call, line, key);
    for (const { key } of places) settlePlace(call, line, key);
  }
  // A step is bounded; what is left is for the next one, immediately, so that no arrival is ahead of it.
  for (const place of takeTouched(line)) wakeAt(line, place, call.nowMs);
}

/** Its reserved moment has come: it goes, paced or not, if what was dispatched leaves room. */
function servePromise(call: Call, line: Line, waiter: Waiter): void {
  if (blockedBy(call, waiter, waiter.reservedOn, 'due') === null) {
    release(call, waiter, waiter.reservedOn);
    return;
  }
  // A limit was lowered, an endpoint is cooling, an estimate was too low, or a unit is missing.
  loseOnly(call, line, waiter);
  const other = candidateNow(call, waiter, 'due');
  if (other >= 0) {
    release(call, waiter, other);
    return;
  }
  unreserve(line, waiter);
  for (const index of waiter.candidates.keys()) {
    const again = promiseAt(call, waiter, index);
    if (again === null || again.slotMs <= call.nowMs) continue;
    reserve(line, waiter, index, again.slotMs);
    return;
  }
  losePromise(line, waiter);
}

/** A last try for one without a promise. */
function endOfWait(call: Call, waiter: Waiter): void {
  const on = candidateNow(call, waiter, 'due');
  if (on >= 0) release(call, waiter, on);
  else giveUp(call, waiter);
}

function release(call: Call, waiter: Waiter, on: number): void {
  const lease = leaseOf(call, waiter);
  dispatch(call, lease, waiter, on);
  letGo(call, lease);
}

/** The touched places, in the order of the best queue of each. */
function takeTouched(line: Line): Place[] {
  const places: Place[] = [];
  for (const key of line.touched) {
    const place = line.places.get(key);
    if (place !== undefined) places.push(place);
  }
  line.touched.clear();
  return places.sort((a, b) => compareBest(a, b) || compareText(a.key, b.key));
}

function compareBest(a: Place, b: Place): number {
  const first = bestOf(a);
  const second = bestOf(b);
  return first === undefined || second === undefined ? 0 : compareQueues(first, second);
}

function bestOf({ queues }: Place): Queue | undefined {
  return queues.find((each) => each.length > 0)?.[0];
}

function settlePlace(call: Call, line: Line, key: string): void {
  const place = line.places.get(key);
  if (place === undefined) return;
  const shadowOf = place.shadow?.waiter;
  if (shadowOf !== undefined && line.waiting.get(shadowOf.operationId) !== shadowOf) place.shadow = null;
  wakeAt(line, place, nextOf(call, place));
}
