// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the points and lines of a frame are after its video was scaled, cropped or rotated.
#pragma once

#include <gst/cudavision/keypointsmeta.h>
#include <gst/cudavision/linesmeta.h>
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

struct Rectangle {  // its borders belong to it
  double left, top, right, bottom;

  bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
};

// A homography from the pixels of one frame to those of another, and what part of each is visible.
class FrameMapping {
 public:
  // (x, y) to (sx x, sy y), as GStreamer scales its regions of interest. Everything stays visible.
  static FrameMapping scaling(double sx, double sy);
  // What GStreamer's GstVideoMetaTransformMatrix says: the content of one rectangle, of a frame of that size,
  // shown in another.
  static FrameMapping matrix(const float (&matrix)[3][3], const GstVideoRectangle &in,
                             const FrameSize &in_size, const GstVideoRectangle &out);

  // Every point and line stays as it is.
  bool identity() const { return identity_; }

  // Nothing when the point leaves the visible part, or a value is not finite.
  std::optional<GstCudaVisionKeypoint> map(const GstCudaVisionKeypoint &keypoint) const;
  // The ends are clipped to the visible part; nothing when it has none of the line, or a value is not finite.
  std::optional<GstCudaVisionLine> map(const GstCudaVisionLine &line) const;

 private:
  using Row = std::array<double, 3>;

  FrameMapping(const std::array<Row, 3> &h, const Rectangle &from, const Rectangle &to, bool identity)
      : h_(h), from_(from), to_(to), identity_(identity) {}

  double depth(Point p) const { return h_[2][0] * p.x + h_[2][1] * p.y + h_[2][2]; }
  Point project(Point p) const;
  double map_direction(double angle, Point from, Point to) const;
  bool map_normal(GstCudaVisionLine &line) const;

  std::array<Row, 3> h_;  // row-major
  Rectangle from_, to_;   // what is visible: pixel centres of the old and of the new frame
  bool identity_;
};

}  // namespace cudavision
