import { capacityAsk } from '../../admission/capacity-ask.ts';
import type { Actual, CandidateAsk, DeskAsk, WindowState } from '../../admission/engine.ts';
import type { DraftCandidate, ExpiredDraft } from '../../domain/expired-draft.ts';
import type { Reservation } from '../../domain/limits/hard-reservation.ts';
import { estimatedAmounts, hardReservation, hasPolicies } from '../../domain/limits/limits.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import { attributionOf } from '../../domain/teams.ts';
import { askedOf, type Exchange, type RateWindow, type RoutedRequest } from '../exchange.ts';

interface Asking {
  readonly release: Actual | null;
  readonly mayWait: boolean;
  /** From hard limits, by candidate. */
  readonly reservations: readonly (Reservation | null)[];
}

/** The request's charges at each candidate, as the engine takes them. */
export function askFor(
  deps: { readonly waitersMax: number },
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  { release, mayWait, reservations }: Asking,
): DeskAsk {
  const { snapshot, caller } = exchange;
  const { route, body, estimate } = routed;
  return {
    ...capacityAsk(snapshot, caller, { route, model: body.model, candidates, estimate, reservations }),
    operationId: exchange.requestId,
    waitersMax: deps.waitersMax,
    waitMsMax: mayWait ? waitMsLeft(exchange, route) : 0,
    ...(release === null ? {} : { release }),
    about: { laneId: route.lane?.id ?? null, userId: caller.userId, keyId: caller.keyId },
    draft: JSON.stringify(draftOf(exchange, routed, candidates, reservations, exchange.attempts)),
  };
}

/** What the request reserves from hard limits at each candidate. */
export function reservationsOf(
  exchange: Exchange,
  { route }: RoutedRequest,
  candidates: readonly Candidate[],
  cap: number,
): readonly (Reservation | null)[] {
  const { snapshot, caller } = exchange;
  if (!hasPolicies(snapshot, caller)) return [];
  return candidates.map((candidate) =>
    hardReservation(
      snapshot,
      caller,
      route,
      candidate,
      (endpoint) => askedOf(exchange).mostAt(endpoint),
      cap,
    ),
  );
}

/** The rest of the request's wait budget. */
export function waitMsLeft({ waitMs }: Exchange, { maxWaitMs }: RoutedRequest['route']): number {
  return Math.max(0, maxWaitMs - waitMs);
}

/** Lets the sweep write the request's row if this process dies. */
export function draftOf(
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  reservations: readonly (Reservation | null)[],
  attempts: Exchange['attempts'],
): ExpiredDraft {
  const { caller, snapshot } = exchange;
  const { estimate } = routed;
  return {
    deploymentId: snapshot.deploymentId,
    requestId: exchange.requestId,
    organizationId: caller.organizationId,
    userId: caller.userId,
    keyId: caller.keyId,
    ...attributionOf(snapshot, caller),
    clientRequestId: exchange.clientRequestId,
    operation: exchange.protocol.operation,
    streaming: routed.body.streaming,
    laneId: routed.route.lane?.id ?? null,
    arrivedAtMs: exchange.arrivedAtMs,
    estimatedInputTokens: estimate.inputTokens,
    estimatedOutputTokens: estimate.outputTokens,
    candidates: candidates.map((candidate, index) => ({
      endpointId: candidate.endpoint.id,
      providerId: candidate.provider.id,
      upstreamModel: candidate.endpoint.upstreamModel,
      estimatedCostMicros: snapshot.pricing.has(candidate.endpoint.id)
        ? estimatedAmounts(snapshot, candidate, estimate).spendMicros
        : null,
      ...reservedIn(reservations[index] ?? null),
    })),
    ...(attempts.length === 0 ? {} : { attempts }),
  };
}

function reservedIn(reservation: Reservation | null): Pick<DraftCandidate, 'reserved'> {
  if (reservation === null) return {};
  const { inputTokens, outputTokens, spendMicros } = reservation;
  return { reserved: { inputTokens, outputTokens, costMicros: spendMicros } };
}

/** The windows of the chosen candidate with their limits, for the rate headers. */
export function rateWindowsOf(
  candidate: CandidateAsk | undefined,
  windows: readonly WindowState[],
): readonly RateWindow[] {
  if (candidate === undefined || windows.length === 0) return [];
  return candidate.charges.map(({ policy }, index) => ({
    metric: policy.metric,
    limit: policy.limit,
    used: windows[index]?.used ?? 0,
    resetMs: windows[index]?.resetMs ?? 0,
  }));
}
