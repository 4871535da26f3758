#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds and runs the programs in the pages of the API reference: each prints the line that the page shows.
#
#   api_examples.sh PYTHON PAGES HEADERS PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 pages=$2 headers=$3 plugins=$4
source "$(dirname "${BASH_SOURCE[0]}")/../examples/python_plugin.sh"
command -v cc >/dev/null || { echo "skipped: no C compiler"; exit 77; }
"$python" -c 'import numpy' || { echo "skipped: no NumPy (Debian: python3-numpy)"; exit 77; }

# block LANGUAGE PAGE: the first block of the page in that language.
block() { awk -v start="\`\`\`$1" '$0 == "```" && inside { exit } inside { print } $0 == start { inside = 1 }' "$2"; }

# shows PAGE PROGRAM...: the program prints the line of the page.
shows() {
  local page=$1; shift
  "$@" >"$root/out" 2>"$root/error" || { echo "$page: the program fails"; cat "$root/error"; exit 1; }
  grep -qxF -- "$(block text "$page")" "$root/out" ||
    { echo "$page says: $(block text "$page")"; echo "the program prints:"; cat "$root/out"; exit 1; }
  ! grep -q CRITICAL "$root/error" || { cat "$root/error"; exit 1; }
  echo "$(basename "$page"): $(tail -n 1 "$root/out")"
}

for name in reading-in-c counting-in-c attaching; do
  block c "$pages/$name.md" >"$root/$name.c"
  # shellcheck disable=SC2046  # flags are words
  cc -Wall -Werror "$root/$name.c" -o "$root/$name" -I "$headers" \
    $(pkg-config --cflags gstreamer-app-1.0) -L "$plugins/../meta" -lgstcudavision-1.0 \
    $(pkg-config --libs gstreamer-app-1.0)
  shows "$pages/$name.md" "$root/$name"
done
block python "$pages/reading-in-python.md" >"$root/reading.py"
shows "$pages/reading-in-python.md" "$python" "$root/reading.py"
block python "$pages/own-detector.md" >"$root/detector.py"
shows "$pages/own-detector.md" "$python" "$root/detector.py"
