import pg from 'pg';
import { SENT_ATTEMPTS } from './sent-attempts.ts';

const INT8_OID = 20;

/** The compared columns of a ledger row. */
export interface Row {
  readonly requestId: string;
  readonly tag: string;
  readonly laneId: string | null;
  readonly usageSource: string;
  readonly cause: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
}

/** An attempt that was sent, and what it used. */
export interface SentAttempt {
  readonly requestId: string;
  readonly tag: string;
  readonly laneId: string | null;
  readonly endpointId: string | null;
  /** `none`: it used nothing. */
  readonly source: string;
  readonly isFollowed: boolean;
  readonly tokens: number;
  readonly costMicros: number;
}

/** Read access to the database for the comparison. */
export interface LedgerView {
  rows(): Promise<Row[]>;
  attempts(): Promise<SentAttempt[]>;
  /** Entries that the workers could not read or that PostgreSQL refused. */
  poisoned(): Promise<number>;
  query<T extends pg.QueryResultRow>(text: string): Promise<T[]>;
  close(): Promise<void>;
}

export function openLedgerView(url: string): LedgerView {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8_OID, Number);
  const pool = new pg.Pool({ connectionString: url, max: 2, types });
  pool.on('error', () => undefined);
  async function query<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
    return (await pool.query<T>(text)).rows;
  }
  return {
    query,
    rows: () =>
      query<Row>(
        `select request_id as "requestId", coalesce(client_request_id, '') as tag, lane_id as "laneId",
          usage_source as "usageSource", error_code as cause,
          coalesce(actual_input_tokens, 0) as "inputTokens", coalesce(actual_output_tokens, 0) as "outputTokens",
          coalesce(actual_cost_micros, 0) as "costMicros"
         from requests`,
      ),
    attempts: () =>
      query<SentAttempt>(
        `select request_id as "requestId", tag, lane_id as "laneId", endpoint_id as "endpointId", source,
          is_followed as "isFollowed", input_tokens + output_tokens as tokens, cost_micros as "costMicros"
         from ${SENT_ATTEMPTS} as sent`,
      ),
    async poisoned() {
      const [found] = await query<{ count: number }>('select count(*) as count from poisoned_usage');
      return found?.count ?? 0;
    },
    close: () => pool.end(),
  };
}
