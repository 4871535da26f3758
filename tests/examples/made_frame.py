# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints, with the example read_metas.py, a frame that has every kind of meta."""
import array
import math

import gi

from read_metas import ARRAY_TYPES, Gst, GstCudaVision, print_metas

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo  # noqa: E402


def add(frame, identifier, kind, values):
    data = Gst.Buffer.new_wrapped(array.array(ARRAY_TYPES[kind], values).tobytes())
    element_type = getattr(GstCudaVision.ElementType, kind.upper())
    return GstCudaVision.buffer_add_tensor_meta(frame, identifier, element_type, [1, len(values)], data)


def keypoint(x, y, response, angle):
    made = GstCudaVision.Keypoint()
    made.x, made.y, made.response, made.angle = x, y, response, angle
    return made


def line(rho, theta, votes, x1, y1, x2, y2):
    made = GstCudaVision.Line()
    made.rho, made.theta, made.votes = rho, theta, votes
    made.x1, made.y1, made.x2, made.y2 = x1, y1, x2, y2
    return made


def make_frame():
    frame = Gst.Buffer.new()
    add(frame, "bytes", "u8", [0, 1, 255])
    add(frame, "words", "u16", [0, 65535])
    add(frame, "counts", "u32", [0, 4294967295])
    add(frame, "signed", "i32", [-1, 2147483647])
    add(frame, "reals", "f32", [0.1, -1e-20, math.inf]).set_geometry(640, 480, 1.5, 2.25, 8, 0)
    add(frame, "changed", "u8", [1]).n_dims = 1000
    GstCudaVision.buffer_add_keypoints_meta(
        frame, [keypoint(10, 20.5, 3.5, 1.57), keypoint(0.25, 0, -1, math.nan)])
    GstCudaVision.buffer_add_lines_meta(frame, [line(12, 0.785, 230, 0, 5, 100, 105)])
    person = GstVideo.buffer_add_video_region_of_interest_meta(frame, "person", 10, 20, 64, 128)
    person.id = 1
    person.add_param(Gst.Structure.new_from_string("detection, confidence=(double)0.75"))
    face = GstVideo.buffer_add_video_region_of_interest_meta(frame, "face", 30, 22, 16, 20)
    face.id, face.parent_id = 2, 1
    return frame


Gst.init(None)
print_metas(make_frame())
empty = Gst.Buffer.new()
GstCudaVision.buffer_add_keypoints_meta(empty, [])
GstCudaVision.buffer_add_lines_meta(empty, [])
print_metas(empty)
