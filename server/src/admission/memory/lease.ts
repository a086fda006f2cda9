import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import type { AdmissionAsk, CandidateAsk } from '../engine.ts';
import { calendarOf, hasSliding, type Lease, type OrganizationState, type Tried } from './state.ts';

export function leaseOf(ask: AdmissionAsk, nowMs: number, candidate: number, slotMs: number): Lease {
  return {
    organizationId: ask.organizationId,
    operationId: ask.operationId,
    queue: ask.queue,
    arrivedMs: nowMs,
    candidates: ask.candidates,
    draft: ask.draft,
    state: 'waiting',
    candidate,
    slotMs,
    postings: [],
    expiresMs: nowMs + ask.leaseMs,
    tried: null,
  };
}

/** The attempt that was sent before this ask and failed. */
export function triedBefore(held: Lease | undefined, ask: AdmissionAsk): Tried | null {
  if (held?.state === 'dispatched' && ask.release?.dispatched === true)
    return { draft: held.draft, candidate: held.candidate };
  return held?.tried ?? null;
}

/** The limits whose windows were never initialized and may hold usage. */
export function unknownWindows(
  state: OrganizationState,
  policies: readonly AppliedLimit[],
  shortAreKnown: boolean,
): AppliedLimit[] {
  return policies.filter((policy) => {
    if (policy.period === 'none') return false;
    if (isSliding(policy.period)) return !shortAreKnown && !hasSliding(state, policy);
    return calendarOf(state, policy) === undefined;
  });
}

export function policiesOf(candidates: readonly CandidateAsk[]): AppliedLimit[] {
  const policies = new Map<string, AppliedLimit>();
  for (const { charges } of candidates) for (const { policy } of charges) policies.set(policy.id, policy);
  return [...policies.values()];
}

export function chosenOf(lease: Lease): readonly CandidateAsk[] {
  const chosen = lease.candidates[lease.candidate];
  return chosen === undefined ? [] : [chosen];
}

export function chargesOf(lease: Lease): readonly Charge[] {
  return lease.candidates[lease.candidate]?.charges ?? [];
}

export function concurrencyOf(candidates: readonly CandidateAsk[]): Set<string> {
  const ids = new Set<string>();
  for (const { charges } of candidates) {
    for (const { policy } of charges) if (METRICS[policy.metric].held) ids.add(policy.id);
  }
  return ids;
}

/** By arrival; ids break ties, in both engines alike. */
export function comesBefore(
  first: { readonly arrivedMs: number } | undefined,
  firstId: string,
  second: { readonly arrivedMs: number } | undefined,
  secondId: string,
): boolean {
  const difference = (first?.arrivedMs ?? 0) - (second?.arrivedMs ?? 0);
  return difference < 0 || (difference === 0 && firstId < secondId);
}

/** Equal for asks with the same candidates, limits and costs. */
export function fingerprint(candidates: readonly CandidateAsk[]): string {
  return JSON.stringify(
    candidates.map(({ endpointId, paced, charges }) => [
      endpointId,
      paced,
      charges.map(({ policy, cost }) => [policy.id, policy.metric, policy.period, policy.limit, cost]),
    ]),
  );
}
