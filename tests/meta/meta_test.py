#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attaches the metas and reads every field of them from Python, through GObject introspection."""
import math
import struct
import unittest

from introspection import Gst, GstApp, GstCudaVision, GstVideo

U32 = GstCudaVision.ElementType.U32


def keypoint(x, y, response, angle):
    result = GstCudaVision.Keypoint()
    result.x, result.y, result.response, result.angle = x, y, response, angle
    return result


def line(rho, theta, votes, x1, y1, x2, y2):
    result = GstCudaVision.Line()
    result.rho, result.theta, result.votes = rho, theta, votes
    result.x1, result.y1, result.x2, result.y2 = x1, y1, x2, y2
    return result


def fields(item):
    names = ("rho", "theta", "votes", "x1", "y1", "x2", "y2") if isinstance(item, GstCudaVision.Line) else (
        "x", "y", "response", "angle")
    return tuple(getattr(item, name) for name in names)


def add_histogram(buffer, identifier="histogram", counts=(1, 2, 4000000000, 3, 4, 5)):
    data = Gst.Buffer.new_wrapped(struct.pack(f"={len(counts)}I", *counts))
    return GstCudaVision.buffer_add_tensor_meta(buffer, identifier, U32, [2, len(counts) // 2], data)


class ElementType(unittest.TestCase):
    def test_names_and_sizes(self):
        for name, size in (("u8", 1), ("u16", 2), ("u32", 4), ("i32", 4), ("f32", 4)):
            value = getattr(GstCudaVision.ElementType, name.upper())
            self.assertEqual(GstCudaVision.ElementType.size(value), size)
            self.assertEqual(GstCudaVision.ElementType.to_string(value), name)


class Tensor(unittest.TestCase):
    def test_every_field(self):
        buffer = Gst.Buffer.new()
        add_histogram(buffer).set_geometry(640, 480, 1.5, 2.5, 8.0, -4.0)
        meta = GstCudaVision.buffer_get_tensor_meta(buffer, "histogram")
        self.assertEqual(meta.get_id(), "histogram")
        self.assertEqual(meta.element_type, U32)
        self.assertEqual(list(meta.get_dims()), [2, 3])
        self.assertEqual(meta.n_dims, 2)
        self.assertEqual(list(meta.dims)[:2], [2, 3])
        self.assertEqual(meta.get_size(), 24)
        self.assertEqual(struct.unpack("=6I", meta.get_bytes().get_data()), (1, 2, 4000000000, 3, 4, 5))
        self.assertEqual(meta.get_data().get_size(), 24)
        self.assertEqual(meta.get_data().extract_dup(0, 4), struct.pack("=I", 1))
        self.assertEqual((meta.frame_width, meta.frame_height), (640, 480))
        self.assertEqual((meta.origin_x, meta.origin_y, meta.step_x, meta.step_y), (1.5, 2.5, 8.0, -4.0))

    def test_several(self):
        buffer = Gst.Buffer.new()
        add_histogram(buffer, "a", (1, 2))
        add_histogram(buffer, "b", (3, 4))
        self.assertEqual([meta.get_id() for meta in GstCudaVision.buffer_get_tensor_metas(buffer)], ["a", "b"])
        self.assertEqual(GstCudaVision.buffer_get_tensor_meta(buffer, None).get_id(), "a")
        self.assertEqual(GstCudaVision.buffer_get_tensor_meta(buffer, "b").get_id(), "b")
        self.assertIsNone(GstCudaVision.buffer_get_tensor_meta(buffer, "c"))
        self.assertEqual(GstCudaVision.buffer_get_tensor_metas(Gst.Buffer.new()), [])


class Keypoints(unittest.TestCase):
    def test_every_field(self):
        buffer = Gst.Buffer.new()
        self.assertIsNone(GstCudaVision.buffer_get_keypoints_meta(buffer))
        values = [(1.5, 2.5, 10.0, 0.25), (3.0, 4.0, -1.0, math.nan)]
        GstCudaVision.buffer_add_keypoints_meta(buffer, [keypoint(*value) for value in values])
        meta = GstCudaVision.buffer_get_keypoints_meta(buffer)
        self.assertEqual(meta.get_n(), 2)
        points = meta.get_keypoints()
        self.assertEqual(len(points), 2)
        self.assertEqual(fields(points[0]), values[0])
        self.assertEqual(fields(points[1])[:3], values[1][:3])
        self.assertTrue(math.isnan(points[1].angle))
        there, point = meta.get_keypoint(0)
        self.assertTrue(there)
        self.assertEqual(fields(point), values[0])
        self.assertFalse(meta.get_keypoint(2)[0])

    def test_none_found(self):
        buffer = Gst.Buffer.new()
        GstCudaVision.buffer_add_keypoints_meta(buffer, [])
        meta = GstCudaVision.buffer_get_keypoints_meta(buffer)
        self.assertEqual((meta.get_n(), list(meta.get_keypoints())), (0, []))
        self.assertEqual(meta.get_bytes().get_size(), 0)

    def test_bytes(self):
        buffer = Gst.Buffer.new()
        values = [(float(i), i / 4, 0.5, -i / 8) for i in range(1000)]
        GstCudaVision.buffer_add_keypoints_meta(buffer, [keypoint(*value) for value in values])
        data = GstCudaVision.buffer_get_keypoints_meta(buffer).get_bytes().get_data()
        self.assertEqual(list(struct.iter_unpack("=4f", data)), values)


class Lines(unittest.TestCase):
    VALUES = [(12.0, 0.75, 230, 0.0, 5.0, 100.0, 105.5), (-3.0, 1.5, 4, 1.0, 2.0, 3.0, 4.0)]

    def test_every_field(self):
        buffer = Gst.Buffer.new()
        self.assertIsNone(GstCudaVision.buffer_get_lines_meta(buffer))
        GstCudaVision.buffer_add_lines_meta(buffer, [line(*value) for value in self.VALUES])
        meta = GstCudaVision.buffer_get_lines_meta(buffer)
        self.assertEqual(meta.get_n(), 2)
        self.assertEqual([fields(item) for item in meta.get_lines()], self.VALUES)
        there, second = meta.get_line(1)
        self.assertTrue(there)
        self.assertEqual(fields(second), self.VALUES[1])
        self.assertFalse(meta.get_line(2)[0])

    def test_none_found(self):
        buffer = Gst.Buffer.new()
        GstCudaVision.buffer_add_lines_meta(buffer, [])
        meta = GstCudaVision.buffer_get_lines_meta(buffer)
        self.assertEqual((meta.get_n(), list(meta.get_lines())), (0, []))
        self.assertEqual(meta.get_bytes().get_size(), 0)

    def test_bytes(self):
        buffer = Gst.Buffer.new()
        GstCudaVision.buffer_add_lines_meta(buffer, [line(*value) for value in self.VALUES])
        data = GstCudaVision.buffer_get_lines_meta(buffer).get_bytes().get_data()
        self.assertEqual(list(struct.iter_unpack("=2fI4f", data)), self.VALUES)


class Regions(unittest.TestCase):
    def test_every_field_of_all(self):
        buffer = Gst.Buffer.new()
        self.assertEqual(GstCudaVision.buffer_get_regions(buffer), [])
        # Both have the id 0, by which GStreamer 1.22 finds the first one alone.
        person = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", 10, 20, 64, 128)
        person.add_param(Gst.Structure.new_from_string("detection, confidence=(double)0.75"))
        face = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "face", 1, 2, 3, 4)
        face.parent_id = 5
        regions = GstCudaVision.buffer_get_regions(buffer)
        del buffer, person, face  # the regions are copies
        self.assertEqual([(r.type, r.x, r.y, r.width, r.height, r.id, r.parent_id) for r in regions],
                         [("person", 10, 20, 64, 128, 0, 0), ("face", 1, 2, 3, 4, 0, 5)])
        self.assertEqual(regions[0].score, 0.75)
        self.assertTrue(math.isnan(regions[1].score))
        copy = regions[0].copy()
        del regions
        self.assertEqual((copy.type, copy.width), ("person", 64))

    def test_many_times(self):
        buffer = Gst.Buffer.new()
        for number in range(100):
            GstVideo.buffer_add_video_region_of_interest_meta(buffer, f"type {number}", number, 0, 1, 1).id = number
        for _ in range(100):
            self.assertEqual([r.x for r in GstCudaVision.buffer_get_regions(buffer)], list(range(100)))


class Pipeline(unittest.TestCase):
    def test_results_of_a_scaled_frame(self):
        pipeline = Gst.parse_launch(
            "appsrc name=src format=time caps=video/x-raw,format=RGB,width=64,height=48,framerate=30/1 ! videoscale ! "
            "video/x-raw,width=32,height=24 ! appsink name=sink sync=false")
        pipeline.set_state(Gst.State.PLAYING)
        buffer = Gst.Buffer.new_wrapped(bytes(64 * 48 * 3))
        add_histogram(buffer)
        GstCudaVision.buffer_add_lines_meta(buffer, [line(20.0, 0.0, 9, 20.0, 0.0, 20.0, 47.0)])
        pipeline.get_by_name("src").emit("push-buffer", buffer)
        pipeline.get_by_name("src").emit("end-of-stream")
        sample = pipeline.get_by_name("sink").emit("try-pull-sample", 10 * Gst.SECOND)
        self.assertIsNotNone(sample)
        scaled = sample.get_buffer()
        self.assertEqual(fields(GstCudaVision.buffer_get_lines_meta(scaled).get_lines()[0]),
                         (10.0, 0.0, 9, 10.0, 0.0, 10.0, 23.5))
        self.assertEqual(list(GstCudaVision.buffer_get_tensor_meta(scaled, None).get_dims()), [2, 3])
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    unittest.main(verbosity=2)
