// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the camera's statistics: one kernel, each of whose lanes takes cells. The last block to finish
// writes the result.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/camerastats/camerastats_backends.h"
#include "cuda/camerastats/camerastats_rules.h"
#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision::camerastats {
namespace {

constexpr int kThreads = 256;    // one for each value of the histogram; a lane has registers for a whole cell
constexpr int kMaxBlocks = 132;  // one block per multiprocessor of an H100
constexpr int kCopies = 4;  // tables of the histogram per block; each is shared by a quarter of the warps

using Sum = unsigned long long;  // atomics know no signed type; the bits of a sum are the same
constexpr int kSums = sizeof(CameraSums) / sizeof(Sum);
constexpr int kNumbers = sizeof(CameraNumbers) / sizeof(unsigned);

// In global memory; all zero between frames.
struct Accumulator {
  CameraNumbers numbers;
  unsigned blocks;  // that have finished
};

// The pixels of a cell's row, two in a word: those of the columns 0 and 2, 4 and 6; 1 and 3, 5 and 7.
struct Pairs {
  unsigned even[2], odd[2];
};

__device__ Pairs pairs_of(uint2 row) {
  constexpr unsigned kLowBytes = 0x00ff00ffu;
  return {{row.x & kLowBytes, row.y & kLowBytes}, {row.x >> 8 & kLowBytes, row.y >> 8 & kLowBytes}};
}

// The upper half of `first` and the lower half of `second`: the neighbours between two pairs.
__device__ unsigned between(unsigned first, unsigned second) { return __byte_perm(first, second, 0x5432); }

// Two numbers with signs in a word: low + (high << 16).
__device__ int low_of(int word) { return static_cast<std::int16_t>(word); }
__device__ int high_of(int word) { return (word - low_of(word)) >> 16; }

// A whole cell whose first pixel is (x, y), and the pixels around it. All are loaded before the first is used.
struct Window {
  uint2 rows[kCameraCell + 2];
  unsigned left[kCameraCell], right[kCameraCell];

  __device__ Window(ImageView<const std::uint8_t> picture, int x, int y) {
#pragma unroll
    for (int r = 0; r < kCameraCell + 2; ++r)
      rows[r] = *reinterpret_cast<const uint2 *>(picture.row(mirror_index(y + r - 1, picture.height)) + x);
#pragma unroll
    for (int r = 0; r < kCameraCell; ++r) {
      left[r] = picture.row(y + r)[mirror_index(x - 1, picture.width)];
      right[r] = picture.row(y + r)[mirror_index(x + kCameraCell, picture.width)];
    }
  }
  // Of row r, in words as those of Pairs.
  __device__ void laplacians(int r, int (&words)[4]) const {
    const Pairs up = pairs_of(rows[r]), here = pairs_of(rows[r + 1]), down = pairs_of(rows[r + 2]);
    const unsigned *even = here.even, *odd = here.odd;
    const unsigned beside_even[] = {between(left[r] << 16, odd[0]) + odd[0],
                                    between(odd[0], odd[1]) + odd[1]},
                   beside_odd[] = {even[0] + between(even[0], even[1]), even[1] + between(even[1], right[r])};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      words[i] = static_cast<int>(up.even[i] + down.even[i] + beside_even[i] - 4 * even[i]);
      words[i + 2] = static_cast<int>(up.odd[i] + down.odd[i] + beside_odd[i] - 4 * odd[i]);
    }
  }
};

// What a lane adds the pixels of its cells to.
struct Target {
  int noise;
  unsigned *table;   // of the histogram
  SmallSums sums{};  // of a cell
  int sum = 0;       // of its pixels

  // Four pixels, but for their Laplacians.
  __device__ void add_four(unsigned now, unsigned before) {
    constexpr unsigned kOnes = 0x01010101u;
    const unsigned difference = __vabsdiffu4(now, before),
                   above = __vcmpgtu4(difference, static_cast<unsigned>(noise) * kOnes);
    sums.changed += __popc(above) / 8;
    sums.difference += static_cast<int>(__dp4a(difference & ~above, kOnes, 0u));
    sum += static_cast<int>(__dp4a(now, kOnes, 0u));
#pragma unroll
    for (int i = 0; i < 32; i += 8) atomicAdd(&table[now >> i & 255], 1u);
  }
  __device__ void add_laplacians(int now, int before) {
    const int low = low_of(now), high = high_of(now);
    sums.laplacian += low + high;
    sums.laplacian_square += low * low + high * high;
    sums.laplacian_common += low * low_of(before) + high * high_of(before);
  }
};

__device__ void add_whole_cell(const Frames &frames, int x, int y, Target *target) {
  const Window now(frames.now, x, y), before(frames.before, x, y);
#pragma unroll
  for (int r = 0; r < kCameraCell; ++r) {
    int words[4], words_before[4];
    now.laplacians(r, words), before.laplacians(r, words_before);
#pragma unroll
    for (int i = 0; i < 4; ++i) target->add_laplacians(words[i], words_before[i]);
    target->add_four(now.rows[r + 1].x, before.rows[r + 1].x);
    target->add_four(now.rows[r + 1].y, before.rows[r + 1].y);
    *reinterpret_cast<uint2 *>(frames.copy.row(y + r) + x) = now.rows[r + 1];
  }
}

__device__ int laplacian_at(ImageView<const std::uint8_t> picture, int x, int y) {
  const auto at = [&](int column, int row) {
    return picture.row(mirror_index(row, picture.height))[mirror_index(column, picture.width)];
  };
  return laplacian(at(x, y - 1), at(x - 1, y), at(x, y), at(x + 1, y), at(x, y + 1));
}

// A cell of any size, of pixels at any address.
__device__ void add_cell(const Frames &frames, int first_x, int first_y, Target *target) {
  for (int y = first_y; y < min(first_y + kCameraCell, frames.now.height); ++y)
    for (int x = first_x; x < min(first_x + kCameraCell, frames.now.width); ++x) {
      const std::uint8_t value = frames.now.row(y)[x];
      add_pixel(&target->sums, laplacian_at(frames.now, x, y), laplacian_at(frames.before, x, y), value,
                frames.before.row(y)[x], target->noise);
      target->sum += value;
      atomicAdd(&target->table[value], 1u);
      frames.copy.row(y)[x] = value;
    }
}

static __global__ void __launch_bounds__(kThreads, 1)
    camera_kernel(Frames frames, bool is_wide, Accumulator *total) {
  CUDAVISION_SHARED(unsigned[kCopies][256], tables);
  CUDAVISION_SHARED(Sum[kSums], block_sums);
  CUDAVISION_SHARED(bool, is_last);
  const int thread = static_cast<int>(threadIdx.x);
  for (int c = 0; c < kCopies; ++c) tables[c][thread] = 0;
  if (thread < kSums) block_sums[thread] = 0;
  __syncthreads();
  let_next_kernel_start();
  wait_for_kernel_ahead();  // it writes the frame before and the accumulator

  const Size size{frames.now.width, frames.now.height};
  const int across = divide_up(size.width, kCameraCell), count = across * divide_up(size.height, kCameraCell);
  CameraSums sums{};
  for (int i = static_cast<int>(blockIdx.x) * kThreads + thread; i < count;
       i += static_cast<int>(gridDim.x) * kThreads) {
    const int x = i % across * kCameraCell, y = i / across * kCameraCell;
    Target target{frames.noise, tables[thread / 32 % kCopies]};
    if (is_wide && x + kCameraCell <= size.width && y + kCameraCell <= size.height)
      add_whole_cell(frames, x, y, &target);
    else
      add_cell(frames, x, y, &target);
    add_sums(&sums, target.sums);
    frames.cells[i] = cell_mean(target.sum, x, y, size);
  }
  const std::int64_t own[kSums] = {sums.laplacian, sums.laplacian_square, sums.laplacian_common, sums.changed,
                                   sums.difference};
  for (int i = 0; i < kSums; ++i)
    if (const Sum sum = warp_sum(static_cast<Sum>(own[i])); thread % 32 == 0) atomicAdd(&block_sums[i], sum);
  __syncthreads();

  unsigned count_of_value = 0;
  for (int c = 0; c < kCopies; ++c) count_of_value += tables[c][thread];
  if (count_of_value != 0) atomicAdd(&total->numbers.histogram[thread], count_of_value);
  if (thread < kSums) atomicAdd(reinterpret_cast<Sum *>(&total->numbers.sums) + thread, block_sums[thread]);
  if (!is_last_block(&total->blocks, gridDim.x, &is_last)) return;
  auto *sum = reinterpret_cast<unsigned *>(&total->numbers),
       *to = reinterpret_cast<unsigned *>(frames.numbers);
  for (int i = thread; i < kNumbers; i += kThreads) to[i] = __ldcg(&sum[i]), sum[i] = 0;
  if (thread == 0) total->blocks = 0;
}

class CameraStatsCuda final : public KeptFrames {
 public:
  using KeptFrames::KeptFrames;

  Status allocate() {
    CUDAVISION_TRY(KeptFrames::allocate());
    CUDAVISION_TRY(total_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(total_.data(), 0, sizeof(Accumulator), execution_.stream));
  }

 private:
  Status compute(const Frames &frames) override {
    const Size cells = camera_cells(frames.now.size());
    const unsigned blocks = std::min<unsigned>(blocks_for(cells.width * cells.height, kThreads), kMaxBlocks);
    // Whether the pixels of a cell's row can be read and written at once.
    const bool is_wide = has_aligned_rows(frames.now, kCameraCell) &&
                         has_aligned_rows(frames.before, kCameraCell) &&
                         has_aligned_rows(frames.copy, kCameraCell);
    return CUDAVISION_LAUNCH_PDL("camera_kernel", camera_kernel, dim3(blocks), dim3(kThreads),
                                 execution_.stream, frames, is_wide, total_.data());
  }

  DeviceBuffer<Accumulator> total_;
};

}  // namespace

Status make_camerastats_cuda(const Execution &execution, Size size, std::unique_ptr<CameraStats> *stats) {
  return make_as<CameraStatsCuda>(stats, execution, size);
}

}  // namespace cudavision::camerastats
