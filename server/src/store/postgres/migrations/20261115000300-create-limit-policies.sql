-- What is allowed: limits on resources, on members and on keys. limit_value stays below 2^53, so that every
-- number survives JSON. A policy goes with what it limits.

create table limit_policies (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  scope_type text not null check (scope_type in ('global', 'provider', 'credential', 'endpoint', 'lane')),
  scope_id uuid,
  scope_provider_id uuid generated always as (case scope_type when 'provider' then scope_id end) stored,
  scope_credential_id uuid generated always as (case scope_type when 'credential' then scope_id end) stored,
  scope_endpoint_id uuid generated always as (case scope_type when 'endpoint' then scope_id end) stored,
  scope_lane_id uuid generated always as (case scope_type when 'lane' then scope_id end) stored,
  metric text not null check (metric in ('requests', 'tokens', 'spend', 'concurrency')),
  period text not null check (period in ('second', 'minute', 'hour', 'day', 'month', 'none')),
  limit_value bigint not null check (limit_value between 0 and 9007199254740991),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, scope_provider_id) references providers (organization_id, id) on delete cascade,
  foreign key (organization_id, scope_credential_id) references credentials (organization_id, id) on delete cascade,
  foreign key (organization_id, scope_endpoint_id) references endpoints (organization_id, id) on delete cascade,
  foreign key (organization_id, scope_lane_id) references lanes (organization_id, id) on delete cascade,
  check ((scope_type = 'global') = (scope_id is null)),
  check ((metric = 'concurrency') = (period = 'none'))
);
create index limit_policies_by_scope on limit_policies (organization_id, scope_id);
create trigger touch_limit_policies before update on limit_policies for each row execute function touch_row();

create table user_limit_policies (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  user_id uuid not null,
  target_type text not null check (target_type in ('global', 'provider', 'model', 'lane')),
  target_id uuid,
  target_provider_id uuid generated always as (case target_type when 'provider' then target_id end) stored,
  target_endpoint_id uuid generated always as (case target_type when 'model' then target_id end) stored,
  target_lane_id uuid generated always as (case target_type when 'lane' then target_id end) stored,
  metric text not null check (metric in ('requests', 'tokens', 'spend', 'concurrency')),
  period text not null check (period in ('second', 'minute', 'hour', 'day', 'month', 'none')),
  limit_value bigint not null check (limit_value between 0 and 9007199254740991),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique nulls not distinct (organization_id, user_id, target_type, target_id, metric, period),
  foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on delete cascade,
  foreign key (organization_id, target_provider_id) references providers (organization_id, id) on delete cascade,
  foreign key (organization_id, target_endpoint_id) references endpoints (organization_id, id) on delete cascade,
  foreign key (organization_id, target_lane_id) references lanes (organization_id, id) on delete cascade,
  check ((target_type = 'global') = (target_id is null)),
  check ((metric = 'concurrency') = (period = 'none'))
);
create index user_limit_policies_by_target on user_limit_policies (organization_id, target_id);
create trigger touch_user_limit_policies before update on user_limit_policies
  for each row execute function touch_row();

create table api_key_limit_policies (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  api_key_id uuid not null,
  target_type text not null check (target_type in ('global', 'provider', 'model', 'lane')),
  target_id uuid,
  target_provider_id uuid generated always as (case target_type when 'provider' then target_id end) stored,
  target_endpoint_id uuid generated always as (case target_type when 'model' then target_id end) stored,
  target_lane_id uuid generated always as (case target_type when 'lane' then target_id end) stored,
  metric text not null check (metric in ('requests', 'tokens', 'spend', 'concurrency')),
  period text not null check (period in ('second', 'minute', 'hour', 'day', 'month', 'none')),
  limit_value bigint not null check (limit_value between 0 and 9007199254740991),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique nulls not distinct (organization_id, api_key_id, target_type, target_id, metric, period),
  foreign key (organization_id, api_key_id) references api_keys (organization_id, id) on delete cascade,
  foreign key (organization_id, target_provider_id) references providers (organization_id, id) on delete cascade,
  foreign key (organization_id, target_endpoint_id) references endpoints (organization_id, id) on delete cascade,
  foreign key (organization_id, target_lane_id) references lanes (organization_id, id) on delete cascade,
  check ((target_type = 'global') = (target_id is null)),
  check ((metric = 'concurrency') = (period = 'none'))
);
create index api_key_limit_policies_by_target on api_key_limit_policies (organization_id, target_id);
create trigger touch_api_key_limit_policies before update on api_key_limit_policies
  for each row execute function touch_row();
