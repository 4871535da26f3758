// SPDX-License-Identifier: LGPL-2.1-or-later
// Random numbers that are the same on every machine, so that a seed replays a run.
#pragma once

#include <cstdint>
#include <iterator>

namespace cudavision::test {

// SplitMix64: Guy L. Steele Jr., Doug Lea and Christine H. Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014, figure 16.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // A number in [least, most].
  std::int64_t in(std::int64_t least, std::int64_t most) {
    const std::uint64_t count = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) +
                                     (count == 0 ? next() : next() % count));
  }
  bool chance(int percent) { return in(0, 99) < percent; }
  double real(double least, double most) {
    return least + (most - least) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  template <typename Items>
  auto &pick(Items &items) {
    return *std::next(std::begin(items),
                      static_cast<std::ptrdiff_t>(in(0, static_cast<std::int64_t>(std::size(items)) - 1)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace cudavision::test
