#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a new user tries in the first half hour: a camera, pictures of every element at three sizes, JSON, and Python.
# Run by meson, or by hand to look at the pictures.
#
#   first_half_hour.sh PYTHON SOURCE_FOLDER TRAIN_HOG PLUGIN_FOLDER [PICTURES]     PYTHON: `missing` skips
#
# PICTURES: the folder that keeps the pictures; default: a temporary one.
set -euo pipefail
python=$1 source=$2 train_hog=$3 plugins=$4 pictures=${5:-}
[[ $python != missing ]] || { echo "skipped: no introspection, no train_hog, or a library with sanitizers"; exit 77; }
data=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}
[[ -e $data/vtest.avi ]] || { echo "skipped: $data/vtest.avi is missing (Debian: opencv-doc)"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
pictures=${pictures:-$root}
mkdir -p "$pictures"
export GST_PLUGIN_PATH_1_0=$plugins GST_REGISTRY_1_0=$root/registry
export GI_TYPELIB_PATH=$plugins/../meta LD_LIBRARY_PATH=$plugins/../meta
video="filesrc location=$data/vtest.avi ! decodebin ! identity eos-after=5 ! videoconvert"

echo "== a live source"
gst-launch-1.0 -q videotestsrc is-live=true num-buffers=45 ! video/x-raw,width=1280,height=720,framerate=30/1 ! queue ! \
  cudaopticalflow ! cudavisionjson location="$root/live.jsonl" ! fakesink sync=true qos=true max-lateness=20000000
echo "  $(wc -l <"$root/live.jsonl") of 45 frames in time"

"$train_hog" --people "$root/people.yml" >/dev/null
echo "== pictures"
# without cudabgsub: next to nothing has moved by the third frame
# without cudacameracheck: it draws nothing while the camera is all right
# without cudavisionjson: it draws nothing
# without cudavisiontrack: it draws nothing
# without cudavisionredact: it hides the whole picture
# without cudavisionzones: it draws nothing
# without cudavisionoverlay: it draws what the others draw
elements=(identity cudacanny "cudacanny output=overlay" cudahistogram "cudahistogram mode=channels" cudalocalhist
  "cudalocalhist reduce=entropy" cudahough "cudahough mode=segments" cudaopticalflow "cudaopticalflow display-mode=arrows"
  cudasigma2kp cudahog "cudahog model-location=$root/people.yml"
  "cudarectify view=plane corners=0.3,0.2,0.7,0.2,0.9,0.9,0.1,0.9"
  "cudainpaint region-x=60 region-y=60 region-width=40 region-height=40 patch-size=5 search-radius=40 max-patches=200")
for size in 320x240 1920x1080 3840x2160; do
  for element in "${elements[@]}"; do
    name=$(basename "${element//[ =]/_}" .yml)
    # shellcheck disable=SC2086  # the words of the pipelines
    gst-launch-1.0 -q ${video/eos-after=5/eos-after=3} ! videoscale ! video/x-raw,width=${size%x*},height=${size#*x} ! $element ! \
      videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=1 ! multifilesink location="$root/frame.%d.png"
    mv "$(ls "$root"/frame.*.png | tail -n 1)" "$pictures/${name:0:40}.$size.png"
    rm -f "$root"/frame.*.png
  done
done
# All pictures of a size differ: each element draws something. At 320x240, people are too small to be found.
for size in 320x240 1920x1080 3840x2160; do
  different=$(md5sum "$pictures"/*."$size".png | cut -d' ' -f1 | sort -u | wc -l)
  ((different == ${#elements[@]} || (different == ${#elements[@]} - 1 && ${size%x*} == 320))) ||
    { echo "$size: $different different pictures of ${#elements[@]}"; exit 1; }
done

echo "== JSON"
# shellcheck disable=SC2086
gst-launch-1.0 -q $video ! cudahough ! cudasigma2kp ! cudaopticalflow ! cudahistogram ! \
  cudahog model-location="$root/people.yml" ! cudavisionjson location="$root/lines.jsonl" ! fakesink
(($(wc -l <"$root/lines.jsonl") >= 4))  # the decoder may lose the frame at the end
"$python" - "$source/gst/visionjson/cudavisionjson.schema.json" "$root/lines.jsonl" <<'END'
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
for line in open(sys.argv[2]):
    jsonschema.validate(json.loads(line), schema)
END
jq -e -s 'length >= 4 and all(.[]; .lines | length > 0) and (.[3].tensors | map(.id) | contains(["optical-flow"]))' "$root/lines.jsonl"

echo "== Python"
cd "$source/examples/first_steps"
export PYTHONDONTWRITEBYTECODE=1
"$python" lines.py "$video" | tee "$root/lines.txt"
"$python" keypoints.py "$video" | tee "$root/keypoints.txt"
"$python" flow.py "$video" | tee "$root/flow.txt"
"$python" boxes.py "$video" "$root/people.yml" | tee "$root/boxes.txt"
for program in lines keypoints flow boxes; do grep -q '^frame 3: ' "$root/$program.txt"; done
if "$python" lines.py "filesrc location=/nowhere ! decodebin" 2>"$root/error.txt"; then exit 1; fi
grep -q . "$root/error.txt"
