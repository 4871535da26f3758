#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example face_identification with generated pictures, and with the AT&T faces if they are available.
#
#   face_identification.sh PROGRAM PYTHON
#
# CUDAVISION_ATT_FACES: the folder of the AT&T faces; without it they are not tested.
set -euo pipefail
program=$1 python=$2
tests=$(dirname "$0")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# All faces are found, with counts and with weights.
"$python" "$tests/make_faces.py" "$root/faces" 5 3
small='window-width=16 window-height=16 stride-x=8 stride-y=8 bins=9'
for weight in count magnitude sqrt-magnitude; do
  "$program" "$root/faces" "$small weight=$weight" >"$root/out"
  grep -qx '5 persons, 3 pictures of each, 216 numbers a picture' "$root/out"
  grep -qx 'identified 30 of 30: 100.00 %' "$root/out"
done

# A descriptor that cannot distinguish the faces finds one of five: the first of equals.
"$program" "$root/faces" "$small bins=1" | grep -qx 'identified 6 of 30: 20.00 %'

# fails WORDS ARGUMENT...: the program ends with an error that contains the words.
fails() {
  local words=$1
  shift
  ! "$program" "$@" 2>"$root/error" >/dev/null || { echo "no error: $*" >&2; return 1; }
  grep -q -- "$words" "$root/error"
}
fails usage
fails 'two persons' "$root/nobody"
fails 'no property' "$root/faces" no-such-property=1
fails 'must not exceed' "$root/faces" window-width=47
cp -r "$root/faces" "$root/short"
truncate -s 100 "$root/short/s3/2.pgm"
fails 's3/2.pgm: too few pixels' "$root/short"
echo P2 >"$root/short/s3/2.pgm"
fails 's3/2.pgm: no binary PGM' "$root/short"
printf 'P5 2 2 255\nabcd' >"$root/short/s3/2.pgm"
fails 'not of one size' "$root/short"

[[ -n ${CUDAVISION_ATT_FACES:-} ]] || exit 0
"$program" "$CUDAVISION_ATT_FACES" | tee "$root/out"
awk '/^identified/ { if ($4 != "3600:" || $5 < 68.64) exit 1; found = 1 } END { exit !found }' "$root/out"
