#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts people who walk over a line, both ways: count_over_line.py SOURCE X1,Y1 X2,Y2

Whoever stands at the first point and looks to the second sees them walk to the right or to the left. Along a line
that runs down the picture, the right is the left of the picture."""
import json

from frames import Gst, arguments, events, numbers, upright

source, *ends = arguments(3)
start, end = (numbers(point, 2) for point in ends)
line = {"name": "line", "from": start, "to": end, "directions": ["right", "left"]}

counts = {"right": 0, "left": 0}
for event in events(f"{upright(source)} ! cudahog model=people display=false ! cudavisiontrack ! "
                    "cudavisionzones name=zones ! fakesink", json.dumps({"lines": [line]})):
    direction = event.get_string("direction")
    counts[direction] += 1
    seconds = event.get_uint64("running-time")[1] / Gst.SECOND
    print(f"{seconds:.1f} s: person {event.get_uint64('id')[1]} to the {direction}", flush=True)
print(f"{counts['right']} to the right, {counts['left']} to the left, seen from {ends[0]} towards {ends[1]}")
