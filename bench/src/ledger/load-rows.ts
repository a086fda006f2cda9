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

/** Five to a decade, as the server counts them. */
const BOUNDS_MS = [
  0,
  ...Array.from({ length: 25 }, (_, step) => Number((10 ** (1 + step / 5)).toPrecision(2))),
];
const BOUNDS = `array[${BOUNDS_MS.join(', ')}]::float8[]`;
const PLACES = [...BOUNDS_MS.keys(), BOUNDS_MS.length];
const KEY =
  'family, organization_id, bucket_start, user_id, key_id, endpoint_id, lane_id, provider_id, credential_id';
const SUMS = [
  'requests_completed',
  'requests_failed',
  'requests_cancelled',
  'requests_metered',
  'input_tokens',
  'output_tokens',
  'cost_micros',
  'wait_ms_sum',
  'wait_ms_max',
  'latency_ms_sum',
  'ttft_ms_sum',
  'ttft_count',
  'wait_histogram',
  'latency_histogram',
].join(', ');
const FAMILIES = {
  resource: 'null::uuid, null::uuid, endpoint_id, lane_id, provider_id, credential_id',
  caller: 'user_id, key_id, endpoint_id, lane_id, provider_id, null::uuid',
};

/** The sums that the worker would have written with the rows from this moment on. */
export async function addSums(client: pg.Client, bucket: 'minute' | 'hour', fromMs: number): Promise<void> {
  const counts = (place: string) =>
    `array[${PLACES.map((index) => `count(*) filter (where ${place} = ${index})`).join(', ')}]`;
  for (const [family, dimensions] of Object.entries(FAMILIES))
    await client.query(`
      insert into request_rollups (bucket, ${KEY}, ${SUMS})
      select '${bucket}', '${family}', organization_id, arrived_in, ${dimensions},
        count(*) filter (where state = 'completed'), count(*) filter (where state = 'failed'),
        count(*) filter (where state = 'cancelled'), count(*), sum(actual_input_tokens), sum(actual_output_tokens),
        sum(actual_cost_micros), sum(wait_ms), max(wait_ms), sum(latency_ms), sum(ttft_ms), count(ttft_ms),
        ${counts('wait_place')}, ${counts('latency_place')}
      from (select *, date_trunc('${bucket}', settled_at - latency_ms * interval '1 ms', 'UTC') as arrived_in,
          width_bucket(wait_ms - 0.5::float8, ${BOUNDS}) as wait_place,
          width_bucket(latency_ms - 0.5::float8, ${BOUNDS}) as latency_place
        from requests where request_id >= '${idAt(fromMs)}') as arrived
      group by 2, 3, 4, 5, 6, 7, 8, 9, 10`);
}

/** Days from the hours that there are. */
export async function addSumsOfDays(client: pg.Client): Promise<void> {
  const total = (column: string) => {
    if (column === 'wait_ms_max') return `max(${column})`;
    if (!column.endsWith('_histogram')) return `sum(${column})`;
    return `array[${PLACES.map((place) => `sum(${column}[${place + 1}])`).join(', ')}]`;
  };
  await client.query(`
    insert into request_rollups (bucket, ${KEY}, ${SUMS})
    select 'day', ${KEY.replace('bucket_start', `date_trunc('day', bucket_start, 'UTC')`)},
      ${SUMS.split(', ').map(total).join(', ')}
    from request_rollups where bucket = 'hour' group by 2, 3, 4, 5, 6, 7, 8, 9, 10`);
}
