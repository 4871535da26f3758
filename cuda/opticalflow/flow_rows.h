// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend, for rows of one level. Pictures are padded (padded_image.h).
#pragma once

#include <cstdint>
#include <vector>

#include "opticalflow/flow_rules.h"
#include "opticalflow/padded_image.h"

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
  void clear() { std::fill(data_.begin(), data_.end(), 0); }

 private:
  int stride_;
  std::vector<std::int32_t> data_;
};

// Rows [first, last) of work.fine.
void track_rows(const LevelWork &work, int first, int last, ColumnSums &sums);

}  // namespace cudavision::opticalflow
