#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks that the flags of Debian's hardening=+all are at work in libraries that were built together: hardening.sh LIBRARY...
set -euo pipefail

fail() { echo "$1" >&2; exit 1; }
# has LIBRARY WHAT OUTPUT PATTERN
has() { grep -qE "$4" <<<"$3" || fail "$1: no $2"; }

all_symbols=
for library in "$@"; do
  symbols=$(readelf --wide --dyn-syms "$library") segments=$(readelf --wide --segments "$library")
  dynamic=$(readelf --wide --dynamic "$library")
  has "$library" "stack protector" "$symbols" '__stack_chk_fail'
  has "$library" "read-only relocations" "$segments" 'GNU_RELRO'
  has "$library" "immediate binding" "$dynamic" 'BIND_NOW|NOW'
  if grep -E 'GNU_STACK' <<<"$segments" | grep -q 'RWE'; then fail "$library: its stack can be executed"; fi
  all_symbols+=$symbols
done
# A small library may call no function on a buffer whose size the compiler knows.
has "$*" "fortified functions" "${all_symbols//__stack_chk_fail/}" '__[a-z]+_chk(@|$)'
