// SPDX-License-Identifier: LGPL-2.1-or-later
// Injected faults: each kind that the emulated CUDA promises to find is found.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/simt/simt_test_support.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#define REQUIRE_ASAN() \
  if (!kHasAsan) GTEST_SKIP() << "needs AddressSanitizer"

namespace {

constexpr int kThreads = 64;

template <bool kWithBarrier>
__global__ void reverse_kernel(const int *src, int *dst) {
  SIMT_SHARED(int[kThreads], tile);
  const unsigned begin = blockIdx.x * kThreads, t = threadIdx.x;
  tile[t] = src[begin + t];
  if (kWithBarrier) __syncthreads();
  dst[begin + t] = tile[kThreads - 1 - t];
}

template <bool kWithBarrier>
int wrong_values(int seed) {
  constexpr int kBlocks = 3;
  std::vector<int> src(kBlocks * kThreads);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = seed * 1000 + static_cast<int>(i) + 1;
  const DeviceArray<int> device_src(src), device_dst(src.size());
  run(kBlocks, kThreads, reverse_kernel<kWithBarrier>, device_src.get(), device_dst.get());
  const std::vector<int> dst = device_dst.download();
  int wrong = 0;
  for (std::size_t i = 0; i < dst.size(); ++i)
    wrong += dst[i] != src[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
  return wrong;
}

TEST_F(Simt, present_barrier_gives_the_right_result_in_every_order) {
  for (int i = 0; const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    EXPECT_EQ(wrong_values<true>(++i), 0) << to_string(schedule);
  }
}

TEST_F(Simt, missing_barrier_changes_the_result) {
  for (int i = 0; const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    EXPECT_GT(wrong_values<false>(++i), 0) << to_string(schedule);
  }
}

// The second half of a block reverses its numbers; the first half takes no part.
template <bool kWithBarrier>
__global__ void reverse_half_kernel(int *dst) {
  SIMT_SHARED(int[kThreads], tile);
  if (threadIdx.x < kThreads) return;
  const unsigned t = threadIdx.x - kThreads;
  tile[t] = static_cast<int>(blockIdx.x * kThreads + t);
  if (kWithBarrier) simt::part_barrier(1, kThreads);
  dst[blockIdx.x * kThreads + t] = tile[kThreads - 1 - t];
}

template <bool kWithBarrier>
bool half_is_reversed() {
  constexpr int kBlocks = 3;
  const DeviceArray<int> dst(kBlocks * kThreads);
  run(kBlocks, 2 * kThreads, reverse_half_kernel<kWithBarrier>, dst.get());
  const std::vector<int> found = dst.download();
  for (int i = 0; i < kBlocks * kThreads; ++i)
    if (found[static_cast<std::size_t>(i)] != i / kThreads * kThreads + kThreads - 1 - i % kThreads)
      return false;
  return true;
}

TEST_F(Simt, barrier_of_some_warps_waits_for_these_and_no_others) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    EXPECT_TRUE(half_is_reversed<true>()) << to_string(schedule);
    EXPECT_FALSE(half_is_reversed<false>()) << to_string(schedule);
  }
}

__global__ void incomplete_part_kernel() {
  if (threadIdx.x >= 32) simt::part_barrier(1, kThreads);
}

TEST_F(Simt, incomplete_barrier_of_some_warps_says_who_waits) {
  EXPECT_DEATH(run(1, kThreads, incomplete_part_kernel), "threads 32 to 63 wait in a barrier of some warps");
}

// Correct in forward order, where each thread reads what an earlier one wrote. The other orders detect the fault.
__global__ void look_back_kernel(int *dst, int value) {
  SIMT_SHARED(int[kThreads], tile);
  const unsigned t = threadIdx.x;
  tile[t] = value;
  dst[t] = tile[t == 0 ? 0 : t - 1];
}

std::set<std::string> orders_with_wrong_values() {
  std::set<std::string> orders;
  for (int value = 1; const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<int> dst(kThreads);
    run(1, kThreads, look_back_kernel, dst.get(), ++value);
    if (dst.download() != std::vector<int>(kThreads, value)) orders.insert(to_string(schedule));
  }
  return orders;
}

TEST_F(Simt, missing_barrier_that_forward_order_hides_is_seen_in_other_orders) {
  std::set<std::string> others;
  for (const simt::Schedule schedule : simt::kSchedules)
    if (schedule.order != simt::Order::forward) others.insert(to_string(schedule));
  EXPECT_EQ(orders_with_wrong_values(), others);
}

__global__ void leave_early_kernel(unsigned leaver) {
  if (threadIdx.x == leaver) return;
  __syncthreads();
}

TEST_F(Simt, thread_that_leaves_before_a_barrier_is_reported) {
  run(1, kThreads, leave_early_kernel, 3u);
  EXPECT_EQ(simt::take_report().divergent_barriers, 1u);
  run(1, kThreads, leave_early_kernel, 1000u);
  EXPECT_EQ(simt::take_report().divergent_barriers, 0u);
}

__global__ void two_barriers_kernel() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_F(Simt, threads_at_different_barriers_are_reported) {
  run(1, kThreads, two_barriers_kernel);
  EXPECT_EQ(simt::take_report().divergent_barriers, 1u);
}

__global__ void write_kernel(int *dst, long long index) { dst[index] = 1; }

TEST_F(Simt, write_behind_an_allocation_stops) {
  REQUIRE_ASAN();
  const DeviceArray<int> dst(5);
  EXPECT_DEATH(run(1, 1, write_kernel, dst.get(), 5), "heap-buffer-overflow.*write_kernel");
  EXPECT_DEATH(run(1, 1, write_kernel, dst.get(), -1), "heap-buffer-overflow.*write_kernel");
}

TEST_F(Simt, write_to_freed_memory_stops) {
  REQUIRE_ASAN();
  int *dst = nullptr;
  ASSERT_EQ(cudaMalloc(&dst, 64), cudaSuccess);
  ASSERT_EQ(cudaFree(dst), cudaSuccess);
  EXPECT_DEATH(run(1, 1, write_kernel, dst, 0), "heap-use-after-free.*write_kernel");
}

// Not inlined, so that the compiler cannot see the array and only AddressSanitizer can find the fault.
[[gnu::noinline]] __device__ void write_through(volatile int *address) { *address = 1; }

template <int kSize>
__global__ void write_shared_kernel(int *dst, int index) {
  SIMT_SHARED(int[kSize], tile);
  write_through(tile + index);
  *dst = tile[0];
}

TEST_F(Simt, write_behind_shared_memory_stops) {
  REQUIRE_ASAN();
  const DeviceArray<int> dst(1);
  run(1, 1, write_shared_kernel<10>, dst.get(), 9);
  EXPECT_DEATH(run(1, 1, write_shared_kernel<10>, dst.get(), 10),
               "heap-buffer-overflow.*write_through.*write_shared_kernel");
}

__global__ void write_dynamic_shared_kernel(int index) {
  static_cast<volatile char *>(simt::dynamic_shared_memory())[index] = 1;
}

void run_with_37_shared_bytes(int index) {
  const cudaLaunchConfig_t c = config(1, 1, 37);
  ASSERT_EQ(cudaLaunchKernelEx(&c, write_dynamic_shared_kernel, index), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

TEST_F(Simt, write_behind_dynamic_shared_memory_stops) {
  REQUIRE_ASAN();
  run_with_37_shared_bytes(36);
  EXPECT_DEATH(run_with_37_shared_bytes(37), "heap-buffer-overflow.*write_dynamic_shared_kernel");
}

__global__ void read_pixel_kernel(const std::uint8_t *src, std::size_t pitch_bytes, int x, int y, int *dst) {
  *dst = src[static_cast<std::size_t>(y) * pitch_bytes + static_cast<std::size_t>(x)];
}

TEST_F(Simt, read_of_row_padding_stops) {
  REQUIRE_ASAN();
  constexpr int kWidth = 37, kHeight = 3;
  const DeviceArray<int> dst(1);
  std::uint8_t *src = nullptr;
  std::size_t pitch_bytes = 0;
  ASSERT_EQ(cudaMallocPitch(&src, &pitch_bytes, kWidth, kHeight), cudaSuccess);
  run(1, 1, read_pixel_kernel, src, pitch_bytes, kWidth - 1, 1, dst.get());
  EXPECT_DEATH(run(1, 1, read_pixel_kernel, src, pitch_bytes, kWidth, 1, dst.get()),
               "use-after-poison.*read_pixel_kernel");
  EXPECT_EQ(cudaFree(src), cudaSuccess);
}

TEST_F(Simt, host_access_to_device_memory_stops) {
  REQUIRE_ASAN();
  const DeviceArray<int> array(4);
  run(1, 1, write_kernel, array.get(), 0);
  EXPECT_DEATH(*static_cast<volatile int *>(array.get()) = 1, "use-after-poison");
}

// The copy would read the vector's memory at the synchronisation, after it is freed.
TEST_F(Simt, host_buffer_freed_before_the_copy_runs_stops) {
  REQUIRE_ASAN();
  const DeviceArray<int> array(4);
  EXPECT_DEATH(
      {
        (void)cudaMemcpyAsync(array.get(), std::vector<int>(4).data(), 16, cudaMemcpyHostToDevice);
        (void)cudaStreamSynchronize(nullptr);
      },
      "heap-use-after-free");
}

[[gnu::noinline]] __device__ int recurse(int depth) {
  volatile char frame[1024];
  frame[0] = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

__global__ void recurse_kernel(int depth, int *dst) { *dst = recurse(depth); }

TEST_F(Simt, stack_overflow_stops) {
  const DeviceArray<int> dst(1);
  run(1, 1, recurse_kernel, 20, dst.get());
  EXPECT_DEATH(run(1, 1, recurse_kernel, 100000, dst.get()), "");
}

__global__ void shuffle_kernel(unsigned threads, unsigned mask, int source) {
  if (threadIdx.x < threads) __shfl_sync(mask, static_cast<int>(threadIdx.x), source);
}

TEST_F(Simt, caller_outside_its_own_mask_stops) {
  EXPECT_DEATH(run(1, 32, shuffle_kernel, 32u, 0x7fffffffu, 0),
               "thread 31 is not in its own warp mask, in __shfl_sync, mask 7fffffff, at "
               ".*simt_fault_test.cpp:[0-9]+");
}

TEST_F(Simt, mask_that_names_lanes_which_have_left_is_completed_without_them) {
  run(1, 32, shuffle_kernel, 4u, 0xffffffffu, 2);
}

TEST_F(Simt, read_from_a_lane_outside_the_mask_is_reported) {
  run(1, 32, shuffle_kernel, 4u, 0x0000000fu, 7);
  EXPECT_EQ(simt::take_report().bad_masks, 4u);
}

TEST_F(Simt, read_from_a_lane_that_has_left_is_reported) {
  run(1, 32, shuffle_kernel, 4u, 0xffffffffu, 7);
  EXPECT_EQ(simt::take_report().bad_masks, 4u);
}

__global__ void read_outside_mask_kernel(unsigned *dst) {
  if (threadIdx.x < 4) dst[threadIdx.x] = __shfl_sync(0xfu, threadIdx.x, 9);
}

TEST_F(Simt, value_of_a_lane_outside_the_mask_is_conspicuous) {
  const DeviceArray<unsigned> dst(4);
  run(1, 32, read_outside_mask_kernel, dst.get());
  EXPECT_EQ(dst.download(), std::vector<unsigned>(4, 0xdeaddeadu));
  EXPECT_EQ(simt::take_report().bad_masks, 4u);
}

__global__ void divergent_shuffle_kernel() {
  if (threadIdx.x < 16) {
    __shfl_sync(0xffffffffu, 1, 0);
  } else {
    __syncthreads();
  }
}

TEST_F(Simt, divergent_warp_operation_says_who_waits_where) {
  EXPECT_DEATH(run(1, kThreads, divergent_shuffle_kernel),
               "divergent warp operation.*block \\(0,0,0\\).*"
               "threads 0 to 15 wait in __shfl_sync, mask ffffffff, at .*simt_fault_test.cpp:[0-9]+.*"
               "threads 16 to 31 wait in __syncthreads at .*simt_fault_test.cpp:[0-9]+");
}

__global__ void different_masks_kernel() {
  __syncwarp(threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u);
  __syncthreads();
}

TEST_F(Simt, lanes_that_disagree_on_the_mask_stop) {
  EXPECT_DEATH(run(1, 32, different_masks_kernel), "threads 0 to 15 wait in __syncwarp, mask ffffffff");
}

__global__ void odd_width_kernel() { __shfl_down_sync(0xffffffffu, 1, 1, 24); }

TEST_F(Simt, shuffle_of_odd_width_stops) { EXPECT_DEATH(run(1, 32, odd_width_kernel), "a shuffle.s width"); }

TEST_F(Simt, forgotten_synchronisation_leaves_stale_values) {
  const DeviceArray<int> array(std::vector<int>{1, 2, 3, 4});
  std::vector<int> host(4, -7);
  ASSERT_EQ(cudaMemcpyAsync(host.data(), array.get(), 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host, std::vector<int>(4, -7));
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(host, (std::vector<int>{1, 2, 3, 4}));
}

__global__ void last_writer_kernel(int *dst) {
  atomicExch(dst, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

TEST_F(Simt, result_that_depends_on_the_order_differs_between_orders) {
  std::set<int> winners;
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<int> dst(1);
    run(4, kThreads, last_writer_kernel, dst.get());
    winners.insert(dst.download()[0]);
  }
  EXPECT_GE(winners.size(), 3u);
  EXPECT_TRUE(winners.contains(0));
  EXPECT_TRUE(winners.contains(4 * kThreads - 1));
}

// Block 1 reads shared memory that it never wrote.
__global__ void stale_shared_kernel(int *dst, int value) {
  SIMT_SHARED(int, last);
  if (blockIdx.x == 0) last = value;
  if (blockIdx.x == 1) *dst = last;
}

TEST_F(Simt, unwritten_shared_memory_looks_stale_in_every_order) {
  const DeviceArray<int> dst(1);
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    run(2, 1, stale_shared_kernel, dst.get(), 5);
    EXPECT_EQ(static_cast<unsigned>(dst.download()[0]), 0xcbcbcbcbu) << to_string(schedule);
  }
}

TEST_F(Simt, unfreed_device_memory_is_counted) {
  void *leaked = nullptr;
  ASSERT_EQ(cudaMalloc(&leaked, 1000), cudaSuccess);
  EXPECT_EQ(simt::live_allocations(), 1u);
  EXPECT_EQ(simt::live_bytes(), 1000u);
  ASSERT_EQ(cudaFree(leaked), cudaSuccess);
  EXPECT_EQ(simt::live_bytes(), 0u);
}

// Not inlined and called several times, so that no copy of a pointer stays in a register.
[[gnu::noinline]] void leak_device_memory() {
  for (int i = 0; i < 16; ++i) {
    void *leaked = nullptr;
    (void)cudaMalloc(&leaked, 1000);
  }
}

void look_for_leaks() {
#if defined(__SANITIZE_ADDRESS__)
  __lsan_do_leak_check();
#endif
}

TEST_F(Simt, unfreed_device_memory_is_listed_by_leak_sanitizer) {
  REQUIRE_ASAN();
  const char *options = std::getenv("ASAN_OPTIONS");
  if (options != nullptr && std::string(options).find("detect_leaks=0") != std::string::npos)
    GTEST_SKIP() << "leak detection is switched off";
  EXPECT_DEATH(
      {
        leak_device_memory();
        look_for_leaks();
      },
      "LeakSanitizer: detected memory leaks.*cudaMalloc");
}

}  // namespace
