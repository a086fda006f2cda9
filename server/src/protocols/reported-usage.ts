import { INPUT_PARTS, OUTPUT_PARTS, type Usage } from '../domain/money/usage.ts';

const COUNTS = ['inputTokens', 'outputTokens', ...INPUT_PARTS, ...OUTPUT_PARTS] as const;

/** Returns the largest of each count, because providers repeat growing counts, and some end with zeros. */
export function largestOf(known: Partial<Usage>, reported: Partial<Usage>): Partial<Usage> {
  const largest: Partial<Record<(typeof COUNTS)[number], number>> = {};
  for (const name of COUNTS) {
    const count = Math.max(known[name] ?? -1, reported[name] ?? -1);
    if (count >= 0) largest[name] = count;
  }
  const serviceTier = reported.serviceTier ?? known.serviceTier;
  const free = reported.free ?? known.free;
  return { ...largest, ...(serviceTier !== undefined && { serviceTier }), ...(free === true && { free }) };
}

/** Null: the provider did not report both input and output. */
export function inFull(counts: Partial<Usage> | null): Usage | null {
  const { inputTokens, outputTokens, cachedInputTokens = 0, ...rest } = counts ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return null;
  return { inputTokens, outputTokens, cachedInputTokens, ...rest };
}

/** True if a count is above 0: an error with zeros reports no usage. */
export function hasCounts({ inputTokens = 0, outputTokens = 0 }: Partial<Usage>): boolean {
  return inputTokens + outputTokens > 0;
}
