#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests that LeakSanitizer, with the tests' suppressions, ignores system libraries and finds leaks of this project.
#
#   planted_leak.sh PROGRAM
set -uo pipefail
program=$1

report=$("$program" nothing 2>&1) || { echo "a program that leaks nothing ended in $?:"; echo "$report"; exit 1; }
for kind in new glib; do
  report=$("$program" "$kind" 2>&1) && { echo "the planted leak ($kind) was not found"; exit 1; }
  grep -qE 'SUMMARY: AddressSanitizer: 432[12] byte\(s\) leaked in 1 allocation' <<<"$report" ||
    { echo "the report does not name the planted leak ($kind) alone:"; echo "$report"; exit 1; }
done
