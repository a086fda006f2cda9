import type { LedgerView } from '../harness/ledger-view.ts';

// The expected rollups, computed from the rows: a bucket is the UTC minute, hour or day in the first 48 bits of the request id.
const ARRIVED = `to_timestamp(('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;
const KEY = [
  'organization_id',
  'bucket',
  'family',
  'bucket_start',
  'user_id',
  'key_id',
  'endpoint_id',
  'lane_id',
  'provider_id',
  'credential_id',
];
/** The summed columns, and what a row adds to each. */
const SUMS: Readonly<Record<string, string>> = {
  requests_completed: `count(*) filter (where state = 'completed')`,
  requests_failed: `count(*) filter (where state = 'failed')`,
  requests_cancelled: `count(*) filter (where state = 'cancelled')`,
  requests_metered: `count(*) filter (where usage_source <> 'none')`,
  requests_estimated: `count(*) filter (where usage_source not in ('none', 'reported'))`,
  requests_streaming: 'count(*) filter (where streaming)',
  requests_waited: `count(*) filter (where state = 'completed' and wait_ms > 0)`,
  requests_embeddings: `count(*) filter (where operation = 'embeddings')`,
  fallbacks: 'sum(fallback_count)',
  input_tokens: metered('coalesce(actual_input_tokens, estimated_input_tokens)'),
  cached_input_tokens: metered('actual_cached_input_tokens'),
  output_tokens: metered('coalesce(actual_output_tokens, estimated_output_tokens)'),
  cost_micros: metered('coalesce(actual_cost_micros, estimated_cost_micros)'),
  cost_rounding_picos: metered('actual_cost_rounding_picos'),
  wait_ms_sum: 'sum(wait_ms)',
  wait_ms_max: 'max(wait_ms)',
  latency_ms_sum: 'sum(latency_ms)',
  ttft_ms_sum: 'coalesce(sum(ttft_ms), 0)',
  ttft_count: 'count(ttft_ms)',
};
/** The number of durations in a histogram; each request adds one to each kind. */
const HISTOGRAMS = ['wait_counts', 'latency_counts'];

function metered(amount: string): string {
  return `coalesce(sum(${amount}) filter (where usage_source <> 'none'), 0)`;
}

/** One line per bucket and sum that differs from the rows. A bucket without requests may be missing or empty. */
export async function rollupDifferences(ledger: LedgerView): Promise<string[]> {
  const dimensions = (nulls: readonly string[]) =>
    KEY.slice(4)
      .map((column) => (nulls.includes(column) ? `null::uuid as ${column}` : column))
      .join(', ');
  const sums = Object.entries(SUMS).map(([name, sum]) => `(${sum})::bigint as ${name}`);
  const expected = (family: string, nulls: readonly string[]) => `
    select organization_id, bucket, '${family}' as family,
      date_trunc(bucket, ${ARRIVED} at time zone 'UTC') at time zone 'UTC' as bucket_start,
      ${dimensions(nulls)}, count(*) as requests, ${sums.join(', ')}
    from requests, unnest(array['minute', 'hour', 'day']) as bucket
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;
  // A full join needs one value to join by.
  const key = (table: string) =>
    `concat_ws(' ', ${KEY.map((column) => `coalesce(${table}.${column}::text, '-')`).join(', ')})`;
  const different = [
    ...Object.keys(SUMS).map(
      (name) => `coalesce(rows.${name}, 0) is distinct from coalesce(kept.${name}, 0)`,
    ),
    ...HISTOGRAMS.map(
      (name) =>
        `coalesce(rows.requests, 0) is distinct from (select coalesce(sum(held), 0) from unnest(kept.${name}) as held)`,
    ),
  ];
  const names = [...Object.keys(SUMS), ...HISTOGRAMS];
  const list = different.map((condition, index) => `case when ${condition} then '${names[index]}' end`);
  const found = await ledger.query<{ where: string; what: string }>(`
    with rows as (${expected('resource', ['user_id', 'key_id'])} union all ${expected('caller', ['credential_id'])}),
    compared as (
      select concat_ws(' ', coalesce(rows.family, kept.family), coalesce(rows.bucket, kept.bucket),
          coalesce(rows.bucket_start, kept.bucket_start), coalesce(rows.endpoint_id, kept.endpoint_id)) as where,
        array_remove(array[${list.join(', ')}], null) as wrong
      from rows full outer join request_rollups as kept on ${key('rows')} = ${key('kept')})
    select "where", array_to_string(wrong, ', ') as what from compared where cardinality(wrong) > 0`);
  return found.map(({ where, what }) => `${where}: ${what}`);
}
