// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pixels a primitive covers: it is a union of spans, which are rectangles of pixels. Integer arithmetic
// that both backends share.
#pragma once

#include "cuda/common/chroma.h"
#include "cuda/common/host_device.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/draw_rules.h"
#include "cuda/draw/font.h"

namespace cudavision::draw {

// The pixels [x0, x1) x [y0, y1).
struct Span {
  int x0, y0, x1, y1;
};

// The first of `width` pixels around c; an even width has its extra pixel to the right or below.
CUDAVISION_HOST_DEVICE constexpr int begin_of_width(int c, int width) { return c - (width - 1) / 2; }

CUDAVISION_HOST_DEVICE constexpr Span bar(int x0, int y0, int x1, int y1) {
  return {x0 < x1 ? x0 : x1, y0 < y1 ? y0 : y1, (x0 < x1 ? x1 : x0) + 1, (y0 < y1 ? y1 : y0) + 1};
}

// A bar of this width from (x0, y0) to (x1, y1), parallel to an axis.
CUDAVISION_HOST_DEVICE constexpr Span wide_bar(int x0, int y0, int x1, int y1, int width) {
  const int before = (width - 1) / 2, after = width / 2;
  const Span s = bar(x0, y0, x1, y1);
  return {s.x0 - before, s.y0 - before, s.x1 + after, s.y1 + after};
}

// The span at position `step`, 0 to `steps`, along the longer axis of a line; the other coordinate is rounded
// half up.
CUDAVISION_HOST_DEVICE constexpr Span line_step(const Primitive &p, int step, int steps) {
  const int dx = p.x1 - p.x0, dy = p.y1 - p.y0, width = p.line_width;
  const auto at = [step, steps](int from, int delta) {
    if (steps == 0) return from;
    const long long twice = 2ll * step * delta + steps;  // floor(step * delta / steps + 1/2)
    const long long d = 2ll * steps;
    return from + static_cast<int>(twice >= 0 ? twice / d : -((-twice + d - 1) / d));
  };
  const int x = at(p.x0, dx), y = at(p.y0, dy);
  const bool flat = (dx < 0 ? -dx : dx) >= (dy < 0 ? -dy : dy);
  if (flat) return {x, begin_of_width(y, width), x + 1, begin_of_width(y, width) + width};
  return {begin_of_width(x, width), y, begin_of_width(x, width) + width, y + 1};
}

constexpr int kMostFontRuns = (kFontWidth + 1) / 2;

CUDAVISION_HOST_DEVICE constexpr bool font_pixel(unsigned row, int x) {
  return x >= 0 && x < kFontWidth && (row >> (kFontWidth - 1 - x) & 1) != 0;
}

// Pixels [begin, end) of a row of the font.
struct FontRun {
  int begin, end;
};
// The k-th run of set pixels in a row; empty if there are not as many.
CUDAVISION_HOST_DEVICE constexpr FontRun font_run(unsigned row, int k) {
  FontRun run{0, 0};
  for (int i = 0; i <= k; ++i) {
    for (run.begin = run.end; run.begin < kFontWidth && !font_pixel(row, run.begin);) ++run.begin;
    for (run.end = run.begin; font_pixel(row, run.end);) ++run.end;
  }
  return run;
}

// Of the triangles in the gap at x, which is a neighbour of a set pixel at `from`: how many pixels wide they are in a line
// of the row, which is `above` lines below its first and `below` lines above its last one.
CUDAVISION_HOST_DEVICE constexpr int width_of_joint(unsigned row_above, unsigned row_below, int from, int x,
                                                    int above, int below, int side) {
  int width = 0;
  if (font_pixel(row_above, x) && !font_pixel(row_above, from)) width = side - above;
  if (font_pixel(row_below, x) && !font_pixel(row_below, from) && side - below > width) width = side - below;
  return width > 0 ? width : 0;
}

// The span of a run in a line of a row, which is `above` lines below its first one. before, after: the rows of the font
// above and below.
CUDAVISION_HOST_DEVICE constexpr Span span_of_run(const Primitive &p, FontRun run, int row, int above,
                                                  unsigned before, unsigned after) {
  const int scale = p.line_width, line = row * scale + above;
  const auto joint = [&](int from, int x) {
    return width_of_joint(before, after, from, x, above, scale - 1 - above, scale / 2);
  };
  return {p.x0 + run.begin * scale - joint(run.begin, run.begin - 1), p.y0 + line,
          p.x0 + run.end * scale + joint(run.end - 1, run.end), p.y0 + line + 1};
}

// Span i of a character: its lines from top to bottom, with up to kMostFontRuns spans each.
CUDAVISION_HOST_DEVICE inline Span span_of_character(const Primitive &p, int i) {
  const int line = i / kMostFontRuns, row = line / p.line_width;
  const FontRun run = font_run(font_row(p.x1, row), i % kMostFontRuns);
  if (run.begin == run.end) return {0, 0, 0, 0};
  return span_of_run(p, run, row, line % p.line_width, font_row(p.x1, row - 1), font_row(p.x1, row + 1));
}

CUDAVISION_HOST_DEVICE constexpr int span_count(const Primitive &p) {
  const int dx = p.x1 < p.x0 ? p.x0 - p.x1 : p.x1 - p.x0, dy = p.y1 < p.y0 ? p.y0 - p.y1 : p.y1 - p.y0;
  switch (p.kind) {
    case Primitive::Kind::point:
      return 1;
    case Primitive::Kind::cross:
      return 2;
    case Primitive::Kind::line:
      return (dx > dy ? dx : dy) + 1;
    case Primitive::Kind::rectangle:
      return 4;
    case Primitive::Kind::character:
      return kFontHeight * p.line_width * kMostFontRuns;
    default:
      return dy + 1;  // rows
  }
}

CUDAVISION_HOST_DEVICE inline Span span_of(const Primitive &p, int i) {
  const int width = p.line_width;
  switch (p.kind) {
    case Primitive::Kind::point:
      return wide_bar(p.x0, p.y0, p.x0, p.y0, width);
    case Primitive::Kind::cross:
      if (i == 0)
        return {p.x0 - p.x1, begin_of_width(p.y0, width), p.x0 + p.x1 + 1,
                begin_of_width(p.y0, width) + width};
      return {begin_of_width(p.x0, width), p.y0 - p.x1, begin_of_width(p.x0, width) + width, p.y0 + p.x1 + 1};
    case Primitive::Kind::line:
      return line_step(p, i, span_count(p) - 1);
    case Primitive::Kind::rectangle:
      if (i < 2) return wide_bar(p.x0, i == 0 ? p.y0 : p.y1, p.x1, i == 0 ? p.y0 : p.y1, width);
      return wide_bar(i == 2 ? p.x0 : p.x1, p.y0, i == 2 ? p.x0 : p.x1, p.y1, width);
    case Primitive::Kind::character:
      return span_of_character(p, i);
    default: {
      const int y = (p.y0 < p.y1 ? p.y0 : p.y1) + i;
      return bar(p.x0, y, p.x1, y);
    }
  }
}

// A rectangle that contains every span of the primitive.
CUDAVISION_HOST_DEVICE constexpr Span bounds_of(const Primitive &p) {
  if (p.kind == Primitive::Kind::character)
    return {p.x0, p.y0, p.x0 + kFontWidth * p.line_width, p.y0 + kFontHeight * p.line_width};
  const bool one_point = p.kind == Primitive::Kind::point || p.kind == Primitive::Kind::cross;
  const int arms = p.kind == Primitive::Kind::cross ? p.x1 : 0,
            margin = p.line_width + (arms < 0 ? -arms : arms);
  const Span s = one_point ? bar(p.x0, p.y0, p.x0, p.y0) : bar(p.x0, p.y0, p.x1, p.y1);
  return {s.x0 - margin, s.y0 - margin, s.x1 + margin, s.y1 + margin};
}

CUDAVISION_HOST_DEVICE constexpr Span clip(Span s, Span to) {
  return {s.x0 > to.x0 ? s.x0 : to.x0, s.y0 > to.y0 ? s.y0 : to.y0, s.x1 < to.x1 ? s.x1 : to.x1,
          s.y1 < to.y1 ? s.y1 : to.y1};
}

// The part of the region that lies within a frame of this size.
inline Span drawable(Region region, Size size) {
  const Span span{region.x, region.y, region.x + region.width, region.y + region.height};
  return clip(span, {0, 0, size.width, size.height});
}

CUDAVISION_HOST_DEVICE inline void blend_over(std::uint8_t &sample, const Color &color, int component) {
  sample = blend(color.component[component], color.alpha, sample);
}

// Colours the cell (chroma.h) whose first pixel is (x, y). id_row(y) returns the row of ids for row y of the
// frame; an id is 1 + the index of the last primitive that covers the pixel, or 0 if there is none. The ids
// of the cell are reset to 0.
template <typename IdRow>
CUDAVISION_HOST_DEVICE void color_cell(const Frame &frame, const Primitive *primitives, int x, int y,
                                       const IdRow &id_row) {
  const int shift_x = cell_shift_x(frame), shift_y = cell_shift_y(frame);
  unsigned last = 0;
  for (int py = y; py < y + (1 << shift_y) && py < frame.height; ++py)
    for (int px = x; px < x + (1 << shift_x) && px < frame.width; ++px) {
      unsigned &id = id_row(py)[px];
      if (id == 0) continue;
      const Color color = primitives[id - 1].color;
      for (int c = 0; c < frame.component_count(); ++c)
        if (!is_chroma(frame, c)) blend_over(frame.component[c].at(px, py), color, c);
      last = id > last ? id : last;
      id = 0;
    }
  if (last == 0 || frame.model != ColorModel::yuv) return;
  const Color color = primitives[last - 1].color;
  for (int c = 1; c < 3; ++c) blend_over(frame.component[c].at(x, y), color, c);
}

}  // namespace cudavision::draw
