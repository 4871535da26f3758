// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of redaction (hiding parts of a frame).
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/static_shared.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/redact/redact_backends.h"

namespace cudavision::redact {
namespace {

constexpr int kThreads = 256;  // threads that compute the means of a cell

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    place_kernel(MaskSet masks, ImageView<std::uint8_t> dst) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x < dst.width && y < dst.height) dst.row(y)[x] = is_masked(masks, x, y) ? 255 : 0;
}

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    take_means_kernel(Samples samples, ImageView<std::uint8_t> dst) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x < dst.width && y < dst.height) dst.row(y)[x] = mean_of_square(samples, x, y);
}

// Computes the mean of each component in every cell. One block per cell: blockIdx.x is the cell, blockIdx.y its box.
static __global__ void __launch_bounds__(kThreads)
    means_kernel(const __grid_constant__ Task task, std::uint8_t *means) {
  CUDAVISION_SHARED(unsigned long long[kThreads / 32], sums);
  const Box box = task.boxes[blockIdx.y];
  const int cell = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  if (cell >= box.columns * box.rows) return;
  for (int i = 0; i < task.frame.component_count(); ++i) {
    const Component &c = task.frame.component[i];
    const Region samples = samples_of_cell(box, cell % box.columns, cell / box.columns, c);
    unsigned long long sum = 0;
    for (int y = thread / 32; y < samples.height; y += kThreads / 32) {
      const std::uint8_t *from =
          c.data + (samples.y + y) * c.pitch_bytes + static_cast<std::ptrdiff_t>(samples.x) * c.step_bytes;
      for (int x = thread % 32; x < samples.width; x += 32) sum += from[x * c.step_bytes];
    }
    sum = warp_sum(sum);
    if (thread % 32 == 0) sums[thread / 32] = sum;
    __syncthreads();
    if (thread == 0) {
      for (int warp = 1; warp < kThreads / 32; ++warp) sum += sums[warp];
      means[3LL * (box.first_cell + cell) + i] = mean_of(sum, 1LL * samples.width * samples.height);
    }
    __syncthreads();
  }
}

// Hides pixels: each thread handles one group.
static __global__ void __launch_bounds__(kBlockX *kBlockY) hide_kernel(const __grid_constant__ Task task) {
  const Frame &frame = task.frame;
  const int shift_x = group_shift_x(task), shift_y = group_shift_y(task);
  const int x = (static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x)) << shift_x;
  const int y = (static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y)) << shift_y;
  if (x >= frame.width || y >= frame.height) return;
  const int end_x = min(frame.width, x + (1 << shift_x)), end_y = min(frame.height, y + (1 << shift_y));
  int by = kVisible;
  for (int py = y; py < end_y; ++py)
    for (int px = x; px < end_x; ++px) by = max(by, hidden_by(task, selected_by(task, px, py), px, py));
  if (task.map.data != nullptr)
    for (int py = y; py < end_y; ++py)
      for (int px = x; px < end_x; ++px) task.map.row(py)[px] = by == kVisible ? 0 : 255;
  if (by != kVisible) hide(task, by, x, y);
}

}  // namespace

Status place_masks_cuda(const Execution &execution, const MaskSet &masks, ImageView<std::uint8_t> dst) {
  return CUDAVISION_LAUNCH(place_kernel, grid_2d(dst.width, dst.height), block_2d(), execution.stream, masks,
                           dst);
}

Status take_means_cuda(const Execution &execution, const Samples &samples, ImageView<std::uint8_t> dst) {
  return CUDAVISION_LAUNCH(take_means_kernel, grid_2d(dst.width, dst.height), block_2d(), execution.stream,
                           samples, dst);
}

Status find_means_cuda(const Execution &execution, const Task &task, int most_cells, std::uint8_t *means) {
  const dim3 grid(static_cast<unsigned>(most_cells), static_cast<unsigned>(task.box_count));
  return CUDAVISION_LAUNCH(means_kernel, grid, dim3(kThreads), execution.stream, task, means);
}

Status hide_cuda(const Execution &execution, const Task &task) {
  const int columns = divide_up(task.frame.width, 1 << group_shift_x(task)),
            rows = divide_up(task.frame.height, 1 << group_shift_y(task));
  return CUDAVISION_LAUNCH(hide_kernel, grid_2d(columns, rows), block_2d(), execution.stream, task);
}

}  // namespace cudavision::redact
