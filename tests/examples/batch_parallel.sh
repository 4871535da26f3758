#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests parallel.sh of the example batch: with more arguments than a variable holds, with arguments that a shell would
# change, and its exit status.
#
#   batch_parallel.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
parallel --version 2>/dev/null | grep '^GNU parallel' >/dev/null || { echo "skipped: no GNU parallel (Debian: parallel)"; exit 77; }
mkdir "$root/bin" "$root/videos" "$root/tmp"
export TMPDIR=$root/tmp
ln -s "$python" "$root/bin/python3"
export PATH=$root/bin:$PATH  # the first line of batch.py finds python3 there
batch=("$examples/parallel.sh")

echo "== twelve thousand videos of long names, most of which are missing"
make_videos "$root/videos" 3
folder=$root/$(printf 'long%.0s' {1..10})
mapfile -t missing < <(seq -f "$folder/%.0f.avi" 12000)
expect 1 run 3 --elements "cudahistogram display=false" --output "$root/results" "$root/videos"/*.avi "${missing[@]}"
[[ $(count_results "$root/results") == 3 && $(grep -c 'failed: .*No such file' "$root/out") == 12000 ]]

echo "== arguments arrive as they are"
cat >"$root/record" <<'END'
#!/bin/bash
printf '%s\0' "$@" >"$RECORDS/${2%/*}"
[[ ${2%/*} == 1 ]] && exit "$WORST"
exit "${OTHER:-0}"
END
chmod +x "$root/record"
export BATCH=$root/record RECORDS=$root/records
mkdir "$RECORDS"
odd=('{}' '{#} {.}' "a'b" 'a"b' ' ' '' $'new\nline' $'no\xffutf8' '$HOME `id`' '*' '\' '-x' ':::')
for status in 0 1 2 3; do
  WORST=$status expect "$status" run 2 "${odd[@]}"
done
OTHER=3 WORST=1 expect 1 run 2 "${odd[@]}"  # not all videos are done, which is worse than warnings
for share in 0 1; do printf '%s\0' --shard "$share/2" "${odd[@]}" | cmp - "$RECORDS/$share"; done
expect 2 run
expect 2 run 3
expect 2 run none --elements x
[[ -z $(ls -A "$TMPDIR") ]]
echo "parallel holds"
