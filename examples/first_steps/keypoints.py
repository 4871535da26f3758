#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the centre of the keypoints of each frame, read all at once: keypoints.py SOURCE"""
import struct

from frames import GstCudaVision, arguments, frames, upright

(source,) = arguments(1)
for number, buffer in enumerate(frames(f"{upright(source)} ! cudasigma2kp display=false")):
    data = GstCudaVision.buffer_get_keypoints_meta(buffer).get_bytes().get_data() or b""
    points = list(struct.iter_unpack("4f", data))  # x, y, response, angle
    if points:
        x, y = (sum(point[i] for point in points) / len(points) for i in (0, 1))
        print(f"frame {number}: {len(points)} keypoints around {x:.1f},{y:.1f}")
