#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays every element in unusual surroundings: the output must be the same as in plain ones.

usage: environments.py [WORD...]   only the cases whose names have these words

GUEST_BUILD is the folder with the libraries for LD_PRELOAD.
"""
import difflib
import functools
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

import elements
import models
import tap
from surroundings import SURROUNDINGS

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["GUEST_BUILD"]
NO_NAMES = {name: None for name in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")}
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
READ_ONLY = ("for p in $(cut -d' ' -f5 /proc/self/mountinfo); do mount -o remount,bind,ro \"$p\" 2>/dev/null; done; "
             "mount -t tmpfs -o ro,size=4k none /dev/shm; touch /tmp/x 2>/dev/null && exit 1; exec \"$@\"")
STRANGER = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]

# Surroundings that are arranged before the process begins: what stands before its command, and its environment.
BEGINNINGS = {
    "no home, no name": ([], NO_NAMES),
    "a user without an account": (STRANGER, NO_NAMES),
    "a read-only file system without /dev/shm": ([*NAMESPACE, "sh", "-c", READ_ONLY, "sh"], {}),
    "standard input and error are closed": (["sh", "-c", 'exec "$@" <&- 2>&-', "sh"], {}),
    "a working folder that is gone": (["sh", "-c", 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"', "sh"], {}),
    "one processor": (["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))], {}),
    "the time of day jumps by a year": ([], {"LD_PRELOAD": f"{BUILD}/libguest_clock.so"}),
    "criticals end the process": ([], {"G_DEBUG": "fatal-criticals"}),
    "freed memory is overwritten": ([], {"MALLOC_PERTURB_": "165", "G_SLICE": "always-malloc"}),
    "all symbols are bound at once": ([], {"LD_BIND_NOW": "1"}),
    "everything is logged": ([], {"GST_DEBUG": "cuda*:9", "GST_DEBUG_FILE": "/dev/null"}),
}
LOCALES = {"a German locale": "de_DE", "a Turkish locale": "tr_TR", "a Pashto locale": "ps_AF"}


def played(inside="plain", before=(), **environment):
    return tap.run([*before, sys.executable, f"{HERE}/surroundings.py", inside], seconds=120, **environment)


def compare(output, warning=None):
    """Fails unless the output is that of plain surroundings plus remarks, which are returned, and the warning."""
    remarks, lines, stream, warnings = [], [], "", []
    for line in output.splitlines():
        stream = line if " name=e" in line else stream
        if line.startswith("# "):
            remarks.append(line[2:])
        elif warning and line.startswith("warning of ") and warning in line:
            warnings.append((stream, line))
        else:
            lines.append(line)
    expected = bool(warning) and len(os.sched_getaffinity(0)) > 1  # one processor needs no thread
    if len(set(warnings)) != len(warnings) or expected != bool(warnings):
        raise tap.Failed(f"{len(warnings)} warnings, {len(set(warnings))} of them different")
    different = difflib.unified_diff(plain().splitlines(), lines, "plain", "here", n=0, lineterm="")
    if report := "\n".join(line[:400] for line in itertools.islice(different, 12)):
        raise tap.Failed(report)
    return "\n".join(remarks)


@functools.lru_cache
def plain():
    return played()


def needs(command):
    if shutil.which(command[0]) is None:
        raise tap.Skipped(f"{command[0]} is not installed")
    question = [*command, "test", "-x", sys.executable, "-a", "-r", BUILD]
    done = subprocess.run(question, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise tap.Skipped(f"{' '.join(command)} is not allowed here {done.stderr.strip()}")


def begin(before, environment):
    if before and before[0] != "sh":
        needs(before[:before.index("sh")] if "sh" in before else before)
    return compare(played(before=before, **environment))


def locale(name):
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"{folder}/{name}.UTF-8"], check=False,
                              capture_output=True, text=True)
        if not os.path.isdir(f"{folder}/{name}.UTF-8"):
            raise tap.Skipped(f"localedef makes no {name}: {made.stderr.strip()}")
        # The texts of the C library's own errors stay English.
        language = {"LANG": f"{name}.UTF-8", "LC_MESSAGES": "C", "LC_ALL": None, "LANGUAGE": None}
        return compare(played("the locale of the environment", LOCPATH=folder, **language))


def small_stacks():
    """In the smallest stacks that GStreamer itself can work with."""
    for kib in (32, 64, 128):
        try:
            played("videotestsrc alone", GUEST_STACK=str(kib << 10))
        except tap.Failed:
            continue
        compare(played("small stacks", GUEST_STACK=str(kib << 10)))
        return f"{kib} KiB"
    raise tap.Failed("videotestsrc works in no small stack")


def inside(name):
    preload = SURROUNDINGS[name].preload
    return compare(played(name, LD_PRELOAD=preload and f"{BUILD}/{preload}"), SURROUNDINGS[name].warning)


with tempfile.TemporaryDirectory() as files:
    os.chmod(files, 0o755)
    os.environ["GUEST_FILES"] = files
    models.write_models(files)
    elements.names()  # writes the registry
    plain()
    tap.play_cases(
        [(name, functools.partial(begin, *beginning)) for name, beginning in BEGINNINGS.items()]
        + [(name, functools.partial(locale, value)) for name, value in LOCALES.items()]
        + [("small stacks", small_stacks)]
        + [(name, functools.partial(inside, name)) for name, place in SURROUNDINGS.items() if place.is_case])
