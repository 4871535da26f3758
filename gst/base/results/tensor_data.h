// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads tensors that other elements attached, in the memory of the backend.
#pragma once

#include <gst/cudavision/cudavision.h>

#include "cuda/common/execution.h"
#include "cuda/common/owned_memory.h"
#include "gst/base/device/device_context.h"
#include "gst/base/results/tensor_pool.h"

namespace cudavision {

// Gives access to the numbers of one tensor at a time.
class TensorData {
 public:
  TensorData() = default;
  ~TensorData() { release(); }
  TensorData(const TensorData &) = delete;
  TensorData &operator=(const TensorData &) = delete;

  // Sets *data to the address of the numbers in the backend's memory, aligned for their type, or to null if the tensor
  // cannot be read. The address is valid until release(), before which the stream must be synchronised. CUDA: a tensor
  // of this context is read in place, any other is copied. context: null on the CPU backend.
  Status read(const Execution &execution, const DeviceContext *context, const GstCudaVisionTensorMeta &tensor,
              const void **data);
  void release();

 private:
  // Returns null if the tensor cannot be mapped or is too short.
  const void *map(const GstCudaVisionTensorMeta &tensor, std::size_t bytes, guint flags);
  Status copy(const Execution &execution, std::size_t bytes, const void **data);

  BufferRef buffer_;  // mapped into map_; null after release()
  GstMapInfo map_ = {};
  OwnedBytes memory_;
  HostCopy host_;
};

}  // namespace cudavision
