#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that every element of the plugin has a page, that all these pages have one shape, and that lists of elements
name every one.

usage: shape.py

A page gst/docs/<element>.md has a title, a summary, a picture with a description if the element draws, and the sections
below in their order. At least three pipelines have the element in them. A list that leaves an element out says why in a
comment: `without cudavisionjson: it draws nothing`.
"""
import re
import sys

import gi

from pages import ROOT, Report, blocks_of
from property_tables import elements

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

DRAWS_NOTHING = ("cudavisionjson",)
FOLDER = ROOT / "gst" / "docs"
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


def main():
    Gst.init(None)
    report, known = Report(), elements()
    for element in known:
        page = FOLDER / f"{element}.md"
        complaints = complaints_of(element, page) if page.is_file() else ["the element has no page"]
        for complaint in complaints:
            report.complain(f"gst/docs/{element}.md", complaint)
        check_lists(element, report)
    return report.finish(f"shape: {len(known)} elements")


if __name__ == "__main__":
    sys.exit(main())
