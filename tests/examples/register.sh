#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example register on OpenCV's pictures: the inlier counts that the README states, and error messages.
#
#   register.sh PROGRAM
set -euo pipefail
program=$1
data=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# fails WORDS ARGUMENT...: the program ends with an error that contains the words.
fails() {
  local words=$1
  shift
  ! "$program" "$@" 2>"$root/error" >/dev/null || { echo "no error: $*" >&2; return 1; }
  grep -q -- "$words" "$root/error"
}
fails usage
fails usage one
fails 'no such option' one two three=4
for option in points=0 points=-3 points=many points=7x frames=0 contrast=low contrast=0 contrast=2; do
  fails "${option%%=*}" one two "$option"
done
fails 'nobody.png' "$root/nobody.png" "$root/nobody.png"

[[ -r $data/graf1.png ]] || { echo "no pictures in $data"; exit 77; }
fails 'cannot be read' "$data/box.png" "$data/box.png" homography="$root/nothing.xml"
fails 'no property' "$data/box.png" "$data/box.png" properties=no-such-property=1

# ratios FIRST SECOND OPTION...: prints the inliers of cudasigma2kp divided by those of the better ORB, for full and low
# contrast; 0 if both ORBs have none.
ratios() {
  "$program" "$@" >"$root/table"
  cat "$root/table" >&2
  awk '/^cudasigma2kp/ { ours = $NF } /^ORB/ { if ($NF > best) best = $NF }
    /^FAST/ { print (best > 0 ? ours / best : 0); best = 0 }' "$root/table"
}
# holds FULL LOW FILE: succeeds if the ratios in FILE, for full and low contrast, are at least FULL and LOW.
holds() {
  awk -v full="$1" -v low="$2" '{ if ($1 < (NR == 1 ? full : low)) exit 1 } END { if (NR != 2) exit 1 }' "$3" ||
    { echo "ratios below $1 or $2:" $(cat "$3") >&2; return 1; }
}
ratios "$data/graf1.png" "$data/graf3.png" homography="$data/H1to3p.xml" out="$root/graf.png" >"$root/graf"
ratios "$data/box.png" "$data/box_in_scene.png" >"$root/box"
holds 0.6 0.8 "$root/graf"
holds 0.8 0.8 "$root/box"
for name in graf graf-low; do
  [[ $(head -c 4 "$root/$name.png" | tail -c 3) == PNG ]]
done
! cmp -s "$root/graf.png" "$root/graf-low.png"
"$program" "$data/box.png" "$data/box_in_scene.png" points=1 >"$root/few"  # most levels have no points
grep -q '^no homography' "$root/few"
grep -q '^cudasigma2kp .* - .* - ' "$root/few"

# A template in a video.
[[ -r $data/vtest.avi ]] || exit 0
"$program" "$data/box.png" "$data/vtest.avi" frames=3 points=200 | tail -n 1 | grep -q '^best: frame'
