import pg from 'pg';
import { SENT_ATTEMPTS } from '../harness/sent-attempts.ts';

const isIn = (time: string) =>
  `(sums.bucket_start = date_trunc(sums.bucket, to_timestamp(lost.${time} / 1000.0), 'UTC'))::int`;
const [ARRIVED, SENT] = [isIn('arrived_ms'), isIn('dispatched_ms')];
const USED = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost_micros',
  'cost_rounding_picos',
].map((name) => `${name} = sums.${name} - ${SENT} * lost.${name}`);

/** Takes requests of one attempt out of the ledger and its sums, as if their rows had been lost. */
export async function loseRows(url: string, requestIds: readonly string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const id of requestIds)
      await client.query(
        `with removed as (delete from requests where request_id = $1)
        update request_rollups sums
        set requests_completed = sums.requests_completed - ${ARRIVED}, requests_metered = sums.requests_metered - ${ARRIVED},
          further_attempts = sums.further_attempts + ${ARRIVED} - ${SENT},
          further_metered = sums.further_metered + ${ARRIVED} - ${SENT}, ${USED.join(', ')}
        from ${SENT_ATTEMPTS} as lost
        where lost.request_id = $1 and sums.organization_id = lost.organization_id and sums.endpoint_id = lost.endpoint_id`,
        [id],
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
