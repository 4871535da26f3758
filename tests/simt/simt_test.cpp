// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated host API: launches, memory, copies, streams, events, counters and injected failures.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/simt/simt_test_support.h"

namespace {

constexpr std::size_t kKiB = 1024;

struct Affine {
  int factor, offset;
};

__global__ void affine_kernel(int *values, Affine affine) {
  int &value = values[blockIdx.x * blockDim.x + threadIdx.x];
  value = affine.factor * value + affine.offset;
}

cudaError_t launch_affine(int *values, dim3 grid, dim3 block, Affine affine, cudaStream_t stream = nullptr) {
  const cudaLaunchConfig_t c = config(grid, block, 0, stream);
  return cudaLaunchKernelEx(&c, affine_kernel, values, affine);
}

// --- launches ---

TEST_F(Simt, arguments_are_copied_at_launch) {
  const DeviceArray<int> array(std::vector<int>{1, 2});
  Affine affine{10, 1};
  ASSERT_EQ(launch_affine(array.get(), 1, 2, affine), cudaSuccess);
  affine = {0, 0};
  EXPECT_EQ(array.download(), (std::vector<int>{11, 21}));
}

__global__ void store_kernel(float *dst, float a, short b, const int *null) {
  *dst = a + static_cast<float>(b) + (null == nullptr ? 0.5f : 0.0f);
}

TEST_F(Simt, arguments_are_converted_to_the_parameters_types) {
  const DeviceArray<float> array(1);
  const cudaLaunchConfig_t c = config(1, 1);
  const short b = 2;
  ASSERT_EQ(cudaLaunchKernelEx(&c, store_kernel, array.get(), 1.0f, b, nullptr), cudaSuccess);
  EXPECT_EQ(array.download()[0], 3.5f);
}

__global__ void empty_kernel() {}

cudaError_t launch_empty(dim3 grid, dim3 block, std::size_t shared_bytes = 0) {
  const cudaLaunchConfig_t c = config(grid, block, shared_bytes);
  return cudaLaunchKernelEx(&c, empty_kernel);
}

TEST_F(Simt, launch_configurations_are_checked_as_cuda_does) {
  EXPECT_EQ(launch_empty(1, 1024), cudaSuccess);
  EXPECT_EQ(launch_empty(1, dim3(1, 16, 64)), cudaSuccess);
  for (const dim3 block : {dim3(0), dim3(1025), dim3(1, 1025), dim3(1, 1, 65), dim3(32, 33), dim3(4, 0, 4)})
    EXPECT_EQ(launch_empty(1, block), cudaErrorInvalidConfiguration)
        << block.x << " " << block.y << " " << block.z;
  for (const dim3 grid : {dim3(0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u), dim3(1, 1, 0)})
    EXPECT_EQ(launch_empty(grid, 1), cudaErrorInvalidConfiguration)
        << grid.x << " " << grid.y << " " << grid.z;
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(Simt, large_dynamic_shared_memory_needs_the_attribute) {
  EXPECT_EQ(launch_empty(1, 1, 48 * kKiB), cudaSuccess);
  EXPECT_EQ(launch_empty(1, 1, 48 * kKiB + 1), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute(empty_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024),
            cudaSuccess);
  EXPECT_EQ(launch_empty(1, 1, 64 * kKiB), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(empty_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
            cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute(empty_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(Simt, last_error_is_kept_until_it_is_read) {
  EXPECT_EQ(launch_empty(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
}

TEST_F(Simt, function_attributes_exist_for_any_kernel) {
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, affine_kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
}

// --- memory and copies ---

TEST_F(Simt, new_memory_does_not_look_like_zeros) {
  unsigned *data = nullptr, value = 0;
  ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&value, data, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(value, 0xcdcdcdcdu);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

struct Picture {
  Picture(std::size_t width, std::size_t height) {
    EXPECT_EQ(cudaMallocPitch(&data, &pitch_bytes, width, height), cudaSuccess);
  }
  ~Picture() { EXPECT_EQ(cudaFree(data), cudaSuccess); }
  std::uint8_t *data = nullptr;
  std::size_t pitch_bytes = 0;
};

TEST_F(Simt, pitch_is_never_the_width) {
  for (const std::size_t width : {1u, 511u, 512u, 513u, 1024u}) {
    const Picture picture(width, 2);
    EXPECT_GT(picture.pitch_bytes, width);
    EXPECT_EQ(picture.pitch_bytes % 512, 0u) << "the alignment of textures";
  }
}

TEST_F(Simt, pointers_are_known_as_device_host_or_neither) {
  const DeviceArray<char> array(100);
  const auto type_of = [](const void *pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    const bool on_device = attributes.type == cudaMemoryTypeDevice,
               known = attributes.type != cudaMemoryTypeUnregistered;
    EXPECT_EQ(attributes.devicePointer, known ? pointer : nullptr);
    EXPECT_EQ(attributes.hostPointer, on_device ? nullptr : pointer);
    return attributes.type;
  };
  char *pinned = nullptr, pageable[4];
  ASSERT_EQ(cudaMallocHost(&pinned, 10), cudaSuccess);
  EXPECT_EQ(type_of(array.get()), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(array.get() + 99), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(pinned + 9), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(pinned + 10), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type_of(pageable), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type_of(nullptr), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(type_of(pageable), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaPointerGetAttributes(nullptr, pinned), cudaErrorInvalidValue);
}

TEST_F(Simt, picture_returns_unchanged) {
  constexpr std::size_t kWidth = 37, kHeight = 5;
  std::array<std::uint8_t, kWidth * kHeight> there, back{};
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::uint8_t>(7 * i);
  const Picture a(kWidth, kHeight), b(kWidth, kHeight);
  EXPECT_EQ(
      cudaMemcpy2DAsync(a.data, a.pitch_bytes, there.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice),
      cudaSuccess);
  EXPECT_EQ(cudaMemset2DAsync(b.data, b.pitch_bytes, 1, kWidth, kHeight), cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy2DAsync(b.data, b.pitch_bytes, a.data, a.pitch_bytes, kWidth - 1, kHeight, cudaMemcpyDefault),
      cudaSuccess);
  EXPECT_EQ(
      cudaMemcpy2DAsync(back.data(), kWidth, b.data, b.pitch_bytes, kWidth, kHeight, cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  for (std::size_t i = 0; i < there.size(); ++i)
    EXPECT_EQ(back[i], i % kWidth == kWidth - 1 ? 1 : there[i]) << i;
}

TEST_F(Simt, flat_memset_may_cover_row_padding) {
  const Picture picture(37, 3);
  EXPECT_EQ(cudaMemsetAsync(picture.data, 0, picture.pitch_bytes * 3), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(Simt, copies_outside_of_an_allocation_are_refused) {
  const DeviceArray<char> array(100);
  const Picture picture(37, 3);
  char host[512] = {};
  EXPECT_EQ(cudaMemcpyAsync(array.get() + 1, host, 100, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, array.get() + 90, 11, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(array.get(), 0, 101), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2DAsync(picture.data, picture.pitch_bytes, 0, 37, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2DAsync(picture.data, picture.pitch_bytes, 0, 38, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset2DAsync(picture.data, 36, 0, 37, 3), cudaErrorInvalidPitchValue);
}

TEST_F(Simt, copies_with_the_wrong_kind_of_pointer_are_refused) {
  const DeviceArray<char> array(100);
  char host[100] = {};
  EXPECT_EQ(cudaMemcpyAsync(host, host, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(array.get(), array.get() + 50, 10, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, array.get(), 10, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(host, 0, 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(array.get() + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(array.get()), cudaErrorInvalidValue);
}

TEST_F(Simt, free_runs_what_is_queued) {
  DeviceArray<int> array(std::vector<int>{1});
  int value = 0, *other = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&value, array.get(), 4, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(value, 1);
}

TEST_F(Simt, pinned_host_memory_is_the_hosts) {
  int *host = nullptr;
  ASSERT_EQ(cudaMallocHost(&host, 4 * sizeof(int)), cudaSuccess);
  host[3] = 5;
  EXPECT_EQ(simt::live_host_allocations(), 1u);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
}

TEST_F(Simt, memory_limit_gives_out_of_memory) {
  simt::set_memory_limit(1000);
  std::size_t free_bytes = 0, total_bytes = 0;
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(cudaMalloc(&a, 600), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(free_bytes, 400u);
  EXPECT_EQ(total_bytes, 1000u);
  EXPECT_EQ(cudaMalloc(&b, 401), cudaErrorMemoryAllocation);
  EXPECT_EQ(b, nullptr);
  EXPECT_EQ(cudaMalloc(&b, 400), cudaSuccess);
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_EQ(cudaFree(b), cudaSuccess);
}

// --- devices and failures ---

TEST_F(Simt, without_a_device_every_call_says_so) {
  simt::set_device_count(0);
  int count = -1;
  void *data = nullptr;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
  EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorNoDevice);
  EXPECT_EQ(cudaStreamCreate(&stream), cudaErrorNoDevice);
  EXPECT_EQ(launch_empty(1, 1), cudaErrorNoDevice);
}

TEST_F(Simt, devices_are_counted_from_zero) {
  simt::set_device_count(2);
  int device = -1;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Simt, planned_failures_come_once_and_in_time) {
  void *a = nullptr, *b = nullptr, *c = nullptr;
  simt::fail_allocations_after(1);
  EXPECT_EQ(cudaMalloc(&a, 1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&b, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&c, 1), cudaSuccess);
  simt::fail_next(simt::Call::launch, cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(launch_empty(1, 1), cudaErrorNoKernelImageForDevice);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_EQ(cudaFree(c), cudaSuccess);
}

// --- schedules and counters ---

TEST_F(Simt, environment_chooses_the_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    setenv("SIMT_ORDER", to_string(schedule).c_str(), 1);
    simt::reset();
    EXPECT_EQ(to_string(simt::schedule()), to_string(schedule));
  }
  for (const char *wrong : {"backwards", "shuffled:", "shuffled:x", "shuffled:1:2", "interleaved:1",
                            "interleaved:1:0", "interleaved:1:alles"}) {
    setenv("SIMT_ORDER", wrong, 1);
    EXPECT_DEATH(simt::reset(), std::string("SIMT_ORDER=") + wrong);
  }
  unsetenv("SIMT_ORDER");
}

__global__ void counted_kernel(int *dst) {
  SIMT_SHARED(int, sum);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  __syncwarp();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(dst, sum);
}

TEST_F(Simt, counters_are_exact_in_every_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const simt::Counters before = simt::counters();
    {
      const DeviceArray<int> array(2), copy(2);
      run(3, 70, counted_kernel, array.get());
      ASSERT_EQ(cudaMemcpyAsync(copy.get(), array.get(), 4, cudaMemcpyDeviceToDevice), cudaSuccess);
      EXPECT_EQ(copy.download()[0], 210);
    }
    simt::Counters expected;
    expected.launches = 1;
    expected.allocations = expected.frees = expected.memsets = 2;
    expected.memset_bytes = 16;
    expected.device_to_device_copies = expected.device_to_host_copies = 1;
    expected.device_to_device_bytes = 4;
    expected.device_to_host_bytes = 8;
    expected.synchronisations = 2;
    expected.barriers = 3 * 2;
    expected.warp_operations = 3 * 3;
    expected.shared_atomics = 3 * 70;
    expected.global_atomics = 3;
    EXPECT_EQ(simt::counters() - before, expected) << to_string(schedule);
  }
}

// --- OS threads ---

void run_many(int factor, std::vector<int> &result) {
  cudaStream_t stream = nullptr;
  int *values = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  if (cudaMalloc(&values, 256 * sizeof(int)) != cudaSuccess) return;
  (void)cudaMemsetAsync(values, 0, 256 * sizeof(int), stream);
  for (int i = 0; i < 50; ++i) {
    (void)launch_affine(values, 4, 64, {1, factor}, stream);
    const cudaLaunchConfig_t c = config(2, 128, 0, stream);
    (void)cudaLaunchKernelEx(&c, counted_kernel, values);
    (void)cudaStreamSynchronize(stream);
  }
  result.resize(256);
  (void)cudaMemcpyAsync(result.data(), values, 256 * sizeof(int), cudaMemcpyDeviceToHost, stream);
  (void)cudaStreamDestroy(stream);
  (void)cudaFree(values);
}

TEST_F(Simt, two_os_threads_do_not_disturb_each_other) {
  std::array<std::vector<int>, 2> results;
  std::thread first(run_many, 1, std::ref(results[0])), second(run_many, 2, std::ref(results[1]));
  first.join();
  second.join();
  for (int i = 0; i < 2; ++i) {
    std::vector<int> expected(256, 50 * (i + 1));
    expected[0] += 50 * 256;
    EXPECT_EQ(results[static_cast<std::size_t>(i)], expected);
  }
}

}  // namespace
