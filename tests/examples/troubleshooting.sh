#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Provokes the errors that the cookbook explains: each is printed as the page quotes it.
#
#   troubleshooting.sh SANITIZER PAGE PLUGIN_FOLDER     SANITIZER: all but `none` skip
set -euo pipefail
sanitizer=$1 page=$2 plugins=$3
[[ $sanitizer == none ]] || { echo "skipped: a plugin with sanitizers"; exit 77; }
command -v gst-launch-1.0 >/dev/null || { echo "skipped: no gst-launch-1.0 (Debian: gstreamer1.0-tools)"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export GST_PLUGIN_PATH_1_0=$plugins GST_REGISTRY_1_0=$root/registry LC_ALL=C
printf '\x89PNG\r\n\x1a\n\0\0\0\0' >"$root/picture"
count=0

# printed TEXT: whether the text was printed, with any numbers, since GStreamer's versions differ in their test picture.
printed() { without_numbers <"$root/out" | grep -F -- "$(without_numbers <<<"$1")" >/dev/null; }
without_numbers() { sed 's/[0-9]\+/N/g'; }

# quoted TEXT: fails unless the page quotes the text.
quoted() { grep -qF -- "\`$1" "$page" || { echo "the page does not quote: $1"; exit 1; }; }

# prints TEXT SOURCE...: fails unless the page quotes the text and the pipeline prints it. gst-launch-1.0 does not
# always end after an error at its start, so it is killed then.
prints() {
  local text=$1; shift
  quoted "$text"
  : >"$root/out"
  timeout 300 gst-launch-1.0 "$@" ! fakesink >"$root/out" 2>&1 &
  local player=$!
  until printed "$text" || ! kill -0 "$player" 2>/dev/null; do sleep 0.05; done
  kill "$player" 2>/dev/null || true
  wait "$player" || true
  printed "$text" || { echo "no such text: $text"; cat "$root/out"; exit 1; }
  count=$((count + 1))
}

# says TEXT ELEMENT...: a pipeline of one frame of 320x240 pixels prints the text.
says() { prints "$1" videotestsrc num-buffers=1 ! "${@:2}"; }

says "no property \"lowthreshold\" in element \"cudacanny\"" cudacanny lowthreshold=3
says "could not set property \"aperture\" in element \"cudacanny\" to \"4\"" cudacanny aperture=4
says "cudacanny0 can't handle caps video/x-raw, format=(string)v210" video/x-raw,format=v210 ! cudacanny
prints 'streaming stopped, reason not-negotiated (-4)' filesrc location="$root/picture" ! cudacanny
says 'Interlaced video is not supported: put deinterlace in front' video/x-raw,interlace-mode=interleaved ! cudacanny
says 'Frames of this size cannot be processed: a picture of 8x8 pixels holds no block of 16x16' \
  video/x-raw,width=8,height=8 ! cudahog
says 'Frames of this size cannot be processed: at least 76800 bytes are needed, and max-memory allows 1000' \
  cudacanny backend=cpu max-memory=1000
says 'The properties cannot be used: range-min (10) must be less than range-max (5)' \
  cudahistogram range-min=10 range-max=5
says "The properties cannot be used: color='nocolour' is not a colour" cudacanny color=nocolour
says 'A file cannot be used: the model /nowhere.yml: it cannot be opened: No such file or directory' \
  cudahog model-location=/nowhere.yml
says 'this is no HOG model, which is a text, but a picture or another binary file' \
  cudahog model-location="$root/picture"
says 'The mask of mask-location, "/nowhere.png", could not be read' cudainpaint mask-location=/nowhere.png
says "Could not open '/nowhere/x.json': No such file or directory" cudavisionjson location=/nowhere/x.json
says 'roi-x and roi-y (5000, 0) lie outside the frame of 320x240: frames pass unchanged' cudacanny roi-x=5000
says '76800 pixels cannot be filled, because no patch of 9x9 pixels lies outside of them: the frame stays unchanged' \
  cudainpaint region-width=320 region-height=240
says 'max-lines is 1, but there are 2514 lines: only those with the most votes are listed' \
  cudahough max-lines=1 threshold=20 nms-radius=0
says '146541 windows reach hit-threshold (-20), but only the first 4096 of them are used: raise hit-threshold' \
  video/x-raw,width=1280,height=960 ! cudahog model=people min-scale=1 hit-threshold=-20 group-threshold=0
says 'The frames have the tag image-orientation=rotate-90' taginject tags=image-orientation=rotate-90 ! \
  cudahog model=people
says 'The pixels are not square (pixel-aspect-ratio=16/11)' 'video/x-raw,pixel-aspect-ratio=16/11' ! \
  cudahog model=people

# Settings with which nothing can be found.
gst-launch-1.0 -q videotestsrc pattern=black num-buffers=1 ! video/x-raw,format=RGB ! pngenc ! \
  filesink location="$root/mask.png"
says 'The mask of mask-location selects nothing: its largest luma is 1' cudainpaint mask-location="$root/mask.png"
says 'high-threshold is 5000, but no gradient exceeds 1530' cudacanny high-threshold=5000
says 'threshold is 5000, but no line of a region of 320x240 pixels has more than 960 votes' cudahough threshold=5000
says "The model's window of 64x128 pixels does not fit into 320x80 pixels at any scale" \
  video/x-raw,width=320,height=80 ! cudahog model=people
says 'group-threshold is 2, but there are only 1 windows' video/x-raw,width=44,height=86 ! cudahog model=people
prints 'For 5 s no region or detection of the type "Person" has come, but of "person"' \
  videotestsrc pattern=black num-buffers=160 ! video/x-raw,width=72,height=136 ! \
  cudahog model=people hit-threshold=-20 group-threshold=0 display=false ! cudavisiontrack type=Person
prints 'For 5 s no frame has carried a region, a detection or the mark of a detector' \
  videotestsrc num-buffers=160 ! video/x-raw,width=16,height=16 ! cudavisiontrack
prints 'For 5 s no frame has carried a result that could be drawn' \
  videotestsrc num-buffers=160 ! video/x-raw,width=16,height=16 ! cudavisionoverlay

# The reason in the text depends on the build and on the machine.
if ! timeout 300 gst-launch-1.0 videotestsrc num-buffers=1 ! cudacanny backend=cuda ! fakesink >"$root/out" 2>&1; then
  text=$(grep -om 1 'CUDA cannot be used: .*' "$root/out") && quoted "$text"
fi
GST_PLUGIN_PATH_1_0=$root/none GST_PLUGIN_SYSTEM_PATH_1_0=$root/none GST_REGISTRY_1_0=$root/empty \
  gst-inspect-1.0 cudacanny >"$root/out" 2>&1 || true
grep -qF "No such element or plugin 'cudacanny'" "$root/out"
quoted 'Every frame of the last 5 s was late'  # provoked by tests/elements/filter_live_test.cpp: it takes seconds
echo "$count texts are printed as the page quotes them"
