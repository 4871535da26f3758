// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of drawing masks: one thread per pixel; the thread of a chroma sample's first pixel in the region
// also writes the sample. If a mask replaces packed pixels of three bytes, a thread writes four pixels as three words.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/draw/draw_backends.h"
#include "cuda/draw/draw_rules.h"

namespace cudavision::draw {
namespace {

constexpr int kPixels = 4;  // pixels per thread of replace_rgb_kernel

__device__ void paint_sample(std::uint8_t &sample, std::uint8_t color, const Style &style) {
  sample = style.replace ? color : blend(color, style.color.alpha, sample);
}

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    paint_kernel(Frame frame, Region region, ImageView<const std::uint8_t> mask, Style style) {
  const int mx = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int my = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (mx >= region.width || my >= region.height) return;
  const int x = region.x + mx, y = region.y + my;
  const std::uint8_t value = mask.row(my)[mx];
  for (int i = 0; i < frame.component_count(); ++i) {
    const Component &c = frame.component[i];
    if (!is_chroma(frame, i)) {
      if (style.replace || value != 0)
        paint_sample(c.at(x, y), style.replace ? value : style.color.component[i], style);
      continue;
    }
    // Whether this is the first pixel of the sample within the region.
    const bool first = (mx == 0 || x % (1 << c.shift_x) == 0) && (my == 0 || y % (1 << c.shift_y) == 0);
    if (first && (style.replace || covers(c, x >> c.shift_x, y >> c.shift_y, region, mask)))
      paint_sample(c.at(x, y), style.replace ? std::uint8_t{128} : style.color.component[i], style);
  }
}

// rgb: the first byte of the region's first pixel.
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    replace_rgb_kernel(std::uint8_t *rgb, std::ptrdiff_t pitch_bytes, ImageView<const std::uint8_t> mask) {
  const int x = (static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x)) * kPixels;
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= mask.width || y >= mask.height) return;
  const std::uint8_t *values = mask.row(y) + x;
  std::uint8_t *out = rgb + y * pitch_bytes + 3 * x;
  if (x + kPixels <= mask.width && reinterpret_cast<std::uintptr_t>(values) % 4 == 0 &&
      reinterpret_cast<std::uintptr_t>(out) % 4 == 0) {
    const unsigned four = *reinterpret_cast<const unsigned *>(values);
    auto *words = reinterpret_cast<unsigned *>(out);
    words[0] = __byte_perm(four, 0, 0x1000);
    words[1] = __byte_perm(four, 0, 0x2211);
    words[2] = __byte_perm(four, 0, 0x3332);
  } else {
    for (int i = 0; i < min(kPixels, mask.width - x); ++i)
      out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = values[i];
  }
}

}  // namespace

Status paint_cuda(const Execution &execution, const Frame &frame, Region region,
                  ImageView<const std::uint8_t> mask, const Style &style) {
  const Component *c = frame.component;
  if (style.replace && frame.model == ColorModel::rgb && c[0].step_bytes == 3) {
    std::uint8_t *first = std::min({c[0].data, c[1].data, c[2].data});
    return CUDAVISION_LAUNCH(replace_rgb_kernel, grid_2d(region.width, region.height, kBlockX * kPixels),
                             block_2d(), execution.stream, first + region.y * c[0].pitch_bytes + region.x * 3,
                             c[0].pitch_bytes, mask);
  }
  return CUDAVISION_LAUNCH(paint_kernel, grid_2d(region.width, region.height), block_2d(), execution.stream,
                           frame, region, mask, style);
}

}  // namespace cudavision::draw
