#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example flow_numpy.py on a pattern that moves by two pixels a frame.
#
#   flow_numpy.sh PYTHON FOLDER_OF_EXAMPLES PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
"$python" -c 'import numpy' || { echo "skipped: no python3-numpy"; exit 77; }

"$python" "$examples/flow_numpy.py" \
  "videotestsrc num-buffers=4 pattern=spokes horizontal-speed=-2 ! video/x-raw,width=160,height=120" | tee "$root/flow.txt"
[[ $(wc -l <"$root/flow.txt") == 3 ]]
awk '{ if ($3 < 1.8 || $3 > 2.1 || $4 < -0.1 || $4 > 0.1) exit 1 }' "$root/flow.txt"
