#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example count_movers.py with a ball that flies over a uniform background, and with a still picture.
#
#   count_movers.sh PYTHON EXAMPLE PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 example=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"

"$python" "$example" >"$root/ball.txt"
cat "$root/ball.txt"
[[ $(wc -l <"$root/ball.txt") == 10 ]]
[[ $(head -n 1 "$root/ball.txt") == 'frame 0: 0 move' ]]
[[ $(grep -cE '^frame [1-9]: 1 move [567]\.[0-9]$' "$root/ball.txt") == 9 ]]

"$python" "$example" 'videotestsrc pattern=smpte75 num-buffers=3' >"$root/still.txt"
printf 'frame %d: 0 move\n' 0 1 2 | diff - "$root/still.txt"

! "$python" "$example" 'videotestsrc num-buffers=2 ! video/x-raw,width=1 ! identity error-after=1' >/dev/null 2>"$root/error.txt"
grep -q . "$root/error.txt"
