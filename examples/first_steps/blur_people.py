#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Covers the people that are found in a video: their boxes become squares of one colour each.

  blur_people.py SOURCE SINK
  blur_people.py street.mp4 "videoconvert ! jpegenc ! avimux ! filesink location=blurred.avi"
"""
from frames import Gst, GstCudaVision, arguments, launch, samples, text_of, upright

SIDE = 16  # the side of a square, in pixels


def blur(pixels, width, height, box):
    """Gives each square of the box the colour of its first pixel. A pixel has four bytes."""
    left, right = max(0, box.x), min(width, box.x + box.width)
    top, bottom = max(0, box.y), min(height, box.y + box.height)
    for y in range(top, bottom, SIDE):
        first = [4 * (y * width + x) for x in range(left, right, SIDE)]
        row = b"".join(bytes(pixels[at : at + 4]) * SIDE for at in first)[: 4 * (right - left)]
        for line in range(y, min(y + SIDE, bottom)):
            pixels[4 * (line * width + left) : 4 * (line * width + right)] = row


source, sink = arguments(2)
output = launch(f"appsrc name=in format=time max-bytes=0 ! {sink}")
feed, bus = output.get_by_name("in"), output.get_bus()


def check(types=Gst.MessageType.ERROR, timeout=0):
    """Ends the program if the output has failed."""
    message = bus.timed_pop_filtered(timeout, types)
    if message and message.type == Gst.MessageType.ERROR:
        raise SystemExit(text_of(message))


output.set_state(Gst.State.PLAYING)
for sample in samples(f"{upright(source)} ! video/x-raw,format=RGBA ! cudahog model=people display=false"):
    buffer, caps = sample.get_buffer(), sample.get_caps()
    width, height = (caps.get_structure(0).get_value(side) for side in ("width", "height"))
    pixels = bytearray(buffer.extract_dup(0, buffer.get_size()))
    for box in GstCudaVision.buffer_get_regions(buffer):
        blur(pixels, width, height, box)
    blurred = Gst.Buffer.new_wrapped(bytes(pixels))
    blurred.pts, blurred.duration = buffer.pts, buffer.duration
    feed.push_sample(Gst.Sample.new(blurred, caps, sample.get_segment(), None))
    check()
    while feed.get_current_level_bytes() > 4 * len(pixels):  # waits for the output, which is slower
        check(timeout=Gst.MSECOND)
feed.end_of_stream()
check(Gst.MessageType.EOS | Gst.MessageType.ERROR, Gst.CLOCK_TIME_NONE)
output.set_state(Gst.State.NULL)
