// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's pyramid on the device, with Scharr's derivatives of every level: one kernel a level makes both.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "cuda/common/buffer.h"
#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_rules.h"

namespace cudavision::opticalflow {

struct alignas(4) Gradient {
  std::int16_t x, y;
};

constexpr int kShrinkX = 32, kShrinkY = 8;  // pixels of the next level that a block makes, a thread each
constexpr int kShrinkThreads = kShrinkX * kShrinkY;

// What a block reads: its pixels and two more on each side. Row r is row r - 2 of them.
struct LevelTile {
  std::uint8_t pixel[2 * kShrinkY + 4][2 * kShrinkX + 4];
  std::uint16_t sum[2 * kShrinkY + 4][kShrinkX];  // of rows: at most 16 * 255
};

__device__ inline void load_tile(ImageView<const std::uint8_t> level, int x0, int y0, LevelTile &tile) {
  constexpr int kWidth = 2 * kShrinkX + 4, kHeight = 2 * kShrinkY + 4;
  for (int i = static_cast<int>(threadIdx.x); i < kWidth * kHeight; i += kShrinkThreads)
    tile.pixel[i / kWidth][i % kWidth] = level.row(
        mirror_index(y0 + i / kWidth - 2, level.height))[mirror_index(x0 + i % kWidth - 2, level.width)];
}

// A block for 2 kShrinkX x 2 kShrinkY pixels of a level: copies them (where copy is not empty), derives them,
// and makes their part of the next level (where that is not empty).
static __global__ void __launch_bounds__(kShrinkThreads)
    prepare_level_kernel(ImageView<const std::uint8_t> level, ImageView<std::uint8_t> copy,
                         ImageView<Gradient> gradient, ImageView<std::uint8_t> next) {
  __shared__ LevelTile tile;
  const int thread = static_cast<int>(threadIdx.x);
  const int x0 = static_cast<int>(blockIdx.x) * 2 * kShrinkX,
            y0 = static_cast<int>(blockIdx.y) * 2 * kShrinkY;
  load_tile(level, x0, y0, tile);
  __syncthreads();

  for (int i = thread; i < 4 * kShrinkThreads; i += kShrinkThreads) {
    const int tx = i % (2 * kShrinkX), ty = i / (2 * kShrinkX), x = x0 + tx, y = y0 + ty;
    if (x >= level.width || y >= level.height) continue;
    const auto at = [&](int dx, int dy) { return static_cast<int>(tile.pixel[ty + 2 + dy][tx + 2 + dx]); };
    gradient.row(y)[x] = {
        static_cast<std::int16_t>(scharr(at(1, -1) - at(-1, -1), at(1, 0) - at(-1, 0), at(1, 1) - at(-1, 1))),
        static_cast<std::int16_t>(
            scharr(at(-1, 1) - at(-1, -1), at(0, 1) - at(0, -1), at(1, 1) - at(1, -1)))};
    if (copy.data != nullptr) copy.row(y)[x] = tile.pixel[ty + 2][tx + 2];
  }
  if (next.data == nullptr) return;  // for all threads alike

  for (int i = thread; i < (2 * kShrinkY + 4) * kShrinkX; i += kShrinkThreads) {
    const std::uint8_t *p = &tile.pixel[i / kShrinkX][2 * (i % kShrinkX)];
    tile.sum[i / kShrinkX][i % kShrinkX] = static_cast<std::uint16_t>(smooth_5(p[0], p[1], p[2], p[3], p[4]));
  }
  __syncthreads();
  const int tx = thread % kShrinkX, ty = thread / kShrinkX, x = x0 / 2 + tx, y = y0 / 2 + ty;
  if (x >= next.width || y >= next.height) return;
  const auto s = [&](int k) { return static_cast<int>(tile.sum[2 * ty + k][tx]); };
  next.row(y)[x] = static_cast<std::uint8_t>((smooth_5(s(0), s(1), s(2), s(3), s(4)) + 128) >> 8);
}

class DevicePyramid {
 public:
  Status allocate(Size frame, int levels) {
    for (int level = 0; level <= levels; ++level, frame = next_level(frame)) {
      CUDAVISION_TRY(pictures_.emplace_back().allocate(frame));
      CUDAVISION_TRY(gradients_.emplace_back().allocate(frame));
    }
    return {};
  }

  // Takes a frame, and makes `levels` levels above it. Enqueues levels + 1 kernels.
  Status build(cudaStream_t stream, ImageView<const std::uint8_t> luma, int levels) {
    CUDAVISION_TRY(prepare(stream, luma, picture(0), 0, levels));
    return extend(stream, 0, levels);
  }
  // Makes more levels than the `built` ones of the frame that it has.
  Status extend_to(cudaStream_t stream, int built, int levels) {
    if (levels <= built) return {};
    CUDAVISION_TRY(prepare(stream, picture(built), {}, built, levels));
    return extend(stream, built, levels);
  }

  ImageView<std::uint8_t> picture(int level) const {
    return pictures_[static_cast<std::size_t>(level)].view();
  }
  ImageView<Gradient> gradient(int level) const { return gradients_[static_cast<std::size_t>(level)].view(); }

 private:
  Status extend(cudaStream_t stream, int from, int levels) {
    for (int level = from + 1; level <= levels; ++level)
      CUDAVISION_TRY(prepare(stream, picture(level), {}, level, levels));
    return {};
  }

  Status prepare(cudaStream_t stream, ImageView<const std::uint8_t> source, ImageView<std::uint8_t> copy,
                 int level, int levels) {
    const dim3 grid(static_cast<unsigned>(divide_up(source.width, 2 * kShrinkX)),
                    static_cast<unsigned>(divide_up(source.height, 2 * kShrinkY)));
    return CUDAVISION_LAUNCH(prepare_level_kernel, grid, dim3(kShrinkThreads), stream, source, copy,
                             gradient(level),
                             level < levels ? picture(level + 1) : ImageView<std::uint8_t>{});
  }

  std::vector<DeviceImage<std::uint8_t>> pictures_;
  std::vector<DeviceImage<Gradient>> gradients_;
};

}  // namespace cudavision::opticalflow
