// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers for the results that elements attach as tensors: in system memory on the CPU backend, on the device
// on CUDA.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <memory>

#include "gst/base/device_context.h"
#include "cuda/common/execution.h"

namespace cudavision {

// Buffers of one size. One that somebody still holds is never given out again: its memory comes back to the
// pool when its last reference goes. May be destroyed while buffers are out; they keep what they need, the
// context included.
//
// Memory on the device downloads itself when it is first mapped for the CPU with GST_MAP_READ, once; mapped
// with GST_MAP_READ | kMapCuda it gives its device pointer, and nothing is copied. Mapping it for writing is
// the element's alone and needs kMapCuda.
class TensorPool {
 public:
  // context: null for system memory.
  static Status make(std::shared_ptr<const DeviceContext> context, std::size_t size,
                     std::unique_ptr<TensorPool> *pool);
  ~TensorPool();

  // A buffer to be filled on the backend, at `data`, by work that is enqueued on the context's stream. The
  // work has ended, or is pending (DeviceContext::leave_pending), before the buffer is shown to anybody else: mapping it
  // for reading waits for what is pending.
  struct Lease {
    GstBuffer *buffer = nullptr;  // the caller's
    void *data = nullptr;         // in the backend's memory
  };
  Status acquire(Lease *lease);

 private:
  TensorPool(GstBufferPool *pool, bool on_device) : pool_(pool), on_device_(on_device) {}

  GstBuffer *acquire_unshared();

  GstBufferPool *pool_;
  bool on_device_;
};

}  // namespace cudavision
