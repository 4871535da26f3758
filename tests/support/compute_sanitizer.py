#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the kernel tests on the card under compute-sanitizer's four tools and writes a JUnit log.

usage: compute_sanitizer.py FOLDER LOG [FILTER]     FOLDER: of the programs, as build-tests/tests/kernels

Programs run side by side, four at a time: each one leaves most of the card idle.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "racecheck": [],
    "synccheck": [],
    "initcheck": [],
}
FAULT = 99  # the exit status that compute-sanitizer gives to a program in which it found a fault
SECONDS = 1800
CASES = "--gtest_filter=*/cuda*"


def has_cuda_tests(program):
    listed = subprocess.run([str(program), CASES, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=False)
    return "  " in listed.stdout


def programs(folder, name_part):
    found = sorted(pathlib.Path(folder).glob("*_test"))
    return [p for p in found if not p.name.endswith("_emulated_test") and name_part in p.name and has_cuda_tests(p)]


def check(tool, program):
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FAULT), *TOOLS[tool], str(program),
               CASES, "--gtest_brief=1"]
    began = time.monotonic()
    try:
        # kernels take a hundred times as long
        done = subprocess.run(command, env={**os.environ, "CUDAVISION_BUSY_FRAMES": "4"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, output = -1, f"took longer than {SECONDS} s"
    return status, output, time.monotonic() - began


def main():
    folder, log = sys.argv[1:3]
    chosen = programs(folder, sys.argv[3] if len(sys.argv) > 3 else "")
    suite = xml.Element("testsuite", name="compute-sanitizer")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = {pool.submit(check, tool, program): (tool, program) for tool in TOOLS for program in chosen}
        for job in concurrent.futures.as_completed(jobs):
            tool, program = jobs[job]
            status, output, seconds = job.result()
            case = xml.SubElement(suite, "testcase", name=f"{program.name} {tool}", time=f"{seconds:.1f}")
            print(f"{tool:10} {program.name:24} {'OK' if status == 0 else 'FAIL':4} {seconds:7.1f} s", flush=True)
            if status != 0:
                failed += 1
                xml.SubElement(case, "failure", message=f"exit status {status}").text = output[-4000:]
                print(output[-4000:])
    xml.ElementTree(suite).write(log)
    if not chosen:
        print("compute-sanitizer: the filter names no kernel test that runs on the card")
    sys.exit(1 if failed else 0)


main()
