// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loop of the CPU backend: a window slides along a row, with all its bins in vectors.
#pragma once

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// The bins of a column are padded to a multiple of this number, the most lanes that slide_row() uses.
constexpr int kVectorBins = 16;

// The shape of one row of windows.
struct RowShape {
  int cols = 0;  // windows
  int window_width = 0, stride_x = 0;
  int bins = 0;
  int column_stride = 0;  // elements from one column to the next: a multiple of kVectorBins
};

// The types of a SumKind: of the sums over a column, of the sums over a window, and of the numbers that are written.
template <SumKind kind>
struct SumTypes {
  using Column = std::uint16_t;
  using Sum = std::conditional_t<kind == SumKind::counts16, std::uint16_t, std::uint32_t>;
  using Element = Sum;
};
template <>
struct SumTypes<SumKind::weights32> {
  using Column = std::uint32_t;
  using Sum = std::uint32_t;
  using Element = float;
};
template <>
struct SumTypes<SumKind::weights64> {
  using Column = std::uint32_t;
  using Sum = std::uint64_t;
  using Element = float;
};

// Computes the histograms of a row of windows. columns: [pixel columns][column_stride] elements of type Column. first:
// [column_stride] elements of type Sum, the sums of the first window. The bins of window c are written to out + c
// out_stride, as Elements; out_stride must be at least `bins`. Weighted sums are multiplied by `unit`. Elements between
// the bins of two windows may be overwritten, but none behind the bins of the last window.
void slide_row(SumKind kind, const void *columns, const void *first, const RowShape &shape, float unit,
               void *out, std::ptrdiff_t out_stride);

}  // namespace cudavision::localhist
