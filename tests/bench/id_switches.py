#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a pipeline keeps the ids of the people in vtest.avi.

usage: id_switches.py VIDEO "ELEMENTS"    the elements between the decoder and cudavisionjson

A tracked box belongs to a person whose box in vtest_people.json it covers to at least half, if no other pair of one of both
has a larger intersection over union. Of the people who are in two frames of the file in succession, 5 s apart, the figures
say how many had a tracked box in both, how many of these had the same id, and how many ids had gone to somebody else.
"""
import json
import pathlib
import subprocess
import sys


def overlap(a, b):
    """The area that two boxes share."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return max(width, 0) * max(height, 0)


def ids_of(people, boxes, tracks):
    """The id of each person who has a tracked box."""
    pairs = []
    for person, box in zip(people, boxes):
        for number, track in tracks:
            shared = overlap(box, track)
            if 2 * shared >= box[2] * box[3]:
                pairs.append((shared / (box[2] * box[3] + track[2] * track[3] - shared), person, number))
    ids = {}
    for _, person, number in sorted(pairs, reverse=True):
        if person not in ids and number not in ids.values():
            ids[person] = number
    return ids


def tracks_of(line):
    """The ids and the boxes of a frame."""
    for region in json.loads(line)["regions"]:
        if "tracking" in region.get("params", {}):
            yield region["params"]["tracking"]["id"], [region[key] for key in ("x", "y", "width", "height")]


def main():
    """Prints the figures."""
    video, elements = sys.argv[1:]
    told = json.loads((pathlib.Path(__file__).parent / "vtest_people.json").read_text())
    pipeline = f"filesrc location={video} ! decodebin ! videoconvert ! {elements} ! cudavisionjson ! fakesink"
    lines = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    stay = both = same = taken = 0
    before = {}
    for frame, people in told["people"].items():
        ids = ids_of(people, told["frames"][frame], list(tracks_of(lines[int(frame)])))
        stay += sum(person in people for person in last) if (last := before.get("people")) else 0
        for person, number in before.get("ids", {}).items():
            both += person in ids
            same += ids.get(person) == number
            taken += any(other != person and ids[other] == number for other in ids)
        before = {"people": people, "ids": ids}
    print(f"{stay} stay for 5 s; {both} tracked at both ends, {same} with the same id; {taken} ids passed to somebody else")


if __name__ == "__main__":
    main()
