-- Which team a request belongs to, and that team's parent at the time, and the labels of its key. History stays when they change.
alter table requests
  add column team_id uuid,
  add column parent_team_id uuid,
  add column labels jsonb;

-- Usage by team and label, summed in the transaction that writes the rows. Only requests with a team or a label are here; what is left of
-- `request_rollups` belongs to none. Days and hours are enough for the calendar windows of limits.
create table attributed_rollups (
  organization_id uuid not null,
  bucket text not null,
  bucket_start timestamptz(3) not null,
  team_id uuid,
  parent_team_id uuid,
  -- A sorted JSON object as text.
  labels text not null,
  user_id uuid,
  key_id uuid,
  endpoint_id uuid,
  lane_id uuid,
  provider_id uuid,
  requests bigint not null default 0,
  requests_metered bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micros bigint not null default 0,
  cost_rounding_picos bigint not null default 0,
  unique nulls not distinct (organization_id, bucket, bucket_start, team_id, parent_team_id, labels, user_id, key_id,
    endpoint_id, lane_id, provider_id)
) partition by list (bucket);
create table attributed_rollups_hour partition of attributed_rollups for values in ('hour');
create table attributed_rollups_day partition of attributed_rollups for values in ('day');
-- For the windows of a team's limits, which also count the teams below it.
create index attributed_rollups_hour_by_team on attributed_rollups_hour (team_id, bucket_start) where team_id is not null;
create index attributed_rollups_hour_by_parent on attributed_rollups_hour (parent_team_id, bucket_start)
  where parent_team_id is not null;
create index attributed_rollups_day_by_team on attributed_rollups_day (team_id, bucket_start) where team_id is not null;
create index attributed_rollups_day_by_parent on attributed_rollups_day (parent_team_id, bucket_start)
  where parent_team_id is not null;
create index attributed_rollups_hour_by_age on attributed_rollups_hour (bucket_start);
alter table attributed_rollups_hour set (fillfactor = 70);
alter table attributed_rollups_day set (fillfactor = 70);

alter table attributed_rollups enable row level security;
create policy own_organization on attributed_rollups
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on attributed_rollups to relay_app;
