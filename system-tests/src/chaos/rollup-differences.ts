import type { LedgerView } from '../harness/ledger-view.ts';
import { SENT_ATTEMPTS } from '../harness/sent-attempts.ts';

const DIMENSIONS = [
  'organization_id',
  'user_id',
  'key_id',
  'endpoint_id',
  'lane_id',
  'provider_id',
  'credential_id',
];
const KEY = ['bucket', 'family', 'bucket_start', ...DIMENSIONS];
/** What a request adds to the sums of its arrival and of its last endpoint. */
const OF_REQUEST: Readonly<Record<string, string>> = {
  requests_completed: `(state = 'completed')::int`,
  requests_failed: `(state = 'failed')::int`,
  requests_cancelled: `(state = 'cancelled')::int`,
  requests_metered: `(usage_source <> 'none')::int`,
  requests_estimated: `(usage_source = 'estimated')::int`,
  requests_streaming: 'streaming::int',
  requests_waited: `(state = 'completed' and wait_ms > 0)::int`,
  requests_embeddings: `(operation = 'embeddings')::int`,
  fallbacks: 'fallback_count',
  further_attempts: `-(usage_source <> 'none')::int`,
  further_metered: `-(usage_source <> 'none')::int`,
  wait_ms_sum: 'wait_ms',
  latency_ms_sum: 'latency_ms',
  ttft_ms_sum: 'coalesce(ttft_ms, 0)',
  ttft_count: '(ttft_ms is not null)::int',
};
/** What an attempt that was sent adds to the sums of its dispatch and of its own endpoint. */
const OF_ATTEMPT: Readonly<Record<string, string>> = {
  further_attempts: '1',
  further_metered: `(source <> 'none')::int`,
  input_tokens: 'input_tokens',
  cached_input_tokens: 'cached_input_tokens',
  output_tokens: 'output_tokens',
  cost_micros: 'cost_micros',
  cost_rounding_picos: 'cost_rounding_picos',
  fallback_cost_micros: 'is_followed::int * cost_micros',
  fallback_cost_rounding_picos: 'is_followed::int * cost_rounding_picos',
};
const SUMS = [...new Set([...Object.keys(OF_REQUEST), ...Object.keys(OF_ATTEMPT)])];
const NAMES = [...SUMS, 'wait_ms_max'];
/** The number of durations in a histogram; each request adds one to each kind. */
const HISTOGRAMS = ['wait_counts', 'latency_counts'];
const ARRIVED = `('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint`;

function added(atMs: string, isRequest: boolean, table: string): string {
  const of = isRequest ? OF_REQUEST : OF_ATTEMPT;
  const sums = SUMS.map((name) => `${of[name] ?? '0'} as ${name}`);
  const more = isRequest ? '1 as requests, wait_ms as wait_ms_max' : '0, null';
  return `select ${atMs} as at_ms, ${[...DIMENSIONS, more, ...sums].join(', ')} from ${table}`;
}

const EXPECTED = `
  select bucket, family, date_trunc(bucket, to_timestamp(at_ms / 1000.0), 'UTC') as bucket_start, organization_id,
    case family when 'caller' then user_id end as user_id, case family when 'caller' then key_id end as key_id,
    endpoint_id, lane_id, provider_id, case family when 'resource' then credential_id end as credential_id,
    sum(requests) as requests, max(wait_ms_max) as wait_ms_max,
    ${SUMS.map((name) => `sum(${name})::bigint as ${name}`).join(', ')}
  from (${added(ARRIVED, true, 'requests')} union all ${added('dispatched_ms', false, `${SENT_ATTEMPTS} as sent`)}) as counted,
    unnest(array['minute', 'hour', 'day']) as bucket, unnest(array['resource', 'caller']) as family
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;

/** One line per bucket and sum that differs from the rows. A bucket without requests may be missing or empty. */
export async function rollupDifferences(ledger: LedgerView): Promise<string[]> {
  // A full join needs one value to join by.
  const key = (table: string) =>
    `concat_ws(' ', ${KEY.map((column) => `coalesce(${table}.${column}::text, '-')`).join(', ')})`;
  const different = [
    ...NAMES.map((name) => `coalesce(rows.${name}, 0) is distinct from coalesce(kept.${name}, 0)`),
    ...HISTOGRAMS.map(
      (name) =>
        `coalesce(rows.requests, 0) is distinct from (select coalesce(sum(held), 0) from unnest(kept.${name}) as held)`,
    ),
  ];
  const names = [...NAMES, ...HISTOGRAMS];
  const list = different.map((condition, index) => `case when ${condition} then '${names[index]}' end`);
  const found = await ledger.query<{ where: string; what: string }>(`
    with rows as (${EXPECTED}),
    compared as (
      select concat_ws(' ', coalesce(rows.family, kept.family), coalesce(rows.bucket, kept.bucket),
          coalesce(rows.bucket_start, kept.bucket_start), coalesce(rows.endpoint_id, kept.endpoint_id)) as where,
        array_remove(array[${list.join(', ')}], null) as wrong
      from rows full outer join request_rollups as kept on ${key('rows')} = ${key('kept')})
    select "where", array_to_string(wrong, ', ') as what from compared where cardinality(wrong) > 0`);
  return found.map(({ where, what }) => `${where}: ${what}`);
}
