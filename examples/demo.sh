#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the elements on a real video: installs missing packages, builds, runs, and lists the written files.
#
#   examples/demo.sh [VIDEO]             default: vtest.avi of Debian's package opencv-doc
#   examples/demo.sh --live [SOURCE...]  shows the elements and their properties in the browser instead (examples/live)
#
# Works from a fresh clone on Debian 12 and newer, as root or with sudo, with and without CUDA. Later runs are quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
export PATH="$PATH:/usr/local/cuda/bin"

install_packages "${packages_to_build[@]}" "${packages_to_play[@]}"
live=
if [[ ${1:-} == --live ]]; then
  live=yes
  shift
  install_packages "${packages_to_live[@]}"
  (($#)) || set -- "$(test_data)/vtest.avi"
else
  video=${1:-$(test_data)/vtest.avi}
  [[ -r $video ]] || { echo "$video: no such video" >&2; exit 1; }
  video=$(realpath "$video")
fi

echo "Building (the first time takes a few minutes where there is an nvcc)"
archs=$(native_archs)  # none: for all cards
build_in build -Dtests=disabled -Dbenchmarks=disabled ${archs:+-Dcuda-archs="$archs"}

export GST_PLUGIN_PATH_1_0=$PWD/build/gst/plugin
if [[ $live ]]; then
  export GI_TYPELIB_PATH=$PWD/build/gst/meta LD_LIBRARY_PATH=$PWD/build/gst/meta PYTHONPATH=$PWD/gst/meta/python
  echo "Open this address in a browser on this machine, or with ssh -L as examples/live/README.md says. Ctrl+C ends it."
  exec /usr/bin/python3 examples/live/live.py "$@"
fi

source examples/one_file.sh
out=$PWD/build/demo
mkdir -p "$out"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# show NAME ELEMENT...: writes the processed video as NAME.webm and its last frame at a multiple of 20 s as NAME.png.
show() {
  local name=$1; shift
  echo
  echo "$name: $*"
  local began=$SECONDS
  gst-launch-1.0 -m -v filesrc location="$video" ! decodebin ! videoconvert ! videoflip video-direction=auto ! \
    progressreport silent=false update-freq=5 ! "$@" ! tee name=t ! queue ! videoconvert ! vp8enc deadline=1 cpu-used=8 threads=4 target-bitrate=4000000 ! webmmux ! \
    filesink location="$out/$name.webm" \
    t. ! queue ! videorate ! 'video/x-raw,framerate=1/20' ! videoconvert ! pngenc ! multifilesink location="$out/$name.png" \
    >"$log" 2>&1 &
  local player=$!
  tail -f --pid="$player" "$log" | grep --line-buffered -oE '[0-9]+ / [0-9]+ seconds \([ 0-9.]+%\)' || true
  wait "$player" || { cat "$log" >&2; return 1; }
  local frames backend
  frames=$(grep -c '(element).*timestamp' "$log") || true
  backend=$(grep -oE 'active-backend = [a-z]+' "$log" | head -n 1 | cut -d' ' -f3)
  echo "  $frames frames on the $backend backend in $((SECONDS - began)) s, coding included"
  echo "  $out/$name.webm"
  echo "  $out/$name.png"
}

show canny-edges cudacanny low-threshold=100 high-threshold=200 post-messages=true
show canny-overlay cudacanny low-threshold=100 high-threshold=200 output=overlay color=lime post-messages=true
show lines cudahough mode=segments low-threshold=100 high-threshold=200 threshold=60 color=lime post-messages=true
show histogram cudahistogram mode=channels post-messages=true
show local-gradients cudalocalhist window-width=8 window-height=8 post-messages=true
show flow-wheel cudaopticalflow preset=medium post-messages=true
show flow-arrows cudaopticalflow preset=fast display-mode=arrows post-messages=true
show keypoints cudasigma2kp orientation=true window=7 cell=8 tau=3.9 min-distance=8 color=lime post-messages=true
show orientations cudahog post-messages=true
show from-above cudarectify view=plane corners="0.3,0.25 0.8,0.25 1.2,0.8 -0.1,0.8" post-messages=true
# without cudacameracheck: nothing is wrong with this camera
show motion cudabgsub ! cudavisiontrack type=motion ! cudavisionoverlay post-messages=true
# People are searched where something moves: faster, and with fewer wrong boxes.
people=(cudabgsub scale=1/2 learning-rate=0.001 display=false !
  cudahog model=people roi-type=motion hit-threshold=-0.3 display=false ! cudavisiontrack type=person)
show counted "${people[@]}" ! \
  cudavisionzones zones='{"units":"fraction","lines":[{"name":"middle","from":[0.5,0],"to":[0.5,1]}]}' ! \
  cudavisionoverlay hide=motion post-messages=true
show hidden "${people[@]}" ! cudavisionredact mode=pixelate dilate=12 look-back-time=1000000000 post-messages=true
show people "${people[@]}" ! cudavisionoverlay hide=motion post-messages=true
# Erases what moves and the people that the detector finds. A missed person stays visible and a false detection does no
# harm; hence the low threshold.
show inpainted cudabgsub display=false ! cudahog model=people display=false hit-threshold=-0.6 group-threshold=1 ! \
  cudainpaint "remove-type=*" mode=temporal dilate=8 search-radius=80 post-messages=true

echo
echo "histogram.jsonl: cudahistogram display=false ! cudavisionjson"
gst-launch-1.0 -q filesrc location="$video" ! decodebin ! videoconvert ! cudahistogram bins=8 display=false ! \
  cudavisionjson location="$out/histogram.jsonl" tensor-data=full ! fakesink
head -n 1 "$out/histogram.jsonl" | cut -c 1-110
echo "  $(wc -l <"$out/histogram.jsonl") lines in $out/histogram.jsonl"
