#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the figures on the pages that are older than the code that they describe.

usage: figures.py

Figures are those under "What it costs" on the pages of the elements; they are as old as the oldest date there. The code
is that of the element's folder, cuda/NAME or gst/NAME, without comments and tests.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def dates_of(page):
    """The dates under "What it costs"."""
    costs = re.search(r"^## What it costs\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    return sorted(set(re.findall(r"\b20\d\d-\d\d-\d\d\b", costs[1]))) if costs else []


def changes_since(folder, date):
    """The commits after the day `date` that change code in the folder."""
    log = subprocess.run(["git", "log", "--format=%h %as %s", f"--since={date}T23:59:59", "-G", r"^\s*[^/ ]", "--", f"{folder}/*.cu",
                          f"{folder}/*.cuh", f"{folder}/*.cpp", f"{folder}/*.h"], cwd=ROOT, check=True, capture_output=True, text=True)
    return log.stdout.splitlines()


def main():
    """Prints a line for each page, and the commits since its figures."""
    for page in sorted((ROOT / "gst/docs").glob("cuda*.md")):
        name = page.stem.removeprefix("cuda")
        folder = next((path for path in (f"cuda/{name}", f"gst/{name}") if (ROOT / path).is_dir()), None)
        if name == "visionredact":
            folder = "cuda/redact"
        dates = dates_of(page)
        if not dates or folder is None:
            print(f"{page.stem}: no dated figures")
            continue
        changes = changes_since(folder, dates[0])
        print(f"{page.stem}: measured on {', '.join(dates)}; {len(changes)} commits in {folder} since the first of these days")
        for change in changes:
            print(f"  {change}")


if __name__ == "__main__":
    main()
