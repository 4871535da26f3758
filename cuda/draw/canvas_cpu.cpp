// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the canvas. Bands of rows are drawn in parallel; each task draws the part of the
// primitives that lies in its band.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/common/chroma.h"
#include "cuda/draw/canvas_backends.h"
#include "cuda/draw/canvas_rules.h"

namespace cudavision::draw {
namespace {

constexpr int kBandRows = 64;  // even, so that no chroma sample belongs to two bands

class CanvasCpu final : public Canvas {
 public:
  CanvasCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        ids_(static_cast<std::size_t>(execution.workers->thread_count()),
             std::vector<unsigned>(static_cast<std::size_t>(size.width) * kBandRows)) {}

  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
              Region region) override {
    CUDAVISION_TRY(check_size("frame", frame.size(), size_));
    const int used = count == nullptr ? capacity : std::min(*count, capacity);
    execution_.workers->run(divide_up(size_.height, kBandRows), [&](int band, int slot) {
      const Span rows{0, band * kBandRows, size_.width, std::min(size_.height, (band + 1) * kBandRows)};
      std::vector<unsigned> &ids = ids_[static_cast<std::size_t>(slot)];
      const auto id_row = [&](int y) {
        return ids.data() + static_cast<std::ptrdiff_t>(y - rows.y0) * size_.width;
      };
      const Span within = clip(rows, drawable(region, size_));
      bool any = false;
      for (int i = 0; i < used; ++i) any |= mark(primitives[i], static_cast<unsigned>(i + 1), within, id_row);
      if (any) color(frame, primitives, rows, id_row);
    });
    return {};
  }

 private:
  // Writes id to the pixels within `within` that the primitive covers; later primitives overwrite earlier
  // ones. Returns whether there is such a pixel.
  template <typename IdRow>
  static bool mark(const Primitive &primitive, unsigned id, Span within, const IdRow &id_row) {
    bool any = false;
    for (int i = 0, spans = span_count(primitive); i < spans; ++i) {
      const Span s = clip(span_of(primitive, i), within);
      if (s.x0 >= s.x1) continue;
      for (int y = s.y0; y < s.y1; ++y) {
        std::fill(id_row(y) + s.x0, id_row(y) + s.x1, id);
        any = true;
      }
    }
    return any;
  }

  template <typename IdRow>
  static void color(const Frame &frame, const Primitive *primitives, Span rows, const IdRow &id_row) {
    const int step_x = 1 << cell_shift_x(frame), step_y = 1 << cell_shift_y(frame);
    for (int y = rows.y0; y < rows.y1; y += step_y)
      for (int x = 0; x < frame.width; x += step_x) color_cell(frame, primitives, x, y, id_row);
  }

  Execution execution_;
  Size size_;
  std::vector<std::vector<unsigned>> ids_;  // one band for each thread; all 0 between bands
};

}  // namespace

Status make_canvas_cpu(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas) {
  *canvas = std::make_unique<CanvasCpu>(execution, size);
  return {};
}

}  // namespace cudavision::draw
