#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks formatting and the layout of the source tree; with `all` also runs clang-tidy on the product's C++ files.
#
#   tests/support/lint.sh [all]
#
# Versions of clang-format disagree with one another: only 14, Debian 12's, is used. clang-tidy takes minutes, so it
# runs by `tests/run.sh lint` alone, which configures build-tests for it.
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
  # Each file as the product compiles it, and not as the tests do with the emulated CUDA, which clang 14 cannot compile.
  mkdir -p build-tests/tidy
  python3 - <<'FILTER' || exit 1
import json
commands = json.load(open("build-tests/compile_commands.json"))
product = [c for c in commands if c["output"].startswith(("cuda/", "gst/")) and c["file"].startswith("../")]
json.dump(product, open("build-tests/tidy/compile_commands.json", "w"))
print("\n".join(sorted({c["file"].removeprefix("../") for c in product})), file=open("build-tests/tidy/files", "w"))
FILTER
  xargs -P "$(nproc)" -n 1 clang-tidy -p build-tests/tidy --quiet <build-tests/tidy/files || failed=1
fi
((failed)) || echo "lint: no complaints"
exit "$failed"
