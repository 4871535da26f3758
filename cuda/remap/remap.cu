// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the remapping: a kernel for all maps, and a kernel for all grids of a frame.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cstdint>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/remap/remap_backends.h"

namespace cudavision::remap {
namespace {

constexpr int kSamples = 6;       // of a lane, each kBlockX samples from the next
constexpr int kBlocksAtOnce = 6;  // per multiprocessor

// The grids lie below one another in the blocks of a kernel.
struct BlockRows {
  int first[Remap::kMostGrids];  // the first row of blocks of each grid
};

template <typename Tasks>
dim3 blocks_of(const Tasks &tasks, int samples_per_lane, BlockRows *rows) {
  dim3 blocks(1, 0);
  std::fill_n(rows->first, Remap::kMostGrids, INT_MAX);
  for (int i = 0; i < tasks.count; ++i) {
    const Size size = tasks.task[i].map.size;
    const dim3 own = grid_2d(size.width, size.height, kBlockX * samples_per_lane);
    rows->first[i] = static_cast<int>(blocks.y);
    blocks.x = std::max(blocks.x, own.x);
    blocks.y += own.y;
  }
  return blocks;
}

// The grid of a block, the first column of the block, whose lanes have `samples` samples of a row, and the lane's row.
struct BlockPlace {
  int grid, x, y;
};

__device__ BlockPlace place_of(const BlockRows &rows, int samples) {
  const int row = static_cast<int>(blockIdx.y);
  int grid = 0;
  for (int i = 1; i < Remap::kMostGrids; ++i) grid += row >= rows.first[i];
  return {grid, static_cast<int>(blockIdx.x) * kBlockX * samples,
          (row - rows.first[grid]) * kBlockY + static_cast<int>(threadIdx.y)};
}

template <Lens kLens>
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    map_kernel(const __grid_constant__ CameraModel camera, const __grid_constant__ MapTasks tasks,
               const __grid_constant__ BlockRows rows) {
  const auto [grid, first, y] = place_of(rows, 1);
  const MapTask &task = tasks.task[grid];
  const int x = first + static_cast<int>(threadIdx.x);
  if (x >= task.map.size.width || y >= task.map.size.height) return;
  const std::ptrdiff_t entry = task.map.entry(x, y);
  map_sample<kLens>(camera, task, task.columns[x], task.rows[y], &task.map.places[entry],
                    &task.map.fractions[entry]);
}

struct Launch {
  GridTasks tasks;
  BlockRows rows;
  bool is_whole[Remap::kMostGrids] = {};  // all channels of a sample can be read and written at once
};

// corner: all channels of the neighbours above and below at the left and right.
template <int kBytes>
__device__ unsigned interpolate_all(const unsigned (&corner)[4], int x, int y) {
  unsigned sample = 0;
#pragma unroll
  for (int c = 0; c < kBytes; ++c) {
    const auto at = [&](int i) { return static_cast<int>(corner[i] >> 8 * c & 255); };
    sample |= static_cast<unsigned>(interpolate(at(0), at(1), at(2), at(3), x, y)) << 8 * c;
  }
  return sample;
}

// Writes kCount samples of a lane, from (x, y) on, and returns true, unless a place needs the border. All loads begin
// before the first sample is used.
template <int kCount, int kBytes, Interpolation kInterpolation>
__device__ bool remap_inside(const GridTask &task, int x, int y) {
  constexpr bool is_linear = kInterpolation == Interpolation::linear;
  const std::ptrdiff_t entry = task.map.entry(x, y);
  unsigned place[kCount];
  std::uint16_t fraction[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    place[i] = __ldcg(reinterpret_cast<const unsigned *>(task.map.places + entry) + i * kBlockX);
    fraction[i] = __ldcg(task.map.fractions + entry + i * kBlockX);
  }
  wait_for_kernel_ahead();  // which may still write the picture; the map is old
  unsigned offset[kCount];
  bool inside = true;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    int column = static_cast<std::int16_t>(place[i] & 0xffff), row = static_cast<int>(place[i]) >> 16;
    if (!is_linear)
      column = nearest(column, fraction_x(fraction[i])), row = nearest(row, fraction_y(fraction[i]));
    inside &= is_inside(task.source_size, column, row, kInterpolation);
    offset[i] = static_cast<unsigned>(row * static_cast<int>(task.source.pitch_bytes) + column * kBytes);
  }
  if (!inside) return false;
  const std::uint8_t *const data[] = {task.source.data, task.source.data + task.source.pitch_bytes};
  unsigned corner[kCount][4];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
#pragma unroll
    for (int k = 0; k < (is_linear ? 4 : 1); ++k)
      corner[i][k] = __ldg(reinterpret_cast<const Sample<kBytes> *>(data[k / 2] + offset[i]) + k % 2);
  auto *to = reinterpret_cast<Sample<kBytes> *>(task.output.data + y * task.output.pitch_bytes) + x;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    to[i * kBlockX] = static_cast<Sample<kBytes>>(
        is_linear ? interpolate_all<kBytes>(corner[i], fraction_x(fraction[i]), fraction_y(fraction[i]))
                  : corner[i][0]);
  return true;
}

template <int kCount, Interpolation kInterpolation>
__device__ bool remap_inside(const GridTask &task, int x, int y) {
  return task.channels == 1   ? remap_inside<kCount, 1, kInterpolation>(task, x, y)
         : task.channels == 2 ? remap_inside<kCount, 2, kInterpolation>(task, x, y)
                              : remap_inside<kCount, 4, kInterpolation>(task, x, y);
}

template <Interpolation kInterpolation>
static __global__ void __launch_bounds__(kBlockX *kBlockY, kBlocksAtOnce)
    remap_kernel(const __grid_constant__ Launch launch) {
  if (launch.tasks.maps_are_new)
    wait_for_kernel_ahead();  // before the next kernel, which does not, can start
  let_next_kernel_start();
  const auto [grid, first, y] = place_of(launch.rows, kSamples);
  const GridTask &task = launch.tasks.task[grid];
  const int x = first + static_cast<int>(threadIdx.x),
            end = min(first + kSamples * kBlockX, task.map.size.width);
  if (x >= end || y >= task.map.size.height) return;
  const bool is_whole = launch.is_whole[grid];
  if (is_whole && x + (kSamples - 1) * kBlockX < end && remap_inside<kSamples, kInterpolation>(task, x, y))
    return;
  wait_for_kernel_ahead();
  const std::ptrdiff_t entry = task.map.entry(0, y);
  for (int i = x; i < end; i += kBlockX) {
    if (is_whole && remap_inside<1, kInterpolation>(task, i, y)) continue;
    const Place place = task.map.places[entry + i];
    const std::uint16_t fraction = task.map.fractions[entry + i];
    std::uint8_t *to = task.output.data + y * task.output.pitch_bytes +
                       static_cast<std::ptrdiff_t>(i) * task.output.step_bytes;
    for (int c = 0; c < task.channels; ++c)
      to[c] = static_cast<std::uint8_t>(remap_sample<kInterpolation>(task, place, fraction, c));
  }
}

bool is_whole(const GridTask &task) {
  const int bytes = task.channels;
  return bytes != 3 && task.source.pitch_bytes >= 0 && task.source.step_bytes == bytes &&
         task.output.step_bytes == bytes && has_aligned_rows(task.source, bytes) &&
         has_aligned_rows(task.output, bytes);
}

}  // namespace

Status make_maps_cuda(const Execution &execution, const CameraModel &camera, const MapTasks &tasks) {
  const auto kernel = camera.lens == Lens::fisheye ? map_kernel<Lens::fisheye> : map_kernel<Lens::pinhole>;
  BlockRows rows;
  const dim3 blocks = blocks_of(tasks, 1, &rows);
  return CUDAVISION_LAUNCH_NAMED("map_kernel", kernel, blocks, block_2d(), execution.stream, camera, tasks,
                                 rows);
}

Status remap_grids_cuda(const Execution &execution, const GridTasks &tasks) {
  Launch launch{tasks, {}, {}};
  const dim3 blocks = blocks_of(tasks, kSamples, &launch.rows);
  for (int i = 0; i < tasks.count; ++i) launch.is_whole[i] = is_whole(tasks.task[i]);
  const bool is_linear = tasks.task[0].settings.interpolation == Interpolation::linear;
  const auto kernel = is_linear ? remap_kernel<Interpolation::linear> : remap_kernel<Interpolation::nearest>;
  return CUDAVISION_LAUNCH_PDL("remap_kernel", kernel, blocks, block_2d(), execution.stream, launch);
}

}  // namespace cudavision::remap
