// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps points, lines and tensors of a frame when its video is scaled, cropped or rotated.
#pragma once

#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
#include <gst/cudavision/tensormeta.h>
#include <gst/video/video.h>

#include <optional>

namespace cudavision {

struct Point {
  double x, y;
};

struct FrameSize {
  int width, height;

  friend bool operator==(const FrameSize &, const FrameSize &) = default;
};

struct Rectangle {  // closed: includes its borders
  double left, top, right, bottom;

  bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
};

// An affine mapping from the pixels of one frame to those of another, with the visible part of each.
struct FrameMapping {
  // Multiplies x and y by the ratios of the sizes, as GStreamer scales its regions of interest. Everything stays
  // visible. The sizes are positive.
  static FrameMapping scaling(const FrameSize &in_size, const FrameSize &out_size);
  // The mapping of GStreamer's GstVideoMetaTransformMatrix: the content of the rectangle `in`, of a frame of
  // size in_size, is shown in the rectangle `out`, of a frame of size out_size. The last row of the matrix is 0, 0, w.
  static FrameMapping matrix(const float (&matrix)[3][3], const GstVideoRectangle &in,
                             const FrameSize &in_size, const GstVideoRectangle &out,
                             const FrameSize &out_size);

  // Returns true if points and lines do not change.
  bool identity() const { return whole && old_size == new_size && affine == Affine{1, 0, 0, 0, 1, 0}; }

  // Returns nullopt if the point leaves the visible part or a value is not finite.
  std::optional<GstCudaVisionKeypoint> map(const GstCudaVisionKeypoint &keypoint) const;
  // Clips the ends to the visible part. Returns nullopt if the line leaves it or a value is not finite.
  std::optional<GstCudaVisionLine> map(const GstCudaVisionLine &line) const;
  // Changes the geometry of a tensor as the documentation of GstCudaVisionTensorMeta says. Returns false if no geometry
  // describes the new positions; the geometry is then unspecified.
  bool move(GstCudaVisionTensorMeta *tensor) const;

  // The pixel (x, y) moves to (xx x + xy y + x0, yx x + yy y + y0).
  struct Affine {
    double xx, xy, x0, yx, yy, y0;
    friend bool operator==(const Affine &, const Affine &) = default;
  };
  Affine affine;
  Rectangle old_part, new_part;  // visible pixel centres of the old and the new frame
  FrameSize old_size, new_size;
  bool whole;  // the whole old frame is the whole new frame

 private:
  Point project(Point p) const;
  Point mapped_normal(double angle) const;
  bool map_normal(GstCudaVisionLine &line) const;
};

// The mapping that a transform applies to coordinates, from the arguments of a GstMetaTransformFunction; nullopt if it
// is not known, and for a copy.
//
// A scaling describes both frames by a GstVideoInfo, which does not tell whether the element adds borders. It may do so
// if the display aspect ratios differ. The mapping is then not known, and the first time a warning is logged.
std::optional<FrameMapping> mapping_of(GQuark type, gpointer data);

}  // namespace cudavision
