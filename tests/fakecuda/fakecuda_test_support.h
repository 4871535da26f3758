// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the tests of the stand-in driver: a fixture, and a context that is pushed for a scope.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fakecuda/fakecuda.h"
#include "tests/simt/simt.h"

using Misuses = std::vector<std::string>;

inline bool driver_initialised = false;  // set by the first test of this program

// Every test begins with an initialised driver and must leave no objects and no unread misuse.
class FakeCuda : public testing::Test {
 protected:
  FakeCuda() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    simt::reset();
    fakecuda::reset();
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    driver_initialised = true;
  }
  void TearDown() override {
    EXPECT_TRUE(fakecuda::no_context_lives());
    EXPECT_EQ(fakecuda::take_misuses(), Misuses{});
    simt::reset();
    fakecuda::reset();
    EXPECT_EQ(fakecuda::pushed_contexts(), 0u);
    EXPECT_EQ(simt::live_allocations(), 0u);
    EXPECT_EQ(simt::live_host_allocations(), 0u);
    EXPECT_EQ(simt::live_streams(), 0u);
    EXPECT_EQ(simt::live_events(), 0u);
    (void)cudaGetLastError();
  }
};

// A new context that is on no thread's stack.
inline CUcontext make_context(CUdevice device = 0) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxCreate(&context, 0, device), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  return context;
}

class Pushed {
 public:
  explicit Pushed(CUcontext context) { EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS); }
  Pushed(const Pushed &) = delete;
  Pushed &operator=(const Pushed &) = delete;
  ~Pushed() { EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS); }
};

template <class Body>
void in_context(CUcontext context, Body body) {
  const Pushed pushed(context);
  body();
}

template <class Body>
void in_another_thread(Body body) {
  std::thread(std::move(body)).join();
}

template <class T>
T *pointer_to(CUdeviceptr address) {
  return reinterpret_cast<T *>(static_cast<std::uintptr_t>(address));
}
inline CUdeviceptr address_of(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
