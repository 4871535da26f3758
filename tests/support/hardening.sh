#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks that the flags of Debian's hardening=+all are at work in libraries that were built together, and that each
# object file that nvcc made for one of them has a stack protector: hardening.sh LIBRARY... OBJECT.o...
set -euo pipefail

fail() { echo "$1" >&2; exit 1; }
# has LIBRARY WHAT OUTPUT PATTERN
has() { grep -qE "$4" <<<"$3" || fail "$1: no $2"; }

all_symbols=
for library in "$@"; do
  if [[ $library == *.o ]]; then
    has "$library" "stack protector" "$(readelf --wide --syms "$library")" '__stack_chk_fail'
    continue
  fi
  symbols=$(readelf --wide --dyn-syms "$library") segments=$(readelf --wide --segments "$library")
  dynamic=$(readelf --wide --dynamic "$library")
  has "$library" "stack protector" "$symbols" '__stack_chk_fail'
  has "$library" "read-only relocations" "$segments" 'GNU_RELRO'
  has "$library" "immediate binding" "$dynamic" 'BIND_NOW|NOW'
  if grep -E 'GNU_STACK' <<<"$segments" | grep -q 'RWE'; then fail "$library: its stack can be executed"; fi
  all_symbols+=$symbols
done
# Checked over all libraries: a small one may call no function on a buffer whose size the compiler knows.
has "$*" "fortified functions" "${all_symbols//__stack_chk_fail/}" '__[a-z]+_chk(@|$)'
