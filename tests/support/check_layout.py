#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the source tree to the rules of cuda/README.md.

usage: check_layout.py                            the whole tree: suffixes, includes, linkage of kernels, width of comments
       check_layout.py --build BUILD              and every source file is compiled in that build
       check_layout.py --listed FOLDER FILE...    every .cpp file of FOLDER is among the FILEs of its meson.build

Prints each violation as FILE:LINE: text and ends in 1 if there is one.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("cuda", "gst", "tests", "examples")
# What stands beside these folders, but for files whose names begin with a dot.
TOP_LEVEL = {"meson.build", "meson_options.txt", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "debian"}
SUFFIXES = {".cpp", ".h", ".cu", ".cuh"}
MOST_COLUMNS = 120
# Headers that are found by other include paths, such as the example that a test includes as a user's copy.
FOREIGN_INCLUDES = {"elements.inc", "read_metas.cpp"}

# A build has either the CUDA files of gst/base or their replacement.
OF_ANOTHER_CONFIGURATION = {"no_cuda.cpp", "simt_race_test.cpp"}

# The macro of host-device functions, and the two types whose accessors all code calls.
BASE_HEADERS = {"host_device.h", "frame.h", "image.h"}

complaints = []


def complain(path, line, text):
    complaints.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def code_of(text):
    """The text without comments and strings, with its lines where they were."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_includes(path, text):
    for match in re.finditer(r'^#include "([^"]+)"', text, re.M):
        name = match.group(1)
        if name in FOREIGN_INCLUDES or name.startswith("@"):
            continue
        if path.is_relative_to(ROOT / "examples") and (path.parent / name).is_file():
            continue  # an example is a folder that a user copies
        if name.split("/")[0] not in FOLDERS or not (ROOT / name).is_file():
            complain(path, line_of(text, match.start()), f'"{name}" is no path from the root of the project')


def check_kernels(path, code):
    for match in re.finditer(r"__global__", code):
        before = code[:match.start()].rsplit(None, 1)
        if not before or before[-1] != "static":
            complain(path, line_of(code, match.start()), "a kernel is declared static __global__")


def check_backends(path, code):
    """x_backends.h: pairs of functions of the backends, and functions of the .cpp files that belong to neither."""
    shared = "".join(other.read_text(encoding="utf-8") for other in path.parent.glob("*.cpp")
                     if not other.name.endswith(("_cpu.cpp", "_simd.cpp")))
    functions = {m.group(2): m for m in re.finditer(r"^(?!inline)(\w[\w:<>&* ]*[ &*])(\w+)\(", code, re.M)}
    for match in re.finditer(r"^decltype\(\w+\) ([\w, ]+);", code, re.M):
        functions.update((name, match) for name in match[1].split(", "))
    for name, match in functions.items():
        other = re.sub(r"_(cpu|cuda)$", lambda end: "_cuda" if end[1] == "cpu" else "_cpu", name)
        if other not in functions if other != name else not re.search(rf"\b{name}\([^;{{]*\{{", shared):
            complain(path, line_of(code, match.start()), f"{name}() is no function of x.cpp, and not of both backends")


def check_suffix(path, text, code):
    name = path.name
    rules = []
    if name.endswith((".h", ".cpp")):
        rules.append((r"__global__|<<<", "kernels stand in .cu and .cuh files"))
    if name.endswith(".h") and not name.endswith(("_rules.h", "_cuda.h")) and name not in BASE_HEADERS:
        rules.append((r"CUDAVISION_HOST_DEVICE (?!constexpr)",
                      "arithmetic of both backends that is not constexpr stands in x_rules.h"))
        rules.append((r"#include <cuda_runtime|__CUDA_ARCH__", "code that needs CUDA stands in x_cuda.h"))
    if name.endswith(("_cpu.cpp", "_cpu.h", "_simd.cpp", "_simd.h", "_rules.h")):
        rules.append((r"CUDAVISION_HAVE_CUDA|CUDAVISION_IF_CUDA", "only x.cpp chooses a backend"))
    if name.endswith("_rules.h"):
        rules.append((r"\bmake_\w+_(cpu|cuda)\s*\(|unique_ptr", "the factories of backends stand in x_backends.h"))
    if name.endswith(".cuh"):
        rules.append((r"CUDAVISION_LAUNCH|\bStatus\b|std::vector|unique_ptr", "host code stands in .cu or x_cuda.h"))
    if name.endswith("_backends.h"):
        check_backends(path, code)
    simd = "_simd." in name or name.endswith("-inl.h")
    highway = re.search(r'#include "hwy/|#include <hwy/', text)
    if bool(highway) != simd and name.endswith(".cpp"):
        complain(path, 1, "code of Highway stands in x_simd.cpp, and nothing else does")
    for pattern, rule in rules:
        if match := re.search(pattern, code):
            complain(path, line_of(code, match.start()), rule)


def check_top_level():
    """Files that git knows: others are somebody's own. Without git nothing is known."""
    if shutil.which("git") is None:
        return
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    for name in sorted({path.split("/")[0] for path in known} - TOP_LEVEL - set(FOLDERS)):
        if not name.startswith("."):
            complain(ROOT / name, 1, "documentation and tools lie in the folder that they describe")


def check_width(path, text):
    """clang-format does not wrap comments."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_COLUMNS and re.match(r"\s*(//|\*|/\*)|.*[;,{})] +//", line):
            complain(path, number, f"a comment has at most {MOST_COLUMNS} columns")


def check_tree():
    check_top_level()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            check_includes(path, text)
            check_width(path, text)
            if folder == "cuda":
                code = code_of(text)
                check_kernels(path, code)
                check_suffix(path, text, code)


def check_listed(folder, listed):
    for path in sorted(pathlib.Path(folder).glob("*.cpp")):
        if path.name not in listed:
            complain(path, 1, "no list in the folder's meson.build names this file: it would never be built")


def check_compiled(build):
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    compiled = {(pathlib.Path(c["directory"]) / c["file"]).resolve() for c in commands}
    emulated = {pathlib.Path(name).name for name in compiled}
    for folder in ("cuda", "gst", "tests/kernels", "tests/elements", "tests/meta", "tests/pipelines", "tests/simt",
                   "tests/fakecuda"):
        for path in sorted((ROOT / folder).rglob("*")):
            as_emulated = f"{path.parent.name}_{path.stem}.emu.cpp"
            if path.suffix == ".cpp" and path not in compiled and path.name not in OF_ANOTHER_CONFIGURATION:
                complain(path, 1, "no meson.build names this file: it would never be built")
            if path.suffix == ".cu" and as_emulated not in emulated:
                complain(path, 1, "no meson.build names this file: it would never be built")


if len(sys.argv) > 2 and sys.argv[1] == "--listed":
    check_listed(pathlib.Path(sys.argv[2]).resolve(), set(sys.argv[3:]))
else:
    check_tree()
    if len(sys.argv) > 2 and sys.argv[1] == "--build":
        check_compiled(pathlib.Path(sys.argv[2]).resolve())
print("\n".join(complaints), end="\n" if complaints else "")
sys.exit(1 if complaints else 0)
