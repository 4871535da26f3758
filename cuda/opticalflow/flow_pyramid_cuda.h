// SPDX-License-Identifier: LGPL-2.1-or-later
// The pyramid of a frame in device memory, with the Scharr derivatives of every level. One kernel per level
// computes both (flow_pyramid.cuh).
#pragma once

#include <vector>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/opticalflow/flow_pyramid.cuh"

namespace cudavision::opticalflow {

class DevicePyramid {
 public:
  // levels: the number of levels above the frame.
  Status allocate(Size frame, int levels) {
    for (int level = 0; level <= levels; ++level, frame = next_level(frame)) {
      Level &added = levels_.emplace_back();
      added.size = frame;
      const Size size = with_border(frame);
      CUDAVISION_TRY(added.picture.allocate(size));
      CUDAVISION_TRY(added.gradient.allocate(frame));
      CUDAVISION_TRY(added.bytes.allocate({size.width / 4, size.height}));
    }
    return {};
  }

  // Copies a frame and computes `levels` levels above it. Enqueues levels + 1 kernels.
  Status build(cudaStream_t stream, ImageView<const std::uint8_t> luma, int levels) {
    CUDAVISION_TRY(prepare(stream, luma, 0, levels));
    return prepare_above(stream, 0, levels);
  }
  // Adds levels to a pyramid that has `built` levels above the frame, until it has `levels`.
  Status extend(cudaStream_t stream, int built, int levels) {
    if (levels <= built) return {};
    CUDAVISION_TRY(prepare(stream, picture(built), built, levels));
    return prepare_above(stream, built, levels);
  }

  // All three views begin at the first pixel of the level.
  ImageView<std::uint8_t> picture(int level) const {
    const auto &[size, picture, gradient, bytes] = at(level);
    return picture.view().crop({kBorderLeft, kBorderAbove, size.width, size.height});
  }
  ImageView<ScharrGradient> gradient(int level) const { return at(level).gradient.view(); }
  ImageView<GradientBytes> bytes(int level) const {
    const auto &[size, picture, gradient, bytes] = at(level);
    return bytes.view().crop({kBorderLeft / 4, kBorderAbove, divide_up(size.width, 4), size.height});
  }

 private:
  struct Level {
    Size size;
    DeviceImage<std::uint8_t> picture;  // with its border
    DeviceImage<ScharrGradient> gradient;
    DeviceImage<GradientBytes> bytes;  // with its border
  };
  const Level &at(int level) const { return levels_[static_cast<std::size_t>(level)]; }

  // The width is a multiple of 4, because four pixels are written at once.
  static Size with_border(Size size) {
    return {divide_up(kBorderLeft + size.width + kBorderRight, 4) * 4,
            kBorderAbove + size.height + kBorderBelow};
  }

  Status prepare_above(cudaStream_t stream, int from, int levels) {
    for (int level = from + 1; level <= levels; ++level)
      CUDAVISION_TRY(prepare(stream, picture(level), level, levels));
    return {};
  }

  // Computes the derivatives of a level, and the level above it unless it is the last one.
  Status prepare(cudaStream_t stream, ImageView<const std::uint8_t> pixels, int level, int levels) {
    const Size size = with_border(pixels.size());
    const LevelOutput output{picture(level), gradient(level), bytes(level),
                             level < levels ? picture(level + 1) : ImageView<std::uint8_t>{}};
    return CUDAVISION_LAUNCH_PDL("prepare_level_kernel", prepare_level_kernel,
                                 grid_2d(size.width, size.height, kLevelX, kLevelY), dim3(kLevelThreads),
                                 stream, pixels, output);
  }

  std::vector<Level> levels_;
};

}  // namespace cudavision::opticalflow
