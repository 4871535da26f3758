// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend.
#pragma once

#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

// So many elements behind a row may be read and written, and one before it is there.
constexpr int kRowPadding = 64;

// The samples of one to three components, `step` bytes from pixel to pixel, as rows of their own.
void split_row(const std::uint8_t *const samples[3], int channels, int step, int width,
               std::uint8_t *const out[3]);

// Element i of a row of colours, which is continued by its mirror image at -1 and width.
void color_row(const Rules &rules, const std::uint8_t *bytes, int width, float *colors);

// Rows of colours of one to three channels, in the order in which ties are decided in all but the row's tail.
struct ColorRows {
  int channels = 1;
  const float *above[3], *here[3], *below[3];
};
struct VoteRow {
  float *first, *second;
  std::int32_t *bin;
};
void vote_row(const Rules &rules, const ColorRows &colors, int width, const VoteRow &votes);

// Room for the votes of so many pixels, each as a histogram of its own: as many as fit the first cache, and
// more than twice a block.
constexpr int kRingPixels = 256;
constexpr int kHistogramStep = 16;  // histograms are padded to multiples of it
inline int histogram_pitch(int bins) { return divide_up(bins, kHistogramStep) * kHistogramStep; }

// The votes of a row, weighted, as histograms of each column of cells of each of `cols` columns of blocks:
// out, padded, [col][cell][bins]. ring: scratch, kRingPixels histograms.
void sum_row(const Rules &rules, const AxisWeights &weights, const VoteRow &votes, int width, int cols,
             float *ring, float *out);

// sums += weight * row, count numbers; both padded.
void add_weighted(const float *row, float weight, int count, float *sums);

// A block's numbers; the kRowPadding behind them are zeros.
void normalize_block(const Rules &rules, float *block);

// scores[i] for i in [0, count) += the sum over k in [0, length) of planes[k * plane_stride + i] *
// weights[k]. Reads up to kRowPadding behind.
void add_products(const float *planes, std::ptrdiff_t plane_stride, const float *weights, int length,
                  int count, float *scores);

// A row of a smaller picture, by cv::INTER_LINEAR_EXACT: above and below are the rows it lies between, share
// (0 to 256) belongs to below. taps[i] is 512 times the left one of the two columns that column i lies
// between, plus the share of the right one. columns: scratch, of width + 1. taps may be read and out written
// kRowPadding behind.
void resize_row(const std::uint8_t *above, const std::uint8_t *below, int share, int width,
                const std::int32_t *taps, int count, std::uint16_t *columns, std::uint8_t *out);

}  // namespace cudavision::hog
