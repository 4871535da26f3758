#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a pipeline removes people from vtest.avi.

usage: removed_people.py VIDEO "ELEMENTS"    the elements between the decoder and the sink

A pixel differs if a component of B, G or R differs from the median of all frames by more than 25. The first figure is
the share of the pixels in the boxes of vtest_people.json, after the first 4 s, that differ in the video and still
differ after the pipeline. The others are the numbers of pixels outside of the boxes of the same frames that have
differed for more than 2 s, before and after the pipeline.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy

import vtest_people

HEIGHT, WIDTH, RATE, LEAST = 576, 768, 10, 25


def frames(video, elements, folder, name):
    """All frames in BGR that the pipeline writes."""
    path = pathlib.Path(folder) / name
    line = f"filesrc location={video} ! decodebin ! videoconvert ! {elements} videoconvert ! "
    line += f"video/x-raw,format=BGR ! filesink location={path}"
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    return numpy.memmap(path, numpy.uint8, "r").reshape(-1, HEIGHT, WIDTH, 3)


def differs(frame, median):
    """Where the frame differs from the median."""
    return numpy.abs(frame.astype(numpy.int16) - median).max(2) > LEAST


def main():
    """Prints the figures."""
    video, elements = sys.argv[1:]
    boxes = vtest_people.marked()["frames"]
    with tempfile.TemporaryDirectory() as folder:
        before, after = frames(video, "", folder, "before"), frames(video, elements + " !", folder, "after")
        rows = [numpy.median(before[:, y:y + 16], axis=0) for y in range(0, HEIGHT, 16)]
        median = numpy.concatenate(rows).astype(numpy.int16)
        people = left = 0
        long_before = long_after = 0
        for number in (int(key) for key in boxes if int(key) >= 4 * RATE):
            inside = numpy.zeros((HEIGHT, WIDTH), bool)
            for x, y, width, height in boxes[str(number)]:
                inside[y:y + height, x:x + width] = True
            last = range(number - 2 * RATE, number + 1)
            was = [differs(before[i], median) for i in last]
            now = [differs(after[i], median) for i in last]
            people += (was[-1] & inside).sum()
            left += (was[-1] & now[-1] & inside).sum()
            long_before += (numpy.all(was, axis=0) & ~inside).sum()
            long_after += (numpy.all(now, axis=0) & ~inside).sum()
    print(f"{100 * left / people:.2f} % of people left; outside for more than 2 s: {long_before} before, {long_after} after")


if __name__ == "__main__":
    main()
