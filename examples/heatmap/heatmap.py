#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws where people were, how long they stayed and how fast they went, from lines of cudavisionjson. README.md describes it."""
import argparse
import json
import os
import pathlib
import select
import signal
import sys
import time

import picture
from grid import Ground, Grid

SUFFIXES = (".png", ".svg", ".csv")
BLOCK = 1 << 20

EXAMPLE = """example:
  cudavision-heatmap results --over street.png --output heat.png --output heat.csv"""


class Wrong(Exception):
    """An argument that cannot be used; its text says why."""


def four(text):
    words = [float(word) for word in text.split(",")]
    if len(words) != 4 or words[0] == words[2] or words[1] == words[3]:
        raise argparse.ArgumentTypeError(f"{text}: X0,Y0,X1,Y1 is expected, the upper left and the lower right corner in metres")
    return words


def positive(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("a number above 0 is expected")
    return number


def parser_of_options():
    parser = argparse.ArgumentParser(prog="cudavision-heatmap", description=__doc__, epilog=EXAMPLE, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("results", nargs="+", metavar="RESULTS", help="files of lines, folders with *.jsonl, as of batch.py, or - for the standard input")
    add("--output", action="append", metavar="FILE", help="a picture .png or .svg, or a table .csv; may be given several times; default: heatmap.png")
    add("--show", choices=picture.SHOWN, default="seconds", help="visits: how many were there; seconds: how long they were there; "
                                                                 "speed: how fast they went; default: %(default)s")
    add("--over", metavar="PICTURE", help="a picture of the camera, or with --metres a floor plan, to draw on")
    add("--metres", metavar="FILE", help="draw on the ground, with the member metres of this file with zones")
    add("--area", type=four, metavar="X0,Y0,X1,Y1", help="what the floor plan shows: its upper left and its lower right corner, in metres")
    add("--cell", type=positive, metavar="SIZE", help="of the squares; default: 16 pixels, with --metres 0.5 metres")
    add("--types", default="person", metavar="LIST", help="the types that count, with commas between them, or all; default: %(default)s")
    add("--source", metavar="NAME", help="the camera or video; needed if the lines have several")
    add("--every", type=positive, metavar="SECONDS", help="go on reading files that grow, or the standard input, and draw again as often as this")
    return parser


def files_of(results):
    """The files that results name now: those of a folder can become more."""
    for name in results:
        if os.path.isdir(name):
            yield from sorted(str(path) for path in pathlib.Path(name).glob("*.jsonl") if path.is_file())
        else:
            yield name


class Reader:
    """Reads what is new in files, or in the standard input, and gives whole lines to the grid."""

    def __init__(self, grid, goes_on):
        self.grid, self.goes_on = grid, goes_on
        self.files, self.rests, self.skipped = {}, {}, 0

    def read(self, name):
        """Reads to the end of what there is now. Returns whether the standard input can have more."""
        if name == "-":
            return self.read_input()
        file = self.files.pop(name, None) or open(name, "rb")
        while data := file.read(BLOCK):
            self.feed(name, data)
        if self.goes_on:
            self.files[name] = file
        else:
            file.close()  # a folder of batch can have more files than a process may have open
        return False

    def read_input(self, seconds=0.0):
        while select.select([0], [], [], seconds)[0]:
            data = os.read(0, BLOCK)
            if not data:
                return False
            self.feed("-", data)
        return True

    def feed(self, name, data):
        *lines, self.rests[name] = (self.rests.get(name, b"") + data).split(b"\n")
        for line in lines:
            self.take(name, line)

    def take(self, name, line):
        if not line.strip():
            return
        try:
            self.grid.add(name, json.loads(line))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self.skipped += 1


def ground_of(path):
    """The places of the file with zones."""
    try:
        with open(path, encoding="utf-8") as file:
            zones = json.load(file)
        return Ground(zones["metres"]["picture"], zones["metres"]["ground"], zones.get("units") == "fraction")
    except (ValueError, LookupError, TypeError) as error:
        raise Wrong(f"{path}: it has no places in metres: {error}") from None


class Program:
    def __init__(self, chosen):
        self.chosen, self.outputs = chosen, chosen.output or ["heatmap.png"]
        for output in self.outputs:
            if pathlib.Path(output).suffix.lower() not in SUFFIXES:
                raise Wrong(f"{output}: the name of an output ends in {', '.join(SUFFIXES)}")
        if chosen.area and not chosen.metres:
            raise Wrong("--area needs --metres: a picture of the camera has no metres")
        if chosen.over and chosen.metres and not chosen.area:
            raise Wrong("a floor plan needs --area, as --area 0,0,20,12 for a plan of 20 by 12 metres")
        ground = ground_of(chosen.metres) if chosen.metres else None
        types = None if chosen.types == "all" else set(chosen.types.split(","))
        self.grid = Grid(chosen.cell or (0.5 if ground else 16), types, ground, chosen.source)
        self.reader = Reader(self.grid, chosen.every is not None)
        self.back = picture.background(chosen.over) if chosen.over else None
        self.stopped = False

    def stop(self, *_):
        self.stopped = True

    def run(self):
        for number in signal.SIGTERM, signal.SIGINT:
            signal.signal(number, self.stop)
        goes_on = True
        while goes_on:
            goes_on = any([self.reader.read(name) for name in files_of(self.chosen.results)])
            if self.chosen.every:
                goes_on = self.wait(goes_on) and not self.stopped
            elif goes_on:
                goes_on = self.reader.read_input(1) and not self.stopped
            if self.chosen.every or not goes_on:
                self.write()
        if self.reader.skipped:
            print(f"cudavision-heatmap: {self.reader.skipped} lines are none of cudavisionjson and were left out", file=sys.stderr)
        return 0

    def wait(self, has_input):
        """Reads on for `every` seconds. Returns whether more may come: files can always grow."""
        end = time.monotonic() + self.chosen.every
        while (left := end - time.monotonic()) > 0 and not self.stopped:
            if not has_input:
                time.sleep(min(left, 0.2))
            elif not self.reader.read_input(min(left, 0.2)):
                return False
        return has_input or "-" not in self.chosen.results

    def write(self):
        if len(self.grid.sources) > 1 and self.chosen.source is None:
            raise Wrong(f"the lines are those of {len(self.grid.sources)} cameras or videos: choose one with --source, as "
                        f"{sorted(self.grid.sources)[0]}")
        if not self.grid.cells and not self.chosen.every:
            raise Wrong("no line has a track of the types that count: is cudavisiontrack in the pipeline, and are --types and --source right?")
        for output in self.outputs:
            picture.write(output, self.grid, self.chosen.show, self.back, self.chosen.area)


def main():
    parser = parser_of_options()
    try:
        return Program(parser.parse_args()).run()
    except Wrong as error:
        parser.exit(2, f"cudavision-heatmap: {error}\n")
    except OSError as error:
        parser.exit(1, f"cudavision-heatmap: {error.filename}: {error.strerror}\n")


if __name__ == "__main__":
    sys.exit(main())
