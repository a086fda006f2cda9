-- What was done, by whom. No foreign keys: an entry outlives what it speaks of, the organization included.

create table audit_log (
  organization_id uuid not null,
  -- UUIDv7, so the primary key read backwards is newest first, and is the keyset of the listing.
  id uuid not null,
  actor_type text not null check (actor_type in ('user', 'api_key', 'admin_token', 'system')),
  actor_user_id uuid,
  actor_key_id uuid,
  action text not null check (length(action) between 1 and 100),
  target_type text not null check (length(target_type) between 1 and 100),
  target_id text check (length(target_id) <= 200),
  -- What changed, with secrets redacted before they come here.
  before jsonb,
  after jsonb,
  request_id uuid,
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, id)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger keep_audit_log before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- The answer to a create that a client may send twice. The response can hold a secret that is shown once
-- (a new key), so it is stored sealed and only until it expires.
create table idempotency_keys (
  organization_id uuid not null references organizations (id) on delete cascade,
  -- Who sent it: two callers may choose the same key without seeing one another's answer.
  caller_id text not null check (length(caller_id) between 1 and 100),
  key text not null check (length(key) between 1 and 255),
  method text not null check (length(method) between 1 and 10),
  path text not null check (length(path) between 1 and 2048),
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- Null while the first request is still being served.
  response_status smallint,
  sealed_response bytea,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  primary key (organization_id, caller_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
