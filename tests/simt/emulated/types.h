// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's keywords, vector types and built-in variables.
#pragma once

#define __global__
#define __device__
#define __host__
// Makes a mutable constant fail to compile: two elements in one process would share it.
#define __constant__ static const
// __shared__ is missing: SIMT_SHARED (launch.h) gives each block its own variable.
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

#pragma GCC visibility push(default)

#define SIMT_VECTOR_2(Name, T, alignment) \
  struct alignas(alignment) Name {        \
    T x, y;                               \
  };                                      \
  constexpr Name make_##Name(T x, T y) { return {x, y}; }

#define SIMT_VECTOR_3(Name, T) \
  struct Name {                \
    T x, y, z;                 \
  };                           \
  constexpr Name make_##Name(T x, T y, T z) { return {x, y, z}; }

#define SIMT_VECTOR_4(Name, T, alignment) \
  struct alignas(alignment) Name {        \
    T x, y, z, w;                         \
  };                                      \
  constexpr Name make_##Name(T x, T y, T z, T w) { return {x, y, z, w}; }

// The alignments are CUDA's, so that UndefinedBehaviorSanitizer finds misaligned vector accesses.
SIMT_VECTOR_2(char2, signed char, 2)
SIMT_VECTOR_2(uchar2, unsigned char, 2)
SIMT_VECTOR_2(short2, short, 4)
SIMT_VECTOR_2(ushort2, unsigned short, 4)
SIMT_VECTOR_2(int2, int, 8)
SIMT_VECTOR_2(uint2, unsigned, 8)
SIMT_VECTOR_2(float2, float, 8)
SIMT_VECTOR_3(uchar3, unsigned char)
SIMT_VECTOR_3(int3, int)
SIMT_VECTOR_3(uint3, unsigned)
SIMT_VECTOR_3(float3, float)
SIMT_VECTOR_4(char4, signed char, 4)
SIMT_VECTOR_4(uchar4, unsigned char, 4)
SIMT_VECTOR_4(short4, short, 8)
SIMT_VECTOR_4(ushort4, unsigned short, 8)
SIMT_VECTOR_4(int4, int, 16)
SIMT_VECTOR_4(uint4, unsigned, 16)
SIMT_VECTOR_4(float4, float, 16)

#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_3
#undef SIMT_VECTOR_4

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

namespace simt {
// The built-in variables of the running thread; the scheduler sets them at each switch.
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;
}  // namespace simt

// References to const: a kernel that writes to them fails to compile, as in CUDA, but they are re-read after
// each call that may switch threads.
inline constexpr const uint3 &threadIdx = simt::thread_index;
inline constexpr const uint3 &blockIdx = simt::block_index;
inline constexpr const dim3 &blockDim = simt::block_size;
inline constexpr const dim3 &gridDim = simt::grid_size;
extern const int warpSize;

#pragma GCC visibility pop
