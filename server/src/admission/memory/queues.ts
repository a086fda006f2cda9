import { entryIn } from '../../kit/entry-in.ts';
import { candidateOf } from './fitting.ts';
import { compareArrivals, compareDeadlines, compareSizes, emptyLine } from './line.ts';
import type { Call, Line, Queue, Waiter } from './model.ts';
import { paceNextMs } from './pace.ts';
import { park, reorder, unpark, updateCosts, wakeAt, wakeNoLater } from './places.ts';
import { aheadKey, reserve, unreserve } from './promise.ts';
import { insert, remove } from './sorted-list.ts';

/** Lets a waiter into the line. `slotMs` -1: without a promise. */
export function join(call: Call, waiter: Waiter, on: number, slotMs: number): void {
  const line = call.state.line ?? emptyLine();
  call.state.line = line;
  const windows = slotMs < 0 ? [] : candidateOf(waiter, on).charges.map(({ window }) => window);
  const gated = windows.filter((window) => paceNextMs(window, call.nowMs) > call.nowMs);
  line.waiting.set(waiter.operationId, waiter);
  count(line.lengths, waiter.lane, 1);
  for (const key of unitKeys(waiter)) count(line.ahead, aheadKey(key, waiter.rank), 1);
  if (slotMs >= 0) reserve(line, waiter, on, slotMs);
  else insert(line.unpromised, waiter, compareDeadlines);
  enterQueue(call, line, waiter);
  for (const { place } of waiter.queue?.parked ?? []) wakeNoLater(call, line, place);
  // A larger crowd quickens the pace, also for those who wait elsewhere.
  for (const window of windows) {
    const place = line.places.get(window.key);
    if (place === undefined) continue;
    wakeNoLater(call, line, place);
    // So quick that a waiter may go immediately.
    if (gated.includes(window) && paceNextMs(window, call.nowMs) <= call.nowMs)
      wakeAt(line, place, call.nowMs);
  }
}

/** Takes a waiter out of the line: it goes, has left, or its deadline has come. */
export function leave(call: Call, line: Line, waiter: Waiter): void {
  unreserve(line, waiter);
  line.waiting.delete(waiter.operationId);
  remove(line.unpromised, waiter, compareDeadlines);
  count(line.lengths, waiter.lane, -1);
  for (const key of unitKeys(waiter)) count(line.ahead, aheadKey(key, waiter.rank), -1);
  leaveQueue(call, line, waiter);
  if (line.waiting.size === 0) call.state.line = null;
}

/** Its promise is lost: it keeps its turn and may go to any candidate, until its deadline. */
export function loseOnly(call: Call, line: Line, waiter: Waiter): void {
  if (waiter.only < 0) return;
  const tag = waiter.queue?.tag ?? waiter.tag;
  leaveQueue(call, line, waiter);
  waiter.only = -1;
  enterQueue(call, line, waiter);
  const { queue } = waiter;
  // As one that just came, it would be behind later requests of its caller.
  if (queue !== null && queue.waiters[0] === waiter && tag < queue.tag) reorder(queue, tag);
}

function enterQueue(call: Call, line: Line, waiter: Waiter): void {
  const queue = queueFor(line, waiter);
  const isHead = (queue.waiters[0]?.seq ?? Number.POSITIVE_INFINITY) > waiter.seq;
  if (isHead) unpark(line, queue);
  insert(queue.waiters, waiter, compareArrivals);
  insert(queue.bySize, waiter, compareSizes);
  waiter.queue = queue;
  if (isHead) retag(call, line, queue);
  else updateCosts(call, line, queue);
}

function leaveQueue(call: Call, line: Line, waiter: Waiter): void {
  const { queue } = waiter;
  if (queue === null) return;
  const isHead = queue.waiters[0] === waiter;
  if (isHead) unpark(line, queue);
  remove(queue.waiters, waiter, compareArrivals);
  remove(queue.bySize, waiter, compareSizes);
  waiter.queue = null;
  if (!isHead) {
    updateCosts(call, line, queue);
    return;
  }
  if (queue.waiters.length === 0) {
    line.queues.delete(queue.key);
    return;
  }
  retag(call, line, queue);
}

/** A queue with another head stands where that one is blocked, with the tag that its caller has by now. */
function retag(call: Call, line: Line, queue: Queue): void {
  unpark(line, queue);
  queue.tag = startTag(line, queue.rank, queue.caller);
  park(call, line, queue);
}

function queueFor(line: Line, { rank, lane, shape, only, caller }: Waiter): Queue {
  const key = `${rank}|${lane}|${shape}|${only}`;
  return entryIn(line.queues, key, () => ({
    key,
    rank,
    caller,
    waiters: [],
    bySize: [],
    tag: 0,
    parked: [],
  }));
}

/** Where the caller stands in fair queueing: no caller gains by having been away. */
export function startTag(line: Line | null, rank: number, caller: string): number {
  return Math.max(line?.virtual[rank] ?? 0, line?.served[rank]?.get(caller) ?? 0);
}

function unitKeys({ candidates }: Waiter): Set<string> {
  return new Set(candidates.flatMap(({ units }) => units.map(({ key }) => key)));
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}
