// SPDX-License-Identifier: LGPL-2.1-or-later
// The pyramid of a frame in device memory, with the Scharr derivatives of every level. One kernel per level
// computes both (flow_pyramid.cuh).
#pragma once

#include <vector>

#include "cuda/common/buffer.h"
#include "cuda/common/grid.h"
#include "cuda/common/launch.h"
#include "cuda/opticalflow/flow_pyramid.cuh"

namespace cudavision::opticalflow {

class DevicePyramid {
 public:
  // levels: the number of levels above the frame.
  Status allocate(Size frame, int levels) {
    for (int level = 0; level <= levels; ++level, frame = next_level(frame)) {
      CUDAVISION_TRY(pictures_.emplace_back().allocate(frame));
      CUDAVISION_TRY(gradients_.emplace_back().allocate(frame));
    }
    return {};
  }

  // Copies a frame and computes `levels` levels above it. Enqueues levels + 1 kernels.
  Status build(cudaStream_t stream, ImageView<const std::uint8_t> luma, int levels) {
    CUDAVISION_TRY(prepare(stream, luma, picture(0), 0, levels));
    return prepare_above(stream, 0, levels);
  }
  // Adds levels to a pyramid that has `built` levels above the frame, until it has `levels`.
  Status extend(cudaStream_t stream, int built, int levels) {
    if (levels <= built) return {};
    CUDAVISION_TRY(prepare(stream, picture(built), {}, built, levels));
    return prepare_above(stream, built, levels);
  }

  ImageView<std::uint8_t> picture(int level) const {
    return pictures_[static_cast<std::size_t>(level)].view();
  }
  ImageView<ScharrGradient> gradient(int level) const {
    return gradients_[static_cast<std::size_t>(level)].view();
  }

 private:
  Status prepare_above(cudaStream_t stream, int from, int levels) {
    for (int level = from + 1; level <= levels; ++level)
      CUDAVISION_TRY(prepare(stream, picture(level), {}, level, levels));
    return {};
  }

  // Computes the derivatives of a level, and the level above it unless it is the last one.
  Status prepare(cudaStream_t stream, ImageView<const std::uint8_t> pixels, ImageView<std::uint8_t> copy,
                 int level, int levels) {
    const dim3 grid = grid_2d(pixels.width, pixels.height, 2 * kShrinkX, 2 * kShrinkY);
    return CUDAVISION_LAUNCH_PDL("prepare_level_kernel", prepare_level_kernel, grid, dim3(kShrinkThreads),
                                 stream, pixels, copy, gradient(level),
                                 level < levels ? picture(level + 1) : ImageView<std::uint8_t>{});
  }

  std::vector<DeviceImage<std::uint8_t>> pictures_;
  std::vector<DeviceImage<ScharrGradient>> gradients_;
};

}  // namespace cudavision::opticalflow
