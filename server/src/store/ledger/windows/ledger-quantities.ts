import type { Quantity } from '../../../domain/limits/metric.ts';

/** SQL that adds up each quantity that a limit can count, over sent attempts. */
export const LEDGER_QUANTITIES: Readonly<
  Record<
    Quantity,
    {
      /** The amount of one attempt: a row of `sentAttemptsOf`, joined as `sent`. */
      readonly ofAttempt: string;
      /** The amount that was reserved for the attempt: its row is joined as `request`. */
      readonly estimateOfRow: string;
      /** The amount of one row of `request_rollups` or `attributed_rollups`. */
      readonly ofRollup: string;
    }
  >
> = {
  requests: { ofAttempt: '1', estimateOfRow: '1', ofRollup: 'requests_metered + further_attempts' },
  tokens: {
    ofAttempt: 'sent.input_tokens + sent.output_tokens',
    estimateOfRow: 'request.estimated_input_tokens + request.estimated_output_tokens',
    ofRollup: 'input_tokens + output_tokens',
  },
  spend: {
    ofAttempt: 'sent.cost_micros',
    estimateOfRow: 'request.estimated_cost_micros',
    ofRollup: 'cost_micros',
  },
};
