// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels that compute the samples of gradients, which are a bin and a weight for each pixel, and the histogram of
// the region that a model is taken from.
#include "cuda/localhist/samples_cuda.h"

#include <cuda_runtime.h>

#include "cuda/common/copy_rows.cuh"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/gradient/gradient_rules.h"

namespace cudavision::localhist {
namespace {

constexpr int kModelThreads = 256;

constexpr int kRun = 8;  // neighbouring pixels of a thread

// Loads the pixels x - 1 to x + kRun of a row. Outside the picture its border pixels are repeated. whole_words: what
// has_whole_words() returns; if it is true, x must be a multiple of a word's size.
__device__ inline void load_run(const std::uint8_t *row, int x, int width, bool whole_words,
                                int (&pixels)[kRun + 2]) {
  if (whole_words && x + kRun <= width) {
    constexpr int kBytes = sizeof(CopyWord), kWords = kRun / kBytes;
    const std::uint8_t *first = row + x;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const CopyWord word = reinterpret_cast<const CopyWord *>(first)[w];
#pragma unroll
      for (int i = 0; i < kBytes; ++i)
        pixels[w * kBytes + i + 1] =
            static_cast<int>(__byte_perm(word, 0, 0x4440u + static_cast<unsigned>(i)));
    }
    pixels[0] = x > 0 ? first[-1] : pixels[1];
    pixels[kRun + 1] = x + kRun < width ? first[kRun] : pixels[kRun];
  } else {
#pragma unroll
    for (int i = 0; i < kRun + 2; ++i) pixels[i] = row[clamp_index(x + i - 1, width)];
  }
}

// Computes the gradients of kRun neighbouring pixels, as gradient_of() defines them. pixels: the row above these
// pixels, their row, and the row below. The sums along columns are computed once for all pixels that need them.
__device__ inline void gradients_of_run(GradientOperator op, const int (&pixels)[3][kRun + 2],
                                        Gradient (&gradients)[kRun]) {
  if (op == GradientOperator::roberts) {
#pragma unroll
    for (int k = 0; k < kRun; ++k)
      gradients[k] = gradient_of(GradientOperator::roberts,
                                 [&pixels, k](int i, int j) { return pixels[j + 1][i + k + 1]; });
    return;
  }
  const SmoothingWeights weights = smoothing_weights(op);
  int smooth[kRun + 2], difference[kRun + 2];
#pragma unroll
  for (int i = 0; i < kRun + 2; ++i) {
    smooth[i] = weights.middle * pixels[1][i] + weights.side * (pixels[0][i] + pixels[2][i]);
    difference[i] = pixels[2][i] - pixels[0][i];
  }
#pragma unroll
  for (int k = 0; k < kRun; ++k)
    gradients[k] = {smooth[k + 2] - smooth[k],
                    weights.middle * difference[k + 1] + weights.side * (difference[k] + difference[k + 2])};
}

// Writes the samples of pixels [x, x + kRun), as far as they lie in the row, with one store if all of them do. For
// this, x must be a multiple of kRun, and the row must be aligned to kRun elements.
template <typename Map>
__device__ void store_run(Map *row, int x, int width, const Map (&samples)[kRun]) {
  struct alignas(kRun * sizeof(Map)) Run {
    Map sample[kRun];
  } run;
#pragma unroll
  for (int k = 0; k < kRun; ++k) run.sample[k] = samples[k];
  if (x + kRun <= width) {
    *reinterpret_cast<Run *>(row + x) = run;
    return;
  }
#pragma unroll
  for (int k = 0; k < kRun - 1; ++k)
    if (x + k < width) row[x + k] = samples[k];
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
  for (int j = 0; j < 3; ++j)
    load_run(luma.row(clamp_index(y + j - 1, luma.height)), x, luma.width, whole_words, pixels[j]);
  Gradient gradients[kRun];
  gradients_of_run(op, pixels, gradients);
  Map samples[kRun];
#pragma unroll
  for (int k = 0; k < kRun; ++k) samples[k] = pack<Map>(sample_of(gradients[k], weight, table));
  wait_for_kernel_ahead();
  store_run(map.row(y), x, luma.width, samples);
}

// One block counts the whole region. This runs once per model, not for each frame.
template <typename Source>
static __global__ void __launch_bounds__(kModelThreads)
    take_shares_kernel(const __grid_constant__ Source source, Region region, int bins, float *shares) {
  CUDAVISION_SHARED(unsigned long long[LocalHistRanges::bins.most], sums);
  CUDAVISION_SHARED(unsigned long long, total);
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
