// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated device functions: built-in variables, barriers, votes and shuffles, each compared with a simple loop.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/simt/simt_test_support.h"

namespace {

template <class Test>
void in_every_order(Test test) {
  for (const simt::Schedule schedule : simt::kSchedules) {
    simt::set_schedule(schedule);
    SCOPED_TRACE(to_string(schedule));
    test();
  }
}

// --- built-in variables ---

static_assert(!std::is_assignable_v<decltype((threadIdx.x)), unsigned>);
static_assert(!std::is_assignable_v<decltype((blockDim)), dim3>);

__global__ void visit_kernel(int *visits) {
  const dim3 size(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  ++visits[(z * size.y + y) * size.x + x];
}

TEST_F(Simt, every_thread_of_the_grid_runs_once) {
  in_every_order([] {
    const DeviceArray<int> visits(2 * 3 * 4 * 5 * 6 * 7);
    run(dim3(2, 3, 4), dim3(5, 6, 7), visit_kernel, visits.get());
    EXPECT_EQ(visits.download(), std::vector<int>(2 * 3 * 4 * 5 * 6 * 7, 1));
  });
}

__global__ void indices_survive_barriers_kernel(unsigned *wrong) {
  const unsigned before = threadIdx.x, block = blockIdx.x;
  __syncthreads();
  if (threadIdx.x != before || blockIdx.x != block || blockDim.x != 100 || gridDim.x != 3)
    atomicAdd(wrong, 1u);
}

TEST_F(Simt, indices_survive_barriers) {
  in_every_order([] {
    const DeviceArray<unsigned> wrong(1);
    run(3, 100, indices_survive_barriers_kernel, wrong.get());
    EXPECT_EQ(wrong.download()[0], 0u);
  });
}

// --- barriers ---

__global__ void tree_sum_kernel(const int *src, int *dst) {
  SIMT_SHARED(int[1024], sums);
  sums[threadIdx.x] = src[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) dst[blockIdx.x] = sums[0];
}

TEST_F(Simt, blocks_of_1024_threads_sum_over_barriers) {
  in_every_order([] {
    std::vector<int> src(3 * 1024), expected(3);
    for (std::size_t i = 0; i < src.size(); ++i)
      expected[i / 1024] += src[i] = static_cast<int>(i * i % 1013);
    const DeviceArray<int> device_src(src), dst(3);
    run(3, 1024, tree_sum_kernel, device_src.get(), dst.get());
    EXPECT_EQ(dst.download(), expected);
  });
}

struct Votes {
  int any, all, count;
};

__global__ void vote_kernel(const int *predicates, Votes *votes) {
  const int predicate = predicates[threadIdx.x];
  Votes &v = votes[threadIdx.x];
  v.any = __syncthreads_or(predicate);
  v.all = __syncthreads_and(predicate);
  v.count = __syncthreads_count(predicate);
}

TEST_F(Simt, barriers_with_a_vote_count_the_whole_block) {
  constexpr std::size_t kThreads = 75;
  in_every_order([] {
    for (const std::size_t set : {std::size_t{0}, std::size_t{1}, std::size_t{40}, kThreads}) {
      std::vector<int> predicates(kThreads);
      // Every value but 0 is true.
      std::fill_n(predicates.rbegin(), set, 8);
      const DeviceArray<int> device_predicates(predicates);
      const DeviceArray<Votes> votes(kThreads);
      run(1, kThreads, vote_kernel, device_predicates.get(), votes.get());
      for (const Votes &v : votes.download()) {
        EXPECT_EQ(v.any != 0, set > 0);
        EXPECT_EQ(v.all != 0, set == kThreads);
        EXPECT_EQ(v.count, static_cast<int>(set));
      }
    }
  });
}

// --- warp operations ---

// One full warp and a partial one.
constexpr unsigned kThreads = 40;
constexpr unsigned kFull = 0xffffffffu;

unsigned lanes_in_warp_of(unsigned thread) { return thread < 32 ? 32 : kThreads - 32; }

__global__ void warp_vote_kernel(const int *predicates, uint3 *votes) {
  const int predicate = predicates[threadIdx.x];
  uint3 &v = votes[threadIdx.x];
  v.x = __ballot_sync(kFull, predicate);
  v.y = static_cast<unsigned>(__any_sync(kFull, predicate));
  v.z = static_cast<unsigned>(__all_sync(kFull, predicate));
}

TEST_F(Simt, votes_of_full_and_partial_warps_match_a_loop) {
  in_every_order([] {
    for (unsigned pattern : {0u, 1u, 0x80u, 0x55u, 0xffu, 0xffffffffu}) {
      std::vector<int> predicates(kThreads);
      for (unsigned t = 0; t < kThreads; ++t) predicates[t] = static_cast<int>(pattern >> t % 32 & 1) * 4;
      const DeviceArray<int> device_predicates(predicates);
      const DeviceArray<uint3> votes(kThreads);
      run(1, kThreads, warp_vote_kernel, device_predicates.get(), votes.get());
      const std::vector<uint3> got = votes.download();
      for (unsigned t = 0; t < kThreads; ++t) {
        const unsigned all = lanes_in_warp_of(t) == 32 ? kFull : (1u << lanes_in_warp_of(t)) - 1;
        EXPECT_EQ(got[t].x, pattern & all);
        EXPECT_EQ(got[t].y != 0, (pattern & all) != 0);
        EXPECT_EQ(got[t].z != 0, (pattern & all) == all);
      }
    }
  });
}

struct Shuffled {
  int index, up, down, exchange;
};

__device__ int value_of(unsigned thread) { return static_cast<int>(thread) * 3 + 100; }

__global__ void shuffle_kernel(int operand, int width, Shuffled *results) {
  const int value = value_of(threadIdx.x);
  Shuffled &r = results[threadIdx.x];
  r.index = __shfl_sync(kFull, value, operand, width);
  r.up = __shfl_up_sync(kFull, value, static_cast<unsigned>(operand), width);
  r.down = __shfl_down_sync(kFull, value, static_cast<unsigned>(operand), width);
  r.exchange = __shfl_xor_sync(kFull, value, operand, width);
}

// As in the programming guide: lanes form segments of `width`. A lane whose source lies outside its segment
// keeps its own value, except that an exclusive or may read from an earlier segment.
Shuffled expected_lanes(int lane, int operand, int width) {
  const int begin = lane / width * width, end = begin + width;
  return {begin + operand % width, lane - operand >= begin ? lane - operand : lane,
          lane + operand < end ? lane + operand : lane, (lane ^ operand) < end ? lane ^ operand : lane};
}

void expect_value(int got, int lane, unsigned warp_begin, unsigned lanes) {
  if (lane < static_cast<int>(lanes)) {
    EXPECT_EQ(got, value_of(warp_begin + static_cast<unsigned>(lane)));
  } else {
    EXPECT_EQ(static_cast<unsigned>(got), 0xdeaddeadu);
  }
}

TEST_F(Simt, shuffles_of_each_width_match_a_loop) {
  for (const int width : {1, 2, 4, 8, 16, 32})
    for (const int operand : {0, 1, 2, 3, 7, 8, 15, 16, 31}) {
      SCOPED_TRACE(testing::Message() << "width " << width << " operand " << operand);
      simt::set_schedule(
          simt::kSchedules[static_cast<std::size_t>(operand + width) % simt::kSchedules.size()]);
      const DeviceArray<Shuffled> results(kThreads);
      run(1, kThreads, shuffle_kernel, operand, width, results.get());
      const std::vector<Shuffled> got = results.download();
      for (unsigned t = 0; t < kThreads; ++t) {
        const unsigned begin = t / 32 * 32, lanes = lanes_in_warp_of(t);
        const Shuffled want = expected_lanes(static_cast<int>(t % 32), operand, width);
        expect_value(got[t].index, want.index, begin, lanes);
        expect_value(got[t].up, want.up, begin, lanes);
        expect_value(got[t].down, want.down, begin, lanes);
        expect_value(got[t].exchange, want.exchange, begin, lanes);
      }
      // Drops the report of the partial warp's reads from lanes that do not exist.
      (void)simt::take_report();
    }
}

__global__ void wide_shuffle_kernel(double *reals, unsigned long long *integers) {
  reals[threadIdx.x] = __shfl_xor_sync(kFull, 0.1 * threadIdx.x, 1);
  integers[threadIdx.x] = __shfl_xor_sync(kFull, 0x0123456789abcdefull + threadIdx.x, 1);
}

TEST_F(Simt, shuffles_carry_64_bits) {
  const DeviceArray<double> reals(32);
  const DeviceArray<unsigned long long> integers(32);
  run(1, 32, wide_shuffle_kernel, reals.get(), integers.get());
  EXPECT_EQ(reals.download()[4], 0.1 * 5u);
  EXPECT_EQ(integers.download()[4], 0x0123456789abcdefull + 5);
}

__global__ void half_warps_kernel(unsigned *dst) {
  const unsigned t = threadIdx.x;
  if (t < 16) {
    dst[t] = __ballot_sync(0x0000ffffu, t % 2 == 0);
  } else {
    for (unsigned i = 0; i < 3; ++i) __syncwarp(0xffff0000u);
    dst[t] = __ballot_sync(0xffff0000u, t % 2 == 1);
  }
}

TEST_F(Simt, halves_of_a_warp_may_go_different_ways) {
  in_every_order([] {
    const DeviceArray<unsigned> dst(32);
    run(1, 32, half_warps_kernel, dst.get());
    const std::vector<unsigned> got = dst.download();
    EXPECT_EQ(got[3], 0x00005555u);
    EXPECT_EQ(got[20], 0xaaaa0000u);
  });
}

// A fast lane must not overwrite its operand before a slow one has read it.
__global__ void rotate_kernel(int rounds, unsigned *dst) {
  unsigned value = threadIdx.x;
  for (int i = 0; i < rounds; ++i) value = __shfl_sync(kFull, value, static_cast<int>(threadIdx.x + 1));
  dst[threadIdx.x] = value;
}

TEST_F(Simt, consecutive_shuffles_do_not_mix) {
  in_every_order([] {
    const DeviceArray<unsigned> dst(64);
    run(1, 64, rotate_kernel, 21, dst.get());
    const std::vector<unsigned> got = dst.download();
    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(got[t], t / 32 * 32 + (t + 21) % 32);
  });
}

__global__ void fill_dynamic_kernel(int *dst) {
  auto *values = static_cast<unsigned *>(simt::dynamic_shared_memory());
  if (values[threadIdx.x] != 0xcbcbcbcbu) atomicAdd(dst, 1000);
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(dst, values[blockDim.x - 1 - threadIdx.x] == blockDim.x - 1 - threadIdx.x);
}

TEST_F(Simt, dynamic_shared_memory_is_stale_in_each_block) {
  const DeviceArray<int> dst(1);
  const cudaLaunchConfig_t c = config(3, 50, 50 * sizeof(unsigned));
  ASSERT_EQ(cudaLaunchKernelEx(&c, fill_dynamic_kernel, dst.get()), cudaSuccess);
  EXPECT_EQ(dst.download()[0], 150);
}

}  // namespace
