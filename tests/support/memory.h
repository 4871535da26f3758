// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes in the memory of a backend, for tests. Reads and writes are complete when the call returns.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda/common/execution.h"
#include "tests/support/device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cudavision::test {

// Waits for all enqueued work.
inline void finish(const Execution &execution) {
  if (execution.backend == Backend::cuda) {
    ASSERT_TRUE(wait_for(execution.stream));
  }
}

class Memory {
 public:
  static constexpr std::size_t kAlignment = 256;  // bytes, as in CUDA

  Memory(const Execution &execution, std::size_t count) : execution_(execution), count_(count) {
    if (on_device()) {
      void *memory = nullptr;
      EXPECT_TRUE(allocate_on_device(count, &memory));
      data_ = static_cast<std::uint8_t *>(memory);
    } else {
      data_ = static_cast<std::uint8_t *>(
          std::aligned_alloc(kAlignment, (count + kAlignment - 1) / kAlignment * kAlignment));
    }
  }
  Memory(const Memory &) = delete;  // images point into it
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    allow(0, count_);
    if (on_device()) {
      EXPECT_TRUE(free_on_device(data_));
    } else {
      std::free(data_);
    }
  }

  std::uint8_t *data() const { return data_; }
  std::size_t count() const { return count_; }

  void write(const std::vector<std::uint8_t> &bytes) {
    ASSERT_EQ(bytes.size(), count_);
    if (on_device()) {
      ASSERT_TRUE(copy_to_device(data_, bytes.data(), count_, execution_.stream));
    } else {
      std::memcpy(data_, bytes.data(), count_);
    }
  }

  std::vector<std::uint8_t> read() const { return read(count_); }
  // The first bytes: those that were written.
  std::vector<std::uint8_t> read(std::size_t count) const {
    std::vector<std::uint8_t> bytes(count);
    if (count == 0) return bytes;
    if (on_device()) {
      EXPECT_TRUE(copy_from_device(bytes.data(), data_, count, execution_.stream));
    } else {
      std::memcpy(bytes.data(), data_, count);
    }
    return bytes;
  }

  // With AddressSanitizer, makes accesses to these bytes of host memory end the program.
  void forbid([[maybe_unused]] std::size_t begin, [[maybe_unused]] std::size_t end) const {
#if defined(__SANITIZE_ADDRESS__)
    if (!on_device()) ASAN_POISON_MEMORY_REGION(data_ + begin, end - begin);
#endif
  }
  void allow([[maybe_unused]] std::size_t begin, [[maybe_unused]] std::size_t end) const {
#if defined(__SANITIZE_ADDRESS__)
    if (!on_device()) ASAN_UNPOISON_MEMORY_REGION(data_ + begin, end - begin);
#endif
  }

 private:
  bool on_device() const { return execution_.backend == Backend::cuda; }

  Execution execution_;
  std::size_t count_;
  std::uint8_t *data_ = nullptr;
};

}  // namespace cudavision::test
