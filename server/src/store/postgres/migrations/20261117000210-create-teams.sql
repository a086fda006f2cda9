-- Teams, projects and cost centers share budgets. One of them may have a parent, which has none itself.
create table teams (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null,
  slug text not null,
  kind text not null default 'team' check (kind in ('team', 'project', 'cost_center')),
  parent_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  unique (organization_id, slug),
  foreign key (organization_id, parent_id) references teams (organization_id, id) on delete set null (parent_id),
  check (parent_id is distinct from id)
);
create index teams_by_parent on teams (organization_id, parent_id);
create trigger touch_teams before update on teams for each row execute function touch_row();

create table team_limit_policies (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  team_id uuid not null,
  target_type text not null check (target_type in ('global', 'provider', 'model', 'lane')),
  target_id uuid,
  target_provider_id uuid generated always as (case target_type when 'provider' then target_id end) stored,
  target_endpoint_id uuid generated always as (case target_type when 'model' then target_id end) stored,
  target_lane_id uuid generated always as (case target_type when 'lane' then target_id end) stored,
  metric text not null check (metric in ('requests', 'tokens', 'spend', 'concurrency')),
  period text not null check (period in ('second', 'minute', 'hour', 'day', 'week', 'month', 'none')),
  limit_value bigint not null check (limit_value between 0 and 9007199254740991),
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  counter integer not null default 0,
  counted_from timestamptz(3) not null default now(),
  unpriced text not null default 'refuse' check (unpriced in ('refuse', 'allow')),
  enforcement text not null default 'estimate' check (enforcement in ('estimate', 'hard')),
  primary key (organization_id, id),
  unique nulls not distinct (organization_id, team_id, target_type, target_id, metric, period),
  foreign key (organization_id, team_id) references teams (organization_id, id) on delete cascade,
  foreign key (organization_id, target_provider_id) references providers (organization_id, id) on delete cascade,
  foreign key (organization_id, target_endpoint_id) references endpoints (organization_id, id) on delete cascade,
  foreign key (organization_id, target_lane_id) references lanes (organization_id, id) on delete cascade,
  check ((target_type = 'global') = (target_id is null)),
  check ((metric = 'concurrency') = (period = 'none')),
  check (enforcement = 'estimate' or metric = 'tokens' or (metric = 'spend' and unpriced = 'refuse'))
);
create index team_limit_policies_by_target on team_limit_policies (organization_id, target_id);
create index team_limit_policies_by_start on team_limit_policies (counted_from);
create trigger touch_team_limit_policies before update on team_limit_policies
  for each row execute function touch_row();
create trigger restart_team_limit_policies before update on team_limit_policies for each row
  when ((new.enabled and not old.enabled)
    or (new.metric, new.period, new.target_type, new.target_id)
      is distinct from (old.metric, old.period, old.target_type, old.target_id))
  execute function restart_counter();

-- A key without a team is in its owner's.
alter table api_keys
  add column team_id uuid,
  add column labels jsonb not null default '{}',
  add foreign key (organization_id, team_id) references teams (organization_id, id) on delete set null (team_id);
create index api_keys_by_team on api_keys (organization_id, team_id) where team_id is not null;
alter table organization_members
  add column team_id uuid,
  add foreign key (organization_id, team_id) references teams (organization_id, id) on delete set null (team_id);
create index organization_members_by_team on organization_members (organization_id, team_id) where team_id is not null;
drop trigger touch_organization_members on organization_members;
create trigger touch_organization_members before update of role, status, team_id on organization_members
  for each row execute function touch_row();

do $$
declare
  owned text;
begin
  foreach owned in array array['teams', 'team_limit_policies'] loop
    execute format('alter table %I enable row level security', owned);
    execute format(
      'create policy own_organization on %I using (organization_id = relay_organization()) with check (organization_id = relay_organization())',
      owned);
  end loop;
end $$;
grant select, insert, update, delete on teams, team_limit_policies to relay_app;
grant update (team_id) on organization_members to relay_app;
grant update (team_id, labels) on api_keys to relay_app;
