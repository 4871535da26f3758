#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds an element to a copy of the tree with new_element.py, builds and runs its tests, and checks its pages. Then its
# arithmetic is broken, and every test program must fail.
#
#   new_element.sh PYTHON SOURCE_FOLDER [FOLDER]     PYTHON: `missing` leaves the pages out
#
# FOLDER: keeps the copy and its build there; default: a temporary one
set -euo pipefail
python=$1 source=$2 root=${3:-}
[[ -n $root ]] || { root=$(mktemp -d); trap 'rm -rf "$root"' EXIT; }
mkdir -p "$root"
git -C "$source" rev-parse >/dev/null 2>&1 || { echo "skipped: git does not read $source"; exit 77; }
git -C "$source" ls-files -z | tar -C "$source" --null -T - -c | tar -C "$root" -x
cd "$root"
unset GST_REGISTRY_1_0 GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH_1_0

echo "== the element"
tests/support/new_element.py bright
tests/support/lint.sh

echo "== the build"
# One instruction set, without optimisation: the compiler takes most of the time.
meson setup build -Dwerror=true -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dexamples=disabled \
  -Dintrospection=disabled -Dbuildtype=plain -Doptimization=0 -Dcpp_args=-DHWY_COMPILE_ONLY_STATIC >setup.log ||
  { cat setup.log; exit 1; }
targets=() tests=()
for mode in cpu emulated; do
  { read -ra some; read -ra names; } < <(tests/support/select_tests.py build "$mode" bright)
  targets+=("${some[@]}") tests+=("${names[@]}")
done
((${#tests[@]} == 4)) || { echo "4 tests were expected: ${tests[*]}"; exit 1; }

# build_and_test: sets failed to the tests that fail.
build_and_test() {
  ninja -C build "${targets[@]}" >build.log || { tail -n 40 build.log; exit 1; }
  failed=()
  for test in "${tests[@]}"; do
    meson test -C build --no-rebuild -t 5 "$test" >"$test.log" || failed+=("$test")
  done
}
build_and_test
((${#failed[@]} == 0)) || { grep -A9 Failure build/meson-logs/testlog.txt | head -n 60; echo "failed: ${failed[*]}"; exit 1; }

echo "== the pages"
cp gst/docs/pictures/cuda{canny,bright}.webp  # gallery.sh makes it
for check in shape property_tables links; do
  [[ $python != missing ]] || continue
  GST_PLUGIN_PATH_1_0=$root/build/gst/plugin GST_REGISTRY_1_0=$root/registry "$python" "tests/docs/$check.py"
done

echo "== broken"
sed -i 's/luma >= params.threshold/luma > params.threshold/' cuda/bright/bright_rules.h
build_and_test
((${#failed[@]} == ${#tests[@]})) || { echo "of ${tests[*]} only these see the fault: ${failed[*]}"; exit 1; }
