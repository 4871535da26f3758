#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two interrupts (Ctrl-C) end gst-launch-1.0 while cudavisionjson waits for a reader that does not read. gst-launch-1.0
# prints at an interrupt, so it needs the lock of its standard output.
set -uo pipefail
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkfifo "$root/output"
exec 3<>"$root/output"  # holds both ends, and reads nothing

# Each line takes most of a page of the pipe, which leaves room for the texts of gst-launch-1.0.
long=$(printf 'A%.0s' {1..3000})

# stops ELEMENT...: the pipeline, whose lines finally wait for the reader, stops.
stops() {
  gst-launch-1.0 -e videotestsrc ! video/x-raw,width=64,height=48 ! "$@" 2>"$root/error" >&3 &
  local launch=$!
  sleep 2
  kill -INT $launch  # the end of the stream cannot come, because a line waits
  sleep 1
  kill -INT $launch
  for ((i = 0; i < 300; ++i)); do
    kill -0 $launch 2>/dev/null || return 0
    sleep 0.1
  done
  echo "still there after two interrupts: $*" >&2
  cat "$root/error" >&2
  kill -KILL $launch
  exit 1
}

stops cudavisionjson source="$long" ! fakesink
