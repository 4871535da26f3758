#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the share of pixels that move, by their vectors: flow.py SOURCE"""
import array
import sys

from frames import GstCudaVision, frames

for number, buffer in enumerate(frames(f"{sys.argv[1]} ! videoconvert ! cudaopticalflow stride=4 display=false")):
    if flow := GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow"):  # the first frame has none
        xy = array.array("f", flow.get_bytes().get_data())
        moving = sum(x * x + y * y > 0.25 for x, y in zip(xy[::2], xy[1::2]))
        print(f"frame {number}: {100 * moving / (len(xy) // 2):.1f} % move")
