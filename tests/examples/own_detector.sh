#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example own_detector.py on OpenCV's video of a street: boxes of OpenCV's detector on every third frame,
# predictions on the others, the same ids on both, and drawn boxes.
#
#   own_detector.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
video=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}/vtest.avi
[[ -e $video ]] || { echo "skipped: no $video (Debian: opencv-doc)"; exit 77; }
"$python" -c 'import cv2' 2>/dev/null || { echo "skipped: no python3-opencv"; exit 77; }

source="filesrc location=$video ! decodebin ! identity eos-after=20"
"$python" "$examples/own_detector.py" "$source" \
  "tee name=t ! queue ! cudavisionjson location=$root/boxes.json ! fakesink  t. ! queue ! filesink location=$root/drawn.bgr"
"$python" - "$root" <<'END'
import json, sys

# The decoder may return a frame of the end of the video as the last one, so only 18 lines are read.
lines = [json.loads(line) for line in open(f"{sys.argv[1]}/boxes.json")][:18]
assert len(lines) == 18, len(lines)
seen, predicted = set(), set()
for line in lines:
    looked = line["frame"] % 3 == 0
    assert line["regions"], f"frame {line['frame']} has no boxes"
    for region in line["regions"]:
        tracking = region.get("params", {}).get("tracking", {})
        assert tracking.get("predicted", False) == (not looked), line
        assert (region["score"] is not None) == looked, line
        if tracking:
            (seen if looked else predicted).add(tracking["id"])
assert predicted and predicted <= seen, (predicted, seen)
# The boxes are drawn, in the colours of their tracks.
size = 3 * 768 * 576
with open(f"{sys.argv[1]}/drawn.bgr", "rb") as drawn:
    frames = [drawn.read(size) for _ in lines]
line = lines[-1]
region = next(r for r in line["regions"] if 0 <= r["x"] and 0 <= r["y"])
at = 3 * ((region["y"] + region["height"] // 2) * 768 + region["x"])
colour = frames[-1][at:at + 3]
assert max(colour) - min(colour) > 60, f"no box at {region}: {colour.hex()}"
print(f"{len(seen)} people, {len(predicted)} of them between the frames of the detector")
END

# An error of the pipeline reaches the user.
! "$python" "$examples/own_detector.py" "videotestsrc num-buffers=3 ! identity error-after=1" fakesink >/dev/null 2>"$root/error.txt"
grep -q . "$root/error.txt"
