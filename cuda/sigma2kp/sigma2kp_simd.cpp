// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend, which Highway compiles once per instruction set. Some loops
// are plain C++ because the compiler vectorises them well.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/sigma2kp/sigma2kp_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/sigma2kp/sigma2kp_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::sigma2kp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void slide_columns(const std::uint8_t *__restrict__ entering, const std::uint8_t *__restrict__ leaving,
                   int width, ColumnSums columns) {
  std::uint32_t *__restrict__ sum = columns.sum, *__restrict__ squares = columns.squares;
  if (leaving == nullptr) {
    for (int x = 0; x < width; ++x) {
      const std::uint32_t in = entering[x];
      sum[x] += in;
      squares[x] += in * in;
    }
    return;
  }
  for (int x = 0; x < width; ++x) {
    // in^2 - out^2 as a product, which fits a signed int.
    const int in = entering[x], out = leaving[x];
    sum[x] += static_cast<std::uint32_t>(in - out);
    squares[x] += static_cast<std::uint32_t>((in - out) * (in + out));
  }
}

template <typename T>
void respond_in(ColumnSums columns, int window, int count, T *strengths) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto area = hn::Set(d, static_cast<std::uint32_t>(window * window));
  for (int x = 0; x < count; x += lanes) {
    auto sum = hn::LoadU(d, columns.sum + x), squares = hn::LoadU(d, columns.squares + x);
    for (int i = 1; i < window; ++i) {
      sum = hn::Add(sum, hn::LoadU(d, columns.sum + x + i));
      squares = hn::Add(squares, hn::LoadU(d, columns.squares + x + i));
    }
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::Sub(hn::Mul(area, squares), hn::Mul(sum, sum)), d, strengths + x);
    } else {
      std::uint32_t s[16], q[16];
      hn::StoreU(sum, d, s);
      hn::StoreU(squares, d, q);
      for (int i = 0; i < lanes; ++i)
        strengths[x + i] = static_cast<T>(window * window) * q[i] - static_cast<T>(s[i]) * s[i];
    }
  }
}

template <typename T>
void extremes_in(const T *rows, std::ptrdiff_t stride, int length, int count, T *__restrict__ most,
                 T *__restrict__ least) {
  const hn::CappedTag<T, 16> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), columns = count + length;
  for (int x = 0; x < columns; x += lanes) {
    auto high = hn::LoadU(d, rows + x), low = high;
    for (int row = 1; row < length; ++row) {
      const auto v = hn::LoadU(d, rows + row * stride + x);
      high = hn::Max(high, v);
      low = hn::Min(low, v);
    }
    hn::StoreU(high, d, most + x);
    hn::StoreU(low, d, least + x);
  }
  // Extremes of 1, 2, 4, ... columns; the last step combines two overlapping ranges. Each element is read
  // before it is overwritten.
  for (int have = 1; have < length;) {
    const int step = std::min(have, length - have);
    for (int x = 0; x < columns; x += lanes) {
      hn::StoreU(hn::Max(hn::LoadU(d, most + x), hn::LoadU(d, most + x + step)), d, most + x);
      hn::StoreU(hn::Min(hn::LoadU(d, least + x), hn::LoadU(d, least + x + step)), d, least + x);
    }
    have += step;
  }
}

template <typename T>
void mark_in(const T *__restrict__ strengths, const T *__restrict__ peaks, int count,
             std::uint8_t *__restrict__ marks) {
  for (int x = 0; x < count; ++x) marks[x] |= static_cast<std::uint8_t>(strengths[x] == peaks[x]);
}

void respond32(ColumnSums columns, int window, int count, std::uint32_t *strengths) {
  respond_in(columns, window, count, strengths);
}
void respond64(ColumnSums columns, int window, int count, std::uint64_t *strengths) {
  respond_in(columns, window, count, strengths);
}
void find_extremes32(const std::uint32_t *rows, std::ptrdiff_t stride, int length, int count,
                     std::uint32_t *most, std::uint32_t *least) {
  extremes_in(rows, stride, length, count, most, least);
}
void find_extremes64(const std::uint64_t *rows, std::ptrdiff_t stride, int length, int count,
                     std::uint64_t *most, std::uint64_t *least) {
  extremes_in(rows, stride, length, count, most, least);
}
void mark_equal32(const std::uint32_t *strengths, const std::uint32_t *peaks, int count,
                  std::uint8_t *marks) {
  mark_in(strengths, peaks, count, marks);
}
void mark_equal64(const std::uint64_t *strengths, const std::uint64_t *peaks, int count,
                  std::uint8_t *marks) {
  mark_in(strengths, peaks, count, marks);
}

}  // namespace cudavision::sigma2kp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::sigma2kp {

HWY_EXPORT(slide_columns);
HWY_EXPORT(respond32);
HWY_EXPORT(respond64);
HWY_EXPORT(find_extremes32);
HWY_EXPORT(find_extremes64);
HWY_EXPORT(mark_equal32);
HWY_EXPORT(mark_equal64);

void slide_columns(const std::uint8_t *entering, const std::uint8_t *leaving, int width, ColumnSums columns) {
  HWY_DYNAMIC_DISPATCH(slide_columns)(entering, leaving, width, columns);
}

void respond(ColumnSums columns, int window, int count, std::uint32_t *strengths) {
  HWY_DYNAMIC_DISPATCH(respond32)(columns, window, count, strengths);
}
void respond(ColumnSums columns, int window, int count, std::uint64_t *strengths) {
  HWY_DYNAMIC_DISPATCH(respond64)(columns, window, count, strengths);
}

void find_extremes(const std::uint32_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint32_t *most, std::uint32_t *least) {
  HWY_DYNAMIC_DISPATCH(find_extremes32)(rows, stride, length, count, most, least);
}
void find_extremes(const std::uint64_t *rows, std::ptrdiff_t stride, int length, int count,
                   std::uint64_t *most, std::uint64_t *least) {
  HWY_DYNAMIC_DISPATCH(find_extremes64)(rows, stride, length, count, most, least);
}

void mark_equal(const std::uint32_t *strengths, const std::uint32_t *peaks, int count, std::uint8_t *marks) {
  HWY_DYNAMIC_DISPATCH(mark_equal32)(strengths, peaks, count, marks);
}
void mark_equal(const std::uint64_t *strengths, const std::uint64_t *peaks, int count, std::uint8_t *marks) {
  HWY_DYNAMIC_DISPATCH(mark_equal64)(strengths, peaks, count, marks);
}

}  // namespace cudavision::sigma2kp
#endif
