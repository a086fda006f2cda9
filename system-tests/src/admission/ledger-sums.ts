import pg from 'pg';
import { SENT_ATTEMPTS } from '../harness/sent-attempts.ts';

export interface LedgerSums {
  /** Attempts that were sent, which is what a limit on requests counts. */
  readonly requests: number;
  readonly tokens: number;
  readonly costMicros: number;
  readonly rows: number;
  readonly lost: number;
  readonly requestIds: readonly string[];
}

/** What the ledger holds of one lane. */
export async function ledgerSums(url: string, laneId: string): Promise<LedgerSums> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ client_request_id: string; error_code: string | null }>(
      'select client_request_id, error_code from requests where lane_id = $1',
      [laneId],
    );
    const { rows: attempts } = await client.query<{ tokens: string; cost: string }>(
      `select input_tokens + output_tokens as tokens, cost_micros as cost from ${SENT_ATTEMPTS} as sent where lane_id = $1`,
      [laneId],
    );
    return {
      requests: attempts.length,
      tokens: attempts.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      costMicros: attempts.reduce((sum, { cost }) => sum + Number(cost), 0),
      rows: rows.length,
      lost: rows.filter(({ error_code }) => error_code === 'gateway_lost').length,
      requestIds: rows.map(({ client_request_id }) => client_request_id),
    };
  } finally {
    await client.end();
  }
}
