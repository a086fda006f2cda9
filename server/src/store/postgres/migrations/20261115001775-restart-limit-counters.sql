-- A limit that is enabled again, or moved to another scope, metric or period, has missed what was used meanwhile. Its counter gets
-- another number then, so the limits engine starts a new one, from the ledger. `counted_from` is when that happened.
alter table limit_policies
  add column counter integer not null default 0,
  add column counted_from timestamptz(3) not null default now();
alter table user_limit_policies
  add column counter integer not null default 0,
  add column counted_from timestamptz(3) not null default now();
alter table api_key_limit_policies
  add column counter integer not null default 0,
  add column counted_from timestamptz(3) not null default now();

create function restart_counter() returns trigger language plpgsql as $$
begin
  new.counter := old.counter + 1;
  new.counted_from := now();
  return new;
end
$$;

create trigger restart_limit_policies before update on limit_policies for each row
  when ((new.enabled and not old.enabled)
    or (new.metric, new.period, new.scope_type, new.scope_id)
      is distinct from (old.metric, old.period, old.scope_type, old.scope_id))
  execute function restart_counter();
create trigger restart_user_limit_policies before update on user_limit_policies for each row
  when ((new.enabled and not old.enabled)
    or (new.metric, new.period, new.target_type, new.target_id)
      is distinct from (old.metric, old.period, old.target_type, old.target_id))
  execute function restart_counter();
create trigger restart_api_key_limit_policies before update on api_key_limit_policies for each row
  when ((new.enabled and not old.enabled)
    or (new.metric, new.period, new.target_type, new.target_id)
      is distinct from (old.metric, old.period, old.target_type, old.target_id))
  execute function restart_counter();

-- For the worker, which looks at new counters again soon.
create index limit_policies_by_start on limit_policies (counted_from);
create index user_limit_policies_by_start on user_limit_policies (counted_from);
create index api_key_limit_policies_by_start on api_key_limit_policies (counted_from);
