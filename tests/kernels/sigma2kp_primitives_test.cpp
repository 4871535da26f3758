// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of keypoint primitives on every backend.
#include <cstring>

#include "cuda/sigma2kp/point_primitives.h"
#include "tests/kernels/sigma2kp_runner.h"
#include "tests/support/budget.h"

namespace {

using namespace cudavision::test;
using cudavision::kNoOrientation;
using cudavision::PointStyle;
using cudavision::Primitive;
using cudavision::Sigma2Keypoint;
using cudavision::Size;

class Sigma2Primitives : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Sigma2Primitives);

constexpr int kPrimitiveBytes = sizeof(Primitive);

// A list of keypoints and the memory for its primitives, in the backend's memory.
class List {
 public:
  List(const cudavision::Execution &execution, const Keypoints &keypoints, int listed)
      : execution_(execution),
        keypoints_(execution, words_of(keypoints), kTight),
        count_(execution, counts(listed), kTight),
        primitives_(execution, Size{kPrimitiveBytes, 2 * static_cast<int>(keypoints.size())}, kTight),
        drawn_(execution, Size{1, 1}, kTight) {}

  cudavision::Status make(int capacity, const PointStyle &style) {
    return make_point_primitives(execution_, view(), capacity, style,
                                 reinterpret_cast<Primitive *>(primitives_.view().data), drawn_.view().data);
  }
  int drawn() const { return drawn_.download().at(0, 0); }
  Picture bytes() const { return primitives_.download(); }
  Primitive primitive(int i) const {
    Primitive primitive;
    std::memcpy(&primitive, primitives_.download().row(i), sizeof primitive);
    return primitive;
  }

 private:
  cudavision::Sigma2KpList view() const {
    return {reinterpret_cast<Sigma2Keypoint *>(keypoints_.view().data),
            reinterpret_cast<cudavision::Sigma2KpCount *>(count_.view().data)};
  }
  static HostImage<std::uint64_t> words_of(const Keypoints &keypoints) {
    HostImage<std::uint64_t> words({2, static_cast<int>(keypoints.size())});
    std::memcpy(words.row(0), keypoints.data(), keypoints.size() * sizeof(Sigma2Keypoint));
    return words;
  }
  static HostImage<std::uint32_t> counts(int listed) {
    HostImage<std::uint32_t> words({2, 1});
    words.at(0, 0) = static_cast<std::uint32_t>(listed);
    return words;
  }

  cudavision::Execution execution_;
  TestImage<std::uint64_t> keypoints_;
  TestImage<std::uint32_t> count_;
  TestImage<std::uint8_t> primitives_;
  TestImage<int> drawn_;
};

void expect_primitive(const Primitive &p, Primitive::Kind kind, int line_width, std::vector<int> ends) {
  EXPECT_EQ(p.kind, kind);
  EXPECT_EQ(p.line_width, line_width);
  EXPECT_EQ((std::vector<int>{p.x0, p.y0, p.x1, p.y1}), ends);
}

TEST_P(Sigma2Primitives, crosses_and_lines_lie_at_the_windows_centres) {
  List list(execution(), {{1, 10, 20, kNoOrientation}, {2, 11, 21, 0}, {3, 0, 0, 1}, {4, 16000, 5, 3}}, 4);
  PointStyle style{.origin_x = 7,
                   .origin_y = 9,
                   .window = 5,
                   .orientation_bins = 4,
                   .size = 6,
                   .line_width = 2,
                   .color = cudavision::Color{{1, 2, 3}, 200}};
  ASSERT_TRUE(succeeds(list.make(4, style)));
  EXPECT_EQ(list.drawn(), 8);
  expect_primitive(list.primitive(0), Primitive::Kind::cross, 2, {19, 31, 6, 0});
  expect_primitive(list.primitive(1), Primitive::Kind::point, 1, {-1, -1, -1, -1});
  expect_primitive(list.primitive(2), Primitive::Kind::point, 6, {20, 32, 0, 0});
  // The centres of four bins are the diagonals; 24 pixels along a diagonal are 16.97 along each axis.
  expect_primitive(list.primitive(3), Primitive::Kind::line, 2, {20, 32, 37, 49});
  expect_primitive(list.primitive(5), Primitive::Kind::line, 2, {9, 11, -8, 28});
  expect_primitive(list.primitive(7), Primitive::Kind::line, 2, {16009, 16, 16026, -1});
  EXPECT_EQ(list.primitive(7).color, style.color);
  style.window = 6, style.line_width = 100, style.origin_x = style.origin_y = 0;
  ASSERT_TRUE(succeeds(list.make(4, style)));
  expect_primitive(list.primitive(2), Primitive::Kind::point, 255, {13, 23, 0, 0});
}

TEST_P(Sigma2Primitives, strong_points_grow_and_weak_ones_are_hidden) {
  // The strength of a window of 5x5 pixels is its variance times 5^4.
  const auto strength = [](double deviation) {
    return static_cast<std::uint64_t>(deviation * deviation * 625);
  };
  List list(execution(),
            {{strength(9.9), 10, 20, kNoOrientation},
             {strength(10.1), 10, 20, kNoOrientation},
             {strength(32), 10, 20, kNoOrientation},
             {strength(64), 10, 20, kNoOrientation},
             {strength(127), 10, 20, kNoOrientation},
             {strength(9.9), 10, 20, 0},
             {strength(48), 10, 20, 0}},
            7);
  PointStyle style{.orientation_bins = 4, .size = 5, .grows = true, .least_deviation = 10};
  ASSERT_TRUE(succeeds(list.make(7, style)));
  EXPECT_EQ(list.drawn(), 14);
  for (const int hidden : {0, 1, 3, 5, 7, 9, 10, 11})
    expect_primitive(list.primitive(hidden), Primitive::Kind::point, 1, {-1, -1, -1, -1});
  for (const auto &[i, arms] : {std::pair{2, 5}, {4, 5}, {6, 10}, {8, 15}})
    expect_primitive(list.primitive(i), Primitive::Kind::cross, 1, {12, 22, arms, 0});
  // The line's 20 pixels along the diagonal are 14 along each axis. The line is half as long again here: 21.
  expect_primitive(list.primitive(13), Primitive::Kind::line, 1, {12, 22, 33, 43});
  style.grows = false;
  ASSERT_TRUE(succeeds(list.make(7, style)));
  expect_primitive(list.primitive(8), Primitive::Kind::cross, 1, {12, 22, 5, 0});
}

TEST_P(Sigma2Primitives, no_more_are_made_than_are_listed_and_fit) {
  const Keypoints keypoints(700, {1, 2, 3, 4});
  for (const int listed : {0, 1, 300, 600})
    for (const int capacity : {1, 299, 700}) {
      List list(execution(), keypoints, listed);
      const Picture before = list.bytes();
      ASSERT_TRUE(succeeds(list.make(capacity, {})));
      const int made = 2 * std::min(listed, capacity);
      EXPECT_EQ(list.drawn(), made);
      const Picture after = list.bytes();
      for (int i = 0; i < 1400; ++i) {
        const bool changed = std::memcmp(before.row(i), after.row(i), kPrimitiveBytes) != 0;
        ASSERT_EQ(changed, i < made) << listed << " of " << capacity << ": " << i;
      }
    }
}

TEST_P(Sigma2Primitives, styles_out_of_range_are_refused) {
  List list(execution(), {{1, 2, 3, 4}}, 1);
  for (const int value : {-1, 0, 256}) {
    PointStyle style;
    style.size = value;
    EXPECT_TRUE(refused(list.make(1, style)));
    style = {}, style.line_width = value;
    EXPECT_TRUE(refused(list.make(1, style)));
    style = {}, style.orientation_bins = value == 256 ? 361 : value;
    EXPECT_TRUE(refused(list.make(1, style)));
  }
}

TEST_P(Sigma2Primitives, list_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  List list(execution(), {{1, 2, 3, 4}}, 1);
  finish(execution());
  const Budget budget;
  EXPECT_TRUE(succeeds(list.make(1, {})));
  budget.expect_launches_alone(1);
  finish(execution());
}

}  // namespace
