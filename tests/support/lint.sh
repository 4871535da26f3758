#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks formatting and the layout of the source tree; with `all` also runs clang-tidy on the product's C++ files.
#
#   tests/support/lint.sh [all]
#
# clang-format's versions disagree with one another: 14, Debian 12's, decides, and others are not asked. clang-tidy takes
# minutes, so it runs by `tests/run.sh lint` alone, which configures build-tests for it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0

mapfile -t sources < <(find cuda gst tests examples -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh')
version=$(clang-format --version 2>/dev/null | grep -oE 'version [0-9]+' | cut -d' ' -f2)
if [[ $version == 14 ]]; then
  clang-format --dry-run --Werror "${sources[@]}" || failed=1
else
  echo "lint: the formatting is not checked: clang-format 14 decides, and ${version:-none} is here"
fi
python3 tests/support/check_layout.py || failed=1

if [[ ${1:-} == all ]]; then
  find gst cuda -name '*.cpp' | sort | xargs -P "$(nproc)" -n 1 clang-tidy -p build-tests --quiet || failed=1
fi
((failed)) || echo "lint: no complaints"
exit "$failed"
