-- How gateways learn of changes. Every configuration transaction ends by incrementing the one row of
-- config_clock and writing the value to its organization. The row lock is held to commit, so versions become
-- visible in their order: a gateway that has read version N has missed nothing up to N.

create table config_clock (
  singleton boolean primary key default true check (singleton),
  version bigint not null
);
insert into config_clock (version) values (0);

-- A deleted organization leaves no row to carry a version, and gateways must still hear of it.
create table organization_tombstones (
  organization_id uuid primary key,
  config_version bigint not null,
  created_at timestamptz(3) not null default now()
);
create index organization_tombstones_by_config_version
  on organization_tombstones (config_version, organization_id);

create function bury_organization() returns trigger language plpgsql as $$
declare
  now_version bigint;
begin
  update config_clock set version = version + 1 returning version into now_version;
  insert into organization_tombstones (organization_id, config_version) values (old.id, now_version)
    on conflict (organization_id) do update set config_version = excluded.config_version;
  perform pg_notify('relay_config', old.id::text);
  return old;
end $$;
create trigger bury_organizations after delete on organizations
  for each row execute function bury_organization();
