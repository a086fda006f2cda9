import { TOKENS_MAX } from '../money/bound-usage.ts';
import { highestPrices, mostCostMicros } from '../money/most-cost.ts';
import type { Endpoint, Pricing } from '../snapshot.ts';
import type { AppliedLimit } from './limit.ts';
import { METRICS, type UsedAmounts } from './metric.ts';

/** What a request can write at most, as far as its body says. */
export interface OutputMost {
  /** False when the model writes nothing. */
  readonly hasOutput: boolean;
  /** The client's own limit on the output of one choice; null when it set none that holds. */
  readonly outputCap: number | null;
  /** The field that may lift any limit on the output; null for none. */
  readonly unboundedOutput: string | null;
  /** The largest number that a provider could take for a limit on the output; 0 for none. */
  readonly outputAtLeast: number;
  readonly choices: number;
  /** Charged as output beside what the model writes, for each choice. */
  readonly predictedTokens: number;
  /** Providers charge nothing. */
  readonly free?: true;
}

/** What a request can use at most of one model. */
export interface RequestMost extends OutputMost {
  /** Of what is in the body. */
  readonly inputTokens: number;
  /** The field that lets the model read more than is in the body; null for none. */
  readonly unboundedInput: string | null;
}

/** What a request reserves from hard limits at one candidate. */
export interface Reservation extends UsedAmounts {
  readonly inputTokens: number;
  /** Of all choices. */
  readonly outputTokens: number;
  /** What Relay writes into the body as the limit on the output of one choice; null where it writes none. */
  readonly writtenCap: number | null;
}

/** OpenAI's responses take no less; a request that has no room for this much waits or is refused. */
const WRITTEN_CAP_MIN = 16;
/** No answer is cut shorter than this while the limits have room: every model in use writes at least this much. */
const WRITTEN_CAP_USUAL = 4_096;
/** Providers reject a limit above what the model writes at most, which Relay does not know. */
const WRITTEN_CAP_MAX = 32_000;
/** Where there is no room for a cap, a quarter of it is tried. */
const SMALLER = 4;
/** Sums of counts must stay safe integers. */
const OUTPUT_TOKENS_MAX = 1_000_000_000;

/**
 * The limits on the output that Relay would write, the largest first, and last the least that it writes before the request waits instead.
 * A request reserves all of it until it ends, so the largest is a multiple of what is typical and not everything that there is room for.
 */
export function writtenCaps(typicalTokens: number): readonly number[] {
  const caps: number[] = [];
  const least = Math.min(WRITTEN_CAP_MAX, Math.max(WRITTEN_CAP_MIN, typicalTokens));
  let cap = Math.min(WRITTEN_CAP_MAX, Math.max(WRITTEN_CAP_USUAL, 2 * typicalTokens));
  // A quarter each time, so there are few.
  for (; cap > least; cap = Math.floor(cap / SMALLER)) caps.push(cap);
  return [...caps, least];
}

/** Whether Relay has to write the limit on the output. */
export function needsWrittenCap({ hasOutput, outputCap, unboundedOutput }: OutputMost): boolean {
  return hasOutput && outputCap === null && unboundedOutput === null;
}

/** What only the context window bounds; null when the body bounds everything. */
export function unboundedIn({ unboundedInput, unboundedOutput }: RequestMost): string | null {
  return unboundedInput ?? unboundedOutput;
}

/** `cap`: what Relay would write at most. `limits`: the hard limits of the candidate, which no request alone should exceed for its cap. */
export function reservationAt(
  most: RequestMost,
  { contextWindow }: Pick<Endpoint, 'contextWindow'>,
  pricing: Pricing | undefined,
  limits: readonly AppliedLimit[],
  cap: number,
): Reservation {
  const window = contextWindow ?? TOKENS_MAX;
  // A provider rejects what does not fit the window.
  const inputTokens = most.unboundedInput === null ? Math.min(most.inputTokens, window) : window;
  if (!needsWrittenCap(most))
    return reserved(most, pricing, inputTokens, Math.min(ownOutput(most, window), window), null);
  const fitting = contextWindow === null ? cap : Math.min(cap, contextWindow - inputTokens);
  const admitted = limits.map((limit) => admittedOutput(most, pricing, inputTokens, limit));
  const writtenCap = Math.max(WRITTEN_CAP_MIN, Math.min(fitting, ...admitted));
  return reserved(most, pricing, inputTokens, Math.max(writtenCap, most.outputAtLeast), writtenCap);
}

/** Of one choice, where Relay writes no limit. */
function ownOutput({ hasOutput, outputCap, unboundedOutput }: RequestMost, window: number): number {
  if (!hasOutput) return 0;
  return unboundedOutput === null ? (outputCap ?? 0) : window;
}

function reserved(
  { choices, predictedTokens, free }: RequestMost,
  pricing: Pricing | undefined,
  inputTokens: number,
  ofOneChoice: number,
  writtenCap: number | null,
): Reservation {
  const outputTokens = Math.min(OUTPUT_TOKENS_MAX, (ofOneChoice + predictedTokens) * choices);
  const isPriced = pricing !== undefined && free !== true;
  const spendMicros = isPriced ? mostCostMicros(pricing, { inputTokens, outputTokens }) : 0;
  return { inputTokens, outputTokens, tokens: inputTokens + outputTokens, spendMicros, writtenCap };
}

/** How many output tokens of one choice a limit admits that nothing else uses. */
function admittedOutput(
  { choices, predictedTokens }: RequestMost,
  pricing: Pricing | undefined,
  inputTokens: number,
  { metric, limit }: AppliedLimit,
): number {
  switch (METRICS[metric].quantity) {
    case 'requests':
      return Number.POSITIVE_INFINITY;
    case 'tokens':
      return Math.floor((limit - inputTokens) / choices) - predictedTokens;
    case 'spend': {
      if (pricing === undefined) return Number.POSITIVE_INFINITY;
      const prices = highestPrices(pricing, inputTokens);
      if (prices.outputCostMicrosPer1mTokens === 0) return Number.POSITIVE_INFINITY;
      const inputMicros = (inputTokens * prices.inputCostMicrosPer1mTokens) / 1_000_000;
      // Costs are rounded up, so one micro is kept back.
      const leftMicros = limit - 1 - prices.flatRequestCostMicros - inputMicros;
      const affordable = (leftMicros * 1_000_000) / prices.outputCostMicrosPer1mTokens;
      return Math.floor(affordable / choices) - predictedTokens;
    }
  }
}
