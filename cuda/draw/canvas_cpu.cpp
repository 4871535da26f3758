// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the canvas. Bands of rows are drawn in parallel; each task draws the part of the
// primitives that lies in its band.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda/common/chroma.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/draw/canvas_rules.h"
#include "cuda/draw/draw_backends.h"

namespace cudavision::draw {
namespace {

constexpr int kBandRows = 64;  // even, so that no chroma sample belongs to two bands
constexpr int kShortRun = 8;
constexpr int kMostCellPixels = 4;  // the most pixels in a row of a cell (chroma.h)

// A band of rows: the ids of its pixels (see color_cell(), canvas_rules.h), which are all 0 between bands, and the part
// of each row that primitives cover.
class Band {
 public:
  explicit Band(Size frame)
      : pitch_(divide_up(frame.width, kMostCellPixels) * kMostCellPixels),
        ids_(static_cast<std::size_t>(pitch_) * kBandRows),
        covered_(kBandRows),
        cell_ids_(static_cast<std::size_t>(frame.width)) {}

  void begin(int first_row) {
    first_row_ = first_row;
    std::fill(covered_.begin(), covered_.end(), Covered{});
  }

  // Writes id to the pixels within `within` that the primitive covers; later primitives overwrite earlier ones.
  void mark(const Primitive &primitive, unsigned id, Span within) {
    if (primitive.kind == Primitive::Kind::line) return mark_line(primitive, id, within);
    if (primitive.kind == Primitive::Kind::character) return mark_character(primitive, id, within);
    const SpanRange spans = spans_within(primitive, within);
    for (int i = spans.first; i < spans.end; ++i) mark_span(clip(span_of(primitive, i), within), id);
  }

  // Colours the covered pixels in rows [y, end), which are one row of cells (chroma.h), and clears their ids. The
  // result is that of color_cell() (canvas_rules.h), but whole runs of pixels with the same id are coloured at once.
  void color(const Frame &frame, const Primitive *primitives, int y, int end) {
    Covered all;
    for (int row = y; row < end; ++row) {
      const Covered &covered = covered_at(row);
      all.add_row(covered);
      for (int c = 0; c < frame.component_count(); ++c)
        if (!is_chroma(frame, c)) color_row(frame, c, primitives, row, covered, ids(row) + covered.x0);
    }
    if (all.is_empty()) return;
    if (frame.model == ColorModel::yuv) color_chroma(frame, primitives, y, end, all);
    for (int row = y; row < end; ++row) std::fill(ids(row) + all.x0, ids(row) + all.x1, 0u);
  }

 private:
  // The part [x0, x1) of one or several rows that primitives cover; empty if x0 >= x1. only_id: the id of all pixels in
  // it, or 0 if their ids differ.
  struct Covered {
    int x0 = 0, x1 = 0;
    unsigned only_id = 0;

    bool is_empty() const { return x0 >= x1; }
    // Adds pixels [from, to), whose ids have been set to `id`, or to various ids if it is 0.
    void add_span(int from, int to, unsigned id) {
      const bool covers_all = is_empty() || (from <= x0 && to >= x1);
      *this = {is_empty() ? from : std::min(x0, from), std::max(x1, to), covers_all ? id : 0};
    }
    // Adds the covered part of another row.
    void add_row(const Covered &row) {
      if (row.is_empty()) return;
      if (is_empty()) {
        *this = row;
        return;
      }
      const bool same = row.x0 == x0 && row.x1 == x1 && row.only_id == only_id;
      *this = {std::min(x0, row.x0), std::max(x1, row.x1), same ? only_id : 0};
    }
  };

  void mark_span(Span s, unsigned id) {
    if (is_empty(s)) return;
    for (int y = s.y0; y < s.y1; ++y) {
      std::fill(ids(y) + s.x0, ids(y) + s.x1, id);
      covered_at(y).add_span(s.x0, s.x1, id);
    }
  }

  // Writes the spans of LineSteps (canvas_rules.h), but with one division for the line instead of one for each step:
  // from one step to the next, the numerator of risen() grows by twice the rise.
  void mark_line(const Primitive &p, unsigned id, Span within) {
    const Span bounds = bounds_of(p), part = clip(bounds, within);
    const bool cut = is_cut(bounds, within);
    const SpanRange spans = cut ? line_steps_within(p, within) : SpanRange{0, span_count(p)};
    if (spans.first >= spans.end) return;
    for (int y = part.y0; y < part.y1; ++y) covered_at(y).add_span(part.x0, part.x1, 0);
    const LineSteps line = steps_of_line(p);
    const int width = p.line_width, steps = line.steps, risen = line.risen(spans.first);
    int along = line.along + line.direction * spans.first, across = line.across + risen;
    int remainder = static_cast<int>(2ll * spans.first * line.rise + steps - 2ll * steps * risen);
    for (int step = spans.first; step < spans.end; ++step, along += line.direction) {
      const int first = begin_of_width(across, width);
      const Span span = line.flat ? Span{along, first, along + 1, first + width}
                                  : Span{first, along, first + width, along + 1};
      write_ids(cut ? clip(span, within) : span, id);
      remainder += 2 * line.rise;
      if (remainder >= 2 * steps) ++across, remainder -= 2 * steps;
      if (remainder < 0) --across, remainder += 2 * steps;
    }
  }

  // Writes the spans of span_of_character() (canvas_rules.h). All lines of pixels in a row of the font share its runs.
  void mark_character(const Primitive &p, unsigned id, Span within) {
    const int scale = p.line_width;
    for (int row = 0; row < kFontHeight; ++row) {
      const int top = p.y0 + row * scale;
      const int first = std::max(0, within.y0 - top), last = std::min(scale, within.y1 - top);
      if (first >= last) continue;
      const unsigned before = font_row(p.x1, row - 1), own = font_row(p.x1, row),
                     after = font_row(p.x1, row + 1);
      for (int k = 0; k < kMostFontRuns; ++k) {
        const FontRun run = font_run(own, k);
        if (run.begin == run.end) break;
        for (int above = first; above < last; ++above)
          mark_span(clip(span_of_run(p, run, row, above, before, after), within), id);
      }
    }
  }

  void write_ids(Span s, unsigned id) {
    for (int y = s.y0; y < s.y1; ++y)
      for (int x = s.x0; x < s.x1; ++x) ids(y)[x] = id;
  }

  static void color_run(std::uint8_t *samples, int step, int count, std::uint8_t value, std::uint8_t alpha) {
    if (count < kShortRun)
      for (int i = 0; i < count; ++i) *(samples + i * step) = blend(value, alpha, samples[i * step]);
    else if (step == 1)  // the compiler vectorises these loops
      for (int i = 0; i < count; ++i) samples[i] = blend(value, alpha, samples[i]);
    else if (step == 2)
      for (int i = 0; i < count; ++i) samples[2 * i] = blend(value, alpha, samples[2 * i]);
    else
      for (int i = 0; i < count; ++i) samples[i * step] = blend(value, alpha, samples[i * step]);
  }

  // Colours the covered samples of component c in row y. ids: their ids; the first one is at pixel covered.x0.
  static void color_row(const Frame &frame, int c, const Primitive *primitives, int y, const Covered &covered,
                        const unsigned *ids) {
    const Component &component = frame.component[c];
    const int first = covered.x0 >> component.shift_x, step = component.step_bytes,
              count = covered.is_empty() ? 0 : ((covered.x1 - 1) >> component.shift_x) - first + 1;
    std::uint8_t *samples = &component.at(covered.x0, y);
    for (int i = 0, end; i < count; i = end) {
      end = covered.only_id != 0 ? count : end_of_run(ids, i, count);
      if (ids[i] == 0) continue;
      const Color &color = primitives[ids[i] - 1].color;
      color_run(samples + i * step, step, end - i, color.component[c], color.alpha);
    }
  }

  static int end_of_run(const unsigned *ids, int first, int count) {
    int end = first + 1;
    while (end < count && ids[end] == ids[first]) ++end;
    return end;
  }

  // A chroma sample has the colour of the last primitive that covers any of its pixels.
  void color_chroma(const Frame &frame, const Primitive *primitives, int y, int end, const Covered &all) {
    const int shift = cell_shift_x(frame), first = all.x0 >> shift,
              count = ((all.x1 - 1) >> shift) - first + 1;
    std::fill_n(cell_ids_.begin(), count, 0u);
    for (int row = y; row < end; ++row) {
      const unsigned *pixels = ids(row) + (first << shift);
      if (shift == 1)  // the compiler vectorises this loop
        for (int i = 0; i < count; ++i)
          cell_ids_[i] = std::max({cell_ids_[i], pixels[2 * i], pixels[2 * i + 1]});
      else
        for (int i = 0; i < count << shift; ++i)
          cell_ids_[i >> shift] = std::max(cell_ids_[i >> shift], pixels[i]);
    }
    for (int c = 1; c < 3; ++c) color_row(frame, c, primitives, y, all, cell_ids_.data());
  }

  Covered &covered_at(int y) { return covered_[static_cast<std::size_t>(y - first_row_)]; }
  unsigned *ids(int y) { return ids_.data() + static_cast<std::ptrdiff_t>(y - first_row_) * pitch_; }

  int pitch_, first_row_ = 0;  // pitch_: ids per row; those beyond the width are 0
  Array<unsigned> ids_;
  std::vector<Covered> covered_;
  Array<unsigned> cell_ids_;  // the largest id in each cell of a row of cells
};

// For each band, a range [first, end) of the list outside of which no primitive reaches into the band.
class BandRanges {
 public:
  explicit BandRanges(Size frame) : ranges_(static_cast<std::size_t>(divide_up(frame.height, kBandRows))) {}

  void find(const Primitive *primitives, int count, const Workers &workers) {
    std::fill(ranges_.begin(), ranges_.end(), Range{std::max(count, 0), 0});
    const int last_band = static_cast<int>(ranges_.size()) - 1;
    for (int i = 0; i < count && !workers.stopped(); ++i) {
      const Span bounds = bounds_of(primitives[i]);
      for (int band = std::max(0, bounds.y0 / kBandRows);
           band <= std::min(last_band, (bounds.y1 - 1) / kBandRows); ++band) {
        Range &range = ranges_[static_cast<std::size_t>(band)];
        range = {std::min(range.first, i), i + 1};
      }
    }
  }

  struct Range {
    int first, end;
  };
  const Range &operator[](int band) const { return ranges_[static_cast<std::size_t>(band)]; }

 private:
  std::vector<Range> ranges_;
};

class CanvasCpu final : public Canvas {
 public:
  CanvasCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        ranges_(size),
        bands_(*execution.workers, [size] { return Band(size); }) {}

  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
              Region region) override {
    CUDAVISION_TRY(check_size("frame", frame.size(), size_));
    ranges_.find(primitives, count == nullptr ? capacity : std::min(*count, capacity), *execution_.workers);
    bands_.fit(*execution_.workers);
    return execution_.workers->run(divide_up(size_.height, kBandRows), [&](int task, int slot) {
      Band &band = bands_[slot];
      const Span rows{0, task * kBandRows, size_.width, std::min(size_.height, (task + 1) * kBandRows)};
      const Span within = clip(rows, drawable(region, size_));
      band.begin(rows.y0);
      for (int i = ranges_[task].first; i < ranges_[task].end; ++i) {
        if (is_empty(clip(bounds_of(primitives[i]), within))) continue;
        if (execution_.workers->stopped()) return;
        band.mark(primitives[i], static_cast<unsigned>(i + 1), within);
      }
      const int step = 1 << cell_shift_y(frame);
      for (int y = rows.y0; y < rows.y1; y += step)
        band.color(frame, primitives, y, std::min(y + step, rows.y1));
    });
  }

 private:
  Execution execution_;
  Size size_;
  BandRanges ranges_;
  PerThread<Band> bands_;
};

}  // namespace

Status make_canvas_cpu(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  return make_as<CanvasCpu>(canvas, execution, size);
}

}  // namespace cudavision::draw
