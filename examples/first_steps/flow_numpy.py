#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the mean motion of each frame, one vector for each 4x4 pixels: flow_numpy.py SOURCE"""
try:
    import numpy
except ImportError as error:
    raise SystemExit(f"{error}: install python3-numpy, and use Debian's /usr/bin/python3") from None
from frames import GstCudaVision, arguments, frames, upright

(source,) = arguments(1)
for number, buffer in enumerate(frames(f"{upright(source)} ! cudaopticalflow stride=4 display=false")):
    if flow := GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow"):  # the first frame has none
        valid = numpy.asarray(GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow-valid")) != 0
        x, y = numpy.asarray(flow)[valid].mean(axis=0)
        print(f"frame {number}: {x:+.2f} {y:+.2f} pixels")
