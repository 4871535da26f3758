#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a pipeline keeps the ids of the people in vtest.avi.

usage: id_switches.py VIDEO "ELEMENTS"    the elements between the decoder and cudavisionjson

A tracked box belongs to a person whose box in vtest_people.json it covers to at least half, if no pair of one of these
two boxes with another box has a larger intersection over union. Of the people who are in two frames of the file in
succession, 5 s apart, the figures say how many had a tracked box in both, how many of these had the same id, and how
many ids had gone to somebody else.
"""
import sys

import vtest_people


def ids_of(people, boxes, tracks):
    """The id of each person who has a tracked box."""
    pairs = []
    for person, box in zip(people, boxes):
        for number, track in tracks:
            if 2 * vtest_people.intersection(box, track) >= box[2] * box[3]:
                pairs.append((vtest_people.intersection_over_union(box, track), person, number))
    ids = {}
    for _, person, number in sorted(pairs, reverse=True):
        if person not in ids and number not in ids.values():
            ids[person] = number
    return ids


def tracks_of(regions):
    """The ids and the boxes of a frame."""
    for region in regions:
        if "tracking" in region.get("params", {}):
            yield region["params"]["tracking"]["id"], [region[key] for key in ("x", "y", "width", "height")]


def main():
    """Prints the figures."""
    video, elements = sys.argv[1:]
    told, frames = vtest_people.marked(), vtest_people.regions_of(video, elements)
    stay = both = same = taken = 0
    before = {}
    for frame, people in told["people"].items():
        ids = ids_of(people, told["frames"][frame], list(tracks_of(frames[int(frame)])))
        stay += sum(person in people for person in last) if (last := before.get("people")) else 0
        for person, number in before.get("ids", {}).items():
            both += person in ids
            same += ids.get(person) == number
            taken += any(other != person and ids[other] == number for other in ids)
        before = {"people": people, "ids": ids}
    print(f"{stay} stay for 5 s; {both} tracked at both ends, {same} with the same id; {taken} ids passed to somebody else")


if __name__ == "__main__":
    main()
