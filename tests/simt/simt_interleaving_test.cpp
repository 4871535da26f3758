// SPDX-License-Identifier: LGPL-2.1-or-later
// Blocks that run by turns: how they affect one another, and deadlocks of devices with few resident blocks.
#include <set>

#include "cuda/common/acquire_release.cuh"
#include "tests/simt/simt_test_support.h"

namespace {

constexpr unsigned kThreads = 64;

simt::Schedule interleaved(unsigned seed, unsigned resident) {
  return {simt::Order::interleaved, seed, resident};
}

// Each block waits for the block after it.
__global__ void wait_for_next_kernel(unsigned *arrivals, unsigned *order) {
  SIMT_SHARED(unsigned, place);
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x)
      while (cudavision::arrivals_at(arrivals + blockIdx.x + 1) == 0) {
      }
    place = atomicAdd(order, 1u);
    cudavision::arrive(arrivals + blockIdx.x);
  }
  __syncthreads();
  if (threadIdx.x == kThreads - 1) order[1 + blockIdx.x] = place;
}

void run_waiting_blocks(unsigned blocks) {
  const DeviceArray<unsigned> arrivals(blocks), order(blocks + 1);
  run(blocks, kThreads, wait_for_next_kernel, arrivals.get(), order.get());
  const std::vector<unsigned> places = order.download();
  for (unsigned block = 0; block < blocks; ++block) EXPECT_EQ(places[1 + block], blocks - 1 - block);
}

TEST_F(Simt, blocks_that_are_resident_can_wait_for_one_another) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    simt::set_schedule(interleaved(seed, 5));
    run_waiting_blocks(5);
    simt::set_schedule(interleaved(seed, simt::kAllResident));
    run_waiting_blocks(7);
  }
  simt::set_schedule({simt::Order::reverse});
  run_waiting_blocks(5);
}

TEST_F(Simt, deadlock_of_too_few_resident_blocks_says_where_each_waits) {
  const std::string waits =
      ".*threads 0 to 0 wait in a loop that reads a word at .*"
      "threads 1 to 31 wait in __syncthreads at .*simt_interleaving_test.cpp";
  simt::set_schedule({simt::Order::forward});
  EXPECT_DEATH(run_waiting_blocks(2), "deadlock.*1 resident block.*1 of its 2 blocks.*\\(0,0,0\\)" + waits);
  simt::set_schedule(interleaved(0, 2));
  run_waiting_blocks(2);
  // Some orders begin with the last blocks, and so end.
  EXPECT_DEATH(
      for (unsigned seed = 0; seed < 20; ++seed) {
        simt::set_schedule(interleaved(seed, 2));
        run_waiting_blocks(5);
      },
      "deadlock.*2 resident blocks.*block \\([0-9],0,0\\)" + waits);
}

// Decoupled look-back: a block adds its number to the sum of the block before it. claimed: blocks take their numbers as
// they begin.
template <bool kClaimed>
__global__ void look_back_kernel(unsigned *next, unsigned *arrivals, unsigned *sums) {
  SIMT_SHARED(unsigned, block);
  if (threadIdx.x == 0) block = kClaimed ? atomicAdd(next, 1u) : blockIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (block != 0)
    while (cudavision::arrivals_at(arrivals + block - 1) == 0) {
    }
  sums[block] = block + (block == 0 ? 0 : sums[block - 1]);
  cudavision::arrive(arrivals + block);
}

template <bool kClaimed>
void look_back() {
  constexpr unsigned kBlocks = 30;
  const DeviceArray<unsigned> next(1), arrivals(kBlocks), sums(kBlocks);
  run(kBlocks, kThreads, look_back_kernel<kClaimed>, next.get(), arrivals.get(), sums.get());
  const std::vector<unsigned> found = sums.download();
  for (unsigned i = 0; i < kBlocks; ++i) EXPECT_EQ(found[i], i * (i + 1) / 2) << i;
}

TEST_F(Simt, look_back_on_claimed_tiles_ends_in_every_order) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    look_back<true>();
  }
}

TEST_F(Simt, look_back_on_unclaimed_tiles_is_a_deadlock) {
  simt::set_schedule({simt::Order::forward});
  look_back<false>();
  simt::set_schedule(interleaved(1, 3));
  EXPECT_DEATH(look_back<false>(), "deadlock.*3 resident blocks");
}

// Adds to a counter without an atomic.
__global__ void lose_kernel(unsigned long long *counter) {
  for (int i = 0; i < 20; ++i) {
    const unsigned long long before = cudavision::relaxed_load(counter);
    cudavision::relaxed_store(counter, before + 1);
  }
}

TEST_F(Simt, blocks_interfere_only_if_they_interleave) {
  std::set<unsigned long long> sums;
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<unsigned long long> counter(1);
    run(20, 1, lose_kernel, counter.get());
    const unsigned long long sum = counter.download()[0];
    if (schedule.order == simt::Order::interleaved) {
      EXPECT_LT(sum, 400u) << to_string(schedule);
      sums.insert(sum);
    } else {
      EXPECT_EQ(sum, 400u) << to_string(schedule);
    }
  }
  EXPECT_GE(sums.size(), 2u);
}

__global__ void take_turns_kernel(unsigned *next, unsigned *order) {
  for (int round = 0; round < 3; ++round) order[atomicAdd(next, 1u)] = blockIdx.x * kThreads + threadIdx.x;
}

std::vector<unsigned> turns_of(simt::Schedule schedule) {
  simt::set_schedule(schedule);
  const DeviceArray<unsigned> next(1), order(3 * 4 * kThreads);
  run(4, kThreads, take_turns_kernel, next.get(), order.get());
  return order.download();
}

TEST_F(Simt, interleaving_is_repeated_by_its_seed) {
  std::set<std::vector<unsigned>> orders;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const std::vector<unsigned> turns = turns_of(interleaved(seed, 3));
    EXPECT_EQ(turns, turns_of(interleaved(seed, 3)));
    orders.insert(turns);
  }
  EXPECT_EQ(orders.size(), 10u);
  EXPECT_NE(turns_of(interleaved(1, 2)), turns_of(interleaved(1, 3)));
}

// The blocks meet at a counter between the write and the read of shared memory of both kinds.
__global__ void keep_kernel(unsigned *arrivals, unsigned *wrong) {
  SIMT_SHARED(unsigned[kThreads], kept);
  auto *dynamic = static_cast<unsigned *>(simt::dynamic_shared_memory());
  const unsigned value = blockIdx.x * kThreads + threadIdx.x;
  kept[threadIdx.x] = dynamic[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    cudavision::arrive(arrivals);
    while (cudavision::arrivals_at(arrivals) != gridDim.x) {
    }
  }
  __syncthreads();
  const unsigned other = kThreads - 1 - threadIdx.x, expected = blockIdx.x * kThreads + other;
  if (kept[other] != expected || dynamic[other] != expected) atomicAdd(wrong, 1u);
}

TEST_F(Simt, each_resident_block_has_its_own_shared_memory) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    simt::set_schedule(interleaved(seed, simt::kAllResident));
    const DeviceArray<unsigned> arrivals(1), wrong(1);
    const cudaLaunchConfig_t c = config(6, kThreads, kThreads * sizeof(unsigned));
    ASSERT_EQ(cudaLaunchKernelEx(&c, keep_kernel, arrivals.get(), wrong.get()), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(wrong.download()[0], 0u);
  }
}

// One warp waits for another one, which needs warp operations until then.
__global__ void wait_for_warp_kernel(unsigned *arrivals, int *dst) {
  if (threadIdx.x < 32) {
    while (cudavision::arrivals_at(arrivals) == 0) {
    }
  } else {
    int sum = static_cast<int>(threadIdx.x);
    for (int delta = 16; delta != 0; delta /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, delta);
    if (threadIdx.x == 32) {
      *dst = sum;
      cudavision::arrive(arrivals);
    }
  }
}

TEST_F(Simt, warp_that_waits_lets_other_warps_of_its_block_run) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    const DeviceArray<unsigned> arrivals(1);
    const DeviceArray<int> dst(1);
    run(1, kThreads, wait_for_warp_kernel, arrivals.get(), dst.get());
    EXPECT_EQ(dst.download()[0], 32 * (32 + 63) / 2) << to_string(schedule);
  }
}

}  // namespace
