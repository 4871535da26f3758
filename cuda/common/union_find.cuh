// SPDX-License-Identifier: LGPL-2.1-or-later
// Disjoint sets that all threads of a kernel unite at once, in shared or in global memory.
//
// A forest of parent links: parent[i] == i is a root. Every link leads to a smaller priority, so that the root
// of a set is its member of least priority whatever the order of the threads. Priorities are a fixed scramble
// of the indices: along a path whose nodes are numbered in order, links by plain index would make one long
// chain; scrambled, the expected depth is logarithmic (Goel, Khanna, Larkin and Tarjan, "Disjoint Set Union
// with Randomized Linking", SODA 2014). Index 0 has the least priority of all.
//
// While sets are united links are touched by atomics alone, and roots are looked for behind a barrier: there
// is no race, formally or otherwise, and no path is ever shortened, which at such depths would not pay.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// A bijection of 32-bit integers that keeps 0.
__device__ inline unsigned link_priority(unsigned i) { return i * 0x9E3779B1u; }

// A step towards making the sets of a and b one; they are when a == b. Rem's algorithm: climbs from both at once,
// always from the one of larger priority, and links it as soon as it is a root.
__device__ inline void unite_step(unsigned *parent, unsigned &a, unsigned &b) {
  const bool a_is_upper = link_priority(a) < link_priority(b);
  const unsigned upper = a_is_upper ? a : b, lower = a_is_upper ? b : a;
  const unsigned above = atomicCAS(&parent[lower], lower, upper);
  a = above == lower ? upper : above;
  b = upper;
}

// Makes the sets of a and b one. Two fresh sets cost one atomic.
__device__ inline void unite(unsigned *parent, unsigned a, unsigned b) {
  while (a != b) unite_step(parent, a, b);
}

// The root of i's set, when no thread unites any more.
__device__ inline unsigned find_root(const unsigned *parent, unsigned i) {
  for (unsigned up = parent[i]; up != i; up = parent[i]) i = up;
  return i;
}

}  // namespace cudavision
