#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A library that another program loads must share no part of the C++ runtime with the program: it exports only its
# interface, and imports nothing that allocates, raises or unwinds.
#
#   guest_symbols.sh LIBRARY...
set -euo pipefail
failed=0
for library in "$@"; do
  exported=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $3}' | grep -vE '^gst_(plugin|cuda_vision)_' || true)
  imported=$(nm -D --undefined-only "$library" | awk '{print $2}' |
    grep -E '^(_Unwind_|__cxa_(throw|rethrow|begin_catch|allocate_exception)|__gxx_personality|_Zn[wa]|_Zd[la]|_ZNK?S)' || true)
  [[ -z $exported ]] || { echo "$library exports" $exported; failed=1; }
  [[ -z $imported ]] || { echo "$library imports" $imported; failed=1; }
  nm -D --defined-only "$library" | grep -q gst_ || { echo "$library exports nothing"; failed=1; }
done
exit "$failed"
