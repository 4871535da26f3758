// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend.
#pragma once

#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

// These functions read and write whole vectors. Unless stated otherwise, the caller must provide kRowPadding
// elements after the end of each array, which may be read and overwritten.
constexpr int kRowPadding = 64;

// Copies every `step`-th byte of a row of pixels, one channel. Needs no padding.
void copy_channel(const std::uint8_t *samples, int step, int width, std::uint8_t *out);

// Converts a row to colours (color_value()) and mirrors it by one element: colors[-1] and colors[width] are
// written, too. bytes needs no padding.
void color_row(const Rules &rules, const std::uint8_t *bytes, int width, float *colors);

// Three neighbouring rows of colours, as color_row() writes them. Three channels are in the order B, G, R.
struct ColorRows {
  int channels = 1;
  const float *above[3], *here[3], *below[3];
};
// The votes of a row as a structure of arrays; see Vote.
struct VoteRow {
  float *first, *second;
  std::int32_t *bin;
};
// Computes the votes of `width` pixels of a row. There must be colours of one more pixel on each side. tail:
// first_column_of_tail() as an index of these pixels, at most `width`.
void vote_row(const Rules &rules, const ColorRows &colors, int tail, int width, const VoteRow &votes);

// The ring buffer of sum_row() holds the votes of this many pixels, each expanded to a histogram: they fit
// the L1 cache, and are more than twice the largest block.
constexpr int kRingPixels = 256;
constexpr int kHistogramStep = 16;  // each of these histograms is padded to a multiple of this many floats
inline int histogram_pitch(int bins) { return divide_up(bins, kHistogramStep) * kHistogramStep; }

// Sums the weighted votes of a pixel row into one histogram for each column of cells of each of `cols` columns of
// blocks. weights: axis_weights_x(). out: [col][cell][bins]. ring: scratch memory of kRingPixels *
// histogram_pitch(bins) floats.
void sum_row(const Rules &rules, const float *weights, const VoteRow &votes, int width, int cols, float *ring,
             float *out);

// sums[i] += weight * row[i] for i in [0, count).
void add_weighted(const float *row, float weight, int count, float *sums);

// Normalises the descriptor of a block in place. The caller must fill its padding with zeros.
void normalize_block(const Rules &rules, float *block);

// The products of one row of a window's blocks with their weights.
struct Products {
  const float *planes;           // number k of the blocks in the first column of all windows is plane k
  std::ptrdiff_t plane_stride;   // elements from one plane to the next
  int col_step;                  // elements from one column of a window's blocks to the next
  const float *weights;          // of the blocks in the first column; needs no padding
  std::ptrdiff_t weight_stride;  // elements from the weights of one column to those of the next
  int cols, length;
};
// For i in [0, count), adds to scores[i] the sum of planes[col * col_step + k * plane_stride + i] * weights[col *
// weight_stride + k], over k in [0, length) and, for each k, over all columns. The sum is made first, in this order.
void add_products(const Products &products, int count, float *scores);

// Computes a row of a scaled picture, as cv::INTER_LINEAR_EXACT does. above, below: the two source rows that the
// result is interpolated from. weight (0 to 256): the weight of `below`. taps: source column and weight of each of the
// `count` output columns (resize_taps() in hog_detector_plan.h); they lie in the source columns [begin, end). columns:
// scratch memory of end + 1 elements. above, below and columns need no padding.
void resize_row(const std::uint8_t *above, const std::uint8_t *below, int weight, int begin, int end,
                const std::int32_t *taps, int count, std::uint16_t *columns, std::uint8_t *out);

}  // namespace cudavision::hog
