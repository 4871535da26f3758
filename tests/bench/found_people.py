#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a detector finds the people of vtest_people.json in vtest.avi.

usage: found_people.py VIDEO "ELEMENTS"    the elements between the decoder and cudavisionjson

The middle half of a box's width and the middle three quarters of its height are where the person should be. A box is right if
this part has an intersection over union of at least 0.3 with a person whom no other box fits better.
"""
import json
import pathlib
import subprocess
import sys


def share(a, b):
    """The intersection over union of two boxes."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def middle(region):
    """Where a person stands in a box of the detector."""
    return (region["x"] + region["width"] / 4, region["y"] + region["height"] / 8, region["width"] / 2,
            region["height"] * 3 / 4)


def right_boxes(boxes, people):
    """The shares of the boxes that are right: the best pairs first."""
    pairs = sorted(((share(box, person), i, j) for i, box in enumerate(boxes) for j, person in enumerate(people)), reverse=True)
    shares, used, found = [], set(), set()
    for common, box, person in pairs:
        if common >= 0.3 and box not in used and person not in found:
            used.add(box)
            found.add(person)
            shares.append(common)
    return shares


def main():
    """Prints the figures."""
    video, elements = sys.argv[1:]
    marked = json.loads((pathlib.Path(__file__).parent / "vtest_people.json").read_text())["frames"]
    pipeline = f"filesrc location={video} ! decodebin ! videoconvert ! {elements} ! cudavisionjson ! fakesink"
    lines = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    boxes, people, right = 0, 0, []
    for frame, those in marked.items():
        regions = [middle(region) for region in json.loads(lines[int(frame)])["regions"]]
        boxes, people, right = boxes + len(regions), people + len(those), right + right_boxes(regions, those)
    print(f"{boxes} boxes, precision {len(right) / boxes:.2f}, recall {len(right) / people:.2f}, "
          f"mean intersection over union {sum(right) / len(right):.2f}")


if __name__ == "__main__":
    main()
