#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the examples count.py and count.cpp on OpenCV's video of a street: both count the same, as was counted by hand.
#
#   count.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER PROGRAM     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3 program=$4
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
video=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}/vtest.avi
[[ -e $video ]] || { echo "skipped: no $video (Debian: opencv-doc)"; exit 77; }
source="filesrc location=$video ! decodebin"

# People who cross the path, counted by hand in slices of the video through the line, by direction in the picture: five
# to the left, six to the right. Versions of the decoder differ in some pixels, so one more or less is allowed.
"$python" "$examples/count/count.py" "$source" "$examples/count/street.json" "$root/events.jsonl" | tee "$root/minutes.csv"
sum() { awk -F, -v direction="to the $1 of the picture" '$2 == "path" && $3 == direction { n += $4 } END { print n + 0 }' "$root/minutes.csv"; }
left=$(sum left) right=$(sum right)
((left >= 4 && left <= 6 && right >= 5 && right <= 7))
head -n 1 "$root/minutes.csv" | grep -qx 'minute,name,direction,count'
[[ $(grep -o '"event":"cross"' "$root/events.jsonl" | wc -l) == $((left + right)) ]]
if grep -v '"event":' "$root/events.jsonl"; then exit 1; fi

# Two decoders of a video may differ, so both programs read decoded frames.
gst-launch-1.0 -q filesrc location="$video" ! decodebin ! identity eos-after=152 ! videoconvert ! video/x-raw,format=I420 ! \
  filesink location="$root/plain.i420"
truncate -s $((150 * 768 * 576 * 3 / 2)) "$root/plain.i420"
source="filesrc location=$root/plain.i420 ! rawvideoparse format=i420 width=768 height=576 framerate=10/1"
"$python" "$examples/count/count.py" "$source" "$examples/count/street.json" "$root/python.jsonl" >"$root/python.csv"
"$program" "$source" "$examples/count/street.json" "$root/program.jsonl" >"$root/program.csv"
cmp "$root/python.csv" "$root/program.csv"
cmp "$root/python.jsonl" "$root/program.jsonl"
(($(wc -l <"$root/program.csv") > 2))

# A bad file is refused with its line.
echo '{"lines": 7}' >"$root/bad.json"
if "$program" "$source" "$root/bad.json" "$root/none.jsonl" 2>"$root/error.txt"; then exit 1; fi
grep "line 1: 'lines' of the plan is no list" "$root/error.txt"
# A missing video is named.
if "$program" "filesrc location=$root/no.avi ! decodebin" "$examples/count/street.json" "$root/none.jsonl" 2>"$root/error.txt"; then exit 1; fi
grep "$root/no.avi" "$root/error.txt"
# A line that can count nothing is told once, by both programs alike.
source="videotestsrc num-buffers=3 ! video/x-raw,width=160,height=160"
echo '{"lines": [{"name": "far", "from": [5000, 0], "to": [5000, 9]}]}' >"$root/far.json"
"$python" "$examples/count/count.py" "$source" "$root/far.json" "$root/none.jsonl" 2>"$root/python.err" >"$root/none.csv"
"$program" "$source" "$root/far.json" "$root/none.jsonl" 2>"$root/program.err" >"$root/none.csv"
grep -qx "warning: zones: The line 'far' counts nothing: it lies outside of the frame, which has 160x160 pixels" "$root/program.err"
cmp "$root/python.err" "$root/program.err"
