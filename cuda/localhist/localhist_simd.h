// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loop of the CPU backend: a window slides along a row, all its bins at once.
#pragma once

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// Bins of a column, rounded up to whole vectors of at most this many.
constexpr int kVectorBins = 16;

struct RowShape {
  int cols = 0;  // windows
  int window_width = 0, stride_x = 0;
  int bins = 0;
  int column_stride = 0;  // elements from one column to the next: a multiple of kVectorBins
};

// The sums of each kind: what a window's are held in, and what is written of them.
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

// columns: [cols' pixel columns][column_stride] Columns; first: [column_stride] Sums of the first window.
// Window c's bins go to out + c out_stride, Elements, out_stride >= bins; weighted ones are multiplied by
// unit. Writes nothing from out + (cols - 1) out_stride + bins on, but what lies between two windows' bins.
void slide_row(SumKind kind, const void *columns, const void *first, const RowShape &shape, float unit,
               void *out, std::ptrdiff_t out_stride);

}  // namespace cudavision::localhist
