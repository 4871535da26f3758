// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pixels a primitive covers: it is a union of spans, which are rectangles of pixels. Integer arithmetic
// that both backends share.
#pragma once

#include "cuda/common/chroma.h"
#include "cuda/common/host_device.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/draw_rules.h"
#include "cuda/draw/font_rules.h"

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

// n divided by d, which is positive, rounded down.
CUDAVISION_HOST_DEVICE constexpr long long floor_quotient(long long n, long long d) {
  return n >= 0 ? n / d : -((-n + d - 1) / d);
}

// A line as steps along its longer axis, from 0 to `steps`. At each step the other coordinate is rounded half up.
struct LineSteps {
  bool flat;          // the longer axis is x
  int along, across;  // the coordinates at step 0, on the longer and on the other axis
  int direction;      // of the steps: 1 or -1
  int steps;          // 65535 at most
  int rise;           // by how much the other coordinate changes in all steps: -steps to steps

  // By how much the other coordinate has changed at a step: floor(step * rise / steps + 1/2).
  CUDAVISION_HOST_DEVICE constexpr int risen(int step) const {
    return step == 0 ? 0 : static_cast<int>(floor_quotient(2ll * step * rise + steps, 2ll * steps));
  }
  CUDAVISION_HOST_DEVICE constexpr Span span(int step, int width) const {
    const int a = along + direction * step, first = begin_of_width(across + risen(step), width);
    return flat ? Span{a, first, a + 1, first + width} : Span{first, a, first + width, a + 1};
  }
  // The number of steps from 0 on at which risen() is less than `end` if the line rises, or at least `end` if it falls,
  // as if the line had no last step; not positive if there are none.
  CUDAVISION_HOST_DEVICE constexpr long long steps_before(int end) const {
    const long long bound = (2ll * end - 1) * steps;  // risen(step) >= end if 2 * step * rise >= bound
    return rise > 0 ? floor_quotient(bound - 1, 2ll * rise) + 1 : floor_quotient(-bound, -2ll * rise) + 1;
  }
};

CUDAVISION_HOST_DEVICE constexpr LineSteps steps_of_line(const Primitive &p) {
  const int dx = p.x1 - p.x0, dy = p.y1 - p.y0;
  const bool flat = (dx < 0 ? -dx : dx) >= (dy < 0 ? -dy : dy);
  const int length = flat ? dx : dy;
  return {flat,
          flat ? p.x0 : p.y0,
          flat ? p.y0 : p.x0,
          length < 0 ? -1 : 1,
          length < 0 ? -length : length,
          flat ? dy : dx};
}

constexpr int kMostFontRuns = (kFontWidth + 1) / 2;

CUDAVISION_HOST_DEVICE constexpr bool font_pixel(unsigned row, int x) {
  return x >= 0 && x < kFontWidth && (row >> (kFontWidth - 1 - x) & 1) != 0;
}

// Pixels [begin, end) of a row of the font.
struct FontRun {
  int begin, end;
};
// Run k of set pixels in a row of the font, counted from 0; empty if the row has fewer runs.
CUDAVISION_HOST_DEVICE constexpr FontRun font_run(unsigned row, int k) {
  FontRun run{0, 0};
  for (int i = 0; i <= k; ++i) {
    for (run.begin = run.end; run.begin < kFontWidth && !font_pixel(row, run.begin);) ++run.begin;
    for (run.end = run.begin; font_pixel(row, run.end);) ++run.end;
  }
  return run;
}

// Where two pixels of the font touch only at a corner, a triangle lies in each of the two unset pixels at that corner
// (Primitive::line_width). Returns the width of the triangle in the unset pixel in column x of a row, next to the set
// pixel in column `from`, in one line of the picture; 0 if there is none. row_above, row_below: the rows of the font
// next to this one. above, below: how many lines of the row are above and below that line. side: the triangle's legs.
CUDAVISION_HOST_DEVICE constexpr int width_of_joint(unsigned row_above, unsigned row_below, int from, int x,
                                                    int above, int below, int side) {
  int width = 0;
  if (font_pixel(row_above, x) && !font_pixel(row_above, from)) width = side - above;
  if (font_pixel(row_below, x) && !font_pixel(row_below, from) && side - below > width) width = side - below;
  return width > 0 ? width : 0;
}

// The span of a run of row `row` of the font in one of the p.line_width lines of the picture that this row makes: line
// number `above`, counted from 0. before, after: the rows of the font above and below.
CUDAVISION_HOST_DEVICE constexpr Span span_of_run(const Primitive &p, FontRun run, int row, int above,
                                                  unsigned before, unsigned after) {
  const int scale = p.line_width, line = row * scale + above;
  const auto joint = [&](int from, int x) {
    return width_of_joint(before, after, from, x, above, scale - 1 - above, scale / 2);
  };
  return {p.x0 + run.begin * scale - joint(run.begin, run.begin - 1), p.y0 + line,
          p.x0 + run.end * scale + joint(run.end - 1, run.end), p.y0 + line + 1};
}

// Span i of a character. The spans are numbered by rows of the picture from top to bottom, kMostFontRuns numbers for
// each row; a number that a row does not need gives an empty span.
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
      return steps_of_line(p).span(i, width);
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

CUDAVISION_HOST_DEVICE constexpr bool is_empty(Span s) { return s.x0 >= s.x1 || s.y0 >= s.y1; }

CUDAVISION_HOST_DEVICE constexpr bool is_cut(Span s, Span by) {
  return s.x0 < by.x0 || s.y0 < by.y0 || s.x1 > by.x1 || s.y1 > by.y1;
}

// Spans [first, end) of a primitive; none if first >= end.
struct SpanRange {
  int first, end;
};

CUDAVISION_HOST_DEVICE constexpr SpanRange cut(SpanRange range, long long first, long long end) {
  if (first >= range.end || end <= range.first) return {0, 0};
  return {first > range.first ? static_cast<int>(first) : range.first,
          end < range.end ? static_cast<int>(end) : range.end};
}

// The steps of a line whose spans have a pixel in `within`.
CUDAVISION_HOST_DEVICE constexpr SpanRange line_steps_within(const Primitive &p, Span within) {
  const LineSteps line = steps_of_line(p);
  const int low = line.flat ? within.x0 : within.y0, high = line.flat ? within.x1 : within.y1;
  const SpanRange all{0, line.steps + 1}, along = line.direction > 0
                                                      ? cut(all, low - line.along, high - line.along)
                                                      : cut(all, line.along - high + 1, line.along - low + 1);
  // A span has a pixel in `within` if risen() is at least `least` and less than `end`.
  const int to_first = begin_of_width(0, p.line_width);
  const int least = (line.flat ? within.y0 : within.x0) - to_first - p.line_width + 1 - line.across,
            end = (line.flat ? within.y1 : within.x1) - to_first - line.across;
  if (line.rise == 0) return least <= 0 && end > 0 ? along : SpanRange{0, 0};
  if (line.rise > 0) return cut(along, line.steps_before(least), line.steps_before(end));
  return cut(along, line.steps_before(end), line.steps_before(least));
}

// The spans that may have a pixel in `within`. A shape that reaches far beyond `within` has many spans that do not.
CUDAVISION_HOST_DEVICE constexpr SpanRange spans_within(const Primitive &p, Span within) {
  const Span bounds = bounds_of(p);
  const SpanRange all{0, span_count(p)};
  if (is_empty(clip(bounds, within))) return {0, 0};
  if (!is_cut(bounds, within)) return all;
  switch (p.kind) {
    case Primitive::Kind::line:
      return line_steps_within(p, within);
    case Primitive::Kind::filled_rectangle: {
      const int top = p.y0 < p.y1 ? p.y0 : p.y1;
      return cut(all, within.y0 - top, within.y1 - top);
    }
    case Primitive::Kind::character:
      return cut(all, kMostFontRuns * (within.y0 - p.y0), kMostFontRuns * (within.y1 - p.y0));
    default:
      return all;
  }
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
