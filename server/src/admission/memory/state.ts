import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { entryIn } from '../../kit/entry-in.ts';
import type { WindowState } from '../engine.ts';
import { windowKey } from '../window-key.ts';
import type { Call, Candidate, OrganizationState, Timeline, Units, Window } from './model.ts';
import { dispatchedAt, emptyWindow, isOfLater, resetMsOf } from './window.ts';

export function emptyState(time: Timeline): OrganizationState {
  return { time, windows: new Map(), units: new Map(), cooldowns: new Map(), line: null };
}

function windowOf(state: OrganizationState, policy: AppliedLimit): Window | undefined {
  return state.windows.get(windowKey(policy));
}

/** Undefined for one whose count only the ledger knows: never initialized, or of a later time, since the clock went back. */
export function knownWindow(
  state: OrganizationState,
  policy: AppliedLimit,
  nowMs: number,
): Window | undefined {
  const window = windowOf(state, policy);
  return window === undefined || isOfLater(window, nowMs) ? undefined : window;
}

/** For a window that is known, or needs no start from the ledger. */
export function openWindow(state: OrganizationState, policy: AppliedLimit): Window {
  return entryIn(state.windows, windowKey(policy), () => {
    const { period } = policy;
    if (period === 'none') throw new TypeError(`${policy.id} has no window`);
    return emptyWindow(policy, period, state.time);
  });
}

export function unitsOf(state: OrganizationState, policy: AppliedLimit): Units {
  const { id: policyId, limit } = policy;
  return entryIn(state.units, windowKey(policy), (key) => {
    return { key, policyId, limit, holders: new Set<string>(), meanMs: null };
  });
}

export function isHeld({ metric }: AppliedLimit): boolean {
  return METRICS[metric].held;
}

export function cooldownUntilMs({ state }: Call, { endpointId }: Candidate): number {
  return state.cooldowns.get(endpointId) ?? 0;
}

export function isFull({ holders, limit }: Units): boolean {
  return holders.size >= limit;
}

/** The limits whose windows were never initialized and may hold usage. */
export function unknownWindows(
  state: OrganizationState,
  policies: readonly AppliedLimit[],
  shortAreKnown: boolean,
  nowMs: number,
): AppliedLimit[] {
  return policies.filter((policy) => {
    if (policy.period === 'none') return false;
    if (isSliding(policy.period) && shortAreKnown) return false;
    return knownWindow(state, policy, nowMs) === undefined;
  });
}

/** A limit for the rate headers. */
export function stateOf(limit: Window | Units, nowMs: number): WindowState {
  const { policyId } = limit;
  if ('holders' in limit) return { policyId, used: limit.holders.size, resetMs: 0 };
  const used = dispatchedAt(limit, nowMs) + limit.plannedTotal;
  return { policyId, used, resetMs: resetMsOf(limit, nowMs) };
}
