#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that every element of the plugin has a page, and that all these pages have one shape.

usage: shape.py

A page gst/docs/<element>.md has a title, a summary, a picture with a description if the element draws, and the sections
below in their order. At least three pipelines have the element in them. The index gst/docs/README.md links the page.
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
    if f"]({page.name})" not in (FOLDER / "README.md").read_text(encoding="utf-8"):
        yield "gst/docs/README.md does not link the page"


def main():
    Gst.init(None)
    report, known = Report(), elements()
    for element in known:
        page = FOLDER / f"{element}.md"
        complaints = complaints_of(element, page) if page.is_file() else ["the element has no page"]
        for complaint in complaints:
            report.complain(f"gst/docs/{element}.md", complaint)
    return report.finish(f"shape: {len(known)} elements")


if __name__ == "__main__":
    sys.exit(main())
