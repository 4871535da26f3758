// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of line primitives on every backend.
#include <cstring>
#include <numbers>
#include <utility>

#include "cuda/hough/line_primitives.h"
#include "tests/kernels/hough_definition.h"
#include "tests/support/budget.h"

namespace {

using namespace cudavision::test;
using cudavision::Color;
using cudavision::HoughCount;
using cudavision::HoughLine;
using cudavision::LineStyle;
using cudavision::Primitive;
using cudavision::Size;

class HoughPrimitives : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(HoughPrimitives);

// A list of lines in the backend's memory.
class List {
 public:
  List(const cudavision::Execution &execution, const std::vector<HoughLine> &lines, int listed)
      : lines_(execution, words_of(lines), kTight), count_(execution, counts(listed), kTight) {}

  cudavision::HoughList view() const {
    return {reinterpret_cast<HoughLine *>(lines_.view().data),
            reinterpret_cast<HoughCount *>(count_.view().data)};
  }

 private:
  static HostImage<std::uint32_t> words_of(const std::vector<HoughLine> &lines) {
    HostImage<std::uint32_t> words({sizeof(HoughLine) / 4, static_cast<int>(lines.size())});
    std::memcpy(words.row(0), lines.data(), lines.size() * sizeof(HoughLine));
    return words;
  }
  static HostImage<std::uint32_t> counts(int listed) {
    HostImage<std::uint32_t> words({3, 1});
    words.at(0, 0) = static_cast<std::uint32_t>(listed);
    return words;
  }

  TestImage<std::uint32_t> lines_, count_;
};

constexpr int kPrimitiveBytes = sizeof(Primitive);

Primitive *primitives_of(const TestImage<std::uint8_t> &bytes) {
  return reinterpret_cast<Primitive *>(bytes.view().data);
}

// The first `count` primitives.
std::vector<Primitive> downloaded(const TestImage<std::uint8_t> &primitives, int count) {
  const Picture bytes = primitives.download();
  std::vector<Primitive> result(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    std::memcpy(&result[static_cast<std::size_t>(i)], bytes.row(i), sizeof(Primitive));
  return result;
}

TEST_P(HoughPrimitives, ends_are_rounded_and_moved_by_the_origin) {
  const std::vector<HoughLine> lines{
      {0, 0, 1, 0, 0, 10, 20}, {0, 0, 1, 0.49f, 0.5f, 99.5f, 1.499f}, {0, 0, 1, 16383, 16383, 16383, 0}};
  const LineStyle style{.origin_x = 7, .origin_y = 9, .line_width = 3, .color = {Color{{1, 2, 3}, 200}}};
  const List list(execution(), lines, 3);
  const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, 3}, kTight);
  EXPECT_TRUE(succeeds(make_line_primitives(execution(), list.view(), 3, style, primitives_of(primitives))));
  const std::vector<Primitive> made = downloaded(primitives, 3);
  constexpr int kExpected[3][4] = {{7, 9, 17, 29}, {7, 10, 107, 10}, {16390, 16392, 16390, 9}};
  for (int i = 0; i < 3; ++i) {
    const Primitive &primitive = made[static_cast<std::size_t>(i)];
    EXPECT_EQ(primitive.kind, Primitive::Kind::line);
    EXPECT_EQ(primitive.line_width, 3);
    EXPECT_EQ(primitive.color, style.color[0]);
    const int ends[] = {primitive.x0, primitive.y0, primitive.x1, primitive.y1};
    for (int k = 0; k < 4; ++k) EXPECT_EQ(ends[k], kExpected[i][k]) << i << " " << k;
  }
}

TEST_P(HoughPrimitives, colour_is_that_of_the_direction) {
  LineStyle style{.color_count = 4};
  for (int i = 0; i < 4; ++i) style.color[i] = Color{{static_cast<std::uint8_t>(i), 0, 0}, 255};
  constexpr float kPi = std::numbers::pi_v<float>;
  const std::vector<std::pair<float, int>> cases{
      {0, 0}, {kPi / 4 - 1e-3f, 0}, {kPi / 4 + 1e-3f, 1}, {kPi / 2 + 1e-3f, 2}, {kPi - 1e-3f, 3}, {kPi, 3}};
  std::vector<HoughLine> lines;
  for (const auto &[theta, part] : cases) lines.push_back({0, theta, 1, 0, 0, 10, 20});
  const int count = static_cast<int>(cases.size());
  const List list(execution(), lines, count);
  const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, count}, kTight);
  EXPECT_TRUE(
      succeeds(make_line_primitives(execution(), list.view(), count, style, primitives_of(primitives))));
  const std::vector<Primitive> made = downloaded(primitives, count);
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i].color.component[0], cases[i].second) << i;
}

TEST_P(HoughPrimitives, color_count_out_of_range_is_refused) {
  const List list(execution(), {{0, 0, 1, 1, 2, 3, 4}}, 1);
  const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, 1}, kTight);
  for (const int count : {-1, 0, 13})
    EXPECT_TRUE(refused(make_line_primitives(execution(), list.view(), 1, {.color_count = count},
                                             primitives_of(primitives))));
}

TEST_P(HoughPrimitives, no_more_are_made_than_are_listed_and_fit) {
  const std::vector<HoughLine> lines(700, {0, 0, 1, 1, 2, 3, 4});
  for (const int listed : {0, 1, 300, 600}) {
    const List list(execution(), lines, listed);
    for (const int capacity : {1, 299, 700}) {
      const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, 700}, kTight);
      const Picture before = primitives.download();
      EXPECT_TRUE(
          succeeds(make_line_primitives(execution(), list.view(), capacity, {}, primitives_of(primitives))));
      const Picture after = primitives.download();
      const int made = std::min(listed, capacity);
      for (int i = 0; i < 700; ++i) {
        const bool changed = std::memcmp(before.row(i), after.row(i), kPrimitiveBytes) != 0;
        ASSERT_EQ(changed, i < made) << listed << " of " << capacity << ": " << i;
      }
    }
  }
}

TEST_P(HoughPrimitives, line_width_out_of_range_is_refused) {
  const List list(execution(), {{0, 0, 1, 1, 2, 3, 4}}, 1);
  const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, 1}, kTight);
  for (const int width : {-1, 0, 256})
    EXPECT_TRUE(refused(
        make_line_primitives(execution(), list.view(), 1, {.line_width = width}, primitives_of(primitives))));
}

TEST_P(HoughPrimitives, list_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const List list(execution(), {{0, 0, 1, 1, 2, 3, 4}}, 1);
  const TestImage<std::uint8_t> primitives(execution(), Size{kPrimitiveBytes, 1}, kTight);
  finish(execution());
  const Budget budget;
  EXPECT_TRUE(succeeds(make_line_primitives(execution(), list.view(), 1, {}, primitives_of(primitives))));
  budget.expect_launches_alone(1);
  finish(execution());
}

}  // namespace
