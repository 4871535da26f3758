// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend, for rows of one level. Pictures are padded (padded_image.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/opticalflow/flow_rules.h"
#include "cuda/opticalflow/padded_image.h"

namespace cudavision::opticalflow {

// Scharr's derivatives of rows [first, last) of a level whose padding is mirrored.
void derive_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::int16_t> dx,
                 ImageView<std::int16_t> dy);

// Rows [first, last) of the next level, from one whose padding is mirrored.
void shrink_rows(ImageView<const std::uint8_t> level, int first, int last, ImageView<std::uint8_t> next);

// One level's work: pictures of its size, derivatives of `from`, zero in their padding.
struct LevelWork {
  ImageView<const std::uint8_t> from, to;
  ImageView<const std::int16_t> dx, dy;
  Rules rules;
  FlowMethod method;
  Field coarse;                   // no vectors: begins with 0
  Field fine;                     // what is computed
  ImageView<std::uint8_t> valid;  // of fine; empty where nobody asks
};

// One thread's sums over columns of the window, for the tensor and for sum (Ix, Iy) I.
class ColumnSums {
 public:
  enum Kind { xx, xy, yy, xi, yi, kinds };

  explicit ColumnSums(int max_width)
      : stride_(max_width + 2 * PaddedImage<int>::kColumns),
        data_(static_cast<std::size_t>(stride_) * kinds) {}
  // Columns -kColumns to max_width + kColumns - 1 are there.
  std::int32_t *row(Kind kind) {
    return data_.data() + static_cast<std::ptrdiff_t>(stride_) * kind + PaddedImage<int>::kColumns;
  }
  // Columns [first, last) of all.
  void clear(int first, int last) {
    for (int kind = 0; kind < kinds; ++kind)
      std::fill(row(static_cast<Kind>(kind)) + first, row(static_cast<Kind>(kind)) + last, 0);
  }

 private:
  int stride_;
  std::vector<std::int32_t> data_;
};

// Rows [first, last) of work.fine, by FlowMethod::plain or cells.
void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums);

// The pixels of a part of a level whose iterations go on together, as arrays.
struct TrackedTile {
  static constexpr int kWidth = 64, kHeight = 16, kPixels = kWidth * kHeight;

  // Of pixel (x, y) of the tile at [kWidth y + x]; named as in Tracker. x_from, y_from: sum (Ix, Iy) I.
  alignas(64) float xx[kPixels], xy[kPixels], yy[kPixels];
  alignas(64) float d_x[kPixels], d_y[kPixels], last_x[kPixels], last_y[kPixels];
  alignas(64) std::int32_t x_from[kPixels], y_from[kPixels], cell_x[kPixels], cell_y[kPixels], steps[kPixels];
  alignas(64) std::int32_t running[kPixels], valid[kPixels];  // 0 or -1
};

// Columns [x0, x0 + kWidth) of rows [y0, y0 + kHeight) of work.fine, as far as they are there, by
// FlowMethod::boxes: for stride 1.
void track_tile(const LevelWork &work, int x0, int y0, ColumnSums &sums, TrackedTile &tile);

}  // namespace cudavision::opticalflow
