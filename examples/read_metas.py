#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what the elements attach to frames: runs a pipeline and prints the metas of every frame.

  read_metas.py [PIPELINE]
  read_metas.py "filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahistogram display=false"

Debian: python3-gi, gir1.2-gst-plugins-base-1.0
"""
import array
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstApp, GstCudaVision  # noqa: E402,F401
from plain_errors import launch, source_of, text_of  # noqa: E402

ARRAY_TYPES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f32": "f"}


def print_tensor(tensor):
    read = tensor.get_bytes()  # downloads a tensor on a GPU
    if read is None:  # a buffer pool has cleared it, or an element has changed it
        print("  a tensor that cannot be read")
        return
    kind = GstCudaVision.ElementType.to_string(tensor.element_type)
    numbers = array.array(ARRAY_TYPES[kind], read.get_data())
    dims = "".join(f"[{size}]" for size in tensor.get_dims())
    print(f"  tensor {tensor.get_id()} {kind} {dims} of {tensor.frame_width}x{tensor.frame_height}"
          f" from ({tensor.origin_x:g}, {tensor.origin_y:g}) in steps of ({tensor.step_x:g}, {tensor.step_y:g}):",
          *(f"{number:g}" if kind == "f32" else number for number in numbers))


def print_keypoints(meta):
    keypoints = meta.get_keypoints()
    print(f"  {len(keypoints)} keypoints")
    for k in keypoints:
        print(f"    ({k.x:g}, {k.y:g}) response {k.response:g} angle {k.angle:g}")


def print_lines(meta):
    lines = meta.get_lines()
    print(f"  {len(lines)} lines")
    for line in lines:
        print(f"    rho {line.rho:g} theta {line.theta:g} votes {line.votes}"
              f" from ({line.x1:g}, {line.y1:g}) to ({line.x2:g}, {line.y2:g})")


def print_region(region):
    print(f"  region {region.type or 'unnamed'} id {region.id} in {region.parent_id} at ({region.x}, {region.y})"
          f" of {region.width}x{region.height} score {region.score:g}")


def print_metas(buffer):
    """Prints the metas. They belong to the buffer: copy any data that is needed longer."""
    for tensor in GstCudaVision.buffer_get_tensor_metas(buffer):
        print_tensor(tensor)
    keypoints = GstCudaVision.buffer_get_keypoints_meta(buffer)
    if keypoints is not None:
        print_keypoints(keypoints)
    lines = GstCudaVision.buffer_get_lines_meta(buffer)
    if lines is not None:
        print_lines(lines)
    for region in GstCudaVision.buffer_get_regions(buffer):  # these are copies
        print_region(region)


def has_failed(pipeline):
    """Prints the error that ended the stream, if there is one."""
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    if message is not None:
        print(text_of(message), file=sys.stderr)
    return message is not None


def run(pipeline):
    """Returns the exit code. Waits for frames with a timeout, because after an error no frame arrives."""
    sink = pipeline.get_by_name("metas")
    pipeline.set_state(Gst.State.PLAYING)
    frame, failed = 0, False
    while not failed and not sink.is_eos():
        sample = sink.try_pull_sample(100 * Gst.MSECOND)
        if sample is None:
            failed = has_failed(pipeline)
        else:
            print(f"frame {frame}")
            frame += 1
            print_metas(sample.get_buffer())
    failed = failed or has_failed(pipeline)
    pipeline.set_state(Gst.State.NULL)
    return 1 if failed else 0


def main():
    Gst.init(None)
    described = sys.argv[1] if len(sys.argv) > 1 else "videotestsrc num-buffers=3 ! cudahistogram bins=16"
    return run(launch(source_of(described) + " ! appsink name=metas sync=false max-buffers=4"))


if __name__ == "__main__":
    sys.exit(main())
