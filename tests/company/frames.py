# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames as a pad sees them: the picture without padding and crops, the times, the flags and what is attached."""
import ctypes
import dataclasses

import gi
import numpy

gi.require_version("GstVideo", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import GLib, Gst, GstCudaVision, GstVideo  # noqa: E402

# Regions are read as GStreamer's own struct has them, not by the library under test.
_gst, _gstvideo = ctypes.CDLL("libgstreamer-1.0.so.0"), ctypes.CDLL("libgstvideo-1.0.so.0")
_iterate, _region_api = _gst.gst_buffer_iterate_meta_filtered, _gstvideo.gst_video_region_of_interest_meta_api_get_type
_iterate.restype, _iterate.argtypes, _region_api.restype = ctypes.c_void_p, 2 * [ctypes.c_void_p] + [ctypes.c_size_t], ctypes.c_size_t


def offset_of(struct, field):
    return next(found.get_offset() for found in struct.__info__.get_fields() if found.get_name() == field)


REGION_TYPE, REGION_NUMBERS = (offset_of(GstVideo.VideoRegionOfInterestMeta, field) for field in ("roi_type", "x"))
CROP_NUMBERS, FLAGS = offset_of(GstVideo.VideoCropMeta, "x"), offset_of(Gst.MiniObject, "flags")


@dataclasses.dataclass
class Frame:
    picture: bytes
    caps: str
    pts: int
    duration: int
    flags: int
    regions: list  # (type, x, y, width, height)
    metas: list  # Meta
    has_crop: bool


@dataclasses.dataclass(frozen=True)
class Meta:
    name: str
    content: tuple  # what must be the same in two runs
    points: tuple  # positions in the frame

    def __repr__(self):
        return f"{self.name} at {self.points[:3]}"


def set_flag(address, flag):
    """Sets a flag of the buffer, also where Python may not write to it."""
    ctypes.c_uint.from_address(address + FLAGS).value |= int(flag)


def walkers(pts):
    """The boxes that a detector would find in the frame of this time: two walkers, one of whom enters from the left."""
    step = (0 if pts == Gst.CLOCK_TIME_NONE else pts) // (Gst.SECOND // 20)
    return [("person", -10 + 2 * step, 40, 20, 48), ("person", 90 - step, 60, 24, 40)]


def attach_walkers(info):
    """Attaches the boxes to a probe's buffer, unless it has some."""
    if not any(regions_of(info.data)):
        for box in walkers(info.get_buffer().pts):
            GstCudaVision.add_region(info, *box)


def regions_of(address):
    """Type, x, y, width and height of the regions of interest of a buffer, as GStreamer's own struct has them."""
    state = ctypes.c_void_p()
    while meta := _iterate(address, ctypes.byref(state), _region_api()):
        kind = GLib.quark_to_string(ctypes.c_uint.from_address(meta + REGION_TYPE).value)
        yield (kind, *(ctypes.c_int * 4).from_address(meta + REGION_NUMBERS))


def rows_of(video_info):
    """For each plane: its number, the bytes of a row, the rows, the subsampling and the bytes of a sample."""
    format_info = video_info.finfo
    planes = {}
    for component in range(format_info.n_components):
        planes.setdefault(format_info.plane[component], component)
    for plane, component in sorted(planes.items()):
        shift_x, shift_y = format_info.w_sub[component], format_info.h_sub[component]
        yield (plane, -(-video_info.width >> shift_x) * format_info.pixel_stride[component],
               -(-video_info.height >> shift_y), shift_x, shift_y, format_info.pixel_stride[component])


def picture_of(buffer, video_info):
    layout = GstVideo.buffer_get_video_meta(buffer) or video_info
    left, top = (crop_of(buffer) or (0, 0))[:2]
    data = buffer.extract_dup(0, buffer.get_size())
    rows = []
    for plane, width, height, shift_x, shift_y, step in rows_of(video_info):
        begin = layout.offset[plane] + (left >> shift_x) * step
        for y in range(top >> shift_y, (top >> shift_y) + height):
            at = begin + y * layout.stride[plane]
            rows.append(data[at:at + width])
    return b"".join(rows)


def numbers_of_crop(meta):
    """x, y, width and height of a GstVideoCropMeta, which PyGObject takes for a GstMeta."""
    return (ctypes.c_uint * 4).from_address(hash(meta) + CROP_NUMBERS)


def crop_of(buffer):
    meta = buffer.get_meta(GstVideo.video_crop_meta_api_get_type())
    return tuple(numbers_of_crop(meta)) if meta else None


def metas_of(buffer, width, height):
    found = []
    for meta in GstCudaVision.metas(buffer):
        if isinstance(meta, GstCudaVision.Region):
            corners = ((meta.x, meta.y), (meta.x + meta.width - 1, meta.y + meta.height - 1))
            found.append(Meta("region", (meta.type, corners, repr(meta.score), meta.track_id), corners))
        elif isinstance(meta, GstCudaVision.TensorMeta):
            place = (meta.frame_width, meta.frame_height, meta.origin_x, meta.origin_y, meta.step_x, meta.step_y)
            found.append(Meta(meta.get_id(), (meta.shape, place, numpy.asarray(meta).tobytes()),
                              corners_of(meta, width / meta.frame_width, height / meta.frame_height)))
        else:
            items = numpy.asarray(meta)
            name = "lines" if "rho" in items.dtype.names else "keypoints"
            points = [(item["x1"], item["y1"], item["x2"], item["y2"]) if name == "lines" else (item["x"], item["y"])
                      for item in items]
            found.append(Meta(name, (items.tobytes(),), tuple(tuple(map(float, point)) for point in points)))
    return found


def corners_of(tensor, scale_x, scale_y):
    """The positions of a tensor's first and last value; empty if it has no rows and columns, as a histogram."""
    if len(tensor.shape) < 2 or 1 in tensor.shape[:2]:
        return ()
    return tuple(((x + 0.5) * scale_x - 0.5, (y + 0.5) * scale_y - 0.5) for x, y in (
        (tensor.origin_x + column * tensor.step_x, tensor.origin_y + row * tensor.step_y)
        for row, column in ((0, 0), (tensor.shape[0] - 1, tensor.shape[1] - 1))))


def frame_of(caps, address, buffer):
    info = GstVideo.VideoInfo.new_from_caps(caps)
    return Frame(picture_of(buffer, info), caps.to_string(), buffer.pts, buffer.duration, int(buffer.get_flags()),
                 list(regions_of(address)), metas_of(buffer, info.width, info.height), crop_of(buffer) is not None)


def buffer_of(frame, pts):
    """A plain buffer with the picture and the regions of the frame."""
    buffer = Gst.Buffer.new_wrapped(frame.picture)
    buffer.pts, buffer.duration = pts, frame.duration
    for box in frame.regions:
        GstCudaVision.add_region(buffer, *box)
    return buffer


class Record:
    """Records what passes the pads in front of and behind an element: ("in" or "out", Frame) and ("event", Gst.Event).

    told: is called after each frame. What passes while the pipeline stops is not recorded: what is lost then, and what
    still follows it, depends on which pad is shut first."""

    def __init__(self, told):
        self.items, self.told, self.fault, self.stops = [], told, None, False

    def frames(self, kind):
        return [item for what, item in list(self.items) if what == kind]

    def watch(self, pad, kind, with_walkers=False):
        def probe(_pad, info):
            if self.stops:
                return Gst.PadProbeReturn.OK
            try:
                if info.type & Gst.PadProbeType.BUFFER:
                    if not (caps := pad.get_current_caps()):  # the pad was deactivated meanwhile: the frame is lost
                        return Gst.PadProbeReturn.OK
                    if with_walkers:
                        attach_walkers(info)
                    self.items.append((kind, frame_of(caps, info.data, info.get_buffer())))
                    self.told()
                else:
                    self.items.append(("event", info.get_event()))
            except Exception as fault:  # PyGObject would print it, and the frame would pass
                self.fault = fault
            return Gst.PadProbeReturn.OK

        types = Gst.PadProbeType.BUFFER
        if kind == "in":
            types |= Gst.PadProbeType.EVENT_DOWNSTREAM | Gst.PadProbeType.EVENT_FLUSH
        pad.add_probe(types, probe)
