#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example train_hog with generated pictures: cudahog finds what it has learned.
#
#   train_hog.sh PROGRAM PYTHON
set -euo pipefail
program=$1 python=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Makes positives, rings in a window of 32x32; negatives, gratings; and a picture with rings at (40, 24) and (96, 80).
"$python" - "$root" <<'PYTHON'
import math, pathlib, random, sys

chance = random.Random(1)


def write(path, width, height, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"P5\n{width} {height}\n255\n".encode() + bytes(
        max(0, min(255, round(value(x, y) + chance.gauss(0, 4)))) for y in range(height) for x in range(width)))


def ring(x, y, side, at_x=0.0, at_y=0.0):
    distance = math.hypot(x - at_x - side / 2, y - at_y - side / 2)
    return 190 if side * 0.22 < distance < side * 0.36 else 70


root = pathlib.Path(sys.argv[1])
for i in range(30):
    side = chance.choice([32, 48])
    dx, dy = chance.uniform(-1, 1), chance.uniform(-1, 1)
    write(root / "rings" / f"{i:02}.pgm", side, side, lambda x, y: ring(x, y, side, dx, dy))
    a, f = chance.uniform(0, math.pi), chance.uniform(0.2, 0.8)
    write(root / "others" / f"{i:02}.pgm", 96, 64,
          lambda x, y: 130 + 60 * math.sin(f * (x * math.cos(a) + y * math.sin(a))))
write(root / "scene" / "scene.pgm", 160, 128,
      lambda x, y: ring(x, y, 32, 40, 24) if x < 80 else ring(x, y, 32, 96, 80))
PYTHON

"$program" "$root/rings" "$root/others" "$root/inner.yml" 32x32 0.25,0.25,0.5,0.5 >/dev/null
"$program" "$root/rings" "$root/others" "$root/rings.yml" 32x32 | tee "$root/out"
grep -qx 'training: 24 objects, 144 other windows' "$root/out"
grep -qx 'held out: 6 objects, 36 other windows' "$root/out"
grep -qx 'precision 1.000 recall 1.000' "$root/out"

# The plugin may be built with sanitizers, whose runtime must be loaded first; leaks of other libraries are ignored.
play() {
  LD_PRELOAD="$(ldd "$program" | awk '/libasan/ { print $3 }') ${LD_PRELOAD:-}" ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 \
    gst-launch-1.0 -q "$@"
}
for model in rings inner; do
  play filesrc location="$root/scene/scene.pgm" ! decodebin ! videoconvert ! \
    cudahog model-location="$root/$model.yml" label=ring scale-step=1 win-stride=4 group-threshold=1 display=false ! \
    cudavisionjson location="$root/$model.jsonl" ! fakesink
done
"$python" - "$root" <<'PYTHON'
import json, sys

# The second model has the same windows, of which the object fills the middle half.
for model, side in ("rings", 32), ("inner", 16):
    regions = json.loads(open(f"{sys.argv[1]}/{model}.jsonl").readline())["regions"]
    print(model, regions)
    assert len(regions) == 2 and all(r["type"] == "ring" and r["score"] > 0 for r in regions)
    for x, y in (56, 40), (112, 96):
        assert any((r["width"], r["height"]) == (side, side) and abs(r["x"] + side / 2 - x) <= 6 and
                   abs(r["y"] + side / 2 - y) <= 6 for r in regions), (x, y)
PYTHON

"$program" --people "$root/people.xml" | grep -q '3780 weights for windows of 64x128'
play videotestsrc num-buffers=1 ! cudahog model-location="$root/people.xml" ! fakesink

# fails WORDS ARGUMENT...: the program ends with an error that contains the words.
fails() {
  local words=$1
  shift
  ! "$program" "$@" 2>"$root/error" >/dev/null || { echo "no error: $*" >&2; return 1; }
  grep -q -- "$words" "$root/error"
}
fails usage
fails usage "$root/rings" "$root/others" "$root/m.yml" big
fails usage "$root/rings" "$root/others" "$root/m.yml" 32x32 0.25,0.5
fails 'whole number of cells' "$root/rings" "$root/others" "$root/m.yml" 30x32
fails 'at most 2048 pixels' "$root/rings" "$root/others" "$root/m.yml" 32x2056
fails 'two pictures' "$root/scene" "$root/others" "$root/m.yml"
fails 'no picture holds a window' "$root/rings" "$root/others" "$root/m.yml" 128x128
echo nothing >"$root/rings/00.pgm"
fails '00.pgm' "$root/rings" "$root/others" "$root/m.yml"
