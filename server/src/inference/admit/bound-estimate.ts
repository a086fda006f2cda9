import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { chargesFor, estimatedAmounts, hasPolicies, type LimitedCaller } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { Candidate, Route } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';

/**
 * A request that names no bound on its output is not refused for what others usually come to: the guess is cut to what
 * the smallest limit could ever admit. With a bound of its own, the request means what it says.
 */
export function boundEstimate(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Route,
  candidates: readonly Candidate[],
  outputCap: number | null,
  estimate: TokenEstimate,
): TokenEstimate {
  if (!hasPolicies(snapshot, caller) || estimate.outputTokens === 0) return estimate;
  if (outputCap !== null) return estimate;
  let outputTokens = estimate.outputTokens;
  for (const candidate of candidates) {
    const amounts = estimatedAmounts(snapshot, candidate, estimate);
    const charges = chargesFor(snapshot, caller, route, candidate, amounts);
    for (const { policy } of charges)
      outputTokens = Math.min(outputTokens, admittedOutput(snapshot, candidate, estimate, policy));
  }
  return { inputTokens: estimate.inputTokens, outputTokens: Math.max(1, outputTokens) };
}

/** How many output tokens a limit admits at most, when nothing else uses it. */
function admittedOutput(
  snapshot: OrganizationSnapshot,
  candidate: Candidate,
  estimate: TokenEstimate,
  { metric, limit }: AppliedLimit,
): number {
  switch (METRICS[metric].quantity) {
    case 'requests':
      return Number.POSITIVE_INFINITY;
    case 'tokens':
      return limit - estimate.inputTokens;
    case 'spend':
      return affordableOutput(snapshot, candidate, estimate, limit);
  }
}

/** How many output tokens the limit buys beside the input. */
function affordableOutput(
  snapshot: OrganizationSnapshot,
  candidate: Candidate,
  { inputTokens }: TokenEstimate,
  limitMicros: number,
): number {
  const pricing = snapshot.pricing.get(candidate.endpoint.id);
  if (pricing === undefined || pricing.outputCostMicrosPer1mTokens === 0) return Number.POSITIVE_INFINITY;
  const inputMicros = (inputTokens * pricing.inputCostMicrosPer1mTokens) / 1_000_000;
  // Costs are rounded up, so one micro is kept back.
  const leftMicros = limitMicros - 1 - pricing.flatRequestCostMicros - inputMicros;
  return Math.floor((leftMicros * 1_000_000) / pricing.outputCostMicrosPer1mTokens);
}
