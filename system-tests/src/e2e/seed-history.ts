import pg from 'pg';
import type { Deployment } from '../harness/deployment.ts';
import {
  HISTORY_DAYS,
  type HistoryCaller,
  type HistoryRoute,
  type HistoryRow,
  historyRows,
  smallestIdAt,
} from './history-rows.ts';

const DAY_MS = 86_400_000;
/** Requests sent to the API afterwards are newer, and counted by the worker. */
const BEFORE_NOW_MS = 120_000;

/**
 * Thirty days of requests in the ledger, with the sums that the worker would have written. Call it before anything is sent: sums
 * that exist are added to by the worker, and would be refused here.
 */
export async function seedHistory(site: Deployment): Promise<number> {
  const client = new pg.Client({ connectionString: site.postgres.url });
  await client.connect();
  try {
    const untilMs = Date.now() - BEFORE_NOW_MS;
    const { rows } = await client.query<{ id: string }>('select id from organizations');
    const routes = await client.query<HistoryRoute>(ROUTES);
    const callers = await client.query<HistoryCaller>(
      'select id as "keyId", user_id as "userId" from api_keys order by id desc',
    );
    const [organization] = rows;
    if (organization === undefined) throw new Error('the deployment has no organization');
    // Without a key: what the tokens of the deployment were used for.
    const tokens = { keyId: null, userId: null };
    const history = [...historyRows(organization.id, routes.rows, [...callers.rows, tokens], untilMs)];
    await client.query('begin');
    for (let day = 0; day <= HISTORY_DAYS; day += 1) await makeDay(client, untilMs - day * DAY_MS);
    await insertRows(client, history);
    for (const bucket of ['minute', 'hour', 'day'] as const) await addSums(client, bucket);
    await client.query('commit');
    return history.length;
  } finally {
    await client.end();
  }
}

const ROUTES = `
  select lane.id as "laneId", lane.slug as model, endpoint.id as "endpointId", endpoint.provider_id as "providerId",
    credential.id as "credentialId", endpoint.upstream_model as "upstreamModel",
    price.input_cost_micros_per_1m_tokens::float8 as "inputMicrosPer1m",
    price.output_cost_micros_per_1m_tokens::float8 as "outputMicrosPer1m"
  from lane_memberships membership
  join lanes lane on lane.id = membership.lane_id
  join endpoints endpoint on endpoint.id = membership.endpoint_id
  join pricing_policies price on price.endpoint_id = endpoint.id
  left join credentials credential on credential.provider_id = endpoint.provider_id
  order by lane.id, membership.manual_rank`;

/** As the server makes them, for days that were over before it started. */
async function makeDay(client: pg.Client, timeMs: number): Promise<void> {
  const startMs = Math.floor(timeMs / DAY_MS) * DAY_MS;
  const name = `requests_${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
  const { rowCount } = await client.query('select from pg_class where relname = $1', [name]);
  if (rowCount !== 0) return;
  await client.query(`create table ${name} (like requests including defaults including constraints)`);
  await client.query(
    `alter table requests attach partition ${name}
      for values from ('${smallestIdAt(startMs)}') to ('${smallestIdAt(startMs + DAY_MS)}')`,
  );
}

async function insertRows(client: pg.Client, rows: readonly HistoryRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  await client.query(
    `insert into requests (${columns}) select ${columns} from jsonb_populate_recordset(null::requests, $1)`,
    [JSON.stringify(rows)],
  );
}

/** Five to a decade, as the server counts them. */
const BOUNDS_MS = [
  0,
  ...Array.from({ length: 25 }, (_, step) => Number((10 ** (1 + step / 5)).toPrecision(2))),
];

/** In which bucket of a histogram a duration is counted. */
export function placeOf(column: string): string {
  return `width_bucket(${column} - 0.5::float8, array[${BOUNDS_MS.join(', ')}]::float8[])`;
}

/** The histogram of rows by such a place. */
export function histogramOf(column: string): string {
  const places = [...BOUNDS_MS.keys(), BOUNDS_MS.length];
  return `array[${places.map((place) => `count(*) filter (where ${column} = ${place})`).join(', ')}]`;
}

const FAMILIES = {
  resource: 'null::uuid, null::uuid, endpoint_id, lane_id, provider_id, credential_id',
  caller: 'user_id, key_id, endpoint_id, lane_id, provider_id, null::uuid',
} as const;

async function addSums(client: pg.Client, bucket: 'minute' | 'hour' | 'day'): Promise<void> {
  for (const [family, dimensions] of Object.entries(FAMILIES))
    await client.query(`
      insert into request_rollups (bucket, family, organization_id, bucket_start, user_id, key_id, endpoint_id, lane_id, provider_id,
        credential_id, requests_completed, requests_failed, requests_cancelled, requests_metered, requests_streaming, requests_waited, fallbacks, input_tokens,
        cached_input_tokens, output_tokens, cost_micros, wait_ms_sum, wait_ms_max, latency_ms_sum, ttft_ms_sum, ttft_count,
        wait_histogram, latency_histogram, ttft_bins, ttft_counts)
      select '${bucket}', '${family}', organization_id, arrived_in, ${dimensions},
        count(*) filter (where state = 'completed'), count(*) filter (where state = 'failed'),
        count(*) filter (where state = 'cancelled'), count(*), count(*) filter (where streaming),
        count(*) filter (where state = 'completed' and wait_ms > 0), sum(fallback_count), sum(actual_input_tokens),
        sum(actual_cached_input_tokens), sum(actual_output_tokens), sum(actual_cost_micros), sum(wait_ms), max(wait_ms),
        sum(latency_ms), coalesce(sum(ttft_ms), 0), count(ttft_ms), ${histogramOf('wait_place')}, ${histogramOf('latency_place')},
        ${binned('bin')}, ${binned('count(*)')}
      from (select *, date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC') as arrived_in,
          ${placeOf('wait_ms')} as wait_place, ${placeOf('latency_ms')} as latency_place
        from requests) as arrived
      ${bucket === 'minute' ? `where arrived_in > now() - interval '8 days'` : ''}
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10`);
  await client.query(`
    insert into failure_rollups (bucket, bucket_start, organization_id, user_id, error_code, provider_id, endpoint_id, lane_id,
      requests, first_request_id, last_request_id)
    select '${bucket}', date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC') as arrived_in, organization_id,
      user_id, coalesce(error_code, ''), provider_id, endpoint_id, lane_id, count(*), min(request_id::text)::uuid,
      max(request_id::text)::uuid
    from requests where state = 'failed'
      ${bucket === 'minute' ? `and settled_at > now() - interval '8 days'` : ''}
    group by 2, 3, 4, 5, 6, 7, 8`);
}

/** Times to first token of this history are below a second, where every millisecond is a bin. */
function binned(what: 'bin' | 'count(*)'): string {
  return `coalesce((select array_agg(each.value) from (select ${what} as value
    from unnest(array_agg(ttft_ms) filter (where ttft_ms is not null)) as bin group by bin order by bin) as each), '{}')`;
}
