#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example vanishing_point.py with only the installed product: lines of a facade meet left of the picture.
#
#   vanishing_point.sh SOURCE_ROOT PYTHON BUILD_FOLDER PREFIX LIBDIR PLUGIN_DIR
#                      PYTHON: `missing` skips
set -euo pipefail
source_root=$1 python=$2
shift 2
source "$source_root/tests/support/installed.sh"
needs meson
[[ $python != missing ]] || { echo "skipped: the library was built without introspection"; exit 77; }
"$python" -c 'import gi; gi.require_version("GstApp", "1.0")' ||
  { echo "skipped: no Python with python3-gi and gir1.2-gst-plugins-base-1.0"; exit 77; }
picture=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}/building.jpg
[[ -r $picture ]] || { echo "skipped: no $picture (Debian: opencv-doc)"; exit 77; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
install_into "$root" "$@"
cd "$root"
"$python" "$source_root/examples/vanishing_point.py" "$picture" \
  "threshold=80 low-threshold=100 high-threshold=200" >found.txt
# The long edges of two floors, (151, 323) (866, 17) and (148, 376) (207, 357), intersect at (-340, 533).
awk 'NR == 1 { x = $1 + 336; y = $2 - 524; if (x * x + y * y > 60 * 60) exit 1 } END { exit NR < 20 }' found.txt ||
  { head -n 1 found.txt >&2; exit 1; }
if "$python" "$source_root/examples/vanishing_point.py" /no/such/picture 2>error.txt; then
  echo "no error for a picture that is not there" >&2
  exit 1
fi
[[ -s error.txt ]]
