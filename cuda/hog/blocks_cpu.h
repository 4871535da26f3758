// SPDX-License-Identifier: LGPL-2.1-or-later
// The blocks of a picture on the CPU: rows of pixels vote along the columns of blocks, and their sums are
// added to the rows of blocks that they lie in, since the weights of both axes are separable.
#pragma once

#include <vector>

#include "cuda/hog/hog_simd.h"

namespace cudavision::hog {

// Bytes of one to three channels; three in the order B, G, R.
struct BytePlanes {
  int count = 1;
  ImageView<const std::uint8_t> plane[3];

  Size size() const { return plane[0].size(); }
};

// Where the numbers of a block go: number k of block (row, col) to data[row * row_stride + col * col_stride +
// k * number_stride].
struct BlockOutput {
  float *data = nullptr;
  std::ptrdiff_t row_stride = 0, col_stride = 0, number_stride = 1;
};

// What one thread works with, for pictures up to a size.
class BlockScratch {
 public:
  BlockScratch(const Rules &rules, Size most);

 private:
  friend class BlockRows;
  float *color(int y, int channel);
  float *ring();

  std::ptrdiff_t row_ = 0;
  std::vector<float> colors_, votes_, ring_, rows_, sums_, block_;
  std::vector<std::int32_t> bins_;
};

class BlockRows {
 public:
  explicit BlockRows(const HogParams &params);

  const Rules &rules() const { return rules_; }
  // Writes rows [first, end) of the blocks of picture, which has `shape` blocks.
  void compute(const BytePlanes &picture, const HogShape &shape, int first, int end, BlockScratch &scratch,
               const BlockOutput &output) const;

 private:
  void take_colors(const BytePlanes &picture, int y, BlockScratch &scratch) const;
  void sum_votes(const BytePlanes &picture, int y, int cols, BlockScratch &scratch) const;
  void finish_row(const HogShape &shape, int row, BlockScratch &scratch, const BlockOutput &output) const;
  float *sums_of(int row, int cell_y, int cols, BlockScratch &scratch) const;

  Rules rules_;
  AxisWeights x_, y_;
  int open_rows_;  // that a row of pixels can lie in
};

}  // namespace cudavision::hog
