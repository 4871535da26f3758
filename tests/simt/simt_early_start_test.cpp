// SPDX-License-Identifier: LGPL-2.1-or-later
// Programmatic dependent launch: when a kernel starts, and what it waits for.
#include "cuda/common/acquire_release.cuh"
#include "tests/simt/simt_test_support.h"

namespace {

constexpr unsigned kBlocks = 5, kThreads = 64;

// Queues a kernel behind others of the null stream. early: it may start before the one ahead has ended.
template <class... Parameters, class... Arguments>
void queue(bool early, unsigned blocks, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c = config(blocks, kThreads);
  if (early) c.attrs = &attribute, c.numAttrs = 1;
  ASSERT_EQ(cudaLaunchKernelEx(&c, kernel, arguments...), cudaSuccess);
}

constexpr simt::Schedule kOrders[] = {
    {simt::Order::forward},           {simt::Order::reverse},
    {simt::Order::shuffled, 1},       {simt::Order::interleaved, 1, 2},
    {simt::Order::interleaved, 2, 3}, {simt::Order::interleaved, 3, simt::kAllResident},
    {simt::Order::interleaved, 4, 1}, {simt::Order::interleaved, 5, 2}};

__device__ void switch_threads(const unsigned *word) {
  for (int i = 0; i < 20; ++i) (void)cudavision::arrivals_at(word);
}

// Each block adds 1 to its number, long after it has let the next kernel start; with kLetsLate, before that.
template <bool kWaits, bool kLetsLate = false>
__global__ void add_kernel(unsigned *numbers) {
  if (!kLetsLate) simt::let_next_kernel_start();
  if (kWaits) simt::wait_for_kernel_ahead();
  const unsigned before = numbers[blockIdx.x];
  switch_threads(numbers);
  __syncthreads();
  if (threadIdx.x == 0) numbers[blockIdx.x] = before + 1;
  if (kLetsLate) {
    __syncthreads();
    simt::let_next_kernel_start();
  }
}

// Runs the kernel four times. Returns whether it was as if one had run after another.
template <class Kernel>
bool runs_in_order(Kernel kernel, bool early = true) {
  const DeviceArray<unsigned> numbers(kBlocks);
  for (int i = 0; i < 4; ++i) queue(early, kBlocks, kernel, numbers.get());
  return numbers.download() == std::vector<unsigned>(kBlocks, 4);
}

TEST_F(Simt, kernel_that_waits_sees_what_the_one_ahead_has_written) {
  for (const simt::Schedule order : kOrders) {
    simt::set_schedule(order);
    EXPECT_TRUE(runs_in_order(add_kernel<true>)) << to_string(order);
  }
}

TEST_F(Simt, kernel_that_does_not_wait_is_found) {
  for (const simt::Schedule order : kOrders) {
    simt::set_schedule(order);
    const bool overlaps = order.order == simt::Order::interleaved;
    EXPECT_EQ(runs_in_order(add_kernel<false>), !overlaps) << to_string(order);
    EXPECT_TRUE(runs_in_order(add_kernel<false, true>)) << to_string(order) << ": let start at the end";
    EXPECT_TRUE(runs_in_order(add_kernel<false>, false)) << to_string(order) << ": launched in order";
  }
}

// Counts the kernel's blocks that have begun. found: the least number of blocks of the kernel ahead begun then.
__global__ void count_kernel(unsigned kernel, unsigned *begun, unsigned *found) {
  if (threadIdx.x == 0) {
    atomicAdd(begun + kernel, 1u);
    if (kernel > 0) atomicMin(found + kernel, simt::load(begun + kernel - 1, simt::MemoryOrder::relaxed));
  }
  switch_threads(begun);
  __syncthreads();
  simt::let_next_kernel_start();
  simt::wait_for_kernel_ahead();
}

TEST_F(Simt, kernel_starts_when_all_blocks_ahead_let_it) {
  for (const simt::Schedule order : kOrders) {
    simt::set_schedule(order);
    const DeviceArray<unsigned> begun(3), found(std::vector<unsigned>(3, kBlocks));
    for (unsigned kernel = 0; kernel < 3; ++kernel)
      queue(true, kernel == 2 ? 2 : kBlocks, count_kernel, kernel, begun.get(), found.get());
    EXPECT_EQ(found.download(), std::vector<unsigned>(3, kBlocks)) << to_string(order);
    EXPECT_EQ(begun.download(), (std::vector<unsigned>{kBlocks, kBlocks, 2}));
  }
}

// Block 0 waits until the other kernel has begun.
__global__ void meet_kernel(unsigned *arrivals) {
  simt::let_next_kernel_start();
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  while (cudavision::arrivals_at(arrivals) == 0) {
  }
}
__global__ void arrive_kernel(unsigned *arrivals) {
  if (threadIdx.x == 0) cudavision::arrive(arrivals);
}

TEST_F(Simt, kernels_run_at_the_same_time) {
  const DeviceArray<unsigned> arrivals(1);
  simt::set_schedule({simt::Order::interleaved, 6, 2});
  queue(false, kBlocks, meet_kernel, arrivals.get());
  queue(true, kBlocks, arrive_kernel, arrivals.get());
  EXPECT_EQ(arrivals.download()[0], kBlocks);
  EXPECT_DEATH(
      {
        queue(false, kBlocks, meet_kernel, arrivals.get());
        (void)cudaMemsetAsync(arrivals.get(), 0, sizeof(unsigned));
        queue(false, kBlocks, meet_kernel, arrivals.get());
        queue(false, kBlocks, arrive_kernel, arrivals.get());
        (void)cudaStreamSynchronize(nullptr);
      },
      "deadlock");
}

}  // namespace
