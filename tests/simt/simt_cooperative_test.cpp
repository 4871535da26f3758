// SPDX-License-Identifier: LGPL-2.1-or-later
// Cooperative launches: blocks wait for one another at a barrier of the grid.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "cuda/common/grid_barrier.cuh"
#include "cuda/common/grid_minimum.cuh"
#include "tests/simt/simt_test_support.h"

namespace {

constexpr unsigned kBlocks = 4, kThreads = 64, kRounds = 5;

cudaLaunchConfig_t cooperative(dim3 grid, dim3 block, cudaLaunchAttribute *attribute,
                               std::size_t shared_bytes = 0) {
  *attribute = {};
  attribute->id = cudaLaunchAttributeCooperative;
  attribute->val.cooperative = 1;
  cudaLaunchConfig_t c = config(grid, block, shared_bytes);
  c.attrs = attribute;
  c.numAttrs = 1;
  return c;
}

template <class... Parameters, class... Arguments>
void run_cooperative(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                     Arguments &&...arguments) {
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t c = cooperative(grid, block, &attribute, shared_bytes);
  ASSERT_EQ(cudaLaunchKernelEx(&c, kernel, std::forward<Arguments>(arguments)...), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

// In every round each block adds the previous round's values of the next block and of its own mirrored thread.
template <bool kWithBarrier>
__global__ void pass_on_kernel(unsigned *values, unsigned *arrivals) {
  auto *own = static_cast<unsigned *>(simt::dynamic_shared_memory());
  cudavision::GridBarrier grid(arrivals);
  const unsigned thread = threadIdx.x, count = kBlocks * kThreads;
  const unsigned me = blockIdx.x * kThreads + thread, next = (me + kThreads) % count;
  own[thread] = me;
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned *before = values + round % 2 * count;
    __syncthreads();
    const unsigned mirrored = own[kThreads - 1 - thread];
    __syncthreads();
    own[thread] += mirrored;
    values[(round + 1) % 2 * count + me] = before[me] + before[next] + own[thread];
    if (kWithBarrier) grid.wait();
  }
}

std::vector<unsigned> expected_values() {
  constexpr unsigned kCount = kBlocks * kThreads;
  std::vector<unsigned> values(kCount, 1), own(kCount);
  std::iota(own.begin(), own.end(), 0u);
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::vector<unsigned> before = values, own_before = own;
    for (unsigned i = 0; i < kCount; ++i) {
      own[i] += own_before[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
      values[i] = before[i] + before[(i + kThreads) % kCount] + own[i];
    }
  }
  return values;
}

template <bool kWithBarrier>
std::vector<unsigned> passed_on() {
  std::vector<unsigned> both(2 * kBlocks * kThreads, 1);
  const DeviceArray<unsigned> values(both);
  const DeviceArray<unsigned> arrivals(1);
  run_cooperative(kBlocks, kThreads, kThreads * sizeof(unsigned), pass_on_kernel<kWithBarrier>, values.get(),
                  arrivals.get());
  both = values.download();
  const auto half = static_cast<std::ptrdiff_t>(both.size() / 2);
  static_assert(kRounds % 2 == 1);
  return {both.begin() + half, both.end()};
}

TEST_F(Simt, blocks_of_a_cooperative_launch_wait_for_one_another_in_every_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    EXPECT_EQ(passed_on<true>(), expected_values()) << to_string(schedule);
  }
}

TEST_F(Simt, missing_grid_barrier_changes_the_result) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    EXPECT_NE(passed_on<false>(), expected_values()) << to_string(schedule);
  }
}

// The number of rounds: more than the 2^10 tags of GridMinimum, so that tags repeat.
constexpr unsigned kMinima = 1100;

__device__ unsigned long long value_of(unsigned block, unsigned round) {
  constexpr unsigned long long kMask = (1ull << cudavision::GridMinimum::kBits) - 1;
  return round % 7 == 0 ? kMask : (block * 0x9e3779b97f4a7c15ull ^ round * 0xc2b2ae3d27d4eb4full) & kMask;
}

__global__ void minima_kernel(unsigned long long *words, unsigned long long *minima) {
  auto *least = static_cast<unsigned long long *>(simt::dynamic_shared_memory());
  cudavision::GridMinimum minimum(words);
  for (unsigned round = 0; round < kMinima; ++round) {
    if (threadIdx.x / 32 == round % (kThreads / 32)) minimum.publish(value_of(blockIdx.x, round));
    minima[(round * kBlocks + blockIdx.x) * kThreads + threadIdx.x] = minimum.collect(least);
    __syncthreads();
  }
}

TEST_F(Simt, grid_minimum_is_the_smallest_value_of_every_round_in_every_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<unsigned long long> words(
        std::vector<unsigned long long>(cudavision::GridMinimum::words(kBlocks), 0));
    const DeviceArray<unsigned long long> minima(
        std::vector<unsigned long long>(std::size_t{kMinima} * kBlocks * kThreads, 0));
    run_cooperative(kBlocks, kThreads, sizeof(unsigned long long), minima_kernel, words.get(), minima.get());
    const std::vector<unsigned long long> found = minima.download();
    for (unsigned round = 0; round < kMinima; ++round) {
      unsigned long long least = value_of(0, round);
      for (unsigned block = 1; block < kBlocks; ++block) least = std::min(least, value_of(block, round));
      for (unsigned i = 0; i < kBlocks * kThreads; ++i)
        ASSERT_EQ(found[round * kBlocks * kThreads + i], least) << "round " << round << " thread " << i;
    }
  }
}

__global__ void wait_once_kernel(unsigned *arrivals, unsigned leaving_block) {
  if (blockIdx.x != leaving_block) cudavision::GridBarrier(arrivals).wait();
}

TEST_F(Simt, cooperative_launches_are_of_as_many_blocks_as_run_at_once) {
  int blocks = 0, cooperates = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&cooperates, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  EXPECT_EQ(cooperates, 1);
  for (const auto &[threads, bytes, expected] :
       {std::tuple{1024, 48 * 1024, 1}, {1025, 0, 0}, {1, 48 * 1024 + 1, 0}}) {
    int resident = -1;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, wait_once_kernel, threads,
                                                            static_cast<std::size_t>(bytes)),
              cudaSuccess);
    EXPECT_EQ(resident, expected) << threads << " " << bytes;
  }
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t c = cooperative(static_cast<unsigned>(blocks) + 1, kThreads, &attribute);
  const DeviceArray<unsigned> arrivals(1);
  EXPECT_EQ(cudaLaunchKernelEx(&c, wait_once_kernel, arrivals.get(), 1000u),
            cudaErrorCooperativeLaunchTooLarge);
  c.gridDim = static_cast<unsigned>(blocks);
  EXPECT_EQ(cudaLaunchKernelEx(&c, wait_once_kernel, arrivals.get(), 1000u), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  (void)cudaGetLastError();
}

TEST_F(Simt, grid_barrier_that_a_block_has_left_stops) {
  const DeviceArray<unsigned> arrivals(1);
  EXPECT_DEATH(run_cooperative(kBlocks, kThreads, 0, wait_once_kernel, arrivals.get(), 1u),
               "deadlock.*4 resident blocks.*block \\(0,0,0\\).*thread.* 0 .*a loop.*acquire_release.cuh.*"
               "threads 1 to 31 wait in __syncthreads at .*grid_barrier.cuh.*block \\(3,0,0\\)");
}

}  // namespace
