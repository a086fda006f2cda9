import type { Caller } from '../domain/caller.ts';
import type { Reservation } from '../domain/limits/hard-reservation.ts';
import { estimatedCharges, hasPolicies } from '../domain/limits/limits.ts';
import type { TokenEstimate } from '../domain/money/usage.ts';
import type { Candidate, Route } from '../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { CandidateAsk, DeskAsk } from './engine.ts';

/** The part of a caller that admission knows it by. */
export type AskingCaller = Pick<Caller, 'organizationId' | 'userId' | 'keyId' | 'keyPolicies' | 'keyTeamId'>;

export interface RoutedAsk {
  readonly route: Route;
  /** As the client sent it. */
  readonly model: string;
  readonly candidates: readonly Candidate[];
  readonly estimate: TokenEstimate;
  /** From hard limits, by candidate. */
  readonly reservations: readonly (Reservation | null)[];
}

type CapacityAsk = Pick<
  DeskAsk,
  | 'organizationId'
  | 'queue'
  | 'caller'
  | 'priority'
  | 'mixedClasses'
  | 'configVersion'
  | 'candidates'
  | 'selection'
>;

/** What follows from a request's route, caller and estimate, for a request of a client and for one that is replayed. */
export function capacityAsk(
  snapshot: OrganizationSnapshot,
  caller: AskingCaller,
  { route, model, candidates, estimate, reservations }: RoutedAsk,
): CapacityAsk {
  const limited = hasPolicies(snapshot, caller);
  return {
    organizationId: caller.organizationId,
    queue: `${route.lane?.id ?? model}:${caller.keyId ?? caller.userId}`,
    caller: caller.keyId ?? caller.userId,
    priority: route.priority,
    mixedClasses: route.mixedClasses,
    configVersion: snapshot.version,
    candidates: candidates.map(
      (candidate, index): CandidateAsk => ({
        endpointId: candidate.endpoint.id,
        paced: candidate.endpoint.pacing,
        charges: limited
          ? estimatedCharges(snapshot, caller, route, candidate, estimate, reservations[index] ?? null)
          : [],
      }),
    ),
    selection: route.selection,
  };
}
