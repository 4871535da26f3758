#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attaches regions of one's own detector in Python: in a pad probe, behind an appsrc, and where that is refused."""
import copy
import math
import unittest

from introspection import Gst, GstApp, GstCudaVision, GstVideo, skip  # noqa: F401

try:
    import numpy
except ImportError as missing:
    skip(f"{missing}; it is in python3-numpy")
from gi.repository import GLib

CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1"


def frames_through(elements, buffers=3, probe=None):
    """The buffers that leave the elements; probe(info, number) is called for each in front of them."""
    pipeline = Gst.parse_launch(f"appsrc name=in format=time caps={CAPS} ! identity name=probed ! {elements} appsink name=out")
    sink, source, errors = pipeline.get_by_name("out"), pipeline.get_by_name("in"), []

    def called(_pad, info):
        try:
            probe(info, called.number)
        except Exception as error:  # PyGObject would only print it
            errors.append(error)
        called.number += 1
        return Gst.PadProbeReturn.OK

    called.number = 0
    if probe:
        pipeline.get_by_name("probed").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, called)
    pipeline.set_state(Gst.State.PLAYING)
    if isinstance(buffers, int):
        buffers = [Gst.Buffer.new_wrapped(bytes(64 * 48)) for _ in range(buffers)]
    for number, buffer in enumerate(buffers):
        buffer.pts = number * Gst.SECOND // 30
        source.push_buffer(buffer)
    source.end_of_stream()
    found = []
    while sample := sink.pull_sample():
        found.append(sample.get_buffer())
    pipeline.set_state(Gst.State.NULL)
    if errors:
        raise errors[0]
    return found


def values(region):
    return (region.type, region.x, region.y, region.width, region.height, region.id, region.label)


class AttachRegion(unittest.TestCase):
    def test_probe_attaches_although_python_holds_the_buffer(self):
        def probe(info, number):
            held = info.get_buffer()
            GstCudaVision.add_region(info, "person", -5 + number, 6, 7, 8, score=0.25, label="Zoë", id=9)
            GstCudaVision.add_region(info, "car", 1, 2, 3, 4)
            self.assertEqual(GstCudaVision.metas(held), [])
            self.assertEqual(len(GstCudaVision.metas(info.get_buffer())), 2)

        for number, buffer in enumerate(frames_through("", probe=probe)):
            person, car = GstCudaVision.buffer_get_regions(buffer)
            self.assertEqual(values(person), ("person", -5 + number, 6, 7, 8, 9, "Zoë"))
            self.assertEqual(values(car), ("car", 1, 2, 3, 4, 10, None))
            self.assertEqual((person.score, math.isnan(car.score)), (0.25, True))
            self.assertEqual(repr(person), f"<person 'Zoë' 0.25 at {number - 5},6 7x8>")
            self.assertEqual(values(copy.copy(person)), values(person))

    def test_numbers_may_be_those_of_numpy(self):
        box = numpy.array([-5, 6, 7, 8], numpy.int32)
        buffer = Gst.Buffer.new()
        GstCudaVision.add_region(buffer, "person", *box, score=numpy.float32(0.5))
        region = GstCudaVision.buffer_get_regions(buffer)[0]
        self.assertEqual((region.x, region.height, region.score), (-5, 8, 0.5))

    def test_buffer_of_an_appsrc_gets_regions(self):
        buffers = []
        for number in range(3):
            buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
            if number != 1:
                GstCudaVision.add_region(buffer, "person", number, 6, 7, 8)
            GstCudaVision.mark_analysed(buffer, "person")
            buffers.append(buffer)
        del buffer
        results = [(len(GstCudaVision.metas(buffer)), GstCudaVision.buffer_get_n_results(buffer, "person"))
                   for buffer in frames_through("", buffers)]
        self.assertEqual(results, [(1, 1), (0, 0), (1, 1)])

    def test_probe_removes_regions(self):
        def attach(info, _number):
            for kind in ("person", "car", "person"):
                GstCudaVision.add_region(info, kind, 1, 2, 3, 4)
            self.assertEqual(GstCudaVision.remove_regions(info, "person"), 2)

        for buffer in frames_through("", probe=attach):
            self.assertEqual([region.type for region in GstCudaVision.buffer_get_regions(buffer)], ["car"])
        buffer = Gst.Buffer.new()
        GstCudaVision.add_region(buffer, "car", 1, 2, 3, 4)
        self.assertEqual((GstCudaVision.remove_regions(buffer, "person"), GstCudaVision.remove_regions(buffer)), (0, 1))

    def test_tracker_predicts_where_the_detector_did_not_look(self):
        def detect(info, number):
            if number % 3 == 0:
                GstCudaVision.mark_analysed(info, "person")
            if number in (0, 3):  # it looks at frame 6 and finds nothing
                GstCudaVision.add_region(info, "person", 10, 6, 20, 30)

        found = [[(region.track_id, region.predicted) for region in GstCudaVision.buffer_get_regions(buffer)]
                 for buffer in frames_through("cudavisiontrack min-hits=0 !", 8, detect)]
        self.assertEqual(found, [[(1, number % 3 != 0)] for number in range(6)] + [[], []])

    def test_a_copy_of_a_buffer_that_is_in_use_gets_regions(self):
        buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
        reference = buffer.copy()  # PyGObject's copy: another reference to the buffer
        for used in (buffer, reference):
            with self.assertRaisesRegex(GLib.Error, r"in Python Gst.Buffer.copy_deep\(\)"):
                GstCudaVision.add_region(used, "person", 1, 2, 3, 4)
        copied = buffer.copy_deep()
        GstCudaVision.add_region(copied, "person", 1, 2, 3, 4)
        self.assertEqual(len(GstCudaVision.buffer_get_regions(copied)), 1)

    def test_errors_say_what_to_do(self):
        buffer = Gst.Buffer.new()
        sample = Gst.Sample.new(buffer, None, None, None)
        for call in (lambda: GstCudaVision.add_region(buffer, "person", 1, 2, 3, 4),
                     lambda: GstCudaVision.remove_regions(buffer), lambda: GstCudaVision.mark_analysed(buffer)):
            with self.assertRaisesRegex(GLib.Error, "in a pad probe, give the probe's info instead of the buffer"):
                call()
        with self.assertRaisesRegex(TypeError, "a frame is a Gst.Buffer or, in a pad probe, the probe's Gst.PadProbeInfo"):
            GstCudaVision.add_region(sample, "person", 1, 2, 3, 4)
        with self.assertRaisesRegex(OverflowError, "-3"):
            GstCudaVision.add_region(Gst.Buffer.new(), "person", 1, 2, -3, 4)


class Samples(unittest.TestCase):
    def test_frames_come_in_order_until_the_end(self):
        for count in (0, 1, 5):
            samples = list(GstCudaVision.samples(f"videotestsrc num-buffers={count} ! {CAPS} ! appsink name=sink sync=false"))
            self.assertEqual([sample.get_buffer().offset for sample in samples], list(range(count)))

    def test_errors_end_the_loop_and_name_the_file(self):
        for missing in ("/no/such/file.avi", "/no/such/file.avi ! decodebin"):
            with self.assertRaisesRegex(RuntimeError, r"filesrc\d+: .*/no/such/file\.avi"):
                list(GstCudaVision.samples(f"filesrc location={missing} ! appsink name=sink"))
        with self.assertRaisesRegex(RuntimeError, "cudahough.*min-theta"):
            list(GstCudaVision.samples(f"videotestsrc ! {CAPS} ! cudahough min-theta=2 max-theta=1 ! appsink name=sink"))
        with self.assertRaisesRegex(ValueError, "no element of the name frames"):
            list(GstCudaVision.samples("videotestsrc ! appsink name=sink", "frames"))
        with self.assertRaisesRegex(GLib.Error, "no element \"cudacany\""):
            list(GstCudaVision.samples("videotestsrc ! cudacany ! appsink name=sink"))

    def test_messages_do_not_gather_while_samples_come(self):
        pipeline = Gst.parse_launch(f"videotestsrc num-buffers=60 ! {CAPS} ! cudahistogram display=false post-messages=true ! "
                                    "appsink name=sink sync=false max-buffers=2")
        bus, gathered = pipeline.get_bus(), 0
        for number, _ in enumerate(GstCudaVision.samples(pipeline)):
            while number == 50 and bus.pop():
                gathered += 1
        self.assertLess(gathered, 20)

    def test_break_stops_the_pipeline(self):
        pipeline = Gst.parse_launch(f"videotestsrc ! {CAPS} ! appsink name=frames")
        for sample in GstCudaVision.samples(pipeline, "frames"):
            self.assertEqual(pipeline.get_state(Gst.CLOCK_TIME_NONE).state, Gst.State.PLAYING)
            self.assertEqual(sample.get_caps().get_structure(0).get_int("width")[1], 64)
            break
        self.assertEqual(pipeline.get_state(0).state, Gst.State.NULL)


if __name__ == "__main__":
    unittest.main()
