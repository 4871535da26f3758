// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the tests of the emulated CUDA: a fixture, an array on the device and a short form of a launch.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "tests/simt/simt.h"

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasAsan = true;
#else
inline constexpr bool kHasAsan = false;
#endif

// Every test begins in the initial state and must leave no objects and no unread report.
class Simt : public testing::Test {
 protected:
  Simt() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    simt::reset();
  }
  void TearDown() override {
    EXPECT_EQ(simt::take_report(), simt::Report{});
    simt::reset();
    EXPECT_EQ(simt::live_allocations(), 0u);
    EXPECT_EQ(simt::live_bytes(), 0u);
    EXPECT_EQ(simt::live_host_allocations(), 0u);
    EXPECT_EQ(simt::live_streams(), 0u);
    EXPECT_EQ(simt::live_events(), 0u);
    (void)cudaGetLastError();
  }
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(&data_, size * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(data_, 0, size * sizeof(T)), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size()) {
    EXPECT_EQ(cudaMemcpyAsync(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { EXPECT_EQ(cudaFree(data_), cudaSuccess); }

  T *get() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    return values;
  }

 private:
  T *data_ = nullptr;
  std::size_t size_;
};

inline cudaLaunchConfig_t config(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                 cudaStream_t stream = nullptr) {
  return {grid, block, shared_bytes, stream, nullptr, 0};
}

// Launches on the null stream and waits.
template <class... Parameters, class... Arguments>
void run(dim3 grid, dim3 block, void (*kernel)(Parameters...), Arguments &&...arguments) {
  const cudaLaunchConfig_t c = config(grid, block);
  ASSERT_EQ(cudaLaunchKernelEx(&c, kernel, std::forward<Arguments>(arguments)...), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}
