// SPDX-License-Identifier: LGPL-2.1-or-later
// Lock-free union-find: disjoint sets that all threads of a kernel unite concurrently, in shared or global
// memory.
//
// The sets are trees of parent links; parent[i] == i marks a root. Every link leads to a node of lower
// priority, so the root of a set is its member of lowest priority, independent of the order of the threads.
// The priority of a node is a fixed permutation of its index: with the plain index, the links of a path whose
// nodes are numbered in order would form one long chain; with a random permutation the expected depth is
// logarithmic (A. Goel, S. Khanna, D. Larkin and R. Tarjan, "Disjoint Set Union with Randomized Linking",
// SODA 2014). Index 0 has the lowest priority of all.
//
// While threads unite sets, links are accessed by atomics only. A node may be added meanwhile, if its link is written
// by relaxed_store() before other threads can reach the node (arrive() in acquire_release.cuh). find_root() may be
// called only after a barrier that follows the last unite(). Paths are not compressed, because they are short.
#pragma once

#include <cuda_runtime.h>

namespace cudavision {

// A bijection of 32-bit integers that maps 0 to 0.
__device__ inline unsigned link_priority(unsigned i) { return i * 0x9E3779B1u; }

// One step of Rem's algorithm, which unites the sets of a and b; they are united once a == b. Each step moves
// the node of higher priority to its parent, or links it to the other node if it is a root.
__device__ inline void unite_step(unsigned *parent, unsigned &a, unsigned &b) {
  const bool a_is_upper = link_priority(a) < link_priority(b);
  const unsigned upper = a_is_upper ? a : b, lower = a_is_upper ? b : a;
  const unsigned above = atomicCAS(&parent[lower], lower, upper);
  a = above == lower ? upper : above;
  b = upper;
}

// Unites the sets of a and b. This takes one atomic if each set has one member.
__device__ inline void unite(unsigned *parent, unsigned a, unsigned b) {
  while (a != b) unite_step(parent, a, b);
}

// The root of i's set. No thread may unite sets at the same time.
__device__ inline unsigned find_root(const unsigned *parent, unsigned i) {
  for (unsigned up = parent[i]; up != i; up = parent[i]) i = up;
  return i;
}

}  // namespace cudavision
