-- Alerts on limits: at chosen shares of a limit, and when the pace of use will exhaust it before its window ends.

alter table limit_policies
  add column alert_at smallint[] not null default '{}'
    check (cardinality(alert_at) <= 5 and 1 <= all (alert_at) and 100 >= all (alert_at)),
  add column alert_on_forecast boolean not null default false;
alter table user_limit_policies
  add column alert_at smallint[] not null default '{}'
    check (cardinality(alert_at) <= 5 and 1 <= all (alert_at) and 100 >= all (alert_at)),
  add column alert_on_forecast boolean not null default false;
alter table team_limit_policies
  add column alert_at smallint[] not null default '{}'
    check (cardinality(alert_at) <= 5 and 1 <= all (alert_at) and 100 >= all (alert_at)),
  add column alert_on_forecast boolean not null default false;
alter table api_key_limit_policies
  add column alert_at smallint[] not null default '{}'
    check (cardinality(alert_at) <= 5 and 1 <= all (alert_at) and 100 >= all (alert_at)),
  add column alert_on_forecast boolean not null default false;

-- For the ledger's transaction, which asks whether an organization has such a limit, and for the worker.
create index limit_policies_alerting on limit_policies (organization_id)
  where enabled and (alert_at <> '{}' or alert_on_forecast);
create index user_limit_policies_alerting on user_limit_policies (organization_id, user_id)
  where enabled and (alert_at <> '{}' or alert_on_forecast);
create index team_limit_policies_alerting on team_limit_policies (organization_id, team_id)
  where enabled and (alert_at <> '{}' or alert_on_forecast);
create index api_key_limit_policies_alerting on api_key_limit_policies (organization_id, api_key_id)
  where enabled and (alert_at <> '{}' or alert_on_forecast);

-- What the worker has to compare with thresholds. A transaction of the ledger adds one row for each organization with alerts that it
-- wrote usage of, and a change of a limit adds one; the transaction that writes the alerts removes them.
create table alert_checks (
  id uuid not null default gen_random_uuid() primary key,
  organization_id uuid not null,
  -- Users, teams, keys, lanes, endpoints, providers and credentials with new usage, or the limit that was changed.
  subject_ids uuid[] not null,
  -- Each in an hour with new usage.
  times_ms bigint[] not null,
  due_at timestamptz(3) not null default now()
);
create index alert_checks_by_time on alert_checks (due_at);
create index alert_checks_by_organization on alert_checks (organization_id);

-- With the rights of the tables' owner: management cannot touch this table.
create function check_alerts() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into alert_checks (organization_id, subject_ids, times_ms)
  values (new.organization_id, array[new.id], array[(extract(epoch from now()) * 1000)::bigint]);
  return null;
end
$$;
revoke execute on function check_alerts() from public;
create trigger check_limit_policies after insert or update on limit_policies for each row
  when (new.enabled and (new.alert_at <> '{}' or new.alert_on_forecast)) execute function check_alerts();
create trigger check_user_limit_policies after insert or update on user_limit_policies for each row
  when (new.enabled and (new.alert_at <> '{}' or new.alert_on_forecast)) execute function check_alerts();
create trigger check_team_limit_policies after insert or update on team_limit_policies for each row
  when (new.enabled and (new.alert_at <> '{}' or new.alert_on_forecast)) execute function check_alerts();
create trigger check_api_key_limit_policies after insert or update on api_key_limit_policies for each row
  when (new.enabled and (new.alert_at <> '{}' or new.alert_on_forecast)) execute function check_alerts();

create table alert_destinations (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  kind text not null check (kind in ('webhook', 'mail')),
  url text check ((url is not null) = (kind = 'webhook')),
  address text check ((address is not null) = (kind = 'mail')),
  sealed_secret bytea check ((sealed_secret is not null) = (kind = 'webhook')),
  key_id text check ((key_id is not null) = (sealed_secret is not null)),
  secret_version integer not null default 0,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id)
);
create index alert_destinations_by_key on alert_destinations (key_id, organization_id, id);
create trigger touch_alert_destinations
  before update of name, url, address, secret_version, enabled on alert_destinations
  for each row execute function touch_row();

-- One row for each threshold that was reached in a window, with the limit as it was then. The limit may be gone since.
create table alert_events (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  policy_id uuid not null,
  policy_kind text not null,
  -- Whose limit it is; null for a shared limit.
  subject_id uuid,
  scope_type text not null,
  scope_id uuid,
  metric text not null,
  period text not null,
  limit_value bigint not null,
  used bigint not null,
  window_start timestamptz(3) not null,
  window_end timestamptz(3) not null,
  kind text not null check (kind in ('threshold', 'forecast')),
  -- 0 for a forecast.
  threshold_percent smallint not null,
  forecast_exhausted_at timestamptz(3) check ((forecast_exhausted_at is not null) = (kind = 'forecast')),
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  -- However many workers find it, and whenever they are killed: one id.
  unique (organization_id, policy_id, window_start, kind, threshold_percent)
);
create index alert_events_by_age on alert_events (created_at);

create table alert_deliveries (
  organization_id uuid not null,
  event_id uuid not null,
  destination_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts integer not null default 0,
  -- When the next attempt is due. A worker that makes one moves it on first, so that the delivery of a killed worker becomes due again.
  next_at timestamptz(3) not null default now(),
  last_status smallint,
  last_error text,
  delivered_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, event_id, destination_id),
  foreign key (organization_id, event_id) references alert_events (organization_id, id) on delete cascade,
  foreign key (organization_id, destination_id) references alert_destinations (organization_id, id) on delete cascade
);
create index alert_deliveries_due on alert_deliveries (next_at) where state = 'pending';
create index alert_deliveries_by_destination on alert_deliveries (organization_id, destination_id);

alter table alert_checks enable row level security;

alter table alert_destinations enable row level security;
create policy own_organization on alert_destinations
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select, insert, update, delete on alert_destinations to relay_app;

alter table alert_events enable row level security;
create policy own_organization on alert_events
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on alert_events to relay_app;

alter table alert_deliveries enable row level security;
create policy own_organization on alert_deliveries
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on alert_deliveries to relay_app;
