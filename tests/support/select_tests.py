#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints which files to build and which tests to run, so that tests/run.sh need not build everything.

usage: select_tests.py BUILD cpu|emulated|asan|gpu [FILTER]     FILTER: a part of a test's name, as canny

The first line lists the files to build, the second the names of the tests. Ends in 1 if no test matches.
"""
import json
import os
import subprocess
import sys

EMULATED_SUITES = {"emulated", "traced", "simt", "fakecuda"}
INSTALLS = "installs"  # the suite of the tests that install the product: Meson wants all of it to be built


def introspect(build, what):
    return json.loads(subprocess.check_output(["meson", "introspect", what, build], text=True))


def suites_of(test):
    return {suite.split(":")[-1] for suite in test["suite"]}


def belongs(test, mode):
    suites = suites_of(test)
    emulated = bool(suites & EMULATED_SUITES)
    on_card = test["name"].endswith("_cuda")
    if mode == "emulated":
        return emulated
    if mode == "cpu":
        return not emulated and not on_card
    if mode == "gpu":
        return on_card or (not emulated and "kernels" in suites)
    return True  # asan: everything in that build


def main():
    build, mode = sys.argv[1:3]
    name_part = sys.argv[3] if len(sys.argv) > 3 else ""
    tests = [t for t in introspect(build, "--tests") if belongs(t, mode) and name_part in t["name"]]
    if not tests:
        sys.exit(f"no {mode} test has '{name_part}' in its name; meson test -C {build} --list names them all")
    targets = introspect(build, "--targets")
    files = {target["id"]: target["filename"] for target in targets}
    wanted = {name for test in tests for target in test["depends"] for name in files.get(target, [])}
    # every test loads it
    wanted |= {name for target in targets if target["name"] == "poisoned_maps" for name in target["filename"]}
    if any(INSTALLS in suites_of(test) for test in tests):
        wanted |= {name for target in targets if target["installed"] for name in target["filename"]}
    wanted |= {test["cmd"][0] for test in tests if test["cmd"][0].startswith(os.path.abspath(build))}
    print(" ".join(sorted(os.path.relpath(name, build) for name in wanted)))
    print(" ".join(test["name"] for test in tests))


main()
