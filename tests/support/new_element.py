#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds an element to the source tree: an algorithm with both backends, the element, its tests and its pages.

usage: new_element.py NAME [PREFIX]     NAME: the stem of all names, lower-case letters, digits; canny makes cudacanny
                                        PREFIX: vision makes the element cudavisioncanny of the algorithm cuda/canny

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
# The build's lists depend on whether element and algorithm have one name.
BUILD_LISTS = {
    True: [("meson.build", r"^elements = \[[^\]]*'", ", '@name@'")],
    False: [
        ("meson.build", r"^elements_alone = \[[^\]]*'", ", '@element@'"),
        ("meson.build", r"^helper_algorithms = \[[^\]]*'", ", '@name@'"),
        ("gst/meson.build", r"^element_sources = \{\n", "  '@element@': ['@element@_operation'],\n"),
    ],
}
LISTS = [
    ("CHANGELOG.md", r"\A.*?^### Added\n\n", "- The element `cuda@element@` marks the bright pixels of every frame.\n"),
    ("README.md", r"^\| \[`cudainpaint`\].*\n",
     "| [`cuda@element@`](gst/docs/cuda@element@.md) | marks bright pixels | `cv::threshold`: every byte |\n"),
    ("cuda/README.md", r"\[\w+\]\(\w+/README\.md\)(?=\. Each of these)", " ·\n[@name@](@name@/README.md)"),
    ("examples/demo.sh", r"^show \w+ cudahistogram .*\n", "show @name@ cuda@element@ post-messages=true\n"),
    ("examples/gallery.sh", r"^keep cudacanny .*\n",
     "\npicture butterfly.jpg \"${butterfly[@]}\" ! cuda@element@ roi-x=493\nkeep cuda@element@ 80\n"),
    ("gst/docs/README.md", r"^\| \[cudainpaint\].*\n", "| [cuda@element@](cuda@element@.md) | marks bright pixels |\n"),
    ("gst/docs/pictures/README.md", r"^\| `cudacanny\.webp`.*\n",
     "| `cuda@element@.webp` | a butterfly; the right half of the picture shows its bright pixels | `butterfly.jpg` |\n"),
    ("tests/bench/streams_bench.cpp", r'^    \{"hog", .*\n', '    {"@name@", {"cuda@element@"}},\n'),
    ("tests/examples/first_half_hour.sh", r"^elements=\(identity", " cuda@element@"),
]


def filled(template, name, prefix):
    version = re.search(r"version: '(\d+)\.(\d+)", (ROOT / "meson.build").read_text(encoding="utf-8"))
    # The next minor version: a release with new elements has one.
    since = f"{version[1]}.{int(version[2]) + 1}"
    values = {"@name@": name, "@Name@": name.capitalize(), "@element@": prefix + name,
              "@Element@": prefix.capitalize() + name.capitalize(), "@version@": since}
    for place, value in values.items():
        template = template.replace(place, value)
    return template


def write_files(name, prefix):
    made = []
    for template in sorted(TEMPLATES.rglob("*.in")):
        path = ROOT / filled(str(template.relative_to(TEMPLATES).with_suffix("")), name, prefix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(template.read_text(encoding="utf-8"), name, prefix), encoding="utf-8")
        made.append(path)
    if shutil.which("clang-format"):  # names of other lengths break lines elsewhere, and sort includes otherwise
        sources = [path for path in made if path.suffix in (".cpp", ".h", ".cu")]
        subprocess.run(["clang-format", "-i", *sources], check=True)
    return made


def enter(name, prefix):
    lists = BUILD_LISTS[prefix == ""] + LISTS
    for file, place, text in lists:
        path = ROOT / file
        old = path.read_text(encoding="utf-8")
        matches = list(re.finditer(place, old, re.M | (re.S if file == "CHANGELOG.md" else 0)))
        if not matches:
            sys.exit(f"{file} has no place for the new element: nothing matches {place}")
        end = matches[-1].end()
        path.write_text(old[:end] + filled(text, name, prefix) + old[end:], encoding="utf-8")
    return [file for file, _, _ in lists]


def main():
    if not 2 <= len(sys.argv) <= 3 or not all(re.fullmatch(r"[a-z][a-z0-9]+", word) for word in sys.argv[1:]):
        sys.exit(__doc__)
    name, prefix = sys.argv[1], "".join(sys.argv[2:])
    if (ROOT / "cuda" / name).exists() or (ROOT / "gst" / (prefix + name)).exists():
        sys.exit(f"cuda/{name} or gst/{prefix}{name} exists already")
    for path in write_files(name, prefix):
        print(path.relative_to(ROOT))
    print("changed: " + ", ".join(dict.fromkeys(enter(name, prefix))))


main()
