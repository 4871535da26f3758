#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts moving objects in a video, such as walking people: each group of neighbouring moving flow vectors is one.

  count_movers.py [SOURCE]
  count_movers.py vtest.avi

Debian: python3-gi-cudavision
"""
import array
import math
import statistics
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision  # noqa: E402,F401
from plain_errors import launch, upright  # noqa: E402

STRIDE = 8  # pixels from one vector to the next
LEAST_SPEED = 1.0  # pixels per frame
LEAST_VECTORS = 12  # per moving object: fewer are noise


def speeds(frame):
    """The speed of every vector of a frame, in row-major order (0 if unknown), and the number of vectors per row."""
    flow = GstCudaVision.buffer_get_tensor_meta(frame, "optical-flow")
    if flow is None:  # the first frame
        return [], 1
    valid = GstCudaVision.buffer_get_tensor_meta(frame, "optical-flow-valid")
    xy = array.array("f", flow.get_bytes().get_data())
    known = valid.get_bytes().get_data()
    return [math.hypot(xy[2 * i], xy[2 * i + 1]) * known[i] for i in range(len(known))], flow.get_dims()[1]


def movers(speed, columns):
    """The median speed of each group of neighbouring moving vectors, fastest first."""
    todo = {i for i, s in enumerate(speed) if s >= LEAST_SPEED}
    found = []
    while todo:
        group, edge = [], [todo.pop()]
        while edge:
            i = edge.pop()
            group.append(speed[i])
            beside = {i - columns, i + columns, i - 1 if i % columns else -1, i + 1 if (i + 1) % columns else -1} & todo
            edge += beside
            todo -= beside
        if len(group) >= LEAST_VECTORS:
            found.append(statistics.median(group))
    return sorted(found, reverse=True)


def main():
    Gst.init(None)
    source = sys.argv[1] if len(sys.argv) > 1 else "videotestsrc pattern=ball num-buffers=10"
    pipeline = launch(f"{upright(source)} ! cudaopticalflow preset=medium stride={STRIDE} forward-backward=1 "
                      "display=false ! appsink name=sink sync=false max-buffers=4")
    try:
        for number, sample in enumerate(GstCudaVision.samples(pipeline)):
            found = movers(*speeds(sample.get_buffer()))
            print(f"frame {number}: {len(found)} move", *(f"{speed:.1f}" for speed in found))
    except RuntimeError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
