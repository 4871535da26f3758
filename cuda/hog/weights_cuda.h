// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of HOG are given: weights on the device, tiles, and places of blocks.
#pragma once

#include <vector>

#include "cuda/common/buffer.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

// Where block (row, col) begins, in elements; from number to number it is number_stride.
struct BlockPlace {
  std::ptrdiff_t first, row_stride, col_stride, number_stride;

  CUDAVISION_HOST_DEVICE std::ptrdiff_t offset(int row, int col) const {
    return first + row * row_stride + col * col_stride;
  }
};

struct DeviceWeights;
struct TilePlan;

// Tiles of at most 48 KiB of shared memory; lower ones, which are done sooner, where a picture of so many
// blocks has less than one for each multiprocessor.
TilePlan plan_tiles(const Rules &rules, int channels, Size blocks, int multiprocessors);

class OwnedWeights {
 public:
  // Enqueues copies from memory that it keeps.
  Status upload(const HogParams &params, CUstream_st *stream);
  DeviceWeights x() const;
  DeviceWeights y() const;

 private:
  DeviceWeights view(int axis) const;

  int cells_[2] = {0, 0}, side_[2] = {0, 0};
  std::vector<int> host_ints_;
  std::vector<float> host_floats_;
  DeviceBuffer<int> ints_;      // begin and end of x, begin and end of y
  DeviceBuffer<float> floats_;  // weights of x, of y
};

}  // namespace cudavision::hog
