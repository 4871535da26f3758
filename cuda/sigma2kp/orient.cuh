// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the orientation of each listed keypoint: one warp counts the gradients around a keypoint in its
// own histogram.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch.h"
#include "cuda/common/walk.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

constexpr int kOrientWarps = 8, kOrientThreads = 32 * kOrientWarps;
constexpr int kOrientPixels = 4;  // pixels per thread and iteration, so that their loads overlap

// Returns in all lanes the fullest bin, the first of equals, or kNoOrientation if all bins are empty. All
// lanes of the warp must call.
__device__ inline int dominant_bin(const unsigned *histogram, int bins, int lane) {
  unsigned most = 0;
  int best = kNoOrientation;
  for (int bin = lane; bin < bins; bin += 32)
    if (histogram[bin] > most) most = histogram[bin], best = bin;
  for (int distance = 16; distance > 0; distance /= 2) {
    const unsigned other = __shfl_xor_sync(kFullWarp, most, distance);
    const int other_bin = __shfl_xor_sync(kFullWarp, best, distance);
    if (other > most || (other == most && other != 0 && other_bin < best)) most = other, best = other_bin;
  }
  return best;
}

// side: of the square around the window in which gradients are counted, in pixels. Dynamic shared memory:
// table.bins elements per warp.
static __global__ void __launch_bounds__(kOrientThreads)
    orient_kernel(ImageView<const std::uint8_t> luma, Sigma2KpList list, int window, int side,
                  GradientOperator op, GradientWeight weight,
                  const __grid_constant__ OrientationTable table) {
  CUDAVISION_DYNAMIC_SHARED(unsigned, histograms);
  wait_for_kernel_ahead();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  unsigned *histogram = histograms + warp * table.bins;
  const int count = list.count->listed, stride = static_cast<int>(gridDim.x) * kOrientWarps;
  for (int i = static_cast<int>(blockIdx.x) * kOrientWarps + warp; i < count; i += stride) {
    for (int bin = lane; bin < table.bins; bin += 32) histogram[bin] = 0;
    __syncwarp();
    const Region region =
        orientation_region(list.keypoints[i].x, list.keypoints[i].y, window, side, {luma.width, luma.height});
    const int pixels = region.width * region.height;
    Walk<32> at(region.width, lane);
    for (int p = lane; p < pixels; p += 32 * kOrientPixels) {
      GradientSample sample[kOrientPixels];
#pragma unroll
      for (int k = 0; k < kOrientPixels; ++k, at.advance()) {
        // Positions after the last pixel are read too (clamped to the image), but have no weight.
        const int x = region.x + at.column, y = region.y + at.row;
        const Gradient g = gradient_of(op, [&luma, x, y](int dx, int dy) {
          return static_cast<int>(
              luma.row(clamp_index(y + dy, luma.height))[clamp_index(x + dx, luma.width)]);
        });
        sample[k] = sample_of(g, weight, table);
        if (p + 32 * k >= pixels) sample[k].weight = 0;
      }
#pragma unroll
      for (int k = 0; k < kOrientPixels; ++k)
        if (sample[k].weight != 0) atomicAdd(&histogram[sample[k].bin], sample[k].weight);
    }
    __syncwarp();
    const int bin = dominant_bin(histogram, table.bins, lane);
    if (lane == 0) list.keypoints[i].orientation = bin;
    __syncwarp();
  }
}

}  // namespace cudavision::sigma2kp
