import { needsWrittenCap, writtenCaps } from '../../domain/limits/hard-reservation.ts';
import { hardLimitAt, hasHardLimits } from '../../domain/limits/limits.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import { askedOf, type Exchange, type RoutedRequest } from '../exchange.ts';
import { waitMsLeft } from './ask.ts';
import { type AdmitDeps, awaitCapacity, type Capacity, type Refused, type Wanted } from './await-capacity.ts';
import type { HardHolds } from './hard-holds.ts';

export interface ReserveDeps extends AdmitDeps {
  readonly holds: HardHolds;
}

type Release = Wanted['release'];

/**
 * Asks for capacity as `awaitCapacity`. Under hard limits, a request without a limit on its output gets the largest that has room now, and
 * one that finds no room waits for requests that hold more than they will use.
 */
export async function reserveCapacity(
  deps: ReserveDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  release: Release,
): Promise<Capacity> {
  const { snapshot, caller, requestId } = exchange;
  const isHard =
    hasHardLimits(snapshot, caller) &&
    candidates.some((candidate) => hardLimitAt(snapshot, caller, routed.route, candidate) !== null);
  if (!isHard) {
    deps.holds.release(requestId);
    return awaitCapacity(deps, exchange, routed, candidates, { release, cap: 0, mayWait: true });
  }
  const ask = needsWrittenCap(askedOf(exchange).outputMost) ? askDownward : askOnce;
  let given = release;
  let awaitedId: string | null = null;
  // A release wakes one of those who wait. If that one does not use it, the next has its turn.
  const leave = <T>(capacity: T): T => {
    if (awaitedId !== null) deps.holds.passOn(awaitedId);
    return capacity;
  };
  for (;;) {
    const capacity = await ask(deps, exchange, routed, candidates, given);
    given = null;
    if (capacity === 'stopped') return leave(capacity);
    if (capacity.kind === 'ready') {
      deps.holds.hold(requestId, capacity.hardPolicyIds);
      for (const policyId of capacity.hardPolicyIds) deps.holds.passOn(policyId);
      return capacity;
    }
    // The engine has what an earlier attempt held: the request must not wait for itself.
    deps.holds.release(requestId);
    if (!(await awaitHolder(deps, exchange, routed, capacity))) return leave(capacity);
    awaitedId = capacity.hardPolicyId;
    if (exchange.stopped !== null) return leave('stopped');
  }
}

function askOnce(
  deps: AdmitDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  release: Release,
): Promise<Capacity> {
  return awaitCapacity(deps, exchange, routed, candidates, { release, cap: 0, mayWait: true });
}

/** The engine decides each time in one step, so what is sent is never more than what was reserved. */
async function askDownward(
  deps: AdmitDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  release: Release,
): Promise<Capacity> {
  const caps = writtenCaps(routed.typicalOutputTokens);
  let given = release;
  let last = caps.at(-1) ?? 0;
  for (const cap of caps.slice(0, -1)) {
    const wanted = { release: given, cap, mayWait: false };
    const capacity = await awaitCapacity(deps, exchange, routed, candidates, wanted);
    given = null;
    if (capacity === 'stopped' || capacity.kind === 'ready') return capacity;
    if (capacity.hardPolicyId !== null) continue;
    // Another limit is in the way: less output does not help, and the request waits for that one.
    last = cap;
    break;
  }
  return awaitCapacity(deps, exchange, routed, candidates, { release: given, cap: last, mayWait: true });
}

/** Waits within the wait budget until another request gives back what it held; false when none holds the limit. */
async function awaitHolder(
  deps: ReserveDeps,
  exchange: Exchange,
  { route }: RoutedRequest,
  { hardPolicyId, isForGood }: Refused,
): Promise<boolean> {
  const leftMs = waitMsLeft(exchange, route);
  if (hardPolicyId === null || isForGood || leftMs <= 0) return false;
  const giveBack = deps.waitingPlaces.tryTake(exchange.caller.organizationId);
  if (giveBack === null) return false;
  const awaited = deps.holds.awaitRelease(hardPolicyId);
  if (awaited === null) {
    giveBack();
    return false;
  }
  const startMs = deps.clock.monotonicMs();
  const timer = setTimeout(awaited.cancel, leftMs);
  exchange.inCharge = { stop: awaited.cancel };
  if (exchange.stopped !== null) awaited.cancel();
  await awaited.released;
  clearTimeout(timer);
  giveBack();
  exchange.inCharge = null;
  exchange.waitMs += deps.clock.monotonicMs() - startMs;
  return true;
}
