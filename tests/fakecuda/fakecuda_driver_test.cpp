// SPDX-License-Identifier: LGPL-2.1-or-later
// The stand-in driver's own calls: initialisation, contexts, memory, streams, and the errors of wrong calls.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/fakecuda/fakecuda_test_support.h"

namespace {

using fakecuda::take_misuses;

// --- start-up and devices ---

TEST(FakeCudaBeforeInit, calls_are_refused) {
  int count = 0;
  CUdeviceptr pointer = 0;
  if (driver_initialised) GTEST_SKIP() << "another test came first";
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuMemAlloc(&pointer, 1), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuDriverGetVersion(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 12000);
  void *data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 1), cudaSuccess) << "the runtime alone needs no context";
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  simt::set_device_count(0);
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
  simt::reset();
  EXPECT_EQ(take_misuses(), Misuses{});
}

TEST_F(FakeCuda, devices_are_those_of_the_runtime) {
  int count = 0, value = 0;
  CUdevice device = -1;
  char name[64] = "";
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  simt::set_device_count(2);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_STREQ(name, "Emulated CUDA device 1");
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), CUDA_SUCCESS);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device), CUDA_SUCCESS);
  EXPECT_EQ(value, 512);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(127), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(FakeCuda, without_a_device_there_is_no_context) {
  simt::set_device_count(0);
  int count = -1;
  CUcontext context = nullptr;
  EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cuCtxCreate(&context, 0, 0), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(FakeCuda, errors_have_names) {
  const char *text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1000), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

// --- contexts ---

TEST_F(FakeCuda, contexts_are_a_stack_per_thread) {
  const fakecuda::Counters before = fakecuda::counters();
  CUcontext a = nullptr, b = nullptr, current = nullptr;
  ASSERT_EQ(cuCtxCreate(&a, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&b, 0, 0), CUDA_SUCCESS);
  EXPECT_NE(a, b);
  EXPECT_EQ(fakecuda::live_contexts(), 2u);
  EXPECT_EQ(fakecuda::pushed_contexts(), 2u);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, b);
  in_another_thread([&] {
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
    const Pushed pushed(a);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, a);
  });
  EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, b);
  EXPECT_EQ(cuCtxDestroy(b), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(a), CUDA_SUCCESS) << "the current context may be destroyed, and is popped";
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(fakecuda::live_contexts(), 0u);
  const fakecuda::Counters after = fakecuda::counters();
  EXPECT_EQ(after.contexts_created - before.contexts_created, 2u);
  EXPECT_EQ(after.contexts_destroyed - before.contexts_destroyed, 2u);
  EXPECT_EQ(after.pushes - before.pushes, 3u);
  EXPECT_EQ(after.pops - before.pops, 3u);
}

TEST_F(FakeCuda, bad_contexts_are_refused) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxCreate(&context, 1u << 20, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(&context, 0, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  fakecuda::fail_contexts(1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuCtxCreate(&context, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(fakecuda::live_contexts(), 0u);
}

TEST_F(FakeCuda, primary_context_lives_while_it_is_retained) {
  CUcontext first = nullptr, second = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  EXPECT_EQ(fakecuda::retained_primary_contexts(), 2u);
  EXPECT_EQ(fakecuda::pushed_contexts(), 0u) << "retaining does not push";
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(fakecuda::live_contexts(), 1u);
  unsigned flags = 1;
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(fakecuda::live_contexts(), 0u);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 0), CUDA_SUCCESS);
  EXPECT_NE(first, second) << "a handle is never given out twice";
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(0, 1u << 20), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeCuda, peers_are_refused_unless_allowed) {
  simt::set_device_count(2);
  int can_access = 1;
  const CUcontext a = make_context(0), b = make_context(1);
  EXPECT_EQ(cuDeviceCanAccessPeer(&can_access, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can_access, 0);
  in_context(a, [&] {
    EXPECT_EQ(cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    fakecuda::allow_peer_access(true);
    EXPECT_EQ(cuDeviceCanAccessPeer(&can_access, 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(can_access, 1);
    EXPECT_EQ(cuDeviceCanAccessPeer(&can_access, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(can_access, 0) << "a device is not its own peer";
    EXPECT_EQ(cuCtxDisablePeerAccess(b), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    EXPECT_EQ(cuCtxEnablePeerAccess(b, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT_EQ(cuCtxDisablePeerAccess(b), CUDA_SUCCESS);
  });
  EXPECT_EQ(cuCtxDestroy(a), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(b), CUDA_SUCCESS);
}

// --- memory and streams ---

class FakeCudaMemory : public FakeCuda {
 protected:
  void SetUp() override { ASSERT_EQ(cuCtxCreate(&context_, 0, 0), CUDA_SUCCESS); }
  void TearDown() override {
    EXPECT_EQ(cuCtxDestroy(context_), CUDA_SUCCESS);
    FakeCuda::TearDown();
  }

  CUcontext context_ = nullptr;
};

TEST_F(FakeCudaMemory, sizes_are_checked_as_the_real_driver_does) {
  CUdeviceptr pointer = 1;
  void *host = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cuMemAlloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&pointer, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch(&pointer, &pitch, 0, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocPitch(&pointer, &pitch, 16, 4, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocHost(&host, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(1234), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "errors of the driver are none of the runtime's";
}

TEST_F(FakeCudaMemory, pitch_is_wider_than_the_row_and_keeps_the_alignment_of_textures) {
  int alignment = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 0), CUDA_SUCCESS);
  for (const std::size_t width : {1u, 160u, 512u, 637u, 1912u, 1920u}) {
    CUdeviceptr pointer = 0;
    std::size_t pitch = 0;
    ASSERT_EQ(cuMemAllocPitch(&pointer, &pitch, width, 3, 16), CUDA_SUCCESS);
    EXPECT_GT(pitch, width);
    EXPECT_EQ(pitch % static_cast<unsigned>(alignment), 0u) << width;
    EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
  }
}

TEST_F(FakeCudaMemory, rows_are_copied_with_offsets_and_counted) {
  constexpr std::size_t kWidth = 5, kHeight = 3;
  const std::vector<std::uint8_t> src{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  std::vector<std::uint8_t> dst(4);
  CUdeviceptr pointer = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&pointer, &pitch, kWidth, kHeight, 4), CUDA_SUCCESS);
  const simt::Counters before = simt::counters();
  CUDA_MEMCPY2D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = src.data();
  up.srcPitch = kWidth;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = pointer;
  up.dstPitch = pitch;
  up.WidthInBytes = kWidth;
  up.Height = kHeight;
  EXPECT_EQ(cuMemcpy2D(&up), CUDA_SUCCESS);
  CUDA_MEMCPY2D down{};
  down.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  down.srcDevice = pointer;
  down.srcPitch = pitch;
  down.srcXInBytes = 3;
  down.srcY = 1;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = dst.data();
  down.WidthInBytes = 2;
  down.Height = 2;
  EXPECT_EQ(cuMemcpy2D(&down), CUDA_SUCCESS);
  EXPECT_EQ(dst, (std::vector<std::uint8_t>{9, 10, 14, 15}));
  const simt::Counters counted = simt::counters() - before;
  EXPECT_EQ(counted.host_to_device_bytes, 15u);
  EXPECT_EQ(counted.device_to_host_bytes, 4u);
  up.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2D(&up), CUDA_ERROR_NOT_SUPPORTED);
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.Height = kHeight + 1;
  EXPECT_EQ(cuMemcpy2D(&up), CUDA_ERROR_INVALID_VALUE) << "beyond the allocation";
  EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
}

TEST_F(FakeCudaMemory, flat_copies_and_fills_arrive) {
  CUdeviceptr a = 0, b = 0;
  std::uint32_t values[4] = {};
  ASSERT_EQ(cuMemAlloc(&a, sizeof values), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&b, sizeof values), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D32(a, 8, 0x01020304, 2, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D16(a, 8, 0xabcd, 2, 2), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD2D8(a, 8, 0x77, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(b, a, sizeof values), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(values, b, sizeof values), CUDA_SUCCESS);
  EXPECT_EQ(values[0], 0xabcdab77u);
  EXPECT_EQ(values[1], 0x01020304u);
  EXPECT_EQ(values[2], 0xabcdabcdu);
  EXPECT_EQ(values[3], 0x01020304u);
  EXPECT_EQ(cuMemFree(a), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(b), CUDA_SUCCESS);
}

__global__ void add_kernel(int *value, int summand) { *value += summand; }

void add(int *value, int summand, cudaStream_t stream) {
  const cudaLaunchConfig_t config{1, 1, 0, stream, nullptr, 0};
  EXPECT_EQ(cudaLaunchKernelEx(&config, add_kernel, value, summand), cudaSuccess);
}

// The runtime can use streams and memory that the driver has made.
TEST_F(FakeCudaMemory, driver_and_runtime_share_streams_and_memory) {
  CUstream stream = nullptr;
  CUdeviceptr number = 0;
  int value = 1;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&number, sizeof value), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoDAsync(number, &value, sizeof value, stream), CUDA_SUCCESS);
  add(pointer_to<int>(number), 2, stream);
  EXPECT_EQ(cuMemcpyDtoHAsync(&value, number, sizeof value, stream), CUDA_SUCCESS);
  EXPECT_EQ(value, 1) << "streams are lazy";
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(cudaFree(pointer_to<void>(number)), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(FakeCudaMemory, synchronous_copy_waits_for_blocking_streams_alone) {
  CUstream blocking = nullptr, other = nullptr;
  CUdeviceptr number = 0;
  int value = 0;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&number, sizeof value), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD(number, &value, sizeof value), CUDA_SUCCESS);
  add(pointer_to<int>(number), 1, blocking);
  add(pointer_to<int>(number), 10, other);
  EXPECT_EQ(cuMemcpyDtoH(&value, number, sizeof value), CUDA_SUCCESS);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);

  // Work on the null stream waits for blocking streams, too.
  add(pointer_to<int>(number), 100, blocking);
  EXPECT_EQ(cuMemcpyDtoHAsync(&value, number, sizeof value, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value, 111);
  value = 0;
  EXPECT_EQ(cuMemcpyDtoHAsync(&value, number, sizeof value, blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value, 111);
  EXPECT_EQ(cuMemFree(number), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
}

TEST_F(FakeCudaMemory, events_are_recorded_on_streams_of_their_context) {
  CUstream stream = nullptr, foreign = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  const CUcontext other = make_context();
  in_context(other, [&] {
    ASSERT_EQ(cuStreamCreate(&foreign, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    EXPECT_EQ(cuEventRecord(event, foreign), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(foreign), CUDA_SUCCESS);
  });
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

// Measured on an H200: calls that name a stream or an allocation need no current context, and work in any.
TEST_F(FakeCuda, named_objects_are_used_without_their_context) {
  const CUcontext a = make_context(), b = make_context();
  CUstream stream = nullptr;
  CUdeviceptr of_a = 0, of_b = 0;
  void *host = nullptr;
  in_context(a, [&] {
    ASSERT_EQ(cuMemAlloc(&of_a, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocHost(&host, 16), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  });
  in_context(b, [&] {
    ASSERT_EQ(cuMemAlloc(&of_b, 16), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoD(of_b, of_a, 16), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoDAsync(of_b, of_a, 16, stream), CUDA_SUCCESS);
  });
  EXPECT_EQ(cuMemcpyDtoDAsync(of_a, of_b, 16, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(of_a), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(of_b), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(a), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(b), CUDA_SUCCESS);
}

}  // namespace
