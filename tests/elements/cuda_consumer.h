// SPDX-License-Identifier: LGPL-2.1-or-later
// A program that reads arrays in CUDA memory on a stream of its own.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "tests/elements/cuda_memory.h"
#include "tests/support/dlpack.h"

namespace cudavision::test {

// Reads an array on the consumer's own stream, which has been made to wait for the producer.
inline std::vector<std::uint8_t> read_on(cudaStream_t stream, const DLTensor &tensor) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tensor.shape[0] * tensor.shape[1]));
  EXPECT_EQ(cudaMemcpyAsync(bytes.data(), tensor.data, bytes.size(), cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  return bytes;
}

// A stream of a program that uses the primary context, which is that of the element.
struct Consumer {
  explicit Consumer(const Harness &harness)
      : context(GST_CUDA_CONTEXT(gst_object_ref(context_of(harness.element())))) {
    EXPECT_TRUE(gst_cuda_context_push(context.get()));
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Consumer() {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    gst_cuda_context_pop(nullptr);
  }
  gint64 handle() const { return static_cast<gint64>(reinterpret_cast<std::uintptr_t>(stream)); }

  OwnedObject<GstCudaContext> context;
  cudaStream_t stream = nullptr;
};

}  // namespace cudavision::test
