import type { Quantity } from '../../../domain/limits/metric.ts';

/** How the ledger adds up each quantity that a limit can count. Usage that was not reported counts as estimated. */
export const LEDGER_QUANTITIES: Readonly<
  Record<
    Quantity,
    {
      /** Of one row of `requests`, and what was reserved for it. */
      readonly ofRow: string;
      readonly estimateOfRow: string;
      /** Of one row of `request_rollups`. */
      readonly ofRollup: string;
    }
  >
> = {
  requests: { ofRow: '1', estimateOfRow: '1', ofRollup: 'requests_metered' },
  tokens: {
    ofRow: `coalesce(actual_input_tokens, estimated_input_tokens)
      + coalesce(actual_output_tokens, estimated_output_tokens)`,
    estimateOfRow: 'estimated_input_tokens + estimated_output_tokens',
    ofRollup: 'input_tokens + output_tokens',
  },
  spend: {
    ofRow: 'coalesce(actual_cost_micros, estimated_cost_micros)',
    estimateOfRow: 'estimated_cost_micros',
    ofRollup: 'cost_micros',
  },
};
