#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The test command: installs what is missing, builds, runs every test and ends in a line of counts.
#
#   tests/run.sh            everything: the build as it is installed, then one with AddressSanitizer and UBSan
#
# Works from a fresh clone on Debian 12 and newer, as root or with sudo, with and without CUDA; a second run is quick.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
export PATH="$PATH:/usr/local/cuda/bin"

install_packages "${packages_to_build[@]}" "${packages_to_play[@]}" "${packages_to_test[@]}" \
  "${packages_to_measure[@]}" || exit 1

CUDAVISION_TEST_DATA=$(test_data) || exit 1
export CUDAVISION_TEST_DATA

failed_steps=0
logs=()
# try_build FOLDER MESON_OPTION...: builds and tests; what fails is counted, and the next build still runs.
try_build() {
  local folder=$1
  echo "== $*"
  if ! build_in "$@"; then
    echo "$folder: the build failed" >&2
    failed_steps=$((failed_steps + 1))
    return
  fi
  rm -f "$folder/meson-logs/testlog.junit.xml"
  meson test -C "$folder" --no-rebuild --print-errorlogs || failed_steps=$((failed_steps + 1))
  logs+=("$folder/meson-logs/testlog.junit.xml")
}

# The card that is here, or one architecture: that the kernels compile for all of them is a release's to show.
archs=$(native_archs)
try_build build-tests -Dwerror=true -Dcuda-archs="${archs:-90}" -Dtests=enabled -Dbenchmarks=enabled -Dexamples=enabled
# The emulated kernels and the CPU backend, under the sanitizers; with as little optimisation and debug information as tell
# where a fault is: more would make compiling take three times as long.
try_build build-asan -Dwerror=true -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dexamples=enabled \
  -Dbuildtype=plain -Doptimization=1 -Dcpp_args=-g1 -Db_sanitize=address,undefined

python3 tests/support/count.py "$failed_steps" "${logs[@]}"
