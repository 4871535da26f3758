// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the camera's statistics. Its loops are plain C++, which the compiler vectorises, once per
// instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/camerastats/camerastats_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/camerastats/camerastats_backends.h"
#include "cuda/camerastats/camerastats_rules.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::camerastats::HWY_NAMESPACE {

// A row of a picture and those above and below it.
struct Rows {
  const std::uint8_t *up, *here, *down;

  Rows(ImageView<const std::uint8_t> picture, int y)
      : up(picture.row(mirror_index(y - 1, picture.height))),
        here(picture.row(y)),
        down(picture.row(mirror_index(y + 1, picture.height))) {}

  // The Laplacian of pixel x, whose neighbours are the pixels `left` and `right`.
  std::int16_t laplacian_at(int left, int x, int right) const {
    return static_cast<std::int16_t>(laplacian(up[x], here[left], here[x], here[right], down[x]));
  }
};

void add_row(ImageView<const std::uint8_t> picture, ImageView<const std::uint8_t> old, int y, int noise,
             CameraSums *sums) {
  const Rows now(picture, y), before(old, y);
  const int width = picture.width;
  constexpr int kMost = 2000;  // the squares of so many Laplacians fit into 32 bits
  for (int first = 1; first < width - 1; first += kMost) {
    SmallSums own{};
    for (int x = first; x < std::min(first + kMost, width - 1); ++x)
      add_pixel(&own, now.laplacian_at(x - 1, x, x + 1), before.laplacian_at(x - 1, x, x + 1), now.here[x],
                before.here[x], noise);
    add_sums(sums, own);
  }
  for (int x = 0; x < width; x += std::max(1, width - 1)) {  // the first and the last pixel
    const int left = mirror_index(x - 1, width), right = mirror_index(x + 1, width);
    add_pixel(sums, now.laplacian_at(left, x, right), before.laplacian_at(left, x, right), now.here[x],
              before.here[x], noise);
  }
}

}  // namespace cudavision::camerastats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cuda/common/per_thread.h"

namespace cudavision::camerastats {
namespace {

HWY_EXPORT(add_row);

constexpr int kRowsPerTask = 4 * kCameraCell;
// Adjacent pixels, which are often equal, are counted in different tables, so that an increment need not wait for the
// one before.
constexpr int kTables = 4;

struct Part {
  CameraSums sums{};
  std::uint32_t counts[kTables][256] = {};
};

void count_row(const std::uint8_t *row, int width, std::uint32_t (&counts)[kTables][256]) {
  int x = 0;
  for (; x + kTables <= width; x += kTables)
    for (int t = 0; t < kTables; ++t) ++counts[t][row[x + t]];
  for (; x < width; ++x) ++counts[0][row[x]];
}

// The means of the cells whose first row is y.
void write_cells(ImageView<const std::uint8_t> picture, int y, std::uint8_t *cells) {
  const int end = std::min(picture.height, y + kCameraCell);
  for (int x = 0; x < picture.width; x += kCameraCell) {
    const int width = std::min(kCameraCell, picture.width - x);
    int sum = 0;
    for (int row = y; row < end; ++row) {
      const std::uint8_t *first = picture.row(row) + x;
      for (int i = 0; i < width; ++i) sum += first[i];
    }
    *cells++ = cell_mean(sum, x, y, picture.size());
  }
}

class CameraStatsCpu final : public KeptFrames {
 public:
  CameraStatsCpu(const Execution &execution, Size size)
      : KeptFrames(execution, size), parts_(*execution.workers, [] { return Part(); }) {}

 private:
  Status compute(const Frames &frames) override {
    parts_.fit(*execution_.workers);
    for (Part &part : parts_.each()) part = {};
    const int width = frames.now.width, across = camera_cells(frames.now.size()).width;
    CUDAVISION_TRY(execution_.workers->run_rows(frames.now.height, kRowsPerTask, [&](int y, int slot) {
      Part &part = parts_[slot];
      HWY_DYNAMIC_DISPATCH(add_row)(frames.now, frames.before, y, frames.noise, &part.sums);
      count_row(frames.now.row(y), width, part.counts);
      std::copy_n(frames.now.row(y), width, frames.copy.row(y));
      if (y % kCameraCell == 0) write_cells(frames.now, y, frames.cells + y / kCameraCell * across);
    }));
    *frames.numbers = {};
    for (const Part &part : parts_.each()) {
      add_sums(&frames.numbers->sums, part.sums);
      for (const auto &table : part.counts)
        for (int v = 0; v < 256; ++v) frames.numbers->histogram[v] += table[v];
    }
    return {};
  }

  PerThread<Part> parts_;
};

}  // namespace

Status make_camerastats_cpu(const Execution &execution, Size size, std::unique_ptr<CameraStats> *stats) {
  return make_as<CameraStatsCpu>(stats, execution, size);
}

}  // namespace cudavision::camerastats
#endif
