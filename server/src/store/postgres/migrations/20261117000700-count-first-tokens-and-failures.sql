-- How long requests took to their first token, as the waits and latencies beside them: names of bins (domain/histogram.ts), and the count
-- of each. The version before writes neither, so percentiles leave out what it records.
alter table request_rollups
  add column ttft_bins integer[] not null default '{}',
  add column ttft_counts bigint[] not null default '{}';

-- Failed requests by cause, summed in the transaction that writes their rows. What the version before records is missing here; readers
-- compare with `requests_failed`.
create table failure_rollups (
  organization_id uuid not null,
  bucket text not null,
  bucket_start timestamptz(3) not null,
  user_id uuid,
  -- Empty where none was recorded.
  error_code text not null,
  provider_id uuid,
  endpoint_id uuid,
  lane_id uuid,
  -- The limit that made it wait or rejected it; text, because an endpoint's own concurrency limit has no uuid.
  limit_id text,
  -- The guardrail that blocked it or was unavailable.
  guardrail_id uuid,
  requests bigint not null default 0,
  -- Their times are those of the first and last failure.
  first_request_id uuid not null,
  last_request_id uuid not null,
  unique nulls not distinct (organization_id, bucket, bucket_start, user_id, error_code, provider_id, endpoint_id, lane_id,
    limit_id, guardrail_id)
) partition by list (bucket);
create table failure_rollups_minute partition of failure_rollups for values in ('minute');
create table failure_rollups_hour partition of failure_rollups for values in ('hour');
create table failure_rollups_day partition of failure_rollups for values in ('day');
create index failure_rollups_minute_by_age on failure_rollups_minute (bucket_start);
create index failure_rollups_hour_by_age on failure_rollups_hour (bucket_start);
create index failure_rollups_day_by_age on failure_rollups_day (bucket_start);
alter table failure_rollups_minute set (fillfactor = 70);
alter table failure_rollups_hour set (fillfactor = 70);
alter table failure_rollups_day set (fillfactor = 70);

alter table failure_rollups enable row level security;
create policy own_organization on failure_rollups
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on failure_rollups to relay_app;
