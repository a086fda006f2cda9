-- How people sign in: browser sessions, passwords, linked identities and second factors. Columns that the
-- authentication library reads and writes have the meaning it gives them.

alter table users
  -- Whether somebody vouched for the address: the identity provider, or a self-hosted invitation. An address that a
  -- person merely typed is not proof of being them.
  add column email_verified boolean not null default false,
  add column two_factor_enabled boolean not null default false;

-- Single sign-on asks which organizations wait for an address.
create index invitations_open_by_address on invitations (lower(email))
  where accepted_at is null and revoked_at is null;

-- A session is in one organization at a time and ends with the membership it acts for.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  -- HMAC-SHA-256 of the cookie; the cookie itself is nowhere.
  token text not null unique check (length(token) = 43),
  -- HMAC-SHA-256 of the admin token that opened the session, so that another token ends it. Null for people.
  admin_token_digest text check (length(admin_token_digest) = 43),
  ip_address text check (length(ip_address) <= 100),
  user_agent text check (length(user_agent) <= 500),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  foreign key (organization_id, user_id) references organization_members (organization_id, user_id) on delete cascade
);
create index sessions_by_user on sessions (user_id, id);
create index sessions_by_member on sessions (organization_id, user_id);
create index sessions_by_expiry on sessions (expires_at);
-- Without a policy: only the owner of the tables sees a session, never the role that management works as.
alter table sessions enable row level security;

-- How somebody proves to be a user: `credential` with a password, or `oidc:` and the issuer with the subject there.
create table auth_accounts (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  provider_id text not null check (length(provider_id) between 1 and 2000),
  account_id text not null check (length(account_id) between 1 and 500),
  -- A salted scrypt hash.
  password text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unique (provider_id, account_id),
  check ((provider_id = 'credential') = (password is not null))
);
create index auth_accounts_by_user on auth_accounts (user_id);

-- Secret and backup codes are encrypted under the session secret.
create table auth_two_factors (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  -- False until the first code has shown that the authenticator has the secret.
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  -- The time step of the newest code that was accepted: none is accepted twice.
  last_used_step bigint
);
