#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs each Python program of the examples as a newcomer may run it: without arguments, with a file where a source is
# expected, with files that are missing or no videos, and with misspelt elements. It says in one line what is wrong, and
# fails. Without arguments it may print its usage. The programs of calibrate, heatmap, live, publish and
# record have their own tests.
#
#   plain_errors.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
cd "$root"
echo "this is a text" >text.mp4
head -c 5000 "$(command -v bash)" >program.mp4
mkdir folder.mp4
gst-launch-1.0 -q audiotestsrc num-buffers=9 ! wavenc ! filesink location=sound.wav
gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=160,height=128 ! jpegenc ! avimux ! filesink location=good.avi
gst-launch-1.0 -q videotestsrc pattern=black num-buffers=1 ! pngenc ! filesink location=black.png
gst-launch-1.0 -q videotestsrc num-buffers=1 ! pngenc ! filesink location=bars.png

failed=0 count=0
# refuses PATTERN PROGRAM ARGUMENT...: the program fails, and prints one line with the pattern to the standard error.
refuses() {
  local status=0
  count=$((count + 1))
  timeout 60 "$python" "$examples/$2" "${@:3}" >out 2>err </dev/null || status=$?
  ((status != 0 && status < 124)) && [[ $(wc -l <err) == 1 ]] && grep -qE -- "$1" err && return
  { echo "status $status, not one line with '$1': ${*:2}"; cat err; } >&2
  failed=1
}

mapfile -t programs < <(cd "$examples" && grep -l '^#!' ./*.py ./*/*.py | sed 's|^\./||' | grep -vE '^(calibrate|heatmap|live|publish|record)/')
((${#programs[@]} >= 16))
for program in "${programs[@]}"; do
  # A program that plays something by itself needs no arguments.
  "$python" "$examples/$program" >out 2>err </dev/null && status=0 || status=$?
  if grep -q Traceback err || { ((status)) && ! grep -qE "${program##*/}|No module named '(torch|pandas|cv2|matplotlib|numpy)':" err; }; then
    echo "without arguments, status $status: $program" >&2
    cat err >&2
    failed=1
  fi
  ! grep -q 'No module named' err || { echo "$program: not tested: $(cat err)"; continue; }

  rest=()
  case $program in
    first_steps/blur_people.py | first_steps/own_detector.py) rest=(fakesink) ;;
    first_steps/boxes.py) rest=(model.yml) ;;
    first_steps/count_over_line.py) rest=(10,10 100,100) ;;
    first_steps/dwell_time.py) rest=(10,10,50,50) ;;
    first_steps/plot_histogram.py) rest=(plot.png) ;;
    first_steps/match_keypoints.py)
      for bad in missing.png text.mp4 folder.mp4 sound.wav good.avi black.png; do
        refuses "$bad|typefind|wavparse|decodebin" "$program" "$bad" bars.png drawn.png
      done
      refuses 'nowhere/drawn.png cannot be written' "$program" bars.png bars.png nowhere/drawn.png
      refuses 'drawn.nosuch cannot be written' "$program" bars.png bars.png drawn.nosuch
      continue
      ;;
    count/count.py) rest=("$examples/count/street.json" events.jsonl) ;;
    vanishing_point.py)
      for bad in missing.png text.mp4 folder.mp4 program.mp4 sound.wav; do refuses "^$bad: " "$program" "$bad"; done
      refuses 'no property "treshold".*gst-inspect-1.0' "$program" bars.png treshold=5
      continue
      ;;
    batch/batch.py)
      refuses 'required: VIDEO.*--elements' "$program"
      refuses 'no element "nosuch"' "$program" --elements nosuch --output results good.avi
      refuses 'no property "foo"' "$program" --elements "cudahog foo=1" --output results good.avi
      refuses 'no output folder' "$program" --elements identity --output text.mp4 good.avi
      continue
      ;;
    batch/join.py)
      mkdir -p results
      echo "no JSON" >results/text.jsonl
      refuses 'missing is no folder' "$program" missing joined
      refuses 'text.jsonl: line 1' "$program" results joined
      refuses 'text.mp4: no folder for the output' "$program" folder.mp4 text.mp4
      continue
      ;;
  esac
  file="filesrc location=good.avi ! decodebin"
  refuses '^missing.mp4: there is no such file' "$program" missing.mp4 "${rest[@]}"
  refuses '^folder.mp4: this is a folder' "$program" folder.mp4 "${rest[@]}"
  refuses "good.avi is a file.*'filesrc location=\"good.avi\" ! decodebin'" "$program" "good.avi ! identity" "${rest[@]}"
  if [[ $program != first_steps/boxes.py ]]; then  # its model is missing, too, and named first
    refuses 'No such file "missing.mp4"' "$program" "filesrc location=missing.mp4 ! decodebin" "${rest[@]}"
    refuses '"folder.mp4"' "$program" "filesrc location=folder.mp4 ! decodebin" "${rest[@]}"
    for bad in text.mp4 program.mp4; do
      refuses 'Missing decoder|typefind|decodebin' "$program" "filesrc location=$bad ! decodebin" "${rest[@]}"
      refuses 'Missing decoder|typefind|decodebin' "$program" "$bad" "${rest[@]}"
    done
    # What a pipeline of one's own does with sound is its own affair.
    [[ $program == read_metas.py ]] || refuses 'wavparse|decodebin|not-linked' "$program" "filesrc location=sound.wav ! decodebin" "${rest[@]}"
  fi
  refuses 'no element "videoconvrt".*gst-inspect-1.0' "$program" "$file ! videoconvrt" "${rest[@]}"
  refuses 'no property "locatoin".*gst-inspect-1.0' "$program" "filesrc locatoin=good.avi ! decodebin" "${rest[@]}"
  refuses 'gst-launch-1.0' "$program" "$file !! videoconvert" "${rest[@]}"
done

source="filesrc location=good.avi ! decodebin"
"$python" "$examples/first_steps/lines.py" "$source" >frames
(($(wc -l <frames) == 5))
for name in good.avi './a "b" ! fakesink \' $'no\xffutf8.avi' 'ü %20 #.AVI'; do
  [[ -e $name ]] || cp good.avi "$name"
  "$python" "$examples/first_steps/lines.py" "$name" | cmp - frames || { echo "not played: $name" >&2; failed=1; }
done
(($("$python" "$examples/read_metas.py" good.avi | wc -l) == 5))
refuses 'missing.json' count/count.py "$source" missing.json events.jsonl
refuses 'nowhere/events.jsonl' count/count.py "$source" "$examples/count/street.json" nowhere/events.jsonl
refuses "'a' must be 2 numbers" first_steps/count_over_line.py "$source" a 1,2
refuses "'1,2,3' must be 4 numbers" first_steps/dwell_time.py "$source" 1,2,3
refuses 'model.yml' first_steps/boxes.py "$source" model.yml
refuses 'no element "nosuch"' first_steps/blur_people.py "$source" nosuch
refuses 'nowhere/out' first_steps/blur_people.py "$source" "filesink location=nowhere/out"
if "$python" -c 'import matplotlib' 2>/dev/null; then
  refuses 'nowhere/plot.png' first_steps/plot_histogram.py "$source" nowhere/plot.png
  refuses "the plot cannot be written: .*'nosuch'" first_steps/plot_histogram.py "$source" plot.nosuch
fi

# warns PATTERN PROGRAM ARGUMENT...: the program does its work, and prints one line, a warning, to the standard error.
warns() {
  "$python" "$examples/$2" "${@:3}" >out 2>err && [[ $(wc -l <err) == 1 ]] && grep -qE -- "^warning: .*$1" err && return
  { echo "not one warning with '$1': ${*:2}"; cat err; } >&2
  failed=1
}
sideways="videotestsrc num-buffers=3 ! taginject tags=image-orientation=rotate-90 ! cudahog model=people"
for program in lines keypoints flow; do warns 'image-orientation=rotate-90' "first_steps/$program.py" "$sideways"; done
warns 'image-orientation=rotate-90' read_metas.py "$sideways"
# each once, though a broken video may be warned of for each frame
PYTHONPATH=$examples "$python" - 2>err <<'END'
from gi.repository import GLib
from plain_errors import Gst, launch

Gst.init(None)
pipeline = launch("videotestsrc ! fakesink name=sink")
for text in "first", "second", "first":
    pipeline.get_bus().post(Gst.Message.new_warning(pipeline.get_by_name("sink"), GLib.Error(text), ""))
END
printf 'warning: sink: %s\n' first second | cmp - err || failed=1
warns "'path' counts nothing" count/count.py "videotestsrc num-buffers=3" "$examples/count/street.json" events.jsonl

echo "== ^C ends programs, also while they wait for GStreamer"
for program in count/count.py first_steps/flow.py first_steps/dwell_time.py; do
  rest=()
  [[ $program != count/* ]] || rest=("$examples/count/street.json" events.jsonl)
  [[ $program != */dwell* ]] || rest=(10,10,50,50)
  rm -f started
  # ^C in an interactive shell reaches the program, but `&` in a script would make it ignore SIGINT
  "$python" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); os.execvp(sys.argv[1], sys.argv[1:])' \
    "$python" "$examples/$program" "videotestsrc is-live=true ! tee name=t ! queue ! filesink buffer-mode=unbuffered location=started t. ! queue" \
    "${rest[@]}" >out 2>err &
  process=$!
  for ((i = 0; i < 300; ++i)); do [[ ! -s started ]] || break; sleep 0.1; done
  kill -INT "$process"
  for ((i = 0; i < 50; ++i)); do kill -0 "$process" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$process" 2>/dev/null || true
  status=0
  wait "$process" || status=$?
  [[ $status == $((128 + $(kill -l INT))) ]] && ! grep -v '^warning: ' err || { echo "^C: status $status: $program" >&2; failed=1; }
done

((failed == 0))
echo "${#programs[@]} programs: $count mistakes, each told of in one line"
