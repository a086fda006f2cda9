-- Answers kept for repeated creates go once they have expired. Whoever claims a key removes a few of any
-- organization, because an organization that never creates again would keep its own for ever. The function is the
-- only way past row-level security there, and it reaches nothing that is still in force.
create function remove_expired_idempotency_keys(rows_max integer) returns void
  language sql security definer set search_path = public, pg_temp as $$
  delete from idempotency_keys where ctid = any (array(
    select ctid from idempotency_keys where expires_at <= now() order by expires_at
    limit rows_max for update skip locked
  ))
$$;
revoke all on function remove_expired_idempotency_keys(integer) from public;
grant execute on function remove_expired_idempotency_keys(integer) to relay_app;
