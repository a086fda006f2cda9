import { type RawBuilder, sql } from 'kysely';
import { wasSent } from '../../domain/attempt-sums.ts';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import type { UsageSource } from '../../domain/request-record.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { StoredAttempt } from './ledger-json.ts';
import type { CountedRow } from './ledger-row.ts';

// The one definition of sent attempts and their usage. Both halves of this file have the same rules: the first for rows in memory, the second in SQL.

/** Longer than any request can wait and run. */
export const REQUEST_MS_MAX = 86_400_000;
/** Times of attempts are rounded. */
const ROUNDING_MS = 1_000;

/** One attempt that was sent, with its usage. */
export interface SentAttempt {
  readonly endpoint_id: string | null;
  readonly provider_id: string | null;
  readonly credential_id: string | null;
  /** The moment at which the attempt counts. */
  readonly dispatched_ms: number;
  /** As `dispatched_ms`. If the gateway died before it recorded the dispatch: the latest possible moment. */
  readonly latest_ms: number;
  /** The moment at which its usage was known. */
  readonly ended_ms: number;
  /** `none`: the attempt used nothing. */
  readonly source: UsageSource;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  readonly cost_rounding_picos: number;
  /** True if another attempt followed, sent or not. */
  readonly is_followed: boolean;
}

/**
 * The attempts of a row that were sent. A row that used something without one had an attempt that was not recorded: at its own
 * endpoint, after its wait.
 */
export function attemptsOfRow(row: CountedRow): SentAttempt[] {
  const { attempts, usage_source } = row;
  const lastSent = attempts.findLastIndex(wasSent);
  if (lastSent < 0) return usage_source === 'none' ? [] : [sentAttempt(row, undefined, false, true)];
  if (attempts.length === 1) return [sentAttempt(row, attempts[0], false, attempts[0]?.use === undefined)];
  const areTold = attempts.some(({ use }) => use !== undefined);
  return attempts.flatMap((attempt, index) =>
    wasSent(attempt)
      ? sentAttempt(row, attempt, index < attempts.length - 1, !areTold && index === lastSent)
      : [],
  );
}

/** `isOfRow`: the row's columns have the attempt's usage. */
function sentAttempt(
  row: CountedRow,
  attempt: StoredAttempt | undefined,
  is_followed: boolean,
  isOfRow: boolean,
): SentAttempt {
  const arrivedMs = uuidTimeMs(row.request_id);
  const startedMs = attempt?.started_ms ?? null;
  const dispatched_ms = arrivedMs + Math.round(startedMs ?? row.wait_ms);
  const isUnknown = startedMs === null && row.error_code === GATEWAY_LOST;
  const use = isOfRow ? useOfRow(row) : useOf(attempt);
  const { source, input_tokens, cached_input_tokens, output_tokens, cost_micros, cost_rounding_picos } = use;
  return {
    endpoint_id: attempt?.endpoint_id ?? row.endpoint_id,
    provider_id: attempt?.provider_id ?? row.provider_id,
    credential_id: credentialOf(row, attempt),
    dispatched_ms,
    latest_ms: isUnknown ? arrivedMs + row.latency_ms : dispatched_ms,
    ended_ms:
      attempt !== undefined && is_followed
        ? dispatched_ms + Math.round(attempt.latency_ms)
        : arrivedMs + row.latency_ms,
    source,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    cost_micros,
    cost_rounding_picos,
    is_followed,
  };
}

/** Returns the recorded credential. Without one, returns the row's, unless the attempt was made at another provider. */
function credentialOf(row: CountedRow, attempt: StoredAttempt | undefined): string | null {
  if (attempt?.credential_id !== undefined) return attempt.credential_id;
  return attempt === undefined || attempt.provider_id === row.provider_id ? row.credential_id : null;
}

type Use = Pick<
  SentAttempt,
  'source' | 'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'cost_micros' | 'cost_rounding_picos'
>;

const NOTHING: Use = {
  source: 'none',
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cost_micros: 0,
  cost_rounding_picos: 0,
};

function useOf(attempt: StoredAttempt | undefined): Use {
  const use = attempt?.use;
  if (use === undefined) return NOTHING;
  return {
    source: use.source,
    input_tokens: use.input_tokens,
    cached_input_tokens: use.cached_input_tokens ?? 0,
    output_tokens: use.output_tokens,
    cost_micros: use.cost_micros ?? 0,
    cost_rounding_picos: use.cost_rounding_picos ?? 0,
  };
}

/** Unreported usage counts as estimated. */
function useOfRow(row: CountedRow): Use {
  if (row.usage_source === 'none') return NOTHING;
  return {
    source: row.usage_source,
    input_tokens: row.actual_input_tokens ?? row.estimated_input_tokens,
    cached_input_tokens: row.actual_cached_input_tokens ?? 0,
    output_tokens: row.actual_output_tokens ?? row.estimated_output_tokens,
    cost_micros: row.actual_cost_micros ?? row.estimated_cost_micros,
    cost_rounding_picos: row.actual_cost_rounding_picos,
  };
}

/** Selects the arrival of a request, in ms. */
export function arrivedMsOf(row: string): RawBuilder<number> {
  const id = sql.ref(`${row}.request_id`);
  return sql`('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint`;
}

/** Selects the time from the arrival to the dispatch of the first attempt that was sent; null when none was. */
export function firstSentMsOf(row: string): RawBuilder<number | null> {
  const path = sql.lit('$[*] ? (!(@.sent == false) && !(@.cause == "upstream_not_prepared"))');
  return sql`(jsonb_path_query_first(${sql.ref(`${row}.attempts`)}, ${path}) ->> 'started_ms')::integer`;
}

/** Matches rows that may have been in flight at this moment, which is cheaper than reading their attempts. */
export function mayReach(row: string, timeMs: number): RawBuilder<boolean> {
  const [latency, wait] = [sql.ref(`${row}.latency_ms`), sql.ref(`${row}.wait_ms`)];
  return sql`${arrivedMsOf(row)} + greatest(${latency}, ${wait}) >= ${timeMs - ROUNDING_MS}`;
}

/**
 * The same as `attemptsOfRow`, to be joined laterally to rows of `requests` with this alias. Names of endpoints, providers and credentials
 * are text.
 */
export function sentAttemptsOf(row: string): RawBuilder<SentAttempt> {
  const of = (column: string) => sql.ref(`${row}.${column}`);
  const startedMs = sql`round((attempt ->> 'started_ms')::numeric)::bigint`;
  const isOfRow = sql`not are_told and place is not distinct from last_sent and ${of('usage_source')} <> 'none'`;
  const used = (name: string, ofRow: RawBuilder<unknown>) =>
    sql`case when ${isOfRow} then ${ofRow} else coalesce((attempt -> 'use' ->> ${sql.lit(name)})::bigint, 0) end as ${sql.ref(name)}`;
  const actual = (name: string) => sql`coalesce(${of(`actual_${name}`)}, ${of(`estimated_${name}`)})`;
  return sql`(
    select coalesce(attempt ->> 'endpoint_id', ${of('endpoint_id')}::text) as endpoint_id,
      coalesce(attempt ->> 'provider_id', ${of('provider_id')}::text) as provider_id,
      case when attempt ? 'credential_id' then attempt ->> 'credential_id'
        when place is null or attempt ->> 'provider_id' is not distinct from ${of('provider_id')}::text
          then ${of('credential_id')}::text end as credential_id,
      dispatched_ms,
      case when ${startedMs} is null and ${of('error_code')} = ${sql.lit(GATEWAY_LOST)}
        then arrived_ms + ${of('latency_ms')} else dispatched_ms end as latest_ms,
      case when is_followed then dispatched_ms + round((attempt ->> 'latency_ms')::numeric)::bigint
        else arrived_ms + ${of('latency_ms')} end as ended_ms,
      case when ${isOfRow} then ${of('usage_source')} else coalesce(attempt -> 'use' ->> 'source', 'none') end as source,
      ${used('input_tokens', actual('input_tokens'))},
      ${used('cached_input_tokens', sql`coalesce(${of('actual_cached_input_tokens')}, 0)`)},
      ${used('output_tokens', actual('output_tokens'))},
      ${used('cost_micros', actual('cost_micros'))},
      ${used('cost_rounding_picos', of('actual_cost_rounding_picos'))},
      is_followed
    from (select place, attempt, arrived_ms, arrived_ms + coalesce(${startedMs}, ${of('wait_ms')}) as dispatched_ms,
        coalesce(place < jsonb_array_length(${of('attempts')}), false) as is_followed,
        max(place) over () as last_sent, coalesce(bool_or(attempt ? 'use') over (), false) as are_told
      from (select ${arrivedMsOf(row)} as arrived_ms) as arrival
      left join jsonb_array_elements(${of('attempts')}) with ordinality as each (attempt, place)
        on attempt -> 'sent' is distinct from 'false' and attempt ->> 'cause' is distinct from 'upstream_not_prepared'
    ) as each_sent
    where place is not null or ${of('usage_source')} <> 'none')`;
}
