#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests that the examples read nothing but the file that they were given: files with the names of videos that ask for
# other files and addresses cause no request, and nobody else's video gets into a result.
#
#   one_file.sh PYTHON SOURCE_FOLDER PLUGIN_FOLDER PLAYER     PYTHON: `missing` skips; PLAYER: one_file_player.cpp
set -euo pipefail
python=$1 source=$2 plugins=$3 player=$4 examples=$2/examples
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
unset GST_PLUGIN_SYSTEM_PATH_1_0 GST_REGISTRY_FORK  # all elements of GStreamer, not only those of the other tests
batch=("$python" "$examples/batch/batch.py")
processes=()
# shellcheck disable=SC2317  # the trap calls it
stop() { kill -9 "${processes[@]}" 2>/dev/null || true; rm -rf "$root"; }
trap stop EXIT

mkdir "$root/private" "$root/good"
# make_video FILE ELEMENT...: makes a short video.
make_video() {
  gst-launch-1.0 -q videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1 ! "${@:2}" ! filesink location="$1"
}
private=$root/private/film.ts
make_video "$private" avenc_mpeg4 ! mpeg4videoparse ! mpegtsmux
"$python" "$source/tests/examples/asking_files.py" "$root/asking" "$private" "$root/log" >"$root/port" &
processes+=($!)
wait_for test -s "$root/port"
play() { timeout 10 gst-launch-1.0 -q filesrc location="$1" ! decodebin ! videoconvert ! fakesink >"$root/out" 2>&1; }
# A pipeline of GStreamer 1.22 now and then does not end after the error, hence the timeouts.
nothing_asked() { if [[ -s $root/log ]]; then echo "asked by $1:"; cat "$root/log"; exit 1; fi >&2; }
nothing_shown() { if "$@" >"$root/out" 2>&1; then echo "played: $*" >&2; exit 1; fi; nothing_asked "$*"; }

echo "== without protection, requests are made"
for name in hls id3 multipart; do
  play "$(compgen -G "$root/asking/$name.*")" || true
  grep -q "$name\|segment" "$root/log" || { echo "no request for $name: the test proves nothing" >&2; exit 1; }
  rm "$root/log"
done
play "$root/asking/local.mp4"  # the playlist works without protection: the private video plays
playlist=http://127.0.0.1:$(cat "$root/port")/local.m3u8
timeout 20 gst-launch-1.0 -q uridecodebin uri="$playlist" ! videoconvert ! fakesink
rm "$root/log"

echo "== gst-launch-1.0 with one_file.sh"
for file in "$root/asking"/*; do
  (source "$examples/one_file.sh"; nothing_shown play "$file")
done
(source "$examples/one_file.sh"; play "$private")

echo "== batch.py"
expect 1 run --elements "cudahistogram display=false" --retries 0 --stall-timeout 10 --output "$root/results" "$root/asking"
nothing_asked batch.py
says "^0 videos done in .* $(find "$root/asking" -type f | wc -l) failed"
[[ -z $(ls -A "$root/results") ]]
for decode in "decodebin3 ! videoconvert" "parsebin ! decodebin ! videoconvert"; do
  expect 1 run --elements "cudahistogram display=false" --retries 0 --stall-timeout 10 --decode "$decode" --output "$root/results" "$root/asking"
  nothing_asked "batch.py --decode $decode"
  [[ -z $(ls -A "$root/results") ]]
done

echo "== a camera on a network reads no files of this machine, and one that is a file does"
for address in "$playlist" "$private"; do
  [[ $address == http* ]] || address=file://$address
  : >"$root/err"
  "${batch[@]}" --cameras --elements "cudahistogram display=false" --output "$root/cameras" "$address" >"$root/out" 2>"$root/err" &
  process=$!
  wait_for grep -q 'the next attempt' "$root/err"
  kill "$process"
  wait "$process" || true
  parts=$(find "$root/cameras" -name '*.jsonl' | wc -l)
  if [[ $address == http* ]]; then grep /local.m3u8 "$root/log"; ((parts == 0)); else ((parts > 0)); fi
done
rm "$root/log"

echo "== the other programs"
for file in "$root/asking"/*; do nothing_shown timeout 10 "$player" "$file"; done
"$player" "$private"
export PYTHONDONTWRITEBYTECODE=1
for file in "$root/asking"/{hls,id3,multipart,local,dash,smooth}.*; do
  pipeline="filesrc location=$file ! decodebin"
  nothing_shown "$python" "$examples/read_metas.py" "$pipeline ! videoconvert"
  nothing_shown "$python" "$examples/first_steps/lines.py" "$pipeline ! videoconvert"
  nothing_shown "$python" "$examples/first_steps/lines.py" "$file"
done
# These two examples wait ten seconds for a frame.
nothing_shown "$python" "$examples/vanishing_point.py" "$root/asking/hls.mp4"
nothing_shown "$python" "$examples/count_movers.py" "filesrc location=$root/asking/hls.mp4 ! decodebin"
# Every example that starts a pipeline is protected. frames.py protects those that import it, and
# plain_errors.py what it starts, and face_identification.cpp decodes no file. The scripts source one_file.sh. live.py
# protects what it imports. cudavision-publish starts no pipeline: its texts name gst-launch-1.0.
unprotected=$(grep -rlE 'parse_launch|gst-launch-1.0 ' "$examples" --include='*.py' --include='*.cpp' --include='*.h' --include='*.sh' |
  xargs grep -LE '^from frames import|read_nothing_else\(\)|source .*one_file.sh' | grep -vE '/face_identification.cpp$|/live/(elements|sources).py$|/publish/(publish|lines).py$' || true)
[[ -z $unprotected ]] || { echo "not protected: $unprotected" >&2; exit 1; }

echo "== every container of videos can still be read"
make_video "$root/good/a.avi" jpegenc ! avimux
make_video "$root/good/b.mp4" jpegenc ! qtmux
make_video "$root/good/c.mkv" jpegenc ! matroskamux
make_video "$root/good/d.webm" vp8enc ! webmmux
make_video "$root/good/e.ogv" vp8enc ! oggmux
make_video "$root/good/f.flv" avenc_flv ! flvmux
make_video "$root/good/g.y4m" y4menc
make_video "$root/good/h.ts" avenc_mpeg4 ! mpeg4videoparse ! mpegtsmux
make_video "$root/good/i.mpg" avenc_mpeg4 ! mpeg4videoparse ! mpegpsmux
make_video "$root/good/j.mxf" openjpegenc ! mxfmux
make_video "$root/good/k.mov" jpegenc ! qtmux
# decodebin of GStreamer 1.22 now and then stands still with flvdemux
expect 0 run --elements "cudahistogram display=false" --stall-timeout 10 --retries 3 --output "$root/results" "$root/good"
says '^11 videos done'
echo "nothing else is read"
