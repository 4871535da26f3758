// SPDX-License-Identifier: LGPL-2.1-or-later
// The stand-in driver finds each kind of misuse and fails on demand. Each test injects one fault.
#include "tests/fakecuda/fakecuda_test_support.h"

namespace {

using fakecuda::take_misuses;

constexpr char kNone[] = ": no context is pushed on this thread";

__global__ void nothing_kernel() {}

cudaError_t launch(cudaStream_t stream) {
  const cudaLaunchConfig_t config{1, 1, 0, stream, nullptr, 0};
  return cudaLaunchKernelEx(&config, nothing_kernel);
}

// --- contexts ---

TEST_F(FakeCuda, pop_of_an_empty_stack_is_a_misuse) {
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(take_misuses(), Misuses{std::string("cuCtxPopCurrent") + kNone});
}

TEST_F(FakeCuda, use_of_a_destroyed_context_is_a_misuse) {
  const CUcontext context = make_context();
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(take_misuses(), Misuses{"cuCtxDestroy: the context is destroyed already"});
  CUdeviceptr pointer = 0;
  void *data = nullptr;
  in_context(context, [&] {
    EXPECT_EQ(take_misuses(), Misuses{"cuCtxPushCurrent: the context is destroyed"});
    EXPECT_EQ(cuMemAlloc(&pointer, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(take_misuses(), Misuses{"cuMemAlloc: the current context is destroyed"});
    EXPECT_EQ(cuMemFree(0), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(take_misuses(), Misuses{"cuMemFree: the current context is destroyed"});
    EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorContextIsDestroyed);
    EXPECT_EQ(take_misuses(), Misuses{"cudaMalloc: the current context is destroyed"});
  });
}

TEST_F(FakeCuda, destroying_a_context_that_another_thread_has_pushed_is_a_misuse) {
  const CUcontext context = make_context();
  in_context(context, [=] {
    in_another_thread([=] { EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS); });
    EXPECT_EQ(take_misuses(), Misuses{"cuCtxDestroy: the context is still pushed, 1 times"});
  });
}

TEST_F(FakeCuda, thread_that_ends_with_a_context_pushed_is_a_misuse) {
  const CUcontext context = make_context();
  in_another_thread([=] { EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS); });
  EXPECT_EQ(take_misuses(), Misuses{"a thread ended with 1 contexts pushed"});
  EXPECT_EQ(fakecuda::pushed_contexts(), 0u);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

TEST_F(FakeCuda, context_destroyed_before_what_is_its_own_is_a_misuse_and_frees_it) {
  const CUcontext context = make_context();
  CUdeviceptr a = 0, b = 0;
  int value = 5;
  void *host = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  in_context(context, [&] {
    ASSERT_EQ(cuMemAlloc(&a, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&b, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocHost(&host, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoHAsync(&value, a, sizeof value, stream), CUDA_SUCCESS);
  });
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(take_misuses(), Misuses{"cuCtxDestroy: of the context's own there live 2 allocations, "
                                    "1 host allocations, 1 streams and 1 events"});
  EXPECT_EQ(value, 5) << "what was queued is forgotten";
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
  EXPECT_EQ(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(FakeCuda, driver_calls_that_need_a_context_say_so) {
  CUdeviceptr pointer = 0;
  CUstream stream = nullptr;
  void *host = nullptr;
  std::size_t value = 0;
  CUevent event = nullptr;
  CUDA_MEMCPY2D copy{};
  EXPECT_EQ(cuMemAlloc(&pointer, 1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemAllocPitch(&pointer, &value, 1, 1, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemAllocHost(&host, 1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemcpy2DAsync(&copy, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
  const Misuses misuses = take_misuses();
  ASSERT_EQ(misuses.size(), 10u);
  EXPECT_EQ(misuses[3], std::string("cuMemcpy2D") + kNone);
}

// --- runtime calls ---

// A runtime call, and whether it needs a context.
struct RuntimeCall {
  const char *name;
  cudaError_t (*make)();
};

constexpr RuntimeCall kRuntimeCalls[] = {
    {"cudaMalloc",
     [] {
       void *p;
       return cudaMalloc(&p, 1);
     }},
    {"cudaMallocPitch",
     [] {
       void *p;
       std::size_t n;
       return cudaMallocPitch(&p, &n, 1, 1);
     }},
    {"cudaFree", [] { return cudaFree(nullptr); }},
    {"cudaHostAlloc",
     [] {
       void *p;
       return cudaMallocHost(&p, 1);
     }},
    {"cudaFreeHost", [] { return cudaFreeHost(nullptr); }},
    {"cudaMemGetInfo",
     [] {
       std::size_t a, b;
       return cudaMemGetInfo(&a, &b);
     }},
    {"cudaPointerGetAttributes",
     [] {
       cudaPointerAttributes a;
       return cudaPointerGetAttributes(&a, nullptr);
     }},
    {"cudaMemsetAsync", [] { return cudaMemsetAsync(nullptr, 0, 0); }},
    {"cudaMemset2DAsync", [] { return cudaMemset2DAsync(nullptr, 0, 0, 0, 0); }},
    {"cudaMemcpyAsync", [] { return cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyHostToHost); }},
    {"cudaMemcpy2DAsync",
     [] { return cudaMemcpy2DAsync(nullptr, 0, nullptr, 0, 0, 0, cudaMemcpyHostToHost); }},
    {"cudaStreamCreateWithFlags",
     [] {
       cudaStream_t s;
       return cudaStreamCreate(&s);
     }},
    {"cudaStreamDestroy", [] { return cudaStreamDestroy(nullptr); }},
    {"cudaStreamSynchronize", [] { return cudaStreamSynchronize(nullptr); }},
    {"cudaStreamQuery", [] { return cudaStreamQuery(nullptr); }},
    {"cudaStreamWaitEvent", [] { return cudaStreamWaitEvent(nullptr, nullptr); }},
    {"cudaEventCreateWithFlags",
     [] {
       cudaEvent_t e;
       return cudaEventCreate(&e);
     }},
    {"cudaEventDestroy", [] { return cudaEventDestroy(nullptr); }},
    {"cudaEventRecord", [] { return cudaEventRecord(nullptr); }},
    {"cudaEventSynchronize", [] { return cudaEventSynchronize(nullptr); }},
    {"cudaEventQuery", [] { return cudaEventQuery(nullptr); }},
    {"cudaEventElapsedTime",
     [] {
       float ms;
       return cudaEventElapsedTime(&ms, nullptr, nullptr);
     }},
    {"cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }},
    {"cudaFuncGetAttributes",
     [] {
       cudaFuncAttributes a;
       return cudaFuncGetAttributes(&a, nothing_kernel);
     }},
    {"cudaFuncSetAttribute",
     [] { return cudaFuncSetAttribute(nothing_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 0); }},
    {"cudaLaunchKernelEx", [] { return launch(nullptr); }},
};

TEST_F(FakeCuda, runtime_calls_without_a_context_are_misuses) {
  for (const RuntimeCall &call : kRuntimeCalls) {
    EXPECT_EQ(call.make(), cudaErrorDeviceUninitialized) << call.name;
    EXPECT_EQ(take_misuses(), Misuses{std::string(call.name) + kNone});
  }
  const simt::Counters before = simt::counters();
  void *data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorDeviceUninitialized);
  EXPECT_EQ(cudaGetLastError(), cudaErrorDeviceUninitialized);
  EXPECT_EQ(simt::counters(), before) << "nothing was done";
  (void)take_misuses();
}

TEST_F(FakeCuda, runtime_calls_inside_a_context_pass_and_are_its_own) {
  const CUcontext context = make_context();
  void *data = nullptr;
  in_context(context, [&] { EXPECT_EQ(cudaMalloc(&data, 1), cudaSuccess); });
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(take_misuses(), Misuses{"cuCtxDestroy: of the context's own there live 1 allocations, "
                                    "0 host allocations, 0 streams and 0 events"});
}

TEST_F(FakeCuda, queries_of_devices_need_no_context) {
  int value = 0;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), cudaSuccess);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  simt::set_device_count(2);
  const CUcontext second = make_context(1);
  in_context(second, [&] {
    EXPECT_EQ(cudaGetDevice(&value), cudaSuccess);
    EXPECT_EQ(value, 1) << "of the current context";
  });
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
}

TEST_F(FakeCuda, stream_of_another_context_is_a_misuse) {
  const CUcontext a = make_context(), b = make_context();
  cudaStream_t stream = nullptr;
  int *data = nullptr;
  in_context(a, [&] { ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess); });
  in_context(b, [&] {
    ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
    EXPECT_EQ(launch(stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(take_misuses(), Misuses{"cudaLaunchKernelEx: the stream was made in another context"});
    EXPECT_EQ(cudaMemsetAsync(data, 0, 4, stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(take_misuses(), Misuses{"cudaMemsetAsync: the stream was made in another context"});
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(take_misuses(), Misuses{"cudaStreamSynchronize: the stream was made in another context"});
    EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(take_misuses(), Misuses{"cudaStreamDestroy: the stream was made in another context"});
    EXPECT_EQ(cudaFree(data), cudaSuccess);
  });
  in_context(a, [&] { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); });
  EXPECT_EQ(cuCtxDestroy(a), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(b), CUDA_SUCCESS);
}

TEST_F(FakeCuda, memory_of_another_context_is_a_misuse_of_the_runtime) {
  const CUcontext a = make_context(), b = make_context();
  int *data = nullptr, *own = nullptr;
  void *host = nullptr;
  in_context(a, [&] {
    ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&host, 4), cudaSuccess);
  });
  in_context(b, [&] {
    ASSERT_EQ(cudaMalloc(&own, 4), cudaSuccess);
    const Misuses of_memset{"cudaMemsetAsync: the memory was made in another context"};
    EXPECT_EQ(cudaMemsetAsync(data, 0, 4), cudaSuccess);
    EXPECT_EQ(take_misuses(), of_memset);
    const Misuses of_copy{"cudaMemcpyAsync: the memory was made in another context"};
    EXPECT_EQ(cudaMemcpyAsync(own, data, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_EQ(take_misuses(), of_copy);
    EXPECT_EQ(cudaMemcpyAsync(data, own, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_EQ(take_misuses(), of_copy);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(take_misuses(), Misuses{"cudaFree: the memory was made in another context"});
    EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
    EXPECT_EQ(take_misuses(), Misuses{"cudaFreeHost: the host memory was made in another context"});
    EXPECT_EQ(cudaFree(own), cudaSuccess);
  });
  EXPECT_EQ(cuCtxDestroy(a), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(b), CUDA_SUCCESS);
}

TEST_F(FakeCuda, set_device_makes_the_runtimes_own_context_unless_one_is_pushed) {
  const CUcontext context = make_context();
  in_context(context, [] {
    EXPECT_EQ(cudaSetDevice(0), cudaErrorIncompatibleDriverContext);
    EXPECT_EQ(take_misuses(), Misuses{"cudaSetDevice: would take the place of the context that is pushed"});
  });
  EXPECT_EQ(fakecuda::runtime_contexts(), 0u);
  in_another_thread([=] {
    void *data = nullptr;
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&data, 1), cudaSuccess);
    in_context(context, [=] {
      EXPECT_EQ(cudaFree(data), cudaSuccess);
      EXPECT_EQ(take_misuses(), Misuses{"cudaFree: the memory was made in another context"});
    });
  });
  EXPECT_EQ(fakecuda::runtime_contexts(), 1u);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

// --- injected failures ---

TEST_F(FakeCuda, failures_of_the_runtime_hold_for_the_driver) {
  const CUcontext context = make_context();
  in_context(context, [] {
    CUdeviceptr pointer = 0;
    CUstream stream = nullptr;
    std::size_t pitch = 0;
    simt::fail_allocations_after(1);
    EXPECT_EQ(cuMemAlloc(&pointer, 16), CUDA_SUCCESS);
    CUdeviceptr none = 0;
    EXPECT_EQ(cuMemAllocPitch(&none, &pitch, 16, 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
    simt::set_memory_limit(16);
    EXPECT_EQ(cuMemAlloc(&none, 1), CUDA_ERROR_OUT_OF_MEMORY);
    simt::fail_next(simt::Call::create, cudaErrorMemoryAllocation);
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_OUT_OF_MEMORY);
    simt::fail_next(simt::Call::copy, cudaErrorIllegalAddress);
    EXPECT_EQ(cuMemcpyDtoD(pointer, pointer, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    simt::fail_next(simt::Call::launch, cudaErrorLaunchOutOfResources);
    EXPECT_EQ(launch(nullptr), cudaErrorLaunchOutOfResources);
    EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
  });
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

// The results are those of an H200 after a kernel with a trap.
TEST_F(FakeCuda, lost_device_fails_every_call_that_needs_it_and_still_releases) {
  const CUcontext context = make_context();
  CUcontext another = nullptr;
  CUdeviceptr a = 0, b = 0;
  void *host = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  in_context(context, [&] {
    ASSERT_EQ(cuMemAlloc(&a, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&b, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocHost(&host, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    simt::lose_device_after(simt::Call::launch, 1);
    EXPECT_EQ(launch(stream), cudaSuccess);
    EXPECT_EQ(launch(stream), cudaErrorLaunchFailure);
    CUdeviceptr none = 0;
    int count = 0;
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuMemAlloc(&none, 1), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuMemcpyDtoD(a, b, 16), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(a), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cudaFree(pointer_to<void>(b)), cudaErrorLaunchFailure);
    EXPECT_EQ(cuMemFreeHost(host), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_LAUNCH_FAILED);
  });
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_host_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
  EXPECT_EQ(simt::live_events(), 0u);
  EXPECT_EQ(cuCtxCreate(&another, 0, 0), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  simt::reset();
  EXPECT_EQ(cuCtxDestroy(make_context()), CUDA_SUCCESS);
}

TEST_F(FakeCuda, primary_context_is_released_as_often_as_it_is_retained) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  CUstream stream = nullptr;
  EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(
      take_misuses(),
      (Misuses{
          "cuCtxDestroy: a primary context is released, not destroyed",
          "cuDevicePrimaryCtxRelease: the context is still pushed, 1 times",
          "cuDevicePrimaryCtxRelease: of the context's own there live 0 allocations, 0 host allocations, "
          "1 streams and 0 events",
          "cuDevicePrimaryCtxRelease: the primary context is not retained"}));
}

}  // namespace
