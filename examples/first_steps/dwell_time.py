#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how long each person stood in a zone of the picture, when the person leaves it or is not seen for 3 seconds.

  dwell_time.py SOURCE X,Y,WIDTH,HEIGHT
"""
import json

from frames import Gst, arguments, events, numbers, upright

source, zone = arguments(2)
x, y, width, height = numbers(zone, 4)
corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
zones = {"zones": [{"name": "zone", "polygon": corners}]}

entered = {}  # the running time at which each person entered, by id
for event in events(f"{upright(source)} ! cudahog model=people display=false ! cudavisiontrack ! "
                    "cudavisionzones name=zones ! fakesink", json.dumps(zones)):
    person, now = event.get_uint64("id")[1], event.get_uint64("running-time")[1]
    if event.get_string("event") == "enter":
        entered[person] = now
    elif event.get_string("event") == "leave":
        stay = event.get_uint64("duration")[1]
        print(f"person {person}: {stay / Gst.SECOND:.1f} s, from {entered.pop(person) / Gst.SECOND:.1f} s on", flush=True)
for person, since in entered.items():
    print(f"person {person}: until the end, from {since / Gst.SECOND:.1f} s on")
