// SPDX-License-Identifier: LGPL-2.1-or-later
// AxisWeights in device memory.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/check_cuda.h"
#include "cuda/hog/axis_weights.h"
#include "cuda/hog/block_tile.cuh"

namespace cudavision::hog {

class OwnedWeights {
 public:
  // Enqueues copies from host memory of this object, which must live until the copies are done. Call upload() once.
  Status upload(const HogParams &params, cudaStream_t stream) {
    const AxisWeights axes[2] = {axis_weights_x(params), axis_weights_y(params)};
    for (int i = 0; i < 2; ++i) {
      cells_[i] = axes[i].cells, side_[i] = axes[i].side;
      host_ints_.insert(host_ints_.end(), axes[i].begin.begin(), axes[i].begin.end());
      host_ints_.insert(host_ints_.end(), axes[i].end.begin(), axes[i].end.end());
      host_floats_.insert(host_floats_.end(), axes[i].weight.begin(), axes[i].weight.end());
    }
    CUDAVISION_TRY(ints_.allocate(host_ints_.size()));
    CUDAVISION_TRY(floats_.allocate(host_floats_.size()));
    CUDAVISION_TRY_CUDA(cudaMemcpyAsync(ints_.data(), host_ints_.data(), host_ints_.size() * sizeof(int),
                                        cudaMemcpyHostToDevice, stream));
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(floats_.data(), host_floats_.data(),
                                                 host_floats_.size() * sizeof(float), cudaMemcpyHostToDevice,
                                                 stream));
  }

  DeviceWeights x() const { return view(0); }
  DeviceWeights y() const { return view(1); }

 private:
  DeviceWeights view(int axis) const {
    const int *begin = ints_.data() + (axis == 0 ? 0 : 2 * cells_[0]);
    return {begin, begin + cells_[axis], floats_.data() + (axis == 0 ? 0 : cells_[0] * side_[0])};
  }

  int cells_[2] = {0, 0}, side_[2] = {0, 0};
  std::vector<int> host_ints_;
  std::vector<float> host_floats_;
  DeviceBuffer<int> ints_;      // begin and end of x, then begin and end of y
  DeviceBuffer<float> floats_;  // the weights of x, then those of y
};

}  // namespace cudavision::hog
