// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII buffers of the CUDA backend, in device memory and in pinned host memory. They are move-only, and their
// context must be current when they are destroyed. An empty buffer makes no CUDA call, because even
// cudaFree(nullptr) creates the primary context if no context is current.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>

#include "cuda/common/check_cuda.h"
#include "cuda/common/image.h"
#include "cuda/common/launch_gate.h"
#include "cuda/common/memory_budget.h"

namespace cudavision {

// How memory is allocated and freed.
struct DeviceMemory {
  static constexpr const char *kName = "device memory";
  static Status allocate(void **memory, std::size_t bytes) {
    return CUDAVISION_CHECK_CUDA(cudaMalloc(memory, bytes));
  }
  void operator()(void *memory) const {
    const Allocation announced;
    (void)cudaFree(memory);
  }
};
struct PinnedMemory {
  static constexpr const char *kName = "page-locked memory";
  static Status allocate(void **memory, std::size_t bytes) {
    return CUDAVISION_CHECK_CUDA(cudaHostAlloc(memory, bytes, cudaHostAllocPortable));
  }
  void operator()(void *memory) const {
    const Allocation announced;
    (void)cudaFreeHost(memory);
  }
};

// An array of T.
template <typename T, typename Memory>
class CudaBuffer {
 public:
  // Replaces the buffer; its contents are undefined. On failure the buffer is empty and the error text states
  // the number of bytes.
  Status allocate(std::size_t count) {
    *this = CudaBuffer();
    const std::size_t bytes = count * sizeof(T);
    CUDAVISION_TRY(charge_.take(bytes));
    void *data = nullptr;
    const Allocation announced;
    if (const Status status = Memory::allocate(&data, bytes); !status.ok()) {
      charge_.give_back();
      return {status.code(), std::to_string(bytes) + " bytes of " + Memory::kName + ": " + status.text()};
    }
    data_.reset(static_cast<T *>(data));
    count_ = count;
    return {};
  }

  T *data() const { return data_.get(); }
  std::size_t count() const { return data_ ? count_ : 0; }

 private:
  MemoryCharge charge_;
  std::unique_ptr<T, Memory> data_;
  std::size_t count_ = 0;
};

template <typename T>
using DeviceBuffer = CudaBuffer<T, DeviceMemory>;
// Pinned host memory, usable in every CUDA context: copies to and from the device are asynchronous and run at
// full speed.
using PinnedBuffer = CudaBuffer<unsigned char, PinnedMemory>;

// An image in device memory. CUDA chooses the pitch.
template <typename T>
class DeviceImage {
 public:
  // As CudaBuffer::allocate.
  Status allocate(Size size) {
    *this = DeviceImage();
    CUDAVISION_TRY(charge_.take(static_cast<std::size_t>(size.width) * sizeof(T) *
                                static_cast<std::size_t>(size.height)));
    void *data = nullptr;
    std::size_t pitch_bytes = 0;
    const Allocation announced;
    const std::size_t width_bytes = static_cast<std::size_t>(size.width) * sizeof(T);
    const Status status = CUDAVISION_CHECK_CUDA(
        cudaMallocPitch(&data, &pitch_bytes, width_bytes, static_cast<std::size_t>(size.height)));
    if (status.ok()) {
      data_.reset(static_cast<T *>(data));
      if (Status over = charge_.take(pitch_bytes * static_cast<std::size_t>(size.height)); !over.ok()) {
        data_.reset();
        return over;
      }
      pitch_bytes_ = static_cast<std::ptrdiff_t>(pitch_bytes);
      size_ = size;
      return {};
    }
    charge_.give_back();
    return {status.code(), std::to_string(width_bytes) + " x " + std::to_string(size.height) +
                               " bytes of device memory: " + status.text()};
  }

  ImageView<T> view() const { return {data_.get(), pitch_bytes_, size_.width, size_.height}; }

 private:
  MemoryCharge charge_;
  std::unique_ptr<T, DeviceMemory> data_;
  std::ptrdiff_t pitch_bytes_ = 0;
  Size size_;
};

}  // namespace cudavision
