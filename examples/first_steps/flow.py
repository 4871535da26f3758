#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the share of vectors that move, one for each 4x4 pixels: flow.py SOURCE"""
import array

from frames import GstCudaVision, arguments, frames, upright

(source,) = arguments(1)
for number, buffer in enumerate(frames(f"{upright(source)} ! cudaopticalflow stride=4 display=false")):
    if flow := GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow"):  # the first frame has none
        xy = array.array("f", flow.get_bytes().get_data())
        valid = GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow-valid").get_bytes().get_data()
        moving = sum(v and x * x + y * y > 0.25 for x, y, v in zip(xy[::2], xy[1::2], valid))
        print(f"frame {number}: {100 * moving / max(1, sum(valid)):.1f} % of the valid vectors move")
