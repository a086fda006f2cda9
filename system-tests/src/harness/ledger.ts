import type { RequestDetail } from '@relay/contract';
import pg from 'pg';
import type { AdminClient } from './admin-client.ts';
import { findRequest, readRequest } from './request-log.ts';

export interface LedgerAttempt {
  readonly endpoint_id: string;
  readonly status: number | null;
  readonly outcome: string;
  readonly cause: string | null;
}

/** A row of the ledger, as far as these suites look at it. */
export interface LedgerRow {
  readonly request_id: string;
  readonly client_request_id: string | null;
  readonly operation: string;
  readonly streaming: boolean;
  readonly state: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly attempts: readonly LedgerAttempt[];
  readonly fallback_count: number;
  readonly endpoint_id: string | null;
  readonly lane_id: string | null;
  readonly wait_ms: number;
  readonly usage_source: string;
  readonly estimated_input_tokens: number;
  readonly actual_input_tokens: number | null;
  readonly actual_cached_input_tokens: number | null;
  readonly actual_output_tokens: number | null;
}

export interface Ledger {
  /** The request's one row, once the worker has written it. */
  row(by: { requestId: string } | { clientRequestId: string }): Promise<LedgerRow>;
  close(): Promise<void>;
}

const ROW_MS_MAX = 15_000;
const POLL_MS = 40;
const INT8_OID = 20;

/** Reads the ledger through the management API. */
export function ledgerOverApi(admin: AdminClient): Ledger {
  return {
    async row(by) {
      const deadlineMs = performance.now() + ROW_MS_MAX;
      for (;;) {
        const id =
          'requestId' in by ? by.requestId : (await findRequest(admin, by.clientRequestId))?.request_id;
        const found = id === undefined ? null : await readRequest(admin, id);
        if (found !== null) return rowOf(found);
        if (performance.now() > deadlineMs)
          throw new Error(`no row for ${JSON.stringify(by)} within ${ROW_MS_MAX} ms`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    close: () => Promise.resolve(),
  };
}

function rowOf(detail: RequestDetail): LedgerRow {
  const { http_status, input_tokens, cached_input_tokens, output_tokens, attempts, ...same } = detail;
  return {
    ...same,
    status: http_status,
    estimated_input_tokens: detail.estimated_input_tokens ?? 0,
    actual_input_tokens: input_tokens,
    actual_cached_input_tokens: cached_input_tokens,
    actual_output_tokens: output_tokens,
    attempts: attempts.map(({ endpoint_id, upstream_status, outcome, error_code }) => ({
      endpoint_id,
      status: upstream_status,
      outcome: outcome === 'succeeded' ? 'completed' : outcome,
      cause: error_code,
    })),
  };
}

/** Reads the ledger from the database. */
export function openLedger(url: string): Ledger {
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8_OID, Number);
  const pool = new pg.Pool({ connectionString: url, max: 4, types });
  return {
    async row(by) {
      const [column, value] =
        'requestId' in by ? ['request_id', by.requestId] : ['client_request_id', by.clientRequestId];
      const deadlineMs = performance.now() + ROW_MS_MAX;
      for (;;) {
        const { rows } = await pool.query<LedgerRow>(`select * from requests where ${column} = $1`, [value]);
        if (rows.length > 1) throw new Error(`${rows.length} rows for ${column} ${value}`);
        if (rows[0] !== undefined) return rows[0];
        if (performance.now() > deadlineMs)
          throw new Error(`no row for ${column} ${value} within ${ROW_MS_MAX} ms`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    close: () => pool.end(),
  };
}
