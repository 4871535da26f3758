// SPDX-License-Identifier: LGPL-2.1-or-later
// The computation of HOG blocks on the CPU. Because the weights are separable, the votes of a pixel row are first
// summed into one histogram for each column of cells of each block; these histograms are then added, with the weight of
// the row, to every row of blocks that the pixel row lies in.
#pragma once

#include "cuda/common/memory_budget.h"
#include "cuda/hog/hog_detector_rules.h"
#include "cuda/hog/hog_simd.h"

namespace cudavision::hog {

// A picture with one plane per channel; three channels are in the order B, G, R.
struct BytePlanes {
  int count = 1;
  ImageView<const std::uint8_t> plane[3];

  Size size() const { return plane[0].size(); }
};

// The picture at one scale. Without taps (interpolation coefficients, resize_taps() in hog_detector_plan.h) it is the
// planes; with taps, its rows are scaled from the planes when they are needed.
struct ScaledPicture {
  BytePlanes planes;
  Size size;
  const std::int32_t *taps_x = nullptr, *taps_y = nullptr;
};

// The layout of the result: number k of block (row, col) is written to
// data[row * row_stride + col * col_stride + k * number_stride].
struct BlockOutput {
  float *data = nullptr;
  std::ptrdiff_t row_stride = 0, col_stride = 0, number_stride = 1;
};

// Scratch memory of one thread, for pictures of at most the size `most`.
class BlockScratch {
 public:
  BlockScratch(const Rules &rules, Size most);

 private:
  friend class BlockRows;
  // Returns row y of the colours, from the first column of the blocks on. Padding precedes and follows it.
  float *color(int y, int channel);
  // The ring buffer of sum_row(), aligned so that no histogram lies across two cache lines.
  float *ring();

  Array<std::uint8_t> bytes_;     // a row of a scaled picture
  Array<std::uint16_t> columns_;  // scratch memory of resize_row()
  std::ptrdiff_t row_ = 0;        // elements of a padded row
  Array<float> colors_;           // [kColorRows][3][row_]
  Array<float> votes_;            // [2][row_]: VoteRow::first and second
  Array<std::int32_t> bins_;
  Array<float> ring_;
  Array<float> rows_;   // the histograms of one pixel row
  Array<float> sums_;   // the histograms of the rows of blocks that are not finished
  Array<float> block_;  // one descriptor
};

// Computes rows of blocks.
class BlockRows {
 public:
  explicit BlockRows(const HogParams &params);

  const Rules &rules() const { return rules_; }
  // Computes a rectangle of blocks. blocks: its first column and row, and its numbers of columns and rows.
  void compute(const ScaledPicture &picture, const Region &blocks, BlockScratch &scratch,
               const BlockOutput &output) const;

 private:
  // The columns of pixels [first, end) of a rectangle of blocks.
  Interval columns_of(const Region &blocks) const;
  // Converts row y to colours, in these columns and one more on each side. The picture is mirrored at its borders.
  void convert_colors(const ScaledPicture &picture, int y, Interval columns, BlockScratch &scratch) const;
  // Sums the votes of these columns of row y into scratch.rows_.
  void sum_votes(const ScaledPicture &picture, int y, Interval columns, int cols,
                 BlockScratch &scratch) const;
  // Normalises a row of blocks and writes it.
  void finish_row(const Region &blocks, int row, BlockScratch &scratch, const BlockOutput &output) const;
  float *sums_of(int row, int cell_y, int cols, BlockScratch &scratch) const;

  Rules rules_;
  std::vector<float> x_weights_, y_weights_;  // axis_weights_x() and axis_weights_y()
  int open_rows_;                             // the largest number of rows of blocks that a pixel row lies in
};

}  // namespace cudavision::hog
