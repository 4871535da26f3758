#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of neighbours in gst/docs/company.md.

  page.py --write    writes the table of neighbours.py into the page; company_test.py compares them
"""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "gst" / "docs" / "company.md"
MARKED = re.compile(r"(<!-- neighbours -->\n).*?(<!-- end -->)", re.S)
HEAD = "| neighbour | played | frames that come to the element | results of an element before the neighbour |\n|---|---|---|---|\n"
BEHIND = {"same": "stay", "moved": "follow or are dropped", "lost": "are dropped", "": "–"}


def played(neighbour, all_modes):
    if neighbour.modes == all_modes:
        return "in all ways"
    left_out = [mode for mode in all_modes if mode not in neighbour.modes]
    return ", ".join(neighbour.modes) if len(neighbour.modes) <= len(left_out) else "all but " + ", ".join(left_out)


def table(neighbours, all_modes):
    return HEAD + "".join(
        f"| {neighbour.name} | {played(neighbour, all_modes)} | {'those of the source' if neighbour.keeps else 'new ones'} "
        f"| {BEHIND[neighbour.behind]} |\n" for neighbour in neighbours)


def text_with(new):
    return MARKED.sub(lambda match: match.group(1) + new + match.group(2), PAGE.read_text(encoding="utf-8"))


def is_up_to_date(neighbours, all_modes):
    return text_with(table(neighbours, all_modes)) == PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    Gst.init(None)
    from modes import ALL
    from neighbours import NEIGHBOURS

    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    PAGE.write_text(text_with(table(NEIGHBOURS, ALL)), encoding="utf-8")
