// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the tensors of others where the backend works.
#pragma once

#include <gst/cudavision/cudavision.h>

#include "cuda/common/execution.h"
#include "cuda/common/owned_memory.h"
#include "gst/base/device/device_context.h"
#include "gst/base/frame/owned_buffer.h"

namespace cudavision {

// The numbers of one tensor at a time.
class TensorData {
 public:
  TensorData() = default;
  ~TensorData() { release(); }
  TensorData(const TensorData &) = delete;
  TensorData &operator=(const TensorData &) = delete;

  // Gives the address of the numbers in the backend's memory, aligned for their type, or null if the tensor cannot be read.
  // The address is valid until release(). CUDA: a tensor of this context is read where it lies, any other is copied. The
  // stream must be synchronised before release(). context: null on the CPU backend.
  Status read(const Execution &execution, const DeviceContext *context, const GstCudaVisionTensorMeta &tensor,
              const void **data);
  void release();

 private:
  // Returns null if the tensor cannot be mapped or is too short.
  const void *map(const GstCudaVisionTensorMeta &tensor, std::size_t bytes, guint flags);
  Status copy(const Execution &execution, std::size_t bytes, const void **data);

  OwnedBuffer buffer_;  // mapped
  GstMapInfo map_ = {};
  OwnedBytes memory_;
  HostCopy host_;
};

}  // namespace cudavision
