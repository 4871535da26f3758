#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds an element to the source tree: an algorithm with both backends, the element, its tests and its pages.

usage: new_element.py NAME     NAME: the stem of all names, lower-case letters and digits, as canny: the element is cudacanny

The new element marks bright pixels. It builds and passes its tests, so that only its arithmetic, its properties and its
texts have to be replaced (CONTRIBUTING.md). The files come from the templates in new_element/.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATES = pathlib.Path(__file__).resolve().parent / "new_element"

# Where the element is listed: a file, what the new text follows there (the last match), and the new text.
LISTS = [
    ("meson.build", r"^elements = \[[^\]]*'", ", '@name@'"),
    ("CHANGELOG.md", r"\A.*?^### Added\n\n", "- The element `cuda@name@` marks the bright pixels of every frame.\n"),
    ("README.md", r"^\| \[`cudainpaint`\].*\n",
     "| [`cuda@name@`](gst/docs/cuda@name@.md) | marks bright pixels | `cv::threshold`: every byte |\n"),
    ("cuda/README.md", r"\[\w+\]\(\w+/README\.md\)(?=\. Each of these)", " ·\n[@name@](@name@/README.md)"),
    ("examples/demo.sh", r"^show \w+ cudahistogram .*\n", "show @name@ cuda@name@ post-messages=true\n"),
    ("examples/gallery.sh", r"^keep cudacanny .*\n",
     "\npicture butterfly.jpg \"${butterfly[@]}\" ! cuda@name@ roi-x=493\nkeep cuda@name@ 80\n"),
    ("gst/docs/README.md", r"^\| \[cudainpaint\].*\n", "| [cuda@name@](cuda@name@.md) | marks bright pixels |\n"),
    ("gst/docs/pictures/README.md", r"^\| `cudacanny\.webp`.*\n",
     "| `cuda@name@.webp` | a butterfly; the right half of the picture shows its bright pixels | `butterfly.jpg` |\n"),
    ("tests/bench/streams_bench.cpp", r'^    \{"hog", .*\n', '    {"@name@", {"cuda@name@"}},\n'),
    ("tests/examples/first_half_hour.sh", r"^elements=\(identity", " cuda@name@"),
]


def filled(template, name):
    version = re.search(r"version: '(\d+)\.(\d+)", (ROOT / "meson.build").read_text(encoding="utf-8"))
    # The next minor version: a release with new elements has one.
    since = f"{version[1]}.{int(version[2]) + 1}"
    return template.replace("@name@", name).replace("@Name@", name.capitalize()).replace("@version@", since)


def write_files(name):
    made = []
    for template in sorted(TEMPLATES.rglob("*.in")):
        path = ROOT / filled(str(template.relative_to(TEMPLATES).with_suffix("")), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(template.read_text(encoding="utf-8"), name), encoding="utf-8")
        made.append(path)
    if shutil.which("clang-format"):  # names of other lengths break lines elsewhere, and sort includes otherwise
        sources = [path for path in made if path.suffix in (".cpp", ".h", ".cu")]
        subprocess.run(["clang-format", "-i", *sources], check=True)
    return made


def enter(name):
    for file, place, text in LISTS:
        path = ROOT / file
        old = path.read_text(encoding="utf-8")
        matches = list(re.finditer(place, old, re.M | (re.S if file == "CHANGELOG.md" else 0)))
        if not matches:
            sys.exit(f"{file} has no place for the new element: nothing matches {place}")
        end = matches[-1].end()
        path.write_text(old[:end] + filled(text, name) + old[end:], encoding="utf-8")


def main():
    if len(sys.argv) != 2 or not re.fullmatch(r"[a-z][a-z0-9]+", sys.argv[1]):
        sys.exit(__doc__)
    name = sys.argv[1]
    if (ROOT / "cuda" / name).exists() or (ROOT / "gst" / name).exists():
        sys.exit(f"cuda/{name} or gst/{name} exists already")
    for path in write_files(name):
        print(path.relative_to(ROOT))
    enter(name)
    print("changed: " + ", ".join(file for file, _, _ in LISTS))


main()
