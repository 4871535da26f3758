// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the Gaussian: one kernel that convolves the rows and then the columns of a tile in shared memory.
// It uses the dot-product instructions that multiply and add four bytes (dp4a) or two 16-bit numbers (dp2a) at once.
#include <cuda_runtime.h>

#include <cstdlib>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/rectangle.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/gaussian/gaussian_backends.h"

namespace cudavision::gaussian {
namespace {

constexpr int kTileX = 64, kTileY = 32;  // pixels
constexpr int kThreads = 256;
constexpr int kGroup = 4;  // adjacent outputs per thread, and taps per dot product

// The weights for a group of four outputs. Step j holds four taps: byte k of step[j].x is the weight of input 4 j + k
// for output 0, that of step[j].y the weight for output 1, and so on. Input 0 lies kReach pixels before output 0.
template <int kReach>
struct Steps {
  static constexpr int kCount = 2 * kReach / kGroup + 1;
  uint4 step[kCount];
};

// Loads the pixels from (x0, y0) on. Pixels outside the picture are mirrored.
template <int kRows, int kWords>
__device__ void load_tile(unsigned (&pixels)[kRows][kWords], ImageView<const std::uint8_t> src, int x0,
                          int y0) {
  const int thread = static_cast<int>(threadIdx.x);
  const bool whole_words =
      x0 >= 0 && y0 >= 0 && x0 + 4 * kWords <= src.width && y0 + kRows <= src.height &&
      (reinterpret_cast<std::uintptr_t>(src.data) | static_cast<std::uintptr_t>(src.pitch_bytes)) % 4 == 0;
  if (whole_words) {  // each iteration loads whole rows, with one word per thread
    constexpr int kTurn = kThreads / kWords;
    const int word = thread % kWords;
    const std::uint8_t *source = src.row(y0 + thread / kWords) + x0 + 4 * word;
    if (thread >= kTurn * kWords) return;
#pragma unroll
    for (int r = thread / kWords; r < kRows; r += kTurn, source += kTurn * src.pitch_bytes)
      pixels[r][word] = *reinterpret_cast<const unsigned *>(source);
    return;
  }
  for (int i = thread; i < kRows * kWords; i += kThreads) {
    const std::uint8_t *row = src.row(mirror_index(y0 + i / kWords, src.height));
    unsigned word = 0;
    for (int byte = 0; byte < 4; ++byte)
      word |= static_cast<unsigned>(row[mirror_index(x0 + i % kWords * 4 + byte, src.width)]) << (8 * byte);
    pixels[i / kWords][i % kWords] = word;
  }
}

// One block of kThreads threads per tile of kTileX x kTileY pixels. kReach: at least the radius; it determines the size
// of the tile's halo and the trip counts.
template <int kReach>
static __global__ void __launch_bounds__(kThreads)
    smooth_kernel(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst,
                  const __grid_constant__ Steps<kReach> weights) {
  constexpr int kRows = kTileY + 2 * kReach, kWords = (kTileX + 2 * kReach) / 4;
  constexpr int kGroups = kTileX / kGroup, kPairs = kTileX / 2;
  CUDAVISION_SHARED(unsigned[kRows][kWords], pixels);  // the tile and its halo
  // The results of the row pass: four 16-bit sums per element, each at most 256 * 255.
  CUDAVISION_SHARED(uint2[kRows][kGroups], sums);
  const int thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * kTileX, y0 = static_cast<int>(blockIdx.y) * kTileY;

  let_next_kernel_start();
  wait_for_kernel_ahead();
  load_tile(pixels, src, x0 - kReach, y0 - kReach);
  __syncthreads();

  for (int r = thread / kGroups; r < kRows; r += kThreads / kGroups) {
    const int group = thread % kGroups;
    unsigned sum[kGroup] = {};
#pragma unroll
    for (int j = 0; j < weights.kCount; ++j) {
      const unsigned four = pixels[r][group + j];
      sum[0] = __dp4a(four, weights.step[j].x, sum[0]);
      sum[1] = __dp4a(four, weights.step[j].y, sum[1]);
      sum[2] = __dp4a(four, weights.step[j].z, sum[2]);
      sum[3] = __dp4a(four, weights.step[j].w, sum[3]);
    }
    sums[r][group] = make_uint2(sum[0] | sum[1] << 16, sum[2] | sum[3] << 16);
  }
  __syncthreads();

  // Column pass: each thread computes two columns of four rows.
  static_assert(kThreads == kPairs * kTileY / kGroup);
  const int pair = thread % kPairs, group = thread / kPairs * kGroup;
  unsigned left[kGroup], right[kGroup];
  for (int i = 0; i < kGroup; ++i) left[i] = right[i] = 1u << 15;
#pragma unroll
  for (int j = 0; j < weights.kCount; ++j) {
    unsigned two[kGroup];  // the row sums of both columns
#pragma unroll
    for (int k = 0; k < kGroup; ++k)
      two[k] = reinterpret_cast<const unsigned *>(sums[group + kGroup * j + k])[pair];
    const unsigned left01 = __byte_perm(two[0], two[1], 0x5410), left23 = __byte_perm(two[2], two[3], 0x5410),
                   right01 = __byte_perm(two[0], two[1], 0x7632),
                   right23 = __byte_perm(two[2], two[3], 0x7632);
    const unsigned weight[kGroup] = {weights.step[j].x, weights.step[j].y, weights.step[j].z,
                                     weights.step[j].w};
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      left[i] = __dp2a_hi(left23, weight[i], __dp2a_lo(left01, weight[i], left[i]));
      right[i] = __dp2a_hi(right23, weight[i], __dp2a_lo(right01, weight[i], right[i]));
    }
  }
  const int x = x0 + 2 * pair, y = y0 + group;
  const bool pairs =
      x + 1 < dst.width &&
      (reinterpret_cast<std::uintptr_t>(dst.data) | static_cast<std::uintptr_t>(dst.pitch_bytes)) % 2 == 0;
  std::uint8_t *out = dst.row(y) + x;
#pragma unroll
  for (int i = 0; i < kGroup; ++i, out += dst.pitch_bytes) {
    if (y + i >= dst.height) return;
    if (pairs) {
      *reinterpret_cast<std::uint16_t *>(out) =
          static_cast<std::uint16_t>(__byte_perm(left[i], right[i], 0x4462));
    } else {
      if (x < dst.width) out[0] = static_cast<std::uint8_t>(left[i] >> 16);
      if (x + 1 < dst.width) out[1] = static_cast<std::uint8_t>(right[i] >> 16);
    }
  }
}

class GaussianCuda final : public Gaussian {
 public:
  GaussianCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) override {
    CUDAVISION_TRY(check_run(src.size(), dst.size(), size_, sigma));
    const Weights &weights = weights_.of(sigma);
    // If the centre has the weight 256, all others are 0: nothing is smoothed. A byte of Steps could not hold 256.
    if (weights.w[0] > 255) return copy_rectangle(execution_, src, dst);
    if (weights.radius <= 4) return smooth<4>(src, dst, weights);
    if (weights.radius <= 8) return smooth<8>(src, dst, weights);
    if (weights.radius <= 16) return smooth<16>(src, dst, weights);
    return smooth<kMaxGaussianRadius>(src, dst, weights);
  }

 private:
  // Weights between the radius and kReach are 0.
  template <int kReach>
  Status smooth(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst,
                const Weights &weights) const {
    Steps<kReach> steps = {};
    const auto pack = [&](int j, int output) {
      unsigned word = 0;
      for (int k = 0; k < kGroup; ++k)
        if (const int distance = std::abs(kGroup * j + k - kReach - output); distance <= weights.radius)
          word |= static_cast<unsigned>(weights.w[distance]) << (8 * k);
      return word;
    };
    for (int j = 0; j < steps.kCount; ++j)
      steps.step[j] = make_uint4(pack(j, 0), pack(j, 1), pack(j, 2), pack(j, 3));
    const dim3 grid = grid_2d(src.width, src.height, kTileX, kTileY);
    return CUDAVISION_LAUNCH_PDL("smooth_kernel", smooth_kernel<kReach>, grid, dim3(kThreads),
                                 execution_.stream, src, dst, steps);
  }

  Execution execution_;
  Size size_;
  WeightsOfSigma weights_;
};

}  // namespace

Status make_gaussian_cuda(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian) {
  return make_as<GaussianCuda>(gaussian, execution, size);
}

}  // namespace cudavision::gaussian
