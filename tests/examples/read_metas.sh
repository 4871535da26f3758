#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the examples read_metas.cpp and read_metas.py with only the installed product: both print the same.
#
#   read_metas.sh SOURCE_ROOT SANITIZERS PYTHON BUILD_FOLDER PREFIX LIBDIR PLUGIN_DIR
#       SANITIZERS: those of the build, as none or address,undefined
#       PYTHON: `none` omits the Python example, `missing` skips the test
set -euo pipefail
source_root=$1 sanitizers=$2 python=$3
shift 3
source "$source_root/tests/support/installed.sh"
needs meson pkg-config "${CXX:-c++}"
[[ $python != missing ]] || { echo "skipped: the library was built without introspection"; exit 77; }
[[ $python == none ]] || "$python" -c 'import gi; gi.require_version("GstApp", "1.0")' ||
  { echo "skipped: no Python with python3-gi and gir1.2-gst-plugins-base-1.0"; exit 77; }

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
install_into "$root" "$@"
examples=$source_root/examples tests=$source_root/tests/examples
read -ra flags <<<"$(pkg-config --cflags --libs gstreamer-cudavision-1.0 gstreamer-app-1.0 gstreamer-video-1.0)"
[[ $sanitizers == none ]] || flags+=("-fsanitize=$sanitizers")
cd "$root"  # avoids finding files of the source tree

# compile SOURCE PROGRAM
compile() { "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -I"$examples" "$1" -o "$2" "${flags[@]}"; }
# agree NAME C++_COMMAND -- PYTHON_COMMAND: both commands print the same; the output of the first is in NAME.txt.
agree() {
  local name=$1 cpp=()
  shift
  while [[ $1 != -- ]]; do cpp+=("$1"); shift; done
  shift
  "${cpp[@]}" >"$name.txt"
  [[ $python == none ]] || "$python" "$@" | diff "$name.txt" - || { echo "$name: Python prints something else" >&2; exit 1; }
}

# Every kind of meta, on a generated frame.
compile "$tests/made_frame.cpp" made_frame
PYTHONPATH=$examples agree made ./made_frame -- "$tests/made_frame.py"
diff made.txt "$tests/made_frame.txt"

compile "$examples/read_metas.cpp" read_metas
agree default ./read_metas -- "$examples/read_metas.py"
[[ $(grep -c '^frame ' default.txt) == 3 ]]
# The counts of the histogram add up to 320x240 pixels.
awk '/ tensor histogram u32 \[1\]\[16\] of 320x240/ {
       sum = 0; for (i = NF - 15; i <= NF; ++i) sum += $i; if (sum != 320 * 240) exit 1; ++frames }
     END { exit frames != 3 }' default.txt
bars='videotestsrc pattern=smpte num-buffers=2 ! video/x-raw,format=RGB,width=64,height=48'
agree argument ./read_metas "$bars ! cudahistogram mode=channels bins=4 ! cudacanny display=false" \
  -- "$examples/read_metas.py" "$bars ! cudahistogram mode=channels bins=4 ! cudacanny display=false"
grep -q 'tensor histogram u32 \[3\]\[4\]' argument.txt
grep -q 'tensor edges u8 \[48\]\[64\] of 64x48 from (0, 0) in steps of (1, 1): .*255' argument.txt

# Every region of a detector, each with its own id. The model is plain text: 36 weights and the bias.
{ for i in {0..36}; do echo "$((i % 7 - 3))e-1"; done; } >model.txt
boxes="videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=48 ! cudahog model-location=$PWD/model.txt \
  win-width=16 win-height=16 label=dot hit-threshold=-9 group-threshold=0 display=false"
agree regions ./read_metas "$boxes" -- "$examples/read_metas.py" "$boxes"
awk '/ region dot id / { if ($4 != ++regions) exit 1; if ($NF !~ /^-?[0-9.]+$/) exit 1 } END { exit regions < 3 }' regions.txt

# fails PIPELINE WORDS: the program ends with an error that contains the words.
fails() {
  ! ./read_metas "$1" 2>error.txt || { echo "no error: $1" >&2; return 1; }
  grep -q "$2" error.txt
}
fails no_such_element no_such_element
fails 'videotestsrc ! cudahistogram ! cudavisionjson location=/no/such/folder' /no/such/folder
# A warning is printed once, to the standard error.
./read_metas 'videotestsrc num-buffers=3 ! cudavisionzones name=zones' 2>error.txt >warned.txt
echo 'warning: zones: Neither location nor zones is set: nothing is counted' | cmp - error.txt
[[ $(grep -c '^frame ' warned.txt) == 3 ]]
