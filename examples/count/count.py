#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts people over lines and in zones: count.py SOURCE ZONES EVENTS

SOURCE is a file, or elements as for gst-launch-1.0. Writes a line of JSON to the file EVENTS for each frame in which
something happens, and prints a table as CSV: how often, in each minute, each line was crossed and each zone was entered
and left.

  count.py vtest.avi street.json events.jsonl >minutes.csv
"""
import collections
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from plain_errors import launch, text_of, upright  # noqa: E402

if len(sys.argv) != 4:
    raise SystemExit(__doc__.strip())
source, zones, events = sys.argv[1:]
Gst.init(None)
pipeline = launch(f"{upright(source)} ! cudahog model=people display=false ! cudavisiontrack ! "
                  "cudavisionzones name=zones ! cudavisionjson name=json only=events ! fakesink")
pipeline.get_by_name("zones").set_property("location", zones)
pipeline.get_by_name("json").set_property("location", events)

counts = collections.Counter()  # by minute, name and direction
pipeline.set_state(Gst.State.PLAYING)
kinds = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
while (message := pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, kinds)).type != Gst.MessageType.EOS:
    if message.type == Gst.MessageType.ERROR:
        pipeline.set_state(Gst.State.NULL)
        raise SystemExit(text_of(message))
    event = message.get_structure()
    if event.get_name() == "cudavisionzones" and event.get_string("event") in ("cross", "enter", "leave"):
        minute = event.get_uint64("running-time")[1] // (60 * Gst.SECOND)
        counts[minute, event.get_string("name"), event.get_string("direction") or event.get_string("event")] += 1
pipeline.set_state(Gst.State.NULL)

print("minute,name,direction,count")
for (minute, name, direction), count in sorted(counts.items()):
    print(f"{minute},{name},{direction},{count}")
