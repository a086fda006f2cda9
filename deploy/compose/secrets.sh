#!/bin/sh
# secrets.sh: creates the folder `secrets` next to compose.yaml, readable only by its owner. It never overwrites an existing one: without
# its master key, stored provider credentials can't be decrypted.
set -eu
cd "$(dirname "$0")"
umask 077
random() { od -An -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }
password=$(random 24)
mkdir secrets
echo "POSTGRES_PASSWORD=$password" >secrets/postgres.env
cat >secrets/relay.env <<END
DATABASE_URL=postgres://relay:$password@postgres:5432/relay
REDIS_URL=redis://redis:6379
RELAY_API_TOKEN=$(random 24)
RELAY_ADMIN_TOKEN=$(random 24)
RELAY_AUTH_SECRET=$(random 32)
RELAY_MASTER_KEY=$(random 32)
RELAY_METRICS_TOKEN=$(random 24)
END
echo 'wrote secrets/postgres.env and secrets/relay.env'
