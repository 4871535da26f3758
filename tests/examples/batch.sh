#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example batch: a run that is killed ten times ends as one that is not disturbed, and whatever is wrong with
# a video, the disk or the command is reported and leaves nothing half-written.
#
#   batch.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
data=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}
[[ -e $data/vtest.avi ]] || { echo "skipped: no $data/vtest.avi (Debian: opencv-doc)"; exit 77; }
elements="cudahistogram display=false ! cudahough display=false"
quick="cudahistogram display=false"

mkdir "$root/videos"
ln -s "$data"/{Megamind,tree,vtest}.avi "$root/videos"
make_videos "$root/videos" 5

echo "== killed ten times"
expect 0 run --elements "$elements" --output "$root/plain" "$root/videos"
[[ $(count_results "$root/plain") == 8 ]]
same_results "$root/plain" "$root/plain"
RANDOM=${BATCH_SEED:=$SRANDOM}
echo "BATCH_SEED=$BATCH_SEED"
killed=0 hit=0
while ((killed < 10)); do
  "${batch[@]}" --elements "$elements" --output "$root/killed" "$root/videos" >/dev/null 2>&1 &
  process=$!
  sleep "0.$((RANDOM % 7 + 2))"
  if kill -9 "$process" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$process" 2>/dev/null || true
  # a file with its final name is complete at every moment
  for result in "$root/killed"/*.jsonl; do [[ ! -e $result ]] || cmp "$result" "$root/plain/${result##*/}"; done
  left=("$root/killed"/.*.part)
  [[ ! -e ${left[0]} ]] || hit=$((hit + 1))
  # removes results, so that the next run has something left to do
  (($(count_results "$root/killed") < 6)) || rm -f "$root/killed"/*[0-7].made.json "$root/killed"/vtest*
done
echo "$hit of the ten were in the middle of a video"
((hit >= 3))
expect 0 run --elements "$elements" --output "$root/killed" "$root/videos"
same_results "$root/plain" "$root/killed"

echo "== what is done is not done again, and what has changed is"
expect 0 run --elements "$elements" --output "$root/killed" "$root/videos"
says '0 videos done in .* 8 done before, 0 failed, 0 left'
cp -p "$root/videos/made3.avi" "$root/made3.avi"
touch "$root/videos/made3.avi"
expect 0 run --elements "$elements" --output "$root/killed" "$root/videos"
says '1 videos done in .* 7 done before'
touch -r "$root/made3.avi" "$root/videos/made3.avi"
expect 0 run --elements "$quick" --output "$root/killed" "$root/videos"
says '8 videos done in .* 0 done before'
expect 0 run --elements "$quick" --tensor-data full --output "$root/killed" "$root/videos/made3.avi"
says '1 videos done'
rm "$root/killed"/made3.*.jsonl
expect 0 run --elements "$quick" --tensor-data full --output "$root/killed" "$root/videos/made3.avi"
says '1 videos done'

echo "== shards, and processes beside one another"
expect 0 run --elements "$quick" --output "$root/one" "$root/videos"
for shard in 0 1 2; do
  expect 0 run --elements "$quick" --output "$root/shards" --shard "$shard/3" "$root/videos"
  says ' 0 done before, 0 failed, 0 left'  # no share overlaps another
  count_done >>"$root/counts"
done
same_results "$root/one" "$root/shards"
[[ $(($(paste -sd+ "$root/counts"))) == 8 ]]
processes=()
for i in 1 2 3; do
  "${batch[@]}" --elements "$elements" --output "$root/beside" "$root/videos" >"$root/beside.$i" 2>/dev/null &
  processes+=($!)
done
for process in "${processes[@]}"; do wait "$process"; done
same_results "$root/plain" "$root/beside"
[[ $(($(sed -nE "s/^([0-9]+) videos done.*/\1/p" "$root"/beside.? | paste -sd+))) == 8 ]]

echo "== odd names"
odd=$root/odd
mkdir -p "$odd/a" "$odd/b" "$odd/list"
for name in a/x.avi b/x.avi $'new\nline.avi' 'new\nline.avi' $'no\xffutf8.avi' '-dash.avi' 'a "quote" ! fakesink.avi' 'ü %20 #.AVI'; do
  cp "$root/videos/made1.avi" "$odd/$name"
done
accents=$'e\xcc\x81t\xcc\x81'  # each is a character of its own
for name in 日本語 हिन्दी "$accents" '🎬' "$(printf 'あ%.0s' {1..60})"; do cp "$root/videos/made1.avi" "$odd/$name.avi"; done
cp "$root/videos/made1.avi" "$odd/list/no suffix"
expect 0 run --elements "$quick" --output "$root/names" "$odd"
says '13 videos done'
[[ $(count_results "$root/names") == 13 ]]
# letters of all scripts stay; there is no option among the names, nothing that a shell reads, and no name is long
(cd "$root/names" && printf '%s\n' *.jsonl | sed -E 's/\.[0-9a-f]{16}\.jsonl$//' | LC_ALL=C sort) >"$root/called"
twenty=$(printf 'あ%.0s' {1..20}) composed=$'\xc3\xa9t\xcc\x81'
printf '%s\n' a_quote_fakesink dash new_line new_nline no_utf8 video x x "$composed" ü_20 हिन्दी "$twenty" 日本語 |
  LC_ALL=C sort | diff - "$root/called"
for result in "$root/names"/*.jsonl; do jq -es 'length == 10 and all(.[]; .frame >= 0 and .tensors[0].sum == 19200)' "$result" >/dev/null; done
[[ $(jq -r .source "$root/names"/*.jsonl | sort -u | wc -l) == 13 ]]
find "$odd" -type f -print0 >"$root/all.list"
printf '# a list\nlist/no suffix\n\n%s\n' "$odd/a/x.avi" >"$odd/some.txt"
(cd "$odd" && expect 0 run --elements "$quick" --output "$root/names" -- "$root/all.list" some.txt a -dash.avi)
says '1 videos done in .* 13 done before'

echo "== what cannot be read"
bad=$root/bad
mkdir -p "$bad/empty folder" "$bad/videos"
cp "$root/videos/made1.avi" "$bad/videos/good.avi"
echo "no video, but text, in a file of this name" >"$bad/videos/text.mp4"
: >"$bad/videos/empty.mkv"
head -c 100 "$root/videos/made1.avi" >"$bad/videos/header.avi"
head -c 9000 "$root/videos/made1.avi" >"$bad/videos/short.avi"
gst-launch-1.0 -q audiotestsrc num-buffers=9 ! wavenc ! filesink location="$bad/videos/sound.avi"
ln -s loop.avi "$bad/videos/loop.avi"
mkfifo "$bad/videos/pipe.avi"
expect 1 run --elements "$quick" --output "$root/some" "$bad/videos" "$bad/nowhere.avi" "$bad/empty folder" "$bad/none.txt"
says '2 videos done in .* 0 done before, 9 failed, 0 left'
says 'failed: .*/text.mp4: .*Could not determine type of stream'
says 'failed: .*/empty.mkv: .*Stream contains no data'
says 'failed: .*/header.avi: .*(Could not demultiplex stream|gave no reason)'
says 'failed: .*/sound.avi: it has no video stream'
says 'failed: .*/loop.avi: Too many levels of symbolic links'
says 'failed: .*/pipe.avi: it is no regular file'
says 'failed: .*/nowhere.avi: No such file'
says 'failed: .*/empty folder: the folder holds no videos'
says 'failed: .*/none.txt: the list cannot be read: No such file'
says 'short.avi: note: it ends after' "$root/err"
says 'text.mp4: will be tried again' "$root/err"
only_results "$root/some"
expect 1 run --elements "$quick" --output "$root/some" --retries 0 "$bad/videos"
if grep 'again' "$root/err"; then exit 1; fi
says '0 videos done in .* 2 done before'
# a video without a frame
frames_at=$(grep -abo movi "$root/videos/made1.avi" | head -n 1 | cut -d: -f1)
head -c $((frames_at + 100)) "$root/videos/made1.avi" >"$bad/none.avi"
expect 1 run --elements "$quick" --output "$root/some" "$bad/none.avi"
says 'failed: .*/none.avi: it has no frame that can be decoded'
if ((EUID != 0)); then
  chmod 0 "$bad/videos/good.avi"
  expect 1 run --elements "$quick" --output "$root/some" "$bad/videos/good.avi"
  says 'failed: .*/good.avi: Permission denied'
fi

echo "== warnings"
warned=(--elements "cudahough display=false high-threshold=5000 threshold=5000" --output "$root/warned" "$root/videos/made1.avi")
expect 0 run "${warned[@]}"
says 'made1.avi: warning: cudahough: high-threshold is 5000' "$root/err"
says 'made1.avi: warning: cudahough: threshold is 5000' "$root/err"
says '^done with 2 warnings: .*/made1.avi: cudahough: '
jq -e '.warnings | length == 2 and all(.[]; startswith("cudahough: "))' "$root/warned"/*.made.json >/dev/null
expect 3 run --strict "${warned[@]}"  # the record says so, too
says '1 done before'
says '^done with 2 warnings: .*/made1.avi: cudahough: '
expect 1 run --strict "${warned[@]}" "$bad/videos/text.mp4"
expect 0 run --strict --elements "$quick" --output "$root/warned" "$root/videos/made1.avi"
if grep warning "$root/out" "$root/err"; then exit 1; fi

echo "== a stall"
expect 1 run --elements "identity sleep-time=2500000" --output "$root/some" --retries 0 --stall-timeout 1 "$root/videos/made1.avi"
says 'failed: .*/made1.avi: no frame came for 1 s, after 0 frames'
only_results "$root/some"

echo "== signals"
for signal in TERM INT; do
  # ^C in an interactive shell reaches the program, but `&` in a script would make it ignore SIGINT
  "$python" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); os.execvp(sys.argv[1], sys.argv[1:])' \
    "${batch[@]}" --elements "identity sleep-time=100000" --output "$root/signal" "$root/videos" >"$root/out" 2>"$root/err" &
  process=$!
  wait_for running_parts "$root/signal"
  began=$EPOCHREALTIME
  kill -"$signal" "$process"
  status=0
  wait "$process" || status=$?
  [[ $status == $((128 + $(kill -l "$signal"))) ]]
  awk "BEGIN { exit !($EPOCHREALTIME - $began < 3) }"
  says "stopped: SIG$signal"
  only_results "$root/signal"
done

echo "== the dead are cleaned up after"
"${batch[@]}" --elements "identity sleep-time=100000" --output "$root/dead" "$root/videos" >/dev/null 2>&1 &
process=$!
wait_for running_parts "$root/dead"
"${batch[@]}" --elements "identity" --output "$root/dead" "$root/odd/a" >/dev/null 2>&1
running_parts "$root/dead"  # the parts of the living process stay
kill -9 "$process"
wait "$process" 2>/dev/null || true
expect 0 run --elements "$quick" --output "$root/dead" "$root/odd/a"
only_results "$root/dead"

echo "== more videos than open files"
mkdir "$root/many"
for ((i = 0; i < 80; ++i)); do ln "$root/videos/made1.avi" "$root/many/$i.avi"; done
# no open file is left behind
(ulimit -n 64; expect 0 run --jobs 1 --elements "$quick" --output "$root/files" "$root/many")
says '80 videos done'

echo "== signals between one video and the next"
for ((i = 0; i < 6; ++i)); do
  rm -rf "$root/between"
  "${batch[@]}" --elements "$quick" --output "$root/between" "$root/many" >/dev/null 2>&1 &
  process=$!
  wait_for test -d "$root/between"
  sleep "0.$((RANDOM % 30 + 10))"
  kill "$process" 2>/dev/null || true
  wait "$process" || true
  [[ -z $(find "$root/between" -name '.?*') ]]
done

echo "== a full disk"
(ulimit -f 40; expect 1 run --elements "$quick" --tensor-data full --output "$root/full" "$root/videos")
says 'stopped: .*File too large'
only_results "$root/full"
if unshare --map-root-user --mount true 2>/dev/null; then
  mkdir "$root/small"
  # shellcheck disable=SC2016  # the inner shell's words
  unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=200k none "$1" && "${@:2}"; status=$?; ls -A "$1" >"$1.list"; exit $status' \
    - "$root/small" "${batch[@]}" --elements "$quick" --tensor-data full --output "$root/small" "$root/videos" >"$root/out" 2>"$root/err" &&
    exit 1
  says 'stopped: .*No space left on device'
  if grep '^\.' "$root/small.list"; then exit 1; fi
fi

echo "== wrong usage"
refused() { expect 2 run "${@:2}"; says "$1" "$root/err"; [[ ! -e $root/refused || -z $(ls -A "$root/refused") ]]; }
refused 'no element "nosuch"' --elements nosuch --output "$root/refused" "$root/videos"
refused 'no property "foo"' --elements "cudahog foo=1" --output "$root/refused" "$root/videos"
refused 'nowhere.yml' --elements "cudahog model-location=/nowhere.yml" --output "$root/refused" "$root/videos"
refused 'must not end in a sink' --elements "identity ! fakesink" --output "$root/refused" "$root/videos"
refused 'must not begin with a source' --elements "videotestsrc" --output "$root/refused" "$root/videos"
refused 'no element "nosuch"' --elements identity --decode nosuch --output "$root/refused" "$root/videos"
refused 'is no share' --elements identity --shard 3/3 --output "$root/refused" "$root/videos"
refused 'at least 1' --elements identity --jobs 0 --output "$root/refused" "$root/videos"
refused 'no output folder: Not a directory' --elements identity --output "$root/out/folder" "$root/videos"
refused 'no UTF-8' --elements identity --output $'/tmp/\xff' "$root/videos"
refused 'strict is for videos' --elements identity --cameras --strict --output "$root/refused" "$root/odd/some.txt"
refused 'a camera is a URI' --elements identity --cameras --output "$root/refused" "$root/odd/some.txt"
"$python" -c 'import pyarrow' 2>/dev/null ||
  refused 'needs pyarrow' --elements identity --parquet --output "$root/refused" "$root/videos"

echo "the batch of videos holds"
