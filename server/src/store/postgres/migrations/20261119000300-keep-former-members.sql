-- What a removed member leaves behind: a name for the organization's history, and revoked keys in its list. A trigger does it,
-- because the previous version removes members too.
create table former_members (
  organization_id uuid not null references organizations (id) on delete cascade,
  user_id uuid not null,
  name text not null,
  removed_at timestamptz(3) not null default now(),
  primary key (organization_id, user_id)
);
alter table former_members enable row level security;
create policy own_organization on former_members
  using (organization_id = relay_organization()) with check (organization_id = relay_organization());
grant select on former_members to relay_app;

-- The key that this replaces has checked the rows that exist.
alter table api_keys
  drop constraint api_keys_organization_id_user_id_fkey,
  add foreign key (user_id) references users (id) on delete cascade not valid;

-- A key is still made for a member of its own organization. Checked at commit, because tables are moved in any order; the revoked keys
-- of former members may be moved too.
create function require_key_owner() returns trigger language plpgsql as $$
begin
  if not exists (
    select from organization_members where organization_id = new.organization_id and user_id = new.user_id
  ) then
    raise exception 'the owner of a key must be a member of its organization' using errcode = 'foreign_key_violation';
  end if;
  return new;
end $$;
create constraint trigger require_key_owner after insert on api_keys deferrable initially deferred
  for each row when (new.revoked_at is null) execute function require_key_owner();

-- Runs as its owner: management may neither write names of former members nor see people who are not members.
create function keep_former_member() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update api_keys set revoked_at = now()
  where organization_id = old.organization_id and user_id = old.user_id and revoked_at is null;
  -- A deleted organization has no history.
  insert into former_members (organization_id, user_id, name)
  select organizations.id, users.id, users.name from organizations, users
  where organizations.id = old.organization_id and users.id = old.user_id
  on conflict (organization_id, user_id) do update set name = excluded.name, removed_at = excluded.removed_at;
  return null;
end $$;
-- A trigger needs no such right, and nothing else may call it.
revoke execute on function keep_former_member() from public;
create trigger keep_former_member after delete on organization_members
  for each row execute function keep_former_member();

-- The admin token of a self-hosted deployment acts through this row, which is not a person: an earlier version could remove,
-- suspend or demote it, which broke the token in half.
update organization_members set role = 'owner', status = 'active'
where user_id = '00000000-0000-7000-8000-000000000002' and (role, status) is distinct from ('owner', 'active');

create function keep_deployment_member() returns trigger language plpgsql as $$
begin
  if exists (select from organizations where id = old.organization_id) then
    raise exception 'the member that the admin token acts through cannot be changed';
  end if;
  return old;
end $$;
create trigger keep_deployment_member before delete on organization_members
  for each row when (old.user_id = '00000000-0000-7000-8000-000000000002')
  execute function keep_deployment_member();
create trigger keep_deployment_member_active before update of role, status on organization_members
  for each row when (old.user_id = '00000000-0000-7000-8000-000000000002' and (new.role <> 'owner' or new.status <> 'active'))
  execute function keep_deployment_member();
