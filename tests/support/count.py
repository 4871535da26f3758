#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up Meson's JUnit logs and prints `N passed, N failed, N skipped`; exits with 1 if any test or step failed.

Above the counts it prints why each test failed, because Meson shows only the end of a long log.

usage: count.py FAILED_STEPS LOG...   FAILED_STEPS: number of builds and test runs that failed
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

LINES = 20  # of a failure's reason


def print_reasons(case, failures):
    print(f"FAILED {case.get('classname', '')} {case.get('name', '')}")
    for failure in failures:
        lines = (failure.text or failure.get("message") or "").strip().splitlines()
        for line in lines[:LINES]:
            print(f"  {line}")


def main():
    failed_steps = int(sys.argv[1])
    passed = failed = skipped = 0
    for log in sys.argv[2:]:
        if not pathlib.Path(log).exists():
            failed += 1  # the run ended before it wrote its log
            continue
        # What a test printed may hold characters that XML does not allow, such as the colours of a terminal.
        text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "", pathlib.Path(log).read_text(encoding="utf-8", errors="replace"))
        for case in xml.fromstring(text.encode()).iter("testcase"):
            failures = [child for child in case if child.tag in ("failure", "error")]
            if failures:
                failed += 1
                print_reasons(case, failures)
            elif case.find("skipped") is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
                skipped += 1
            else:
                passed += 1
    if failed_steps and not failed:
        failed = failed_steps  # a build, or a program that crashed before it could report
    if not passed and not failed:
        failed = 1  # nothing ran at all
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
