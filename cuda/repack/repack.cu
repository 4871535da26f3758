// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of repacking: a thread per pixel handles all its components, because components of 10 bits
// share bytes.
#include <cuda_runtime.h>

#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/repack/repack_backends.h"
#include "cuda/repack/repack_rules.h"

namespace cudavision::repack {
namespace {

// The members of a RepackedFrame that a kernel needs.
struct Task {
  RepackedComponent component[4];
  int components;
  Range range;
  Region region;
};

Task task_of(const RepackedFrame &frame, int components, Region region) {
  Task task = {.component = {}, .components = components, .range = range_of(frame), .region = region};
  for (int i = 0; i < components; ++i) task.component[i] = frame.component[i];
  return task;
}

// Whether (x, y) is the first pixel in the region that belongs to its sample of c: the thread of this pixel handles it.
__device__ bool owns_sample(const Component &c, Region region, int x, int y) {
  return (x == region.x || (x & ((1 << c.shift_x) - 1)) == 0) &&
         (y == region.y || (y & ((1 << c.shift_y) - 1)) == 0);
}

// Calls work(component, x, y) for each component whose sample the pixel (x, y) of this thread owns.
template <typename Work>
__device__ void for_each_sample(const Task &task, const Work &work) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= task.region.width || y >= task.region.height) return;
  for (int i = 0; i < task.components; ++i) {
    const RepackedComponent &c = task.component[i];
    if (owns_sample(c.eight, task.region, task.region.x + x, task.region.y + y))
      work(c, task.region.x + x, task.region.y + y);
  }
}

static __global__ void __launch_bounds__(kBlockX *kBlockY) repack_kernel(Task task) {
  for_each_sample(task, [&](const RepackedComponent &c, int x, int y) {
    c.eight.at(x, y) = read_sample(&c.wide.at(x, y), c.bit, task.range);
  });
}

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    unpack_kernel(Task task, ImageView<const std::uint8_t> replaced) {
  for_each_sample(task, [&](const RepackedComponent &c, int x, int y) {
    const int first_x = x >> c.eight.shift_x << c.eight.shift_x;
    if (replaced.data != nullptr && replaced.row(y)[first_x] != 0)
      replace_sample(&c.wide.at(x, y), c.bit, c.low, task.range, c.eight.at(x, y));
    else
      write_sample(&c.wide.at(x, y), c.bit, task.range, c.eight.at(x, y));
  });
}

}  // namespace

Status repack_cuda(const Execution &execution, const RepackedFrame &frame, int components) {
  const Task task = task_of(frame, components, {0, 0, frame.width, frame.height});
  return CUDAVISION_LAUNCH(repack_kernel, grid_2d(frame.width, frame.height), block_2d(), execution.stream,
                           task);
}

Status unpack_cuda(const Execution &execution, const RepackedFrame &frame, Region region,
                   ImageView<const std::uint8_t> replaced) {
  const Task task = task_of(frame, frame.count, region);
  return CUDAVISION_LAUNCH(unpack_kernel, grid_2d(region.width, region.height), block_2d(), execution.stream,
                           task, replaced);
}

}  // namespace cudavision::repack
