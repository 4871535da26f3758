// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/hog/blocks_cpu.h"

#include <algorithm>

#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {
namespace {

constexpr int kColorRows = 4;  // the three rows of a gradient, rounded up to a power of two

std::size_t padded(int count) {
  return static_cast<std::size_t>(divide_up(count, kRowPadding) + 2) * kRowPadding;
}

// The number of floats in the histograms of one row of cells, in a row of `cols` blocks.
int row_length(const Rules &rules, int cols) { return cols * rules.cells_x * rules.bins; }

}  // namespace

BlockScratch::BlockScratch(const Rules &rules, Size most) {
  const std::size_t row = padded(most.width);
  bytes_.resize(row);
  columns_.resize(row);
  row_ = static_cast<std::ptrdiff_t>(row);
  colors_.resize(row * 3 * kColorRows);
  votes_.resize(row * 2);
  bins_.resize(row);
  ring_.resize(static_cast<std::size_t>(kRingPixels * histogram_pitch(rules.bins) + kHistogramStep));
  const int cols = (most.width - rules.block.width) / rules.stride.width + 1;
  const std::size_t numbers = padded(row_length(rules, std::max(cols, 1)));
  rows_.resize(numbers);
  sums_.resize(numbers * static_cast<std::size_t>(rules.cells_y) *
               static_cast<std::size_t>(divide_up(rules.block.height, rules.stride.height)));
  block_.resize(padded(rules.length));
}

float *BlockScratch::color(int y, int channel) {
  return colors_.data() + ((y & (kColorRows - 1)) * 3 + channel) * row_ + kRowPadding / 2;
}

float *BlockScratch::ring() {
  constexpr std::uintptr_t kLine = kHistogramStep * sizeof(float);
  return reinterpret_cast<float *>((reinterpret_cast<std::uintptr_t>(ring_.data()) + kLine - 1) / kLine *
                                   kLine);
}

BlockRows::BlockRows(const HogParams &params)
    : rules_(rules_of(params)),
      x_weights_(axis_weights_x(params)),
      y_weights_(axis_weights_y(params)),
      open_rows_(divide_up(params.block.height, params.stride.height)) {}

Interval BlockRows::columns_of(const Region &blocks) const {
  const int first = blocks.x * rules_.stride.width;
  return {first, first + (blocks.width - 1) * rules_.stride.width + rules_.block.width};
}

void BlockRows::compute(const ScaledPicture &picture, const Region &blocks, BlockScratch &scratch,
                        const BlockOutput &output) const {
  const int stride = rules_.stride.height, height = rules_.block.height, end = blocks.y + blocks.height;
  const Interval columns = columns_of(blocks);
  int colors_end = -1;  // the first row that has not been converted to colours
  int row = blocks.y;   // the first row of blocks that is not finished
  for (int y = row * stride; row < end; ++y) {
    if (y < row * stride) continue;  // no block contains y: the stride is longer than the block
    for (int c = std::max(y - 1, colors_end); c <= y + 1; ++c) convert_colors(picture, c, columns, scratch);
    colors_end = y + 2;
    sum_votes(picture, y, columns, blocks.width, scratch);
    for (int r = row; r < end && r * stride <= y; ++r) {
      const int inside = y - r * stride;
      for (int c = 0; c < rules_.cells_y; ++c) {
        float *sums = sums_of(r, c, blocks.width, scratch);
        const int length = row_length(rules_, blocks.width);
        if (inside == 0) std::fill_n(sums, length, 0.0f);
        const float weight = y_weights_[static_cast<std::size_t>(c * height + inside)];
        if (weight > 0) add_weighted(scratch.rows_.data(), weight, length, sums);
      }
    }
    if (y == row * stride + height - 1) finish_row(blocks, row++, scratch, output);
  }
}

void BlockRows::convert_colors(const ScaledPicture &picture, int y, Interval columns,
                               BlockScratch &scratch) const {
  const int width = picture.size.width, row = mirror_index(y, picture.size.height);
  const int first = std::max(columns.first - 1, 0), end = std::min(columns.end + 1, width);
  for (int c = 0; c < picture.planes.count; ++c) {
    const ImageView<const std::uint8_t> &plane = picture.planes.plane[c];
    const std::uint8_t *bytes = scratch.bytes_.data();
    if (picture.taps_y != nullptr) {
      const int above = first_of_tap(picture.taps_y[row]), below = std::min(above + 1, plane.height - 1);
      const std::int32_t *taps = picture.taps_x + first;
      const int source = first_of_tap(taps[0]),
                source_end = std::min(first_of_tap(picture.taps_x[end - 1]) + 2, plane.width);
      resize_row(plane.row(above), plane.row(below), weight_of_tap(picture.taps_y[row]), source, source_end,
                 taps, end - first, scratch.columns_.data(), scratch.bytes_.data());
    } else {
      bytes = plane.row(row) + first;
    }
    color_row(rules_, bytes, end - first, scratch.color(y, c) + (first - columns.first));
  }
}

void BlockRows::sum_votes(const ScaledPicture &picture, int y, Interval columns, int cols,
                          BlockScratch &scratch) const {
  ColorRows rows;
  rows.channels = picture.planes.count;
  for (int c = 0; c < rows.channels; ++c) {
    rows.above[c] = scratch.color(y - 1, c);
    rows.here[c] = scratch.color(y, c);
    rows.below[c] = scratch.color(y + 1, c);
  }
  const int width = columns.end - columns.first,
            tail = first_column_of_tail(rules_.variant, picture.size.width) - columns.first;
  const VoteRow votes{scratch.votes_.data(), scratch.votes_.data() + scratch.row_, scratch.bins_.data()};
  vote_row(rules_, rows, std::clamp(tail, 0, width), width, votes);
  sum_row(rules_, x_weights_.data(), votes, width, cols, scratch.ring(), scratch.rows_.data());
}

void BlockRows::finish_row(const Region &blocks, int row, BlockScratch &scratch,
                           const BlockOutput &output) const {
  float *block = scratch.block_.data();
  const int bins = rules_.bins, length = rules_.length;
  std::fill_n(block + length, kRowPadding, 0.0f);
  for (int col = 0; col < blocks.width; ++col) {
    float *to = block;
    for (int cx = 0; cx < rules_.cells_x; ++cx)
      for (int cy = 0; cy < rules_.cells_y; ++cy, to += bins)
        std::copy_n(sums_of(row, cy, blocks.width, scratch) + (col * rules_.cells_x + cx) * bins, bins, to);
    normalize_block(rules_, block);
    float *out = output.data + row * output.row_stride + (blocks.x + col) * output.col_stride;
    if (output.number_stride == 1)
      std::copy_n(block, length, out);
    else
      for (int k = 0; k < length; ++k) out[k * output.number_stride] = block[k];
  }
}

float *BlockRows::sums_of(int row, int cell_y, int cols, BlockScratch &scratch) const {
  return scratch.sums_.data() + static_cast<std::size_t>(row % open_rows_ * rules_.cells_y + cell_y) *
                                    padded(row_length(rules_, cols));
}

}  // namespace cudavision::hog
