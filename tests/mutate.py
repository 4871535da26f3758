#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes one thing of cuda/ at a time, and sees whether a test of the algorithm fails.

usage: tests/mutate.py [--count N] [--seed S] [--kinds KIND,...] [--algorithms NAME,...] [--minutes M] [--jobs J] [--report]

A mutant is one changed operator, constant or bound, or one barrier or memory order that is removed. They are drawn at random,
as many of each algorithm and kind as there are (--count 0: all). The sources are those of the last commit, in
build-mutants/source, of which each job has a copy; the results lie in build-mutants/results.jsonl, so that a run that was
ended goes on where it was.
A mutant that does not compile does not count. One that no test finds is a survivor: a test is missing, or it changes no
result, which tests/mutants.txt then says with the reason. tests/README.md explains it.
"""
import argparse
import json
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build-mutants"
SOURCE, RESULTS = FOLDER / "source", FOLDER / "results.jsonl"
EXCUSES = ROOT / "tests/mutants.txt"
SECONDS = {"": 300, "_emulated": 300, "_traced": 1800}  # of one test program: longer than on a slow machine without a change

SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ",
         " - ": " + ", " * ": " + ", " && ": " || ", " || ": " && "}
BOUNDS = {"std::min(": "std::max(", "std::max(": "std::min("}
DEVICE_BOUNDS = {r"(?<![\w:])min\(": "max(", r"(?<![\w:])max\(": "min("}
BARRIERS = r"__syncthreads\(\);|__syncwarp\([^)]*\);|wait_for_kernel_ahead\(\);"
ORDERS = r"MemoryOrder::(acquire|release|acq_rel)\b"
# Lines whose change is no fault: declarations of templates, checks at compile time, the preprocessor, and asm of a card.
SKIPPED = re.compile(r"^\s*(//|#|template|static_assert|asm\b|:|using |\"|CUDAVISION_TRY\(check)|__launch_bounds__|operator")
ALGORITHMS = ("bgsub", "canny", "common", "components", "draw", "gaussian", "gradient", "histogram", "hog", "hough", "inpaint",
              "localhist", "luma", "morphology", "opticalflow", "redact", "repack", "sigma2kp")
# Besides the folder's own tests. What is common is used by all; these use most of it.
MORE_TESTS = {"common": ("canny", "hough", "sigma2kp"), "gradient": ("canny", "localhist"), "gaussian": ("canny",),
              "morphology": ("bgsub",), "components": ("bgsub",)}


def mutants_of(path):
    """Yields (kind, line number, column, old, new) for a file."""
    name = path.name
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0]
        code = re.sub(r'"[^"]*"', lambda m: " " * len(m.group()), code)
        for found in re.finditer(BARRIERS, code):
            yield "barrier", number, found.start(), found.group(), ";"
        for found in re.finditer(ORDERS, code):
            yield "order", number, found.start(), found.group(), "MemoryOrder::relaxed"
        if SKIPPED.search(line):
            continue
        for old, new in SWAPS.items():
            for found in re.finditer(re.escape(old), code):
                yield "operator", number, found.start(), old, new
        bounds = {re.escape(old): new for old, new in BOUNDS.items()}
        if name.endswith((".cu", ".cuh")):
            bounds.update(DEVICE_BOUNDS)
        for old, new in bounds.items():
            for found in re.finditer(old, code):
                yield "bound", number, found.start(), found.group(), new
        for found in re.finditer(r"(?<![\w.])\d+(?![\w.'])", code):
            yield "constant", number, found.start(), found.group(), str(int(found.group()) + 1)


def all_mutants(algorithms, kinds):
    files = subprocess.run(["git", "ls-files", *(f"cuda/{name}" for name in algorithms)], cwd=SOURCE, text=True,
                           capture_output=True, check=True).stdout.split()
    found = []
    for file in files:
        if file.endswith((".h", ".cpp", ".cu", ".cuh")):
            for kind, line, column, old, new in mutants_of(SOURCE / file):
                if kind in kinds:
                    found.append({"file": file, "kind": kind, "line": line, "column": column, "old": old, "new": new})
    return found


def stratified(mutants, count, seed):
    """Draws by turns from each algorithm, backend and kind."""
    groups = {}
    for mutant in mutants:
        backend = "cuda" if mutant["file"].endswith((".cu", ".cuh")) else "cpu" if "_cpu" in mutant["file"] else "both"
        groups.setdefault((mutant["file"].split("/")[1], backend, mutant["kind"]), []).append(mutant)
    draw = random.Random(seed)
    queues = [sorted(group, key=lambda m: json.dumps(m)) for _, group in sorted(groups.items())]
    for queue in queues:
        draw.shuffle(queue)
    draw.shuffle(queues)
    chosen = []
    while any(queues) and (count == 0 or len(chosen) < count):
        for queue in queues:
            if queue and (count == 0 or len(chosen) < count):
                chosen.append(queue.pop())
    return chosen


def run(command, seconds=None, **more):
    try:
        return subprocess.run(command, timeout=seconds, capture_output=True, text=True, errors="replace", **more)
    except subprocess.TimeoutExpired:
        return None


def prepare(jobs):
    """The sources of the last commit, configured without nvcc: the kernels run emulated. Returns a folder for each job."""
    commit = run(["git", "rev-parse", "HEAD"], cwd=ROOT).stdout.strip()
    check_out(SOURCE, commit, lambda: subprocess.run(["git", "clone", "-q", ROOT, SOURCE], check=True))
    if not (SOURCE / "build/build.ninja").exists():
        subprocess.run(["meson", "setup", "build", "-Dcuda=disabled", "-Dtests=enabled", "-Dbenchmarks=disabled",
                        "-Dexamples=disabled", "-Draces=true", "-Dcpp_args=-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)"],
                       cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    targets = run(["ninja", "-C", "build", "-t", "targets", "all"], cwd=SOURCE).stdout
    programs = sorted(set(re.findall(r"^(tests/kernels/\w+_test):", targets, re.M)))
    subprocess.run(["ninja", "-C", "build", *programs], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
    folders = [FOLDER / f"source.{job}" for job in range(jobs)]
    for folder in folders:
        check_out(folder, commit, lambda folder=folder: copy_built(folder))
    return folders


def check_out(folder, commit, make):
    """Calls make if there is no such folder. Files that are the same keep their times."""
    if not folder.exists():
        make()
    subprocess.run(["git", "fetch", "-q", ROOT, commit], cwd=folder, check=True)
    run(["git", "update-index", "-q", "--refresh"], cwd=folder)
    subprocess.run(["git", "checkout", "-q", "--force", commit], cwd=folder, check=True)


def copy_built(folder):
    """The build system names its folder, and would build all anew."""
    shutil.copytree(SOURCE, folder, symlinks=True)
    for command in (["meson", "setup", "--reconfigure", "build", "."], ["ninja", "-C", "build", "-t", "restat", "build.ninja"]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def programs_of(mutant):
    """The programs that test the file, the quickest first."""
    algorithm = mutant["file"].split("/")[1]
    stems = (algorithm, *MORE_TESTS.get(algorithm, ()))
    variants = ["_emulated"] if mutant["file"].endswith((".cu", ".cuh")) else ["", "_emulated"]
    if mutant["kind"] in ("barrier", "order"):
        variants.append("_traced")
    return [(f"{stem}{variant}_test", variant) for variant in variants for stem in stems]


def verdict(mutant, source):
    """killed, survived, or invalid if it does not compile; with the words of what found it."""
    file = source / mutant["file"]
    before = file.read_text()
    lines = before.splitlines(keepends=True)
    text, at, old = lines[mutant["line"] - 1], mutant["column"], mutant["old"]
    lines[mutant["line"] - 1] = text[:at] + mutant["new"] + text[at + len(old):]
    try:
        file.write_text("".join(lines))
        for program, variant in programs_of(mutant):
            built = run(["ninja", "-C", "build", f"tests/kernels/{program}"], cwd=source)
            if built.returncode != 0:
                return "invalid", "does not compile"
            # As in tests/kernels/meson.build.
            orders = ["--gtest_filter=*interleaved*-*_2_2:*_1_3:*launch*:*cost*:*budget*:*refused*:*longest_sides*"] \
                if variant == "_traced" else []
            tested = run([f"build/tests/kernels/{program}", "--gtest_fail_fast", "--gtest_brief=1", *orders], SECONDS[variant], cwd=source)
            if tested is None:
                return "killed", f"{program}: no end"
            if tested.returncode != 0:
                failed = re.search(r"\[  FAILED  \] (\S+)", tested.stdout)
                return "killed", f"{program}: {failed.group(1) if failed else 'a crash'}"
        return "survived", ""
    finally:
        file.write_text(before)


def key(mutant):
    return json.dumps([mutant[name] for name in ("file", "line", "column", "old", "new")])


def describe(mutant):
    code = (SOURCE / mutant["file"]).read_text().splitlines()[mutant["line"] - 1].split(" //")[0].strip()
    return f"{mutant['file']}:{mutant['line']}: {mutant['old'].strip()!r} -> {mutant['new'].strip()!r}: {code}"


def excused(text):
    """Lines of tests/mutants.txt: FILE: 'OLD' -> 'NEW': CODE => REASON."""
    if not EXCUSES.exists():
        return False
    wanted = re.sub(r":\d+: ", ": ", text, count=1)
    return any(line.split(" => ")[0] == wanted for line in EXCUSES.read_text().splitlines() if " => " in line)


def report(results):
    survivors = [r for r in results if r["verdict"] == "survived"]
    excuses = [r for r in survivors if excused(r["text"])]
    killed = sum(r["verdict"] == "killed" for r in results)
    for r in survivors:
        print(("excused: " if r in excuses else "SURVIVED: ") + r["text"])
    counted = killed + len(survivors) - len(excuses)
    print(f"{killed} of {counted} mutants killed ({100 * killed / max(1, counted):.1f} %), {len(excuses)} excused, "
          f"{sum(r['verdict'] == 'invalid' for r in results)} did not compile")
    return 0 if killed >= 0.95 * counted else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="operator,constant,bound,barrier,order")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only show the results that there are")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    if not options.report:
        folders = queue.SimpleQueue()
        for folder in prepare(options.jobs):
            folders.put(folder)
        done = {key(r) for r in results}
        end = time.monotonic() + 60 * options.minutes
        chosen = stratified(all_mutants(options.algorithms.split(","), options.kinds.split(",")), options.count, options.seed)
        lock = threading.Lock()

        def judge(mutant):
            if time.monotonic() > end:
                return
            mutant["text"] = describe(mutant)
            folder = folders.get()
            try:
                mutant["verdict"], mutant["by"] = verdict(mutant, folder)
            finally:
                folders.put(folder)
            with lock, RESULTS.open("a") as file:
                print(f"{mutant['verdict']} {mutant['by']}: {mutant['text']}", flush=True)
                file.write(json.dumps(mutant) + "\n")
                results.append(mutant)

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(judge, (mutant for mutant in chosen if key(mutant) not in done)))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
