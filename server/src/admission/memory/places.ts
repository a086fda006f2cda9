import { isUnitCost } from '../../domain/limits/metric.ts';
import { blockedBy, candidateOf, cooldownKey, openCandidates } from './fitting.ts';
import { compareCosts, comparePlaces, compareQueues } from './line.ts';
import type { Call, Candidate, Line, Parked, Place, Queue, Waiter, Window } from './model.ts';
import { paceNextMs } from './pace.ts';
import { insert, remove } from './sorted-list.ts';
import { isFull } from './state.ts';
import { dispatchedAt, endOf, NEVER_MS, startOf } from './window.ts';

/** While a limit has room and only promises or other limits hold everybody back, the line looks again after this time. */
const LOOK_AGAIN_MS = 50;
/** Timers are not finer. */
const GRAIN_MS = 1;

/** Puts a queue where its head is blocked, once for each candidate. A head that may go is looked at in the next step. */
export function park(call: Call, line: Line, queue: Queue): void {
  const head = queue.waiters[0];
  if (head === undefined) return;
  const keys = new Map<string, boolean>();
  for (const index of openCandidates(head)) {
    const blocked = blockedBy(call, head, index, 'turn');
    const key = blocked ?? firstKeyOf(candidateOf(head, index));
    keys.set(key, keys.get(key) === true || blocked === null);
  }
  const isSame = keys.size === queue.parked.length && queue.parked.every(({ place }) => keys.has(place.key));
  if (!isSame) moveTo(call, line, queue, head, [...keys.keys()]);
  for (const { place } of queue.parked) {
    if (keys.get(place.key) !== true) continue;
    line.touched.add(place.key);
    wakeAt(line, place, call.nowMs);
  }
}

function moveTo(call: Call, line: Line, queue: Queue, head: Waiter, keys: readonly string[]): void {
  unpark(line, queue);
  for (const key of keys) {
    const place = line.places.get(key) ?? openPlace(line, key);
    const parked: Parked = { place, queue, cost: leastCost(queue, key), paced: isPacedAt(head, key) };
    insert(place.queues[queue.rank] ?? [], queue, compareQueues);
    insert(place.byCost, parked, compareCosts);
    if (!parked.paced) place.unpaced += 1;
    queue.parked.push(parked);
    wakeNoLater(call, line, place);
  }
}

/** Where nothing blocks it, only the order of the line does: it waits at its first limit. */
function firstKeyOf({ endpointId, charges, units }: Candidate): string {
  return charges[0]?.window.key ?? units[0]?.key ?? cooldownKey(endpointId);
}

/** Before the head or the tag of a queue changes: its position depends on them. */
export function unpark(line: Line, queue: Queue): void {
  for (const parked of queue.parked) {
    const { place } = parked;
    const queues = place.queues[queue.rank] ?? [];
    remove(queues, queue, compareQueues);
    remove(place.byCost, parked, compareCosts);
    if (!parked.paced) place.unpaced -= 1;
    if (queues.length === 0) place.credit[queue.rank] = 0;
    if (place.queues.some((each) => each.length > 0)) continue;
    remove(line.wake, place, comparePlaces);
    line.places.delete(place.key);
  }
  queue.parked.length = 0;
}

/** Gives a queue another tag where it stands. */
export function reorder(queue: Queue, tag: number): void {
  const lists = queue.parked.map(({ place }) => place.queues[queue.rank] ?? []);
  for (const list of lists) remove(list, queue, compareQueues);
  queue.tag = tag;
  for (const list of lists) insert(list, queue, compareQueues);
}

/** After a waiter behind the head came or left: the smallest of the queue may be another. */
export function updateCosts(call: Call, line: Line, queue: Queue): void {
  for (const parked of queue.parked) {
    const cost = leastCost(queue, parked.place.key);
    if (cost === parked.cost) continue;
    remove(parked.place.byCost, parked, compareCosts);
    parked.cost = cost;
    insert(parked.place.byCost, parked, compareCosts);
    wakeNoLater(call, line, parked.place);
  }
}

function openPlace(line: Line, key: string): Place {
  const place: Place = {
    key,
    queues: [[], [], []],
    byCost: [],
    unpaced: 0,
    credit: [0, 0, 0],
    atMs: NEVER_MS,
    shadow: null,
  };
  line.places.set(key, place);
  insert(line.wake, place, comparePlaces);
  return place;
}

/** What the head or the smallest of a queue is charged at a place, whichever is less. */
function leastCost(queue: Queue, key: string): number {
  let least = NEVER_MS;
  for (const waiter of [queue.waiters[0], queue.bySize[0]]) {
    if (waiter === undefined) continue;
    for (const index of openCandidates(waiter)) {
      for (const { window, cost } of candidateOf(waiter, index).charges)
        if (window.key === key) least = Math.min(least, cost);
    }
  }
  return least;
}

function isPacedAt(head: Waiter, key: string): boolean {
  return openCandidates(head)
    .map((index) => candidateOf(head, index))
    .every(({ paced, charges }) => paced || !charges.some(({ window }) => window.key === key));
}

/** Something changed at a window or at units: the next step looks at those who wait there. */
export function touch(line: Line | null, key: string): void {
  if (line?.places.has(key) === true) line.touched.add(key);
}

/** When the line looks at a place again if nothing else happens. */
export function nextOf(call: Call, place: Place): number {
  const { state, nowMs } = call;
  const openMs = opensAtMs(call, place);
  if (!state.windows.has(place.key)) return Math.max(openMs, nowMs + GRAIN_MS);
  return openMs > nowMs ? openMs : nowMs + LOOK_AGAIN_MS;
}

/**
 * When the pace and what was dispatched allow a waiter to go from here. Past that moment only promises and other limits stand in the
 * way.
 */
function opensAtMs({ state, nowMs }: Call, place: Place): number {
  const units = state.units.get(place.key);
  if (units !== undefined) return isFull(units) ? NEVER_MS : nowMs;
  const window = state.windows.get(place.key);
  if (window === undefined) return state.cooldowns.get(endpointOf(place)) ?? 0;
  const cost = isUnitCost(window.metric) ? 1 : (place.byCost[0]?.cost ?? NEVER_MS);
  const atMs = cost < NEVER_MS ? roomMs(window, cost, nowMs) : NEVER_MS;
  return place.unpaced === 0 ? Math.max(atMs, Math.ceil(paceNextMs(window, nowMs))) : atMs;
}

/** In how many milliseconds a waiter can go, as far as that is known: where its queue waits, or when its own promise is due. */
export function nextSlotMs(call: Call, operationId: string): number | null {
  const waiter = call.state.line?.waiting.get(operationId);
  if (waiter === undefined) return null;
  // It is unknown when a unit is free, so a promise that needs one may not be kept.
  const isFirm = waiter.slotMs >= 0 && candidateOf(waiter, waiter.reservedOn).units.length === 0;
  let atMs = isFirm ? Math.max(call.nowMs, waiter.slotMs) : NEVER_MS;
  for (const { place } of waiter.queue?.parked ?? []) {
    // The line's next look; one that is soon may find that only promises hold the waiter back.
    const isSoon = place.atMs <= call.nowMs + LOOK_AGAIN_MS;
    const openMs = isSoon ? opensAtMs(call, place) : place.atMs;
    if (openMs > call.nowMs) atMs = Math.min(atMs, openMs);
  }
  return atMs < NEVER_MS ? Math.ceil(atMs - call.nowMs) : null;
}

function endpointOf({ key }: Place): string {
  return key.slice(cooldownKey('').length);
}

/** When what was dispatched leaves room for `cost`, whatever the plan holds. */
function roomMs(window: Window, cost: number, nowMs: number): number {
  let over = dispatchedAt(window, nowMs) + cost - window.limit;
  if (over <= 0) return nowMs;
  if (cost > window.limit) return NEVER_MS;
  const { geometry, headPlace, used } = window;
  if (geometry === null) return endOf(window, headPlace);
  for (let place = headPlace - geometry.span + 1; place <= headPlace; place += 1) {
    over -= used.get(place) ?? 0;
    if (over <= 0) return startOf(window, place + geometry.span);
  }
  return NEVER_MS;
}

export function wakeAt(line: Line, place: Place, atMs: number): void {
  if (place.atMs === atMs) return;
  remove(line.wake, place, comparePlaces);
  place.atMs = atMs;
  insert(line.wake, place, comparePlaces);
}

export function wakeNoLater(call: Call, line: Line, place: Place): void {
  wakeAt(line, place, Math.min(place.atMs, nextOf(call, place)));
}

/** When the line has something to do if nothing else happens. */
export function wakeAtMs({ bySlot, unpromised, wake }: Line): number {
  return Math.min(
    bySlot[0]?.slotMs ?? NEVER_MS,
    unpromised[0]?.deadlineMs ?? NEVER_MS,
    wake[0]?.atMs ?? NEVER_MS,
  );
}
