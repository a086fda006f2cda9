#!/usr/bin/env bash
# Writes a consistent snapshot of Relay's database to a file. Relay can keep serving.
# usage: DATABASE_URL=postgres://… backup.sh FILE
# Uses DATABASE_DIRECT_URL if it is set, for deployments behind a pooler. Needs a pg_dump at least as new as the server.
set -euo pipefail
file=${1:?usage: backup.sh FILE}
url=${DATABASE_DIRECT_URL:-${DATABASE_URL:?DATABASE_URL is not set}}

# The dump contains key digests and encrypted credentials.
umask 077
# Write to a temporary file and rename it, so that FILE is always complete.
pg_dump --dbname="$url" --format=custom --compress=6 --no-owner --file="$file.partial"
pg_restore --list "$file.partial" >/dev/null
mv "$file.partial" "$file"
printf 'backup of %s tables in %s\n' "$(pg_restore --list "$file" | grep -c ' TABLE DATA ')" "$file"
