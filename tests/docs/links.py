#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that what the pages point at exists: links, anchors, pictures, and the files of the repository that they name.

usage: links.py

Links to the web are not followed.
"""
import re
import sys
import urllib.parse

from pages import ROOT, Report, all_pages, name_of, text_outside_blocks

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|"
                  r"<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)=\"([^\"]+)\"", re.S)
DEFINITION = re.compile(r"^\[[^\]]+\]:\s+(\S+)", re.M)
CODE = re.compile(r"(`+)(.+?)\1", re.S)
# CONTRIBUTING.md shows how to add an element by this name.
INVENTED = re.compile(r"/(cuda)?blur(_|/|\.|$)")
PATH = re.compile(r"(?:cuda|debian|examples|gst|tests)/[\w./+-]*[\w/]")


def anchor_of(heading):
    """The anchor that GitHub and GitLab give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text, flags=re.U).replace(" ", "-")


def anchors_of(page):
    text, anchors = text_outside_blocks(page), set()
    for match in re.finditer(r"^#{1,6}\s+(.*?)\s*#*$", text, re.M):
        anchor, copy = anchor_of(match.group(1)), 0
        while (name := anchor if copy == 0 else f"{anchor}-{copy}") in anchors:
            copy += 1
        anchors.add(name)
    return anchors | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def check_link(page, place, target, report):
    if re.match(r"[a-z][a-z0-9+.-]*:", target, re.I):
        return
    path, _, anchor = target.partition("#")
    path = urllib.parse.unquote(path)
    file = page if not path else ROOT / path[1:] if path.startswith("/") else page.parent / path
    if not file.exists():
        report.complain(place, f"the link {target} points at nothing")
    elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
        report.complain(place, f"the link {target} points at a heading that {name_of(file.resolve())} does not have")


def without_code(text):
    return CODE.sub(lambda match: "`" + "\n" * match.group(0).count("\n") + "`", text)


def check_page(page, report):
    text = text_outside_blocks(page)
    prose, count = without_code(text), 0
    for match in [*LINK.finditer(prose), *DEFINITION.finditer(prose)]:
        target = next(group for group in match.groups() if group)
        check_link(page, f"{name_of(page)}:{prose.count(chr(10), 0, match.start()) + 1}", target, report)
        count += 1
    for match in CODE.finditer(text):
        name = match.group(2).split(" ")[0]
        if PATH.fullmatch(name) and not INVENTED.search(name):
            count += 1
            if not (ROOT / name).exists() and not (page.parent / name).exists():
                place = f"{name_of(page)}:{text.count(chr(10), 0, match.start()) + 1}"
                report.complain(place, f"the repository has no {name}")
    return count


def main():
    report, pages = Report(), all_pages()
    count = sum(check_page(page, report) for page in pages)
    return report.finish(f"links: {count} in {len(pages)} pages")


if __name__ == "__main__":
    sys.exit(main())
