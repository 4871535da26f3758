#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how each person in a video moves: the mean of the optical flow in the box. PyTorch computes it on the device
that holds the flow.

  flow_torch.py street.mp4
  flow_torch.py "filesrc location=street.mp4 ! qtdemux ! h264parse ! nvh264dec"     # only the means leave the GPU
"""
try:
    import torch
except ImportError as error:
    raise SystemExit(f"{error}: this program needs PyTorch (https://pytorch.org)") from None
from frames import GstCudaVision, arguments, frames, source_of

(source,) = arguments(1)
ELEMENTS = "cudahog model=people display=false ! cudavisiontrack ! cudaopticalflow display=false"

for number, buffer in enumerate(frames(f"{source_of(source)} ! {ELEMENTS}")):
    meta = GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow")
    if meta is None:  # the first frame has none
        continue
    flow = torch.from_dlpack(meta)
    valid = torch.from_dlpack(GstCudaVision.buffer_get_tensor_meta(buffer, "optical-flow-valid")).unsqueeze(2)
    for box in GstCudaVision.buffer_get_regions(buffer):
        inside = slice(max(0, box.y), box.y + box.height), slice(max(0, box.x), box.x + box.width)
        x, y = ((flow[inside] * valid[inside]).sum((0, 1)) / valid[inside].sum()).tolist()
        print(f"frame {number}: person {box.track_id} moves by {x:+.2f} {y:+.2f} pixels, computed on {flow.device}")
