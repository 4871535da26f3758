// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the camera's statistics: one kernel. A warp takes pieces of 128 x 8 pixels, of which each lane
// has four columns, so that two lanes make a cell. The last block to finish writes the result.
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

constexpr int kThreads = 512, kWarps = kThreads / 32;
constexpr int kMaxBlocks = 132;  // one block per multiprocessor of an H100
constexpr int kCopies = 4;  // tables of the histogram per block; each is shared by a quarter of the warps
constexpr int kColumns = 4, kPieceWidth = 32 * kColumns, kRows = kCameraCell;

using Sum = unsigned long long;  // atomics know no signed type; the bits of a sum are the same
constexpr int kSums = sizeof(CameraSums) / sizeof(Sum);

// In global memory; all zero between frames.
struct Accumulator {
  Sum sums[kSums];
  unsigned histogram[256];
  unsigned blocks;  // that have finished
};

struct Pictures {
  ImageView<const std::uint8_t> now, before;
  ImageView<std::uint8_t> copy;
};

// Four pixels of a row from column x on, in the order of their bytes, and the pixels beside them.
struct Four {
  unsigned pixels;
  int left, right;

  __device__ int at(int i) const {
    return i < 0 ? left : i == kColumns ? right : static_cast<int>(pixels >> 8 * i & 255);
  }
};

// Row y, which may be one beyond an edge, of the lane's columns. All lanes of the warp must call.
__device__ Four load_row(ImageView<const std::uint8_t> picture, int x, int y) {
  const int width = picture.width, lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint8_t *row = picture.row(mirror_index(y, picture.height));
  Four four{0, 0, 0};
  if (x + kColumns <= width && reinterpret_cast<std::uintptr_t>(row + x) % kColumns == 0)
    four.pixels = *reinterpret_cast<const unsigned *>(row + x);
  else if (x <= width)  // the pixel at x == width is that beside the last one
    for (int i = 0; i < kColumns; ++i)
      four.pixels |= static_cast<unsigned>(row[mirror_index(x + i, width)]) << 8 * i;
  four.left = static_cast<int>(__shfl_up_sync(kFullWarp, four.pixels, 1) >> 24);
  four.right = static_cast<int>(__shfl_down_sync(kFullWarp, four.pixels, 1) & 255);
  if (lane == 0) four.left = row[mirror_index(x - 1, width)];
  if (lane == 31 && x + kColumns <= width) four.right = row[mirror_index(x + kColumns, width)];
  return four;
}

// The rows above, at and below a row.
struct ThreeRows {
  Four up, here, down;

  __device__ int laplacian(int i) const {
    return camerastats::laplacian(up.at(i), here.at(i - 1), here.at(i), here.at(i + 1), down.at(i));
  }
  __device__ void advance(const Four &next) { up = here, here = down, down = next; }
};

__device__ void store_copy(std::uint8_t *row, int count, unsigned pixels) {
  if (count == kColumns)
    *reinterpret_cast<unsigned *>(row) = pixels;
  else
    for (int i = 0; i < count; ++i) row[i] = static_cast<std::uint8_t>(pixels >> 8 * i);
}

// Adds the piece whose first pixel is (first_x, first_y), and writes its cells. All lanes of the warp must call.
__device__ void add_piece(const Pictures &pictures, int first_x, int first_y, int noise, CameraSums *sums,
                          unsigned *table, std::uint8_t *cells) {
  const int lane = static_cast<int>(threadIdx.x) % 32, x = first_x + lane * kColumns;
  const int width = pictures.now.width, height = pictures.now.height;
  const int count = max(0, min(kColumns, width - x));  // the lane's columns within the picture
  ThreeRows now{load_row(pictures.now, x, first_y - 1), load_row(pictures.now, x, first_y), {}};
  ThreeRows before{load_row(pictures.before, x, first_y - 1), load_row(pictures.before, x, first_y), {}};
  SmallSums own{};
  int sum = 0;
  const int rows = min(kRows, height - first_y);
#pragma unroll 2
  for (int r = 0; r < rows; ++r) {
    now.down = load_row(pictures.now, x, first_y + r + 1);
    before.down = load_row(pictures.before, x, first_y + r + 1);
    store_copy(pictures.copy.row(first_y + r) + x, count, now.here.pixels);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      if (i >= count) break;
      add_pixel(&own, now.laplacian(i), before.laplacian(i), now.here.at(i), before.here.at(i), noise);
      sum += now.here.at(i);
      atomicAdd(&table[now.here.at(i)], 1u);
    }
    now.advance(now.down), before.advance(before.down);
  }
  add_sums(sums, own);
  sum += __shfl_xor_sync(kFullWarp, sum, 1);
  if (lane % 2 == 0 && x < width)
    cells[first_y / kRows * divide_up(width, kRows) + x / kRows] =
        cell_mean(sum, x, first_y, {width, height});
}

// Adds the sums of the warp's lanes to those of the block.
__device__ void add_to_block(const CameraSums &own, Sum *block) {
  const std::int64_t sums[kSums] = {own.laplacian, own.laplacian_square, own.laplacian_common, own.changed,
                                    own.difference};
  for (int i = 0; i < kSums; ++i) {
    const Sum sum = warp_sum(static_cast<Sum>(sums[i]));
    if (threadIdx.x % 32 == 0) atomicAdd(&block[i], sum);
  }
}

static __global__ void __launch_bounds__(kThreads, 1)
    camera_kernel(Pictures pictures, int noise, Accumulator *total, CameraNumbers *numbers,
                  std::uint8_t *cells) {
  CUDAVISION_SHARED(unsigned[kCopies][256], tables);
  CUDAVISION_SHARED(Sum[kSums], block_sums);
  CUDAVISION_SHARED(bool, is_last);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  for (int i = thread; i < kCopies * 256; i += kThreads) (&tables[0][0])[i] = 0;
  if (thread < kSums) block_sums[thread] = 0;
  __syncthreads();
  let_next_kernel_start();
  wait_for_kernel_ahead();  // it writes the frame before and the accumulator

  const int across = divide_up(pictures.now.width, kPieceWidth),
            pieces = across * divide_up(pictures.now.height, kRows);
  CameraSums sums{};
  for (int i = static_cast<int>(blockIdx.x) * kWarps + warp; i < pieces;
       i += static_cast<int>(gridDim.x) * kWarps)
    add_piece(pictures, i % across * kPieceWidth, i / across * kRows, noise, &sums, tables[warp % kCopies],
              cells);
  add_to_block(sums, block_sums);
  __syncthreads();

  for (int i = thread; i < 256; i += kThreads) {
    unsigned sum = 0;
    for (int c = 0; c < kCopies; ++c) sum += tables[c][i];
    if (sum != 0) atomicAdd(&total->histogram[i], sum);
  }
  if (thread < kSums) atomicAdd(&total->sums[thread], block_sums[thread]);
  if (!is_last_block(&total->blocks, gridDim.x, &is_last)) return;
  for (int i = thread; i < 256; i += kThreads) {
    numbers->histogram[i] = __ldcg(&total->histogram[i]);
    total->histogram[i] = 0;
  }
  if (thread < kSums) {
    reinterpret_cast<Sum *>(&numbers->sums)[thread] = __ldcg(&total->sums[thread]);
    total->sums[thread] = 0;
  }
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
    const int pieces = divide_up(frames.now.width, kPieceWidth) * divide_up(frames.now.height, kRows);
    const unsigned blocks = std::min<unsigned>(blocks_for(pieces, kWarps), kMaxBlocks);
    const Pictures pictures{frames.now, frames.before, frames.copy};
    return CUDAVISION_LAUNCH_PDL("camera_kernel", camera_kernel, dim3(blocks), dim3(kThreads),
                                 execution_.stream, pictures, frames.noise, total_.data(), frames.numbers,
                                 frames.cells);
  }

  DeviceBuffer<Accumulator> total_;
};

}  // namespace

Status make_camerastats_cuda(const Execution &execution, Size size, std::unique_ptr<CameraStats> *stats) {
  return make_as<CameraStatsCuda>(stats, execution, size);
}

}  // namespace cudavision::camerastats
