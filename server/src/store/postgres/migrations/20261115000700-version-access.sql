-- What a gateway needs to notice when access is taken away.

-- A member can be suspended in one organization without losing the others; `users.status` is the person's own.
alter table organization_members add column status text not null default 'active'
  check (status in ('active', 'suspended'));
drop trigger touch_organization_members on organization_members;
create trigger touch_organization_members before update of role, status on organization_members
  for each row execute function touch_row();

-- The organization's config_version at which the key or one of its budgets last changed. Gateways that hold keys in
-- memory read what changed since the version they know, and nothing else.
alter table api_keys add column changed_version bigint not null default 0;
create index api_keys_by_changed_version on api_keys (organization_id, changed_version);
