import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { nextWindowMs } from '../calendar-window.ts';
import type { Opening, PastUse, PolicyUsage, Recount } from '../engine.ts';
import { windowKey } from '../window-key.ts';
import type { Call } from './model.ts';
import { touch } from './places.ts';
import { knownWindow, openWindow } from './state.ts';
import { dispatchedAt, isOfLater, placeOf, resetMsOf, restart, spend } from './window.ts';

/** Leaves windows that are known by now as they are. A short window gets one opening per dispatch. */
export function initializeWindows({ state, nowMs }: Call, openings: readonly Opening[]): void {
  const unknown = openings.filter(({ policy }) => knownWindow(state, policy, nowMs) === undefined);
  for (const { policy, startMs, amount } of unknown) {
    const window = openWindow(state, policy);
    if (isOfLater(window, nowMs)) restart(window, nowMs);
    if (!isSliding(window.period)) window.mark = nowMs;
    // The clock of the process that wrote the row may be ahead.
    spend(window, Math.min(nowMs, startMs + state.time.shiftMs), amount);
  }
}

/** Charges past usage of attempts to windows that were lost since. */
export function spendAgain({ state, nowMs }: Call, uses: readonly PastUse[]): void {
  for (const { policy, agoMs, amount } of uses) spend(openWindow(state, policy), nowMs - agoMs, amount);
}

/** Changes windows by what they differ from the ledger, if they still are those that were compared with it. */
export function recountWindows({ state, nowMs }: Call, recounts: readonly Recount[]): number {
  let changed = 0;
  for (const { policy, startMs, amount, mark } of recounts) {
    const { period } = policy;
    const window = knownWindow(state, policy, nowMs);
    if (period === 'none' || isSliding(period) || window === undefined || window.mark !== mark) continue;
    const atMs = startMs + state.time.shiftMs;
    if (startMs >= placeOf(window, nowMs)) spend(window, atMs, amount);
    window.mark = Math.max(nowMs, mark + 1);
    touch(state.line, window.key);
    changed += 1;
  }
  return changed;
}

export function usageOf({ state, nowMs }: Call, policy: AppliedLimit): PolicyUsage {
  const { id: policyId, period } = policy;
  if (period === 'none') {
    const used = state.units.get(windowKey(policy))?.holders.size ?? 0;
    return { policyId, used, reserved: 0, resetMs: 0, mark: null };
  }
  // Reading must not make an unknown window known.
  const window = knownWindow(state, policy, nowMs);
  if (window === undefined) {
    const clockMs = nowMs - state.time.shiftMs;
    const resetMs = isSliding(period) ? 0 : nextWindowMs(period, clockMs) - clockMs;
    return { policyId, used: 0, reserved: 0, resetMs, mark: null };
  }
  return {
    policyId,
    used: dispatchedAt(window, nowMs),
    reserved: window.plannedTotal,
    resetMs: resetMsOf(window, nowMs),
    mark: window.mark,
  };
}
