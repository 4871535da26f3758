#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the time from when each person first stood in a zone of the picture until they last did.

  dwell_time.py SOURCE X,Y,WIDTH,HEIGHT
"""
from frames import Gst, GstCudaVision, arguments, frames

source, zone = arguments(2)
x, y, width, height = map(float, zone.split(","))

stays = {}  # the first and the last time at which a track was in the zone
for buffer in frames(f"{source} ! videoconvert ! cudahog model=people display=false ! cudavisiontrack"):
    for box in (b for b in GstCudaVision.buffer_get_regions(buffer) if b.track_id):
        feet_x, feet_y = box.x + box.width / 2, box.y + box.height * 7 / 8  # the detector's boxes have a margin
        if x <= feet_x < x + width and y <= feet_y < y + height:
            stays[box.track_id] = stays.get(box.track_id, (buffer.pts, 0))[0], buffer.pts
for track, (first, last) in stays.items():
    print(f"person {track}: {(last - first) / Gst.SECOND:.1f} s, from {first / Gst.SECOND:.1f} s on")
