-- Proof that a process has the deployment's secrets, without the secrets. The row of a master key has a random check key, sealed under it;
-- the other rows are digests keyed with that check key, so that who steals this table cannot test guesses of a token.
create table secret_checks (
  name text not null,
  check_id text not null,
  sealed_check_key bytea,
  -- The value that processes use now; the others are earlier ones that they must still accept.
  active boolean not null,
  -- Since when this value is the active one; null when it was before Relay recorded it.
  since timestamptz(3),
  primary key (name, check_id),
  check ((name = 'RELAY_MASTER_KEY') = (sealed_check_key is not null))
);
create unique index secret_checks_active on secret_checks (name) where active;

-- Which secrets each running process accepts and uses. A process that stopped saying so is gone.
create table live_processes (
  id text primary key,
  role text not null,
  host text not null,
  secrets jsonb not null,
  seen_at timestamptz(3) not null default now()
);
