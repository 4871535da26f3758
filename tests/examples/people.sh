#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the examples count_over_line.py, dwell_time.py and blur_people.py on OpenCV's video of a street.
#
#   people.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
video=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}/vtest.avi
[[ -e $video ]] || { echo "skipped: no $video (Debian: opencv-doc)"; exit 77; }

# Counted by hand, in slices of the video through the line and in frames around each crossing: five people walk over it
# to the left of the picture, which is the right of the line, and six to the right of the picture. Versions of the
# decoder differ in some pixels, so one more or less is allowed, and the program misses one or two, because it gets every
# second frame; count.sh counts over the same line in all frames.
half="filesrc location=$video ! decodebin ! videorate drop-only=true ! video/x-raw,framerate=5/1"
"$python" "$examples/count_over_line.py" "$half" 400,275 400,480 | tee "$root/count.txt"
[[ $(tail -n 1 "$root/count.txt") =~ ^([0-9]+)' to the right, '([0-9]+)' to the left, seen from 400,275 towards 400,480'$ ]]
right=${BASH_REMATCH[1]} left=${BASH_REMATCH[2]}
((right >= 3 && right <= 6 && left >= 3 && left <= 7))
[[ $(grep -c '^[0-9]*\.[0-9] s: person [0-9]* to the ' "$root/count.txt") == $((right + left)) ]]

"$python" "$examples/dwell_time.py" "filesrc location=$video ! decodebin ! identity eos-after=200" 500,120,268,200 >"$root/zone.txt"
cat "$root/zone.txt"
(($(wc -l <"$root/zone.txt") > 5))
if grep -vE '^person [0-9]+: ([0-9]+\.[0-9] s|until the end), from [0-9]+\.[0-9] s on$' "$root/zone.txt"; then exit 1; fi
awk '{ if ($3 + 0 > longest) longest = $3 + 0 } END { exit !(longest > 3) }' "$root/zone.txt"

# Every pixel that the program changes lies in a box, and most of each box changes. The video is decoded once, because
# two runs of its decoder may differ, with two frames too many, because it may lose the last one on a busy machine.
frames=6
gst-launch-1.0 -q filesrc location="$video" ! decodebin ! identity eos-after=$((frames + 2)) ! videoconvert ! \
  video/x-raw,format=RGBA ! filesink location="$root/plain.rgba"
truncate -s $((frames * 4 * 768 * 576)) "$root/plain.rgba"
source="filesrc location=$root/plain.rgba ! rawvideoparse format=rgba width=768 height=576"
"$python" "$examples/blur_people.py" "$source" "filesink location=$root/blurred.rgba"
# shellcheck disable=SC2086  # the source is words
gst-launch-1.0 -q $source ! cudahog model=people display=false ! cudavisionjson location="$root/boxes.json" ! fakesink
"$python" - "$root" "$frames" <<'END'
import json, sys

root, frames = sys.argv[1], int(sys.argv[2])
plain, blurred = (open(f"{root}/{name}.rgba", "rb").read() for name in ("plain", "blurred"))
lines = [json.loads(line) for line in open(f"{root}/boxes.json")]
size = 4 * lines[0]["width"] * lines[0]["height"]
assert len(plain) == len(blurred) == frames * size and len(lines) == frames, (len(plain), len(blurred), size)
boxes = 0
for number, line in enumerate(lines):
    inside = {(x, y) for box in line.get("regions", [])
              for y in range(max(0, box["y"]), min(line["height"], box["y"] + box["height"]))
              for x in range(max(0, box["x"]), min(line["width"], box["x"] + box["width"]))}
    before, after = (memoryview(data)[number * size:(number + 1) * size].cast("I") for data in (plain, blurred))
    changed = {(at % line["width"], at // line["width"]) for at in range(size // 4) if before[at] != after[at]}
    assert changed <= inside, f"frame {number}: pixels outside of the boxes changed"
    assert 2 * len(changed) >= len(inside), f"frame {number}: {len(changed)} of {len(inside)} pixels changed"
    boxes += len(line.get("regions", []))
print(f"{boxes} people in {frames} frames are not to be recognised")
assert boxes >= frames
END
