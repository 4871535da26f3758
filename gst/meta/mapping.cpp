// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/mapping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>

namespace cudavision {
namespace {

using std::numbers::pi;
constexpr double kEverywhere = std::numeric_limits<double>::infinity();

struct Segment {
  Point begin, end;
};

bool finite(Point p) { return std::isfinite(p.x) && std::isfinite(p.y); }

Rectangle pixel_centres(const GstVideoRectangle &r) {
  return {double(r.x), double(r.y), double(r.x) + r.w - 1, double(r.y) + r.h - 1};
}

// The part of a rectangle that lies in the frame; none if right < left or bottom < top.
Rectangle inside(const Rectangle &r, const FrameSize &frame) {
  return {std::max(r.left, 0.0), std::max(r.top, 0.0), std::min(r.right, frame.width - 1.0),
          std::min(r.bottom, frame.height - 1.0)};
}

bool is_whole(const GstVideoRectangle &r, const FrameSize &frame) {
  return r.x == 0 && r.y == 0 && r.w == frame.width && r.h == frame.height;
}

// The pixel centres that the rectangle shows, without bounds on sides where the rectangle reaches the frame's border.
Rectangle shown_part(const GstVideoRectangle &r, const FrameSize &frame) {
  Rectangle part = pixel_centres(r);
  if (r.x <= 0) part.left = -kEverywhere;
  if (r.y <= 0) part.top = -kEverywhere;
  if (r.x + r.w >= frame.width) part.right = kEverywhere;
  if (r.y + r.h >= frame.height) part.bottom = kEverywhere;
  return part;
}

// Converts a rectangle of pixel centres to one of pixel areas, which extend half a pixel around the centres.
Rectangle pixels_of(const Rectangle &r) { return {r.left - 0.5, r.top - 0.5, r.right + 0.5, r.bottom + 0.5}; }

// Like pixels_of, with a margin of one whole pixel at the right and the bottom: plain scaling maps the last
// centre, w - 1, to s w - s, which is close to s w if s is small.
Rectangle scaled_pixels_of(const Rectangle &r) {
  return {r.left - 0.5, r.top - 0.5, r.right + 1, r.bottom + 1};
}

// Clips one coordinate by Liang and Barsky, "A New Concept and Method for Line Clipping", ACM Transactions on
// Graphics, 1984. [begin, end] is the visible part of the segment, within [0, 1].
bool clip_axis(double from, double to, double low, double high, double &begin, double &end) {
  if (from == to) return from >= low && from <= high;
  double enter = (low - from) / (to - from), leave = (high - from) / (to - from);
  if (enter > leave) std::swap(enter, leave);
  begin = std::max(begin, enter);
  end = std::min(end, leave);
  return begin <= end;
}

std::optional<Segment> clip(const Segment &s, const Rectangle &r) {
  double begin = 0, end = 1;
  if (!finite(s.begin) || !finite(s.end) || !clip_axis(s.begin.x, s.end.x, r.left, r.right, begin, end) ||
      !clip_axis(s.begin.y, s.end.y, r.top, r.bottom, begin, end))
    return std::nullopt;
  const auto at = [&](double t) {
    return Point{std::clamp(std::lerp(s.begin.x, s.end.x, t), r.left, r.right),
                 std::clamp(std::lerp(s.begin.y, s.end.y, t), r.top, r.bottom)};
  };
  return Segment{at(begin), at(end)};
}

// Moves a tensor along one axis: the position p in a frame of size in_size becomes scale p + shift in a frame of size
// out_size. The geometry stays in pixels of the frame that the tensor was computed from, whose size is *frame.
bool move_axis(double scale, double shift, double in_size, double out_size, guint *frame, double *origin) {
  const double per_pixel = scale * in_size / *frame;  // new pixels per pixel of the tensor's frame
  const double new_frame = std::round(out_size / per_pixel);
  if (!(new_frame >= 1 && new_frame <= G_MAXUINT)) return false;
  *frame = static_cast<guint>(new_frame);
  *origin += shift / per_pixel;
  return std::isfinite(*origin);
}

}  // namespace

FrameMapping::FrameMapping(const Affine &m, const Rectangle &from, const Rectangle &to,
                           const FrameSize &in_size, const FrameSize &out_size, bool whole)
    : m_(m),
      from_(from),
      to_(to),
      in_size_(in_size),
      out_size_(out_size),
      whole_(whole),
      identity_(whole && in_size.width == out_size.width && in_size.height == out_size.height &&
                m == Affine{1, 0, 0, 0, 1, 0}) {}

FrameMapping FrameMapping::scaling(const FrameSize &in_size, const FrameSize &out_size) {
  const Rectangle all{-kEverywhere, -kEverywhere, kEverywhere, kEverywhere};
  const double sx = out_size.width / double(in_size.width), sy = out_size.height / double(in_size.height);
  return {{sx, 0, 0, 0, sy, 0}, all, all, in_size, out_size, true};
}

FrameMapping FrameMapping::matrix(const float (&matrix)[3][3], const GstVideoRectangle &in,
                                  const FrameSize &in_size, const GstVideoRectangle &out,
                                  const FrameSize &out_size) {
  const double w = matrix[2][2];
  Affine m{matrix[0][0] / w, matrix[0][1] / w, matrix[0][2] / w,
           matrix[1][0] / w, matrix[1][1] / w, matrix[1][2] / w};
  // The matrix is relative to the corners of the rectangles.
  m.x0 += out.x - m.xx * in.x - m.xy * in.y;
  m.y0 += out.y - m.yx * in.x - m.yy * in.y;
  return {m,
          shown_part(in, in_size),
          inside(pixel_centres(out), out_size),
          in_size,
          out_size,
          is_whole(in, in_size) && is_whole(out, out_size)};
}

// The direction to which a normal of an edge moves, of any length. With the Jacobian J, (cos, sin) becomes
// J^-T (cos, sin), here multiplied by |det J|.
Point FrameMapping::mapped_normal(double angle) const {
  const double sign = m_.xx * m_.yy - m_.xy * m_.yx < 0 ? -1 : 1, x = std::cos(angle), y = std::sin(angle);
  return {sign * (m_.yy * x - m_.yx * y), sign * (m_.xx * y - m_.xy * x)};
}

std::optional<GstCudaVisionKeypoint> FrameMapping::map(const GstCudaVisionKeypoint &keypoint) const {
  const Point from{keypoint.x, keypoint.y};
  if (!finite(from) || !pixels_of(from_).contains(from)) return std::nullopt;
  const Point to = project(from);
  if (!scaled_pixels_of(to_).contains(to)) return std::nullopt;
  GstCudaVisionKeypoint mapped = keypoint;
  mapped.x = static_cast<float>(to.x);
  mapped.y = static_cast<float>(to.y);
  if (std::isfinite(keypoint.angle)) {
    const Point gradient = mapped_normal(keypoint.angle);
    mapped.angle = static_cast<float>(std::atan2(gradient.y, gradient.x));
  }
  return mapped;
}

bool FrameMapping::map_normal(GstCudaVisionLine &line) const {
  const double old_rho = line.rho, old_theta = line.theta;
  const Point normal = mapped_normal(old_theta),
              foot = project({old_rho * std::cos(old_theta), old_rho * std::sin(old_theta)});
  const double length = std::hypot(normal.x, normal.y);
  if (!(length > 0) || !std::isfinite(length)) return false;
  double rho = (foot.x * normal.x + foot.y * normal.y) / length, theta = std::atan2(normal.y, normal.x);
  if (theta < 0) theta += pi, rho = -rho;
  if (static_cast<float>(theta) >= static_cast<float>(pi)) theta = 0, rho = -rho;
  line.rho = static_cast<float>(rho);
  line.theta = static_cast<float>(theta);
  return true;
}

std::optional<GstCudaVisionLine> FrameMapping::map(const GstCudaVisionLine &line) const {
  std::optional<Segment> s = clip({{line.x1, line.y1}, {line.x2, line.y2}}, from_);
  if (!s) return std::nullopt;
  s = clip({project(s->begin), project(s->end)}, scaled_pixels_of(to_));
  GstCudaVisionLine mapped = line;
  if (!s || !map_normal(mapped)) return std::nullopt;
  mapped.x1 = static_cast<float>(s->begin.x);
  mapped.y1 = static_cast<float>(s->begin.y);
  mapped.x2 = static_cast<float>(s->end.x);
  mapped.y2 = static_cast<float>(s->end.y);
  if (std::tie(mapped.x2, mapped.y2) < std::tie(mapped.x1, mapped.y1)) {
    std::swap(mapped.x1, mapped.x2);
    std::swap(mapped.y1, mapped.y2);
  }
  return mapped;
}

bool FrameMapping::move(GstCudaVisionTensorMeta *tensor) const {
  if (m_.xy != 0 || m_.yx != 0 || !(m_.xx > 0 && m_.yy > 0)) return false;
  return whole_ ||
         (move_axis(m_.xx, m_.x0, in_size_.width, out_size_.width, &tensor->frame_width, &tensor->origin_x) &&
          move_axis(m_.yy, m_.y0, in_size_.height, out_size_.height, &tensor->frame_height,
                    &tensor->origin_y));
}

}  // namespace cudavision
