#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A portrait video of a phone, whose frames are stored sideways with a tag, gives the same people as the upright one, in
# each program of the examples that plays a video. tests/live/server_test.py does this for cudavision-live.
#
#   upright.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER PROGRAM     PROGRAM: count; PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3 program=$4
tools=$(dirname "${BASH_SOURCE[0]}")
source "$tools/python_plugin.sh"
video=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}/vtest.avi
[[ -e $video ]] || { echo "skipped: no $video (Debian: opencv-doc)"; exit 77; }
mkdir "$root/upright" "$root/portrait"
gst-launch-1.0 -q filesrc location="$video" ! decodebin ! identity eos-after=16 ! videoconvert ! video/x-raw,format=RGB ! tee name=t \
  t. ! queue ! pngenc compression-level=1 ! qtmux ! filesink location="$root/upright/people.mov" \
  t. ! queue ! videoflip video-direction=90l ! pngenc compression-level=1 ! qtmux ! filesink location="$root/portrait/people.mov"
"$python" "$tools/turned_video.py" "$root/portrait/people.mov"

# same NAME COMMAND... VIDEO is the word in the place of the file: both videos print the same, which is not little.
same() {
  local name=$1 which
  shift
  for which in upright portrait; do
    "${@//VIDEO/$root/$which/people.mov}" >"$root/$which/$name.txt" 2>"$root/$which/$name.err"
    if grep image-orientation "$root/$which/$name.err" >&2; then return 1; fi
  done
  diff "$root/upright/$name.txt" "$root/portrait/$name.txt"
  (($(wc -l <"$root/portrait/$name.txt") > 1)) || { echo "little was found: $name" >&2; cat "$root/portrait/$name.txt" >&2; return 1; }
}

source="filesrc location=VIDEO ! decodebin"
people="cudahog model=people display=false ! cudavisiontrack"
cat >"$root/zones.json" <<'END'
{"units": "fraction", "zones": [{"name": "all", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}]}
END
same count "$python" "$examples/count/count.py" "$source" "$root/zones.json" "$root/events.jsonl"
same program "$program" "$source" "$root/zones.json" "$root/events.jsonl"
same dwell "$python" "$examples/first_steps/dwell_time.py" "$source" 0,0,768,576
same flow "$python" "$examples/first_steps/flow.py" "$source"
same lines "$python" "$examples/first_steps/lines.py" "$source"
same movers "$python" "$examples/count_movers.py" "$source"
for which in upright portrait; do
  "$python" "$examples/first_steps/blur_people.py" "${source//VIDEO/$root/$which/people.mov}" "filesink location=$root/$which/blurred"
  "$python" "$examples/batch/batch.py" --elements "$people" --output "$root/$which/results" "$root/$which/people.mov"
  sed 's/"source":"[^"]*"//' "$root/$which/results"/*.jsonl >"$root/$which/people.jsonl"
done
cmp "$root/upright/blurred" "$root/portrait/blurred"
cmp "$root/upright/people.jsonl" "$root/portrait/people.jsonl"
(($(grep -c '"type":"person"' "$root/portrait/people.jsonl") > 10))
