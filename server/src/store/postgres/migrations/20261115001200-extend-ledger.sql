-- What a request asked for, which credential and which policy it met, and how it was decided.
alter table requests
  add column model text check (length(model) <= 200),
  add column credential_id uuid,
  -- The policy that made it wait or refused it: id, kind, scope, metric, period, when it resets.
  add column bound_policy jsonb,
  -- Candidates with their verdicts, timings, guardrails. Read one request at a time and never searched.
  add column trace jsonb;
-- `bound_policy_id` stays: the version before this one names it in every insert. Nothing reads it.

-- Pages of requests are read newest first, by one of these at a time. Ids of users, keys, endpoints and lanes belong to
-- one organization (a user to few), so that the organization need not lead.
create index requests_by_user on requests (user_id, request_id desc);
create index requests_by_key on requests (key_id, request_id desc) where key_id is not null;
create index requests_by_endpoint on requests (endpoint_id, request_id desc) where endpoint_id is not null;
create index requests_by_lane on requests (lane_id, request_id desc) where lane_id is not null;
create index requests_by_provider on requests (provider_id, request_id desc) where provider_id is not null;
create index requests_by_model on requests (organization_id, model, request_id desc);
-- Those that went well are nearly all, and found by going through all; the others are few.
create index requests_by_state on requests (organization_id, state, request_id desc) where state <> 'completed';
create index requests_by_error on requests (organization_id, error_code, request_id desc) where error_code is not null;

-- Two families of sums. `resource`: what providers, credentials, endpoints and lanes did, whoever asked. `caller`: what users
-- and keys did, and where. A question about the whole organization need not go through its callers.
alter table request_rollups
  add column family text not null check (family in ('resource', 'caller')),
  add column credential_id uuid,
  -- Requests that limits count: all but those that no provider worked on.
  add column requests_metered bigint not null default 0,
  -- How many waited and took how long, by the bounds of domain/histogram.ts; as long as the last bucket in use needs.
  add column wait_histogram bigint[] not null default '{}',
  add column latency_histogram bigint[] not null default '{}',
  drop constraint request_rollups_organization_id_bucket_bucket_start_provide_key,
  add constraint request_rollups_once unique nulls not distinct
    (organization_id, bucket, family, bucket_start, user_id, key_id, endpoint_id, lane_id, provider_id, credential_id);
-- What one user or one key did, for windows of budgets and for own traffic. Minutes are asked for by the hour, for which the
-- order of time is enough.
create index request_rollups_hour_by_user on request_rollups_hour (user_id, bucket_start) where user_id is not null;
create index request_rollups_hour_by_key on request_rollups_hour (key_id, bucket_start) where key_id is not null;
create index request_rollups_day_by_user on request_rollups_day (user_id, bucket_start) where user_id is not null;
create index request_rollups_day_by_key on request_rollups_day (key_id, bucket_start) where key_id is not null;
-- Retention finds what is old by these.
create index request_rollups_minute_by_age on request_rollups_minute (bucket_start);
create index request_rollups_hour_by_age on request_rollups_hour (bucket_start);
-- Sums are updated in place many times; with room on their page the indexes stay as they are.
alter table request_rollups_minute set (fillfactor = 80);
alter table request_rollups_hour set (fillfactor = 70);
alter table request_rollups_day set (fillfactor = 70);

-- The sum of two histograms, of the same length or not: 27 buckets at most. Written out as one expression, which PostgreSQL
-- puts in place of the call; a loop would cost several times as much.
do $$
begin
  execute format(
    'create function add_histograms(one bigint[], other bigint[]) returns bigint[]
      language sql immutable parallel safe as
      ''select (array[%s])[1:greatest(cardinality(one), cardinality(other))]''',
    (select string_agg(format('coalesce(one[%1$s], 0) + coalesce(other[%1$s], 0)', place), ', ')
      from generate_series(1, 27) as place));
end $$;

-- Entries of the usage streams that could never become a row, for whoever has to find out why. Never what they said.
create table poisoned_usage (
  -- Which entry of which stream, and which record of it: the same one, met twice, is one row.
  stream text not null,
  entry_id text not null,
  place integer not null,
  organization_id uuid,
  request_id uuid,
  reason text not null,
  found_at timestamptz(3) not null default now(),
  primary key (stream, entry_id, place)
);
create index poisoned_usage_by_age on poisoned_usage (found_at);
alter table poisoned_usage enable row level security;
