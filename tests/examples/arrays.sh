#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the examples that hand arrays to other libraries: flow_torch.py, match_keypoints.py, plot_histogram.py.
#
#   arrays.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
data=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}
[[ -e $data/graf1.png ]] || { echo "skipped: no $data/graf1.png (Debian: opencv-doc)"; exit 77; }
ran=0

# has MODULE PACKAGE: whether Python has the module; says so if not.
has() { "$python" -c "import $1" 2>/dev/null || { echo "not run: no $2"; return 1; }; }

if has cv2 python3-opencv; then
  "$python" "$examples/match_keypoints.py" "$data/graf1.png" "$data/graf3.png" "$root/matches.png" | tee "$root/matches.txt"
  [[ $(<"$root/matches.txt") =~ ,\ ([0-9]+)\ of\ them\ agree ]]
  # Without a common object a few pairs agree by chance (leuvenA.jpg and graf1.png: 6).
  ((BASH_REMATCH[1] >= 25)) && [[ -s $root/matches.png ]]
  ran=$((ran + 1))
fi

if has matplotlib python3-matplotlib; then
  "$python" "$examples/plot_histogram.py" "videotestsrc num-buffers=5 pattern=white ! video/x-raw,format=GRAY8" "$root/plot.png" |
    tee "$root/plot.txt"
  [[ $(<"$root/plot.txt") == "5 frames, mean brightness 235.0" && -s $root/plot.png ]]
  ran=$((ran + 1))
fi

if has torch python3-torch; then
  "$python" "$examples/flow_torch.py" "filesrc location=$data/vtest.avi ! decodebin ! identity eos-after=6 ! videoconvert" |
    tee "$root/flow.txt"
  # Everybody walks: some by more than a pixel a frame, nobody by more than ten.
  awk '$7 !~ /^[+-][0-9.]+$/ || $8 !~ /^[+-][0-9.]+$/ { exit 1 } { s = $7 * $7 + $8 * $8; if (s > 100) exit 1; if (s > 0.25) moving++ }
    END { exit !(moving >= 4) }' "$root/flow.txt"
  ran=$((ran + 1))
fi
((ran > 0)) || exit 77
