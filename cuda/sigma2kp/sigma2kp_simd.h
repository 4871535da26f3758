// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend. All rows that these functions read or write, except those of the
// image, must end with kRowPadding elements of padding, which may be read and written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudavision::sigma2kp {

// Enough for a window, a cell and the widest vector.
constexpr int kRowPadding = 96;

// For each column: the sum of `window` vertically adjacent pixels, and the sum of their squares.
struct ColumnSums {
  std::uint32_t *sum, *squares;
};

// Adds a row of pixels to the sums, and subtracts another row unless leaving is null.
void slide_columns(const std::uint8_t *entering, const std::uint8_t *leaving, int width, ColumnSums columns);

// Computes the strengths of `count` windows side by side. Windows larger than kMaxWindow32 need 64 bits.
void respond(ColumnSums columns, int window, int count, std::uint32_t *strengths);
void respond(ColumnSums columns, int window, int count, std::uint64_t *strengths);

// Sets most[x] and least[x] to the maximum and the minimum of the square of length x length elements whose
// top left element is column x of the first row, for x in [0, count). Rows are `stride` elements apart and
// must have at least count + length columns, padding included.
void find_extremes(const std::uint32_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint32_t *most, std::uint32_t *least);
void find_extremes(const std::uint64_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint64_t *most, std::uint64_t *least);

// Sets marks[x] to 1 if strengths[x] == peaks[x], and leaves it unchanged otherwise.
void mark_equal(const std::uint32_t *strengths, const std::uint32_t *peaks, int count, std::uint8_t *marks);
void mark_equal(const std::uint64_t *strengths, const std::uint64_t *peaks, int count, std::uint8_t *marks);

}  // namespace cudavision::sigma2kp
