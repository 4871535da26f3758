# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2154  # root is set by the script that sources this
# Sourced by the tests of the example batch, with $python, $examples and $root set.
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
batch=("$python" "$examples/batch.py")

# make_videos FOLDER N: short videos that differ from one another.
make_videos() {
  local i
  for ((i = 1; i <= $2; ++i)); do
    gst-launch-1.0 -q videotestsrc num-buffers=$((10 + 20 * (i - 1))) pattern=ball background-color=$((0xff000000 + i * 4000)) ! \
      video/x-raw,format=I420,width=160,height=120 ! jpegenc ! avimux ! filesink location="$1/made$i.avi"
  done
}

run() { "${batch[@]}" "$@" >"$root/out" 2>"$root/err" </dev/null; }

# expect STATUS COMMAND...: runs the command, whose exit status must be STATUS.
expect() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  [[ $status == "$wanted" ]] || { echo "exit status $status, not $wanted: $*" >&2; cat "$root/out" "$root/err" >&2; return 1; }
}

# says PATTERN [FILE]: the output of the last run, or another file, has the pattern.
says() { grep -qE -- "$1" "${2:-$root/out}" || { echo "not said: $1" >&2; cat "${2:-$root/out}" >&2; return 1; }; }

count_done() { grep -oE '^[0-9]+ videos done' "$root/out" | cut -d' ' -f1; }
count_results() { find "$1" -name '*.made.json' 2>/dev/null | wc -l; }

# only_results FOLDER: no process has left anything, and every result has its record.
only_results() {
  [[ -z $(find "$1" -name '.?*' -not -name . ! -path "$1") ]] || { ls -A "$1" >&2; return 1; }
  local record
  for record in "$1"/*.jsonl; do [[ ! -e $record || -e ${record%.jsonl}.made.json ]] || { echo "no record: $record" >&2; return 1; }; done
}

# same_results FOLDER FOLDER: both folders have the same files with the same bytes.
same_results() {
  only_results "$1" && only_results "$2" && diff -r "$1" "$2" &&
    cmp <(cat "$1"/*.jsonl | sort) <(cat "$2"/*.jsonl | sort)
}

running_parts() { compgen -G "$1/.*.part" >/dev/null; }

# wait_for COMMAND...: until it succeeds, for two minutes at most.
wait_for() {
  local i
  for ((i = 0; i < 1200; ++i)); do
    ! "$@" 2>/dev/null || return 0
    sleep 0.1
  done
  echo "this did not come: $*" >&2
  return 1
}

# use_pypi PACKAGE...: sets $venv to a virtual environment with them and with Debian's packages, or skips the test.
use_pypi() {
  venv=$root/venv
  "$python" -m venv --system-site-packages "$venv" >/dev/null 2>&1 || { echo "skipped: no python3-venv"; exit 77; }
  timeout 240 "$venv/bin/pip" --quiet --disable-pip-version-check --retries 1 --timeout 20 install --upgrade "$@" >"$root/pip" 2>&1 ||
    { echo "skipped: PyPI does not give $*"; tail -n 2 "$root/pip"; exit 77; }
}
