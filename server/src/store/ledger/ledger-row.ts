import type { Selectable } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import type { StoredAttempt, StoredBoundPolicy, StoredTrace } from './ledger-json.ts';

type Json = 'attempts' | 'bound_policy' | 'trace';

/** A ledger row as it is written; JSON columns hold values, not text. */
export type LedgerRow = Omit<Selectable<Database['requests']>, Json | 'bound_policy_id'> & {
  readonly attempts: readonly StoredAttempt[];
  readonly bound_policy: StoredBoundPolicy | null;
  readonly trace: StoredTrace | null;
};

/** The columns that rollups count or group by. */
export const COUNTED_COLUMNS = [
  'request_id',
  'organization_id',
  'user_id',
  'key_id',
  'lane_id',
  'endpoint_id',
  'provider_id',
  'credential_id',
  'team_id',
  'parent_team_id',
  'labels',
  'operation',
  'streaming',
  'state',
  'error_code',
  'fallback_count',
  'wait_ms',
  'ttft_ms',
  'latency_ms',
  'estimated_input_tokens',
  'estimated_output_tokens',
  'estimated_cost_micros',
  'actual_input_tokens',
  'actual_cached_input_tokens',
  'actual_output_tokens',
  'actual_cost_micros',
  'actual_cost_rounding_picos',
  'usage_source',
  'attempts',
] as const satisfies readonly (keyof LedgerRow)[];

export type CountedRow = Pick<LedgerRow, (typeof COUNTED_COLUMNS)[number]>;
