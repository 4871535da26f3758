// SPDX-License-Identifier: LGPL-2.1-or-later
// Disjoint sets that all threads of a kernel unite at once, in shared or in global memory.
//
// A forest of parent links: parent[i] == i is a root. Roots are linked by compare-and-swap, the one of the
// larger priority under the other, so that the root of a set is its member of least priority whatever the
// order of the threads. Priorities are a fixed scramble of the indices: along a path whose nodes are numbered
// in order, links by plain index would make one long chain; scrambled, the expected depth is logarithmic
// (Goel, Khanna, Larkin and Tarjan, "Disjoint Set Union with Randomized Linking", SODA 2014). Index 0 has the
// least priority of all.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// A bijection of 32-bit integers that keeps 0.
__device__ inline unsigned link_priority(unsigned i) { return i * 0x9E3779B1u; }

// The root of i's set. Halves the path as it goes: other threads may do so at the same time, because whatever
// they store is an ancestor too. Reads through volatile: the links change under it.
__device__ inline unsigned find_root(volatile unsigned *parent, unsigned i) {
  for (unsigned up = parent[i]; up != i;) {
    const unsigned above = parent[up];
    if (above == up) return up;
    parent[i] = above;
    i = above;
    up = parent[i];
  }
  return i;
}

// Makes the sets of a and b one.
__device__ inline void unite(unsigned *parent, unsigned a, unsigned b) {
  for (;;) {
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a == b) return;
    const bool a_is_lower = link_priority(a) < link_priority(b);
    const unsigned upper = a_is_lower ? a : b, lower = a_is_lower ? b : a;
    if (atomicCAS(&parent[lower], lower, upper) == lower) return;
  }
}

}  // namespace cudavision
