// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of a field of vectors, such as optical flow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/common/stop.h"

namespace cudavision {

// Calls body(first, end) for one part of [0, count) after the other, until the flag asks to stop.
template <typename Body>
void for_each_part(std::size_t count, const StopFlag &stop, const Body &body) {
  constexpr std::size_t kPart = std::size_t{1} << 16;
  for (std::size_t first = 0; first < count && !stop.requested(); first += kPart)
    body(first, std::min(count, first + kPart));
}

inline constexpr int kMostComponents = 4;  // of a vector

// Vectors of 2 to kMostComponents numbers, one after the other.
struct VectorField {
  const float *numbers;
  std::size_t count;          // of vectors
  int components;             // of each vector
  const std::uint8_t *valid;  // one for each vector: 0 if it does not count; null if all count
};

struct ComponentSummary {
  float min, max;
  double mean;
  float median, p99;  // the least number that at least 50 % and 99 % of the numbers do not exceed
};

// Everything is NaN if no vector counts.
struct VectorSummary {
  ComponentSummary components[kMostComponents];
  double moving;  // the share of the vectors longer than kMovingLength
};
inline constexpr double kMovingLength = 0.5;

// Vectors with a number that is not finite do not count.
class VectorSummarizer {
 public:
  // If the flag asks to stop, the result is useless.
  VectorSummary summarize(const VectorField &field, const StopFlag &stop);

 private:
  std::array<std::vector<float>, kMostComponents> numbers_;  // of each component; kept for their memory
};

}  // namespace cudavision
