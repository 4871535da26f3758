#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads tensors on a GPU with PyTorch and CuPy, without a copy, on a stream of their own, and compares them with the host's.

  frameworks_test.py FRAMES     needs PyTorch or CuPy, and a GPU; PyGObject is not needed: the C functions are called by ctypes
"""
import ctypes
import sys

SKIPPED = 77
CUDA, HOST, LEGACY = 2, 2, 1
frameworks = {}
try:
    import torch

    if torch.cuda.is_available():
        frameworks["torch"] = torch
except ImportError:
    pass
try:
    import cupy

    if cupy.cuda.runtime.getDeviceCount():
        frameworks["cupy"] = cupy
except Exception:  # CuPy raises errors of its own where there is no driver
    pass
if not frameworks:
    print("skipped: neither PyTorch nor CuPy has a GPU here")
    sys.exit(SKIPPED)

gst, app, meta = (ctypes.CDLL(f"lib{name}-1.0.so.0") for name in ("gstreamer", "gstapp", "gstcudavision"))
pointer, size = ctypes.c_void_p, ctypes.c_size_t


def function(library, name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


parse = function(gst, "gst_parse_launch", pointer, ctypes.c_char_p, pointer)
by_name = function(gst, "gst_bin_get_by_name", pointer, pointer, ctypes.c_char_p)
set_state = function(gst, "gst_element_set_state", ctypes.c_int, pointer, ctypes.c_int)
pull = function(app, "gst_app_sink_try_pull_sample", pointer, pointer, ctypes.c_uint64)
buffer_of = function(gst, "gst_sample_get_buffer", pointer, pointer)
unref = function(gst, "gst_mini_object_unref", None, pointer)
tensor_of = function(meta, "gst_cuda_vision_buffer_get_tensor_meta", pointer, pointer, ctypes.c_char_p)
device_of = function(meta, "gst_cuda_vision_tensor_meta_get_dlpack_device", ctypes.c_int, pointer, ctypes.POINTER(ctypes.c_int))
export = function(meta, "gst_cuda_vision_tensor_meta_export_dlpack", size, pointer, ctypes.c_int, ctypes.c_int64, pointer)
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, (pointer, ctypes.c_char_p, pointer)
UNVERSIONED = 4


class Tensor:
    """A tensor of a frame as the array API wants it."""

    def __init__(self, buffer, name):
        self.meta = tensor_of(buffer, name)

    def __dlpack_device__(self):
        number = ctypes.c_int()
        return device_of(self.meta, ctypes.byref(number)), number.value

    def __dlpack__(self, *, stream=None, max_version=None, **_):
        versioned = max_version is not None and max_version[0] >= 1
        address = export(self.meta, 0 if versioned else UNVERSIONED, LEGACY if stream is None else stream, None)
        assert address, "the tensor was refused"
        return capsule(address, b"dltensor_versioned" if versioned else b"dltensor", None)

    def on_host(self):
        """As nested lists of the host's numbers."""
        import numpy

        class OnHost:
            def __dlpack__(own, **_):
                return capsule(export(self.meta, HOST | UNVERSIONED, -1, None), b"dltensor", None)

            def __dlpack_device__(own):
                return 1, 0

        return numpy.from_dlpack(OnHost())


def with_torch(tensor):
    with torch.cuda.stream(stream_of["torch"]):
        array = torch.from_dlpack(tensor)
        assert array.is_cuda
        return array.double().sum(), array


def with_cupy(tensor):
    with stream_of["cupy"]:
        array = cupy.from_dlpack(tensor)
        return array.astype(cupy.float64).sum(), array


frames = int(sys.argv[1]) if len(sys.argv) > 1 else 100
stream_of = {}
if "torch" in frameworks:
    stream_of["torch"] = torch.cuda.Stream()
if "cupy" in frameworks:
    stream_of["cupy"] = cupy.cuda.Stream(non_blocking=True)
gst.gst_init(None, None)
pipeline = parse(f"videotestsrc num-buffers={frames} pattern=snow ! video/x-raw,format=GRAY8,width=320,height=240 ! "
                 "cudacanny backend=cuda display=false ! cudahistogram backend=cuda display=false ! "
                 "appsink name=sink sync=false max-buffers=4".encode(), None)
sink = by_name(pipeline, b"sink")
set_state(pipeline, 4)
seen = 0
while sample := pull(sink, 5_000_000_000):
    buffer = buffer_of(sample)
    for name in (b"edges", b"histogram"):
        tensor = Tensor(buffer, name)
        assert tensor.__dlpack_device__()[0] == CUDA, tensor.__dlpack_device__()
        sums = {framework: use(tensor) for framework, use in (("torch", with_torch), ("cupy", with_cupy))
                if framework in frameworks}
        host = tensor.on_host()
        for framework, (total, array) in sums.items():
            assert float(total) == float(host.astype("f8").sum()), (framework, name, seen, float(total))
            assert tuple(array.shape) == host.shape
            if seen % 500 == 0:
                values = array.cpu().numpy() if framework == "torch" else array.get()
                assert (values == host).all(), (framework, name, seen)
        del sums
    unref(sample)
    seen += 1
set_state(pipeline, 1)
assert seen == frames, f"{seen} of {frames} frames"
print(f"{seen} frames: {' and '.join(frameworks)} have read the numbers of the host")
