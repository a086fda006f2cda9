import { type CostLine, costLines, picosOf } from '../../../domain/money/money.ts';
import type { Usage } from '../../../domain/money/usage.ts';
import type { Pricing } from '../../../domain/snapshot.ts';
import type { DetailRow } from './read-log.ts';

/** The columns of a row that its cost follows from. */
export type CostRow = Pick<
  DetailRow,
  | 'actual_input_tokens'
  | 'actual_output_tokens'
  | 'actual_cached_input_tokens'
  | 'actual_cache_write_5m_tokens'
  | 'actual_cache_write_1h_tokens'
  | 'actual_cost_micros'
  | 'actual_cost_rounding_picos'
  | 'trace'
>;

/**
 * What the recorded cost is made of, by these prices. The ledger keeps no prices: null where these are not the ones that the
 * request paid, because the lines add up to something else.
 */
export function costLinesOf(row: CostRow, pricing: Pricing, isFree: boolean): readonly CostLine[] | null {
  const { actual_cost_micros: micros, actual_cost_rounding_picos: roundingPicos } = row;
  const usage = usageOf(row);
  if (micros === null || usage === null) return null;
  const lines = costLines(pricing, { ...usage, ...(isFree && { free: true }) });
  const sum = lines.reduce((picos, line) => picos + line.picos, 0n);
  return sum === picosOf({ micros, roundingPicos }) ? lines : null;
}

/** Null where no usage was recorded. */
function usageOf(row: CostRow): Usage | null {
  const { actual_input_tokens: inputTokens, actual_output_tokens: outputTokens, trace } = row;
  if (inputTokens === null || outputTokens === null) return null;
  const details = trace?.usage_details;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: row.actual_cached_input_tokens ?? 0,
    cacheWrite5mTokens: row.actual_cache_write_5m_tokens,
    cacheWrite1hTokens: row.actual_cache_write_1h_tokens,
    ...(details !== undefined && {
      audioInputTokens: details.audio_input_tokens,
      imageInputTokens: details.image_input_tokens,
      reasoningTokens: details.reasoning_tokens,
      audioOutputTokens: details.audio_output_tokens,
      imageOutputTokens: details.image_output_tokens,
    }),
    ...(details?.service_tier != null && { serviceTier: details.service_tier }),
  };
}
