#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of all pages, and the launch lines in the comments of the elements' sources. What needs a card, a
network or root is parsed, and listed with the reason.

usage: commands.py [PART_OF_A_PAGE'S_NAME]
       commands.py --write [PART_OF_A_PAGE'S_NAME]   writes the values that the commands print into the pages

A command that no rule of statements.py knows is a complaint. A block of JSON is one of the lines that the last commands
before it printed, or wrote to a file *.jsonl, to the last digit; the note `other json` says that it has another origin.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import gi

import json_lines
import pipelines
import statements
from pages import ROOT, Report, all_pages, all_sources, blocks_of, launch_lines_of
from stand_ins import StandIns

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

SHELLS = ("sh", "bash", "shell")
SECONDS = 300  # for one statement


def as_commands(block):
    """The text of a block of commands; of a console, what stands behind the prompts."""
    if block.language in SHELLS:
        return block.text
    if block.language == "console":
        return "\n".join(line[2:] if line.startswith("$ ") else "" for line in block.text.split("\n"))
    return None


class Checker:
    def __init__(self, stand_ins, folder, writes):
        self.stand_ins, self.folder, self.writes = stand_ins, folder, writes
        self.report = Report()
        self.counts = {statements.RUN: 0, statements.PARSED: 0, statements.ELSEWHERE: 0}
        self.not_run, self.compared = [], 0
        self.tests = self._names_of_tests()

    @staticmethod
    def _names_of_tests():
        return "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("meson.build"))

    def check(self, number, block):
        """Checks a block of a page, all of whose commands run in one folder. Returns what its commands printed."""
        text, printed = self.stand_ins.local(as_commands(block)), ""
        parts, rest = statements.split(text)
        if rest:
            self.report.complain(block.place, f"bash: {rest}")
        folder = self.stand_ins.folder_for(text, pathlib.Path(self.folder) / f"page{number}")
        for statement in parts:
            place = f"{block.place.rpartition(':')[0]}:{block.line + statement.line}"
            kind, reason = self._kind(block, statement.text, place)
            if kind is None:
                self.report.complain(place, reason)
                continue
            self.counts[kind] += 1
            if kind == statements.RUN:
                began = time.time_ns()
                printed += self._run(statement.text, folder, place)
                printed += "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jsonl"))
                                   if path.stat().st_mtime_ns >= began - 10**7)  # the file system's clock is coarser
            else:
                shown = " ".join(statement.text.replace("\\\n", "").split())
                self.not_run.append(f"{kind}: {shown[:90]}\n    {place}: {reason}")
                self._parse(statement.text, place)
        return printed

    def _kind(self, block, text, place):
        if "not run" in block.notes:
            return statements.PARSED, block.notes["not run"] or "no reason is given"
        if "run by" in block.notes:
            test = block.notes["run by"].strip()
            if not (ROOT / test).is_file() and f"'{test}'" not in self.tests:
                self.report.complain(place, f"tests/ has no test {test}")
            return statements.ELSEWHERE, test
        return statements.kind_of(text)

    def _run(self, text, folder, place):
        try:
            result = subprocess.run(["bash", "-c", "set -o pipefail\n" + text], cwd=folder, capture_output=True,
                                    text=True, env=self.stand_ins.environment, stdin=subprocess.DEVNULL,
                                    timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            self.report.complain(place, f"the command did not end within {SECONDS} s")
            return ""
        if result.returncode != 0 or "CRITICAL **" in result.stderr:
            self.report.complain(place, f"the command ended in {result.returncode}: {result.stderr.strip()[-600:]}")
        return result.stdout

    def _parse(self, text, place):
        for words in statements.commands_of(text):
            if words[0] == "gst-launch-1.0":
                for complaint in pipelines.complaints(pipelines.without_options(words)):
                    self.report.complain(place, complaint)
            elif words[0].startswith(("tests/", "examples/")) and "." in words[0] and not (ROOT / words[0]).is_file():
                self.report.complain(place, f"the repository has no {words[0]}")


def check_page(checker, number, page):
    """Runs the commands of a page in their order, and compares the JSON behind them."""
    printed = []
    for block in blocks_of(page) if page.suffix == ".md" else launch_lines_of(page):
        if as_commands(block) is not None:
            printed = json_lines.printed_documents(checker.check(number, block)) or printed
        elif printed and block.language == "json" and "other json" not in block.notes:
            checker.compared += 1
            if checker.writes:
                page.write_text(page.read_text(encoding="utf-8").replace(
                    block.text, json_lines.rewritten(block.text, printed)), encoding="utf-8")
                continue
            for complaint in json_lines.complaints_of_values(block.text, printed):
                checker.report.complain(block.place, complaint)


def main():
    Gst.init(None)
    writes, part = "--write" in sys.argv, [word for word in sys.argv[1:] if word != "--write"]
    pages = [page for page in [*all_pages(), *all_sources()] if not part or part[0] in str(page)]
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(StandIns(folder), folder, writes)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(check_page, [checker] * len(pages), range(len(pages)), pages))
    print("\n".join(sorted(checker.not_run)))
    counts = ", ".join(f"{count} {kind}" for kind, count in checker.counts.items())
    return checker.report.finish(f"commands: {counts}; {checker.compared} blocks of JSON compared with printed lines")


if __name__ == "__main__":
    sys.exit(main())
