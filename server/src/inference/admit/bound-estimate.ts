import { chargesFor, estimatedAmounts, hasPolicies, type LimitedCaller } from '../../domain/limits/limits.ts';
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
    for (const { policy } of charges) {
      if (policy.metric === 'tokens')
        outputTokens = Math.min(outputTokens, policy.limit - estimate.inputTokens);
      if (policy.metric === 'spend') {
        outputTokens = Math.min(outputTokens, affordableOutput(snapshot, candidate, estimate, policy.limit));
      }
    }
  }
  return { inputTokens: estimate.inputTokens, outputTokens: Math.max(1, outputTokens) };
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
