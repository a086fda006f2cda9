import type { Candidate } from '../domain/routing.ts';
import type { LaneSelection } from '../domain/snapshot.ts';

/**
 * The limits engine as the data plane sees it. `operationId` is the request's id: asking again for the same
 * operation gives the same answer and takes nothing twice.
 */
export interface Admission {
  admit(ask: AdmissionAsk): Promise<AdmissionAnswer> | AdmissionAnswer;
  /** Keeps requests away from an endpoint whose provider asked for quiet, in every gateway. */
  penalize(endpointId: string, untilMs: number): void;
  /** Until when an endpoint is kept quiet; null when it is not. */
  cooldownUntilMs(endpointId: string): number | null;
}

export interface AdmissionAsk {
  readonly operationId: string;
  readonly organizationId: string;
  /** In the order of preference; never empty. */
  readonly candidates: readonly Candidate[];
  readonly selection: LaneSelection;
  /** What is left of the wait budget. */
  readonly waitMsMax: number;
}

export type AdmissionAnswer =
  | { readonly kind: 'admitted'; readonly candidate: Candidate }
  | { readonly kind: 'wait'; readonly candidate: Candidate; readonly waitMs: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };
