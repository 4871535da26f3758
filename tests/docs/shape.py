#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that every element of the plugin has a page, that all these pages have one shape, and that lists of elements
name every one; that the main README is short, and that the index of the cookbook leads to recipes that tests run.

usage: shape.py

A page gst/docs/<element>.md has a title, a summary, a picture with a description if the element draws, and the sections
below in their order. At least three pipelines have the element in them. A list that leaves an element out says why in a
comment: `without cudavisionjson: it draws nothing`.
"""
import re
import sys

import gi

import statements
from links import anchor_of
from pages import ROOT, Report, blocks_of, text_outside_blocks
from property_tables import elements

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

DRAWS_NOTHING = ("cudavisionjson",)
FOLDER = ROOT / "gst" / "docs"
COOKBOOK = ROOT / "examples" / "README.md"
LONGEST_README = 150  # lines
SECTIONS = ["What it (computes|draws|writes)", "Three pipelines", "What is attached", "JSON", "Properties",
            "What it costs", "Limits", "How it differs from OpenCV"]
# The lists that are written by hand, and how each names an element: {e} is its name, {stem} its folder in cuda/.
LISTS = {
    "README.md": r"^\| \[`{e}`\]\(gst/docs/{e}\.md\) \|",
    "CHANGELOG.md": r"`{e}`",
    "cuda/README.md": r"\[{stem}\]\({stem}/README\.md\)",
    "examples/demo.sh": r"^[^#]*\b{e}\b",
    "examples/gallery.sh": r"^keep {e} ",
    "gst/docs/README.md": r"^\| \[{e}\]\({e}\.md\) \|",
    "tests/bench/streams_bench.cpp": r"\"{e}\b",
    "tests/examples/first_half_hour.sh": r"^elements=\([^)]*\b{e}\b",
}


def complaints_of(element, page):
    text = page.read_text(encoding="utf-8")
    if not re.match(rf"# {element}\n\n`{element}` [^\n]+", text):
        yield "the page does not begin with the element's name and a sentence about it"
    if element not in DRAWS_NOTHING and not re.search(rf"!\[[^\]]{{20,}}\]\(pictures/{element}\.webp\)", text):
        yield "the page has no picture with a description"
    headings = re.findall(r"^## (.*)$", text, re.M)
    known = [heading for heading in headings if any(re.fullmatch(section, heading) for section in SECTIONS)]
    if len(known) != len(SECTIONS) or not all(map(re.fullmatch, SECTIONS, known)):
        yield f"the sections are {', '.join(known)}"
    used = re.compile(rf"![\s\\]+{element}\b")
    launched = [block for block in blocks_of(page) if block.language == "sh" and used.search(block.text)]
    if len(launched) < 3:
        yield f"{len(launched)} pipelines have the element in them, not three"


def check_lists(element, report):
    stem = element.removeprefix("cuda")
    for name, pattern in LISTS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.startswith("cuda/") and not (ROOT / "cuda" / stem).is_dir():
            continue
        if not re.search(pattern.format(e=element, stem=stem) + rf"|(#|//|<!--) without {element}: \w", text, re.M):
            report.complain(name, f"{element} is not in the list, and no comment says why")


def is_run(block):
    """Whether a test runs a part of the block, which may be another test than those of the pages."""
    if block.language == "sh" and not block.notes.keys() & {"not run", "run by"}:
        return any(statements.kind_of(part.text)[0] != statements.PARSED for part in statements.split(block.text)[0])
    return block.language in ("sh", "python") and "not run" not in block.notes


def section_of(page, anchor):
    """The numbers of the first line and of the one behind the last of a section and its subsections; without an anchor,
    those of the page."""
    lines = text_outside_blocks(page).split("\n")
    levels = {number: len(line) - len(line.lstrip("#")) for number, line in enumerate(lines, 1) if re.match("#+ ", line)}
    if not anchor:
        return 1, len(lines)
    first = next((number for number in levels if anchor_of(lines[number - 1].lstrip("# ")) == anchor), len(lines))
    return first, next((number for number in levels if number > first and levels[number] <= levels[first]), len(lines))


def check_index(report):
    """Each row of the table at the cookbook's top leads to a section with something that is run."""
    rows = re.findall(r"^\| [^|]+ \| \[[^]]+\]\(([^)#]*)#?([^)]*)\) \|$", COOKBOOK.read_text(encoding="utf-8").split("\n## ")[0], re.M)
    if len(rows) < 10:
        report.complain("examples/README.md", f"the index at the top has {len(rows)} rows")
    for path, anchor in rows:
        page = (COOKBOOK.parent / path).resolve() if path else COOKBOOK
        first, end = section_of(page, anchor)
        if not any(first <= block.line < end and is_run(block) for block in blocks_of(page)):
            report.complain("examples/README.md", f"no test runs a command or a program of {path}#{anchor}")


def main():
    Gst.init(None)
    report, known = Report(), elements()
    for element in known:
        page = FOLDER / f"{element}.md"
        complaints = complaints_of(element, page) if page.is_file() else ["the element has no page"]
        for complaint in complaints:
            report.complain(f"gst/docs/{element}.md", complaint)
        check_lists(element, report)
    if (count := len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())) > LONGEST_README:
        report.complain("README.md", f"{count} lines, not {LONGEST_README} at most")
    check_index(report)
    return report.finish(f"shape: {len(known)} elements")


if __name__ == "__main__":
    sys.exit(main())
