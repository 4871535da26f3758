// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of luma extraction, compiled once per instruction set by Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/luma/luma_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include "cuda/luma/luma_backends.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::luma::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes the luma of a row of packed RGB. weights: of bytes 0 to 2 of a pixel, in memory order.
//
// 16-bit lanes suffice. Write each weight as w = 256 u + v, and let A and B be the sums of the bytes weighted by u
// and by v. Then the luma, with all divisions rounded down, is
//   (256 A + B + 2^14) / 2^15 = (A + B / 256 + 64) / 128, with A at most 127 * 255 and B at most 256 * 255.
template <int kStep>
void packed_row(const std::uint8_t *row, const int *weights, int width, std::uint8_t *luma) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> half;
  const int lanes = static_cast<int>(hn::Lanes(d8)), part = static_cast<int>(hn::Lanes(d16));
  HWY_ALIGN std::uint8_t channel[3][HWY_MAX_BYTES];  // one vector for each of the bytes 0 to 2
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(d8)> c0, c1, c2, unused;
    if constexpr (kStep == 3)
      hn::LoadInterleaved3(d8, row + kStep * x, c0, c1, c2);
    else
      hn::LoadInterleaved4(d8, row + kStep * x, c0, c1, c2, unused);
    hn::Store(c0, d8, channel[0]);
    hn::Store(c1, d8, channel[1]);
    hn::Store(c2, d8, channel[2]);
    for (int i = 0; i < lanes; i += part) {
      auto a = hn::Set(d16, 64), b = hn::Zero(d16);
      for (int c = 0; c < 3; ++c) {
        const auto value = hn::PromoteTo(d16, hn::LoadU(half, channel[c] + i));
        a = hn::Add(a, hn::Mul(value, hn::Set(d16, static_cast<std::uint16_t>(weights[c] / 256))));
        b = hn::Add(b, hn::Mul(value, hn::Set(d16, static_cast<std::uint16_t>(weights[c] % 256))));
      }
      const auto sum = hn::ShiftRight<7>(hn::Add(a, hn::ShiftRight<8>(b)));
      hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<decltype(d16)>(), sum)), half,
                 luma + x + i);
    }
  }
  for (; x < width; ++x) {
    const std::uint8_t *p = row + kStep * x;
    luma[x] = static_cast<std::uint8_t>(
        (p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2] + (1 << 14)) >> 15);
  }
}

void rgb_row(const std::uint8_t *row, int step_bytes, const int *weights, int width, std::uint8_t *luma) {
  if (step_bytes == 3)
    packed_row<3>(row, weights, width, luma);
  else
    packed_row<4>(row, weights, width, luma);
}

}  // namespace cudavision::luma::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace cudavision::luma {
namespace {

HWY_EXPORT(rgb_row);

constexpr int kRowsPerTask = 16;

void y_row(const std::uint8_t *row, int step_bytes, int width, std::uint8_t *luma) {
  if (step_bytes == 1)
    std::copy_n(row, width, luma);
  else
    for (int x = 0; x < width; ++x) luma[x] = row[x * step_bytes];  // YUY2 and UYVY
}

}  // namespace

Status extract_luma_cpu(const Execution &execution, const Frame &frame, ImageView<std::uint8_t> luma,
                        LumaRange range) {
  const bool rgb = frame.model == ColorModel::rgb;
  return execution.workers->run_rows(frame.height, kRowsPerTask, [&](int y, int) {
    if (rgb) {
      const PackedRgb packed(frame);
      HWY_DYNAMIC_DISPATCH(rgb_row)
      (packed.first + y * packed.pitch_bytes, packed.step_bytes, packed.weights, frame.width, luma.row(y));
    } else {
      y_row(&frame.component[0].at(0, y), frame.component[0].step_bytes, frame.width, luma.row(y));
      if (range == LumaRange::full)
        std::transform(luma.row(y), luma.row(y) + frame.width, luma.row(y), full_range_luma);
    }
  });
}

}  // namespace cudavision::luma
#endif
