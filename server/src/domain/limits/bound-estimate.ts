import { pricesFor } from '../money/prices-for.ts';
import type { TokenEstimate } from '../money/usage.ts';
import type { Candidate, Route } from '../routing/routing.ts';
import type { OrganizationSnapshot } from '../snapshot.ts';
import type { AppliedLimit } from './limit.ts';
import { chargesFor, estimatedAmounts, hasPolicies, type LimitedCaller } from './limits.ts';
import { amountOf, METRICS, type UsedAmounts } from './metric.ts';

/**
 * Without an output cap, the estimate of the output is a guess from earlier requests. A guess must not refuse the request
 * by itself, so it is cut to what the smallest limit could admit. An output cap is taken as it is.
 */
export function boundEstimate(
  snapshot: OrganizationSnapshot,
  caller: LimitedCaller,
  route: Pick<Route, 'lane'>,
  candidates: readonly Candidate[],
  outputCap: number | null,
  estimate: TokenEstimate,
): TokenEstimate {
  if (!hasPolicies(snapshot, caller)) return estimate;
  const applying = candidates.flatMap((candidate) =>
    chargesFor(snapshot, caller, route, candidate, NOTHING)
      .filter(({ policy }) => METRICS[policy.metric].quantity !== 'requests')
      .map(({ policy }) => ({ candidate, policy })),
  );
  // The output comes second: what is left beside the input.
  const least = outputCap ?? Math.min(1, estimate.outputTokens);
  const inputBound = boundInput(snapshot, applying, { ...estimate, outputTokens: least });
  if (estimate.outputTokens === 0 || outputCap !== null)
    return { ...inputBound, outputTokens: estimate.outputTokens };
  let outputTokens = estimate.outputTokens;
  for (const { candidate, policy } of applying)
    outputTokens = Math.min(outputTokens, admittedOutput(snapshot, candidate, inputBound, policy));
  return { ...inputBound, outputTokens: Math.max(1, outputTokens) };
}

/** Which limits apply does not depend on how much is asked for. */
const NOTHING: UsedAmounts = { tokens: 0, spendMicros: 0 };

interface ApplyingLimit {
  readonly candidate: Candidate;
  readonly policy: AppliedLimit;
}

/** The same for the part of the input that is a guess. */
function boundInput(
  snapshot: OrganizationSnapshot,
  applying: readonly ApplyingLimit[],
  estimate: TokenEstimate,
): TokenEstimate {
  const { inputTokens, guessedInputTokens } = estimate;
  if (guessedInputTokens === undefined) return estimate;
  const seenTokens = inputTokens - guessedInputTokens;
  const withGuess = (tokens: number): TokenEstimate => ({
    ...estimate,
    inputTokens: seenTokens + tokens,
    guessedInputTokens: tokens,
  });
  const isAdmitted = (tokens: number) =>
    applying.every(
      ({ candidate, policy: { metric, limit } }) =>
        amountOf(metric, estimatedAmounts(snapshot, candidate, withGuess(tokens))) <= limit,
    );
  let admitted = 0;
  let refused = guessedInputTokens + 1;
  // Halves the rest, so the number of digits bounds the loop.
  while (refused - admitted > 1) {
    const middle = Math.floor((admitted + refused) / 2);
    if (isAdmitted(middle)) admitted = middle;
    else refused = middle;
  }
  return withGuess(admitted);
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
  const set = snapshot.pricing.get(candidate.endpoint.id);
  if (set === undefined) return Number.POSITIVE_INFINITY;
  const pricing = pricesFor(set, { inputTokens });
  if (pricing.outputCostMicrosPer1mTokens === 0) return Number.POSITIVE_INFINITY;
  const inputMicros = (inputTokens * pricing.inputCostMicrosPer1mTokens) / 1_000_000;
  // Costs are rounded up, so one micro is kept back.
  const leftMicros = limitMicros - 1 - pricing.flatRequestCostMicros - inputMicros;
  return Math.floor((leftMicros * 1_000_000) / pricing.outputCostMicrosPer1mTokens);
}
