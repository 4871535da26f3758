// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector of data races: what it allows and what it finds. This file is compiled with -fsanitize=thread.
#include <algorithm>
#include <set>
#include <vector>

#include "cuda/common/grid_barrier.cuh"
#include "cuda/common/last_block.cuh"
#include "tests/simt/simt_test_support.h"

namespace {

using simt::MemoryOrder;

constexpr unsigned kThreads = 64;

// Runs the kernel on words that are 0 at first, in several interleavings of its blocks.
template <class... Parameters>
void run_in_orders(unsigned blocks, void (*kernel)(Parameters...), unsigned threads = 1) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    simt::set_schedule({simt::Order::interleaved, seed, simt::kAllResident});
    const DeviceArray<unsigned> words(1000);
    run(blocks, threads, kernel, words.get());
  }
}

__device__ void await(const unsigned *word, unsigned value, MemoryOrder order) {
  while (simt::load(word, order) != value) {
  }
}

// Message passing: block 0 writes a word and a flag, block 1 reads the flag and the word.
template <MemoryOrder kStore, MemoryOrder kLoad, bool kFenceBefore, bool kFenceAfter>
__global__ void message_kernel(unsigned *words) {
  if (blockIdx.x == 0) {
    words[0] = 1;
    if (kFenceBefore) __threadfence();
    simt::store(words + 1, 1u, kStore);
  } else {
    await(words + 1, 1, kLoad);
    if (kFenceAfter) __threadfence();
    words[2] = words[0];
  }
}

constexpr auto kRelaxed = MemoryOrder::relaxed, kAcquire = MemoryOrder::acquire,
               kRelease = MemoryOrder::release;
constexpr char kRace[] =
    "data race.*write of thread 0 of block 0 at .*simt_race_test.cpp:[0-9]+.*"
    "read of thread 0 of block 1 at .*simt_race_test.cpp:[0-9]+";

TEST_F(Simt, message_by_release_and_acquire_is_no_race) {
  run_in_orders(2, message_kernel<kRelease, kAcquire, false, false>);
}
TEST_F(Simt, message_by_fences_is_no_race) {
  run_in_orders(2, message_kernel<kRelaxed, kRelaxed, true, true>);
  run_in_orders(2, message_kernel<kRelease, kRelaxed, false, true>);
  run_in_orders(2, message_kernel<kRelaxed, kAcquire, true, false>);
}
TEST_F(Simt, message_without_a_release_is_a_race) {
  EXPECT_DEATH(run_in_orders(2, message_kernel<kRelaxed, kAcquire, false, false>), kRace);
  EXPECT_DEATH(run_in_orders(2, message_kernel<kRelaxed, kRelaxed, false, true>), kRace);
}
TEST_F(Simt, message_without_an_acquire_is_a_race) {
  EXPECT_DEATH(run_in_orders(2, message_kernel<kRelease, kRelaxed, false, false>), kRace);
  EXPECT_DEATH(run_in_orders(2, message_kernel<kRelaxed, kRelaxed, true, false>), kRace);
}

// Block 0 hands a word to block 1, which hands it to block 2 (the litmus test ISA2).
template <MemoryOrder kMiddle>
__global__ void hand_on_kernel(unsigned *words) {
  if (blockIdx.x == 0) {
    words[0] = 1;
    simt::store(words + 1, 1u, kRelease);
  } else if (blockIdx.x == 1) {
    await(words + 1, 1, kMiddle);
    simt::store(words + 2, 1u, kRelease);
  } else {
    await(words + 2, 1, kAcquire);
    words[3] = words[0];
  }
}

TEST_F(Simt, happens_before_is_transitive) {
  run_in_orders(3, hand_on_kernel<kAcquire>);
  EXPECT_DEATH(run_in_orders(3, hand_on_kernel<kRelaxed>), "data race.*write .*block 0.*read .*block 2");
}

// Block 1 changes the flag between the release of block 0 and the acquire of block 2.
template <bool kByAtomic>
__global__ void chain_kernel(unsigned *words) {
  if (blockIdx.x == 0) {
    words[0] = 1;
    simt::store(words + 1, 1u, kRelease);
  } else if (blockIdx.x == 1) {
    await(words + 1, 1, kRelaxed);
    if (kByAtomic)
      atomicAdd(words + 1, 1u);
    else
      simt::store(words + 1, 2u, kRelaxed);
  } else {
    await(words + 1, 2, kRelaxed);
    simt::load(words + 1, kAcquire);
    words[2] = words[0];
  }
}

TEST_F(Simt, atomics_pass_a_release_on_and_stores_do_not) {
  run_in_orders(3, chain_kernel<true>);
  EXPECT_DEATH(run_in_orders(3, chain_kernel<false>), "data race.*write .*block 0.*read .*block 2");
}

enum class Way { nothing, barrier, warp_barrier, shuffle };

// Each thread reads what its neighbour in the warp has written to shared memory.
template <Way kWay>
__global__ void neighbour_kernel(unsigned *words) {
  SIMT_SHARED(unsigned[kThreads], tile);
  tile[threadIdx.x] = threadIdx.x;
  if (kWay == Way::barrier) __syncthreads();
  if (kWay == Way::warp_barrier) __syncwarp();
  if (kWay == Way::shuffle) __shfl_sync(0xffffffffu, 1, 0);
  words[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x ^ 1];
}

TEST_F(Simt, barriers_order_accesses_and_shuffles_do_not) {
  run_in_orders(3, neighbour_kernel<Way::barrier>, kThreads);
  run_in_orders(3, neighbour_kernel<Way::warp_barrier>, kThreads);
  EXPECT_DEATH(run_in_orders(3, neighbour_kernel<Way::nothing>, kThreads), "data race");
  EXPECT_DEATH(run_in_orders(3, neighbour_kernel<Way::shuffle>, kThreads), "data race");
}

// Without the second barrier, a round overwrites what other threads may still read.
template <bool kSecondBarrier>
__global__ void rounds_kernel(unsigned *words) {
  SIMT_SHARED(unsigned, value);
  for (unsigned round = 0; round < 3; ++round) {
    if (threadIdx.x == round) value = round;
    __syncthreads();
    words[blockIdx.x * kThreads + threadIdx.x] += value;
    if (kSecondBarrier) __syncthreads();
  }
}

TEST_F(Simt, write_after_a_read_is_a_race_without_a_barrier) {
  run_in_orders(3, rounds_kernel<true>, kThreads);
  EXPECT_DEATH(run_in_orders(3, rounds_kernel<false>, kThreads),
               "data race.*read of thread .*write of thread");
}

// The last block adds what all blocks have written.
template <bool kReleases>
__global__ void last_block_kernel(unsigned *words) {
  SIMT_SHARED(bool, is_last);
  words[10 + blockIdx.x * kThreads + threadIdx.x] = 1;
  if (kReleases) {
    if (!cudavision::is_last_block(words, gridDim.x, &is_last)) return;
  } else {
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(words, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (!is_last) return;
  }
  for (unsigned block = 0; block < gridDim.x; ++block)
    atomicAdd(words + 1, words[10 + block * kThreads + kThreads - 1 - threadIdx.x]);
}

TEST_F(Simt, last_block_sees_the_writes_of_all_blocks) {
  run_in_orders(5, last_block_kernel<true>, kThreads);
  EXPECT_DEATH(run_in_orders(5, last_block_kernel<false>, kThreads), "data race.*write of .*read of ");
}

__global__ void mixed_kernel(unsigned *words) {
  if (blockIdx.x == 0)
    atomicAdd(words, 1u);
  else
    words[1] = words[0];
}
__global__ void atomics_kernel(unsigned *words) {
  atomicAdd(words, 1u);
  simt::load(words, kRelaxed);
  *static_cast<volatile unsigned *>(words + 1) = 1;
}
__global__ void bytes_kernel(unsigned *words) { reinterpret_cast<unsigned char *>(words)[blockIdx.x] = 1; }
__global__ void same_word_kernel(unsigned *words) { words[0] = 1; }

TEST_F(Simt, race_needs_an_access_that_is_not_atomic_to_the_same_byte) {
  run_in_orders(4, atomics_kernel);
  run_in_orders(8, bytes_kernel);
  EXPECT_DEATH(run_in_orders(2, mixed_kernel), "data race");
  EXPECT_DEATH(run_in_orders(2, same_word_kernel), "data race.*write of .*write of ");
}

TEST_F(Simt, kernels_of_a_stream_do_not_race) {
  const DeviceArray<unsigned> words(10);
  for (int i = 0; i < 3; ++i) run(1, 1, same_word_kernel, words.get());
}

// --- loads that return older values ---

// The litmus tests of "GPU Concurrency: Weak Behaviours and Programming Assumptions" (J. Alglave et al., ASPLOS 2015),
// with one thread in each block, words x and y that are 0 at first, and atomics only, which do not race. outcomes()
// returns what the loads of a test returned in many interleavings.
constexpr unsigned kLoads = 4;
using Outcomes = std::set<std::vector<unsigned>>;

Outcomes outcomes(unsigned blocks, void (*kernel)(unsigned *words)) {
  Outcomes found;
  for (unsigned seed = 0; seed < 300; ++seed) {
    simt::set_schedule({simt::Order::interleaved, seed, simt::kAllResident});
    const DeviceArray<unsigned> words(kLoads + 3);
    run(blocks, 1, kernel, words.get());
    const std::vector<unsigned> all = words.download();
    found.emplace(all.begin(), all.begin() + kLoads);
  }
  return found;
}

struct Words {
  unsigned *words;
  __device__ unsigned *x() const { return words + kLoads; }
  __device__ unsigned *y() const { return words + kLoads + 1; }
  __device__ unsigned *z() const { return words + kLoads + 2; }
  // Stores the value that a load has returned. load: its number.
  __device__ void got(unsigned load, unsigned value) const { words[load] = value; }
};

template <bool kFences>
__device__ void fence_if() {
  if (kFences) __threadfence();
}

// Message passing (MP).
template <MemoryOrder kStore, MemoryOrder kLoad, bool kFences>
__global__ void atomic_message_kernel(unsigned *all) {
  const Words w{all};
  if (blockIdx.x == 0) {
    simt::store(w.x(), 1u, kRelaxed);
    fence_if<kFences>();
    simt::store(w.y(), 1u, kStore);
  } else {
    w.got(0, simt::load(w.y(), kLoad));
    fence_if<kFences>();
    w.got(1, simt::load(w.x(), kRelaxed));
  }
}
TEST_F(Simt, message_of_atomics_needs_a_release_and_an_acquire) {
  const std::vector<unsigned> weak{1, 0, 0, 0}, nothing{0, 0, 0, 0}, all{1, 1, 0, 0}, late{0, 1, 0, 0};
  EXPECT_EQ(outcomes(2, atomic_message_kernel<kRelaxed, kRelaxed, false>),
            (Outcomes{weak, nothing, all, late}));
  EXPECT_EQ(outcomes(2, atomic_message_kernel<kRelease, kRelaxed, false>),
            (Outcomes{weak, nothing, all, late}));
  EXPECT_EQ(outcomes(2, atomic_message_kernel<kRelaxed, kAcquire, false>),
            (Outcomes{weak, nothing, all, late}));
  EXPECT_EQ(outcomes(2, atomic_message_kernel<kRelease, kAcquire, false>), (Outcomes{nothing, all, late}));
  EXPECT_EQ(outcomes(2, atomic_message_kernel<kRelaxed, kRelaxed, true>), (Outcomes{nothing, all, late}));
}

// Store buffering (SB).
template <MemoryOrder kStore, MemoryOrder kLoad, bool kFences>
__global__ void store_buffering_kernel(unsigned *all) {
  const Words w{all};
  simt::store(blockIdx.x == 0 ? w.x() : w.y(), 1u, kStore);
  fence_if<kFences>();
  w.got(blockIdx.x, simt::load(blockIdx.x == 0 ? w.y() : w.x(), kLoad));
}
TEST_F(Simt, two_stores_can_both_be_late_unless_fences_follow) {
  const std::vector<unsigned> weak{0, 0, 0, 0}, first{0, 1, 0, 0}, second{1, 0, 0, 0}, both{1, 1, 0, 0};
  EXPECT_EQ(outcomes(2, store_buffering_kernel<kRelaxed, kRelaxed, false>),
            (Outcomes{weak, first, second, both}));
  EXPECT_EQ(outcomes(2, store_buffering_kernel<kRelease, kAcquire, false>),
            (Outcomes{weak, first, second, both}));
  EXPECT_EQ(outcomes(2, store_buffering_kernel<kRelaxed, kRelaxed, true>), (Outcomes{first, second, both}));
}

// Load buffering (LB): PTX allows that both loads return 1; here no store overtakes a load.
__global__ void load_buffering_kernel(unsigned *all) {
  const Words w{all};
  w.got(blockIdx.x, simt::load(blockIdx.x == 0 ? w.x() : w.y(), kRelaxed));
  simt::store(blockIdx.x == 0 ? w.y() : w.x(), 1u, kRelaxed);
}
TEST_F(Simt, no_store_overtakes_a_load) {
  EXPECT_EQ(outcomes(2, load_buffering_kernel), (Outcomes{{0, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}));
}

// Independent reads of independent writes (IRIW): whether two readers can see two stores in different orders.
template <MemoryOrder kStore, MemoryOrder kLoad, bool kFences>
__global__ void independent_kernel(unsigned *all) {
  const Words w{all};
  const bool is_even = blockIdx.x % 2 == 0;
  unsigned *const own = is_even ? w.x() : w.y();
  unsigned *const other = is_even ? w.y() : w.x();
  if (blockIdx.x < 2) {
    simt::store(own, 1u, kStore);
    return;
  }
  const unsigned first = 2 * (blockIdx.x - 2);
  w.got(first, simt::load(own, kLoad));
  fence_if<kFences>();
  w.got(first + 1, simt::load(other, kLoad));
}
TEST_F(Simt, readers_agree_on_the_order_of_independent_stores_if_fences_are_between_their_loads) {
  const std::vector<unsigned> weak{1, 0, 1, 0};
  EXPECT_TRUE(outcomes(4, independent_kernel<kRelaxed, kRelaxed, false>).contains(weak));
  EXPECT_TRUE(outcomes(4, independent_kernel<kRelease, kAcquire, false>).contains(weak));
  const Outcomes fenced = outcomes(4, independent_kernel<kRelaxed, kRelaxed, true>);
  EXPECT_FALSE(fenced.contains(weak));
  EXPECT_EQ(fenced.size(), 15u) << "every other outcome is possible";
}

// Coherence (CoRR): no load returns an older value than a load before it, in the same or in another thread.
template <bool kReleases>
__global__ void coherence_kernel(unsigned *all) {
  const Words w{all};
  if (blockIdx.x == 0) {
    simt::store(w.x(), 1u, kRelaxed);
    simt::store(w.x(), 2u, kRelaxed);
  } else if (blockIdx.x == 1) {
    w.got(0, simt::load(w.x(), kRelaxed));
    w.got(1, simt::load(w.x(), kRelaxed));
    simt::store(w.y(), 1u, kReleases ? kRelease : kRelaxed);
  } else {
    w.got(2, simt::load(w.y(), kAcquire));
    w.got(3, simt::load(w.x(), kRelaxed));
  }
}
TEST_F(Simt, loads_of_a_word_do_not_go_back) {
  const auto goes_back = [](const std::vector<unsigned> &loads) {
    return loads[2] == 1 && loads[3] < loads[1];
  };
  for (const bool releases : {true, false}) {
    const Outcomes found = outcomes(3, releases ? coherence_kernel<true> : coherence_kernel<false>);
    for (const std::vector<unsigned> &loads : found) EXPECT_LE(loads[0], loads[1]);
    EXPECT_EQ(std::any_of(found.begin(), found.end(), goes_back), !releases);
    EXPECT_TRUE(found.contains({0, 1, 0, 0}) && found.contains({1, 2, 0, 2})) << "old values are read";
  }
}

// A third thread hands a message on (ISA2).
template <MemoryOrder kMiddle>
__global__ void atomic_hand_on_kernel(unsigned *all) {
  const Words w{all};
  if (blockIdx.x == 0) {
    simt::store(w.x(), 1u, kRelaxed);
    simt::store(w.y(), 1u, kRelease);
  } else if (blockIdx.x == 1) {
    w.got(0, simt::load(w.y(), kMiddle));
    simt::store(w.z(), 1u, kRelease);
  } else {
    w.got(1, simt::load(w.z(), kAcquire));
    w.got(2, simt::load(w.x(), kRelaxed));
  }
}
TEST_F(Simt, message_of_atomics_is_handed_on) {
  const std::vector<unsigned> weak{1, 1, 0, 0};
  EXPECT_FALSE(outcomes(3, atomic_hand_on_kernel<kAcquire>).contains(weak));
  EXPECT_TRUE(outcomes(3, atomic_hand_on_kernel<kRelaxed>).contains(weak));
}

// Each block counts itself, and reads the other counter: updates never use an older value.
__global__ void count_kernel(unsigned *all) {
  const Words w{all};
  atomicMax(all + 1, atomicAdd(w.x(), 1u));
  atomicMax(all, simt::load(w.y(), kRelaxed));
  atomicAdd(w.y(), 1u);
}
TEST_F(Simt, updates_read_the_last_value) {
  for (const std::vector<unsigned> &counts : outcomes(9, count_kernel)) EXPECT_EQ(counts[1], 8u);
}

// Each block gets the shared memory of a block that has ended.
__global__ void shared_count_kernel(unsigned *words) {
  SIMT_SHARED(unsigned, count);
  if (threadIdx.x == 0) count = 10 * blockIdx.x;
  __syncthreads();
  const unsigned before = simt::load(&count, kRelaxed);
  __syncthreads();
  if (threadIdx.x < 3) atomicAdd(&count, before == 10 * blockIdx.x ? 1u : 100u);
  __syncthreads();
  if (threadIdx.x == 40) words[blockIdx.x] = simt::load(&count, kRelaxed);
}
TEST_F(Simt, barriers_and_new_blocks_leave_no_older_values) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    simt::set_schedule({simt::Order::interleaved, seed, 2});
    const DeviceArray<unsigned> words(6);
    run(6, kThreads, shared_count_kernel, words.get());
    EXPECT_EQ(words.download(), (std::vector<unsigned>{3, 13, 23, 33, 43, 53}));
  }
}

// --- kernels that start early ---

// Each kernel adds 1 to a word of each block. With kWaits and without kLetsFirst, a kernel starts after the end of the
// kernel two places ahead of it.
template <bool kWaits, bool kLetsFirst>
__global__ void add_kernel(unsigned *words) {
  if (kLetsFirst) simt::let_next_kernel_start();
  if (kWaits) simt::wait_for_kernel_ahead();
  if (!kLetsFirst) simt::let_next_kernel_start();
  if (threadIdx.x == 0) ++words[blockIdx.x];
}

// Consecutive kernels write to two words by turns, before each waits for the kernel ahead.
template <bool kLetsFirst>
__global__ void take_turns_kernel(unsigned turn, unsigned *words) {
  if (kLetsFirst) simt::let_next_kernel_start();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (int i = 0; turn == 0 && i < 100; ++i) (void)simt::load(words + 5, kRelaxed);  // others get ahead
    ++words[turn % 2];
  }
  simt::wait_for_kernel_ahead();
  if (!kLetsFirst) simt::let_next_kernel_start();
}

template <class Launch>
void run_kernels_in_orders(const Launch &launch) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    simt::set_schedule({simt::Order::interleaved, seed, seed % 2 == 0 ? simt::kAllResident : 2});
    const DeviceArray<unsigned> words(10);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = config(3, 32);
    c.attrs = &attribute, c.numAttrs = 1;
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(launch(c, i, words.get()), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
}

TEST_F(Simt, kernel_that_waits_for_the_one_ahead_does_not_race) {
  run_kernels_in_orders([](const cudaLaunchConfig_t &c, unsigned, unsigned *words) {
    return cudaLaunchKernelEx(&c, add_kernel<true, true>, words);
  });
  run_kernels_in_orders([](const cudaLaunchConfig_t &c, unsigned, unsigned *words) {
    return cudaLaunchKernelEx(&c, add_kernel<true, false>, words);
  });
}

TEST_F(Simt, kernel_that_does_not_wait_for_the_one_ahead_is_a_race) {
  EXPECT_DEATH(run_kernels_in_orders([](const cudaLaunchConfig_t &c, unsigned, unsigned *words) {
                 return cudaLaunchKernelEx(&c, add_kernel<false, true>, words);
               }),
               "data race");
}

TEST_F(Simt, two_words_by_turns_need_a_wait_before_the_next_kernel_is_let_start) {
  run_kernels_in_orders([](const cudaLaunchConfig_t &c, unsigned i, unsigned *words) {
    return cudaLaunchKernelEx(&c, take_turns_kernel<false>, i, words);
  });
  EXPECT_DEATH(run_kernels_in_orders([](const cudaLaunchConfig_t &c, unsigned i, unsigned *words) {
                 return cudaLaunchKernelEx(&c, take_turns_kernel<true>, i, words);
               }),
               "data race");
}

__global__ void write_number_kernel(unsigned *words, unsigned at) {
  *reinterpret_cast<unsigned long long *>(words + at) = 1;
}

TEST_F(Simt, misaligned_access_is_refused_as_by_a_card) {
  const DeviceArray<unsigned> words(4);
  run(1, 1, write_number_kernel, words.get(), 2u);
  EXPECT_DEATH(run(1, 1, write_number_kernel, words.get(), 1u),
               "misaligned access of 8 bytes at .*simt_race_test.cpp:[0-9]+");
}

}  // namespace
