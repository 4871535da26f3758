// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of morphology: one kernel for all passes. A block holds the bits of its tile and of a halo around it
// in shared memory. After each pass, fewer of the halo's bits are right, because pixels beyond the halo are unknown;
// after the last pass, those of the tile still are.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/pixel_bits_rules.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/morphology/morphology_backends.h"
#include "cuda/morphology/morphology_rules.h"

namespace cudavision::morphology {
namespace {

constexpr int kMaxHalo = kMaxPasses * kMaxMorphologyRadius;
constexpr int kThreads = 256;
constexpr int kTileWords = 4, kTileRows = 32;
constexpr int kHaloWords = kMaxHalo / kWordPixels;
constexpr int kWords = kTileWords + 2 * kHaloWords, kRows = kTileRows + 2 * kMaxHalo;
static_assert(kMaxHalo % kWordPixels == 0);

// The bits have a margin of one word on the left and right and of 16 rows above and below, because a pass reads that
// far beyond the halo. What it reads there does not reach the tile.
constexpr int kPitch = kWords + 2;
struct Bits {
  static constexpr int kCount = (kRows + 2 * kMaxMorphologyRadius) * kPitch;
  std::uint32_t word[kCount / kPitch][kPitch];

  __device__ std::uint32_t *at(int row, int i) { return &word[row + kMaxMorphologyRadius][i + 1]; }
};

// Dilates a word by the shape of a pass. window(dy): the word's window (window_of()) in the row dy rows below. Rows are
// added from the centre outward. Before each one, the bits so far are widened by the difference between two reaches, so
// that in the end row dy has been widened by reach[dy].
template <typename Window>
__device__ std::uint32_t dilated_word(const Pass &pass, const Window &window) {
  std::uint64_t bits = window(0);
  const auto shift = [&](int n) { bits |= bits << n | bits >> n; };
  for (int dy = 1; dy <= pass.radius; ++dy) {
    widen(pass.reach[dy - 1] - pass.reach[dy], shift);
    bits |= window(-dy) | window(dy);
  }
  widen(pass.reach[pass.radius], shift);
  return word_of(bits);
}

static __global__ void __launch_bounds__(kThreads)
    clean_kernel(ImageView<const std::uint8_t> mask, const __grid_constant__ Passes passes,
                 ImageView<std::uint8_t> cleaned) {
  CUDAVISION_SHARED(Bits[2], bits);
  const int thread = static_cast<int>(threadIdx.x);
  const int rows = kTileRows + 2 * passes.halo;
  const int first_row = static_cast<int>(blockIdx.y) * kTileRows - passes.halo;
  const int first_word = static_cast<int>(blockIdx.x) * kTileWords - kHaloWords;
  // Which bits of word i of a row belong to pixels of the picture.
  const auto inside = [&](int row, int i) {
    const int y = first_row + row;
    return y < 0 || y >= mask.height ? 0 : pixels_inside(first_word + i, mask.width);
  };
  let_next_kernel_start();
  for (Bits &of : bits)
    for (int k = thread; k < Bits::kCount; k += kThreads) of.word[k / kPitch][k % kPitch] = 0;
  wait_for_kernel_ahead();
  __syncthreads();

  // Four neighbouring threads read one word, eight pixels each.
  for (int k = thread; k < rows * kWords * 4; k += kThreads) {
    const int row = k / (kWords * 4), i = k / 4 % kWords, part = k % 4 * 8;
    const std::uint32_t valid = inside(row, i);
    if (valid == 0) continue;
    const unsigned set =
        set_pixels_of_row(mask.row(first_row + row), (first_word + i) * kWordPixels + part, mask.width);
    reinterpret_cast<std::uint8_t *>(bits[0].at(row, i))[k % 4] =
        static_cast<std::uint8_t>((passes.inverts(0) ? ~set : set) & valid >> part);
  }
  __syncthreads();

  for (int p = 0; p < passes.count; ++p) {
    Bits &from = bits[p % 2], &to = bits[1 - p % 2];
    const bool turns = passes.inverts(p) != passes.inverts(p + 1);
    for (int k = thread; k < rows * kWords; k += kThreads) {
      const int row = k / kWords, i = k % kWords;
      const std::uint32_t word =
          dilated_word(passes.pass[p], [&](int dy) { return window_of(from.at(row + dy, i)); });
      *to.at(row, i) = (turns ? ~word : word) & inside(row, i);
    }
    __syncthreads();
  }

  Bits &result = bits[passes.count % 2];
  for (int k = thread; k < kTileRows * kTileWords * 4; k += kThreads) {
    const int row = passes.halo + k / (kTileWords * 4), i = kHaloWords + k / 4 % kTileWords, part = k % 4 * 8;
    if (inside(row, i) == 0) continue;
    write_pixels(*result.at(row, i) >> part, (first_word + i) * kWordPixels + part, cleaned.width,
                 cleaned.row(first_row + row));
  }
}

class MaskCleanerCuda final : public MaskCleaner {
 public:
  MaskCleanerCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status run(ImageView<const std::uint8_t> mask, const MorphologyParams &params,
             ImageView<std::uint8_t> cleaned) override {
    CUDAVISION_TRY(check_run(params, mask.size(), cleaned.size(), size_));
    return CUDAVISION_LAUNCH_PDL("clean_kernel", clean_kernel,
                                 grid_2d(size_.width, size_.height, kTileWords * kWordPixels, kTileRows),
                                 dim3(kThreads), execution_.stream, mask, passes_of(params), cleaned);
  }

 private:
  Execution execution_;
  Size size_;
};

}  // namespace

Status make_mask_cleaner_cuda(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner) {
  return make_as<MaskCleanerCuda>(cleaner, execution, size);
}

}  // namespace cudavision::morphology
