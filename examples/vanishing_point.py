#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds a vanishing point of a picture: the point to which segments of the greatest total length point.

  vanishing_point.py PICTURE [PROPERTIES]
  vanishing_point.py building.jpg "threshold=80 low-threshold=100 high-threshold=200"

Prints the point in pixels and the segments that point to it. The point may lie outside of the picture: the lanes of a
road meet at the horizon, the floors of a facade far beside it.

Debian: python3-gi, gir1.2-gst-plugins-base-1.0
"""
import itertools
import math
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstApp, GstCudaVision  # noqa: E402,F401
from plain_errors import launch, text_of, upright  # noqa: E402

LONGEST = 60  # number of segments whose intersections are tried
TOLERANCE = math.radians(1)  # between a segment and the direction to the point


def lines_of(picture, properties):
    """The segments that cudahough attaches to the picture."""
    pipeline = launch(f"{upright('filesrc name=file ! decodebin')} ! "
                      f"cudahough mode=segments display=false {properties} ! appsink name=sink")
    pipeline.get_by_name("file").set_property("location", picture)
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").try_pull_sample(10 * Gst.SECOND)  # after an error no sample arrives
    lines = GstCudaVision.buffer_get_lines_meta(sample.get_buffer()).get_lines() if sample else None
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if lines is None:
        sys.exit(f"{picture}: {text_of(message) if message else 'no picture'}")
    return lines


def length(line):
    return math.hypot(line.x2 - line.x1, line.y2 - line.y1)


def crossing(a, b):
    """The intersection of two lines x cos(theta) + y sin(theta) = rho; None if they are nearly parallel."""
    determinant = math.sin(b.theta - a.theta)
    if abs(determinant) < math.sin(3 * TOLERANCE):
        return None
    return ((a.rho * math.sin(b.theta) - b.rho * math.sin(a.theta)) / determinant,
            (b.rho * math.cos(a.theta) - a.rho * math.cos(b.theta)) / determinant)


def leading_to(point, lines):
    """The segments that point to the given point and do not contain it."""
    found = []
    for line in lines:
        dx, dy = point[0] - (line.x1 + line.x2) / 2, point[1] - (line.y1 + line.y2) / 2
        off = abs(math.remainder(math.atan2(dy, dx) - math.atan2(line.y2 - line.y1, line.x2 - line.x1), math.pi))
        if off <= TOLERANCE and math.hypot(dx, dy) > length(line):
            found.append(line)
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Gst.init(None)
    lines = lines_of(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
    pairs = itertools.combinations(sorted(lines, key=length, reverse=True)[:LONGEST], 2)
    points = [point for point in (crossing(a, b) for a, b in pairs) if point is not None]
    if not points:
        sys.exit("no two segments cross")
    best = max(points, key=lambda point: sum(map(length, leading_to(point, lines))))
    print(f"{best[0]:.0f} {best[1]:.0f}")
    for line in leading_to(best, lines):
        print(f"  ({line.x1:g}, {line.y1:g}) ({line.x2:g}, {line.y2:g})")


if __name__ == "__main__":
    main()
