// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the canvas. Bands of rows are drawn in parallel; each task draws the part of the
// primitives that lies in its band.
#include <algorithm>
#include <cstddef>
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

// A band of rows: the ids of its pixels (see color_cell(), canvas_rules.h), which are all 0 between bands, and the part
// of each row that primitives cover.
class Band {
 public:
  explicit Band(Size frame)
      : width_(frame.width),
        ids_(static_cast<std::size_t>(width_) * kBandRows),
        covered_(kBandRows),
        cell_ids_(static_cast<std::size_t>(width_)) {}

  void begin(int first_row) {
    first_row_ = first_row;
    std::fill(covered_.begin(), covered_.end(), Covered{width_, 0});
  }

  // Writes id to the pixels within `within` that the primitive covers; later primitives overwrite earlier ones.
  void mark(const Primitive &primitive, unsigned id, Span within) {
    const SpanRange spans = spans_within(primitive, within);
    for (int i = spans.first; i < spans.end; ++i) {
      const Span span = clip(span_of(primitive, i), within);
      if (is_empty(span)) continue;
      for (int y = span.y0; y < span.y1; ++y) {
        std::fill(ids(y) + span.x0, ids(y) + span.x1, id);
        covered_at(y).add({span.x0, span.x1});
      }
    }
  }

  // Colours the covered pixels in rows [y, end), which are one row of cells (chroma.h), as color_cell()
  // (canvas_rules.h) does, and clears their ids.
  void color(const Frame &frame, const Primitive *primitives, int y, int end) {
    Covered all{width_, 0};
    for (int row = y; row < end; ++row) all.add(covered_at(row));
    if (all.x0 >= all.x1) return;
    const int shift = cell_shift_x(frame), first = all.x0 >> shift, last = (all.x1 - 1) >> shift;
    unsigned *const cells = cell_ids_.data(), *const top = ids(y);
    std::fill(cells + first, cells + last + 1, 0u);
    for (int row = y; row < end; ++row) {
      const unsigned *pixels = ids(row);
      for (int c = 0; c < frame.component_count(); ++c)
        if (!is_chroma(frame, c)) color_row(frame, c, primitives, row, all, pixels);
      for (int x = all.x0; x < all.x1; ++x) top[x] = std::max(top[x], pixels[x]);
    }
    for (int x = all.x0; x < all.x1; ++x) cells[x >> shift] = std::max(cells[x >> shift], top[x]);
    for (int c = 1; c < 3 && frame.model == ColorModel::yuv; ++c)
      color_row(frame, c, primitives, y, {first, last + 1}, cells);
    for (int row = y; row < end; ++row) std::fill(ids(row) + all.x0, ids(row) + all.x1, 0u);
  }

 private:
  // The part [x0, x1) of one or several rows that primitives cover; empty if x0 >= x1.
  struct Covered {
    int x0, x1;

    void add(const Covered &other) { *this = {std::min(x0, other.x0), std::max(x1, other.x1)}; }
  };

  // Colours the samples [part.x0, part.x1) of component c in row y. ids: the id of each sample of the row.
  static void color_row(const Frame &frame, int c, const Primitive *primitives, int y, Covered part,
                        const unsigned *ids) {
    std::uint8_t *samples = &frame.component[c].at(0, y);
    const int step = frame.component[c].step_bytes;
    for (int x = part.x0, next; x < part.x1; x = next) {
      for (next = x + 1; next < part.x1 && ids[next] == ids[x];) ++next;
      if (ids[x] == 0) continue;
      const Color color = primitives[ids[x] - 1].color;
      for (int i = x; i < next; ++i) blend_over(samples[i * step], color, c);
    }
  }

  Covered &covered_at(int y) { return covered_[static_cast<std::size_t>(y - first_row_)]; }
  unsigned *ids(int y) { return ids_.data() + static_cast<std::ptrdiff_t>(y - first_row_) * width_; }

  int width_, first_row_ = 0;
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
