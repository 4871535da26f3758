// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrix products of bytes on tensor cores (PTX ISA, mma.m16n8k32), summed exactly in 32 bits. All 32 lanes of the warp
// must call multiply_add(). A word of a lane holds four neighbouring bytes of a matrix.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/warp.cuh"

namespace cudavision {

// The left factor: 16 rows of 32 bytes. Lane l holds bytes 4 (l % 4) to 4 (l % 4) + 3 of the first 16 columns (words 0
// and 1) and of the last 16 columns (words 2 and 3), in row l / 4 (words 0 and 2) and in row l / 4 + 8 (words 1 and 3).
struct ByteRows {
  unsigned word[4];
};
// The right factor: 8 columns of 32 signed bytes. Lane l holds bytes 4 (l % 4) to 4 (l % 4) + 3 of the first 16 rows
// (word 0) and of the last 16 rows (word 1), in column l / 4.
struct ByteColumns {
  unsigned word[2];
};
// The product: 16 rows of 8 sums. Lane l holds columns 2 (l % 4) and 2 (l % 4) + 1, in row l / 4 (sums 0 and 1) and in
// row l / 4 + 8 (sums 2 and 3).
struct ProductSums {
  int sum[4];
};

// Two words of a factor: `first` of its first 16 columns (right factor: rows), `second` of its last 16.
struct WordPair {
  unsigned first, second;
};

// --- without tensor cores ---

// Returns sum + the dot product of the four bytes of a and those of b. The bytes of b are signed; those of a are signed
// if kIsSigned.
template <bool kIsSigned>
__device__ inline int add_byte_products(unsigned a, unsigned b, int sum) {
  for (int shift = 0; shift < 32; shift += 8) {
    const auto left = static_cast<std::uint8_t>(a >> shift & 0xffu);
    const auto right = static_cast<std::int8_t>(b >> shift & 0xffu);
    sum += (kIsSigned ? static_cast<std::int8_t>(left) : static_cast<int>(left)) * right;
  }
  return sum;
}

// Returns the arguments `first` and `second` of another lane.
__device__ inline WordPair words_of_lane(unsigned first, unsigned second, int lane) {
  const unsigned long long both =
      __shfl_sync(kFullWarp, static_cast<unsigned long long>(second) << 32 | first, lane);
  return {static_cast<unsigned>(both), static_cast<unsigned>(both >> 32)};
}

// multiply_add() without tensor cores.
template <bool kIsSigned>
__device__ inline void multiply_add_by_definition(const ByteRows &a, const ByteColumns &b, ProductSums *c) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int part = 0; part < 4; ++part) {
    const WordPair upper = words_of_lane(a.word[0], a.word[2], lane / 4 * 4 + part),
                   lower = words_of_lane(a.word[1], a.word[3], lane / 4 * 4 + part);
    for (int right = 0; right < 2; ++right) {
      const WordPair column = words_of_lane(b.word[0], b.word[1], (lane % 4 * 2 + right) * 4 + part);
      const auto add = [&](const WordPair &row, int sum) {
        return add_byte_products<kIsSigned>(row.second, column.second,
                                            add_byte_products<kIsSigned>(row.first, column.first, sum));
      };
      c->sum[right] = add(upper, c->sum[right]);
      c->sum[2 + right] = add(lower, c->sum[2 + right]);
    }
  }
}

// --- with tensor cores ---

#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 800
template <bool kIsSigned>
__device__ inline void multiply_add_by_tensor_cores(const ByteRows &a, const ByteColumns &b, ProductSums *c) {
#define CUDAVISION_MMA(type)                                                                     \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." type                                     \
               ".s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
               : "+r"(c->sum[0]), "+r"(c->sum[1]), "+r"(c->sum[2]), "+r"(c->sum[3])              \
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]), \
                 "r"(b.word[1]))
  if constexpr (kIsSigned)
    CUDAVISION_MMA("s8");
  else
    CUDAVISION_MMA("u8");
#undef CUDAVISION_MMA
}
#else
// Turing (compute capability 7.5) only has an instruction for 8 rows of 16 bytes.
template <bool kIsSigned>
__device__ inline void multiply_add_by_tensor_cores(const ByteRows &a, const ByteColumns &b, ProductSums *c) {
#define CUDAVISION_MMA(type)                                                                          \
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." type ".s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
               : "+r"(c->sum[i % 2 * 2]), "+r"(c->sum[i % 2 * 2 + 1])                                 \
               : "r"(a.word[i]), "r"(b.word[i / 2]))
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if constexpr (kIsSigned)
      CUDAVISION_MMA("s8");
    else
      CUDAVISION_MMA("u8");
#undef CUDAVISION_MMA
}
#endif
#endif

// Adds the product of a and b to c. The bytes of b are signed; those of a are signed if kIsSigned.
template <bool kIsSigned>
__device__ inline void multiply_add(const ByteRows &a, const ByteColumns &b, ProductSums *c) {
#if defined(__CUDA_ARCH__)
  multiply_add_by_tensor_cores<kIsSigned>(a, b, c);
#else
  multiply_add_by_definition<kIsSigned>(a, b, c);
#endif
}

}  // namespace cudavision
