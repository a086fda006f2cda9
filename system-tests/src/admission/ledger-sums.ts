import pg from 'pg';

export interface LedgerSums {
  /** Rows of dispatched requests, which is what a limit on requests counts. */
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
    const { rows } = await client.query<{
      client_request_id: string;
      usage_source: string;
      error_code: string | null;
      tokens: string;
      cost: string;
    }>(
      `select client_request_id, usage_source, error_code,
        coalesce(actual_input_tokens + actual_output_tokens, 0) as tokens,
        coalesce(actual_cost_micros, 0) as cost
       from requests where lane_id = $1`,
      [laneId],
    );
    const metered = rows.filter(({ usage_source }) => usage_source !== 'none');
    return {
      requests: metered.length,
      tokens: metered.reduce((sum, { tokens }) => sum + Number(tokens), 0),
      costMicros: metered.reduce((sum, { cost }) => sum + Number(cost), 0),
      rows: rows.length,
      lost: rows.filter(({ error_code }) => error_code === 'gateway_lost').length,
      requestIds: rows.map(({ client_request_id }) => client_request_id),
    };
  } finally {
    await client.end();
  }
}
