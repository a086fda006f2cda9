import pg from 'pg';

/** Takes requests out of the ledger and its sums, as if their rows had been lost. */
export async function loseRows(url: string, requestIds: readonly string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const id of requestIds)
      await client.query(
        `with lost as (delete from requests where request_id = $1 returning *)
        update request_rollups sums
        set requests_completed = sums.requests_completed - 1, requests_metered = sums.requests_metered - 1,
          input_tokens = sums.input_tokens - lost.actual_input_tokens,
          cached_input_tokens = sums.cached_input_tokens - coalesce(lost.actual_cached_input_tokens, 0),
          output_tokens = sums.output_tokens - lost.actual_output_tokens,
          cost_micros = sums.cost_micros - lost.actual_cost_micros,
          cost_rounding_picos = sums.cost_rounding_picos - coalesce(lost.actual_cost_rounding_picos, 0)
        from lost
        where sums.organization_id = lost.organization_id and sums.endpoint_id = lost.endpoint_id
          and sums.bucket_start = date_trunc(sums.bucket, $2::timestamptz, 'UTC')`,
        [id, new Date(timeOf(id)).toISOString()],
      );
  });
}

/** Puts what an endpoint was used for one day earlier. */
export function moveBackOneDay(url: string, endpointId: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query(
      `update request_rollups set bucket_start = bucket_start - interval '1 day' where endpoint_id = $1`,
      [endpointId],
    );
  });
}

/** When Relay got a request: the first 48 bits of its id. */
export function timeOf(requestId: string): number {
  return Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
