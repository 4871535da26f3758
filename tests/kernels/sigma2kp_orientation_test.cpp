// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the orientation of keypoints against its definition, including the edges of bins and the border of the
// picture.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/kernels/sigma2kp_runner.h"

namespace {

using namespace cudavision::test;
using cudavision::GradientOperator;
using cudavision::GradientWeight;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2KpParams;
using cudavision::Size;

class Sigma2Orientation : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Sigma2Orientation);

Sigma2KpParams oriented(int side, int bins, GradientOperator op = GradientOperator::sobel,
                        GradientWeight weight = GradientWeight::count) {
  Sigma2KpParams p;
  p.max_keypoints = 1000;
  p.orientation = true, p.orientation_window = side, p.orientation_bins = bins, p.op = op, p.weight = weight;
  return p;
}

// Many keypoints; some of their squares extend beyond the picture on each side.
TEST_P(Sigma2Orientation, every_window_equals_the_definition) {
  // Rows that are whole, aligned words are loaded word by word.
  const Picture picture = smooth_noise(kEmulated ? Size{60, 45} : Size{112, 80}, 1, 1);
  for (const Placement &placement : {kAligned, kMisalignedOddPitch})
    for (const int side : {2, 3, 11, 15, 16, 17, 33, 64})
      for (const int window : {5, 6}) {
        Sigma2KpParams params = oriented(side, 36);
        params.window = window, params.tau = 1.9;
        ASSERT_TRUE(equals_definition(execution(), picture, params, placement));
      }
}

// The largest histogram and the largest square together need more shared memory than a kernel gets by default.
TEST_P(Sigma2Orientation, most_bins_of_the_largest_window_equal_the_definition) {
  ASSERT_TRUE(equals_definition(execution(), noise({60, 40}, 2), oriented(64, 360)));
}

TEST_P(Sigma2Orientation, every_number_of_bins_equals_the_definition) {
  const Picture picture = noise({60, 40}, 2);
  Sigma2KpRunner runner(execution(), picture.size());
  for (int bins = 1; bins <= 360; bins += bins < 10 ? 1 : kEmulated ? 35 : 5) {
    const Sigma2KpParams params = oriented(16, bins);
    ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
  }
}

TEST_P(Sigma2Orientation, every_operator_and_weight_equals_the_definition) {
  const Picture picture = noise({60, 40}, 3);
  for (const GradientOperator op : kOperators)
    for (const GradientWeight weight :
         {GradientWeight::count, GradientWeight::magnitude, GradientWeight::sqrt_magnitude})
      ASSERT_TRUE(equals_definition(execution(), picture, oriented(16, 36, op, weight)));
}

// Few keypoints relative to the size of the picture, in its corners: the CPU backend then does not compute
// the gradients of the whole picture.
TEST_P(Sigma2Orientation, few_keypoints_equal_the_definition) {
  const Size size{100, 60};
  const Picture dots = noise(size, 6);
  Picture picture = constant(size, 100);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (std::min(x, size.width - 1 - x) < 7 && std::min(y, size.height - 1 - y) < 7)
        picture.at(x, y) = dots.at(x, y);
  Sigma2KpRunner runner(execution(), size);
  for (const GradientOperator op : kOperators)
    for (const GradientWeight weight :
         {GradientWeight::count, GradientWeight::magnitude, GradientWeight::sqrt_magnitude}) {
      Sigma2KpParams params = oriented(9, 36, op, weight);
      params.window = 3, params.tau = 1.9, params.max_keypoints = 9;
      const FoundKeypoints expected = definition(picture, params);
      ASSERT_EQ(expected.keypoints.size(), 9u);
      EXPECT_TRUE(std::any_of(expected.keypoints.begin(), expected.keypoints.end(),
                              [](const Sigma2Keypoint &k) { return k.x < 3 || k.y < 3; }))
          << "no square extends beyond the picture";
      ASSERT_TRUE(same_keypoints(runner.run(picture, params), expected)) << params;
    }
}

// The largest weights that a histogram can hold.
TEST_P(Sigma2Orientation, largest_weights_do_not_overflow) {
  const Picture picture = half_plane({80, 80}, 41, 40, 1, 0, 0, 255);
  Picture marked = picture;
  for (int i = 0; i < 6; ++i) marked.at(20 + 8 * i, 30) ^= 1, marked.at(21 + 7 * i, 47) ^= 1;
  ASSERT_TRUE(equals_definition(execution(), marked,
                                oriented(64, 1, GradientOperator::scharr, GradientWeight::magnitude)));
  const Picture stripes = noise({80, 80}, 4);
  ASSERT_TRUE(equals_definition(execution(), stripes,
                                oriented(64, 1, GradientOperator::scharr, GradientWeight::magnitude)));
}

// A ramp in the direction (dx, dy). At multiples of 45 degrees the direction can lie on the edge between two
// bins and then belongs to the later one.
TEST_P(Sigma2Orientation, ramp_has_the_bin_of_its_direction) {
  const Size size{40, 40};
  Sigma2KpRunner runner(execution(), size);
  constexpr int kDirections[][2] = {{1, 0},  {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1},
                                    {1, -1}, {2, 1}, {1, 2}, {-2, 1}, {-1, 2}, {3, 1},   {1, -3}};
  for (const auto &[dx, dy] : kDirections)
    for (const int bins : {1, 2, 3, 4, 7, 8, 9, 36, 72, 360}) {
      Picture picture(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          picture.at(x, y) = static_cast<std::uint8_t>(128 + (dx * (x - 20) + dy * (y - 20)));
      picture.at(20, 20) = static_cast<std::uint8_t>(picture.at(20, 20) + 3);  // makes a keypoint
      const Sigma2KpParams params = oriented(16, bins, GradientOperator::central);
      const FoundKeypoints found = runner.run(picture, params);
      ASSERT_TRUE(same_keypoints(found, definition(picture, params)));
      for (const Sigma2Keypoint &k : found.keypoints)
        EXPECT_EQ(k.orientation, defined_bin(dx, dy, bins)) << dx << ", " << dy << " of " << bins;
      ASSERT_GT(found.keypoints.size(), 0u) << dx << ", " << dy;
    }
}

// A bar with a bright pixel in its centre has as many gradients on its left side as on its right side.
TEST_P(Sigma2Orientation, first_of_equal_bins_counts) {
  Picture picture({37, 40});
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 37; ++x) picture.at(x, y) = x >= 15 && x <= 21 ? 200 : 50;
  picture.at(18, 20) = 255;
  Sigma2KpRunner runner(execution(), picture.size());
  Sigma2KpParams params = oriented(15, 36, GradientOperator::central);
  params.definition = cudavision::Sigma2KpDefinition::dense;
  params.window = params.cell = 3;
  const FoundKeypoints found = runner.run(picture, params);
  ASSERT_TRUE(same_keypoints(found, definition(picture, params)));
  int centered = 0;
  for (const Sigma2Keypoint &k : found.keypoints)
    if (k.x == 17) {
      EXPECT_EQ(k.orientation, 0) << "and not 18";
      ++centered;
    }
  EXPECT_GT(centered, 0);
}

TEST_P(Sigma2Orientation, keypoint_without_gradient_has_none) {
  const Picture dots = [] {
    Picture p({60, 40});
    for (int i = 0; i < 5; ++i) p.at(8 + 9 * i, 20) = 200;
    return p;
  }();
  Sigma2KpParams params = oriented(2, 36, GradientOperator::central);
  params.tau = 1.99, params.definition = cudavision::Sigma2KpDefinition::dense;
  const FoundKeypoints found = Sigma2KpRunner(execution(), dots.size()).run(dots, params);
  ASSERT_TRUE(same_keypoints(found, definition(dots, params)));
  const auto none = std::count_if(found.keypoints.begin(), found.keypoints.end(),
                                  [](const auto &k) { return k.orientation == cudavision::kNoOrientation; });
  EXPECT_GT(none, 0);
  EXPECT_LT(none, static_cast<long>(found.keypoints.size()));
}

TEST_P(Sigma2Orientation, quarter_turn_of_the_picture_turns_orientations_by_a_quarter) {
  const Picture picture = smooth_noise({61, 61}, 1, 5);
  Picture turned({61, 61});  // x to y, y to -x
  for (int y = 0; y < 61; ++y)
    for (int x = 0; x < 61; ++x) turned.at(60 - y, x) = picture.at(x, y);
  Sigma2KpParams params = oriented(15, 36, GradientOperator::sobel, GradientWeight::magnitude);
  params.definition = cudavision::Sigma2KpDefinition::dense;  // symmetric if the side of a cell is odd
  params.cell = 5, params.tau = 1;
  Sigma2KpRunner runner(execution(), picture.size());
  const FoundKeypoints a = runner.run(picture, params), b = runner.run(turned, params);
  ASSERT_EQ(a.found, b.found);
  EXPECT_GT(a.found, 50);
  int compared = 0, turned_by_a_quarter = 0;
  for (const Sigma2Keypoint &k : a.keypoints)
    for (const Sigma2Keypoint &t : b.keypoints) {
      if (t.x != 56 - k.y || t.y != k.x) continue;
      ++compared;
      turned_by_a_quarter += t.orientation == (k.orientation + 9) % 36;
    }
  EXPECT_EQ(compared, a.found);
  // A quarter turn maps bins to bins. Only ties, which go to the first bin, would not turn; sums of so many
  // magnitudes are not equal.
  EXPECT_EQ(turned_by_a_quarter, a.found);
}

}  // namespace
