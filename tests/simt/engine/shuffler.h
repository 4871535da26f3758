// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded permutations that are the same with every standard library.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace simt {

class Shuffler {
 public:
  explicit Shuffler(unsigned seed = 0) : state_(seed) {}

  // The shuffle of Fisher and Yates.
  void shuffle(std::vector<unsigned> &values) {
    for (std::size_t left = values.size(); left > 1; --left)
      std::swap(values[left - 1], values[below(static_cast<std::uint32_t>(left))]);
  }

  // SplitMix64 (Steele, Lea and Flood 2014), scaled to [0, bound). The bias of 2^-32 does not matter here.
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((z >> 32) * bound >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace simt
