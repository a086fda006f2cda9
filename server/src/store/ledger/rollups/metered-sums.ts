import type { CountedRow } from '../ledger-row.ts';

/** What limits and reports count of a request. */
export interface MeteredSums {
  readonly requests: 0 | 1;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  readonly cost_rounding_picos: number;
}

const NOTHING: MeteredSums = {
  requests: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cost_micros: 0,
  cost_rounding_picos: 0,
};

/** As in rebuilt windows, unreported usage counts as estimated. */
export function meteredSums(row: CountedRow): MeteredSums {
  if (row.usage_source === 'none') return NOTHING;
  return {
    requests: 1,
    input_tokens: row.actual_input_tokens ?? row.estimated_input_tokens,
    cached_input_tokens: row.actual_cached_input_tokens ?? 0,
    output_tokens: row.actual_output_tokens ?? row.estimated_output_tokens,
    cost_micros: row.actual_cost_micros ?? row.estimated_cost_micros,
    cost_rounding_picos: row.actual_cost_rounding_picos,
  };
}
