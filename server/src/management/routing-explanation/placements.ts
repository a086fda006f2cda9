import type { Placement } from '../../admission/choose-candidate.ts';
import type { PolicyUsage } from '../../admission/engine.ts';
import { NEVER_MS } from '../../admission/memory/window.ts';
import type { RequestMost, Reservation } from '../../domain/limits/hard-reservation.ts';
import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import { estimatedCharges, hardReservation, type LimitedCaller } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { Candidate, Route } from '../../domain/routing/routing.ts';
import type { Endpoint, OrganizationSnapshot } from '../../domain/snapshot.ts';
import { readLimitState } from '../limit-state.ts';
import type { ManagementDeps } from '../resources/deps.ts';

export type PlacementDeps = Pick<ManagementDeps, 'limitUsage' | 'admission' | 'clock' | 'health'>;

const UNAVAILABLE = 'Limit state is unavailable, so Relay can’t explain routing. Retry shortly.';

export interface PlacementQuestion {
  readonly snapshot: OrganizationSnapshot;
  readonly caller: LimitedCaller;
  readonly route: Pick<Route, 'lane'>;
  readonly candidates: readonly Candidate[];
  readonly estimate: TokenEstimate;
  readonly most: (endpoint: Endpoint) => RequestMost;
  /** The limits on the output that Relay would write, the largest first. */
  readonly caps: readonly number[];
}

/** The placement at each candidate, by endpoint, as of `nowMs`. */
export interface Placements {
  readonly nowMs: number;
  readonly byEndpoint: ReadonlyMap<string, Placement>;
  /** What hard limits would reserve, by endpoint. */
  readonly reserved: ReadonlyMap<string, Reservation>;
}

/** Derives placements from cooldowns and the live usage of limits. Reserves nothing. */
export async function readPlacements(deps: PlacementDeps, question: PlacementQuestion): Promise<Placements> {
  const { snapshot, candidates } = question;
  const charged = candidates.map((candidate) => ({
    endpointId: candidate.endpoint.id,
    options: chargesByCap(question, candidate),
  }));
  const limits = new Map<string, AppliedLimit>();
  for (const { options } of charged)
    for (const { charges } of options) for (const { policy } of charges) limits.set(policy.id, policy);
  const usages = await readLimitState(deps, snapshot.organizationId, [...limits.values()], UNAVAILABLE);
  const nowMs = deps.clock.nowMs();
  const byEndpoint = new Map<string, Placement>();
  const reserved = new Map<string, Reservation>();
  for (const { endpointId, options } of charged) {
    const fromMs = Math.max(nowMs, Math.ceil(deps.admission.cooldownUntilMs(endpointId) ?? nowMs));
    const placed = options.map(({ charges, reservation }) => ({
      placement: placementOf(charges, usages, nowMs, fromMs),
      reservation,
    }));
    // Admission tries them in this order too, and waits with the last.
    const chosen = placed.find(({ placement }) => placement.slotMs === fromMs) ?? placed.at(-1);
    if (chosen === undefined) continue;
    byEndpoint.set(endpointId, chosen.placement);
    if (chosen.reservation !== null) reserved.set(endpointId, chosen.reservation);
  }
  return { nowMs, byEndpoint, reserved };
}

interface ChargesOption {
  readonly charges: readonly Charge[];
  readonly reservation: Reservation | null;
}

function chargesByCap(
  { snapshot, caller, route, estimate, most, caps }: PlacementQuestion,
  candidate: Candidate,
): readonly ChargesOption[] {
  return caps.map((cap) => {
    const reservation = hardReservation(snapshot, caller, route, candidate, most, cap);
    return {
      charges: estimatedCharges(snapshot, caller, route, candidate, estimate, reservation),
      reservation,
    };
  });
}

/** Where the engine would place it if it is alone; see `memory/retry-after.ts` in `admission`. Short windows are an estimate. */
function placementOf(
  charges: readonly Charge[],
  usages: ReadonlyMap<string, PolicyUsage>,
  nowMs: number,
  fromMs: number,
): Placement {
  const tooSmall = charges.filter(({ policy, cost }) => cost > policy.limit);
  // Of several the engine names one that has a window first.
  const exceeding = tooSmall.find(({ policy }) => !METRICS[policy.metric].held) ?? tooSmall[0];
  if (exceeding !== undefined)
    return { slotMs: NEVER_MS, boundBy: null, exceeds: exceeding.policy.id, blockedBy: null };
  let slotMs = fromMs;
  let boundBy: string | null = null;
  let blockedBy: string | null = null;
  for (const { policy, cost } of charges) {
    const usage = usages.get(policy.id);
    if (usage === undefined) continue;
    if (METRICS[policy.metric].held) {
      if (usage.used >= policy.limit) blockedBy ??= policy.id;
      continue;
    }
    const laterMs = nowMs + waitMsOf(policy, cost, usage);
    if (laterMs <= slotMs) continue;
    slotMs = laterMs;
    boundBy = policy.id;
  }
  return { slotMs, boundBy, exceeds: null, blockedBy };
}

function waitMsOf({ period, limit }: AppliedLimit, cost: number, usage: PolicyUsage): number {
  const { used, reserved, resetMs } = usage;
  if (period === 'none') return 0;
  // Reservations in a calendar window are for a later window.
  if (!isSliding(period)) return used + cost > limit ? resetMs : 0;
  // The times of earlier usage in a short window are unknown here, so this assumes even spacing.
  const taken = used + reserved;
  const over = taken + cost - limit;
  return over > 0 ? Math.ceil((resetMs * Math.min(over, taken)) / taken) : 0;
}
