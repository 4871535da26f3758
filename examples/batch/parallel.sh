#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# GNU parallel: one host, N processes, each with one share of the videos, and with one GPU if the host has several.
#
#   parallel.sh N --elements ELEMENTS --output DIR VIDEO|FOLDER|LIST...
#
# A process works on several videos at once (--jobs), which share one CUDA context: one process a GPU is the rule. The
# exit status is 0 if all videos are done, 1 if some are not, 2 after wrong usage, and 3 with --strict after warnings. BATCH: the path of batch.py.
set -euo pipefail
[[ ${1:-} =~ ^[1-9][0-9]*$ && $# -gt 1 ]] || { sed -n '/^#   /s/^# *//p' "$0" >&2; exit 2; }
parallel --version 2>/dev/null | grep '^GNU parallel' >/dev/null ||
  { echo "$0: GNU parallel is missing (Debian: parallel)" >&2; exit 2; }
BATCH=${BATCH:-$(dirname "$(realpath "$0")")/batch.py}
SHARES=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ARGUMENTS=$work/arguments  # a file: parallel would replace braces, and a variable cannot hold thousands of paths

printf '%s\0' "$@" >"$ARGUMENTS"
GPUS=$(nvidia-smi -L 2>/dev/null | wc -l || true)
export BATCH SHARES ARGUMENTS GPUS

share() {
  local arguments
  mapfile -d '' -t arguments <"$ARGUMENTS"
  ((GPUS < 2)) || export CUDA_VISIBLE_DEVICES=$(($1 % GPUS))
  exec "$BATCH" --shard "$1/$SHARES" "${arguments[@]}"
}
export -f share
SHELL=$BASH parallel --jobs "$SHARES" --tag --line-buffer --joblog "$work/log" share '{}' ::: $(seq 0 $((SHARES - 1))) && exit 0
# The exit status is the highest of the shares' statuses; a signal counts as 128 + its number. 3 means that all videos are
# done, some with warnings (--strict), so any other one comes first.
awk 'NR > 1 { status = $8 ? 128 + $8 : $7; if (status == 3) warned = 3; else if (status > worst) worst = status }
     END { exit worst ? worst : warned }' "$work/log"
