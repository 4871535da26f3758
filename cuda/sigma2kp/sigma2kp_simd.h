// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend. Rows of what they compute end in kRowPadding elements that
// may be read and written, and mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudavision::sigma2kp {

constexpr int kRowPadding = 96;  // a window, a square, and a vector of the widest kind

// The sums of a window's height of pixels in every column, and of their squares.
struct ColumnSums {
  std::uint32_t *sum, *squares;
};

// Takes a row of pixels in, and another one out where leaving is not null.
void slide_columns(const std::uint8_t *entering, const std::uint8_t *leaving, int width, ColumnSums columns);

// S of `count` windows side by side: in 32 bits, or in 64 of wide windows (sigma2kp_rules.h).
void respond(ColumnSums columns, int window, int count, std::uint32_t *strengths);
void respond(ColumnSums columns, int window, int count, std::uint64_t *strengths);

// The greatest and the least of `length` rows of `count` elements, stride elements apart, and then of
// `length` such columns side by side: most[x] and least[x] are those of the square whose top left is column
// x of the first row. Needs count + length columns.
void find_extremes(const std::uint32_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint32_t *most, std::uint32_t *least);
void find_extremes(const std::uint64_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint64_t *most, std::uint64_t *least);

// marks[x] becomes 1 where strengths[x] is peaks[x].
void mark_equal(const std::uint32_t *strengths, const std::uint32_t *peaks, int count, std::uint8_t *marks);
void mark_equal(const std::uint64_t *strengths, const std::uint64_t *peaks, int count, std::uint8_t *marks);

}  // namespace cudavision::sigma2kp
