#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metas in Python that outlive their frame, are read by several threads, copied, or changed by somebody else."""
import copy
import gc
import pickle
import struct
import threading
import time
import unittest

from introspection import Gst, GstCudaVision, GstVideo, skip

try:
    import numpy
except ImportError as missing:
    skip(f"{missing}; it is in python3-numpy")
from gi.repository import GObject

NUMBERS = list(range(4000000000, 4000000000 + 1000))
POINTS = [(float(i), i / 4, 0.5, -i / 8) for i in range(100)]


def frame():
    """A frame with everything."""
    buffer = Gst.Buffer.new_allocate(None, 4096, None)
    GstCudaVision.buffer_add_tensor_meta(buffer, "numbers", GstCudaVision.ElementType.U32, [10, 100],
                                         Gst.Buffer.new_wrapped(struct.pack("=1000I", *NUMBERS)))
    points = [GstCudaVision.Keypoint() for _ in POINTS]
    for point, values in zip(points, POINTS):
        point.x, point.y, point.response, point.angle = values
    GstCudaVision.buffer_add_keypoints_meta(buffer, points)
    line = GstCudaVision.Line()
    line.votes, line.x2 = 230, 100.0
    GstCudaVision.buffer_add_lines_meta(buffer, [line])
    GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", 0xffffffff - 9, 20, 64, 128)
    return buffer


def reuse_memory():
    """Lets other objects have the memory that is free."""
    gc.collect()
    return [Gst.Buffer.new_wrapped(bytes([85]) * size) for size in range(16, 600, 8) for _ in range(20)]


def without_frame(get):
    """What get(frame) gives, after the frame is gone."""
    found = get(frame())
    reuse_memory()
    return found


class Life(unittest.TestCase):
    def check(self, tensor, points, lines):
        self.assertEqual(repr(tensor), "<tensor numbers 10x100 u32 on the host>")
        self.assertEqual((tensor.get_id(), tensor.n_dims, list(tensor.dims)[:2], tensor.get_size()),
                         ("numbers", 2, [10, 100], 4000))
        self.assertEqual(numpy.asarray(tensor).ravel().tolist(), NUMBERS)
        self.assertEqual(numpy.from_dlpack(tensor).ravel().tolist(), NUMBERS)
        self.assertEqual(numpy.asarray(points).tolist(), POINTS)
        self.assertEqual([(p.x, p.y, p.response, p.angle) for p in points.get_keypoints()], POINTS)
        self.assertEqual(numpy.asarray(lines)["votes"].tolist(), [230])

    def test_metas_outlive_the_frame(self):
        tensor, points, lines, region = without_frame(GstCudaVision.metas)
        self.check(tensor, points, lines)
        self.assertEqual((region.type, region.x), ("person", -10))

    def test_metas_that_were_found_one_by_one_outlive_the_frame(self):
        self.check(without_frame(lambda buffer: GstCudaVision.buffer_get_tensor_meta(buffer, "numbers")),
                   without_frame(GstCudaVision.buffer_get_keypoints_meta), without_frame(GstCudaVision.buffer_get_lines_meta))
        self.check(without_frame(GstCudaVision.buffer_get_tensor_metas)[0],
                   without_frame(lambda buffer: GstCudaVision.buffer_get_keypoints_meta(buffer=buffer)),
                   without_frame(GstCudaVision.buffer_get_lines_meta))

    def test_metas_that_were_attached_outlive_the_frame(self):
        def attach(_):
            data = Gst.Buffer.new_wrapped(struct.pack("=1000I", *NUMBERS))
            return GstCudaVision.buffer_add_tensor_meta(Gst.Buffer.new(), "numbers", GstCudaVision.ElementType.U32,
                                                        [10, 100], data)
        self.check(without_frame(attach), *GstCudaVision.metas(frame())[1:3])
        points = without_frame(lambda _: GstCudaVision.buffer_add_keypoints_meta(Gst.Buffer.new(), []))
        lines = without_frame(lambda _: GstCudaVision.buffer_add_lines_meta(Gst.Buffer.new(), []))
        self.assertEqual((len(points), len(lines)), (0, 0))

    def test_what_was_read_from_a_meta_outlives_it(self):
        def parts(buffer):
            tensor, points, lines = GstCudaVision.metas(buffer)[:3]
            return (tensor.meta, points.meta, tensor.data, tensor.get_data(), tensor.get_bytes(), points.get_keypoints(),
                    lines.get_lines(), points.get_bytes(), tensor.dims, numpy.asarray(tensor)[3:, ::2],
                    memoryview(numpy.asarray(points)))
        head, head_of_points, data, same, numbers, points, lines, bytes_of_points, dims, part, view = without_frame(parts)
        self.assertEqual(head.info.api.name, "GstCudaVisionTensorMetaAPI")
        self.assertEqual(head_of_points.info.api.name, "GstCudaVisionKeypointsMetaAPI")
        for buffer in (data, same):
            self.assertEqual(buffer.extract_dup(0, 4), struct.pack("=I", NUMBERS[0]))
        self.assertEqual(numbers.get_size(), 4000)
        self.assertEqual([point.x for point in points], [point[0] for point in POINTS])
        self.assertEqual((lines[0].votes, lines[0].x2), (230, 100.0))
        self.assertEqual(bytes_of_points.get_size(), 1600)
        self.assertEqual(list(dims)[:2], [10, 100])
        self.assertEqual(part[0, :3].tolist(), [NUMBERS[300], NUMBERS[302], NUMBERS[304]])
        self.assertEqual(view.tobytes()[:16], struct.pack("=4f", *POINTS[0]))

    def test_metas_that_are_removed_stay(self):
        buffer = frame()
        tensor, points, lines = GstCudaVision.metas(buffer)[:3]
        for name in ("Tensor", "Keypoints", "Lines"):
            buffer.remove_meta(buffer.get_meta(GObject.type_from_name(f"GstCudaVision{name}MetaAPI")))
        self.assertEqual(len(GstCudaVision.metas(buffer)), 1)
        reuse_memory()
        self.check(tensor, points, lines)

    def test_metas_of_a_frame_that_is_used_again_stay(self):
        pool = Gst.BufferPool.new()
        config = pool.get_config()
        Gst.BufferPool.config_set_params(config, None, 16, 1, 1)
        pool.set_config(config)
        pool.set_active(True)
        kept = []
        for number in range(5):  # the pool has one buffer: a meta that kept it would stop the loop
            params = Gst.BufferPoolAcquireParams()
            params.flags = Gst.BufferPoolAcquireFlags.DONTWAIT
            result, buffer = pool.acquire_buffer(params)
            self.assertEqual(result, Gst.FlowReturn.OK)
            GstCudaVision.buffer_add_tensor_meta(buffer, f"frame {number}", GstCudaVision.ElementType.U8, [1],
                                                 Gst.Buffer.new_wrapped(bytes([number])))
            kept += GstCudaVision.metas(buffer)
            del buffer
        pool.set_active(False)
        self.assertEqual([(meta.get_id(), numpy.asarray(meta).tolist()) for meta in kept],
                         [(f"frame {number}", [number]) for number in range(5)])

    def test_pixels_are_not_kept(self):
        buffer = frame()
        pixels = buffer.peek_memory(0)
        before = pixels.mini_object.refcount
        found = GstCudaVision.metas(buffer)
        arrays = [numpy.asarray(meta) for meta in found[:3]]
        del buffer
        gc.collect()
        self.assertEqual(pixels.mini_object.refcount, before - 1)
        self.assertEqual(arrays[0][0, 0], NUMBERS[0])


class Threads(unittest.TestCase):
    def test_numbers_are_mapped_once_by_all_threads(self):
        meta = GstCudaVision.metas(frame())[0]
        exports, export = [], GstCudaVision.TensorMeta._export_dlpack

        def slow(self, *arguments):
            exports.append(threading.get_ident())
            time.sleep(0.05)  # in which the others come
            return export(self, *arguments)

        arrays, start = [], threading.Barrier(8)

        def read():
            start.wait()
            arrays.append(numpy.asarray(meta))

        GstCudaVision.TensorMeta._export_dlpack = slow
        try:
            threads = [threading.Thread(target=read) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            GstCudaVision.TensorMeta._export_dlpack = export
        self.assertEqual(len(exports), 1)
        reuse_memory()
        for array in arrays:
            self.assertEqual(array.ravel().tolist(), NUMBERS)

    def test_every_thread_may_drop_the_last_reference(self):
        for _ in range(200):
            items = GstCudaVision.metas(frame())
            arrays = [numpy.asarray(items[0])]
            threads = [threading.Thread(target=items.clear), threading.Thread(target=lambda: arrays[0].sum()),
                       threading.Thread(target=lambda: numpy.asarray(arrays[0].base))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(arrays[0][9, 99], NUMBERS[-1])


class Copies(unittest.TestCase):
    def test_what_refers_to_a_frame_is_not_copied(self):
        buffer = frame()
        tensor, points, lines = GstCudaVision.metas(buffer)[:3]
        plane = GstCudaVision.FrameTensor(buffer, Gst.Caps.from_string("video/x-raw, format=GRAY8, width=4, height=4"), 0)
        array, plane_array = numpy.asarray(tensor), numpy.asarray(plane)
        lease = next(iter(tensor._leases.values()))
        for item in (tensor, points, lines, plane, lease):
            for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, f"a {type(item).__name__} cannot be copied or pickled"):
                    attempt(item)
        self.assertEqual((array[0, 0], plane_array.shape), (NUMBERS[0], (4, 4)))

    def test_lease_is_released_once(self):
        tensor = GstCudaVision.metas(frame())[0]
        numpy.asarray(tensor)
        lease = next(iter(tensor._leases.values()))
        lease.__del__()
        lease.__del__()
        del lease, tensor
        gc.collect()

    def test_regions_are_copied(self):
        region = GstCudaVision.metas(frame())[3]
        for twin in (copy.copy(region), copy.deepcopy([region])[0]):
            self.assertIsNot(twin, region)
            self.assertEqual((twin.type, twin.x, twin.y, twin.width, twin.height), ("person", -10, 20, 64, 128))
        with self.assertRaisesRegex(TypeError, "pickled"):
            pickle.dumps(region)

    def test_boxes_are_signed(self):
        self.assertEqual(GstCudaVision.regions_array(frame())["x"].tolist(), [-10])


class Changed(unittest.TestCase):
    def test_tensor_that_somebody_has_changed(self):
        for field, value, text in (("id", 0, "<tensor None 10x100 u32 on the host>"),
                                   ("id", 0xffffffff, "<tensor None 10x100 u32 on the host>"),
                                   ("n_dims", 1000, "<tensor numbers, which cannot be read>"),
                                   ("n_dims", 0, "<tensor numbers, which cannot be read>"),
                                   ("element_type", 77, "<tensor numbers, which cannot be read>"),
                                   ("element_type", GstCudaVision.ElementType.U16, "<tensor numbers 10x100 u16 on the host>")):
            buffer = Gst.Buffer.new()
            meta = GstCudaVision.buffer_add_tensor_meta(buffer, "numbers", GstCudaVision.ElementType.U32, [10, 100],
                                                        Gst.Buffer.new_wrapped(struct.pack("=1000I", *NUMBERS)))
            try:
                setattr(meta, field, value)
            except TypeError:  # newer versions of PyGObject write no value that an enumeration does not have
                self.assertEqual(value, 77)
                continue
            found = GstCudaVision.metas(buffer)[0]
            self.assertEqual((repr(meta), repr(found)), (text, text))
            if field != "element_type" or value == 77:
                with self.assertRaisesRegex(BufferError, "cannot be read"):
                    numpy.from_dlpack(found)
                with self.assertRaisesRegex(BufferError, "cannot be read"):
                    numpy.asarray(found)
                self.assertIsNone(found.get_bytes())

    def test_names_that_are_no_text(self):
        buffer = Gst.Buffer.new()
        meta = GstCudaVision.buffer_add_tensor_meta(buffer, "a", GstCudaVision.ElementType.U8, [1], Gst.Buffer.new_wrapped(b"1"))
        self.assertEqual(meta.get_id(), "a")
        empty = GstCudaVision.TensorMeta()  # of no buffer
        self.assertEqual((empty.get_id(), empty.get_dims(), empty.get_bytes(), empty.get_data()), (None, [], None, None))


if __name__ == "__main__":
    unittest.main(verbosity=2)
