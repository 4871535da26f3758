#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A reader of cudavisionjson's lines that goes, as head does, ends the pipeline with an error, and not with a signal.
set -uo pipefail
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# reads COUNT ELEMENT...: the pipeline, of whose lines head reads so many, ends with an error.
reads() {
  local count=$1 codes
  shift
  gst-launch-1.0 -q "$@" 2>"$root/error" | head -n "$count" >"$root/lines"
  codes=${PIPESTATUS[*]}
  [[ $codes == "1 0" ]] || { echo "exit codes $codes: $*" >&2; cat "$root/error" >&2; exit 1; }
  grep -q "Could not write to the standard output: Broken pipe" "$root/error" ||
    { echo "no error text: $*" >&2; cat "$root/error" >&2; exit 1; }
  [[ $(wc -l <"$root/lines") == "$count" ]] || { echo "not $count lines: $*" >&2; exit 1; }
}

small=video/x-raw,width=64,height=48
reads 2 videotestsrc num-buffers=500 ! $small ! cudahistogram ! cudavisionjson ! fakesink
reads 2 videotestsrc num-buffers=500 ! $small ! cudahistogram ! queue ! cudavisionjson ! fakesink
# A line that is longer than a pipe holds, and a source without an end.
reads 1 videotestsrc ! $small ! cudalocalhist display=false ! cudavisionjson tensor-data=full ! fakesink
# The other branch, and a live source.
reads 2 videotestsrc is-live=true ! $small ! cudahistogram ! tee name=t t. ! queue ! cudavisionjson ! fakesink t. ! queue ! fakesink
