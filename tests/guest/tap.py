# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cases, each in a process of its own, and prints a line of the Test Anything Protocol for each."""
import concurrent.futures
import os
import signal
import subprocess
import sys


class Skipped(Exception):
    """This machine does not allow the case; the text says why."""


class Failed(Exception):
    """The text says what was expected and what was seen."""


def ended(code):
    """How a process ended, in words; empty if well."""
    return "" if code == 0 else f"died of {signal.Signals(-code).name}" if code < 0 else f"ended in {code}"


def shortened(text):
    """The beginning and the end: a sanitizer's report begins with what matters, other output ends with it."""
    return text if len(text) < 8000 else f"{text[:4000]}\n[...]\n{text[-4000:]}"


def run(command, seconds=300, **environment):
    """Runs the command and returns its output. A value None takes a variable out of its environment."""
    inherited = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    try:
        done = subprocess.run(command, env=inherited, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds,
                              check=False, text=True, errors="replace")
    except subprocess.TimeoutExpired as late:
        output = b"".join(text for text in (late.stdout, late.stderr) if text).decode(errors="replace")
        raise Failed(f"no end in {seconds} s after\n{shortened(output)}") from None
    if done.returncode == 77:
        raise Skipped(done.stdout.strip().splitlines()[-1])
    if done.returncode != 0:
        raise Failed(f"{ended(done.returncode)} after\n{shortened(done.stdout)}{shortened(done.stderr)}")
    return done.stdout


def at_least(numbers, least):
    """The count that an environment variable asks for; otherwise that of the ordinary run."""
    return int(os.environ.get(numbers, least))


def play_cases(cases):
    """cases: pairs of a name and a function without arguments, which returns a remark. Ends the program."""
    failed = False

    def play(case):
        try:
            return "ok", case[1]() or ""
        except Skipped as reason:
            return "skip", str(reason)
        except Failed as fault:
            return "not ok", str(fault)

    wanted = [case for case in cases if all(part in case[0] for part in sys.argv[1:])]
    print(f"1..{len(wanted)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, ((name, _), (outcome, remark)) in enumerate(zip(wanted, pool.map(play, wanted)), 1):
            failed |= outcome == "not ok"
            if outcome == "skip":
                print(f"ok {number} - {name} # SKIP {remark}", flush=True)
                continue
            print(f"{outcome} {number} - {name}")
            text = "".join(f"# {line}\n" for line in remark.splitlines())
            print(text, end="", flush=True)
            if outcome == "not ok":
                print(f"{name}\n{text}", file=sys.stderr, flush=True)  # Meson shows it below the test's name
    sys.exit(failed)
