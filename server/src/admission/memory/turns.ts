import { isUnitCost } from '../../domain/limits/metric.ts';
import { dispatch } from './dispatch.ts';
import { candidateNow, candidateOf, castShadow } from './fitting.ts';
import { compareWaiters, RANKS } from './line.ts';
import type { Call, Candidate, Line, Place, Queue, Waiter } from './model.ts';
import { paceNextMs } from './pace.ts';
import { park, reorder } from './places.ts';
import { GUARD_MS, swap } from './promise.ts';
import { startTag } from './queues.ts';
import { leaseOf, letGo } from './releases.ts';
import { cooldownUntilMs } from './state.ts';
import { dispatchedAt } from './window.ts';

/** Bounds of one look at a place: queues, waiters behind a blocked head, waiters in the order of the plan. */
const QUEUES_MAX = 64;
const BEHIND_HEAD_MAX = 4;
const BY_SLOT_MAX = 8;
/** The same, before one goes that is not the first in order. */
const OUT_OF_ORDER_MAX = 64;

interface Turn {
  readonly waiter: Waiter;
  readonly candidate: number;
}

/** Those that wait at a place and fit go, in order. */
export function serve(call: Call, line: Line, key: string): void {
  const seen = new Set<Queue>();
  let isServing = false;
  for (let turn = 0; turn < QUEUES_MAX; turn += 1) {
    const place = line.places.get(key);
    const queue = place === undefined ? null : nextQueue(place, seen);
    if (place === undefined || queue === null) break;
    if (isBehind(line, queue)) {
      reorder(queue, startTag(line, queue.rank, queue.caller));
      continue;
    }
    const found = pick(call, line, queue, place);
    isServing = found !== null;
    if (found !== null) {
      go(call, firstFor(call, line, seen, found));
      continue;
    }
    seen.add(queue);
    park(call, line, queue);
    if (shutsAll(call, place)) return;
  }
  // The bound was reached while they still fit: the next look continues in order.
  if (isServing) return;
  // The head may be held back by promises ahead; those who hold them may then go early, soonest first.
  for (let turn = 0; turn < BY_SLOT_MAX; turn += 1) {
    const found = firstOfPlan(call, key);
    if (found === null) return;
    go(call, firstFor(call, line, seen, found));
  }
}

/** Its caller was served from another of its queues since this one got its tag. */
function isBehind({ served }: Line, { rank, caller, tag }: Queue): boolean {
  return (served[rank]?.get(caller) ?? 0) > tag;
}

function go(call: Call, { waiter, candidate }: Turn): void {
  const lease = leaseOf(call, waiter);
  dispatch(call, lease, waiter, candidate);
  letGo(call, lease);
}

/** By class, then by what the caller was served, then by arrival; a lower class that is owed its share comes first. */
function nextQueue({ queues, credit }: Place, seen: ReadonlySet<Queue>): Queue | null {
  const owed = [2, 1].filter((rank) => (credit[rank] ?? 0) >= 1);
  for (const rank of [...owed, ...RANKS]) {
    for (const queue of queues[rank] ?? []) if (!seen.has(queue)) return queue;
  }
  return null;
}

/** The first of a queue that fits: the head, or a smaller one behind it. */
function pick(call: Call, line: Line, { waiters, bySize }: Queue, place: Place): Turn | null {
  let least = Number.POSITIVE_INFINITY;
  for (const waiter of [...waiters.slice(0, BEHIND_HEAD_MAX), ...bySize.slice(0, 1)]) {
    if (waiter.size >= least) continue;
    least = waiter.size;
    exchange(line, waiter);
    const candidate = candidateNow(call, waiter, 'turn');
    if (candidate >= 0) return { waiter, candidate };
    castShadow(call, waiter, place.key);
  }
  return null;
}

/** No waiter here can go: nothing is left of the window, or all are paced and it is not time. */
function shutsAll({ state, nowMs }: Call, { key, unpaced }: Place): boolean {
  const window = state.windows.get(key);
  if (window === undefined || !isUnitCost(window.metric)) return false;
  if (dispatchedAt(window, nowMs) + 1 > window.limit) return true;
  return unpaced === 0 && paceNextMs(window, nowMs) > nowMs;
}

function firstOfPlan(call: Call, key: string): Turn | null {
  let found: Turn | null = null;
  for (const waiter of (call.state.windows.get(key)?.plan ?? []).slice(0, BY_SLOT_MAX)) {
    if (found !== null && compareWaiters(found.waiter, waiter) <= 0) continue;
    const candidate = candidateNow(call, waiter, 'turn');
    if (candidate >= 0) found = { waiter, candidate };
  }
  return found;
}

/** Of those ahead whose queues could not go, the first that can go in its place. */
function firstFor(call: Call, line: Line, seen: ReadonlySet<Queue>, found: Turn): Turn {
  const { waiter } = found;
  const ahead = [...seen].flatMap(({ waiters }) => waiters.slice(0, 1));
  for (const first of ahead.filter((each) => compareWaiters(each, waiter) < 0).sort(compareWaiters)) {
    const { slotMs } = first;
    if (slotMs > waiter.deadlineMs - GUARD_MS) exchange(line, first, OUT_OF_ORDER_MAX, waiter);
    const own = first.slotMs < slotMs ? candidateNow(call, first, 'turn') : -1;
    if (own >= 0) return { waiter: first, candidate: own };
    if (!suits(waiter, first)) continue;
    const isSame = chargesMatch(waiter, first);
    if (!isSame && !candidatesMatch(call, waiter, first)) continue;
    swap(line, first, waiter, !isSame);
    const candidate = candidateNow(call, first, 'turn');
    if (candidate >= 0) return { waiter: first, candidate };
    swap(line, first, waiter, !isSame);
  }
  return found;
}

/**
 * Reservations of the same charges are worth the same: the next in order takes the soonest from a waiter behind it whose deadline
 * allows the later one. So those ahead are not held back by promises that can wait.
 */
function exchange(line: Line, waiter: Waiter, count = BY_SLOT_MAX, except?: Waiter): void {
  if (waiter.reservedOn < 0) return;
  // A charge of 0 is in no plan.
  const charge = candidateOf(waiter, waiter.reservedOn).charges.find(({ cost }) => cost > 0);
  let soonest = charge?.window.plan.slice(0, count) ?? [];
  while (soonest.length > 0) {
    const at = soonest.findIndex(
      (other) => other !== except && suits(other, waiter) && chargesMatch(other, waiter),
    );
    const other = soonest[at];
    if (other === undefined) return;
    swap(line, waiter, other);
    // What it has now may come in time for one that is sooner still.
    soonest = soonest.slice(0, at);
  }
}

/** Whether the reservation of one ahead comes in time for a waiter whose own is sooner. */
function suits(waiter: Waiter, first: Waiter): boolean {
  return (
    waiter.reservedOn >= 0 &&
    first.reservedOn >= 0 &&
    waiter.slotMs < first.slotMs &&
    first.slotMs <= waiter.deadlineMs - GUARD_MS &&
    compareWaiters(first, waiter) <= 0
  );
}

function chargesMatch(a: Waiter, b: Waiter): boolean {
  return sameCharges(candidateOf(a, a.reservedOn), candidateOf(b, b.reservedOn));
}

/** Whether each has the candidate of the other's reservation, with the same charges, and as good a promise there. */
function candidatesMatch(call: Call, waiter: Waiter, first: Waiter): boolean {
  if (waiter.only >= 0 || first.only >= 0) return false;
  const sooner = first.candidates[waiter.reservedOn];
  const later = waiter.candidates[first.reservedOn];
  return (
    sooner !== undefined &&
    later !== undefined &&
    later.units.length === 0 &&
    cooldownUntilMs(call, later) <= first.slotMs &&
    sameCharges(sooner, candidateOf(waiter, waiter.reservedOn)) &&
    sameCharges(later, candidateOf(first, first.reservedOn))
  );
}

function sameCharges(a: Candidate, b: Candidate): boolean {
  return (
    a.charges.length === b.charges.length &&
    a.charges.every(({ window, cost }, at) => {
      const other = b.charges[at];
      return other?.window === window && other.cost === cost;
    })
  );
}
