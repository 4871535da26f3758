// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the lines of the Hough transform on every backend: against their definition in plain loops, against
// cv::HoughLines, and at the limits of the parameters.
#include "tests/kernels/hough_definition.h"

#include <limits>
#include <thread>

#include "tests/support/budget.h"
#include "tests/support/decode.h"

namespace {

using namespace cudavision::test;
using cudavision::HoughCount;
using cudavision::HoughLine;
using cudavision::HoughMode;
using cudavision::HoughParams;
using cudavision::Size;

class Hough : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Hough);

// --- the definition over all sizes ---

std::vector<Size> sizes() {
  if (kEmulated) return {{1, 1}, {1, 40}, {40, 1}, {2, 2}, {15, 17}, {33, 16}, {64, 47}};
  std::vector<Size> all{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 3}, {1, 200}, {200, 1}, {333, 100}, {64, 64}};
  for (const int width : {15, 16, 17, 31, 32, 33, 127, 128, 129})
    for (const int height : {1, 2, 63, 64, 65}) all.push_back({width, height});
  return all;
}

TEST_P(Hough, every_size_equals_the_definition_and_opencv) {
  unsigned seed = 1;
  for (const Size size : sizes())
    for (const HoughParams &params :
         {with_threshold(0, 1, 6 * kDegree), with_threshold(2), with_threshold(1, 2.5, 0.11)}) {
      if (kEmulated && params.threshold == 2 && size.width < 15) continue;
      const Placement &placement = kPlacements[seed % 5];
      const Picture edges = dots(size, seed % 2 == 0 ? 5 : 40, seed);
      SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " seed " << seed << " "
                                        << placement << " " << params);
      HoughRunner runner(execution(), size, placement);
      const std::vector<HoughLine> expected = definition(edges, params);
      ASSERT_TRUE(same_lines(expected, opencv(edges, params)))
          << "the definition in this test differs from OpenCV";
      const auto found = runner.run(edges, params);
      ASSERT_TRUE(same_lines(found.lines, expected));
      const int count = static_cast<int>(expected.size());
      EXPECT_EQ(found.count, (HoughCount{count, count, count}));
      ASSERT_TRUE(same(runner.votes(params), accumulate(edges, params).inner()));
      ++seed;
    }
}

TEST_P(Hough, every_placement_equals_opencv) {
  const Picture edges = dots({70, 33}, 10, 2);
  const HoughParams params = with_threshold(3, 1, 3 * kDegree);
  for (const Placement &placement : kPlacements)
    EXPECT_TRUE(same_lines(HoughRunner(execution(), edges.size(), placement).run(edges, params).lines,
                           opencv(edges, params)))
        << placement;
}

// --- parameters ---

TEST_P(Hough, every_rho_and_theta_equals_opencv) {
  const Picture edges = dots({kEmulated ? 50 : 150, kEmulated ? 40 : 110}, 4, 3);
  HoughRunner runner(execution(), edges.size());
  for (const double rho : {0.5, 1.0, 2.0, 4.0, 0.37, 37.0, 1000.0})
    for (const double theta : {kDegree, kDegree / 4, 0.05, 1.0, kPi / 2, kPi}) {
      if (kEmulated && theta < kDegree && rho != 1) continue;
      const HoughParams params = with_threshold(rho < 1 ? 3 : 5, rho, theta);
      SCOPED_TRACE(params);
      const auto expected = opencv(edges, params);
      ASSERT_TRUE(same_lines(definition(edges, params), expected))
          << "the definition in this test differs from OpenCV";
      ASSERT_TRUE(same_lines(runner.run(edges, params).lines, expected));
    }
}

TEST_P(Hough, every_range_of_theta_equals_opencv) {
  const Picture edges = dots({60, 45}, 6, 4);
  HoughRunner runner(execution(), edges.size());
  Random random(5);
  for (int i = 0; i < (kEmulated ? 12 : 200); ++i) {
    HoughParams params = with_threshold(2, 1, 0.01 + random.below(1000) / 2500.0);
    params.min_theta = random.below(1000) * kPi / 1000;
    params.max_theta = params.min_theta + random.below(1000) * (kPi - params.min_theta) / 1000;
    SCOPED_TRACE(params);
    const auto expected = opencv(edges, params);
    ASSERT_TRUE(same_lines(definition(edges, params), expected))
        << "the definition in this test differs from OpenCV";
    ASSERT_TRUE(same_lines(runner.run(edges, params).lines, expected));
  }
}

TEST_P(Hough, threshold_must_be_exceeded) {
  Picture edges({40, 30});
  for (int x = 5; x < 25; ++x) edges.at(x, 7) = 1;
  HoughRunner runner(execution(), edges.size());
  for (const int threshold : {0, 1, 18, 19, 20, 21, std::numeric_limits<int>::max()}) {
    const auto lines = runner.run(edges, with_threshold(threshold)).lines;
    EXPECT_TRUE(same_lines(lines, opencv(edges, with_threshold(threshold)))) << threshold;
    EXPECT_EQ(lines.empty(), threshold >= 20) << threshold;
  }
}

TEST_P(Hough, radius_keeps_the_first_of_its_neighbours) {
  const Picture edges = dots({kEmulated ? 48 : 120, kEmulated ? 40 : 90}, 8, 6);
  HoughRunner runner(execution(), edges.size());
  HoughParams params = with_threshold(2, 1, 2 * kDegree);
  std::size_t before = std::numeric_limits<std::size_t>::max();
  for (const int radius : {0, 1, 2, 5, 32}) {
    params.nms_radius = radius;
    const auto expected = definition(edges, params);
    EXPECT_LT(expected.size(), before) << radius;
    before = expected.size();
    EXPECT_TRUE(same_lines(runner.run(edges, params).lines, expected)) << radius;
  }
}

// The first and the last direction are neighbours if the directions cover half a turn, also if they do not begin at 0
// or if the step does not divide it, and with a radius of more than a turn. Few votes give many ties.
TEST_P(Hough, radius_goes_on_at_the_other_end_of_theta) {
  const Size size{kEmulated ? 40 : 90, kEmulated ? 30 : 70};
  HoughRunner runner(execution(), size);
  unsigned seed = 50;
  int wrapped = 0;
  for (const double theta : {2 * kDegree, 0.05, 0.3, kPi / 4, kPi})
    for (const double rho : {1.0, 0.7, 4.0})
      for (const auto &[least, most] : {std::pair{0.0, kPi},
                                        {0.4 * theta, kPi},
                                        {theta, kPi},
                                        {0.0, kPi - theta},
                                        {-kPi / 2, kPi / 2},
                                        {-0.3, 0.2}}) {
        if (least > most) continue;
        const Picture edges = dots(size, 6, ++seed);
        HoughParams params = with_threshold(2, rho, theta);
        params.min_theta = least, params.max_theta = most;
        for (const int radius : {0, 1, 3, 32}) {
          params.nms_radius = radius;
          SCOPED_TRACE(params);
          const auto expected = definition(edges, params);
          ASSERT_TRUE(same_lines(runner.run(edges, params).lines, expected));
          if (radius == 0 && least >= 0) {
            ASSERT_TRUE(same_lines(expected, opencv(edges, params)));
          }
        }
        wrapped += hough_shape(size, params).angles == std::lrint(kPi / theta) ? 1 : 0;
      }
  EXPECT_GT(wrapped, 20);
}

// Tests lines and segments, with and without gradient voting. The normal's direction is near 0, within the range.
TEST_P(Hough, negative_directions_are_reported_half_a_turn_on) {
  const Size size{120, 100};
  HoughRunner runner(execution(), size);
  for (const bool gradient_voting : {false, true})
    for (const HoughMode mode : {HoughMode::lines, HoughMode::segments})
      for (const int lean : {-8, 0, 8}) {
        Picture edges(size);
        for (int y = 0; y < size.height; ++y) edges.at(60 + lean * y / size.height, y) = 255;
        HoughParams params = with_threshold(60);
        params.min_theta = -10 * kDegree, params.max_theta = 11 * kDegree;
        params.mode = mode, params.nms_radius = 32, params.gradient_voting = gradient_voting;
        SCOPED_TRACE(::testing::Message() << params << ", which leans by " << lean);
        const auto lines = runner.run(edges, edges, params).lines;
        ASSERT_EQ(lines.size(), 1u);
        const double sign = lean > 0 ? -1 : 1;  // x grows with y: the normal points up, which is theta - pi
        const double theta = lean > 0 ? lines[0].theta - kPi : double{lines[0].theta};
        EXPECT_NEAR(theta, -std::atan(lean / 100.0), 1.5 * kDegree);
        EXPECT_NEAR(lines[0].rho, sign * 60 * std::cos(theta), 2);
        EXPECT_NEAR(lines[0].y1 + lines[0].y2, size.height - 1, 1);
        EXPECT_EQ(lean > 0, lines[0].rho < 0);
      }
}

TEST_P(Hough, nearly_vertical_line_is_listed_once) {
  const Size size{120, 160};
  HoughRunner runner(execution(), size);
  for (const HoughMode mode : {HoughMode::lines, HoughMode::segments})
    for (int lean = -6; lean <= 6; ++lean) {
      Picture edges(size);
      for (int y = 0; y < size.height; ++y) edges.at(60 + (lean * y + 80) / 160, y) = 255;
      HoughParams params = with_threshold(25);
      params.mode = mode, params.nms_radius = 6;
      SCOPED_TRACE(::testing::Message() << params << ", which leans by " << lean);
      EXPECT_EQ(runner.run(edges, params).count.peaks, 1);
    }
}

// The votes of an angle are counted in global memory if they do not fit in shared memory.
TEST_P(Hough, very_fine_rho_equals_opencv) {
  const Picture edges = dots({60, 30}, 3, 7);
  HoughParams params = with_threshold(1, 0.01, 0.2);
  params.min_theta = 1;
  HoughRunner runner(execution(), edges.size());
  EXPECT_TRUE(same_lines(runner.run(edges, params).lines, opencv(edges, params)));
  params.rho = 0.002;
  EXPECT_TRUE(refused(runner.hough().run(runner.edges(), runner.luma(), params, runner.list())));
  params.rho = 0.01;
  const Picture wide = dots({3000, 2}, 3, 8);  // 300,000 distances: 1.2 MB per angle
  EXPECT_TRUE(
      same_lines(HoughRunner(execution(), wide.size()).run(wide, params).lines, opencv(wide, params)));
}

// --- pictures whose lines are known ---

TEST_P(Hough, empty_picture_has_no_line_and_no_vote) {
  for (const Size size : {Size{1, 1}, Size{50, 40}}) {
    HoughRunner runner(execution(), size);
    const HoughParams params = with_threshold(0);
    const auto found = runner.run(constant(size, 0), params);
    EXPECT_EQ(found.count, (HoughCount{0, 0, 0}));
    const Votes votes = runner.votes(params);
    for (const std::uint32_t count : votes.pixels()) ASSERT_EQ(count, 0u);
  }
}

TEST_P(Hough, single_point_equals_opencv) {
  const Size size{40, 30};
  HoughRunner runner(execution(), size);
  for (const auto &[x, y] : {std::pair{0, 0}, {39, 0}, {0, 29}, {39, 29}, {17, 11}}) {
    Picture edges(size);
    edges.at(x, y) = 1;
    const HoughParams params = with_threshold(0);
    EXPECT_TRUE(same_lines(runner.run(edges, params).lines, opencv(edges, params))) << x << ", " << y;
    EXPECT_TRUE(runner.run(edges, with_threshold(1)).lines.empty());
  }
}

TEST_P(Hough, white_picture_equals_opencv) {
  const Size size = kEmulated ? Size{60, 50} : Size{400, 400};
  HoughRunner runner(execution(), size);
  const Picture white = constant(size, 255);
  for (const int threshold : {10, size.height - 1, size.height}) {
    const HoughParams params = with_threshold(threshold);
    EXPECT_TRUE(same_lines(runner.run(white, params).lines, opencv(white, params))) << threshold;
  }
}

TEST_P(Hough, votes_of_every_angle_are_the_number_of_points) {
  const Size size = kEmulated ? Size{60, 50} : Size{300, 200};
  HoughRunner runner(execution(), size);
  for (const Picture &edges : {dots(size, 7, 9), constant(size, 1)}) {
    const int points = size.width * size.height - count_of<std::uint8_t>(edges, 0);
    const HoughParams params = with_threshold(1000);
    (void)runner.run(edges, params);
    const Votes votes = runner.votes(params);
    EXPECT_EQ(votes.height(), 180);
    for (int n = 0; n < votes.height(); ++n) {
      std::uint32_t sum = 0;
      for (int r = 0; r < votes.width(); ++r) sum += votes.at(r, n);
      ASSERT_EQ(sum, static_cast<std::uint32_t>(points)) << "angle " << n;
    }
  }
}

// Draws all pixels within half a pixel of the line x cos(theta) + y sin(theta) = rho.
Picture drawn_line(Size size, double rho, double theta) {
  Picture edges(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (std::abs(x * std::cos(theta) + y * std::sin(theta) - rho) < 0.5) edges.at(x, y) = 255;
  return edges;
}

TEST_P(Hough, drawn_line_is_the_first_and_ends_at_the_frame) {
  const Size size{90, 70};
  HoughRunner runner(execution(), size);
  for (const int degrees : {0, 1, 17, 44, 45, 46, 63, 89, 90, 91, 120, 135, 150, 179}) {
    const double theta = degrees * kDegree;
    const double rho = std::round(44 * std::cos(theta) + 36 * std::sin(theta));
    const Picture edges = drawn_line(size, rho, theta);
    SCOPED_TRACE(degrees);
    const auto lines = runner.run(edges, with_threshold(30)).lines;
    ASSERT_TRUE(same_lines(lines, opencv(edges, with_threshold(30))));
    ASSERT_FALSE(lines.empty());
    const HoughLine &line = lines.front();
    EXPECT_FLOAT_EQ(line.rho, static_cast<float>(rho));
    EXPECT_NEAR(line.theta, theta, 1e-5);
    for (const auto &[x, y] : {std::pair{line.x1, line.y1}, {line.x2, line.y2}}) {
      EXPECT_NEAR(x * std::cos(theta) + y * std::sin(theta), rho, 0.01);
      const float beside = std::min({x, y, 89 - x, 69 - y});
      EXPECT_NEAR(beside, 0, 1e-4) << x << ", " << y << " is on the frame";
    }
    EXPECT_TRUE(line.x1 < line.x2 || (line.x1 == line.x2 && line.y1 < line.y2));
    EXPECT_GE(std::hypot(line.x2 - line.x1, line.y2 - line.y1), 69);
  }
}

// With rho = 2 OpenCV reports distances that are off by half a step, so that lines along the border of the
// image lie outside it.
TEST_P(Hough, line_along_the_frame_ends_in_its_corners) {
  const Size size{40, 30};
  HoughRunner runner(execution(), size);
  for (const double rho : {0.5, 1.0, 2.0})
    for (const int side : {0, 1, 2, 3}) {
      Picture edges(size);
      const bool level = side < 2;
      const int at = side % 2 == 0 ? 0 : (level ? 29 : 39);
      for (int i = 0; i < (level ? 40 : 30); ++i) edges.at(level ? i : at, level ? at : i) = 1;
      const auto lines = runner.run(edges, with_threshold(20, rho)).lines;
      ASSERT_FALSE(lines.empty());
      const HoughLine &line = lines.front();
      SCOPED_TRACE(::testing::Message() << "rho " << rho << " side " << side << " " << line);
      for (const float x : {line.x1, line.x2}) EXPECT_TRUE(x >= 0 && x <= 39);
      for (const float y : {line.y1, line.y2}) EXPECT_TRUE(y >= 0 && y <= 29);
      EXPECT_GE(std::hypot(line.x2 - line.x1, line.y2 - line.y1), level ? 37 : 27);
    }
}

// --- photographs ---

TEST_P(Hough, photographs_equal_opencv) {
  std::string missing;
  struct Case {
    const char *file;
    int frame;
  };
  std::vector<Case> cases{{"building.jpg", 0}, {"sudoku.png", 0}};
  if (!kEmulated) cases.insert(cases.end(), {{"vtest.avi", 0}, {"vtest.avi", 50}});
  for (const Case &c : cases) {
    const Photo &photo = gray_photo(c.file, c.frame);
    if (!photo.ok()) {
      missing += photo.why_not + "; ";
      continue;
    }
    const Picture luma = kEmulated ? photo.pixels.crop({100, 100, 110, 80}) : photo.pixels;
    const Picture edges = edges_of(luma, 50, 150);
    HoughRunner runner(execution(), luma.size());
    for (const HoughParams &params :
         {with_threshold(kEmulated ? 20 : 150), with_threshold(kEmulated ? 15 : 60, 2),
          with_threshold(kEmulated ? 20 : 100, 1, kPi / 360),
          with_threshold(kEmulated ? 9 : 70, 0.5, kPi / 720)}) {
      if (kEmulated && params.theta < kDegree && c.frame == 0 && std::string(c.file) != "building.jpg")
        continue;
      SCOPED_TRACE(::testing::Message() << c.file << " frame " << c.frame << " " << params);
      const auto expected = opencv(edges, params);
      EXPECT_GT(expected.size(), 3u) << "too few lines to prove much";
      EXPECT_TRUE(same_lines(runner.run(edges, params).lines, expected));
    }
  }
  if (!missing.empty()) GTEST_SKIP() << missing;
}

// --- capacity ---

TEST_P(Hough, lines_beyond_the_capacity_are_counted_and_the_best_are_listed) {
  const Picture edges = dots({kEmulated ? 60 : 200, 50}, 10, 10);
  HoughParams params = with_threshold(2);
  const auto all = opencv(edges, params);
  const int found = static_cast<int>(all.size());
  ASSERT_GT(found, 300);
  HoughRunner runner(execution(), edges.size());
  for (const int most : {1, 2, 100, found - 1, found, found + 1}) {
    params.max_lines = most;
    const auto result = runner.run(edges, params);
    const int listed = std::min(found, most);
    EXPECT_EQ(result.count, (HoughCount{listed, found, found}));
    EXPECT_TRUE(same_lines(result.lines, {all.begin(), all.begin() + listed})) << most;
  }
}

// So many lines that the GPU sorts them in large tiles (common/tile_sort.cuh), of which the last one is not full.
TEST_P(Hough, many_lines_are_sorted) {
  const Picture edges = dots({kEmulated ? 80 : 640, kEmulated ? 70 : 480}, 30, 11);
  HoughParams params = with_threshold(kEmulated ? 3 : 30);
  params.max_lines = 1000000;
  if (kEmulated) params.rho = 0.5, params.theta = kDegree / 4;
  const auto expected = opencv(edges, params);
  EXPECT_GT(expected.size(), 16384u);
  EXPECT_NE(expected.size() % 4096, 0u);
  HoughRunner runner(execution(), edges.size());
  EXPECT_TRUE(same_lines(runner.run(edges, params).lines, expected));
  params.max_lines = 700;  // most blocks see early that their lines are not among the first
  EXPECT_TRUE(same_lines(runner.run(edges, params).lines, {expected.begin(), expected.begin() + 700}));
}

// --- state ---

TEST_P(Hough, frames_do_not_affect_each_other) {
  const Size size{64, 48};
  HoughRunner runner(execution(), size);
  struct Frame {
    Picture edges;
    HoughParams params;
  };
  HoughParams few = with_threshold(2), wide = with_threshold(2, 3, 0.1), segments = with_threshold(10);
  few.max_lines = 7, wide.nms_radius = 3;
  segments.mode = HoughMode::segments, segments.min_length = 10;
  const std::vector<Frame> frames{{dots(size, 5, 12), with_threshold(4)},
                                  {constant(size, 0), with_threshold(0)},
                                  {dots(size, 20, 13), few},
                                  {dots(size, 10, 14), wide},
                                  {constant(size, 255), segments},
                                  {dots(size, 8, 15), with_threshold(3, 0.5)}};
  std::vector<Found> expected;
  for (const Frame &frame : frames)
    expected.push_back(HoughRunner(execution(), size).run(frame.edges, frame.params));
  for (const std::size_t i : {0u, 1u, 0u, 2u, 3u, 4u, 0u, 4u, 5u, 5u, 1u, 2u})
    ASSERT_TRUE(same(runner.run(frames[i].edges, frames[i].params), expected[i])) << "frame " << i;
}

TEST_P(Hough, queued_frames_and_two_instances_are_independent) {
  const Size sizes[2] = {{64, 48}, {50, 61}};
  const ExecutionOwner other(GetParam());
  HoughRunner runners[2] = {HoughRunner(execution(), sizes[0]), HoughRunner(other.execution(), sizes[1])};
  const Picture pictures[2] = {dots(sizes[0], 6, 16), dots(sizes[1], 12, 17)};
  const HoughParams params[2] = {with_threshold(3), with_threshold(2, 2, 0.05)};
  for (int round = 0; round < 3; ++round) {
    if (execution().backend == cudavision::Backend::cpu) {
      std::thread second([&] { runners[1].enqueue(pictures[1], params[1]); });
      runners[0].enqueue(pictures[0], params[0]);
      second.join();
    } else {
      for (int i = 0; i < 2; ++i) runners[i].enqueue(pictures[i], params[i]);
      // Queues the same frame again, after a frame that replaces the tables.
      runners[0].enqueue(with_threshold(1, 4, 0.2));
      runners[0].enqueue(params[0]);
    }
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(same_lines(runners[i].result().lines, opencv(pictures[i], params[i]))) << "instance " << i;
  }
}

// --- refusals ---

TEST_P(Hough, invalid_parameters_are_refused_and_leave_the_list_untouched) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  std::vector<HoughParams> invalid;
  for (const double value : {kNan, kInfinity, -kInfinity, -1.0, 0.0, 0.0099, 1000.1})
    invalid.emplace_back().rho = value;
  for (const double value : {kNan, kInfinity, -1.0, 0.0, 0.00009, 3.2}) invalid.emplace_back().theta = value;
  for (const double value : {kNan, kInfinity, -0.001, 3.2}) {
    invalid.emplace_back().min_theta = value;
    invalid.emplace_back().max_theta = value;
  }
  invalid.emplace_back().min_theta = 2, invalid.back().max_theta = 1.9;
  invalid.emplace_back().min_theta = -2, invalid.back().max_theta = 1.2;
  for (const int value : {-1, std::numeric_limits<int>::min()}) {
    invalid.emplace_back().threshold = value;
    invalid.emplace_back().nms_radius = value;
    invalid.emplace_back().max_gap = value;
  }
  for (const int value : {-1, 0, 1000001}) invalid.emplace_back().max_lines = value;
  invalid.emplace_back().nms_radius = 33;
  for (const int value : {-1, 0, 32769}) invalid.emplace_back().min_length = value;
  invalid.emplace_back().max_gap = 16385;
  const Picture edges = dots({40, 30}, 10, 18);
  HoughRunner runner(execution(), edges.size());
  HoughParams valid = with_threshold(3);
  const Found before = runner.run(edges, valid);
  for (const HoughParams &params : invalid) {
    SCOPED_TRACE(params);
    EXPECT_TRUE(refused(validate(params)));
    EXPECT_TRUE(refused(runner.hough().run(runner.edges(), runner.luma(), params, runner.list())));
  }
  EXPECT_TRUE(same(runner.result(), before));
  EXPECT_TRUE(same(runner.run(edges, valid), before)) << "after the refusals";
}

TEST_P(Hough, accumulator_that_is_too_large_is_refused_and_names_its_bytes) {
  const Size size{16000, 2};
  HoughRunner runner(execution(), size);
  const HoughParams valid = with_threshold(4, 1, 0.5);
  const Picture edges = dots(size, 1, 18);
  const Found before = runner.run(edges, valid);
  for (const auto &[rho, theta] : {std::pair{0.01, 0.001},  // 3 million distances, 3142 angles
                                   {0.1, kPi / 4000}}) {    // can be numbered by an int, but more than 2 GiB
    const auto status =
        runner.hough().run(runner.edges(), runner.luma(), with_threshold(4, rho, theta), runner.list());
    EXPECT_TRUE(refused(status));
    EXPECT_NE(status.text().find(" bytes"), std::string::npos) << status.text();
  }
  EXPECT_TRUE(same(runner.run(edges, valid), before)) << "after the refusals";
}

TEST_P(Hough, images_of_another_size_are_refused) {
  HoughRunner runner(execution(), {40, 30});
  const HoughParams params = with_threshold(3);
  HoughParams gradients = params;
  gradients.gradient_voting = true;
  runner.enqueue(dots({40, 30}, 10, 19), params);
  for (const Size other : {Size{41, 30}, Size{40, 29}, Size{30, 40}, Size{0, 0}}) {
    const TestImage<std::uint8_t> image(execution(), other, kAligned);
    const TestImage<std::uint32_t> votes(execution(), other, kAligned);
    EXPECT_TRUE(refused(runner.hough().run(image.view(), runner.luma(), params, runner.list())));
    EXPECT_TRUE(refused(runner.hough().run(runner.edges(), image.view(), gradients, runner.list())));
    EXPECT_TRUE(succeeds(runner.hough().run(runner.edges(), image.view(), params, runner.list())));
    EXPECT_TRUE(refused(runner.hough().copy_votes(votes.view())));
  }
  EXPECT_TRUE(refused(runner.hough().run(runner.edges(), {}, gradients, runner.list())));
  HoughRunner fresh(execution(), {40, 30});
  EXPECT_TRUE(refused(fresh.hough().copy_votes({}))) << "before the first run";
}

TEST_P(Hough, sizes_out_of_range_are_refused) {
  for (const Size size : {Size{0, 0}, Size{0, 5}, Size{5, 0}, Size{-1, 5}, Size{16385, 1}, Size{1, 16385}}) {
    std::unique_ptr<cudavision::Hough> hough;
    EXPECT_TRUE(refused(make_hough(execution(), size, &hough))) << size.width << "x" << size.height;
    EXPECT_EQ(hough, nullptr);
  }
}

TEST_P(Hough, longest_sides_are_accepted) {
  for (const Size size : {Size{16384, 3}, Size{2, 16384}}) {
    if (kEmulated && size.width == 2) continue;
    const Picture edges = dots(size, 1, 20);
    const HoughParams params = with_threshold(4, 1, kEmulated ? 0.5 : 0.05);
    EXPECT_TRUE(same_lines(HoughRunner(execution(), size).run(edges, params).lines, opencv(edges, params)));
  }
}

// --- votes near the gradient ---

// The angle between two directions modulo pi.
double angle_between(double a, double b) {
  const double difference = std::abs(std::remainder(a - b, kPi));
  return difference;
}

TEST_P(Hough, gradient_voting_votes_only_within_nine_degrees) {
  const Size size{kEmulated ? 50 : 150, kEmulated ? 40 : 100};
  const Picture luma = smooth_noise(size, 2, 21), edges = edges_of(luma);
  ASSERT_GT(count_of<std::uint8_t>(edges, 255), 100);
  HoughParams params = with_threshold(0);
  params.gradient_voting = true;
  HoughRunner runner(execution(), size);
  (void)runner.run(edges, luma, params);
  // The definition uses atan2. The transform rounds directions to 1/256 of the tangent, so that votes may
  // differ for angles within 0.25 degrees of the limit.
  const auto distance_from_gradient = [&](int x, int y, int n) {
    const auto at = [&](int px, int py) {
      return int{luma.at(std::clamp(px, 0, size.width - 1), std::clamp(py, 0, size.height - 1))};
    };
    int dx = 0, dy = 0;
    for (int k = -1; k <= 1; ++k) {
      const int weight = k == 0 ? 2 : 1;
      dx += weight * (at(x + 1, y + k) - at(x - 1, y + k));
      dy += weight * (at(x + k, y + 1) - at(x + k, y - 1));
    }
    return dx == 0 && dy == 0 ? 0.0 : angle_between(std::atan2(dy, dx), n * kDegree);
  };
  const auto within = [&](double degrees) {
    return accumulate(
               edges, params,
               [&](int x, int y, int n) { return distance_from_gradient(x, y, n) <= degrees * kDegree; })
        .inner();
  };
  const Votes votes = runner.votes(params), least = within(8.75), most = within(9.25);
  std::uint64_t sum = 0, all = 0;
  for (std::size_t i = 0; i < votes.pixels().size(); ++i) {
    ASSERT_GE(votes.pixels()[i], least.pixels()[i]) << i;
    ASSERT_LE(votes.pixels()[i], most.pixels()[i]) << i;
    sum += votes.pixels()[i];
  }
  const Accumulator everything = accumulate(edges, params);
  for (const std::uint32_t count : everything.framed.pixels()) all += count;
  EXPECT_NEAR(static_cast<double>(all) / static_cast<double>(sum), 10, 1) << "about a tenth of the votes";
}

// A smooth edge, five pixels wide, along the line through (40, 30) with the normal (nx, ny).
Picture smooth_step(Size size, int nx, int ny) {
  Picture luma(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double distance = (nx * (x - 40) + ny * (y - 30)) / std::hypot(nx, ny);
      luma.at(x, y) = static_cast<std::uint8_t>(std::lround(110 + 70 * std::tanh((distance - 0.2) / 1.5)));
    }
  return luma;
}

TEST_P(Hough, gradient_voting_finds_the_same_strong_line) {
  const Size size{80, 60};
  HoughRunner runner(execution(), size);
  for (const auto &[nx, ny] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}, {3, 1}, {-2, 5}, {7, -1}}) {
    const Picture luma = smooth_step(size, nx, ny), edges = edges_of(luma);
    HoughParams params = with_threshold(25);
    const auto all = runner.run(edges, luma, params).lines;
    params.gradient_voting = true;
    const auto near = runner.run(edges, luma, params).lines;
    ASSERT_FALSE(near.empty());
    EXPECT_LE(near.size(), all.size());
    EXPECT_LE(angle_between(near.front().theta, std::atan2(ny, nx)), 3 * kDegree) << nx << ", " << ny;
    EXPECT_GE(near.front().votes + 4, all.front().votes) << "nearly every pixel votes for it";
  }
}

TEST_P(Hough, pixel_without_gradient_votes_for_every_angle) {
  const Size size{40, 30};
  HoughParams params = with_threshold(0);
  HoughRunner runner(execution(), size);
  const Picture edges = dots(size, 10, 22);
  const auto all = runner.run(edges, params);
  params.gradient_voting = true;
  EXPECT_TRUE(same(runner.run(edges, constant(size, 99), params), all));
}

// --- resources per frame, and failures of the device ---

TEST_P(Hough, frame_is_five_or_nine_launches_and_nothing_else) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture edges = dots({64, 48}, 6, 23);
  HoughParams lines = with_threshold(3), gradients = lines, segments = lines;
  gradients.gradient_voting = true;
  segments.mode = HoughMode::segments;
  HoughRunner runner(execution(), edges.size());
  for (const HoughParams &params : {lines, gradients, segments, lines}) {
    SCOPED_TRACE(params);
    (void)runner.run(edges, params);  // the first frame with these parameters allocates
    const Budget budget;
    for (int i = 0; i < 2; ++i) {
      HoughParams other = params;
      other.threshold += i, other.nms_radius = i;  // these need no new tables
      EXPECT_TRUE(succeeds(runner.hough().run(runner.edges(), runner.luma(), other, runner.list())));
    }
    budget.expect_launches_alone(params.mode == HoughMode::lines ? 10 : 18);
    finish(execution());
  }
}

// Each vote is a shared-memory atomic; each block adds each of its cells to global memory at most once.
TEST_P(Hough, votes_are_counted_in_shared_memory) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{64, 48};
  HoughRunner runner(execution(), size);
  const HoughParams params = with_threshold(1000);
  (void)runner.run(constant(size, 1), params);
  const Budget budget;
  EXPECT_TRUE(succeeds(runner.hough().run(runner.edges(), runner.luma(), params, runner.list())));
  finish(execution());
  const std::uint64_t votes = 64ull * 48 * 180;
  EXPECT_GE(budget.spent().shared_atomics, votes);
  EXPECT_LT(budget.spent().global_atomics, votes / 10);
}

TEST_P(Hough, failed_allocation_is_reported_and_can_be_tried_again) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture edges = dots({64, 48}, 6, 24);
  for (unsigned successes = 0; successes < 2; ++successes) {
    const std::size_t before = simt::live_allocations();
    simt::fail_allocations_after(successes);
    std::unique_ptr<cudavision::Hough> hough;
    EXPECT_EQ(make_hough(execution(), edges.size(), &hough).code(), cudavision::Status::Code::out_of_memory);
    EXPECT_EQ(hough, nullptr);
    EXPECT_EQ(simt::live_allocations(), before);
  }
  HoughParams params = with_threshold(3);
  params.mode = HoughMode::segments, params.gradient_voting = true, params.min_length = 5;
  HoughRunner reference(execution(), edges.size());
  const Found expected = reference.run(edges, dots(edges.size(), 50, 25), params);
  for (unsigned successes = 0; successes < 9; ++successes) {
    HoughRunner runner(execution(), edges.size());
    runner.enqueue(edges, with_threshold(3, 2));
    simt::fail_allocations_after(successes);
    const auto status = runner.hough().run(runner.edges(), runner.luma(), params, runner.list());
    EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << successes << " " << status.text();
    EXPECT_NE(status.text().find(" bytes"), std::string::npos) << status.text();
    EXPECT_TRUE(same(runner.run(edges, dots(edges.size(), 50, 25), params), expected)) << successes;
  }
}

TEST_P(Hough, failed_launch_is_reported_and_the_next_frame_is_right) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture edges = dots({64, 48}, 6, 26);
  HoughParams params = with_threshold(3);
  params.mode = HoughMode::segments, params.min_length = 5;
  HoughRunner runner(execution(), edges.size());
  const Found expected = runner.run(edges, params);
  for (unsigned successes = 0; successes < 4; ++successes) {
    simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
    const auto status = runner.hough().run(runner.edges(), runner.luma(), params, runner.list());
    EXPECT_EQ(status.code(), cudavision::Status::Code::device_failed);
    EXPECT_NE(status.text().find("kernel"), std::string::npos) << status.text();
    EXPECT_TRUE(same(runner.run(edges, params), expected)) << successes;
  }
}

}  // namespace
