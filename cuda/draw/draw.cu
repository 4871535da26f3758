// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of drawing: a thread per pixel, the first of each group also writes its chroma.
#include <cuda_runtime.h>

#include "common/launch.h"
#include "draw/draw_backends.h"

namespace cudavision::draw {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;

__device__ void paint_sample(std::uint8_t &sample, std::uint8_t color, const Style &style) {
  sample = style.replace ? color : blend(color, style.color.alpha, sample);
}

__global__ void __launch_bounds__(kBlockX *kBlockY)
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
    // The sample's first pixel within the region writes it.
    const bool first = (mx == 0 || x % (1 << c.shift_x) == 0) && (my == 0 || y % (1 << c.shift_y) == 0);
    if (first && (style.replace || covers(c, x >> c.shift_x, y >> c.shift_y, region, mask)))
      paint_sample(c.at(x, y), style.replace ? std::uint8_t{128} : style.color.component[i], style);
  }
}

}  // namespace

Status paint_cuda(const Execution &execution, const Frame &frame, Region region,
                  ImageView<const std::uint8_t> mask, const Style &style) {
  const dim3 grid(static_cast<unsigned>(divide_up(region.width, kBlockX)),
                  static_cast<unsigned>(divide_up(region.height, kBlockY)));
  return CUDAVISION_LAUNCH(paint_kernel, grid, dim3(kBlockX, kBlockY), execution.stream, frame, region, mask,
                           style);
}

}  // namespace cudavision::draw
