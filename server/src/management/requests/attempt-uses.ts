import { wasSent } from '../../domain/attempt-sums.ts';
import { attemptsOfRow } from '../../store/ledger/attempts-of-row.ts';
import type { StoredUse } from '../../store/ledger/ledger-json.ts';
import type { CostRow } from '../../store/ledger/log/cost-lines.ts';
import type { DetailRow } from '../../store/ledger/log/read-log.ts';

/** Usage of one attempt, as columns of a row. */
export type AttemptUse = CostRow & Pick<DetailRow, 'usage_source'>;

/** Returns the usage of each attempt, in order. Null: the attempt used nothing. */
export function attemptUsesOf(row: DetailRow): readonly (AttemptUse | null)[] {
  const sent = attemptsOfRow(row).values();
  return row.attempts.map((attempt) => {
    if (!wasSent(attempt) || sent.next().value?.source === 'none') return null;
    // Only one attempt used something, so the columns of the row are its own.
    return attempt.use === undefined ? row : ownUse(attempt.use);
  });
}

function ownUse(use: StoredUse): AttemptUse {
  return {
    usage_source: use.source,
    actual_input_tokens: use.input_tokens,
    actual_output_tokens: use.output_tokens,
    actual_cached_input_tokens: use.cached_input_tokens ?? 0,
    actual_cache_write_5m_tokens: use.cache_write_5m_tokens ?? 0,
    actual_cache_write_1h_tokens: use.cache_write_1h_tokens ?? 0,
    actual_cost_micros: use.cost_micros,
    actual_cost_rounding_picos: use.cost_rounding_picos ?? 0,
    trace: {
      timings: null,
      candidates: [],
      guardrails: [],
      usage_details: { ...NO_DETAILS, ...use.details },
    },
  };
}

const NO_DETAILS = {
  reasoning_tokens: 0,
  audio_input_tokens: 0,
  image_input_tokens: 0,
  audio_output_tokens: 0,
  image_output_tokens: 0,
  service_tier: null,
};
