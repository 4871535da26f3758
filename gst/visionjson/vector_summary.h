// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of a field of vectors, such as optical flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudavision {

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

// Vectors with a number that is not finite do not count. Reads the field twice and neither copies nor sorts
// it: the vectors of a whole frame would take longer to sort than to compute.
class VectorSummarizer {
 public:
  VectorSummary summarize(const VectorField &field);

 private:
  std::vector<std::uint32_t> counters_;  // kept for its memory
};

}  // namespace cudavision
