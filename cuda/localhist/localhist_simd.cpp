// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loop of the CPU backend. Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/localhist/localhist_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/localhist/localhist_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::localhist::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loads bins of a column, widened to the type of a window's sums.
template <class D, class Column>
HWY_INLINE hn::Vec<D> load_column(D d, const Column *column) {
  if constexpr (sizeof(Column) == sizeof(hn::TFromD<D>))
    return hn::LoadU(d, column);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Column, D>(), column));
}

// Computes one vector of bins, from `bin` on, of every window of the row; `used` of its lanes hold existing bins. Where
// possible a whole vector is stored: the excess lanes overwrite the first bins of the next window, which
// slide_vectors() writes later.
template <SumKind kind>
void slide_vector(const RowShape &shape, const void *columns, const void *first, int bin, float unit,
                  void *out, std::ptrdiff_t out_stride) {
  using Types = SumTypes<kind>;
  using Element = typename Types::Element;
  const hn::CappedTag<typename Types::Sum, kVectorBins> d;
  const hn::Rebind<Element, decltype(d)> elements;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int used = std::min(lanes, shape.bins - bin);
  const auto *leaving = static_cast<const typename Types::Column *>(columns) + bin;
  const auto *entering = leaving + static_cast<std::ptrdiff_t>(shape.window_width) * shape.column_stride;
  auto *at = static_cast<Element *>(out) + bin;
  const Element *end = static_cast<Element *>(out) + (shape.cols - 1) * out_stride + shape.bins;
  auto sums = hn::LoadU(d, static_cast<const typename Types::Sum *>(first) + bin);
  for (int col = 0;;) {
    hn::Vec<decltype(elements)> numbers;
    if constexpr (kind == SumKind::weights32)  // the sums are below 2^31
      numbers = hn::Mul(hn::ConvertTo(elements, hn::BitCast(hn::RebindToSigned<decltype(d)>(), sums)),
                        hn::Set(elements, unit));
    else
      numbers = sums;
    if (at + lanes <= end) {
      hn::StoreU(numbers, elements, at);
    } else {
      Element tail[kVectorBins];
      hn::StoreU(numbers, elements, tail);
      std::copy_n(tail, used, at);
    }
    if (++col == shape.cols) return;
    at += out_stride;
    for (int i = 0; i < shape.stride_x; ++i) {
      sums = hn::Sub(hn::Add(sums, load_column(d, entering)), load_column(d, leaving));
      entering += shape.column_stride;
      leaving += shape.column_stride;
    }
  }
}

template <SumKind kind>
void slide_vectors(const RowShape &shape, const void *columns, const void *first, float unit, void *out,
                   std::ptrdiff_t out_stride) {
  const int lanes = static_cast<int>(hn::Lanes(hn::CappedTag<typename SumTypes<kind>::Sum, kVectorBins>()));
  // The last bins come first, because their excess lanes overwrite the first bins of the next window.
  for (int bin = (shape.bins - 1) / lanes * lanes; bin >= 0; bin -= lanes)
    slide_vector<kind>(shape, columns, first, bin, unit, out, out_stride);
}

void slide_row(SumKind kind, const void *columns, const void *first, const RowShape &shape, float unit,
               void *out, std::ptrdiff_t out_stride) {
  constexpr decltype(&slide_vectors<SumKind::counts16>) kSlide[] = {
      slide_vectors<SumKind::counts16>, slide_vectors<SumKind::counts32>, slide_vectors<SumKind::weights32>};
  kSlide[static_cast<int>(kind)](shape, columns, first, unit, out, out_stride);
}

}  // namespace cudavision::localhist::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::localhist {
namespace {

// Sums of 64 bits are processed one bin at a time, because not all instruction sets can convert vectors of them to f32.
void slide_wide(const std::uint32_t *columns, const std::uint64_t *first, const RowShape &shape, float unit,
                float *out, std::ptrdiff_t out_stride) {
  for (int bin = 0; bin < shape.bins; ++bin) {
    std::uint64_t sum = first[bin];
    const std::uint32_t *leaving = columns + bin;
    const std::uint32_t *entering =
        leaving + static_cast<std::ptrdiff_t>(shape.window_width) * shape.column_stride;
    for (int col = 0;;) {
      out[col * out_stride + bin] = static_cast<float>(sum) * unit;
      if (++col == shape.cols) break;
      for (int i = 0; i < shape.stride_x; ++i) {
        sum += *entering;
        sum -= *leaving;
        entering += shape.column_stride;
        leaving += shape.column_stride;
      }
    }
  }
}

}  // namespace

HWY_EXPORT(slide_row);

void slide_row(SumKind kind, const void *columns, const void *first, const RowShape &shape, float unit,
               void *out, std::ptrdiff_t out_stride) {
  if (kind == SumKind::weights64)
    return slide_wide(static_cast<const std::uint32_t *>(columns), static_cast<const std::uint64_t *>(first),
                      shape, unit, static_cast<float *>(out), out_stride);
  HWY_DYNAMIC_DISPATCH(slide_row)(kind, columns, first, shape, unit, out, out_stride);
}

}  // namespace cudavision::localhist
#endif
