import type { Usage } from './usage.ts';

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
  const cachedInputTokens = Math.min(reported.cachedInputTokens, inputTokens);
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens,
    ...boundWrites(reported, inputTokens - cachedInputTokens),
  };
}

/** What is read from a cache is not written to one, so together they are at most the input. */
function boundWrites(
  { cacheWrite5mTokens, cacheWrite1hTokens }: Usage,
  most: number,
): Pick<Usage, 'cacheWrite5mTokens' | 'cacheWrite1hTokens'> {
  if (cacheWrite5mTokens === undefined && cacheWrite1hTokens === undefined) return {};
  const short = Math.min(cacheWrite5mTokens ?? 0, most);
  return {
    cacheWrite5mTokens: short,
    cacheWrite1hTokens: Math.min(cacheWrite1hTokens ?? 0, most - short),
  };
}
