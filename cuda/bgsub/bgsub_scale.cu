// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of reducing and enlarging pictures: one thread for each pixel that is written.
#include <cuda_runtime.h>

#include "cuda/bgsub/bgsub_backends.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"

namespace cudavision::bgsub {
namespace {

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    reduce_kernel(BgsubPicture picture, int scale, BgsubPixels<std::uint8_t> reduced, Input input) {
  let_next_kernel_start();
  wait_for_input(input);
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  const bool inside = x < reduced.width && y < reduced.height;
  std::uint8_t mean[3] = {};
#pragma unroll
  for (int c = 0; c < 3; ++c)
    if (inside && c < reduced.channels) mean[c] = mean_of_square(picture, scale, x, y, c);
  wait_for_kernel_ahead();
#pragma unroll
  for (int c = 0; c < 3; ++c)
    if (inside && c < reduced.channels)
      reduced.data[y * reduced.pitch_bytes + x * reduced.step_bytes + c] = mean[c];
}

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    enlarge_kernel(BgsubPicture reduced, int scale, BgsubPixels<std::uint8_t> picture) {
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= picture.width || y >= picture.height) return;
  const std::uint8_t *from = reduced.data + y / scale * reduced.pitch_bytes + x / scale * reduced.step_bytes;
  std::uint8_t *to = picture.data + y * picture.pitch_bytes + x * picture.step_bytes;
  for (int c = 0; c < picture.channels; ++c) to[c] = from[c];
}

}  // namespace

Status reduce_cuda(const Execution &execution, const BgsubPicture &picture, int scale,
                   const BgsubPixels<std::uint8_t> &reduced, Input input) {
  return CUDAVISION_LAUNCH_PDL("reduce_kernel", reduce_kernel, grid_2d(reduced.width, reduced.height),
                               block_2d(), execution.stream, picture, scale, reduced, input);
}

Status enlarge_cuda(const Execution &execution, const BgsubPicture &reduced, int scale,
                    const BgsubPixels<std::uint8_t> &picture) {
  return CUDAVISION_LAUNCH_PDL("enlarge_kernel", enlarge_kernel, grid_2d(picture.width, picture.height),
                               block_2d(), execution.stream, reduced, scale, picture);
}

}  // namespace cudavision::bgsub
