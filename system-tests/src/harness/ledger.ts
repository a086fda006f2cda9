import pg from 'pg';

/** A row of the ledger, as far as a suite looks at it without a cast. */
interface LedgerRow {
  readonly request_id: string;
  readonly state: string;
}

export interface Ledger {
  /** The request's one row, once the worker has written it. */
  row(by: { requestId: string } | { clientRequestId: string }): Promise<LedgerRow>;
  close(): Promise<void>;
}

const ROW_MS_MAX = 15_000;
const POLL_MS = 40;
const INT8_OID = 20;

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
