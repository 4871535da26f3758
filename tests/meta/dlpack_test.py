#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads tensors, lists and frames with NumPy through PyGObject's override: values, addresses, lifetimes, errors."""
import ctypes
import gc
import struct
import threading
import unittest

from introspection import Gst, GstCudaVision, GstVideo, skip

try:
    import numpy
except ImportError as missing:
    skip(f"{missing}; it is in python3-numpy")

Type = GstCudaVision.ElementType
KINDS = [(Type.U8, "B", numpy.uint8), (Type.U16, "H", numpy.uint16), (Type.U32, "I", numpy.uint32),
         (Type.I32, "i", numpy.int32), (Type.F32, "f", numpy.float32)]


def tensor(kind=Type.U32, letter="I", values=(1, 2, 4000000000, 3, 4, 5), dims=(2, 3)):
    """A frame with a tensor, and the tensor."""
    buffer = Gst.Buffer.new()
    data = Gst.Buffer.new_wrapped(struct.pack(f"={len(values)}{letter}", *values))
    return buffer, GstCudaVision.buffer_add_tensor_meta(buffer, "numbers", kind, list(dims), data)


def address(array):
    return array.__array_interface__["data"][0]


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


class Tensors(unittest.TestCase):
    def test_every_type_without_a_copy(self):
        for kind, letter, dtype in KINDS:
            buffer, meta = tensor(kind, letter, (1, 2, 3, 4, 5, 6))
            expected = numpy.frombuffer(meta.get_bytes().get_data(), dtype).reshape(2, 3)
            for array in (numpy.from_dlpack(meta), numpy.asarray(meta)):
                self.assertEqual(array.dtype, dtype)
                self.assertEqual(array.tolist(), expected.tolist())
                self.assertFalse(array.flags.writeable)
            self.assertEqual(address(numpy.from_dlpack(meta)), address(numpy.asarray(meta)))
            self.assertEqual(meta.__dlpack_device__(), (1, 0))
            self.assertEqual(meta.shape, (2, 3))
            self.assertFalse(hasattr(meta, "__cuda_array_interface__"))

    def test_array_outlives_everything(self):
        buffer, meta = tensor()
        arrays = [numpy.from_dlpack(meta), numpy.asarray(meta)]
        del buffer
        gc.collect()
        self.assertEqual(arrays[0].tolist(), [[1, 2, 4000000000], [3, 4, 5]])
        # numpy.asarray() keeps the meta, whose buffer is gone, and the numbers.
        self.assertEqual(arrays[1].tolist(), [[1, 2, 4000000000], [3, 4, 5]])

    def test_array_is_released_on_another_thread(self):
        buffer, meta = tensor()
        arrays = [numpy.from_dlpack(meta)]
        thread = threading.Thread(target=arrays.clear)
        thread.start()
        thread.join()
        self.assertEqual(numpy.asarray(meta)[1, 2], 5)

    def test_frames_without_growth(self):
        def frames(count):
            for _ in range(count):
                buffer, meta = tensor(Type.U8, "B", bytes(16384), (128, 128))
                numpy.from_dlpack(meta), numpy.asarray(meta)
                meta.__dlpack__()  # nobody takes it
                meta.__dlpack__(max_version=(1, 0), copy=True)
        frames(500)
        before = resident()
        frames(10000)
        self.assertLess(resident() - before, 8 << 20)  # one leak a frame would be 164 MB

    def test_capsules(self):
        buffer, meta = tensor()
        self.assertIn('"dltensor"', repr(meta.__dlpack__()))
        self.assertIn('"dltensor"', repr(meta.__dlpack__(max_version=(0, 8))))
        self.assertIn('"dltensor_versioned"', repr(meta.__dlpack__(max_version=(1, 0))))
        self.assertIn('"dltensor_versioned"', repr(meta.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)))

    def test_capsule_that_is_dropped_while_an_exception_is_pending(self):
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        buffer, meta = tensor()

        class Far:
            """On a device that NumPy does not know: it raises its exception, then drops the capsule."""

            def __dlpack__(self, **_):
                capsule = meta.__dlpack__()
                ctypes.c_int32.from_address(pointer_of(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)).value = 10
                return capsule

            def __dlpack_device__(self):
                return 10, 0

        for _ in range(3):
            with self.assertRaises((RuntimeError, BufferError)):
                numpy.from_dlpack(Far())

    def test_second_array_leaves_the_first_one(self):
        buffer, meta = tensor()
        first = numpy.asarray(meta)
        second = numpy.asarray(meta)
        self.assertEqual(address(first), address(second))
        self.assertEqual(first.tolist(), [[1, 2, 4000000000], [3, 4, 5]])

    def test_hostile_arguments(self):
        buffer, meta = tensor()
        for arguments in ({"stream": 1}, {"stream": 0}, {"stream": -1}, {"stream": "a"}, {"dl_device": (2, 0)},
                          {"dl_device": (1, 5)}, {"dl_device": (2, 0), "copy": True}):
            with self.assertRaises(BufferError, msg=arguments):
                meta.__dlpack__(**arguments)
        for arguments in ({"dl_device": 1}, {"dl_device": ("a", "b")}, {"max_version": 1}, {"max_version": ()}, {"other": 1}):
            with self.assertRaises((TypeError, ValueError, IndexError), msg=arguments):
                meta.__dlpack__(**arguments)
        with self.assertRaises(TypeError):
            meta.__dlpack__(None)


class Frames(unittest.TestCase):
    CAPS = Gst.Caps.from_string("video/x-raw, format=NV12, width=4, height=2")

    def frame(self):
        return Gst.Buffer.new_wrapped(bytes(range(12)))

    def test_planes_without_a_copy(self):
        buffer = self.frame()
        luma, chroma = GstCudaVision.frame_tensors(buffer, self.CAPS)
        self.assertEqual(numpy.from_dlpack(luma).tolist(), [[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertEqual(numpy.asarray(chroma).tolist(), [[[8, 9], [10, 11]]])
        self.assertEqual(luma.shape, (2, 4))
        self.assertEqual(address(numpy.from_dlpack(luma)), address(numpy.asarray(luma)))
        self.assertEqual(address(numpy.asarray(chroma)), address(numpy.asarray(luma)) + 8)
        self.assertFalse(numpy.asarray(luma).flags.writeable)
        self.assertEqual(repr(chroma), "<plane 1 of a frame 1x2x2 u8 on the host>")

    def test_rows_with_gaps(self):
        caps = Gst.Caps.from_string("video/x-raw, format=RGB, width=3, height=2")
        (plane,) = GstCudaVision.frame_tensors(Gst.Buffer.new_wrapped(bytes(range(24))), caps)
        expected = [[[0, 1, 2], [3, 4, 5], [6, 7, 8]], [[12, 13, 14], [15, 16, 17], [18, 19, 20]]]
        self.assertEqual(numpy.from_dlpack(plane).tolist(), expected)
        self.assertEqual(numpy.asarray(plane).tolist(), expected)

    def test_frames_of_more_than_8_bits(self):
        caps = Gst.Caps.from_string("video/x-raw, format=GRAY16_LE, width=2, height=1")
        (plane,) = GstCudaVision.frame_tensors(Gst.Buffer.new_wrapped(b"\x01\x02\x03\x04"), caps)
        self.assertEqual(numpy.asarray(plane).tolist(), [[0x0201, 0x0403]])

    def test_array_outlives_everything(self):
        array = numpy.from_dlpack(GstCudaVision.frame_tensors(self.frame(), self.CAPS)[0])
        gc.collect()
        self.assertEqual(array[1, 3], 7)

    def test_what_is_no_frame_is_refused(self):
        with self.assertRaisesRegex(BufferError, "plane 0 of the frame has 6 bytes instead of 8"):
            GstCudaVision.frame_tensors(Gst.Buffer.new_wrapped(bytes(6)), self.CAPS)
        for caps in ("audio/x-raw", "video/x-raw", "image/jpeg"):
            with self.assertRaisesRegex(BufferError, "the caps are not those of video frames"):
                GstCudaVision.frame_tensors(self.frame(), Gst.Caps.from_string(caps))
        with self.assertRaisesRegex(BufferError, "do not lie in rows"):
            GstCudaVision.frame_tensors(self.frame(), Gst.Caps.from_string("video/x-raw, format=v210, width=4, height=2"))
        with self.assertRaises(BufferError):
            GstCudaVision.FrameTensor(self.frame(), self.CAPS, 2)

    def test_a_real_frame(self):
        pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=321,height=240 ! appsink name=sink")
        pipeline.set_state(Gst.State.PLAYING)
        sample = pipeline.get_by_name("sink").try_pull_sample(10 * Gst.SECOND)
        (plane,) = GstCudaVision.frame_tensors(sample.get_buffer(), sample.get_caps())
        pipeline.set_state(Gst.State.NULL)
        rows = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
        self.assertEqual(numpy.asarray(plane)[100].tobytes(), rows[324 * 100 : 324 * 100 + 321])


class Lists(unittest.TestCase):
    def test_structured_arrays(self):
        buffer = Gst.Buffer.new()
        point = GstCudaVision.Keypoint()
        point.x, point.y, point.response, point.angle = 1.5, 2.5, 10.0, 0.25
        line = GstCudaVision.Line()
        line.rho, line.theta, line.votes, line.x1, line.y1, line.x2, line.y2 = 12.0, 0.75, 230, 0.0, 5.0, 100.0, 105.5
        GstCudaVision.buffer_add_keypoints_meta(buffer, [point] * 3)
        GstCudaVision.buffer_add_lines_meta(buffer, [line])
        points = numpy.asarray(GstCudaVision.buffer_get_keypoints_meta(buffer))
        lines = numpy.asarray(GstCudaVision.buffer_get_lines_meta(buffer))
        self.assertEqual(points.tolist(), [(1.5, 2.5, 10.0, 0.25)] * 3)
        self.assertEqual(points["x"].tolist(), [1.5] * 3)
        self.assertEqual(lines.tolist(), [(12.0, 0.75, 230, 0.0, 5.0, 100.0, 105.5)])
        self.assertEqual(lines["votes"].dtype, numpy.uint32)
        del buffer
        gc.collect()
        self.assertEqual(points["y"].tolist(), [2.5] * 3)

    def test_empty_lists(self):
        buffer = Gst.Buffer.new()
        points = numpy.asarray(GstCudaVision.buffer_add_keypoints_meta(buffer, []))
        self.assertEqual((points.shape, points.dtype.names), ((0,), ("x", "y", "response", "angle")))

    def test_copies_of_lists(self):
        buffer = Gst.Buffer.new()
        meta = GstCudaVision.buffer_add_keypoints_meta(buffer, [GstCudaVision.Keypoint()])
        shared, copy = numpy.asarray(meta), numpy.array(meta)
        self.assertFalse(shared.flags.writeable)
        copy["x"] = 5
        self.assertEqual(shared["x"][0], 0)
        with self.assertRaises(ValueError):
            meta.__array__(dtype=[("a", "u1", 16)], copy=False)

    def test_regions(self):
        buffer = Gst.Buffer.new()
        self.assertEqual(len(GstCudaVision.regions_array(buffer)), 0)
        for number, kind in enumerate(("person", "car", "x" * 70)):
            roi = GstVideo.buffer_add_video_region_of_interest_meta(buffer, kind, 10 + number, 20, 64, 128)
            roi.id, roi.parent_id = number, -1
            if number == 0:
                roi.add_param(Gst.Structure.new_from_string("detection, confidence=(double)0.75"))
                roi.add_param(Gst.Structure.new_from_string("tracking, id=(guint64)12345678901"))
        boxes = GstCudaVision.regions_array(buffer)
        self.assertEqual(boxes["x"].tolist(), [10, 11, 12])
        self.assertEqual(boxes["height"].tolist(), [128] * 3)
        self.assertEqual(boxes["id"].tolist(), [0, 1, 2])
        self.assertEqual(boxes["parent_id"].tolist(), [-1] * 3)
        self.assertEqual(boxes["type"].tolist(), [b"person", b"car", b"x" * 63])
        self.assertEqual((boxes["score"][0], boxes["track_id"][0]), (0.75, 12345678901))
        self.assertTrue(numpy.isnan(boxes["score"][1]))
        self.assertEqual([(box.x, box.type[:63]) for box in GstCudaVision.buffer_get_regions(buffer)],
                         [(box["x"], box["type"].decode()) for box in boxes])

    def test_all_metas_of_a_buffer(self):
        buffer, _ = tensor()
        GstCudaVision.buffer_add_keypoints_meta(buffer, [])
        GstCudaVision.buffer_add_lines_meta(buffer, [])
        roi = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", 10, 20, 64, 128)
        roi.add_param(Gst.Structure.new_from_string("detection, confidence=(double)0.75"))
        self.assertEqual([repr(meta) for meta in GstCudaVision.metas(buffer)],
                         ["<tensor numbers 2x3 u32 on the host>", "<0 keypoints>", "<0 lines>",
                          "<person 0.75 at 10,20 64x128>"])
        self.assertEqual(GstCudaVision.metas(Gst.Buffer.new()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
