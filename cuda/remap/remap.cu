// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the remapping: a kernel for all maps, and a kernel for all grids of a frame.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/remap/remap_backends.h"

namespace cudavision::remap {
namespace {

constexpr int kSamples = 4;  // neighbouring samples of a lane

// The grids lie below one another in the blocks of a kernel.
struct BlockRows {
  int first[Remap::kMostGrids] = {};  // the first row of blocks of each grid
  int count = 0;                      // of grids
};

template <typename Tasks>
dim3 blocks_of(const Tasks &tasks, int samples_per_lane, BlockRows *rows) {
  dim3 blocks(1, 0);
  rows->count = tasks.count;
  for (int i = 0; i < tasks.count; ++i) {
    const Size size = tasks.task[i].map.size;
    const dim3 own = grid_2d(size.width, size.height, kBlockX * samples_per_lane);
    rows->first[i] = static_cast<int>(blocks.y);
    blocks.x = std::max(blocks.x, own.x);
    blocks.y += own.y;
  }
  return blocks;
}

// The grid of a block, and the first sample of a lane that has `count` samples of a row.
struct LanePlace {
  int grid, x, y;
};

__device__ LanePlace place_of(const BlockRows &rows, int count) {
  const int row = static_cast<int>(blockIdx.y);
  int grid = 0;
  while (grid + 1 < rows.count && row >= rows.first[grid + 1]) ++grid;
  return {grid, static_cast<int>(blockIdx.x * kBlockX + threadIdx.x) * count,
          (row - rows.first[grid]) * kBlockY + static_cast<int>(threadIdx.y)};
}

template <Lens kLens>
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    map_kernel(const __grid_constant__ CameraModel camera, const __grid_constant__ MapTasks tasks,
               const __grid_constant__ BlockRows rows) {
  const LanePlace at = place_of(rows, 1);
  const MapTask &task = tasks.task[at.grid];
  if (at.x >= task.map.size.width || at.y >= task.map.size.height) return;
  const std::ptrdiff_t entry = static_cast<std::ptrdiff_t>(at.y) * task.map.pitch + at.x;
  map_sample<kLens>(camera, task, task.columns[at.x], task.rows[at.y], &task.map.places[entry],
                    &task.map.fractions[entry]);
}

// All channels of kSamples samples.
template <int kBytes>
using Samples = std::conditional_t<kBytes == 1, unsigned, std::conditional_t<kBytes == 2, uint2, uint4>>;

struct Launch {
  GridTasks tasks;
  BlockRows rows;
  bool is_wide[Remap::kMostGrids] = {};  // samples can be read, and kSamples of them written, at once
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

// Writes kSamples samples from (x, y) on and returns true, unless a place needs the border. All loads begin before the
// first sample is used. Offsets have 32 bits, so that an address is a register beside a base that the block shares.
template <int kBytes, Interpolation kInterpolation>
__device__ bool remap_inside(const GridTask &task, int x, int y) {
  constexpr bool is_linear = kInterpolation == Interpolation::linear;
  const std::ptrdiff_t entry = static_cast<std::ptrdiff_t>(y) * task.map.pitch + x;
  const uint4 places = __ldcg(reinterpret_cast<const uint4 *>(task.map.places + entry));
  const uint2 fractions = __ldcg(reinterpret_cast<const uint2 *>(task.map.fractions + entry));
  wait_for_kernel_ahead();  // which may still write the picture; the map is old
  const unsigned place[kSamples] = {places.x, places.y, places.z, places.w};
  const unsigned pair[kSamples / 2] = {fractions.x, fractions.y};
  const auto beyond = [&](int i, int bits) {
    return static_cast<int>(pair[i / 2] >> (i % 2 * 16 + bits) & (kFractions - 1));
  };
  unsigned offset[kSamples];
  bool inside = true;
#pragma unroll
  for (int i = 0; i < kSamples; ++i) {
    int column = static_cast<std::int16_t>(place[i] & 0xffff), row = static_cast<int>(place[i]) >> 16;
    if (!is_linear) column = nearest(column, beyond(i, 0)), row = nearest(row, beyond(i, kFractionBits));
    inside = inside && is_inside(task.source_size, column, row, kInterpolation);
    offset[i] = static_cast<unsigned>(row * static_cast<int>(task.source.pitch_bytes) + column * kBytes);
  }
  if (!inside) return false;
  const std::uint8_t *const data[] = {task.source.data, task.source.data + task.source.pitch_bytes};
  unsigned corner[kSamples][4];
#pragma unroll
  for (int i = 0; i < kSamples; ++i)
#pragma unroll
    for (int k = 0; k < (is_linear ? 4 : 1); ++k)
      corner[i][k] = __ldg(reinterpret_cast<const Sample<kBytes> *>(data[k / 2] + offset[i]) + k % 2);
  unsigned word[kBytes] = {};
#pragma unroll
  for (int i = 0; i < kSamples; ++i) {
    unsigned sample = corner[i][0];
    if (is_linear) sample = interpolate_all<kBytes>(corner[i], beyond(i, 0), beyond(i, kFractionBits));
    word[i * kBytes / 4] |= sample << i * kBytes % 4 * 8;
  }
  auto *to = reinterpret_cast<Samples<kBytes> *>(task.output.data + y * task.output.pitch_bytes + x * kBytes);
  if constexpr (kBytes == 1) *to = word[0];
  if constexpr (kBytes == 2) *to = make_uint2(word[0], word[1]);
  if constexpr (kBytes == 4) *to = make_uint4(word[0], word[1], word[2], word[3]);
  return true;
}

template <Interpolation kInterpolation>
static __global__ void __launch_bounds__(kBlockX *kBlockY, 8)
    remap_kernel(const __grid_constant__ Launch launch) {
  if (launch.tasks.maps_are_new)
    wait_for_kernel_ahead();  // before the next kernel, which does not, can start
  let_next_kernel_start();
  const auto [grid, x, y] = place_of(launch.rows, kSamples);
  const GridTask &task = launch.tasks.task[grid];
  const Size size = task.map.size;
  if (x >= size.width || y >= size.height) return;
  if (launch.is_wide[grid] && x + kSamples <= size.width) {
    if (task.channels == 1 && remap_inside<1, kInterpolation>(task, x, y)) return;
    if (task.channels == 2 && remap_inside<2, kInterpolation>(task, x, y)) return;
    if (task.channels == 4 && remap_inside<4, kInterpolation>(task, x, y)) return;
  }
  wait_for_kernel_ahead();
  const std::ptrdiff_t entry = static_cast<std::ptrdiff_t>(y) * task.map.pitch;
  for (int i = x; i < min(x + kSamples, size.width); ++i) {
    const Place place = task.map.places[entry + i];
    const std::uint16_t fraction = task.map.fractions[entry + i];
    std::uint8_t *to = task.output.data + y * task.output.pitch_bytes +
                       static_cast<std::ptrdiff_t>(i) * task.output.step_bytes;
    for (int c = 0; c < task.channels; ++c)
      to[c] = static_cast<std::uint8_t>(remap_sample<kInterpolation>(task, place, fraction, c));
  }
}

bool is_aligned(const SampleGrid &samples, int bytes) {
  return reinterpret_cast<std::uintptr_t>(samples.data) % static_cast<unsigned>(bytes) == 0 &&
         samples.pitch_bytes % bytes == 0;
}

bool is_wide(const GridTask &task) {
  const int bytes = task.channels;
  return bytes != 3 && task.source.pitch_bytes >= 0 && task.source.step_bytes == bytes &&
         task.output.step_bytes == bytes && is_aligned(task.source, bytes) &&
         is_aligned(task.output, bytes * kSamples);
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
  for (int i = 0; i < tasks.count; ++i) launch.is_wide[i] = is_wide(tasks.task[i]);
  const bool is_linear = tasks.task[0].settings.interpolation == Interpolation::linear;
  const auto kernel = is_linear ? remap_kernel<Interpolation::linear> : remap_kernel<Interpolation::nearest>;
  return CUDAVISION_LAUNCH_PDL("remap_kernel", kernel, blocks, block_2d(), execution.stream, launch);
}

}  // namespace cudavision::remap
