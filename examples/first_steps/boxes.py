#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the boxes that cudahog finds: boxes.py SOURCE MODEL"""
from frames import GstCudaVision, arguments, frames, upright

source, model = arguments(2)
for number, buffer in enumerate(frames(f"{upright(source)} ! cudahog display=false model-location={model}")):
    for box in GstCudaVision.buffer_get_regions(buffer):
        print(f"frame {number}: {box.type} {box.id} at {box.x},{box.y} {box.width}x{box.height} score {box.score:.2f}")
