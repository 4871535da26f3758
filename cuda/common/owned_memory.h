// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory of a backend that owns itself, for code that does not care which backend it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

// A run of bytes, aligned for every type.
class OwnedBytes {
 public:
  // Replaces what it holds; the contents are undefined. The error names the number of bytes.
  Status allocate(const Execution &execution, std::size_t size);
  void *data() const { return memory_.get(); }
  std::size_t size() const { return size_; }

 private:
  friend class HostCopy;
  std::shared_ptr<void> memory_;  // knows how it is freed
  std::size_t size_ = 0;
};

// What the host reads of a backend's memory after each frame: that memory itself on the CPU; CUDA: page-locked
// memory that it is copied to, at full speed and without the CPU waiting.
class HostCopy {
 public:
  // For bytes of this size. On failure it is empty, and the error names the number of bytes.
  Status allocate(const Execution &execution, const OwnedBytes &bytes);
  // CUDA: enqueues the copy of the bytes it was made for.
  Status fetch(const Execution &execution, const OwnedBytes &bytes);
  const void *data() const { return memory_.get(); }

 private:
  std::shared_ptr<void> memory_;
};

// An 8-bit image.
class OwnedImage {
 public:
  // As OwnedBytes::allocate.
  Status allocate(const Execution &execution, Size size);
  ImageView<std::uint8_t> view() const { return view_; }

 private:
  std::shared_ptr<void> memory_;
  ImageView<std::uint8_t> view_;
};

// Copies from the backend's memory to the host's, or back. CUDA: enqueues; host must stay until the stream is
// synchronised.
Status copy_to_host(const Execution &execution, void *host, const void *memory, std::size_t size);
Status copy_from_host(const Execution &execution, void *memory, const void *host, std::size_t size);

}  // namespace cudavision
