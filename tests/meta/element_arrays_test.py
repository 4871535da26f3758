#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads everything that the elements attach as arrays of NumPy: where it lies, with the values of get_bytes()."""
import gc
import pathlib
import sys
import unittest

from introspection import Gst, GstCudaVision, skip

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from plugin_elements import has, names, use_of  # noqa: E402

try:
    import numpy
except ImportError as missing:
    skip(f"{missing}; it is in python3-numpy")

MORE = {
    "cudahistogram": ["mode=channels"],
    "cudainpaint": ["attach-mask=true"],
    "cudalocalhist": [f"reduce={reduce} stride-x=8 stride-y=8" for reduce in ("none", "argmax", "entropy", "distance")],
    "cudasigma2kp": ["orientation=true"],
    "cudavisionredact": ["drop-pictures=false"],
}
NEW_FRAMES = "cudarectify"  # do not carry tensors
ELEMENTS = [f"{use_of(name)} {more} display=false backend=cpu" for name in names() if has(name, "display") and name != NEW_FRAMES
            for more in MORE.get(name, [""])]
TENSORS = {"foreground-mask", "edges", "histogram", "hog", "optical-flow", "optical-flow-valid", "removal-mask", "local-histogram",
           "local-histogram-argmax", "local-histogram-share", "local-histogram-entropy", "local-histogram-distance"}


def last_frame(elements):
    """The second frame of a moving picture, behind the elements, and its caps."""
    pipeline = Gst.parse_launch("videotestsrc num-buffers=2 pattern=spokes horizontal-speed=2 ! video/x-raw,format=RGB,width=162,"
                                f"height=120 ! {' ! '.join(elements)} ! appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("sink")
    samples = [sink.try_pull_sample(20 * Gst.SECOND) for _ in range(2)]
    pipeline.set_state(Gst.State.NULL)
    return samples[1].get_buffer(), samples[1].get_caps()


def address(array):
    return array.__array_interface__["data"][0]


class ElementArrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.buffer, cls.caps = last_frame(ELEMENTS)

    def test_every_tensor(self):
        tensors = GstCudaVision.buffer_get_tensor_metas(self.buffer)
        self.assertLessEqual(TENSORS, {tensor.get_id() for tensor in tensors})
        for tensor in tensors:
            shared, array = numpy.from_dlpack(tensor), numpy.asarray(tensor)
            self.assertEqual(address(shared), address(array), tensor)
            self.assertEqual(shared.tobytes(), tensor.get_bytes().get_data(), tensor)
            self.assertEqual(shared.shape, tensor.shape)

    def test_every_list(self):
        for get in (GstCudaVision.buffer_get_keypoints_meta, GstCudaVision.buffer_get_lines_meta):
            meta = get(self.buffer)
            self.assertGreater(len(meta), 0)
            array = numpy.asarray(meta)
            self.assertEqual(array.tobytes(), meta.get_bytes().get_data())

    def test_frame(self):
        (plane,) = GstCudaVision.frame_tensors(self.buffer, self.caps)
        self.assertEqual(plane.shape, (120, 162, 3))
        rows = self.buffer.extract_dup(0, self.buffer.get_size())
        self.assertEqual(numpy.asarray(plane)[7].tobytes(), rows[7 * 488 : 7 * 488 + 486])

    def test_arrays_outlive_the_pipeline(self):
        buffer, _ = last_frame(["cudacanny display=false backend=cpu"])
        expected = GstCudaVision.buffer_get_tensor_meta(buffer, "edges").get_bytes().get_data()
        edges = numpy.from_dlpack(GstCudaVision.buffer_get_tensor_meta(buffer, "edges"))
        del buffer
        gc.collect()
        self.assertEqual(edges.tobytes(), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
