// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII buffers in host or device memory, by backend, for code that works with both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

// An array of bytes that is aligned for every type.
class OwnedBytes {
 public:
  // Replaces the array; its contents are undefined. The error text states the number of bytes.
  Status allocate(const Execution &execution, std::size_t size);
  void *data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  friend class HostCopy;
  std::shared_ptr<void> memory_;  // its deleter depends on the backend
  std::size_t size_ = 0;
};

// A copy of an OwnedBytes for the host, in either direction. CPU: shares the memory of the OwnedBytes. CUDA: pinned
// memory, so that copies are asynchronous and run at full speed.
class HostCopy {
 public:
  // Prepares copies of `bytes`. On failure the copy is empty, and the error text states the number of bytes.
  Status allocate(const Execution &execution, const OwnedBytes &bytes);
  // Copies `bytes`, which must be the ones given to allocate(), to data(). CUDA: enqueues the copy. CPU: does nothing.
  Status fetch(const Execution &execution, const OwnedBytes &bytes);
  const void *data() const { return memory_.get(); }

  // The memory in which the host writes what send() copies to the backend.
  void *written() const { return memory_.get(); }
  // Copies the first `size` bytes of written() to `bytes`. CUDA: enqueues the copy; the host must not write there again
  // before the stream has been synchronised. CPU: does nothing.
  Status send(const Execution &execution, const OwnedBytes &bytes, std::size_t size) const;

 private:
  std::shared_ptr<void> memory_;
};

// An 8-bit image in the backend's memory.
class OwnedImage {
 public:
  // As OwnedBytes::allocate.
  Status allocate(const Execution &execution, Size size);
  ImageView<std::uint8_t> view() const { return view_; }

 private:
  std::shared_ptr<void> memory_;
  ImageView<std::uint8_t> view_;
};

// Copies between the backend's memory and the host's. CUDA: enqueues the copy; `host` must stay valid until
// the stream has been synchronised.
Status copy_to_host(const Execution &execution, void *host, const void *memory, std::size_t size);
Status copy_from_host(const Execution &execution, void *memory, const void *host, std::size_t size);
// Copies within the backend's memory.
Status copy_within(const Execution &execution, void *to, const void *from, std::size_t size);

}  // namespace cudavision
