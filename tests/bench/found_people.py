#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a detector finds the people of vtest_people.json in vtest.avi.

usage: found_people.py VIDEO "ELEMENTS"    the elements between the decoder and cudavisionjson

The middle half of a box's width and the middle three quarters of its height are where the person should be. A box is
right if this part has an intersection over union of at least 0.3 with a person whom no other box fits better.
"""
import sys

import vtest_people


def middle(region):
    """Where a person stands in a box of the detector."""
    return (region["x"] + region["width"] / 4, region["y"] + region["height"] / 8, region["width"] / 2,
            region["height"] * 3 / 4)


def right_boxes(boxes, people):
    """The intersections over union of the boxes that are right. The best pairs are matched first."""
    pairs = sorted(((vtest_people.intersection_over_union(box, person), i, j) for i, box in enumerate(boxes)
                    for j, person in enumerate(people)), reverse=True)
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
    frames = vtest_people.regions_of(video, elements)
    boxes, people, right = 0, 0, []
    for frame, those in vtest_people.marked()["frames"].items():
        regions = [middle(region) for region in frames[int(frame)]]
        boxes, people, right = boxes + len(regions), people + len(those), right + right_boxes(regions, those)
    print(f"{boxes} boxes, precision {len(right) / boxes:.2f}, recall {len(right) / people:.2f}, "
          f"mean intersection over union {sum(right) / len(right):.2f}")


if __name__ == "__main__":
    main()
