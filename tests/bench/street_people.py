#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how right a pipeline is about the people who are marked in vtest_people.json.

usage: street_people.py "ELEMENTS" [FIGURE>=NUMBER | FIGURE<=NUMBER]... [--frames N]

ELEMENTS stand between the decoder and the sink, such as "cudahog model=people display=false ! cudavisiontrack". If the
figures that are named leave their bounds, or one of them is missing, the status is 1. --frames takes only the first N
frames of vtest.avi, which CUDAVISION_TEST_DATA or Debian's package opencv-doc has; without the video the status is 77.

recall, precision  the shares of people who have a box, and of boxes that have a person. Pairs have an intersection over
                   union of at least 0.5, and the best are taken first. Boxes of the type `person` count and, in a frame
                   with ids, only those that have one.
mota               1 - (people without a box + boxes without a person + switches) / people: the MOTA of Bernardin and
                   Stiefelhagen, "Evaluating multiple object tracking performance: the CLEAR MOT metrics", 2008
idf1               the share of boxes and people whose id is that of their person, if each person has one id and each id
                   one person (Ristani et al., "Performance measures and a data set for multi-target, multi-camera
                   tracking", 2016); the pairs that are together most often are taken first
switches           how often a person's id is not the one of the last marked frame in which the person had one
ids                the number of ids, relative to that of the marked people
crossings, error   how often people cross LINES on the straight way from mark to mark, and the sum of the differences
                   between these numbers and those of cudavisionzones, for each line and direction, relative to them
hidden, clear      the shares of people of whose boxes at least nine tenths have changed, or less than one tenth. A
                   pixel has changed if its luma is another one, or if such pixels are within REACH on all sides.
picture            the share of the picture that has changed
"""
import argparse
import collections
import json
import operator
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy

WIDTH, HEIGHT, REACH = 768, 576, 8
COMPARISONS = {">=": operator.ge, "<=": operator.le}
# Few marks are near these lines, where the way between two marks would be uncertain.
LINES = {"left": ((225, 0), (225, 575)), "middle": ((350, 0), (350, 575)), "pole": ((425, 0), (425, 575)),
         "right": ((550, 0), (550, 575)), "lawn": ((0, 380), (767, 380))}


def marks_until(frames):
    """The boxes of the marked people in the first frames."""
    text = (pathlib.Path(__file__).parent / "vtest_people.json").read_text(encoding="utf-8")
    return {int(frame): people for frame, people in json.loads(text)["frames"].items() if int(frame) < frames}


def launch(pipeline):
    """Runs a pipeline to its end."""
    if subprocess.run(["gst-launch-1.0", "-q", *shlex.split(pipeline)], check=False).returncode:
        sys.exit(f"failed: {pipeline}")


def run(elements, video, frames, folder):
    """What cudavisionjson writes behind the elements, and the luma of the frames before and behind them.

    The video is decoded once, because two runs of its decoder may differ, with two frames too many, because it may lose
    the last one on a busy machine.
    """
    lines = [{"name": name, "from": begin, "to": end, "types": ["person"]} for name, (begin, end) in LINES.items()]
    (folder / "plan").write_text(json.dumps({"lines": lines}), encoding="utf-8")
    size = WIDTH * HEIGHT * 3 // 2
    i420 = "videoconvert ! video/x-raw,format=I420 ! filesink location="
    launch(f"filesrc location={video} ! decodebin ! identity eos-after={frames + 2} ! {i420}{folder}/before")
    os.truncate(folder / "before", frames * size)
    launch(f"filesrc location={folder}/before ! rawvideoparse format=i420 width={WIDTH} height={HEIGHT} framerate=10 ! "
           f"{elements} ! cudavisionzones location={folder}/plan ! cudavisionjson location={folder}/lines ! "
           f"{i420}{folder}/after")
    pictures = [numpy.memmap(folder / name, numpy.uint8, "r").reshape(frames, size)[:, :WIDTH * HEIGHT]
                .reshape(frames, HEIGHT, WIDTH) for name in ("before", "after")]
    return [json.loads(line) for line in (folder / "lines").read_text(encoding="utf-8").splitlines()], *pictures


def boxes_of(line):
    """The id, or None, and the box of each object in a frame."""
    objects = [(region.get("params", {}).get("tracking", {}).get("id"),
                [region[key] for key in ("x", "y", "width", "height")])
               for region in line.get("regions", []) if region["type"] == "person"]
    return [pair for pair in objects if pair[0] is not None] or objects


def overlap(a, b):
    """The intersection over union of two boxes."""
    width = max(min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]), 0)
    height = max(min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]), 0)
    return width * height / (a[2] * a[3] + b[2] * b[3] - width * height)


def one_to_one(pairs):
    """Takes of the tuples (value, a, b) those of the greatest values, each a and each b once."""
    taken, left, right = [], set(), set()
    for value, a, b in sorted(pairs, key=lambda pair: pair[0], reverse=True):
        if a not in left and b not in right:
            taken.append((value, a, b))
            left.add(a)
            right.add(b)
    return taken


def found(marks, lines):
    """The figures of boxes and ids."""
    people = sum(map(len, marks.values()))
    boxes = right = switches = 0
    together, last = collections.Counter(), {}
    for frame, marked in marks.items():
        objects = boxes_of(lines[frame])
        pairs = ((overlap(box, mark), name, i) for name, mark in marked.items() for i, (_, box) in enumerate(objects))
        matched = one_to_one(pair for pair in pairs if pair[0] >= 0.5)
        boxes, right = boxes + len(objects), right + len(matched)
        for _, name, i in matched:
            switches += objects[i][0] != last.get(name, objects[i][0])
            last[name] = objects[i][0]
            together[name, last[name]] += 1
    figures = {"people": people, "recall": right / people, "precision": right / max(boxes, 1)}
    ids = {number for line in lines for number, _ in boxes_of(line)} - {None}
    if ids:
        same = sum(count for count, _, _ in one_to_one((count, *pair) for pair, count in together.items()))
        figures |= {"mota": 1 - (people - right + boxes - right + switches) / people,
                    "idf1": 2 * same / (people + boxes),
                    "switches": switches, "ids": len(ids) / len(set().union(*marks.values()))}
    return figures


def side(line, point):
    """On which side of a line a point is."""
    (x, y), (to_x, to_y) = line
    return (to_x - x) * (point[1] - y) - (to_y - y) * (point[0] - x)


def true_crossings(marks):
    """How often people cross each line in each direction."""
    counts, last = collections.Counter(), {}
    for marked in marks.values():
        for name, (x, y, width, height) in marked.items():
            here = (x + width / 2, y + height)
            before, last[name] = last.get(name, here), here
            for line, ends in LINES.items():
                if (side(ends, before) > 0) != (side(ends, here) > 0):
                    counts[line, "left-to-right" if side(ends, here) > 0 else "right-to-left"] += 1
    return counts


def counted(marks, lines):
    """The figures of the crossings."""
    true = true_crossings(marks)
    told = collections.Counter((event["name"], event["direction"])
                               for line in lines for event in line.get("events", []))
    wrong = sum(abs(true[key] - told[key]) for key in true | told)
    return {"crossings": true.total(), "error": wrong / true.total()}


def near(pixels):
    """The pixels within REACH rows and columns of one of these."""
    for axis in range(2):
        edges = [(REACH, REACH) if axis == other else (0, 0) for other in range(2)]
        pixels = numpy.lib.stride_tricks.sliding_window_view(numpy.pad(pixels, edges), 2 * REACH + 1, axis).any(-1)
    return pixels


def hidden(marks, before, after):
    """The figures of what is hidden."""
    # A conversion to another format and back changes the luma by up to 2.
    changed = {i: ~near(~near(numpy.abs(before[i].astype(numpy.int16) - after[i]) > 2)) for i in marks}
    shares = numpy.array([changed[i][y:y + height, x:x + width].mean()
                          for i, marked in marks.items() for x, y, width, height in marked.values()])
    return {"hidden": (shares >= 0.9).mean(), "clear": (shares < 0.1).mean(),
            "picture": numpy.mean([picture.mean() for picture in changed.values()])}


def main():
    """Prints the figures."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("elements")
    parser.add_argument("bounds", nargs="*", type=re.compile(r"(\w+)(>=|<=)([\d.]+)").fullmatch)
    parser.add_argument("--frames", type=int, default=795)
    options = parser.parse_args()
    video = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data"), "vtest.avi")
    if not video.exists():
        print(f"skipped: no {video} (Debian: opencv-doc)")
        sys.exit(77)
    marks = marks_until(options.frames)
    with tempfile.TemporaryDirectory() as folder:
        lines, before, after = run(options.elements, video, max(marks) + 1, pathlib.Path(folder))
        figures = found(marks, lines) | counted(marks, lines) | hidden(marks, before, after)
    print(", ".join(f"{name} {value:.3f}".removesuffix(".000") for name, value in figures.items()))
    bounds = [match.groups() for match in options.bounds]
    sys.exit(", ".join(f"{name} is not {sign} {bound}" for name, sign, bound in bounds
                       if not COMPARISONS[sign](figures[name], float(bound))) or 0)


if __name__ == "__main__":
    main()
