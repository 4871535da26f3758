// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps points, lines and tensors of a frame when its video is scaled, cropped or rotated.
#pragma once

#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
#include <gst/cudavision/tensormeta.h>
#include <gst/video/video.h>

#include <array>
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

// A homography from the pixels of one frame to those of another, with the visible part of each.
class FrameMapping {
 public:
  // Multiplies x and y by the ratios of the sizes, as GStreamer scales its regions of interest. Everything stays
  // visible. The sizes are positive.
  static FrameMapping scaling(const FrameSize &in_size, const FrameSize &out_size);
  // The mapping of GStreamer's GstVideoMetaTransformMatrix: the content of the rectangle `in`, of a frame of
  // size in_size, is shown in the rectangle `out`, of a frame of size out_size.
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
  using Row = std::array<double, 3>;

  FrameMapping(const std::array<Row, 3> &h, const Rectangle &from, const Rectangle &to,
               const FrameSize &in_size, const FrameSize &out_size, bool whole);

  double depth(Point p) const { return h_[2][0] * p.x + h_[2][1] * p.y + h_[2][2]; }
  Point project(Point p) const;
  double map_direction(double angle, Point from, Point to) const;
  bool map_normal(GstCudaVisionLine &line) const;

  std::array<Row, 3> h_;  // row-major
  Rectangle from_, to_;   // visible pixel centres of the old and the new frame
  FrameSize in_size_, out_size_;
  bool whole_;  // the whole old frame is the whole new frame
  bool identity_;
};

}  // namespace cudavision
