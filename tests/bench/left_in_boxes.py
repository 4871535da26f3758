#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what cudavisionredact leaves of people: the correlation between the picture in a box and what is left of it.

usage: left_in_boxes.py [--frames N] [--cells N,...]

The people are those of vtest_people.json in its first N frames (40) of vtest.avi, scaled to each of SIZES. Both pictures in
a box are scaled to 64x36 pixels by the means of areas. For each mode and number of cells, prints the median of the
correlations at each size. If two sizes differ by more than 0.05, the status is 1.
"""
import argparse
import json
import os
import pathlib
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision  # noqa: E402

FROM, SIZES, PART, MOST = (768, 576), ((640, 360), (1920, 1080), (3840, 2160)), (64, 36), 0.05


def marks_of(frames):
    """The boxes of people in the first marked frames, by their numbers."""
    text = (pathlib.Path(__file__).parent / "vtest_people.json").read_text(encoding="utf-8")
    marked = sorted((int(frame), list(people.values())) for frame, people in json.loads(text)["frames"].items())
    return dict(marked[:frames])


def scaled(box, size):
    """A box of the video in pixels of frames of another size."""
    return [round(value * to / of) for value, to, of in zip(box, size * 2, FROM * 2)]


def means(length, count):
    """The matrix that turns `length` samples into the means of `count` equal parts."""
    edges = numpy.arange(count + 1) * length / count
    cover = numpy.clip(edges[1:, None] - numpy.arange(length), 0, 1) - numpy.clip(edges[:-1, None] - numpy.arange(length), 0, 1)
    return cover * count / length


def correlation(a, b):
    """The correlation of two pictures, scaled to PART."""
    rows, columns = means(a.shape[0], PART[1]), means(a.shape[1], PART[0])
    parts = [(rows @ picture @ columns.T).ravel() for picture in (a, b)]
    return numpy.corrcoef(*parts)[0, 1] if parts[1].std() > 0 else 0.0


def left(video, marks, size, redact):
    """The correlations of all boxes, behind an element with these properties."""
    width, height = size
    pipeline = Gst.parse_launch(
        f"filesrc name=video ! decodebin ! identity eos-after={max(marks) + 2} ! identity name=pick ! videoconvert ! "
        f"videoscale add-borders=false ! "
        f"video/x-raw,format=GRAY8,width={width},height={height} ! identity name=marks ! cudavisionredact name=redact {redact} ! "
        f"fakesink name=sink sync=false")
    pipeline.get_by_name("video").set_property("location", str(video))
    number, whole, found = -1, None, []

    def picture(info):
        okay, mapped = info.get_buffer().map(Gst.MapFlags.READ)
        assert okay
        pixels = numpy.frombuffer(mapped.data, numpy.uint8).reshape(height, -1)[:, :width].astype(float)
        info.get_buffer().unmap(mapped)
        return pixels

    def pick(*_):
        nonlocal number
        number += 1
        return Gst.PadProbeReturn.OK if number in marks else Gst.PadProbeReturn.DROP

    def mark(_, info):
        nonlocal whole
        whole = picture(info)
        for box in marks[number]:
            GstCudaVision.add_region(info, "person", *scaled(box, size), score=1)
        GstCudaVision.mark_analysed(info, "person")
        return Gst.PadProbeReturn.OK

    def compare(_, info):
        hidden = picture(info)
        for box in marks[number]:
            x, y, w, h = scaled(box, size)
            place = slice(max(y, 0), y + h), slice(max(x, 0), x + w)
            found.append(correlation(whole[place], hidden[place]))
        return Gst.PadProbeReturn.OK

    for name, probe in ("pick", pick), ("marks", mark), ("redact", compare):
        pipeline.get_by_name(name).get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(" ".join(map(str, message.parse_error())))
    return found


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--cells", default="4,6,12")
    options = parser.parse_args()
    video = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data"), "vtest.avi")
    if not video.exists():
        print(f"skipped: no {video} (Debian: opencv-doc)")
        sys.exit(77)
    Gst.init(None)
    marks, differs = marks_of(options.frames), False
    for mode in "pixelate", "blur":
        for cells in options.cells.split(","):
            medians = [float(numpy.median(left(video, marks, size, f"type=person hold=0 mode={mode} cells={cells}")))
                       for size in SIZES]
            differs |= max(medians) - min(medians) > MOST
            print(f"{mode} cells={cells}: {', '.join(f'{value:.2f}' for value in medians)}", flush=True)
    sys.exit("the sizes differ" if differs else 0)


if __name__ == "__main__":
    main()
