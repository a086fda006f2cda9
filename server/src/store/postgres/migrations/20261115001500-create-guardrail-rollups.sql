-- What guardrails said, summed in the transaction that writes the rows which say so. One partition for each size of bucket,
-- because each has a retention of its own. Traces stay what they are: read one request at a time and never searched.
create table guardrail_rollups (
  organization_id uuid not null,
  bucket text not null,
  bucket_start timestamptz(3) not null,
  guardrail_id uuid not null,
  allowed bigint not null default 0,
  flagged bigint not null default 0,
  replaced bigint not null default 0,
  blocked bigint not null default 0,
  unavailable bigint not null default 0,
  -- How long it took to answer, by the bounds of domain/histogram.ts.
  latency_histogram bigint[] not null default '{}',
  -- An organization has few guardrails, so the time may stand before them: all of them are read together for the list.
  primary key (organization_id, bucket, bucket_start, guardrail_id)
) partition by list (bucket);
create table guardrail_rollups_minute partition of guardrail_rollups for values in ('minute');
create table guardrail_rollups_hour partition of guardrail_rollups for values in ('hour');
create table guardrail_rollups_day partition of guardrail_rollups for values in ('day');
create index guardrail_rollups_minute_by_age on guardrail_rollups_minute (bucket_start);
create index guardrail_rollups_hour_by_age on guardrail_rollups_hour (bucket_start);
alter table guardrail_rollups_minute set (fillfactor = 80);
alter table guardrail_rollups_hour set (fillfactor = 70);
alter table guardrail_rollups_day set (fillfactor = 70);

alter table guardrail_rollups enable row level security;
create policy own_organization on guardrail_rollups
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on guardrail_rollups to relay_app;

-- No guardrail can inspect these, so a request of either kind is refused where one is bound. How many there are is shown before
-- one is. The version before this one does not count them.
alter table request_rollups
  add column requests_streaming bigint not null default 0,
  add column requests_embeddings bigint not null default 0;
