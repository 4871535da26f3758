// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of the canvas: which pixels each primitive covers, and the resulting frame, pixel by pixel.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/font_rules.h"
#include "tests/support/test_frame.h"

namespace cudavision::test {

using Primitives = std::vector<Primitive>;

inline int floor_divide(long long n, long long d) {
  return static_cast<int>(n >= 0 ? n / d : -((d - 1 - n) / d));
}

// Whether v is one of `width` pixels around c; an even width has its extra pixel on the side of larger coordinates.
inline bool in_width(int v, int c, int width) { return v >= c - (width - 1) / 2 && v <= c + width / 2; }
inline bool between(int v, int a, int b) { return v >= std::min(a, b) && v <= std::max(a, b); }

// A line has one position per step along its longer axis, with the other coordinate rounded half up, and is
// thickened perpendicular to that axis.
inline bool on_line(const Primitive &p, int x, int y) {
  const int dx = p.x1 - p.x0, dy = p.y1 - p.y0;
  const bool flat = std::abs(dx) >= std::abs(dy);
  const int along = flat ? x - p.x0 : y - p.y0, length = flat ? dx : dy, rise = flat ? dy : dx;
  if (!between(along, 0, length)) return false;
  const int from = flat ? p.y0 : p.x0, steps = std::abs(length);
  const int middle =
      steps == 0 ? from : from + floor_divide(2ll * std::abs(along) * rise + steps, 2ll * steps);
  return in_width(flat ? y : x, middle, p.line_width);
}

// Four bars of width line_width that end where they meet.
inline bool on_outline(const Primitive &p, int x, int y) {
  const int before = (p.line_width - 1) / 2, after = p.line_width / 2;
  const auto reached = [&](int v, int a, int b) {
    return v >= std::min(a, b) - before && v <= std::max(a, b) + after;
  };
  if (!reached(x, p.x0, p.x1) || !reached(y, p.y0, p.y1)) return false;
  return in_width(x, p.x0, p.line_width) || in_width(x, p.x1, p.line_width) ||
         in_width(y, p.y0, p.line_width) || in_width(y, p.y1, p.line_width);
}

// Whether (x, y) lies in a set pixel of the font, or in a triangle that joins two set pixels at a corner of a gap.
inline bool on_character(const Primitive &p, int x, int y) {
  const int scale = p.line_width, left = x - p.x0, above = y - p.y0;
  if (left < 0 || above < 0) return false;
  const int column = left / scale, row = above / scale;
  const auto set = [&](int c, int r) {
    return c >= 0 && c < draw::kFontWidth && (draw::font_row(p.x1, r) >> (draw::kFontWidth - 1 - c) & 1) != 0;
  };
  if (set(column, row)) return true;
  if (column >= draw::kFontWidth || row >= draw::kFontHeight) return false;
  for (const int dx : {-1, 1})
    for (const int dy : {-1, 1}) {
      const int to_side = dx < 0 ? left % scale : scale - 1 - left % scale,
                to_end = dy < 0 ? above % scale : scale - 1 - above % scale;
      if (set(column + dx, row) && set(column, row + dy) && !set(column + dx, row + dy) &&
          to_side + to_end < scale / 2)
        return true;
    }
  return false;
}

inline bool covers(const Primitive &p, int x, int y) {
  switch (p.kind) {
    case Primitive::Kind::character:
      return on_character(p, x, y);
    case Primitive::Kind::point:
      return in_width(x, p.x0, p.line_width) && in_width(y, p.y0, p.line_width);
    case Primitive::Kind::cross:
      return (std::abs(x - p.x0) <= p.x1 && in_width(y, p.y0, p.line_width)) ||
             (std::abs(y - p.y0) <= p.x1 && in_width(x, p.x0, p.line_width));
    case Primitive::Kind::line:
      return on_line(p, x, y);
    case Primitive::Kind::rectangle:
      return on_outline(p, x, y);
    default:
      return between(x, p.x0, p.x1) && between(y, p.y0, p.y1);
  }
}

// The index of the last primitive that covers the pixel, or -1.
inline int topmost(const Primitives &primitives, int x, int y) {
  for (int i = static_cast<int>(primitives.size()) - 1; i >= 0; --i)
    if (covers(primitives[static_cast<std::size_t>(i)], x, y)) return i;
  return -1;
}

// The frame after drawing. Primitives do not cover pixels outside the region.
inline HostFrame definition(HostFrame frame, const Primitives &primitives,
                            Region region = {0, 0, kMaxSide, kMaxSide}) {
  HostImage<int> top(frame.size, -1);
  for (int y = std::max(region.y, 0); y < std::min(region.y + region.height, top.height()); ++y)
    for (int x = std::max(region.x, 0); x < std::min(region.x + region.width, top.width()); ++x)
      top.at(x, y) = topmost(primitives, x, y);
  for (int c = 0; c < frame.component_count(); ++c) {
    const PixelLayout::Place &place = frame.format->layout.place[c];
    for (int y = 0; y < top.height(); y += 1 << place.shift_y)
      for (int x = 0; x < top.width(); x += 1 << place.shift_x) {
        int last = -1;
        for (int py = y; py < std::min(y + (1 << place.shift_y), top.height()); ++py)
          for (int px = x; px < std::min(x + (1 << place.shift_x), top.width()); ++px)
            last = std::max(last, top.at(px, py));
        if (last < 0) continue;
        const Color &color = primitives[static_cast<std::size_t>(last)].color;
        std::uint8_t &sample = frame.sample(c, x, y);
        sample = static_cast<std::uint8_t>(
            (color.alpha * color.component[c] + (255 - color.alpha) * sample + 127) / 255);
      }
  }
  return frame;
}

}  // namespace cudavision::test
