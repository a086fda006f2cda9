-- Showback and statistics name what requests used, also after its deletion. Triggers keep the names, because the previous version
-- deletes resources too.
create table former_resources (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  name text not null,
  -- Of an endpoint.
  upstream_model text,
  removed_at timestamptz(3) not null default now(),
  primary key (organization_id, id)
);
alter table former_resources enable row level security;
create policy own_organization on former_resources
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on former_resources to relay_app;

-- Runs as its owner: management may not write these names.
create function keep_former_resource() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- A deleted organization has no history.
  insert into former_resources (organization_id, id, name, upstream_model)
  select organizations.id, old.id, old.name, to_jsonb(old) ->> 'upstream_model' from organizations
  where organizations.id = old.organization_id
  on conflict (organization_id, id) do update set name = excluded.name, upstream_model = excluded.upstream_model;
  return null;
end $$;
-- A trigger needs no such right, and nothing else may call it.
revoke execute on function keep_former_resource() from public;

do $$
declare
  named text;
begin
  foreach named in array array['providers', 'endpoints', 'lanes', 'teams', 'credentials', 'guardrails'] loop
    execute format('create trigger keep_former after delete on %I for each row execute function keep_former_resource()', named);
  end loop;
end $$;
