// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of luma extraction: one kernel, with four pixels per thread.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/luma/luma_backends.h"

namespace cudavision::luma {
namespace {

constexpr int kPixels = 4;  // pixels per thread: four packed pixels fill whole 32-bit words

// kStep: bytes per pixel. Loads words if the thread's pixels are aligned, and bytes otherwise.
template <int kStep>
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    rgb_luma_kernel(PackedRgb rgb, ImageView<std::uint8_t> luma) {
  const int x = (static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x)) * kPixels;
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= luma.width || y >= luma.height) return;
  const std::uint8_t *source = rgb.first + y * rgb.pitch_bytes + x * kStep;
  const int count = min(kPixels, luma.width - x);
  unsigned words[kStep] = {};
  if (count == kPixels && reinterpret_cast<std::uintptr_t>(source) % 4 == 0) {
#pragma unroll
    for (int i = 0; i < kStep; ++i) words[i] = reinterpret_cast<const unsigned *>(source)[i];
  } else {
    // Only three bytes of each pixel are read: the padding byte of the last pixel may lie outside the frame's memory.
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
#pragma unroll
      for (int c = 0; c < 3; ++c)
        if (i < count)
          words[(i * kStep + c) / 4] |= static_cast<unsigned>(source[i * kStep + c])
                                        << (i * kStep + c) % 4 * 8;
  }
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    int sum = 1 << 14;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int at = i * kStep + c;
      sum += rgb.weights[c] * static_cast<int>(words[at / 4] >> at % 4 * 8 & 255);
    }
    if (i < count) luma.row(y)[x + i] = static_cast<std::uint8_t>(sum >> 15);
  }
}

// Copies component 0 of a YUV or gray frame, and expands it if `range` is LumaRange::full.
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    y_luma_kernel(Component source, ImageView<std::uint8_t> luma, LumaRange range) {
  const int first = static_cast<int>(blockIdx.x) * kBlockX * kPixels + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (y >= luma.height) return;
  for (int i = 0; i < kPixels; ++i)
    if (const int x = first + i * kBlockX; x < luma.width)
      luma.row(y)[x] = range == LumaRange::full ? full_range_luma(source.at(x, y)) : source.at(x, y);
}

}  // namespace

Status extract_luma_cuda(const Execution &execution, const Frame &frame, ImageView<std::uint8_t> luma,
                         LumaRange range) {
  const dim3 block = block_2d(), grid = grid_2d(frame.width, frame.height, kBlockX * kPixels);
  if (frame.model != ColorModel::rgb)
    return CUDAVISION_LAUNCH(y_luma_kernel, grid, block, execution.stream, frame.component[0], luma, range);
  const PackedRgb rgb(frame);
  return CUDAVISION_LAUNCH_NAMED("rgb_luma_kernel",
                                 rgb.step_bytes == 3 ? rgb_luma_kernel<3> : rgb_luma_kernel<4>, grid, block,
                                 execution.stream, rgb, luma);
}

}  // namespace cudavision::luma
