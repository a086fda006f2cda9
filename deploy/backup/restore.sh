#!/usr/bin/env bash
# Restores the output of backup.sh into an empty database: everything or nothing.
# usage: DATABASE_URL=postgres://… restore.sh FILE
# The user in DATABASE_URL will own the tables, so use the one that Relay uses. Don't start Relay on this database before the restore.
set -euo pipefail
file=${1:?usage: restore.sh FILE}
url=${DATABASE_DIRECT_URL:-${DATABASE_URL:?DATABASE_URL is not set}}
run() { psql --dbname="$url" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 "$@"; }

if [ "$(run --command="select to_regclass('schema_migrations') is not null")" = t ]; then
  printf 'the database is not empty: restore into a new one\n' >&2
  exit 1
fi
# A dump doesn't contain roles. Relay switches to this one to limit queries to one organization.
run --command="do \$\$ begin
  if not exists (select from pg_roles where rolname = 'relay_app') then create role relay_app nologin noinherit; end if;
end \$\$"
# From PostgreSQL 16 on, creating a role doesn't include the right to switch to it.
right=$(run --command="select case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end")
if [ "$(run --command="select pg_has_role(current_user, 'relay_app', '$right')")" = f ]; then
  run --command='do $$ begin execute format($f$grant relay_app to %I$f$, current_user); end $$'
fi
pg_restore --dbname="$url" --no-owner --exit-on-error --single-transaction "$file"
run --command='analyze'
printf 'restored %s ledger rows\n' "$(run --command='select count(*) from requests')"
