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
};

struct Rectangle {  // closed: includes its borders
  double left, top, right, bottom;

  bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
};

// An affine mapping from the pixels of one frame to those of another, with the visible part of each.
class FrameMapping {
 public:
  // Multiplies x and y by the ratios of the sizes, as GStreamer scales its regions of interest. Everything stays
  // visible. The sizes are positive.
  static FrameMapping scaling(const FrameSize &in_size, const FrameSize &out_size);
  // The mapping of GStreamer's GstVideoMetaTransformMatrix: the content of the rectangle `in`, of a frame of
  // size in_size, is shown in the rectangle `out`, of a frame of size out_size. The last row of the matrix is 0, 0, w.
  static FrameMapping matrix(const float (&matrix)[3][3], const GstVideoRectangle &in,
                             const FrameSize &in_size, const GstVideoRectangle &out,
                             const FrameSize &out_size);

  // Returns true if points and lines do not change.
  bool identity() const { return identity_; }

  // Returns nullopt if the point leaves the visible part or a value is not finite.
  std::optional<GstCudaVisionKeypoint> map(const GstCudaVisionKeypoint &keypoint) const;
  // Clips the ends to the visible part. Returns nullopt if the line leaves it or a value is not finite.
  std::optional<GstCudaVisionLine> map(const GstCudaVisionLine &line) const;
  // Changes the geometry of a tensor as the documentation of GstCudaVisionTensorMeta says. Returns false if no geometry
  // describes the new positions; the geometry is then unspecified.
  bool move(GstCudaVisionTensorMeta *tensor) const;

 private:
  // The pixel (x, y) moves to (xx x + xy y + x0, yx x + yy y + y0).
  struct Affine {
    double xx, xy, x0, yx, yy, y0;
    friend bool operator==(const Affine &, const Affine &) = default;
  };

  FrameMapping(const Affine &m, const Rectangle &from, const Rectangle &to, const FrameSize &in_size,
               const FrameSize &out_size, bool whole);

  Point project(Point p) const {
    return {m_.xx * p.x + m_.xy * p.y + m_.x0, m_.yx * p.x + m_.yy * p.y + m_.y0};
  }
  Point mapped_normal(double angle) const;
  bool map_normal(GstCudaVisionLine &line) const;

  Affine m_;
  Rectangle from_, to_;  // visible pixel centres of the old and the new frame
  FrameSize in_size_, out_size_;
  bool whole_;  // the whole old frame is the whole new frame
  bool identity_;
};

// The mapping that a transform applies to coordinates, from the arguments of a GstMetaTransformFunction; nullopt if it
// is not known, and for a copy.
//
// A scaling describes both frames by a GstVideoInfo, which does not tell whether the element adds borders. It may do so
// if the display aspect ratios differ. The mapping is then not known, and the first time a warning is logged.
std::optional<FrameMapping> mapping_of(GQuark type, gpointer data);

}  // namespace cudavision
