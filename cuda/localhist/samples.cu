// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels that compute the samples of gradients, and the histogram of a model's region.
#include "cuda/localhist/samples_cuda.h"

#include <cuda_runtime.h>

#include "cuda/common/copy_rows.cuh"
#include "cuda/common/grid.h"
#include "cuda/common/launch.h"

namespace cudavision::localhist {
namespace {

constexpr int kModelThreads = 256;

constexpr int kRun = 4;  // neighbouring pixels of a thread

// Loads the kRun pixels of a row from x on; pixels behind the row repeat its last one.
__device__ inline void load_run(const std::uint8_t *row, int x, int width, bool whole_words, int *pixels) {
  if (whole_words) {
    static_assert(kRun == sizeof(CopyWord));
    const CopyWord word = *reinterpret_cast<const CopyWord *>(row + x);
#pragma unroll
    for (int i = 0; i < kRun; ++i) pixels[i] = static_cast<int>(word >> 8 * i & 255);
  } else {
#pragma unroll
    for (int i = 0; i < kRun; ++i) pixels[i] = row[min(x + i, width - 1)];
  }
}

template <typename Map>
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    map_gradients_kernel(ImageView<const std::uint8_t> luma, ImageView<Map> map, GradientOperator op,
                         GradientWeight weight, const __grid_constant__ OrientationTable table, Input input) {
  wait_for_input(input);
  const int x = (static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x)) * kRun;
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= luma.width || y >= luma.height) return;
  int pixels[3][kRun + 2];
  const bool whole_words = has_whole_words(luma);
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const std::uint8_t *row = luma.row(clamp_index(y + j - 1, luma.height));
    pixels[j][0] = row[max(x - 1, 0)], pixels[j][kRun + 1] = row[min(x + kRun, luma.width - 1)];
    load_run(row, x, luma.width, whole_words, pixels[j] + 1);
  }
  Map samples[kRun];
#pragma unroll
  for (int k = 0; k < kRun; ++k)
    samples[k] = pack<Map>(sample_of(
        gradient_of(op, [&pixels, k](int i, int j) { return pixels[j + 1][i + k + 1]; }), weight, table));
  wait_for_kernel_ahead();
  Map *out = map.row(y) + x;
#pragma unroll
  for (int k = 0; k < kRun; ++k)
    if (x + k < luma.width) out[k] = samples[k];
}

// One block counts the whole region. This runs once per model, not for each frame.
template <typename Source>
static __global__ void __launch_bounds__(kModelThreads)
    take_shares_kernel(const __grid_constant__ Source source, Region region, int bins, float *shares) {
  __shared__ unsigned long long sums[LocalHistRanges::bins.most];
  __shared__ unsigned long long total;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < bins; i += kModelThreads) sums[i] = 0;
  if (thread == 0) total = 0;
  __syncthreads();
  for (int y = 0; y < region.height; ++y)
    for (int x = thread; x < region.width; x += kModelThreads) {
      const Sample sample = source.sample_of(source.pixels.row(region.y + y)[region.x + x]);
      if (sample.weight == 0) continue;
      const unsigned long long weight = sample.weight;
      atomicAdd(&sums[sample.bin], weight);
      atomicAdd(&total, weight);
    }
  __syncthreads();
  for (int i = thread; i < bins; i += kModelThreads)
    shares[i] = total > 0 ? static_cast<float>(sums[i]) / static_cast<float>(total) : 0.0f;
}

}  // namespace

template <typename Map>
Status map_gradients(const Execution &execution, ImageView<const std::uint8_t> luma, GradientOperator op,
                     GradientWeight weight, const OrientationTable &table, ImageView<Map> map, Input input) {
  return CUDAVISION_LAUNCH_PDL("map_gradients_kernel", map_gradients_kernel<Map>,
                               grid_2d(divide_up(map.width, kRun), map.height), block_2d(), execution.stream,
                               luma, map, op, weight, table, input);
}

template <typename Source>
Status take_shares(const Execution &execution, const Source &source, Region region, int bins, float *shares) {
  return CUDAVISION_LAUNCH_NAMED("take_shares_kernel", take_shares_kernel<Source>, dim3(1),
                                 dim3(kModelThreads), execution.stream, source, region, bins, shares);
}

template Status map_gradients(const Execution &, ImageView<const std::uint8_t>, GradientOperator,
                              GradientWeight, const OrientationTable &, ImageView<BinMap>, Input);
template Status map_gradients(const Execution &, ImageView<const std::uint8_t>, GradientOperator,
                              GradientWeight, const OrientationTable &, ImageView<WeightMap>, Input);
template Status take_shares(const Execution &, const BrightnessSource &, Region, int, float *);
template Status take_shares(const Execution &, const MapSource<BinMap> &, Region, int, float *);
template Status take_shares(const Execution &, const MapSource<WeightMap> &, Region, int, float *);

}  // namespace cudavision::localhist
