#!/bin/sh
# Prints each test case that skipped itself in the last ctest run of a build folder, with its reason, and their number.
#   scripts/list_skips.sh BUILD_FOLDER
set -eu
log=${1:?a build folder}/Testing/Temporary/LastTest.log
if [ ! -f "$log" ]; then
  echo "no test log $log"
  exit 0
fi
awk '
  /^\[ RUN      \]/ { reason = ""; take = 0 }
  /: Skipped$/ { take = 1; next }
  /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ {
    printf "  skipped: %s: %s\n", $4, reason == "" ? "no reason given" : reason
    count++
    take = 0
    next
  }
  take && NF { reason = reason (reason == "" ? "" : " ") $0 }
  END { printf "%d test cases skipped\n", count }
' "$log"
