#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the program texts and the JSON of all pages.

usage: programs.py [PART_OF_A_PAGE'S_NAME]

Python is run. A program that needs PyTorch or CuPy where there is none is compiled, its names are looked up, and it is
listed. C and C++ are compiled without output. JSON is a line of cudavisionjson, unless a note says otherwise. Blocks of
other languages need a note.
"""
import ast
import importlib.util
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import gi
import jsonschema

import json_lines
from links import CODE
from pages import ROOT, Block, Report, all_pages, blocks_of, name_of, text_outside_blocks
from stand_ins import StandIns

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision  # noqa: E402

SECONDS = 300
LARGE_PACKAGES = ("torch", "cupy")
MODULES = {"Gst": Gst, "GstCudaVision": GstCudaVision}
# The code before a fragment in Python that uses `buffer` without making it: a frame with metas of every kind.
FRAME = """from frames import Gst, GstCudaVision, frames
buffer = next(frames("filesrc location=vtest.avi ! decodebin ! videoconvert ! cudacanny display=false ! "
                     "cudahistogram display=false ! cudasigma2kp display=false ! cudahough display=false ! "
                     "cudahog model=people display=false"))
"""
NOT_PROGRAMS = ("sh", "bash", "shell", "console", "text", "mermaid", "diff")
COMMAND = re.compile(r"^\s*(\$ )?(gst-(launch|inspect)-1\.0|meson|ninja|python3|sudo|docker|podman|kubectl)\b", re.M)
# The code before the fragments in the READMEs of the test's own libraries.
PREAMBLES = {
    "tests/simt/README.md": '#include <gtest/gtest.h>\n#include "tests/simt/simt.h"\n'
                            "int run_the_algorithm();\nextern const int expected;\n",
    "tests/fakecuda/README.md": '#include <gtest/gtest.h>\n#include "tests/fakecuda/fakecuda.h"\n',
}
# The code before every fragment in C and C++.
INCLUDES = """#include <gst/gst.h>
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <gst/cudavision/cudavision.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudautils.h>
extern GstElement *pipeline;
extern GstBuffer *buffer;
"""
FUNCTION = re.compile(r"^(?!for\b|if\b|while\b|switch\b|else\b|do\b)\w[^;=#\n]*\([^;]*\)\s*\{", re.M)


class Checker:
    def __init__(self, folder):
        self.folder, self.report, self.counts, self.not_run = pathlib.Path(folder), Report(), {}, []
        self.stand_ins, self.flags = None, None
        with open(ROOT / "gst/visionjson/cudavisionjson.schema.json", encoding="utf-8") as file:
            self.schema = jsonschema.Draft202012Validator(json.load(file))

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    # --- Python ---

    def check_python(self, block):
        text = block.notes.get("run with", "") + "\n" + block.text
        try:
            text = self._preamble(ast.parse(text)) + text
            tree = ast.parse(text)
        except SyntaxError as error:
            self.report.complain(block.place, f"the Python is wrong: {error.msg}: {(error.text or '').strip()}")
            return
        self._look_up_names(block, tree)
        reason = block.notes.get("not run") or self._missing_packages(tree)
        if reason:
            self.count("Python parsed")
            self.not_run.append(f"parsed: the Python at {block.place}: {reason}")
            return
        self.count("Python run")
        self._run_python(block, text)

    @staticmethod
    def _preamble(tree):
        """Returns the code that defines what a fragment uses and does not define: packages, and the frame of FRAME."""
        nodes = list(ast.walk(tree))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        defined = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        defined |= {alias.asname or alias.name for node in imports for alias in node.names}
        missing = {node.id for node in names} - defined
        packages = "".join(f"import {name}\n" for name in ("cupy", "numpy", "torch") if name in missing)
        return packages + (FRAME if "buffer" in missing else "")

    def _look_up_names(self, block, tree):
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.Attribute)):
            module = MODULES.get(node.value.id) if isinstance(node.value, ast.Name) else None
            if module is not None and not hasattr(module, node.attr):
                self.report.complain(block.place, f"{node.value.id} has no {node.attr}")

    @staticmethod
    def _missing_packages(tree):
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        missing = [name for name in LARGE_PACKAGES if name in used and importlib.util.find_spec(name) is None]
        return f"needs {' and '.join(missing)}" if missing else ""

    def _run_python(self, block, text):
        if self.stand_ins is None:
            self.stand_ins = StandIns(self.folder)
        folder = self.stand_ins.folder_for(text, self.folder / f"{block.page.stem}{block.line}")
        try:
            result = subprocess.run([sys.executable, "-c", self.stand_ins.local(text)], cwd=folder, capture_output=True,
                                    text=True, env=self.stand_ins.environment, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            self.report.complain(block.place, f"the Python did not end within {SECONDS} s")
            return
        if result.returncode != 0:
            said = result.stderr.strip()[-600:]
            self.report.complain(block.place, f"the Python ended in {result.returncode}: {said}")

    # --- C and C++ ---

    def _compiler_flags(self):
        """The flags that find the headers of GStreamer and of this project."""
        if self.flags is None:
            packages = ["gstreamer-video-1.0", "gstreamer-app-1.0", "gstreamer-cuda-1.0"]
            result = subprocess.run(["pkg-config", "--cflags", *packages], capture_output=True, text=True, check=True)
            self.flags = [*shlex.split(result.stdout), f"-I{ROOT}", f"-I{ROOT / 'gst/meta/include'}",
                          f"-idirafter{ROOT / 'tests/fakecuda/include'}",
                          "-DGST_USE_UNSTABLE_API", "-fsyntax-only", "-Wall", "-Wno-unused", "-Werror"]
        return self.flags

    def check_c(self, block):
        is_c = block.language == "c"
        before = INCLUDES + (block.notes.get("compile with") or PREAMBLES.get(name_of(block.page), ""))
        first = f"\n#line {block.line} \"{name_of(block.page)}\"\n"
        text = first + block.text
        if "#include" not in block.text and not FUNCTION.search(block.text):
            text = "\nvoid page(void);\nvoid page(void) {" + text + "}\n"
        compiler = ["gcc", "-std=gnu11", "-xc"] if is_c else ["g++", "-std=c++20", "-xc++"]
        result = subprocess.run([*compiler, *self._compiler_flags(), "-"], input=before + text, capture_output=True,
                                text=True, cwd=ROOT, check=False)
        self.count("C compiled" if is_c else "C++ compiled")
        if result.returncode != 0:
            self.report.complain(block.place, f"the compiler says: {result.stderr.strip()[:600]}")

    # --- JSON ---

    def check_json(self, block):
        try:
            documents = json_lines.documents(block.text)
        except ValueError as error:
            self.report.complain(block.place, f"this is no JSON: {error}")
            return
        self.count("documents of JSON")
        if "other json" in block.notes:
            return
        for document in documents:
            for error in self.schema.iter_errors(document):
                where = "/".join(str(part) for part in error.absolute_path)
                self.report.complain(block.place, f"the schema says: {where}: {error.message[:300]}")

    def check_inline_json(self, page):
        text = text_outside_blocks(page)
        for match in CODE.finditer(text):
            code = " ".join(match.group(2).split())
            if code.startswith('{"'):
                self.check_json(Block(page, text.count("\n", 0, match.start()) + 1, "json", code, {}))

    # --- others ---

    def check_other(self, block):
        if "not checked" in block.notes:
            self.count("not checked")
            self.not_run.append(f"not checked: {block.language} at {block.place}: {block.notes['not checked']}")
        elif block.language == "" and (COMMAND.search(block.text) or block.text.lstrip().startswith('{"')):
            self.report.complain(block.place, "a block with commands or JSON names its language")
        elif block.language not in ("", *NOT_PROGRAMS):
            self.report.complain(block.place,
                                 f"no check knows the language {block.language}: add one, or a note `not checked`")

    def check(self, block):
        kinds = {"python": self.check_python, "py": self.check_python, "c": self.check_c, "cpp": self.check_c,
                 "c++": self.check_c, "json": self.check_json}
        kinds.get(block.language, self.check_other)(block)


def main():
    Gst.init(None)
    pages = [page for page in all_pages() if len(sys.argv) < 2 or sys.argv[1] in str(page)]
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(folder)
        for page in pages:
            checker.check_inline_json(page)
            for block in blocks_of(page):
                checker.check(block)
    print("\n".join(checker.not_run))
    counts = ", ".join(f"{count} {what}" for what, count in sorted(checker.counts.items()))
    return checker.report.finish(f"programs: {counts or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
