// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of a field of vectors. The median and the 99th percentile are found in two passes. The first one
// counts the upper 16 bits of each number, which gives the upper bits of both results. The second one counts
// the lower 16 bits of the numbers that have these upper bits.
#include "gst/visionjson/vector_summary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace cudavision {
namespace {

constexpr std::size_t kDigits = std::size_t{1} << 16;  // the number of values of 16 bits
constexpr std::size_t kCountersOfComponent = 3 * kDigits;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Maps floats to whole numbers in the same order, and back.
std::uint32_t key_of(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}
float number_of(std::uint32_t key) { return std::bit_cast<float>(key >> 31 != 0 ? key & 0x7fffffffu : ~key); }

// Finds the number of a rank, counted from 0 in ascending order.
class Ranked {
 public:
  Ranked() = default;
  Ranked(std::size_t rank, const std::uint32_t *upper_counts) : rank_(rank), upper_(digit_in(upper_counts)) {}

  void count(std::uint32_t key, std::uint32_t *lower_counts) const {
    if (key >> 16 == upper_) ++lower_counts[key & 0xffffu];
  }
  float number(const std::uint32_t *lower_counts) { return number_of(upper_ << 16 | digit_in(lower_counts)); }

 private:
  // Finds the digit (16 bits) of the sought number, and makes rank_ the rank among the numbers with this digit. If
  // another program changes the numbers between the two passes, there may be too few: returns the last digit then.
  std::uint32_t digit_in(const std::uint32_t *counts) {
    std::uint32_t digit = 0;
    for (; digit < kDigits - 1 && rank_ >= counts[digit]; ++digit) rank_ -= counts[digit];
    return digit;
  }

  std::size_t rank_ = 0;
  std::uint32_t upper_ = 0;
};

// The statistics of one component of the vectors.
class Component {
 public:
  // counters: kCountersOfComponent zeros.
  void begin(std::uint32_t *counters) {
    upper_counts_ = counters;
    median_counts_ = counters + kDigits;
    p99_counts_ = counters + 2 * kDigits;
  }
  void add_in_first_pass(float number) {
    min_ = std::min(min_, number);
    max_ = std::max(max_, number);
    sum_ += number;
    ++upper_counts_[key_of(number) >> 16];
  }
  void begin_second_pass(std::size_t count) {
    median_ = Ranked((count - 1) / 2, upper_counts_);
    p99_ = Ranked((99 * count + 99) / 100 - 1, upper_counts_);
  }
  void add_in_second_pass(float number) {
    const std::uint32_t key = key_of(number);
    median_.count(key, median_counts_);
    p99_.count(key, p99_counts_);
  }
  ComponentSummary summary(std::size_t count) {
    return {min_, max_, sum_ / static_cast<double>(count), median_.number(median_counts_),
            p99_.number(p99_counts_)};
  }

 private:
  std::uint32_t *upper_counts_ = nullptr, *median_counts_ = nullptr, *p99_counts_ = nullptr;
  float min_ = kInfinity, max_ = -kInfinity;
  double sum_ = 0;
  Ranked median_, p99_;
};

template <std::size_t n>
using Vector = std::array<float, n>;

// Calls visit with each vector of [first, end) that is valid and finite.
template <std::size_t n, typename Visit>
void for_each_between(const VectorField &field, std::size_t first, std::size_t end, const Visit &visit) {
  for (std::size_t i = first; i < end; ++i) {
    if (field.valid != nullptr && field.valid[i] == 0) continue;
    Vector<n> vector;
    bool finite = true;
    for (std::size_t c = 0; c < n; ++c) {
      vector[c] = field.numbers[i * n + c] + 0.f;  // makes a negative zero positive
      finite = finite && std::isfinite(vector[c]);
    }
    if (finite) visit(vector);
  }
}

template <std::size_t n, typename Visit>
void for_each(const VectorField &field, const StopFlag &stop, const Visit &visit) {
  for_each_part(field.count, stop,
                [&](std::size_t first, std::size_t end) { for_each_between<n>(field, first, end, visit); });
}

template <std::size_t n>
bool is_moving(const Vector<n> &vector) {
  double square = 0;
  for (const float number : vector) square += double{number} * number;
  return square > kMovingLength * kMovingLength;
}

template <std::size_t n>
VectorSummary summarize_vectors(const VectorField &field, std::uint32_t *counters, const StopFlag &stop) {
  std::array<Component, n> components;
  for (std::size_t c = 0; c < n; ++c) components[c].begin(counters + c * kCountersOfComponent);
  std::size_t count = 0, moving = 0;
  for_each<n>(field, stop, [&](const Vector<n> &vector) {
    ++count;
    moving += is_moving(vector);
    for (std::size_t c = 0; c < n; ++c) components[c].add_in_first_pass(vector[c]);
  });
  VectorSummary summary;
  std::fill_n(summary.components, kMostComponents, ComponentSummary{kNan, kNan, kNan, kNan, kNan});
  summary.moving = static_cast<double>(moving) / static_cast<double>(count);
  if (count == 0 || stop.requested()) return summary;
  for (Component &component : components) component.begin_second_pass(count);
  for_each<n>(field, stop, [&](const Vector<n> &vector) {
    for (std::size_t c = 0; c < n; ++c) components[c].add_in_second_pass(vector[c]);
  });
  if (stop.requested()) return summary;  // some vectors are not counted, so no rank would be found
  for (std::size_t c = 0; c < n; ++c) summary.components[c] = components[c].summary(count);
  return summary;
}

}  // namespace

VectorSummary VectorSummarizer::summarize(const VectorField &field, const StopFlag &stop) {
  counters_.assign(static_cast<std::size_t>(field.components) * kCountersOfComponent, 0);
  switch (field.components) {
    case 2:
      return summarize_vectors<2>(field, counters_.data(), stop);
    case 3:
      return summarize_vectors<3>(field, counters_.data(), stop);
    default:
      return summarize_vectors<4>(field, counters_.data(), stop);
  }
}

}  // namespace cudavision
