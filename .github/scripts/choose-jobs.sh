#!/usr/bin/env bash
# choose-jobs.sh MACHINES [BASE]: what the machines of ci.yml run, as a JSON matrix. A change of documents alone since BASE runs
# the checks of documents; everything else runs all jobs of `.ci/run`, dealt out in the order of `--list` (the longest first).
set -euo pipefail
machines=$1
base=${2:-}
of_documents=check,site

only_documents() {
  local changed
  changed=$(git diff --name-only "$base"...HEAD)
  [ -n "$changed" ] && ! grep -qvE '\.md$|^docs/|^changes/|^\.github/ISSUE_TEMPLATE/' <<<"$changed"
}

if [ -n "$base" ] && only_documents; then
  printf '[{"machine":"documents","jobs":"%s"}]\n' "$of_documents"
  exit
fi
bash .ci/run --list | awk -v machines="$machines" '
  { machine = (NR - 1) % machines; jobs[machine] = jobs[machine] (jobs[machine] == "" ? "" : ",") $1 }
  END {
    if (NR == 0) exit 1
    for (machine = 0; machine < machines; machine++)
      if (machine in jobs) list = list (list == "" ? "" : ",") "{\"machine\":\"" machine + 1 " of " machines "\",\"jobs\":\"" jobs[machine] "\"}"
    print "[" list "]"
  }'
