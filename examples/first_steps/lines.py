#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the strongest line of each frame: lines.py SOURCE"""

from frames import GstCudaVision, arguments, frames, upright

(source,) = arguments(1)
for number, buffer in enumerate(frames(f"{upright(source)} ! cudahough display=false")):
    lines = GstCudaVision.buffer_get_lines_meta(buffer).get_lines()
    if lines:
        best = lines[0]
        print(f"frame {number}: {len(lines)} lines, the best from {best.x1:.0f},{best.y1:.0f} to {best.x2:.0f},{best.y2:.0f}")
