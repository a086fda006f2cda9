-- What happened: one row per request that reached a terminal state. Numbers and names only; never a prompt,
-- a body or a credential.
--
-- A request id is a UUIDv7: its first 48 bits are the arrival time in milliseconds. One UTC day is therefore
-- one range of ids, and the id alone is the primary key: it makes an insert idempotent, keeps rows in order
-- of time, and lets whole days be dropped. Partitions are made by the server (ledger-partitions.ts). There is no
-- default partition: it would have to be scanned whenever a day is added.
create table requests (
  request_id uuid not null primary key,
  organization_id uuid not null,
  user_id uuid,
  key_id uuid,
  lane_id uuid,
  endpoint_id uuid,
  provider_id uuid,
  upstream_model text,
  client_request_id text check (length(client_request_id) <= 200),
  operation text not null check (operation in ('chat', 'responses', 'embeddings')),
  streaming boolean not null,
  state text not null check (state in ('completed', 'failed', 'cancelled')),
  status smallint not null,
  error_code text check (length(error_code) <= 100),
  -- One element per dispatch: endpoint, status, timings. A fallback is an attempt, not a request.
  attempts jsonb not null default '[]',
  fallback_count smallint not null default 0,
  wait_ms integer not null default 0,
  ttft_ms integer,
  latency_ms integer not null,
  estimated_input_tokens bigint not null default 0,
  estimated_output_tokens bigint not null default 0,
  estimated_cost_micros bigint not null default 0,
  -- Null: not known. Zero is a value.
  actual_input_tokens bigint,
  actual_cached_input_tokens bigint,
  actual_output_tokens bigint,
  actual_cost_micros bigint,
  -- reported: by the provider. streamed: counted from what passed, plus the input. estimated: posted at the
  -- reservation. none: never dispatched.
  usage_source text not null check (usage_source in ('reported', 'streamed', 'estimated', 'none')),
  bound_policy_id uuid,
  settled_at timestamptz(3) not null default now()
) partition by range (request_id);
create index requests_newest_first on requests (organization_id, request_id desc);

-- Sums over the ledger, written in the transaction that inserts the rows they count. One partition per bucket
-- size, because each has a retention of its own.
create table request_rollups (
  organization_id uuid not null,
  bucket text not null,
  bucket_start timestamptz(3) not null,
  provider_id uuid,
  endpoint_id uuid,
  lane_id uuid,
  user_id uuid,
  key_id uuid,
  requests_completed bigint not null default 0,
  requests_failed bigint not null default 0,
  requests_cancelled bigint not null default 0,
  fallbacks bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  -- Requests whose tokens and cost above are not what the provider reported.
  requests_estimated bigint not null default 0,
  wait_ms_sum bigint not null default 0,
  wait_ms_max integer not null default 0,
  latency_ms_sum bigint not null default 0,
  ttft_ms_sum bigint not null default 0,
  ttft_count bigint not null default 0,
  unique nulls not distinct
    (organization_id, bucket, bucket_start, provider_id, endpoint_id, lane_id, user_id, key_id)
) partition by list (bucket);
create table request_rollups_minute partition of request_rollups for values in ('minute');
create table request_rollups_hour partition of request_rollups for values in ('hour');
create table request_rollups_day partition of request_rollups for values in ('day');
