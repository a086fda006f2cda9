import { INPUT_PARTS, OUTPUT_PARTS, type Usage, type UsagePart } from './usage.ts';

/** What one request may use at most where its model's window or the limit on its output is unknown. */
export const TOKENS_MAX = 10_000_000;

/**
 * What is charged of what a provider reported. A provider may report anything, and a count that no model can reach would empty budgets and
 * break sums: together, input and output are charged up to the context window plus the maximum output. Of a report beyond it, the larger count is
 * cut.
 */
export function boundUsage(reported: Usage, contextWindow: number | null, outputMax: number | null): Usage {
  const isKnown = contextWindow !== null && outputMax !== null;
  const most = isKnown
    ? contextWindow + Math.min(outputMax, TOKENS_MAX)
    : Math.max(TOKENS_MAX, contextWindow ?? 0);
  if (reported.inputTokens + reported.outputTokens <= most) return reported;
  const half = Math.floor(most / 2);
  const inputTokens = Math.min(reported.inputTokens, Math.max(half, most - reported.outputTokens));
  const outputTokens = Math.min(reported.outputTokens, most - inputTokens);
  return {
    ...reported,
    inputTokens,
    outputTokens,
    ...boundParts(reported, INPUT_PARTS, inputTokens),
    ...boundParts(reported, OUTPUT_PARTS, outputTokens),
  };
}

/** The parts that were reported, together at most the whole. */
export function boundParts(
  reported: Usage,
  parts: readonly UsagePart[],
  whole: number,
): Partial<Record<UsagePart, number>> {
  const bounded: Partial<Record<UsagePart, number>> = {};
  let left = whole;
  for (const part of parts) {
    const count = reported[part];
    if (count === undefined) continue;
    bounded[part] = Math.min(count, left);
    left -= bounded[part];
  }
  return bounded;
}
