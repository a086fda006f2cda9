import type { Charge } from '../../domain/limits/limit.ts';
import { isPaced } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { earliestInCalendar } from '../calendar-window.ts';
import { NEVER_MS } from '../choose-candidate.ts';
import type { CandidateAsk } from '../engine.ts';
import { earliestInSliding, GEOMETRY } from './sliding-window.ts';
import { calendarOf, type OrganizationState, slidingOf } from './state.ts';

/** How often the policies of a candidate may push its slot further before it counts as unplaceable. */
const PASSES_MAX = 64;

/** The first moment, not before `fromMs`, at which every window of the candidate has room, and who pushed it there last. */
export function earliest(
  state: OrganizationState,
  candidate: CandidateAsk,
  fromMs: number,
  paced: boolean,
): { slotMs: number; boundBy: string | null } {
  let slotMs = fromMs;
  let boundBy: string | null = null;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = slotMs;
    for (const charge of candidate.charges) {
      const nextMs = earliestFor(state, charge, slotMs, paced);
      if (nextMs <= slotMs) continue;
      slotMs = nextMs;
      boundBy = charge.policy.id;
    }
    if (slotMs === before) return { slotMs, boundBy };
  }
  return { slotMs: NEVER_MS, boundBy };
}

function earliestFor(
  state: OrganizationState,
  { policy, cost }: Charge,
  fromMs: number,
  paced: boolean,
): number {
  const { period, limit } = policy;
  if (period === 'none') return fromMs;
  if (!isSliding(period)) {
    return earliestInCalendar(calendarOf(state, policy) ?? new Map(), period, limit, cost, fromMs);
  }
  const window = slidingOf(state, policy);
  const pacedMs = paced && isPaced(policy) ? Math.max(fromMs, Math.floor(window.paceNextMs)) : fromMs;
  return earliestInSliding(window, GEOMETRY[period], limit, cost, pacedMs);
}
