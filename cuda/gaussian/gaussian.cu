// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the Gaussian: one kernel that convolves rows, then columns, of a tile in shared memory.
#include <cuda_runtime.h>

#include "common/buffer.h"
#include "common/launch.h"
#include "gaussian/gaussian_rules.h"

namespace cudavision::gaussian {
namespace {

constexpr int kTile = 32;  // pixels a side
constexpr int kThreads = 256;
constexpr int kMaxRows = kTile + 2 * kMaxGaussianRadius;

__global__ void __launch_bounds__(kThreads)
    smooth_kernel(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst,
                  const __grid_constant__ Weights weights) {
  __shared__ std::uint8_t pixels[kMaxRows][kMaxRows];  // the tile and its halo
  __shared__ std::uint16_t sums[kMaxRows][kTile];      // of rows: at most 256 * 255
  const int radius = weights.radius, side = kTile + 2 * radius, thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kTile, y0 = static_cast<int>(blockIdx.y) * kTile;

  for (int i = thread; i < side * side; i += kThreads) {
    const int x = mirror_index(x0 - radius + i % side, src.width),
              y = mirror_index(y0 - radius + i / side, src.height);
    pixels[i / side][i % side] = src.row(y)[x];
  }
  __syncthreads();
  for (int i = thread; i < side * kTile; i += kThreads) {
    const std::uint8_t *centre = &pixels[i / kTile][i % kTile + radius];
    int sum = weights.w[0] * centre[0];
    for (int k = 1; k <= radius; ++k) sum += weights.w[k] * (centre[-k] + centre[k]);
    sums[i / kTile][i % kTile] = static_cast<std::uint16_t>(sum);
  }
  __syncthreads();
  for (int i = thread; i < kTile * kTile; i += kThreads) {
    const int tx = i % kTile, ty = i / kTile, x = x0 + tx, y = y0 + ty;
    unsigned sum = static_cast<unsigned>(weights.w[0]) * sums[ty + radius][tx];
    for (int k = 1; k <= radius; ++k)
      sum += static_cast<unsigned>(weights.w[k]) *
             (static_cast<unsigned>(sums[ty + radius - k][tx]) + sums[ty + radius + k][tx]);
    if (x < dst.width && y < dst.height) dst.row(y)[x] = static_cast<std::uint8_t>((sum + (1u << 15)) >> 16);
  }
}

class GaussianCuda final : public Gaussian {
 public:
  GaussianCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) override {
    CUDAVISION_TRY(check_run(src.size(), dst.size(), size_, sigma));
    const dim3 grid(static_cast<unsigned>(divide_up(size_.width, kTile)),
                    static_cast<unsigned>(divide_up(size_.height, kTile)));
    return CUDAVISION_LAUNCH(smooth_kernel, grid, dim3(kThreads), execution_.stream, src, dst,
                             weights_.of(sigma));
  }

 private:
  Execution execution_;
  Size size_;
  WeightsOfSigma weights_;
};

}  // namespace

Status make_gaussian_cuda(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian) {
  *gaussian = std::make_unique<GaussianCuda>(execution, size);
  return {};
}

}  // namespace cudavision::gaussian
