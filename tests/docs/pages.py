# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the Markdown pages of the repository: their blocks of code, and the notes about a block, which are HTML
comments right before it (tests/docs/README.md)."""
import dataclasses
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTES = ("not run", "run by", "run with", "compile with", "other json", "not checked")
FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([\w+-]*)")
NOTE = re.compile(r"\A(" + "|".join(NOTES) + r"):\s*(.*)\Z", re.S)


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int  # of its first line of text
    language: str
    text: str
    notes: dict

    @property
    def place(self):
        return f"{name_of(self.page)}:{self.line}"


def name_of(page):
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else str(page)


def all_pages():
    """The Markdown files that git knows or would add; without git, those of the source folders.

    The environment variable CUDAVISION_PAGES names others."""
    if given := os.environ.get("CUDAVISION_PAGES"):
        return [pathlib.Path(page) for page in given.split(":")]
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "*.md"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return sorted({path for name in listed.stdout.split("\n") if name and (path := ROOT / name).is_file()})
    folders = ("cuda", "debian", "examples", "gst", "tests")
    return sorted([*ROOT.glob("*.md"), *(page for folder in folders for page in (ROOT / folder).rglob("*.md"))])


def blocks_of(page):
    """The fenced blocks of a page, in order."""
    blocks, notes, comment = [], {}, None
    lines = page.read_text(encoding="utf-8").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if comment is not None:
            comment += "\n" + line
        elif line.lstrip().startswith("<!--"):
            comment = line.lstrip()
        if comment is not None:
            if "-->" in comment:
                if match := NOTE.match(comment[4:comment.index("-->")].strip()):
                    notes[match.group(1)] = match.group(2)
                comment = None
            continue
        fence = FENCE.match(line)
        if fence:
            first = number
            close = re.compile(rf"^ *{re.escape(fence.group(2))}\s*$")
            while number < len(lines) and not close.match(lines[number]):
                number += 1
            indent = len(fence.group(1))
            text = "\n".join(own[indent:] if own[:indent].isspace() else own for own in lines[first:number])
            blocks.append(Block(page, first + 1, fence.group(3), text + "\n", notes))
            notes, number = {}, number + 1
        elif line.strip():
            notes = {}
    return blocks


def text_outside_blocks(page):
    """The page's lines with blank lines in place of its blocks and comments."""
    text = page.read_text(encoding="utf-8")

    def blank(match):
        return "\n" * match.group(0).count("\n")
    text = re.sub(r"^( *)(`{3,}|~{3,}).*?^ *\2 *$", blank, text, flags=re.S | re.M)
    return re.sub(r"<!--.*?-->", blank, text, flags=re.S)


def all_sources():
    """The sources of the elements, whose comments for the reference have blocks of commands, |[ to ]|."""
    return [] if os.environ.get("CUDAVISION_PAGES") else sorted((ROOT / "gst").glob("*/cuda*.cpp"))


def launch_lines_of(source):
    """The blocks of commands in the comments of a source."""
    text = source.read_text(encoding="utf-8")
    blocks = []
    for match in re.finditer(r"^ \* \|\[\n(.*?)^ \* \]\|$", text, re.M | re.S):
        lines = [line[3:] for line in match.group(1).split("\n")]
        blocks.append(Block(source, text.count("\n", 0, match.start()) + 2, "sh", "\n".join(lines), {}))
    return blocks


class Report:
    """Collects what is wrong, and prints it with its place."""

    def __init__(self):
        self.complaints = []

    def complain(self, place, text):
        self.complaints.append(f"{place}: {text}")

    def finish(self, summary):
        """Returns the exit status."""
        for complaint in self.complaints:
            print(complaint)
        print(summary + f", {len(self.complaints)} complaints")
        return 1 if self.complaints else 0
