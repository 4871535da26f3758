# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's additions to GstCudaVision: tensors and frames as arrays for NumPy, PyTorch and CuPy, lists as NumPy arrays.

PyGObject loads this file with `from gi.repository import GstCudaVision`. Only what makes NumPy arrays needs NumPy.

A meta is part of its buffer, and PyGObject's object of a meta holds only the meta's address. So each function that
finds metas copies them, without the pixels, into a new buffer, to which each object of a meta keeps a reference.
"""
import ctypes
import math
import sys
import threading
import time

from gi.repository import GLib

from ..module import get_introspection_module

GstCudaVision = get_introspection_module("GstCudaVision")  # loads Gst, too
from gi.repository import Gst  # noqa: E402

__all__ = ["FrameTensor", "add_region", "buffer_add_keypoints_meta", "buffer_add_lines_meta", "buffer_add_tensor_meta",
           "buffer_get_keypoints_meta", "buffer_get_lines_meta", "buffer_get_tensor_meta", "buffer_get_tensor_metas",
           "frame_tensors", "mark_analysed", "metas", "regions_array", "remove_regions", "samples"]

Flags = GstCudaVision.DlpackFlags
CPU, CUDA = 1, 2  # types of devices in DLPack
LEGACY_STREAM = 1
ORDER = "<" if sys.byteorder == "little" else ">"
KEYPOINT = [(name, ORDER + "f4") for name in ("x", "y", "response", "angle")]
LINE = [("rho", ORDER + "f4"), ("theta", ORDER + "f4"), ("votes", ORDER + "u4")] + [
    (name, ORDER + "f4") for name in ("x1", "y1", "x2", "y2")]
REGION = [("x", ORDER + "i4"), ("y", ORDER + "i4"), ("width", ORDER + "u4"), ("height", ORDER + "u4"), ("id", ORDER + "i4"),
          ("parent_id", ORDER + "i4"), ("score", ORDER + "f8"), ("track_id", ORDER + "u8"), ("type", "S64")]

# --- DLPack's structs, and the capsules that carry them ---


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_destroy = GstCudaVision.dlpack_get_capsule_destructor()


def _export(source, flags, stream):
    try:
        return source._export_dlpack(flags, stream)
    except GLib.Error as error:
        raise BufferError(error.message) from None


class _NotCopied:
    """An object that refers to memory of others. A copy of it would not keep that memory, or would release it twice."""

    def __reduce_ex__(self, _protocol):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: copy its numbers, for example with numpy.array()")


class _Lease(_NotCopied):
    """Exported numbers: a DLManagedTensor, which keeps the numbers in place until this object is deleted."""

    def __init__(self, source, flags, stream):
        self._flags = flags | Flags.UNVERSIONED
        self._address = _export(source, self._flags, stream)
        self.tensor = _DLTensor.from_address(self._address)

    def __del__(self):
        GstCudaVision.dlpack_release(self.__dict__.pop("_address", 0), self._flags)

    @property
    def shape(self):
        return tuple(self.tensor.shape[: self.tensor.ndim])

    def interface(self):
        """The members that `__array_interface__` and `__cuda_array_interface__` have in common."""
        tensor, size = self.tensor, self.tensor.bits // 8
        order = "|" if size == 1 else ORDER
        return {"version": 3, "shape": self.shape, "typestr": f"{order}{'iuf'[tensor.code]}{size}",
                "data": (tensor.data or 0, True), "strides": tuple(size * n for n in tensor.strides[: tensor.ndim])}


def _checked_stream(stream, on_gpu):
    if not on_gpu:
        if stream is not None:
            raise BufferError(f"an array on the host has no stream, but the stream {stream!r} was given")
        return -1
    if stream is None:
        return LEGACY_STREAM
    if isinstance(stream, bool) or not isinstance(stream, int) or stream == 0 or not -1 <= stream < 2**63:
        raise BufferError(f"the stream {stream!r} is none: give None, 1, 2, -1 or a handle")
    return stream


class _Array(_NotCopied):
    """Makes an object an array for other libraries. The object needs _export_dlpack() and get_dlpack_device()."""

    def __dlpack_device__(self):
        return tuple(self.get_dlpack_device())

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        here = self.__dlpack_device__()
        wanted = here if dl_device is None else tuple(int(part) for part in dl_device)
        flags = Flags.NONE
        if wanted != here:
            if wanted != (CPU, 0):
                raise BufferError(f"the array lies on device {here} and cannot be moved to device {wanted}")
            if copy is False:
                raise BufferError("the array lies on a GPU: without a copy it cannot be read on the host")
            flags |= Flags.HOST
        if copy:
            flags |= Flags.COPY
        versioned = max_version is not None and tuple(max_version)[0] >= 1
        if not versioned:
            flags |= Flags.UNVERSIONED
        address = _export(self, flags, _checked_stream(stream, wanted[0] == CUDA))
        return _new_capsule(address, _NAMES[versioned], _destroy)

    def _interface(self, flags, stream):
        # A reader of the interface keeps this object, and so the numbers: a lease that was returned is never replaced.
        # setdefault() is atomic. The lock makes other threads wait for a running download, not start another.
        leases = self.__dict__.setdefault("_leases", {})
        with self.__dict__.setdefault("_lock", threading.RLock()):
            if int(flags) not in leases:
                leases.setdefault(int(flags), _Lease(self, flags, stream))
            return leases[int(flags)].interface()

    @property
    def __array_interface__(self):
        return self._interface(Flags.HOST, -1)

    @property
    def __cuda_array_interface__(self):
        if self.__dlpack_device__()[0] != CUDA:
            raise AttributeError("the array lies on the host")
        return {**self._interface(Flags.NONE, LEGACY_STREAM), "stream": LEGACY_STREAM}

    def _describe(self, what, shape, type_name):
        kind, number = self.__dlpack_device__()
        place = f"cuda:{number}" if kind == CUDA else "the host"
        return f"<{what} {'x'.join(map(str, shape))} {type_name} on {place}>"


def _keep(item, owner):
    """Returns the item, and makes it keep its owner, whose memory holds the item. The item may be None."""
    if item is not None:
        item._owner = owner
    return item


def _adds_to(introspected):
    """Adds a class's members to another. PyGObject's override() refuses structs without a GType, like metas."""

    def add(extension):
        if "meta" in vars(introspected):  # the GstMeta, with which the struct begins
            head = introspected.meta.fget
            introspected.meta = property(lambda self: _keep(head(self), self))
        for base in reversed(extension.__mro__[:-1]):
            for name, member in vars(base).items():
                if name not in ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"):
                    setattr(introspected, name, member)
        return introspected

    return add


# --- tensors and frames ---


@_adds_to(GstCudaVision.TensorMeta)
class TensorMeta(_Array):
    """An array computed from a frame. numpy.from_dlpack(), torch.from_dlpack(), cupy.from_dlpack() read it in place."""

    def _export_dlpack(self, flags, stream):
        return self.export_dlpack(flags, stream)

    @property
    def shape(self):
        return tuple(self.get_dims())

    def __repr__(self):
        if not self.shape:  # somebody has changed the meta
            return f"<tensor {self.get_id()}, which cannot be read>"
        return self._describe(f"tensor {self.get_id()}", self.shape, GstCudaVision.ElementType.to_string(self.element_type))


class FrameTensor(_Array):
    """A plane of a video frame: a read-only array in the memory of the frame, with the interfaces of a tensor."""

    def __init__(self, buffer, caps, plane):
        self.buffer, self.caps, self.plane = buffer, caps, plane
        lease = _Lease(self, Flags.NONE, -1)  # fails at once if the plane is no array
        self.shape, self._type = lease.shape, f"u{lease.tensor.bits}"

    def get_dlpack_device(self):
        return GstCudaVision.frame_get_dlpack_device(self.buffer)

    def _export_dlpack(self, flags, stream):
        return GstCudaVision.frame_export_dlpack(self.buffer, self.caps, self.plane, flags, stream)

    def __repr__(self):
        return self._describe(f"plane {self.plane} of a frame", self.shape, self._type)


def frame_tensors(buffer, caps):
    """The planes of a video frame with these caps, each an array [rows, columns] or [rows, columns, channels]."""
    planes = GstCudaVision.frame_get_n_planes(caps)
    if planes == 0:
        raise BufferError(f"the caps are not those of video frames: {caps.to_string()}")
    return [FrameTensor(buffer, caps, plane) for plane in range(planes)]


# --- lists ---


class _List(_NotCopied):
    """Makes a list a structured array of NumPy. The class of the list needs _FIELDS and _NAME."""

    def __array__(self, dtype=None, copy=None):
        import numpy

        items = numpy.frombuffer(self.get_bytes().get_data() or b"", self._FIELDS)  # read-only
        if dtype is not None and items.dtype != dtype:
            if copy is False:
                raise ValueError("a list of another type is a copy")
            return items.astype(dtype)
        return items.copy() if copy else items

    def __len__(self):
        return self.get_n()

    def __repr__(self):
        return f"<{len(self)} {self._NAME}>"


@_adds_to(GstCudaVision.KeypointsMeta)
class KeypointsMeta(_List):
    """Points. numpy.asarray() makes a structured array of them: x, y, response, angle."""

    _FIELDS, _NAME = KEYPOINT, "keypoints"


@_adds_to(GstCudaVision.LinesMeta)
class LinesMeta(_List):
    """Lines. numpy.asarray() makes a structured array of them: rho, theta, votes, x1, y1, x2, y2."""

    _FIELDS, _NAME = LINE, "lines"


@_adds_to(GstCudaVision.Region)
class Region(_NotCopied):
    """A region of interest, a copy that nothing else changes."""

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, _memo):
        return self.copy()

    def __repr__(self):
        label = f" {self.label!r}" if self.label else ""
        track = f" #{self.track_id}" if self.has_track else ""
        score = f" {self.score:.2f}" if self.score == self.score else ""
        predicted = ", predicted" if self.predicted else ""
        return f"<{self.type}{label}{track}{score} at {self.x},{self.y} {self.width}x{self.height}{predicted}>"


def regions_array(buffer):
    """A frame's regions as a structured array: x, y, width, height, id, parent_id, score, track_id, type."""
    import numpy

    return numpy.frombuffer(GstCudaVision.buffer_get_regions_bytes(buffer).get_data() or b"", numpy.dtype(REGION))


# --- regions of one's own detector ---


def _function_for(frame, name):
    if isinstance(frame, Gst.PadProbeInfo):
        return getattr(GstCudaVision, "probe_" + name)
    if isinstance(frame, Gst.Buffer):
        return getattr(GstCudaVision, "buffer_" + name)
    raise TypeError(f"a frame is a Gst.Buffer or, in a pad probe, the probe's Gst.PadProbeInfo, but not {frame!r}")


def add_region(frame, type, x, y, width, height, score=None, label=None, id=0):
    """Attaches a box to a frame. frame: in a pad probe the probe's info, elsewhere a writable buffer."""
    score = float("nan") if score is None else score
    _function_for(frame, "add_region")(frame, type, x, y, width, height, score, label, id)


def remove_regions(frame, type=None):
    """Removes the regions of a type, or all. frame: as in add_region(). Returns how many regions were removed."""
    return _function_for(frame, "remove_regions")(frame, type)


def mark_analysed(frame, type=None, n_results=0):
    """Marks a frame that a detector has searched for objects of a type, or of all types. frame: as in add_region()."""
    _function_for(frame, "mark_analysed")(frame, type, n_results)


# --- the frames of a pipeline ---


def samples(pipeline, sink="sink"):
    """Plays a pipeline, or its description, and yields the samples of the appsink named `sink`. The end of the loop,
    also by `break`, stops the pipeline. An error of an element raises RuntimeError, which for example names a missing
    file. Other messages are taken off the bus, so that it does not grow; Gst.Bus.set_sync_handler() sees them before.
    """
    if isinstance(pipeline, str):
        pipeline = Gst.parse_launch(pipeline)
    appsink, bus = pipeline.get_by_name(sink), pipeline.get_bus()
    if appsink is None:
        raise ValueError(f"the pipeline has no element of the name {sink}")
    # appsink waits for its reader at the end of the stream by default. In GStreamer 1.22 it sometimes waits for ever.
    appsink.set_property("wait-on-eos", False)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        error, last = None, math.inf
        while True:
            # The pull has a time limit: after an error no samples come, except those that are already on their way.
            sample = appsink.emit("try-pull-sample", 100 * Gst.MSECOND)
            if sample is not None:
                yield sample
            if error is None and (error := bus.pop_filtered(Gst.MessageType.ERROR)) is not None:
                last = time.monotonic() + 2
            if error is not None and (sample is None or time.monotonic() > last):
                raise RuntimeError(_text_of_error(error))
            if sample is None and appsink.get_property("eos"):
                return
    finally:
        pipeline.set_state(Gst.State.NULL)


def _text_of_error(message):
    """The name of the element, its error, and the last line of its debug text, which names files."""
    error, debug = message.parse_error()
    last = (debug or "").strip().partition("\n")[2].split("\n")[-1]  # the first line is a place in the source
    return f"{message.src.get_name()}: {error.message}" + (f" ({last})" if last and last not in error.message else "")


# --- metas of a buffer ---


def _adding(function):
    def add(buffer, *arguments, **named):
        return _keep(function(buffer, *arguments, **named), buffer)

    add.__name__, add.__doc__ = function.__name__, "Attaches a meta to a writable buffer, which the meta that is returned keeps."
    return add


def _finding(function):
    def find(buffer, *arguments, **named):
        copy = GstCudaVision.buffer_copy_metas(buffer)
        return _keep(function(copy, *arguments, **named), copy)

    find.__name__, find.__doc__ = function.__name__, "A copy of a meta of the buffer, or None."
    return find


buffer_add_keypoints_meta = _adding(GstCudaVision.buffer_add_keypoints_meta)
buffer_add_lines_meta = _adding(GstCudaVision.buffer_add_lines_meta)
buffer_add_tensor_meta = _adding(GstCudaVision.buffer_add_tensor_meta)
buffer_get_keypoints_meta = _finding(GstCudaVision.buffer_get_keypoints_meta)
buffer_get_lines_meta = _finding(GstCudaVision.buffer_get_lines_meta)
buffer_get_tensor_meta = _finding(GstCudaVision.buffer_get_tensor_meta)


def buffer_get_tensor_metas(buffer):
    """Copies of all tensors of the buffer."""
    copy = GstCudaVision.buffer_copy_metas(buffer)
    return [_keep(meta, copy) for meta in GstCudaVision.buffer_get_tensor_metas(copy)]


def metas(buffer):
    """All that the elements have attached to a frame: copies of tensors, keypoints, lines and regions."""
    lists = (buffer_get_keypoints_meta(buffer), buffer_get_lines_meta(buffer))
    return (buffer_get_tensor_metas(buffer) + [meta for meta in lists if meta is not None]
            + GstCudaVision.buffer_get_regions(buffer))
