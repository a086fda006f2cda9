import type pg from 'pg';
import { copyIn } from './copy-in.ts';
import { type Organization, type SampleRequest, sampleRequest } from './population.ts';
import { COPIED_COLUMNS, copyLine } from './request-forms.ts';

export const DAY_MS = 86_400_000;
const LINES_PER_CHUNK = 200;
export const COPY_STATEMENT = `copy requests (${COPIED_COLUMNS.join(', ')}) from stdin`;

/** The smallest UUIDv7 of a moment. */
function idAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export function partitionOf(dayStartMs: number): string {
  return `requests_${new Date(dayStartMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** As the server makes them, for days that are long past when it starts. */
export async function makePartition(client: pg.Client, dayStartMs: number): Promise<void> {
  const name = partitionOf(dayStartMs);
  const { rowCount } = await client.query('select from pg_class where relname = $1', [name]);
  if (rowCount !== 0) return;
  await client.query(`create table ${name} (like requests including defaults including constraints)`);
  await client.query(
    `alter table requests attach partition ${name} for values from ('${idAt(dayStartMs)}') to ('${idAt(dayStartMs + DAY_MS)}')`,
  );
}

/** One day of requests, in the order of their arrival. */
export function* requestsOfDay(
  organizations: readonly Organization[],
  dayStartMs: number,
  count: number,
): Generator<SampleRequest> {
  for (let index = 0; index < count; index += 1)
    yield sampleRequest(organizations, dayStartMs + ((index + Math.random()) * DAY_MS) / count);
}

export async function copyDay(
  client: pg.Client,
  organizations: readonly Organization[],
  dayStartMs: number,
  count: number,
): Promise<void> {
  await makePartition(client, dayStartMs);
  await copyIn(client, COPY_STATEMENT, chunksOf(requestsOfDay(organizations, dayStartMs, count)));
}

export function* chunksOf(requests: Iterable<SampleRequest>): Generator<Buffer> {
  let lines: string[] = [];
  for (const request of requests) {
    lines.push(copyLine(request));
    if (lines.length < LINES_PER_CHUNK) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  yield Buffer.from(lines.join(''));
}

/** The bin of a duration, as the server names it. */
function binOf(column: string): string {
  const step = `power(10, length((${column} - 1)::text) - 2)::int`;
  return `case when ${column} <= 1000 or ${column} % ${step} = 0 then ${column}
    else ${column} - ${column} % ${step} + case when ${column} % ${step} < ${step} / 2 then ${step} / 2 - 1 else ${step} end end`;
}

/** The bins of a list, or how many of the list each of them has. */
function counted(list: string, what: 'bin' | 'count(*)'): string {
  return `(select array_agg(each.value) from
    (select ${what} as value from unnest(${list}) as bin group by bin order by bin) as each)`;
}

const KEY =
  'family, organization_id, bucket_start, user_id, key_id, endpoint_id, lane_id, provider_id, credential_id';
const SUMS =
  'requests_completed, requests_failed, requests_cancelled, requests_metered, input_tokens, output_tokens, cost_micros, wait_ms_sum, wait_ms_max, latency_ms_sum, ttft_ms_sum, ttft_count';
const FAMILIES = {
  resource: 'null::uuid, null::uuid, endpoint_id, lane_id, provider_id, credential_id',
  caller: 'user_id, key_id, endpoint_id, lane_id, provider_id, null::uuid',
};

/** The sums that the worker would have written with the rows from this moment on. */
export async function addSums(
  client: pg.Client,
  bucket: 'minute' | 'hour' | 'day',
  fromMs: number,
): Promise<void> {
  for (const [family, dimensions] of Object.entries(FAMILIES))
    await client.query(`
      insert into request_rollups (bucket, ${KEY}, ${SUMS}, wait_bins, wait_counts, latency_bins, latency_counts, ttft_bins,
        ttft_counts)
      select '${bucket}', ${KEY}, ${SUMS}, ${counted('waits', 'bin')}, ${counted('waits', 'count(*)')},
        ${counted('latencies', 'bin')}, ${counted('latencies', 'count(*)')}, ${counted('ttfts', 'bin')}, ${counted('ttfts', 'count(*)')}
      from (select '${family}', organization_id, arrived_in, ${dimensions},
          count(*) filter (where state = 'completed'), count(*) filter (where state = 'failed'),
          count(*) filter (where state = 'cancelled'), count(*), sum(actual_input_tokens), sum(actual_output_tokens),
          sum(actual_cost_micros), sum(wait_ms), max(wait_ms), sum(latency_ms), sum(ttft_ms), count(ttft_ms),
          array_agg(${binOf('wait_ms')}), array_agg(${binOf('latency_ms')}), array_agg(${binOf('ttft_ms')})
        from (select *, date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC') as arrived_in
          from requests where request_id >= '${idAt(fromMs)}') as arrived
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9) as summed (${KEY}, ${SUMS}, waits, latencies, ttfts)`);
  await client.query(`
    insert into failure_rollups (bucket, bucket_start, organization_id, user_id, error_code, provider_id, endpoint_id, lane_id,
      requests, first_request_id, last_request_id)
    select '${bucket}', date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC'), organization_id, user_id,
      error_code, provider_id, endpoint_id, lane_id, count(*), min(request_id::text)::uuid, max(request_id::text)::uuid
    from requests where request_id >= '${idAt(fromMs)}' and state = 'failed'
    group by 2, 3, 4, 5, 6, 7, 8`);
}
