#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests what the example batch shows on a terminal: a line that says how far the run is. It is skipped where there is no
# terminal, as in a root folder without /dev/pts.
#
#   batch_progress.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
why=$(script -qec true /dev/null 2>&1) || { echo "skipped: no terminal: $why"; exit 77; }

mkdir "$root/videos"
make_videos "$root/videos" 3
COLUMNS=200 script -qec \
  "$(printf '%q ' "${batch[@]}" --elements "identity sleep-time=40000" --output "$root/shown" "$root/videos")" \
  /dev/null >"$root/screen"
tr '\r' '\n' <"$root/screen" | grep -E '\[#*\.*\] [0-2] of 3 videos, [0-9]+ frames/s, [0-9]:[0-9]{2}:[0-9]{2} left' | tail -n 2
