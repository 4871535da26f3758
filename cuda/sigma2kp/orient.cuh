// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the orientation of each listed keypoint: one warp counts the gradients around a keypoint in its
// own histogram.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/copy_rows.cuh"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/gradient/gradient_rules.h"
#include "cuda/gradient/samples_rules.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

constexpr int kOrientWarps = 8, kOrientThreads = 32 * kOrientWarps;

// The pitch, in bytes, of the pixels around a keypoint in shared memory: `side` pixels, one more on either side, and up
// to three before them, so that rows consist of whole words.
CUDAVISION_HOST_DEVICE constexpr int patch_pitch(int side) {
  constexpr int kBytes = sizeof(CopyWord);
  return divide_up(side + 2 + kBytes - 1, kBytes) * kBytes;
}
// The shared memory of a warp, in words: the histogram with `bins` bins, then the pixels.
CUDAVISION_HOST_DEVICE constexpr int orient_words(int side, int bins) {
  return bins + patch_pitch(side) * (side + 2) / static_cast<int>(sizeof(CopyWord));
}

// Copies the pixels of `region` and a border of one pixel to `patch`, and returns a pointer to the first pixel of the
// region in `patch`. Outside the picture its border pixels are replicated. All lanes of the warp must call.
__device__ inline const std::uint8_t *load_patch(ImageView<const std::uint8_t> luma, const Region &region,
                                                 int pitch, int lane, std::uint8_t *patch) {
  constexpr int kBytes = sizeof(CopyWord), kLanes = 8, kGroups = 32 / kLanes;
  const int x = region.x - 1, y = region.y - 1, columns = region.width + 2, rows = region.height + 2;
  const bool inside = x >= 0 && y >= 0 && x + columns <= luma.width && y + rows <= luma.height;
  if (inside && has_whole_words(luma)) {
    const int shift = x % kBytes;
    copy_rows<kGroups, kLanes>(reinterpret_cast<const CopyWord *>(luma.row(y) + x - shift),
                               luma.pitch_bytes / kBytes, divide_up(shift + columns, kBytes), rows,
                               reinterpret_cast<CopyWord *>(patch), pitch / kBytes, lane);
    return patch + pitch + 1 + shift;
  }
  for (int row = 0; row < rows; ++row)
    for (int column = lane; column < columns; column += 32)
      patch[row * pitch + column] =
          luma.row(clamp_index(y + row, luma.height))[clamp_index(x + column, luma.width)];
  return patch + pitch + 1;
}

// Returns the fullest bin to all lanes, the first one of equally full bins, or kNoOrientation if all bins are empty.
// All lanes of the warp must call.
__device__ inline int dominant_bin(const unsigned *histogram, int bins, int lane) {
  unsigned most = 0;
  int best = 0;
  for (int bin = lane; bin < bins; bin += 32)
    if (histogram[bin] > most) most = histogram[bin], best = bin;
  // The greatest key belongs to the fullest bin, and among equally full bins to the first one.
  const unsigned long long key =
      warp_max(static_cast<unsigned long long>(most) << 32 | ~static_cast<unsigned>(best));
  return key >> 32 == 0 ? kNoOrientation : static_cast<int>(~static_cast<unsigned>(key));
}

// Adds the gradient of a pixel, whose neighbours must exist, to the histogram. kCounts: weight is
// GradientWeight::count.
template <bool kCounts>
__device__ inline void add_to_histogram(const std::uint8_t *pixel, int pitch, GradientOperator op,
                                        GradientWeight weight, const OrientationTable &table,
                                        unsigned *histogram) {
  const Gradient g = gradient_of(op, [=](int dx, int dy) { return int{pixel[dy * pitch + dx]}; });
  if (g == Gradient{}) return;
  const int bin = orientation_bin(g, table);
  // With the literal 1 the compiler emits the instruction that first sums the lanes which have the same bin.
  if constexpr (kCounts)
    atomicAdd(&histogram[bin], 1u);
  else
    atomicAdd(&histogram[bin], fixed_weight(g, weight));
}

// The blocks of orient_kernel that a multiprocessor holds at once. With more, the compiler would spill registers.
template <bool kCounts>
constexpr int kOrientBlocksAtOnce = resident_blocks(kOrientThreads, !kCounts || !kCompilesForHopper ? 4 : 5);

// side: the side of the square around the window in which gradients are counted, in pixels. kCounts: as for
// add_to_histogram(). Dynamic shared memory: orient_words() per warp.
template <bool kCounts>
static __global__ void __launch_bounds__(kOrientThreads, kOrientBlocksAtOnce<kCounts>)
    orient_kernel(ImageView<const std::uint8_t> luma, Sigma2KpList list, int window, int side,
                  GradientOperator op, GradientWeight weight,
                  const __grid_constant__ OrientationTable table) {
  CUDAVISION_DYNAMIC_SHARED(unsigned, shared);
  let_next_kernel_start();
  wait_for_kernel_ahead();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  unsigned *histogram = shared + warp * orient_words(side, table.bins);
  auto *patch = reinterpret_cast<std::uint8_t *>(histogram + table.bins);
  const int pitch = patch_pitch(side);
  // Lanes that are left over have no part of the square: part == parts.
  const int parts = max(32 / side, 1), part = min(lane / side, parts);
  const int count = list.count->listed, stride = static_cast<int>(gridDim.x) * kOrientWarps;
  for (int i = static_cast<int>(blockIdx.x) * kOrientWarps + warp; i < count; i += stride) {
    const Region region =
        orientation_region(list.keypoints[i].x, list.keypoints[i].y, window, side, {luma.width, luma.height});
    for (int bin = lane; bin < table.bins; bin += 32) histogram[bin] = 0;
    const std::uint8_t *first = load_patch(luma, region, pitch, lane, patch);
    __syncwarp();
    if (part < parts)
      for (int x = lane - part * side; x < region.width; x += 32)
        for (int y = part; y < region.height; y += parts)
          add_to_histogram<kCounts>(first + y * pitch + x, pitch, op, weight, table, histogram);
    __syncwarp();
    const int bin = dominant_bin(histogram, table.bins, lane);
    if (lane == 0) list.keypoints[i].orientation = bin;
    // No barrier is needed: for the next keypoint, a lane clears the bins that it has read itself, and all lanes have
    // read the patch.
  }
}

}  // namespace cudavision::sigma2kp
