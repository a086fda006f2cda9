-- Who there is: organizations, people, their memberships, and the keys they call with.
--
-- Conventions of every table that belongs to an organization: the primary key is (organization_id, id), so
-- that a reference from another table has to carry the organization and a reference across organizations
-- cannot be written; `version` grows with every change a client can see, for ETag.

-- The trigger is declared per table with the list of columns that clients can see change, so that
-- bookkeeping (last_used_at, config_version, a resealed secret) does not look like an edit.
create function touch_row() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  new.version := old.version + 1;
  return new;
end $$;

create table organizations (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  slug text not null unique check (length(slug) between 1 and 100 and slug !~ '[/[:space:]]'),
  plan text not null check (plan ~ '^[a-z][a-z0-9_]{0,49}$'),
  -- The value of config_clock when this organization's configuration last changed.
  config_version bigint not null default 0,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index organizations_by_config_version on organizations (config_version, id);
create trigger touch_organizations before update of name, slug, plan on organizations
  for each row execute function touch_row();

-- A person is not owned by an organization: the same person may be a member of several. What a person is
-- within one organization is a row of organization_members.
create table users (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text not null check (length(email) between 3 and 320),
  status text not null default 'active' check (status in ('active', 'invited', 'suspended')),
  marketing_opt_in boolean not null default false,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index users_by_email on users (lower(email));
create trigger touch_users before update of name, email, status, marketing_opt_in on users
  for each row execute function touch_row();

create table organization_members (
  organization_id uuid not null references organizations (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer', 'billing')),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, user_id)
);
create index organization_members_by_user on organization_members (user_id, organization_id);
create trigger touch_organization_members before update of role on organization_members
  for each row execute function touch_row();

create table invitations (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  email text not null check (length(email) between 3 and 320),
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer', 'billing')),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  invited_by_user_id uuid,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, invited_by_user_id) references organization_members (organization_id, user_id)
    on delete set null (invited_by_user_id),
  check (accepted_at is null or revoked_at is null)
);
create unique index invitations_open_by_email on invitations (organization_id, lower(email))
  where accepted_at is null and revoked_at is null;
create trigger touch_invitations before update of role, expires_at, accepted_at, revoked_at on invitations
  for each row execute function touch_row();

-- A key goes with its owner's membership: no key outlives the right it was made from.
create table api_keys (
  organization_id uuid not null references organizations (id) on delete cascade,
  id uuid not null,
  user_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  public_id text not null unique check (public_id ~ '^[0-9A-Za-z]{10}$'),
  -- HMAC-SHA-256 of the secret under the server's pepper; the secret itself is nowhere.
  secret_hmac bytea not null check (octet_length(secret_hmac) = 32),
  product_key text not null default 'model_relay' check (product_key in ('model_relay')),
  scopes text[] not null check (cardinality(scopes) between 1 and 64 and array_position(scopes, null) is null),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organization_id, id),
  foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on delete cascade
);
create index api_keys_by_user on api_keys (organization_id, user_id, id);
create trigger touch_api_keys before update of name, expires_at, revoked_at on api_keys
  for each row execute function touch_row();
