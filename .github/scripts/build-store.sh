#!/usr/bin/env bash
# build-store.sh URL SHA256: builds Redis or Valkey from its source, and names the server to the next steps. Ubuntu has one version of each.
set -euo pipefail
url=$1
sha256=$2
folder=$(mktemp -d)
curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$folder/source.tar.gz" "$url"
echo "$sha256  $folder/source.tar.gz" | sha256sum --check
tar --extract --gzip --file "$folder/source.tar.gz" --directory "$folder" --strip-components=1
make --directory "$folder" --jobs="$(nproc)" BUILD_TLS=yes >"$folder/log" 2>&1 || { tail -n 50 "$folder/log"; exit 1; }
server=$(find "$folder/src" -maxdepth 1 -name '*-server' -type f -perm -u+x | head -n 1)
"$server" --version
echo "RELAY_REDIS_SERVER=$server" >>"$GITHUB_ENV"
