// SPDX-License-Identifier: LGPL-2.1-or-later
// Owners of device memory and of page-locked host memory: move-only, freed with their context current.
// Empty ones call nothing: even freeing a null pointer would make the runtime's own context where none is current.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "common/check.h"
#include "common/image.h"

namespace cudavision {

// count elements of T on the device.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) (void)cudaFree(data_);
  }

  // Replaces what it holds; the contents are undefined. On failure the buffer is empty and the text says how
  // many bytes were asked for.
  Status allocate(std::size_t count) {
    *this = DeviceBuffer();
    const Status status = CUDAVISION_CHECK_CUDA(cudaMalloc(&data_, count * sizeof(T)));
    if (status.ok()) {
      count_ = count;
      return {};
    }
    data_ = nullptr;
    return {status.code(), std::to_string(count * sizeof(T)) + " bytes of device memory: " + status.text()};
  }

  T *data() const { return data_; }
  std::size_t count() const { return count_; }

 private:
  T *data_ = nullptr;
  std::size_t count_ = 0;
};

// Host memory that the device copies to and from at full speed, and without the CPU waiting; in every context.
class PageLockedBuffer {
 public:
  PageLockedBuffer() = default;
  PageLockedBuffer(PageLockedBuffer &&other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PageLockedBuffer &operator=(PageLockedBuffer &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PageLockedBuffer() {
    if (data_ != nullptr) (void)cudaFreeHost(data_);
  }

  // As DeviceBuffer::allocate; in bytes.
  Status allocate(std::size_t size) {
    *this = PageLockedBuffer();
    void *data = nullptr;
    const Status status = CUDAVISION_CHECK_CUDA(cudaHostAlloc(&data, size, cudaHostAllocPortable));
    if (!status.ok())
      return {status.code(), std::to_string(size) + " bytes of page-locked memory: " + status.text()};
    data_ = static_cast<unsigned char *>(data);
    size_ = size;
    return {};
  }

  unsigned char *data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  unsigned char *data_ = nullptr;
  std::size_t size_ = 0;
};

// A picture on the device; its pitch is CUDA's choice.
template <typename T>
class DeviceImage {
 public:
  DeviceImage() = default;
  DeviceImage(DeviceImage &&other) noexcept : view_(std::exchange(other.view_, {})) {}
  DeviceImage &operator=(DeviceImage &&other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~DeviceImage() {
    if (view_.data != nullptr) (void)cudaFree(view_.data);
  }

  // As DeviceBuffer::allocate.
  Status allocate(Size size) {
    *this = DeviceImage();
    void *data = nullptr;
    std::size_t pitch_bytes = 0;
    const std::size_t width_bytes = static_cast<std::size_t>(size.width) * sizeof(T);
    const Status status = CUDAVISION_CHECK_CUDA(
        cudaMallocPitch(&data, &pitch_bytes, width_bytes, static_cast<std::size_t>(size.height)));
    if (status.ok()) {
      view_ = {static_cast<T *>(data), static_cast<std::ptrdiff_t>(pitch_bytes), size.width, size.height};
      return {};
    }
    return {status.code(), std::to_string(width_bytes) + " x " + std::to_string(size.height) +
                               " bytes of device memory: " + status.text()};
  }

  ImageView<T> view() const { return view_; }

 private:
  ImageView<T> view_;
};

}  // namespace cudavision
