const USED = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost_micros',
  'cost_rounding_picos',
] as const;

function used(name: string): string {
  const ofRow = name.endsWith('picos') ? `actual_${name}` : `coalesce(actual_${name}, 0)`;
  return `case when is_of_row then ${ofRow} else coalesce((attempt #>> '{use,${name}}')::bigint, 0) end as ${name}`;
}

/**
 * Attempts that were sent, to be selected from. What a row used is of the last, unless its attempts say otherwise. A row that used something without an attempt had one that was not recorded: at its own endpoint, after its wait.
 */
export const SENT_ATTEMPTS = `
  (select request_id, organization_id, coalesce(client_request_id, '') as tag, lane_id, user_id, key_id,
    coalesce(attempt ->> 'upstream_model', upstream_model) as upstream_model, arrived_ms, arrived_ms + coalesce(round((attempt ->> 'started_ms')::numeric)::bigint, wait_ms) as dispatched_ms,
    coalesce((attempt ->> 'endpoint_id')::uuid, endpoint_id) as endpoint_id,
    coalesce((attempt ->> 'provider_id')::uuid, provider_id) as provider_id,
    case when attempt ? 'credential_id' then (attempt ->> 'credential_id')::uuid
      when place is null or (attempt ->> 'provider_id')::uuid is not distinct from provider_id then credential_id end as credential_id,
    coalesce(place < jsonb_array_length(attempts), false) as is_followed,
    case when is_of_row then usage_source else coalesce(attempt #>> '{use,source}', 'none') end as source,
    ${USED.map(used).join(',\n    ')}
  from (
    select *, not are_told and usage_source <> 'none' and place is not distinct from max(place) over (partition by request_id)
      as is_of_row
    from (
      select requests.*, place, attempt,
        ('x' || left(replace(request_id::text, '-', ''), 12))::bit(48)::bigint as arrived_ms,
        coalesce(bool_or(attempt ? 'use') over (partition by request_id), false) as are_told
      from requests left join lateral jsonb_array_elements(attempts) with ordinality as each (attempt, place)
        on attempt -> 'sent' is distinct from 'false' and attempt ->> 'cause' is distinct from 'upstream_not_prepared'
    ) as each_attempt
    where place is not null or usage_source <> 'none') as each_sent)`;
