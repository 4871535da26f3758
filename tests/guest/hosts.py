#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of many kinds use each element: none may die of a stop in the middle of a frame, or of a lack of memory.

usage: hosts.py [WORD...]   only the cases whose names have these words

GUEST_BUILD is the folder with the hosts. CUDAVISION_GUEST_RUNS is the number of stops, and of runs without memory, of
each element in each host, at 1920x1080 pixels; the ordinary run takes 20 of each with smaller frames.
"""
import ctypes
import functools
import importlib.util
import os
import re
import sys

import elements
import tap

BUILD = os.environ["GUEST_BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = tap.at_least("CUDAVISION_GUEST_RUNS", 20)
SIZE = ["1920", "1080"] if RUNS > 20 else ["640", "360"]
LIBUNWIND = "libunwind.so.8"


def python(module):
    """A program in Python that imports this module first."""
    return [sys.executable, f"{HERE}/host.py", module, f"{BUILD}/libguest_host.so"]


# A host: its command, and the library that it preloads.
HOSTS = {
    "Python, NumPy first": (python("numpy"), ""),
    "Python, OpenCV first": (python("cv2"), ""),
    "Python, PyTorch first": (python("torch"), ""),
    "Python, PyGObject first": (python("gi"), ""),
    "Python, NumPy first, libunwind preloaded": (python("numpy"), LIBUNWIND),
    "C": ([f"{BUILD}/guest_host"], ""),
    "C, libunwind preloaded": ([f"{BUILD}/guest_host"], LIBUNWIND),
    "C, GStreamer loaded with RTLD_LOCAL": ([f"{BUILD}/guest_host_local", f"{BUILD}/libguest_host.so"], ""),
    "C++ with a runtime of its own": ([f"{BUILD}/guest_host_throwing"], ""),
}


def work(host, job, preloaded, size):
    """What the host has printed."""
    command, library = HOSTS[host]
    module = command[2] if command[0] == sys.executable else "sys"
    if importlib.util.find_spec(module) is None:
        raise tap.Skipped(f"the module {module} is not installed")
    try:
        ctypes.CDLL(library or None)
    except OSError as missing:  # the linker would only warn of it
        raise tap.Skipped(str(missing)) from None
    return tap.run([*command, job, str(RUNS), *size, *elements.all_pipelines(boxes="identity")],
                   seconds=60 + 20 * RUNS, LD_PRELOAD=f"{library} {preloaded}".strip() or None)


def stops(host):
    output = work(host, "stops", "", SIZE)
    found = re.findall(r"(\d+) stops of at most ([\d.]+) ms, (\d+) of them", output)
    count, middle = sum(int(line[0]) for line in found), sum(int(line[2]) for line in found)
    if 2 * middle < count:
        raise tap.Failed(f"only {middle} of {count} stops met a frame\n{output}")
    longest = max(float(line[1]) for line in found)
    return f"{count} stops of at most {longest} ms, {middle} of them in the middle of a frame"


def refusals(host):
    output = work(host, "refusals", f"{BUILD}/libguest_refuse.so", ["96", "130"])
    found = re.findall(r"(\d+) runs with failures, (\d+) errors", output)
    return f"{sum(int(n) for n, _ in found)} runs without memory, {sum(int(m) for _, m in found)} errors on the bus"


tap.play_cases([(f"{host}: {name}", functools.partial(job, host)) for host in HOSTS
                for name, job in (("stops in the middle of frames", stops), ("memory is refused", refusals))])
