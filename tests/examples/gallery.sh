#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures of the documentation anew and compares them with those in the source tree.
#
#   gallery.sh PYTHON SOURCE_FOLDER PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 source=$2 plugins=$3
[[ $python != missing ]] || { echo "skipped: no Python, or a library with sanitizers"; exit 77; }
for program in cwebp img2webp gst-launch-1.0; do
  command -v "$program" >/dev/null || { echo "skipped: no $program (Debian: webp, gstreamer1.0-tools)"; exit 77; }
done
"$python" -c 'import numpy' || { echo "skipped: no NumPy (Debian: python3-numpy)"; exit 77; }
data=${CUDAVISION_TEST_DATA:-/usr/share/doc/opencv-doc/examples/data}
[[ -e $data/vtest.avi ]] || { echo "skipped: no $data/vtest.avi (Debian: opencv-doc)"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
pictures=$source/gst/docs/pictures

# A browser loads all of these pictures, so they must be small.
bytes=$(cat "$pictures"/*.webp | wc -c)
echo "$bytes bytes in all"
((bytes < 3000000))

# README.md names each picture and its source. Its element's page shows it, or the main README once that links to pages.
for picture in "$pictures"/*.webp; do
  name=$(basename "$picture" .webp)
  grep -qF "\`$name.webp\`" "$pictures/README.md" || { echo "$pictures/README.md does not name $name.webp"; exit 1; }
  page=$source/gst/docs/$name.md
  [[ $name != street ]] || page=$source/README.md
  if [[ -e $page ]] && { [[ $name != street ]] || grep -qF gst/docs/ "$page"; }; then
    grep -qF "pictures/$name.webp" "$page" || { echo "$page does not show $name.webp"; exit 1; }
  fi
done

export GST_PLUGIN_PATH_1_0=$plugins GST_REGISTRY_1_0=$root/registry CUDAVISION_TEST_DATA=$data
"$source/examples/gallery.sh" "$root/pictures" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
"$python" "$source/tests/examples/compare_pictures.py" "$pictures" "$root/pictures"
