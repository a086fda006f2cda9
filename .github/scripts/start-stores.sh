#!/usr/bin/env bash
# Starts PostgreSQL and Redis for commands that don't start their own (`npm run faults`), and names PostgreSQL to the next steps.
set -euo pipefail
bin=${RELAY_PG_BIN:-/usr/lib/postgresql/16/bin}
port=54329
folder=$(mktemp -d)
"$bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
"$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w \
  -o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$folder -c fsync=off -c max_connections=300" start
"${RELAY_REDIS_SERVER:-redis-server}" --port 6379 --bind 127.0.0.1 --save '' --daemonize yes --dir "$folder" >/dev/null
echo "TEST_DATABASE_URL=postgres://postgres@127.0.0.1:$port/postgres" >>"$GITHUB_ENV"
