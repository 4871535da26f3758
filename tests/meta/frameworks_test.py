#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads tensors and frames on a GPU with PyTorch and CuPy, uncopied, on their own stream; compares with the host's.

  frameworks_test.py [FRAMES [VIDEO.mp4]]     needs PyTorch or CuPy, and a GPU, but no PyGObject: ctypes calls the C
                                              functions. The frames of a video of H.264 are arrays, too
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
caps_of = function(gst, "gst_sample_get_caps", pointer, pointer)
unref = function(gst, "gst_mini_object_unref", None, pointer)
tensor_of = function(meta, "gst_cuda_vision_buffer_get_tensor_meta", pointer, pointer, ctypes.c_char_p)
device_of = function(meta, "gst_cuda_vision_tensor_meta_get_dlpack_device", ctypes.c_int, pointer, ctypes.POINTER(ctypes.c_int))
export_tensor = function(meta, "gst_cuda_vision_tensor_meta_export_dlpack", size, pointer, ctypes.c_int, ctypes.c_int64, pointer)
device_of_frame = function(meta, "gst_cuda_vision_frame_get_dlpack_device", ctypes.c_int, pointer, ctypes.POINTER(ctypes.c_int))
export_plane = function(meta, "gst_cuda_vision_frame_export_dlpack", size, pointer, pointer, ctypes.c_uint, ctypes.c_int,
                        ctypes.c_int64, pointer)
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, (pointer, ctypes.c_char_p, pointer)
UNVERSIONED = 4
PLAYING, NULL = 4, 1


class Array:
    """Data of the library for any framework's from_dlpack(). export(flags, stream), device(number): the C functions."""

    def __dlpack_device__(self):
        number = ctypes.c_int()
        return self.device(ctypes.byref(number)), number.value

    def __dlpack__(self, *, stream=None, max_version=None, **_):
        versioned = max_version is not None and max_version[0] >= 1
        address = self.export(0 if versioned else UNVERSIONED, LEGACY if stream is None else stream)
        assert address, "the array was refused"
        return capsule(address, b"dltensor_versioned" if versioned else b"dltensor", None)

    def on_host(self):
        """The host's numbers."""
        import numpy

        class OnHost:
            def __dlpack__(own, **_):
                return capsule(self.export(HOST | UNVERSIONED, -1), b"dltensor", None)

            def __dlpack_device__(own):
                return 1, 0

        return numpy.from_dlpack(OnHost())


class Tensor(Array):
    def __init__(self, sample, name):
        self.name, self.meta = name, tensor_of(buffer_of(sample), name)

    def device(self, number):
        return device_of(self.meta, number)

    def export(self, flags, stream):
        return export_tensor(self.meta, flags, stream, None)


class Plane(Array):
    def __init__(self, sample, number):
        self.name, self.buffer, self.caps, self.number = f"plane {number}", buffer_of(sample), caps_of(sample), number

    def device(self, number):
        return device_of_frame(self.buffer, number)

    def export(self, flags, stream):
        return export_plane(self.buffer, self.caps, self.number, flags, stream, None)


def with_torch(tensor):
    with torch.cuda.stream(stream_of["torch"]):
        array = torch.from_dlpack(tensor)
        assert array.is_cuda
        return array.double().sum(), array


def with_cupy(tensor):
    with stream_of["cupy"]:
        array = cupy.from_dlpack(tensor)
        return array.astype(cupy.float64).sum(), array


def samples(description):
    """Yields the samples that leave the pipeline."""
    pipeline = parse(f"{description} ! appsink name=sink sync=false max-buffers=4".encode(), None)
    sink = by_name(pipeline, b"sink")
    set_state(pipeline, PLAYING)
    while sample := pull(sink, 5_000_000_000):
        yield sample
        unref(sample)
    set_state(pipeline, NULL)


def compare(array, seen):
    """The sums of the frameworks, and now and then all numbers, are those of the host."""
    assert array.__dlpack_device__()[0] == CUDA, array.__dlpack_device__()
    sums = {framework: use(array) for framework, use in (("torch", with_torch), ("cupy", with_cupy)) if framework in frameworks}
    host = array.on_host()
    for framework, (total, on_gpu) in sums.items():
        assert float(total) == float(host.astype("f8").sum()), (framework, array.name, seen, float(total))
        assert tuple(on_gpu.shape) == host.shape
        if seen % 500 == 0:
            values = on_gpu.cpu().numpy() if framework == "torch" else on_gpu.get()
            assert (values == host).all(), (framework, array.name, seen)


def copies_to_the_host(description):
    """The sizes of the copies from the GPU to the host while PyTorch adds up the tensors of a pipeline."""
    from torch.profiler import ProfilerActivity, profile

    total = torch.zeros((), dtype=torch.float64, device="cuda")
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for sample in samples(description):
            total += torch.from_dlpack(Tensor(sample, b"edges")).double().sum()
        torch.cuda.synchronize()
    names = [event.name for event in recorded.events()]
    assert any("canny" in name or "hysteresis" in name for name in names), "the profile does not show our kernels"
    return sum("DtoH" in name for name in names)


frames = int(sys.argv[1]) if len(sys.argv) > 1 else 100
video = sys.argv[2] if len(sys.argv) > 2 else None
stream_of = {}
if "torch" in frameworks:
    stream_of["torch"] = torch.cuda.Stream()
if "cupy" in frameworks:
    stream_of["cupy"] = cupy.cuda.Stream(non_blocking=True)
gst.gst_init(None, None)
source = f"videotestsrc num-buffers={frames} pattern=snow ! video/x-raw,format=GRAY8,width=320,height=240"
edges = "cudacanny backend=cuda display=false"
seen = 0
for sample in samples(f"{source} ! {edges} ! cudahistogram backend=cuda display=false"):
    for name in (b"edges", b"histogram"):
        compare(Tensor(sample, name), seen)
    seen += 1
assert seen == frames, f"{seen} of {frames} frames"
print(f"{seen} frames: {' and '.join(frameworks)} have read the numbers of the host")

if "torch" in frameworks:
    print(f"{copies_to_the_host(f'{source} ! {edges}')} copies to the host in a profile of {frames} frames")
if video:
    decoded = f"filesrc location={video} ! qtdemux ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory)"
    seen = 0
    for sample in samples(f"{decoded} ! {edges}"):
        for array in (Tensor(sample, b"edges"), Plane(sample, 0), Plane(sample, 1)):
            compare(array, seen)
        seen += 1
    assert seen > 0
    print(f"{seen} decoded frames: planes and edges on the GPU are those of the host")
    if "torch" in frameworks:
        copies = copies_to_the_host(f"{decoded} ! {edges}")
        print(f"{copies} copies to the host in a profile of them")
        assert copies == 0
