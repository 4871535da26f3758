#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts random walks over a line with cudavisionzones and supervision's LineZone (https://supervision.roboflow.com).

  zones_peer.py

By hand, because Debian has no package of supervision: PYTHONPATH names a folder in which pip has installed it, and
GST_PLUGIN_PATH_1_0 the plugin's. Prints where both differ, by kind of walk. What each kind of difference
means is on the element's page.
"""
import collections
import json
import random
import sys
import warnings

import gi

warnings.simplefilter("ignore")
import numpy  # noqa: E402
import supervision  # noqa: E402

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

WIDTH, HEIGHT, FRAMES, WALKS = 640, 480, 60, 400
FROM, TO = (320, 100), (320, 380)
BOX_WIDTH, BOX_HEIGHT = 20, 40  # the anchor is the middle of the lower edge
RIGHT, LEFT = "left-to-right", "right-to-left"


def straight(chance):
    """From one side to the other, far from the ends of the line, in steps of up to 12 pixels."""
    side, y = chance.choice((-1, 1)), chance.uniform(160, 320)
    return [(320 - side * (300 - 10.3 * n), y) for n in range(FRAMES)]


def there_and_back(chance):
    side, y, reach = chance.choice((-1, 1)), chance.uniform(160, 320), chance.uniform(40, 200)
    return [(320 - side * (reach - abs(n - FRAMES / 2) / FRAMES * 4 * reach), y) for n in range(FRAMES)]


def fast(chance):
    """Two jumps over the line, each within one frame."""
    side, y = chance.choice((-1, 1)), chance.uniform(160, 320)
    return [(320 + side * (150 if n // 20 % 2 else -150), y) for n in range(FRAMES)]


def trembling(chance):
    """Stands on the line: the box trembles by 2 pixels."""
    return [(320 + chance.uniform(-2, 2), 240 + chance.uniform(-2, 2)) for _ in range(FRAMES)]


def beyond(chance):
    """Passes beyond an end of the line, at least 15 pixels away."""
    side, y = chance.choice((-1, 1)), chance.choice((chance.uniform(45, 85), chance.uniform(395, 470)))
    return [(320 - side * (300 - 10.3 * n), y) for n in range(FRAMES)]


def around(chance):
    """To the other side beyond an end, and back to the height of the line: its way never meets the line."""
    side = chance.choice((-1, 1))
    first, last = (320 - side * 100, 240), (320 + side * 100, 240)
    corners = [first, (first[0], 50), (last[0], 50), last]
    third = FRAMES // 3
    return [tuple(a + (b - a) * (n % third) / third for a, b in zip(corners[n // third], corners[n // third + 1]))
            for n in range(FRAMES)]


def by_element(walks):
    plan = json.dumps({"lines": [{"name": "line", "from": FROM, "to": TO}]})
    pipeline = Gst.parse_launch(f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},"
                                "framerate=10/1 ! cudavisionzones name=zones ! fakesink sync=false")
    pipeline.get_by_name("zones").set_property("zones", plan)
    pipeline.set_state(Gst.State.PLAYING)
    for n in range(FRAMES):
        buffer = Gst.Buffer.new_allocate(None, WIDTH * HEIGHT, None)
        buffer.pts = n * Gst.SECOND // 10
        for track, walk in enumerate(walks):
            x, y = walk[n]
            box = GstVideo.buffer_add_video_region_of_interest_meta(
                buffer, "person", round(x) - BOX_WIDTH // 2, round(y) - BOX_HEIGHT, BOX_WIDTH, BOX_HEIGHT)
            box.add_param(Gst.Structure.new_from_string(f"tracking, id=(guint64){track + 1}"))
        pipeline.get_by_name("in").emit("push-buffer", buffer)
    pipeline.get_by_name("in").emit("end-of-stream")
    counts, bus = collections.defaultdict(collections.Counter), pipeline.get_bus()
    while (message := bus.timed_pop(Gst.CLOCK_TIME_NONE)).type != Gst.MessageType.EOS:
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        event = message.get_structure()
        if event and event.get_name() == "cudavisionzones":
            counts[event.get_uint64("id")[1] - 1][event.get_string("direction")] += 1
    pipeline.set_state(Gst.State.NULL)
    return [(counts[track][RIGHT], counts[track][LEFT]) for track in range(len(walks))]


def by_peer(walk):
    zone = supervision.LineZone(start=supervision.Point(*FROM), end=supervision.Point(*TO),
                                triggering_anchors=[supervision.Position.BOTTOM_CENTER])
    for x, y in walk:
        x, y = round(x), round(y)
        box = numpy.array([[x - BOX_WIDTH // 2, y - BOX_HEIGHT, x + BOX_WIDTH // 2, y]], dtype=float)
        zone.trigger(supervision.Detections(xyxy=box, class_id=numpy.array([0]), tracker_id=numpy.array([1])))
    return zone.in_count, zone.out_count


def main():
    Gst.init(None)
    print(f"supervision {supervision.__version__}, {WALKS} walks of each kind, {FRAMES} frames")
    for kind in straight, there_and_back, fast, trembling, beyond, around:
        chance = random.Random(1)
        walks = [kind(chance) for _ in range(WALKS)]
        ours, theirs = by_element(walks), [by_peer(walk) for walk in walks]
        differ = sum(sorted(a) != sorted(b) for a, b in zip(ours, theirs))
        print(f"{kind.__name__:>15}: crossings {sum(map(sum, ours)):5} here, {sum(map(sum, theirs)):5} there; "
              f"{differ} walks differ")


if __name__ == "__main__":
    main()
