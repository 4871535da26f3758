#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the example batch as an array of Debian's Slurm: a controller and three nodes on this machine. One task is killed
# in its middle, and one node is drained; after a second run of the array the results are those of one process. Needs
# root. tests/run.sh slurm calls it.
#
#   tests/slurm.sh PLUGIN_FOLDER [PYTHON]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
plugins=$(realpath "$1") python=${2:-/usr/bin/python3} examples=$PWD/examples/batch
((EUID == 0)) || { echo "tests/slurm.sh: skipped: only root can run Slurm's daemons for others"; exit 77; }
install_packages slurm-wlm munge python3-gi gir1.2-gstreamer-1.0 gstreamer1.0-tools gstreamer1.0-plugins-good jq

root=$(mktemp -d)
daemons=()
# A daemon that does not end within ten seconds is killed. The tasks of a node end with its slurmd.
stop() {
  local i
  set +e
  scancel --user root 2>/dev/null
  sleep 1
  ((${#daemons[@]})) && kill "${daemons[@]}" 2>/dev/null
  for ((i = 0; i < 100; ++i)); do
    kill -0 "${daemons[@]}" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "${daemons[@]}" 2>/dev/null
  rm -rf "$root"
}
trap stop EXIT
trap 'exit 143' TERM INT
export SLURM_CONF=$root/slurm.conf GST_PLUGIN_PATH_1_0=$plugins GST_REGISTRY_1_0=$root/registry
source tests/examples/batch_tools.sh
source tests/support/slurm_cluster.sh

passed=0 failed=0
check() {
  if "${@:2}"; then passed=$((passed + 1)); echo "  $1"; else failed=$((failed + 1)); echo "  FAILED: $1"; fi
}

mkdir "$root/videos" "$root/bin"
make_videos "$root/videos" 20
ln -s "$python" "$root/bin/python3"
export PATH=$root/bin:$PATH  # of batch.py's first line, here and on the nodes
# Half a second for ten frames: a task takes long enough to be killed in its middle.
elements="cudahistogram display=false ! identity sleep-time=5000"
arguments=(--elements "$elements" "$root/videos")
expect 0 run "${arguments[@]}" --output "$root/one"
check "one process does twenty videos" test "$(count_results "$root/one")" = 20

begin_cluster 3
check "three nodes are idle" test "$(sinfo -h -N -o %T | grep -c idle)" = 3

# submit: prints the number of the job.
submit() {
  BATCH=$examples/batch.py sbatch --parsable --array=0-5 --chdir="$root" --output="$root/log.%A.%a" \
    examples/batch/slurm_array.sh --jobs 1 --output "$root/array" "${arguments[@]}"
}
running() { squeue -h -j "$1" -t running,completing -o '%K %N'; }
ended() { [[ -z $(squeue -h -j "$1" 2>/dev/null) ]]; }
state() { scontrol show job "$1_$2" -o | grep -oE 'JobState=[A-Z]+' | cut -d= -f2; }

echo "== the array, with a killed task and a drained node"
first=$(submit)
wait_for running_parts "$root/array"
part=$(compgen -G "$root/array/.*.part" | head -n 1)
process=$(grep -oE -- '-[0-9]+-[0-9]+\.jsonl\.part$' <<<"$part" | cut -d- -f2)
victim=$(tr '\0' '\n' <"/proc/$process/environ" | sed -n 's/^SLURM_ARRAY_TASK_ID=//p')
echo "task $victim is process $process: killed"
kill -9 "$process"
scontrol update nodename=n2 state=drain reason=test
drained_at=$(running "$first" | awk '$2 == "n2" { print $1 }')
for ((i = 0; i < 900; ++i)); do
  ! ended "$first" || break
  # a drained node ends its task and begins none
  running "$first" | awk -v old="$drained_at" '$2 == "n2" && $1 != old { print "task " $1 " began on n2" }' >>"$root/begun"
  sleep 0.1
done
check "the array has ended" ended "$first"
check "the killed task failed" test "$(state "$first" "$victim")" = FAILED
check "no other task failed" test "$(for t in 0 1 2 3 4 5; do state "$first" $t; done | grep -c COMPLETED)" = 5
check "the node is drained" grep -q drain <(sinfo -h -n n2 -o %T)
check "the drained node began no task" test ! -s "$root/begun"
done_first=$(count_results "$root/array")
check "videos are done ($done_first), and the rest of the killed task is not" test "$done_first" -gt 0 -a "$done_first" -lt 20
partial() { local r; for r in "$root/array"/*.jsonl; do cmp "$r" "$root/one/${r##*/}" || return 1; done; }
check "what is done is complete" partial

echo "== the array again"
second=$(submit)
for ((i = 0; i < 900; ++i)); do ! ended "$second" || break; sleep 0.1; done
check "all tasks completed" test "$(for t in 0 1 2 3 4 5; do state "$second" $t; done | grep -c COMPLETED)" = 6
done_second=$(cat "$root/log.$second".* | sed -nE 's/^([0-9]+) videos done.*/\1/p' | paste -sd+)
check "only what was missing was done" test $((done_first + $((done_second)))) = 20
check "the joined results are those of one process, line for line" same_results "$root/one" "$root/array"
lines=$(cat "$root/array"/*.jsonl | wc -l)
check "$lines lines" test "$lines" = "$(cat "$root/one"/*.jsonl | wc -l)"

echo "== an array with gaps"
gaps=$(BATCH=$examples/batch.py sbatch --parsable --array=0,2 --chdir="$root" --output="$root/gaps.%a" examples/batch/slurm_array.sh)
for ((i = 0; i < 300; ++i)); do ! ended "$gaps" || break; sleep 0.1; done
check "it is refused" grep -q 'the array has gaps' "$root/gaps.0"

((failed == 0)) || { tail -n 5 "$root"/*.log "$root"/log.* >&2; }
echo "$passed passed, $failed failed"
((failed == 0))
