// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the canvas. Bands of rows are drawn in parallel; each task draws the part of the
// primitives that lies in its band.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/common/chroma.h"
#include "cuda/draw/canvas_backends.h"
#include "cuda/draw/canvas_rules.h"

namespace cudavision::draw {
namespace {

constexpr int kBandRows = 64;  // even, so that no chroma sample belongs to two bands

// The ids of the pixels of a band (canvas_rules.h), all 0 between bands, and the part of each row that primitives cover.
class Band {
 public:
  explicit Band(Size frame)
      : width_(frame.width),
        ids_(static_cast<std::size_t>(frame.width) * kBandRows),
        covered_(kBandRows),
        cell_ids_(static_cast<std::size_t>(frame.width)) {}

  void begin(int first_row) {
    first_row_ = first_row;
    std::fill(covered_.begin(), covered_.end(), Covered{width_, 0});
  }

  // Writes id to the pixels within `within` that the primitive covers; later primitives overwrite earlier
  // ones.
  void mark(const Primitive &primitive, unsigned id, Span within) {
    if (is_empty(clip(bounds_of(primitive), within))) return;
    if (primitive.kind == Primitive::Kind::line) return mark_line(primitive, id, within);
    for (int i = 0, spans = span_count(primitive); i < spans; ++i)
      mark_span(clip(span_of(primitive, i), within), id);
  }

  // Colours the cells of rows [y, end) that primitives cover, and clears their ids. These are the rows of one row of cells. The
  // result is that of color_cell() (canvas_rules.h), whose pixels are visited here by runs of one colour.
  void color(const Frame &frame, const Primitive *primitives, int y, int end) {
    Covered all{width_, 0};
    for (int row = y; row < end; ++row) {
      const Covered &covered = covered_[static_cast<std::size_t>(row - first_row_)];
      all = {std::min(all.x0, covered.x0), std::max(all.x1, covered.x1)};
      for (int c = 0; c < frame.component_count(); ++c)
        if (!is_chroma(frame, c) && covered.x0 < covered.x1)
          color_row(frame, c, primitives, covered.x0, row, ids(row) + covered.x0, covered.x1 - covered.x0);
    }
    if (all.x0 >= all.x1) return;
    if (frame.model == ColorModel::yuv) color_chroma(frame, primitives, y, end, all);
    for (int row = y; row < end; ++row) std::fill(ids(row) + all.x0, ids(row) + all.x1, 0u);
  }

 private:
  struct Covered {
    int x0, x1;  // none if x0 >= x1
  };
  void mark_span(Span s, unsigned id) {
    if (is_empty(s)) return;
    for (int y = s.y0; y < s.y1; ++y) {
      std::fill(ids(y) + s.x0, ids(y) + s.x1, id);
      Covered &covered = covered_[static_cast<std::size_t>(y - first_row_)];
      covered = {std::min(covered.x0, s.x0), std::max(covered.x1, s.x1)};
    }
  }

  // The spans of line_step() (canvas_rules.h) without its divisions: from one step to the next, the numerator of the
  // shorter axis grows by twice its length.
  void mark_line(const Primitive &p, unsigned id, Span within) {
    const int dx = p.x1 - p.x0, dy = p.y1 - p.y0, width = p.line_width;
    const bool flat = std::abs(dx) >= std::abs(dy);
    const int steps = flat ? std::abs(dx) : std::abs(dy), shorter = flat ? dy : dx;
    const int direction = (flat ? dx : dy) < 0 ? -1 : 1;
    int along = flat ? p.x0 : p.y0, across = flat ? p.y0 : p.x0, remainder = steps;
    for (int step = 0; step <= steps; ++step, along += direction) {
      const int first = begin_of_width(across, width);
      mark_span(clip(flat ? Span{along, first, along + 1, first + width}
                          : Span{first, along, first + width, along + 1},
                     within),
                id);
      remainder += 2 * shorter;
      if (remainder >= 2 * steps) ++across, remainder -= 2 * steps;
      if (remainder < 0) --across, remainder += 2 * steps;
    }
  }

  static void color_run(std::uint8_t *samples, int step, int count, std::uint8_t value, std::uint8_t alpha) {
    if (step == 1)  // the compiler makes vector instructions of these loops
      for (int i = 0; i < count; ++i) samples[i] = blend(value, alpha, samples[i]);
    else if (step == 2)
      for (int i = 0; i < count; ++i) samples[2 * i] = blend(value, alpha, samples[2 * i]);
    else
      for (int i = 0; i < count; ++i) samples[i * step] = blend(value, alpha, samples[i * step]);
  }

  // Colours component c at `count` samples, from the one of pixel (x, y) on, by their ids.
  static void color_row(const Frame &frame, int c, const Primitive *primitives, int x, int y,
                        const unsigned *ids, int count) {
    const Component &component = frame.component[c];
    std::uint8_t *samples = &component.at(x, y);
    for (int i = 0, end; i < count; i = end) {
      for (end = i + 1; end < count && ids[end] == ids[i];) ++end;
      if (ids[i] == 0) continue;
      const Color &color = primitives[ids[i] - 1].color;
      color_run(samples + i * component.step_bytes, component.step_bytes, end - i, color.component[c],
                color.alpha);
    }
  }

  // A chroma sample has the colour of the last primitive that covers any of its pixels.
  void color_chroma(const Frame &frame, const Primitive *primitives, int y, int end, Covered all) {
    const int shift = cell_shift_x(frame), first = all.x0 >> shift,
              count = ((all.x1 - 1) >> shift) - first + 1;
    std::fill_n(cell_ids_.begin(), count, 0u);
    for (int row = y; row < end; ++row)
      for (int x = all.x0; x < all.x1; ++x) {
        unsigned &last = cell_ids_[static_cast<std::size_t>((x >> shift) - first)];
        last = std::max(last, ids(row)[x]);
      }
    for (int c = 1; c < 3; ++c) color_row(frame, c, primitives, first << shift, y, cell_ids_.data(), count);
  }

  static bool is_empty(Span s) { return s.x0 >= s.x1 || s.y0 >= s.y1; }
  unsigned *ids(int y) { return ids_.data() + static_cast<std::ptrdiff_t>(y - first_row_) * width_; }

  int width_, first_row_ = 0;
  std::vector<unsigned> ids_;
  std::vector<Covered> covered_;
  std::vector<unsigned> cell_ids_;  // of a row of cells
};

class CanvasCpu final : public Canvas {
 public:
  CanvasCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        bands_(static_cast<std::size_t>(execution.workers->thread_count()), Band(size)) {}

  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
              Region region) override {
    CUDAVISION_TRY(check_size("frame", frame.size(), size_));
    const int used = count == nullptr ? capacity : std::min(*count, capacity);
    execution_.workers->run(divide_up(size_.height, kBandRows), [&](int task, int slot) {
      Band &band = bands_[static_cast<std::size_t>(slot)];
      const Span rows{0, task * kBandRows, size_.width, std::min(size_.height, (task + 1) * kBandRows)};
      const Span within = clip(rows, drawable(region, size_));
      band.begin(rows.y0);
      for (int i = 0; i < used; ++i) band.mark(primitives[i], static_cast<unsigned>(i + 1), within);
      const int step = 1 << cell_shift_y(frame);
      for (int y = rows.y0; y < rows.y1; y += step)
        band.color(frame, primitives, y, std::min(y + step, rows.y1));
    });
    return {};
  }

 private:
  Execution execution_;
  Size size_;
  std::vector<Band> bands_;  // one for each thread
};

}  // namespace

Status make_canvas_cpu(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  *canvas = std::make_unique<CanvasCpu>(execution, size);
  return {};
}

}  // namespace cudavision::draw
