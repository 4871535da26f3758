// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers for the tensors that elements attach: in system memory on the CPU backend, on the device on the CUDA backend.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/memory_budget.h"
#include "gst/base/device/device_context.h"
#include "gst/meta/buffer_ref.h"

namespace cudavision {

// Makes an allocator that calls allocate(), which may throw std::bad_alloc, and that keeps the context. What it
// allocates is charged to nobody.
using AllocateMemory = Status (*)(GstAllocator *allocator, const std::shared_ptr<DeviceContext> &context,
                                  gsize size, const GstAllocationParams &params, GstMemory **memory);
GstAllocator *make_allocator(std::shared_ptr<DeviceContext> context, AllocateMemory allocate);

// A pool of buffers of one size. A buffer is reused only after its last reference is gone. The pool may be
// destroyed while buffers are in use: they keep what they need, including the context.
//
// Device memory is downloaded once, when it is first mapped for the CPU with GST_MAP_READ. Mapping it with
// GST_MAP_READ | kMapCuda returns the device pointer without a copy. Only the element may map it for writing,
// which needs kMapCuda.
class TensorPool {
 public:
  // context: null for system memory. One buffer is charged to the current budget.
  static Status make(std::shared_ptr<DeviceContext> context, std::size_t size,
                     std::unique_ptr<TensorPool> *pool);
  ~TensorPool();

  // A buffer to be filled at `data` by the backend, with work on the context's stream. The work must have ended, or be
  // pending (FrameOrder::leave_pending), before the buffer is passed on: mapping for reading waits for pending work.
  struct Lease {
    BufferRef buffer;
    void *data = nullptr;  // in the backend's memory
  };
  Status acquire(Lease *lease);

 private:
  TensorPool(std::size_t size, bool on_device) : size_(size), on_device_(on_device) {}

  BufferRef acquire_unshared();

  GstBufferPool *pool_ = nullptr;
  std::size_t size_;
  bool on_device_;
  MemoryCharge charge_;  // of one buffer
};

// Returns true if the buffer is a tensor of a TensorPool with the same CUDA context. Mapping it with GST_MAP_READ |
// kMapCuda then gives an address of that context.
bool tensor_lies_in(GstBuffer *tensor, const DeviceContext &context);

}  // namespace cudavision
