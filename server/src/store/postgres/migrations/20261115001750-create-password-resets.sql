-- One-time links to set a new password. A row goes when its link is used, when the password or the address changes, and
-- some time after it has expired.
create table password_resets (
  -- SHA-256 of the link's token; the token itself is nowhere.
  token_hash bytea not null primary key check (length(token_hash) = 32),
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index password_resets_by_user on password_resets (user_id, expires_at);
create index password_resets_by_expiry on password_resets (expires_at);

-- Where a user has signed in from: attempts from there are not slowed down by attempts from elsewhere, and a sign-in from
-- anywhere else is worth an alert. Address and browser are stored as HMACs under the session secret.
create table sign_in_origins (
  user_id uuid not null references users (id) on delete cascade,
  address text not null check (length(address) = 43),
  browser text not null check (length(browser) = 43),
  last_used_at timestamptz(3) not null default now(),
  primary key (user_id, address, browser)
);
create index sign_in_origins_by_use on sign_in_origins (user_id, last_used_at);

-- Without a policy: only the owner of the tables sees these rows, never the role that management works as.
alter table password_resets enable row level security;
alter table sign_in_origins enable row level security;
