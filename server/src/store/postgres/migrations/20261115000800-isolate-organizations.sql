-- Row-level security under the role that management works as. Every query names its organization anyway; this is
-- the second lock, for the query that forgets. Migrations, snapshots and the ledger worker stay with the owner of
-- the tables, to whom the policies do not apply.

-- Roles belong to the whole server: several databases may be migrating at once, and only one of them creates it.
do $$
declare
  -- Since version 16 a member may act as a role only where the membership says so, and whoever creates a role
  -- becomes a member without it.
  acting constant text := case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end;
begin
  if not exists (select from pg_roles where rolname = 'relay_app') then
    begin
      create role relay_app nologin noinherit;
    exception
      when duplicate_object or unique_violation then null;
    end;
  end if;
  -- A superuser may act as any role; anybody else has to be a member.
  if not pg_has_role(session_user, 'relay_app', acting) then
    begin
      execute format('grant relay_app to %I', session_user);
    exception
      when unique_violation then null;
    end;
  end if;
exception
  when insufficient_privilege then
    raise exception 'the database user % may neither create the role relay_app nor join it', session_user
      using errcode = 'insufficient_privilege', hint = format(
        'As an administrator of the server run: create role relay_app nologin noinherit; grant relay_app to %I;',
        session_user);
end $$;

-- The organization of the current unit of work; nothing at all when none is set.
create function relay_organization() returns uuid language sql stable parallel safe as
  $$ select nullif(current_setting('relay.organization_id', true), '')::uuid $$;

do $$
declare
  owned text;
begin
  foreach owned in array array[
    'organization_members', 'invitations', 'api_keys', 'providers', 'credentials', 'endpoints', 'lanes',
    'lane_memberships', 'guardrails', 'guardrail_bindings', 'pricing_policies', 'limit_policies',
    'user_limit_policies', 'api_key_limit_policies', 'audit_log', 'idempotency_keys', 'requests', 'request_rollups'
  ] loop
    execute format('alter table %I enable row level security', owned);
    execute format(
      'create policy own_organization on %I using (organization_id = relay_organization()) with check (organization_id = relay_organization())',
      owned);
  end loop;
end $$;

alter table organizations enable row level security;
create policy own_organization on organizations using (id = relay_organization()) with check (id = relay_organization());
-- A person is visible to the organizations they are a member of.
alter table users enable row level security;
create policy own_members on users using (
  exists (select from organization_members m where m.organization_id = relay_organization() and m.user_id = users.id)
);
-- Of no use to any organization: without a policy it is closed to all but its owner.
alter table organization_tombstones enable row level security;

-- No more than management does: members join and people sign up without it, and what a key is made with stays.
grant usage on schema public to relay_app;
grant select, insert, update, delete on
  providers, credentials, endpoints, lanes, lane_memberships, guardrails, guardrail_bindings, pricing_policies,
  limit_policies, user_limit_policies, api_key_limit_policies, idempotency_keys to relay_app;
grant select, delete, update (role, status) on organization_members to relay_app;
grant select, insert, update (revoked_at) on invitations to relay_app;
grant select, insert, update (name, revoked_at, changed_version) on api_keys to relay_app;
grant select, insert on audit_log to relay_app;
grant select on requests, request_rollups to relay_app;
grant select, update (config_version) on organizations to relay_app;
grant select, update (name, marketing_opt_in) on users to relay_app;
grant select, update (version) on config_clock to relay_app;
