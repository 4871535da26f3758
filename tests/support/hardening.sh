#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks that the flags of Debian's hardening=+all are at work in a library: hardening.sh LIBRARY.
set -euo pipefail
library=$1
symbols=$(readelf --wide --dyn-syms "$library") segments=$(readelf --wide --segments "$library")
dynamic=$(readelf --wide --dynamic "$library")

check() {
  grep -qE "$3" <<<"$2" && return
  echo "$library: no $1" >&2
  exit 1
}
check "stack protector" "$symbols" '__stack_chk_fail'
check "fortified functions" "$symbols" '__[a-z]+_chk(@|$)'
check "read-only relocations" "$segments" 'GNU_RELRO'
check "immediate binding" "$dynamic" 'BIND_NOW|NOW'
if grep -E 'GNU_STACK' <<<"$segments" | grep -q 'RWE'; then
  echo "$library: its stack can be executed" >&2
  exit 1
fi
