// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of drawing masks. Highway compiles the rows of packed pixels once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/draw/draw_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace cudavision::draw::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Writes the mask's value to the first three bytes of each pixel of `step` (3 or 4) bytes; the fourth byte
// does not change.
void replace_packed_row(const std::uint8_t *mask, int width, int step, std::uint8_t *pixels) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto value = hn::LoadU(d, mask + x);
    if (step == 3) {
      hn::StoreInterleaved3(value, value, value, d, pixels + 3 * x);
    } else {
      hn::Vec<decltype(d)> c0, c1, c2, fourth;
      hn::LoadInterleaved4(d, pixels + 4 * x, c0, c1, c2, fourth);
      hn::StoreInterleaved4(value, value, value, fourth, d, pixels + 4 * x);
    }
  }
  for (; x < width; ++x)
    for (int c = 0; c < 3; ++c) pixels[step * x + c] = mask[x];
}

}  // namespace cudavision::draw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>

#include "cuda/draw/draw_backends.h"
#include "cuda/draw/draw_rules.h"

namespace cudavision::draw {
namespace {

HWY_EXPORT(replace_packed_row);

constexpr int kRowsPerTask = 16;  // rows of pixels, or of chroma samples

void fill_samples(std::uint8_t *first, int step, int count, std::uint8_t value) {
  if (step == 1)
    std::memset(first, value, static_cast<std::size_t>(count));
  else
    for (int i = 0; i < count; ++i) first[i * step] = value;
}

void replace_row(const Frame &frame, Region region, int y, const std::uint8_t *mask) {
  const Component *c = frame.component;
  if (frame.model == ColorModel::rgb) {
    std::uint8_t *first = std::min({&c[0].at(region.x, y), &c[1].at(region.x, y), &c[2].at(region.x, y)});
    HWY_DYNAMIC_DISPATCH(replace_packed_row)(mask, region.width, c[0].step_bytes, first);
    return;
  }
  std::uint8_t *luma = &c[0].at(region.x, y);
  if (c[0].step_bytes == 1)
    std::copy_n(mask, region.width, luma);
  else
    for (int x = 0; x < region.width; ++x) luma[x * c[0].step_bytes] = mask[x];
}

// Calls visit(x) for each x with mask[x] != 0. Masks are sparse: eight zero pixels are skipped at once.
template <typename Visit>
void for_each_set(const std::uint8_t *mask, int width, const Visit &visit) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, mask + x, 8);
    if (eight == 0) continue;
    for (int i = x; i < x + 8; ++i)
      if (mask[i] != 0) visit(i);
  }
  for (; x < width; ++x)
    if (mask[x] != 0) visit(x);
}

void overlay_row(const Frame &frame, Region region, int y, const std::uint8_t *mask, Color color) {
  for_each_set(mask, region.width, [&](int x) {
    for (int i = 0; i < frame.component_count(); ++i) {
      if (is_chroma(frame, i)) continue;
      std::uint8_t &sample = frame.component[i].at(region.x + x, y);
      sample = blend(color.component[i], color.alpha, sample);
    }
  });
}

// Writes neutral chroma to row cy of the chroma samples.
void replace_chroma_row(const Frame &frame, Region region, int cy) {
  for (int i = 1; i < 3; ++i) {
    const Component &c = frame.component[i];
    const Region samples = chroma_region(c, region);
    fill_samples(c.data + cy * c.pitch_bytes + samples.x * c.step_bytes, c.step_bytes, samples.width, 128);
  }
}

// Blends each sample of chroma row cy that has a nonzero mask pixel, and does so once: at the first such pixel in
// row-major order.
void overlay_chroma_row(const Frame &frame, Region region, int cy, ImageView<const std::uint8_t> mask,
                        Color color) {
  const int shift_x = frame.component[1].shift_x, shift_y = frame.component[1].shift_y;
  const int first_row = std::max((cy << shift_y) - region.y, 0);
  const int last_row = std::min(((cy + 1) << shift_y) - region.y, region.height);
  for (int row = first_row; row < last_row; ++row) {
    int previous = -1;
    for_each_set(mask.row(row), region.width, [&](int x) {
      const int sample = (region.x + x) >> shift_x;
      if (sample == previous) return;
      previous = sample;
      const Region above{region.x, region.y, region.width, row};
      if (row > first_row && covers(frame.component[1], sample, cy, above, mask)) return;
      for (int i = 1; i < 3; ++i) {
        std::uint8_t &value =
            frame.component[i]
                .data[cy * frame.component[i].pitch_bytes + sample * frame.component[i].step_bytes];
        value = blend(color.component[i], color.alpha, value);
      }
    });
  }
}

}  // namespace

Status paint_cpu(const Execution &execution, const Frame &frame, Region region,
                 ImageView<const std::uint8_t> mask, const Style &style) {
  CUDAVISION_TRY(execution.workers->run_rows(region.height, kRowsPerTask, [&](int y, int) {
    if (style.replace)
      replace_row(frame, region, region.y + y, mask.row(y));
    else
      overlay_row(frame, region, region.y + y, mask.row(y), style.color);
  }));
  if (frame.model != ColorModel::yuv) return {};
  const Region samples = chroma_region(frame.component[1], region);
  return execution.workers->run_rows(samples.height, kRowsPerTask, [&](int y, int) {
    if (style.replace)
      replace_chroma_row(frame, region, samples.y + y);
    else
      overlay_chroma_row(frame, region, samples.y + y, mask, style.color);
  });
}

}  // namespace cudavision::draw
#endif
