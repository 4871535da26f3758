// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised loops of the CPU backend, which process rows or tiles of one level. All pictures are padded
// (padded_image_cpu.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/common/memory_budget.h"
#include "cuda/opticalflow/flow_rules.h"
#include "cuda/opticalflow/padded_image_cpu.h"

namespace cudavision::opticalflow {

// Computes the Scharr derivatives of rows [first, last) of a level. The padding of the level must be mirrored.
void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy);

// Computes rows [first, last) of the next level. The padding of `level` must be mirrored.
void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next);

// The inputs and outputs of one level. All pictures have its size.
struct LevelWork {
  ImageView<const std::uint8_t> from, to;  // I and J
  ImageView<const std::int16_t> dx, dy;    // derivatives of `from`, zero in the padding
  TrackingRules rules;
  Field coarse;  // the flow of the next coarser level; without vectors the iteration starts at 0
  Field fine;    // output
  ImageView<std::uint8_t> valid;  // output, of the size of fine; may be empty
  Places places;                  // in pixels of the level; vectors elsewhere need not be computed
};

// One thread's vertical sums over the height of the window, for the structure tensor and for the sum of (Ix, Iy) I.
class ColumnSums {
 public:
  enum Kind { xx, xy, yy, xi, yi, kinds };

  explicit ColumnSums(int max_width)
      : stride_(max_width + 2 * PaddedImage<int>::kColumns),
        data_(static_cast<std::size_t>(stride_) * kinds) {}
  // Columns -kColumns to max_width + kColumns - 1 of the row can be accessed.
  std::int32_t *row(Kind kind) {
    return data_.data() + static_cast<std::ptrdiff_t>(stride_) * kind + PaddedImage<int>::kColumns;
  }
  // Sets columns [first, last) of all sums to zero.
  void clear(int first, int last) {
    for (int kind = 0; kind < kinds; ++kind)
      std::fill(row(static_cast<Kind>(kind)) + first, row(static_cast<Kind>(kind)) + last, 0);
  }

 private:
  int stride_;
  Array<std::int32_t> data_;
};

// The trackers (Tracker) of a tile of vectors as a structure of arrays, with vector (x, y) at index kWidth y + x.
struct TrackerTile {
  static constexpr int kWidth = 64, kHeight = 16, kPixels = kWidth * kHeight;

  alignas(64) float xx[kPixels], xy[kPixels], yy[kPixels];
  alignas(64) float d_x[kPixels], d_y[kPixels], last_x[kPixels], last_y[kPixels];
  alignas(64) std::int32_t x_from[kPixels], y_from[kPixels];  // the sum of (Ix, Iy) I
  alignas(64) std::int32_t cell_x[kPixels], cell_y[kPixels], steps[kPixels];
  alignas(64) std::int32_t running[kPixels], valid[kPixels];  // 0 or -1
};

// Computes columns [x0, x0 + kWidth) of rows [y0, y0 + kHeight) of work.fine, clipped to its size.
void track_tile(const LevelWork &work, int x0, int y0, ColumnSums &sums, TrackerTile &tile);

}  // namespace cudavision::opticalflow
