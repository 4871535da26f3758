// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised loops of the CPU backend, compiled once per instruction set by Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/canny/canny_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <new>

#include "cuda/canny/canny_backends.h"
#include "cuda/canny/canny_rules.h"
#include "cuda/canny/canny_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::canny::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// smooth_coefficient or derive_coefficient (canny_rules.h).
using Coefficient = int (*)(int);

// The sum of coefficient(k) * load(k). Bounds and coefficients are constants, so that the compiler unrolls the loop.
template <int kAperture, Coefficient coefficient, class D, class Load>
HWY_INLINE hn::Vec<D> convolve(D d, const Load &load) {
  using T = hn::TFromD<D>;
  auto sum = hn::Zero(d);
  for (int k = 0; k < kAperture; ++k) {
    const int c = coefficient(k);
    if (c == 0) continue;
    const auto v = load(k);
    if (c == 1)
      sum = hn::Add(sum, v);
    else if (c == -1)
      sum = hn::Sub(sum, v);
    else if (c == 2)
      sum = hn::Add(sum, hn::Add(v, v));
    else
      sum = hn::Add(sum, hn::Mul(v, hn::Set(d, static_cast<T>(c))));
  }
  return sum;
}

// Filters the columns around row y: writes their smoothed values and their derivatives to `scratch`, then replicates
// the first and the last element of each result into the margins.
template <int kAperture>
void vertical_pass(ImageView<const std::uint8_t> luma, int y, RowScratch &scratch) {
  constexpr int kRadius = kAperture / 2;
  const std::uint8_t *source[kAperture];
  for (int k = 0; k < kAperture; ++k) source[k] = luma.row(clamp_index(y + k - kRadius, luma.height));
  std::int16_t *smooth = scratch.smooth(), *derive = scratch.derive();

  const hn::ScalableTag<std::int16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d)), width = luma.width;
  const auto columns = [&](int x) HWY_ATTR {
    const auto load = [&](int k) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(bytes, source[k] + x)); };
    hn::StoreU(convolve<kAperture, smooth_coefficient<kAperture>>(d, load), d, smooth + x);
    hn::StoreU(convolve<kAperture, derive_coefficient<kAperture>>(d, load), d, derive + x);
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) columns(x);
  if (x < width && width >= lanes) {
    columns(width - lanes);  // the last vector overlaps the one before it, to stay inside the row
  } else {
    for (; x < width; ++x) {
      int s = 0, t = 0;
      for (int k = 0; k < kAperture; ++k) {
        s += smooth_coefficient<kAperture>(k) * source[k][x];
        t += derive_coefficient<kAperture>(k) * source[k][x];
      }
      smooth[x] = static_cast<std::int16_t>(s);
      derive[x] = static_cast<std::int16_t>(t);
    }
  }
  for (std::int16_t *row : {smooth, derive})
    for (int i = 1; i <= kRadius; ++i) {
      row[-i] = row[0];
      row[width - 1 + i] = row[width - 1];
    }
}

// Computes dx and dy from the results of vertical_pass(), for apertures 3 and 5: sums, at most 12240, fit 16 bits.
template <int kAperture>
void horizontal_pass(RowScratch &scratch, std::int16_t *dx, std::int16_t *dy) {
  constexpr int kRadius = kAperture / 2;
  const std::int16_t *smooth = scratch.smooth() - kRadius, *derive = scratch.derive() - kRadius;
  const hn::ScalableTag<std::int16_t> d;
  for (int x = 0; x < scratch.padded_width(); x += static_cast<int>(hn::Lanes(d))) {
    hn::Store(convolve<kAperture, derive_coefficient<kAperture>>(
                  d, [&](int k) HWY_ATTR { return hn::LoadU(d, smooth + x + k); }),
              d, dx + x);
    hn::Store(convolve<kAperture, smooth_coefficient<kAperture>>(
                  d, [&](int k) HWY_ATTR { return hn::LoadU(d, derive + x + k); }),
              d, dy + x);
  }
}

// The version of horizontal_pass() for aperture 7: sums need 32 bits until they are divided by 16.
template <>
void horizontal_pass<7>(RowScratch &scratch, std::int16_t *dx, std::int16_t *dy) {
  const std::int16_t *smooth = scratch.smooth() - 3, *derive = scratch.derive() - 3;
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::int16_t, decltype(d)> shorts;
  const auto divide = [&](hn::Vec<decltype(d)> v) HWY_ATTR {  // divide_by_16
    const auto odd = hn::And(hn::ShiftRight<4>(v), hn::Set(d, 1));
    return hn::DemoteTo(shorts, hn::ShiftRight<4>(hn::Add(hn::Add(v, hn::Set(d, 7)), odd)));
  };
  for (int x = 0; x < scratch.padded_width(); x += static_cast<int>(hn::Lanes(d))) {
    const auto from = [&](const std::int16_t *row) HWY_ATTR {
      return [&d, &shorts, at = row + x](int k)
                 HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(shorts, at + k)); };
    };
    hn::Store(divide(convolve<7, derive_coefficient<7>>(d, from(smooth))), shorts, dx + x);
    hn::Store(divide(convolve<7, smooth_coefficient<7>>(d, from(derive))), shorts, dy + x);
  }
}

// Loads int16 gradients as int16 or int32, by the lane type of D.
template <class D>
HWY_INLINE hn::Vec<D> load_gradient(D d, const std::int16_t *p) {
  if constexpr (sizeof(hn::TFromD<D>) == 2)
    return hn::Load(d, p);
  else
    return hn::PromoteTo(d, hn::Load(hn::Rebind<std::int16_t, D>(), p));
}

template <bool kL2>
using MagnitudeOf = std::conditional_t<kL2, std::int32_t, std::int16_t>;

template <int kAperture, bool kL2>
void gradient_row(ImageView<const std::uint8_t> luma, int y, RowScratch &scratch) {
  using T = MagnitudeOf<kL2>;
  const hn::ScalableTag<T> d;
  T *magnitude = scratch.magnitude<T>(y);
  const int padded = scratch.padded_width();
  if (y < 0 || y >= luma.height) {
    std::fill(magnitude - 1, magnitude + padded + 1, T{0});
    return;
  }
  std::int16_t *dx = scratch.dx(y), *dy = scratch.dy(y);
  vertical_pass<kAperture>(luma, y, scratch);
  horizontal_pass<kAperture>(scratch, dx, dy);
  for (int x = 0; x < padded; x += static_cast<int>(hn::Lanes(d))) {
    const auto gx = load_gradient(d, dx + x), gy = load_gradient(d, dy + x);
    if constexpr (kL2)
      hn::Store(hn::Add(hn::Mul(gx, gx), hn::Mul(gy, gy)), d, magnitude + x);
    else
      hn::Store(hn::Add(hn::Abs(gx), hn::Abs(gy)), d, magnitude + x);
  }
  magnitude[-1] = 0;
  std::fill(magnitude + luma.width, magnitude + padded + 1, T{0});
}

// The pixels of one vector that are local maxima above the low threshold (mask) and above the high one (strong).
template <class D>
struct MaximaMasks {
  hn::Mask<D> mask, strong;
};

template <bool kL2, class D, class T>
HWY_INLINE MaximaMasks<D> suppress(D d, const T *above, const T *row, const T *below, const std::int16_t *dx,
                                   const std::int16_t *dy, hn::Vec<D> low, hn::Vec<D> high) {
  const auto m = hn::Load(d, row);
  const auto candidate = hn::Gt(m, low);
  if (hn::AllFalse(d, candidate)) return {candidate, candidate};
  const auto gx = load_gradient(d, dx), gy = load_gradient(d, dy);
  const auto ax = hn::Abs(gx), ay = hn::Abs(gy);
  hn::Vec<D> t;  // floor(|dx| * 13573 / 2^15), as in sector()
  if constexpr (kL2)
    t = hn::ShiftRight<15>(hn::Mul(ax, hn::Set(d, 13573)));
  else
    t = hn::MulHigh(ax, hn::Set(d, 2 * 13573));
  const auto steep = hn::Gt(ay, t);  // not horizontal
  const auto vertical = hn::Gt(ay, hn::Add(t, hn::Add(ax, ax)));
  const auto rising = hn::Lt(hn::Xor(gx, gy), hn::Zero(d));
  const auto one = hn::Set(d, 1);
  // The magnitude m must exceed `before`, that of the first neighbour in the gradient's direction. It must also exceed
  // `after`, that of the second one, or, except on diagonals, equal it: m >= after is computed as m > after - 1.
  auto before = hn::IfThenElse(rising, hn::LoadU(d, above + 1), hn::LoadU(d, above - 1));
  auto after = hn::IfThenElse(rising, hn::LoadU(d, below - 1), hn::LoadU(d, below + 1));
  before = hn::IfThenElse(vertical, hn::Load(d, above), before);
  after = hn::IfThenElse(vertical, hn::Sub(hn::Load(d, below), one), after);
  before = hn::IfThenElse(steep, before, hn::LoadU(d, row - 1));
  after = hn::IfThenElse(steep, after, hn::Sub(hn::LoadU(d, row + 1), one));
  const auto mask = hn::And(candidate, hn::And(hn::Gt(m, before), hn::Gt(m, after)));
  return {mask, hn::And(mask, hn::Gt(m, high))};
}

template <bool kL2>
void suppress_row(int y, Thresholds thresholds, RowScratch &scratch, std::uint64_t *mask_words,
                  std::uint64_t *strong_words) {
  using T = MagnitudeOf<kL2>;
  const hn::ScalableTag<T> d;
  const T *above = scratch.magnitude<T>(y - 1), *row = scratch.magnitude<T>(y),
          *below = scratch.magnitude<T>(y + 1);
  const std::int16_t *dx = scratch.dx(y), *dy = scratch.dy(y);
  const int limit = static_cast<int>(hwy::LimitsMax<T>());
  const auto low = hn::Set(d, static_cast<T>(std::min(thresholds.low, limit)));
  const auto high = hn::Set(d, static_cast<T>(std::min(thresholds.high, limit)));
  auto *mask_bytes = reinterpret_cast<std::uint8_t *>(mask_words);
  auto *strong_bytes = reinterpret_cast<std::uint8_t *>(strong_words);
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto maxima = [&](int x) HWY_ATTR {
    return suppress<kL2>(d, above + x, row + x, below + x, dx + x, dy + x, low, high);
  };
  const auto pixels = scratch.padded_width();
  if (lanes >= 8) {
    for (int x = 0; x < pixels; x += lanes) {
      const auto found = maxima(x);
      hn::StoreMaskBits(d, found.mask, mask_bytes + x / 8);
      hn::StoreMaskBits(d, found.strong, strong_bytes + x / 8);
    }
    return;
  }
  for (int x = 0; x < pixels; x += 8) {  // fewer than eight lanes: several vectors make a byte
    std::uint8_t mask = 0, strong = 0;
    for (int part = 0; part < 8; part += lanes) {
      const auto found = maxima(x + part);
      std::uint8_t bits = 0;
      hn::StoreMaskBits(d, found.mask, &bits);
      mask = static_cast<std::uint8_t>(mask | bits << part);
      hn::StoreMaskBits(d, found.strong, &bits);
      strong = static_cast<std::uint8_t>(strong | bits << part);
    }
    mask_bytes[x / 8] = mask;
    strong_bytes[x / 8] = strong;
  }
}

template <int kAperture, bool kL2>
void detect(ImageView<const std::uint8_t> luma, int first, int last, Thresholds thresholds,
            RowScratch &scratch, Bitmap &mask, Bitmap &strong) {
  gradient_row<kAperture, kL2>(luma, first - 1, scratch);
  gradient_row<kAperture, kL2>(luma, first, scratch);
  for (int y = first; y < last; ++y) {
    // dx and dy of row y + 1 replace those of row y - 1: suppression reads only those of row y.
    gradient_row<kAperture, kL2>(luma, y + 1, scratch);
    suppress_row<kL2>(y, thresholds, scratch, mask.row(y), strong.row(y));
  }
}

void detect_rows(ImageView<const std::uint8_t> luma, int first, int last, const CannyParams &params,
                 RowScratch &scratch, Bitmap &mask, Bitmap &strong) {
  constexpr decltype(&detect<3, false>) kDetect[3][2] = {{detect<3, false>, detect<3, true>},
                                                         {detect<5, false>, detect<5, true>},
                                                         {detect<7, false>, detect<7, true>}};
  kDetect[params.aperture / 2 - 1][params.l2_gradient](luma, first, last, integer_thresholds(params), scratch,
                                                       mask, strong);
}

void expand_bits(const std::uint64_t *bits, int width, std::uint8_t *edges) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(bits);
  const auto expand = [&](int x) HWY_ATTR { return hn::VecFromMask(d, hn::LoadMaskBits(d, bytes + x / 8)); };
  int x = 0;
  for (; lanes >= 8 && x + lanes <= width; x += lanes)
    hn::StoreU(expand(x), d, edges + x);  // x is a multiple of 8: the bits start at a byte
  for (; x < width; ++x) edges[x] = (bytes[x / 8] >> (x % 8) & 1) != 0 ? 255 : 0;
}

}  // namespace cudavision::canny::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::canny {

RowScratch::RowScratch(int width)
    : padded_width_(divide_up(width, 64) * 64),
      stride_(padded_width_ + 2 * kMargin),
      rows_(hwy::AllocateAligned<std::int16_t>(static_cast<std::size_t>(stride_) * 6)),
      magnitudes_(hwy::AllocateAligned<std::int32_t>(static_cast<std::size_t>(stride_) * 3)) {
  if (!rows_ || !magnitudes_) throw std::bad_alloc();
  // Vectors extend beyond the last pixel of a row. Results from there are discarded, but the elements that are read
  // must be initialised.
  std::fill_n(rows_.get(), stride_ * 6, std::int16_t{0});
}

HWY_EXPORT(detect_rows);
HWY_EXPORT(expand_bits);

void detect_rows(ImageView<const std::uint8_t> luma, int first, int last, const CannyParams &params,
                 RowScratch &scratch, Bitmap &mask, Bitmap &strong) {
  HWY_DYNAMIC_DISPATCH(detect_rows)(luma, first, last, params, scratch, mask, strong);
}

void expand_bits(const std::uint64_t *bits, int width, std::uint8_t *edges) {
  HWY_DYNAMIC_DISPATCH(expand_bits)(bits, width, edges);
}

}  // namespace cudavision::canny
#endif
