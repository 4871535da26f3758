# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python programs expect of the metas: tensors as arrays of NumPy, PyTorch and CuPy, lists as structured arrays of NumPy.

PyGObject loads this file with `from gi.repository import GstCudaVision`. It needs NumPy only where it makes NumPy's arrays.
"""
import ctypes
import sys

from gi.repository import GLib

from ..module import get_introspection_module

GstCudaVision = get_introspection_module("GstCudaVision")
__all__ = ["metas"]

Flags = GstCudaVision.DlpackFlags
CPU, CUDA = 1, 2  # as DLPack counts
LEGACY_STREAM = 1
ORDER = "<" if sys.byteorder == "little" else ">"
TYPES = {
    GstCudaVision.ElementType.U8: "|u1",
    GstCudaVision.ElementType.U16: ORDER + "u2",
    GstCudaVision.ElementType.U32: ORDER + "u4",
    GstCudaVision.ElementType.I32: ORDER + "i4",
    GstCudaVision.ElementType.F32: ORDER + "f4",
}
KEYPOINT = [(name, ORDER + "f4") for name in ("x", "y", "response", "angle")]
LINE = [("rho", ORDER + "f4"), ("theta", ORDER + "f4"), ("votes", ORDER + "u4")] + [
    (name, ORDER + "f4") for name in ("x1", "y1", "x2", "y2")]

# --- capsules, which carry DLPack's structs ---

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_destroy = GstCudaVision.dlpack_get_capsule_destructor()


class _Lease:
    """The address of a tensor's numbers, which is valid as long as this object."""

    def __init__(self, meta, flags, stream):
        self._flags = flags | Flags.UNVERSIONED
        self._tensor = _export(meta, self._flags, stream)
        self.address = ctypes.c_void_p.from_address(self._tensor).value  # its first member

    def __del__(self):
        GstCudaVision.dlpack_release(getattr(self, "_tensor", 0), self._flags)


def _export(meta, flags, stream):
    try:
        return meta.export_dlpack(flags, stream)
    except GLib.Error as error:
        raise BufferError(error.message) from None


def _checked_stream(stream, on_gpu):
    if not on_gpu:
        if stream is not None:
            raise BufferError(f"a tensor on the host has no stream, but the stream {stream!r} was given")
        return -1
    if stream is None:
        return LEGACY_STREAM
    if isinstance(stream, bool) or not isinstance(stream, int) or stream == 0 or not -1 <= stream < 2**63:
        raise BufferError(f"the stream {stream!r} is none: give None, 1, 2, -1 or a handle")
    return stream


def _adds_to(introspected):
    """Gives a class the members of another one. PyGObject's own override() takes no structs without a GType, as metas are."""

    def add(extension):
        for name, member in vars(extension).items():
            if name not in ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"):
                setattr(introspected, name, member)
        return introspected

    return add


@_adds_to(GstCudaVision.TensorMeta)
class TensorMeta:
    """An array that was computed from a frame. numpy.from_dlpack(), torch.from_dlpack() and cupy.from_dlpack() take it as it lies."""

    @property
    def shape(self):
        return tuple(self.get_dims())

    def __dlpack_device__(self):
        return tuple(self.get_dlpack_device())

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        here = self.__dlpack_device__()
        wanted = here if dl_device is None else tuple(int(part) for part in dl_device)
        flags = Flags.NONE
        if wanted != here:
            if wanted != (CPU, 0):
                raise BufferError(f"the tensor lies on device {here} and cannot be moved to device {wanted}")
            if copy is False:
                raise BufferError("the tensor lies on a GPU: without a copy it cannot be read on the host")
            flags |= Flags.HOST
        if copy:
            flags |= Flags.COPY
        versioned = max_version is not None and tuple(max_version)[0] >= 1
        if not versioned:
            flags |= Flags.UNVERSIONED
        address = _export(self, flags, _checked_stream(stream, wanted[0] == CUDA))
        return _new_capsule(address, _NAMES[versioned], _destroy)

    def _interface(self, flags, stream):
        # Whoever reads the interface keeps this object, and with it the numbers.
        leases = self.__dict__.setdefault("_leases", {})
        if int(flags) not in leases:
            leases[int(flags)] = _Lease(self, flags, stream)
        return {"version": 3, "shape": self.shape, "typestr": TYPES[self.element_type],
                "data": (leases[int(flags)].address, True), "strides": None}

    @property
    def __array_interface__(self):
        return self._interface(Flags.HOST, -1)

    @property
    def __cuda_array_interface__(self):
        if self.__dlpack_device__()[0] != CUDA:
            raise AttributeError("the tensor lies on the host")
        return {**self._interface(Flags.NONE, LEGACY_STREAM), "stream": LEGACY_STREAM}

    def __repr__(self):
        kind, number = self.__dlpack_device__()
        place = f"cuda:{number}" if kind == CUDA else "host"
        return (f"<tensor {self.get_id()} {'x'.join(map(str, self.shape))} "
                f"{GstCudaVision.ElementType.to_string(self.element_type)} on the {place}>".replace("on the cuda", "on cuda"))


def _structured(meta, fields, dtype, copy):
    import numpy

    if copy is False:
        raise ValueError("a list is always copied")
    array = numpy.frombuffer(meta.get_bytes().get_data(), numpy.dtype(fields))
    if dtype is not None:
        return array.astype(dtype)
    return array.copy() if copy else array


@_adds_to(GstCudaVision.KeypointsMeta)
class KeypointsMeta:
    """Points. numpy.asarray() makes a structured array of them: x, y, response, angle."""

    def __array__(self, dtype=None, copy=None):
        return _structured(self, KEYPOINT, dtype, copy)

    def __len__(self):
        return self.get_n()

    def __repr__(self):
        return f"<{len(self)} keypoints>"


@_adds_to(GstCudaVision.LinesMeta)
class LinesMeta:
    """Lines. numpy.asarray() makes a structured array of them: rho, theta, votes, x1, y1, x2, y2."""

    def __array__(self, dtype=None, copy=None):
        return _structured(self, LINE, dtype, copy)

    def __len__(self):
        return self.get_n()

    def __repr__(self):
        return f"<{len(self)} lines>"


@_adds_to(GstCudaVision.Region)
class Region:
    """A region of interest."""

    def __repr__(self):
        track = f" #{self.track_id}" if self.track_id else ""
        score = f" {self.score:.2f}" if self.score == self.score else ""
        return f"<{self.type}{track}{score} at {self.x},{self.y} {self.width}x{self.height}>"


def metas(buffer):
    """All that the elements have attached to a frame: tensors, keypoints, lines, regions."""
    found = list(GstCudaVision.buffer_get_tensor_metas(buffer))
    found += [meta for meta in (GstCudaVision.buffer_get_keypoints_meta(buffer), GstCudaVision.buffer_get_lines_meta(buffer))
              if meta is not None]
    return found + GstCudaVision.buffer_get_regions(buffer)

