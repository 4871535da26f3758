#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts people who walk over a line, both ways: count_over_line.py SOURCE X1,Y1 X2,Y2

Whoever looks along the line, from its first point to its second, sees them walk to the right or to the left."""
from frames import GstCudaVision, arguments, frames

source, *ends = arguments(3)
(x1, y1), (x2, y2) = (tuple(map(float, point.split(","))) for point in ends)


def side(a, b, point):
    """Positive to the right of the way from a to b: y grows downwards."""
    return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])


def meet(a, b, c, d):
    return (side(a, b, c) > 0) != (side(a, b, d) > 0) and (side(c, d, a) > 0) != (side(c, d, b) > 0)


feet, right, left = {}, 0, 0
for number, buffer in enumerate(frames(f"{source} ! videoconvert ! cudahog model=people display=false ! cudavisiontrack")):
    for box in (b for b in GstCudaVision.buffer_get_regions(buffer) if b.track_id):
        now = box.x + box.width / 2, box.y + box.height * 7 / 8  # the detector's boxes have a margin
        before = feet.get(box.track_id, now)
        feet[box.track_id] = now
        if meet((x1, y1), (x2, y2), before, now):
            to_right = side((x1, y1), (x2, y2), now) > 0
            right, left = right + to_right, left + (not to_right)
            print(f"frame {number}: person {box.track_id} to the {'right' if to_right else 'left'}", flush=True)
print(f"{right} to the right, {left} to the left")
