// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionjson/vector_summary.h"

#include <bit>
#include <cmath>
#include <limits>

namespace cudavision {
namespace {

using Vector = std::array<float, kMostComponents>;  // numbers beyond the last component are 0

// Copies a vector, because another program may change the numbers. Returns false if it does not count.
bool take_vector(const VectorField &field, std::size_t i, Vector *vector) {
  bool is_finite = true;
  const auto components = static_cast<std::size_t>(field.components);
  for (std::size_t c = 0; c < components; ++c) {
    (*vector)[c] = field.numbers[i * components + c] + 0.f;  // makes a negative zero positive
    is_finite = is_finite && std::isfinite((*vector)[c]);
  }
  return is_finite && (field.valid == nullptr || field.valid[i] != 0);
}

bool is_moving(const Vector &vector) {
  double square = 0;
  for (const float number : vector) square += double{number} * number;
  return square > kMovingLength * kMovingLength;
}

// Maps floats to whole numbers in the same order, and returns the upper 16 bits.
std::size_t digit_of(float number) {
  const auto bits = std::bit_cast<std::int32_t>(number);
  return static_cast<std::uint32_t>(bits ^ (bits >> 31 | INT32_MIN)) >> 16;
}

// Finds the number of a rank, counted from 0 in ascending order. counts: how many numbers have each digit.
float ranked(const std::vector<float> &numbers, const std::vector<std::size_t> &counts, std::size_t rank) {
  std::size_t digit = 0;
  while (rank >= counts[digit]) rank -= counts[digit++];
  std::vector<float> same;
  for (const float number : numbers)
    if (digit_of(number) == digit) same.push_back(number);
  const auto place = same.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(same.begin(), place, same.end());
  return *place;
}

ComponentSummary summary_of(const std::vector<float> &numbers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t count = numbers.size();
  if (count == 0) return {kNan, kNan, kNan, kNan, kNan};
  ComponentSummary summary{numbers[0], numbers[0], 0, 0, 0};
  std::vector<std::size_t> counts(std::size_t{1} << 16);
  for (const float number : numbers) {
    summary.min = std::min(summary.min, number), summary.max = std::max(summary.max, number);
    summary.mean += number;
    ++counts[digit_of(number)];
  }
  summary.mean /= static_cast<double>(count);
  summary.median = ranked(numbers, counts, (count - 1) / 2);
  summary.p99 = ranked(numbers, counts, (99 * count + 99) / 100 - 1);
  return summary;
}

}  // namespace

VectorSummary VectorSummarizer::summarize(const VectorField &field, const StopFlag &stop) {
  const auto components = static_cast<std::size_t>(field.components);
  std::size_t moving = 0;
  for (std::vector<float> &numbers : numbers_) numbers.clear();
  for_each_part(field.count, stop, [&](std::size_t first, std::size_t end) {
    Vector vector{};
    for (std::size_t i = first; i < end; ++i) {
      if (!take_vector(field, i, &vector)) continue;
      for (std::size_t c = 0; c < components; ++c) numbers_[c].push_back(vector[c]);
      moving += is_moving(vector);
    }
  });
  VectorSummary summary{};
  summary.moving = static_cast<double>(moving) / static_cast<double>(numbers_[0].size());
  for (std::size_t c = 0; c < components && !stop.requested(); ++c)
    summary.components[c] = summary_of(numbers_[c]);
  return summary;
}

}  // namespace cudavision
