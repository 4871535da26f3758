// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the segments of the Hough transform on every backend: against their definition in plain loops, and
// against drawings with known segments.
#include <array>

#include "cuda/canny/canny.h"
#include "tests/kernels/hough_definition.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/frames_in_flight.h"

namespace {

using namespace cudavision::test;
using cudavision::HoughCount;
using cudavision::HoughLine;
using cudavision::HoughMode;
using cudavision::HoughParams;
using cudavision::Size;

class HoughSegments : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(HoughSegments);

HoughParams segments(int threshold, int min_length, int max_gap) {
  HoughParams params = with_threshold(threshold);
  params.mode = HoughMode::segments;
  params.min_length = min_length, params.max_gap = max_gap;
  params.max_lines = 300;  // because the definition is slow
  return params;
}

// --- the definition ---

using Position = std::pair<int, int>;  // x, y

// The steps of a line. Each step has the pixel on the line and its two neighbours across the line, without
// those outside the picture.
std::vector<std::vector<Position>> steps_of(const HoughLine &line, Size size) {
  const double cos = static_cast<float>(std::cos(static_cast<double>(line.theta))),
               sin = static_cast<float>(std::sin(static_cast<double>(line.theta)));
  const bool along_x = std::abs(sin) >= std::abs(cos);
  const double per_step = 1 / (along_x ? sin : cos), unit = 1 << 20;
  const auto base = static_cast<long long>(std::floor(line.rho * per_step * unit + 0.5)),
             slope = static_cast<long long>(std::floor(-(along_x ? cos : sin) * per_step * unit + 0.5));
  std::vector<std::vector<Position>> steps;
  for (int step = 0; step < (along_x ? size.width : size.height); ++step) {
    const int on_line = static_cast<int>(std::floor(static_cast<double>(base + step * slope) / unit + 0.5));
    steps.emplace_back();
    for (const int across : {on_line, on_line - 1, on_line + 1})
      if (across >= 0 && across < (along_x ? size.height : size.width))
        steps.back().push_back(along_x ? Position{step, across} : Position{across, step});
  }
  return steps;
}

struct Candidate {
  std::size_t line;
  std::vector<std::vector<Position>> edges;  // of all steps from the first to the last
};

// Removes the steps before the first gap if they are fewer than the steps of the gap and if others follow.
void trim_begin(std::vector<std::vector<Position>> *run) {
  const auto is_gap = [](const std::vector<Position> &step) { return step.empty(); };
  const auto gap = std::find_if(run->begin(), run->end(), is_gap);
  const auto behind = std::find_if_not(gap, run->end(), is_gap);
  if (behind != run->end() && gap - run->begin() < behind - gap) run->erase(run->begin(), behind);
}

// Adds the runs of steps with edges, interrupted by gaps of at most max_gap steps, that are long enough.
void add_candidates(const Picture &edges, const std::vector<std::vector<Position>> &steps, std::size_t line,
                    const HoughParams &p, std::vector<Candidate> *candidates) {
  std::vector<std::vector<Position>> present, run;
  for (const std::vector<Position> &step : steps) {
    present.emplace_back();
    for (const auto &[x, y] : step)
      if (edges.at(x, y) != 0) present.back().emplace_back(x, y);
  }
  const auto close = [&] {
    while (!run.empty() && run.back().empty()) run.pop_back();
    trim_begin(&run);
    std::reverse(run.begin(), run.end());
    trim_begin(&run);
    std::reverse(run.begin(), run.end());
    if (!run.empty()) {
      const auto [ax, ay] = run.front().front();
      const auto [bx, by] = run.back().front();
      if (std::hypot(ax - bx, ay - by) >= p.min_length) candidates->push_back({line, run});
    }
    run.clear();
  };
  int gap = 0;
  for (const std::vector<Position> &step : present) {
    gap = step.empty() ? gap + 1 : 0;
    if (gap > p.max_gap) close();
    if (!step.empty() || !run.empty()) run.push_back(step);
  }
  close();
}

Found defined_segments(const Picture &edges, const HoughParams &p) {
  const std::vector<HoughLine> lines = definition(edges, p);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < std::min(lines.size(), static_cast<std::size_t>(p.max_lines)); ++i)
    add_candidates(edges, steps_of(lines[i], edges.size()), i, p, &candidates);
  HostImage<std::size_t> owner(edges.size(), lines.size());  // the first line that contains the pixel
  for (const Candidate &candidate : candidates)
    for (const std::vector<Position> &step : candidate.edges)
      for (const auto &[x, y] : step) owner.at(x, y) = std::min(owner.at(x, y), candidate.line);
  Found found;
  for (const Candidate &candidate : candidates) {
    int present = 0, own = 0;
    for (const std::vector<Position> &step : candidate.edges) {
      present += !step.empty();
      own += std::any_of(step.begin(), step.end(), [&](const Position &position) {
        return owner.at(position.first, position.second) == candidate.line;
      });
    }
    if (2 * own <= present) continue;
    HoughLine line = lines[candidate.line];
    const auto [a, b] = std::minmax(candidate.edges.front().front(), candidate.edges.back().front());
    line.x1 = static_cast<float>(a.first), line.y1 = static_cast<float>(a.second);
    line.x2 = static_cast<float>(b.first), line.y2 = static_cast<float>(b.second);
    found.lines.push_back(line);
  }
  const int count = static_cast<int>(found.lines.size());
  found.count = {std::min(count, p.max_lines), count, static_cast<int>(lines.size())};
  found.lines.resize(static_cast<std::size_t>(found.count.listed));
  return found;
}

TEST_P(HoughSegments, every_size_equals_the_definition) {
  // Lines in pictures of the last two sizes have more steps than are loaded at a time (256).
  std::vector<Size> sizes{{1, 1}, {1, 70}, {70, 1}, {2, 2}, {31, 33}, {64, 50}, {300, 16}, {16, 300}};
  if (!kEmulated) sizes.insert(sizes.end(), {{32, 32}, {33, 31}, {129, 64}, {97, 111}});
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const HoughParams &params : {segments(2, 1, 0), segments(4, 9, 2), segments(6, 20, 5)}) {
      const Placement &placement = kPlacements[seed % 5];
      const Picture edges = dots(size, seed % 2 == 0 ? 15 : 30, seed);
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " seed " << seed++ << " " << params);
      ASSERT_TRUE(same(HoughRunner(execution(), size, placement).run(edges, params),
                       defined_segments(edges, params)));
    }
}

TEST_P(HoughSegments, every_length_gap_and_radius_equals_the_definition) {
  const Picture edges = dots({60, 50}, 22, 2);
  HoughRunner runner(execution(), edges.size());
  for (const int length : {1, 2, 17, 32768})
    for (const int gap : {0, 1, 6, 31, 16384})
      for (const int radius : {0, 2}) {
        if (radius == 2 && gap != 1) continue;
        HoughParams params = segments(7, length, gap);
        params.nms_radius = radius;
        SCOPED_TRACE(params);
        ASSERT_TRUE(same(runner.run(edges, params), defined_segments(edges, params)));
      }
}

TEST_P(HoughSegments, capacity_limits_the_lines_and_the_segments) {
  const Picture edges = dots({90, 50}, 22, 3);
  HoughRunner runner(execution(), edges.size());
  HoughParams params = segments(5, 6, 1);
  const Found all = defined_segments(edges, params);
  ASSERT_GT(all.count.found, 30);
  for (const int most : {1, 7, 20, 100}) {
    params.max_lines = most;
    EXPECT_TRUE(same(runner.run(edges, params), defined_segments(edges, params))) << most;
  }
}

// As in cudahough: Canny writes the edges of every frame to the same memory. Lines are searched in between.
TEST_P(HoughSegments, frames_in_flight_equal_frames_alone) {
  const Size size = size_in_flight(execution(), {1280, 720}, {150, 90});
  std::unique_ptr<cudavision::Canny> canny;
  std::unique_ptr<cudavision::Hough> hough;
  ASSERT_TRUE(succeeds(make_canny(execution(), size, &canny)));
  ASSERT_TRUE(succeeds(make_hough(execution(), size, &hough)));
  const TestImage<std::uint8_t> edges(execution(), size, kAligned);
  const HoughParams params = segments(20, 10, 1);
  const std::size_t bytes = sizeof(HoughLine) * static_cast<std::size_t>(params.max_lines + 1);
  Memory other(execution(), bytes);
  const auto list = [](std::uint8_t *memory) {
    return cudavision::HoughList{reinterpret_cast<HoughLine *>(memory) + 1,
                                 reinterpret_cast<HoughCount *>(memory)};
  };
  expect_frames_in_flight_equal_frames_alone(
      execution(), size, bytes,
      [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *memory, cudavision::Input input) {
        CUDAVISION_TRY(canny->run(luma, edges.view(), {.low_threshold = 60, .high_threshold = 200}, input));
        CUDAVISION_TRY(hough->run(edges.view(), luma, params, list(memory)));
        HoughParams lines = params;
        lines.mode = HoughMode::lines;
        return hough->run(edges.view(), luma, lines, list(other.data()));
      },
      false);
}

// More candidates and segments than a tile of the sort (common/tile_sort.cuh) holds.
TEST_P(HoughSegments, many_segments_equal_the_definition) {
  if (kEmulated) GTEST_SKIP() << "takes too long";
  if (GetParam().backend == cudavision::Backend::cpu) GTEST_SKIP() << "tests the CUDA backend only";
  const Picture edges = dots({500, 400}, 25, 4);
  HoughParams params = segments(60, 5, 0);
  params.max_lines = 100000;
  const Found expected = defined_segments(edges, params);
  EXPECT_GT(expected.count.found, 4096);
  EXPECT_TRUE(same(HoughRunner(execution(), edges.size()).run(edges, params), expected));
}

// --- pictures whose segments are known ---

TEST_P(HoughSegments, drawn_segment_is_found_from_pixel_to_pixel) {
  const Size size{80, 60};
  HoughRunner runner(execution(), size);
  for (const auto &[a, b] : {std::pair<Position, Position>{{10, 20}, {70, 20}},
                             {{10, 50}, {10, 5}},
                             {{5, 5}, {50, 50}},
                             {{10, 50}, {55, 5}},
                             {{0, 0}, {79, 59}},
                             {{3, 40}, {77, 12}},
                             {{30, 1}, {44, 58}}}) {
    Picture edges(size);
    cv::Mat image(size.height, size.width, CV_8U, edges.row(0));
    cv::line(image, {a.first, a.second}, {b.first, b.second}, 255);
    const Found found = runner.run(edges, segments(20, 30, 2));
    const auto [first, last] = std::minmax(a, b);
    SCOPED_TRACE(::testing::Message()
                 << first.first << "," << first.second << " " << last.first << "," << last.second);
    ASSERT_EQ(found.count.found, 1);
    const HoughLine &line = found.lines[0];
    EXPECT_LE(
        std::hypot(line.x1 - static_cast<float>(first.first), line.y1 - static_cast<float>(first.second)),
        1.5);
    EXPECT_LE(std::hypot(line.x2 - static_cast<float>(last.first), line.y2 - static_cast<float>(last.second)),
              1.5);
  }
}

// A step covers the pixels on both sides of a line, also at the border of the picture.
TEST_P(HoughSegments, zigzag_about_a_line_is_one_segment_at_every_place) {
  const Size size{67, 67};
  HoughRunner runner(execution(), size);
  for (const bool upright : {false, true})
    for (const int more : {0, 1})  // which of the two rows or columns has one pixel more
      for (const int place : {0, 1, 30, 31, 32, 33, 62, 63, 64, 65}) {
        Picture edges(size);
        for (int i = 5; i < 60; ++i) {
          const int at = place + (i + 1 + more) % 2;
          (upright ? edges.at(at, i) : edges.at(i, at)) = 255;
        }
        SCOPED_TRACE(::testing::Message() << (upright ? "column " : "row ") << place << ", " << more);
        const Found found = runner.run(edges, segments(20, 50, 0));
        ASSERT_EQ(found.count.found, 1);
        ASSERT_TRUE(same(found, defined_segments(edges, segments(20, 50, 0))));
      }
}

TEST_P(HoughSegments, gap_that_is_too_wide_ends_a_segment) {
  HoughRunner runner(execution(), {80, 20});
  for (const int gap : {0, 1, 2, 5}) {
    Picture edges({80, 20});
    for (int x = 5; x < 75; ++x)
      if (x < 40 || x >= 40 + gap) edges.at(x, 9) = 1;
    for (int max_gap = 0; max_gap <= 6; ++max_gap) {
      const Found found = runner.run(edges, segments(40, 10, max_gap));
      ASSERT_EQ(found.count.found, gap > max_gap ? 2 : 1) << gap << " " << max_gap;
      EXPECT_EQ(found.lines[0].x1, 5);
      EXPECT_EQ(found.lines.back().x2, 74);
    }
  }
}

// Two pixels beyond a gap of three are cut off, three pixels are not, at either end.
TEST_P(HoughSegments, short_pieces_at_the_ends_are_cut_off) {
  HoughRunner runner(execution(), {90, 20});
  for (const int piece : {2, 3})
    for (const bool at_begin : {true, false}) {
      Picture edges({90, 20});
      for (int x = 20; x < 70; ++x) edges.at(x, 9) = 1;
      for (int i = 0; i < piece; ++i) edges.at(at_begin ? 16 - i : 73 + i, 9) = 1;
      const Found found = runner.run(edges, segments(40, 30, 3));
      ASSERT_EQ(found.count.found, 1);
      EXPECT_EQ(found.lines[0].x1, at_begin && piece == 3 ? 14 : 20);
      EXPECT_EQ(found.lines[0].x2, !at_begin && piece == 3 ? 75 : 69);
    }
}

TEST_P(HoughSegments, min_length_is_the_distance_between_the_ends) {
  HoughRunner runner(execution(), {60, 60});
  for (const bool diagonal : {false, true}) {
    Picture edges({60, 60});
    for (int i = 5; i <= 35; ++i) edges.at(i, diagonal ? i : 9) = 1;  // 30 or 42.4 pixels from end to end
    for (const int length : {29, 30, 31, 42, 43})
      EXPECT_EQ(runner.run(edges, segments(15, length, 0)).count.found, length <= (diagonal ? 42 : 30))
          << length;
  }
}

TEST_P(HoughSegments, lines_that_cross_keep_their_length) {
  Picture edges({80, 80});
  for (int i = 5; i < 75; ++i) edges.at(i, 40) = edges.at(38, i) = edges.at(i, i) = 255;
  const Found found = HoughRunner(execution(), edges.size()).run(edges, segments(40, 30, 0));
  ASSERT_EQ(found.count.found, 3);
  for (const HoughLine &line : found.lines)
    EXPECT_GE(std::hypot(line.x2 - line.x1, line.y2 - line.y1), 68) << line;
}

// --- drawings: recall and precision ---

struct Drawing {
  Picture edges;
  std::vector<std::array<double, 4>> segments;  // x1, y1, x2, y2
};

// Draws segments of 60 to 160 pixels. No two of similar direction are within 12 pixels of each other.
Drawing draw(Size size, int count, unsigned seed) {
  Drawing drawing{Picture(size), {}};
  cv::Mat image(size.height, size.width, CV_8U, drawing.edges.row(0));
  Random random(seed);
  while (static_cast<int>(drawing.segments.size()) < count) {
    const double angle = random.below(3600) * kPi / 1800, length = 60 + random.below(101);
    const int x1 = random.below(size.width), y1 = random.below(size.height);
    const int x2 = static_cast<int>(x1 + length * std::cos(angle)),
              y2 = static_cast<int>(y1 + length * std::sin(angle));
    if (x2 < 0 || y2 < 0 || x2 >= size.width || y2 >= size.height) continue;
    const auto distance = [](double px, double py, const std::array<double, 4> &s) {
      const double dx = s[2] - s[0], dy = s[3] - s[1];
      const double t = std::clamp(((px - s[0]) * dx + (py - s[1]) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
      return std::hypot(px - s[0] - t * dx, py - s[1] - t * dy);
    };
    const std::array<double, 4> one{1. * x1, 1. * y1, 1. * x2, 1. * y2};
    const bool apart = std::all_of(drawing.segments.begin(), drawing.segments.end(), [&](const auto &other) {
      const double turn = std::abs(std::remainder(
          std::atan2(one[3] - one[1], one[2] - one[0]) - std::atan2(other[3] - other[1], other[2] - other[0]),
          kPi));
      double least = 1e9;
      for (int i = 0; i <= 20; ++i)
        least = std::min(least, distance(x1 + (x2 - x1) * i / 20.0, y1 + (y2 - y1) * i / 20.0, other));
      return turn > 15 * kDegree || least > 12;
    });
    if (!apart) continue;
    cv::line(image, {x1, y1}, {x2, y2}, 255);
    drawing.segments.push_back(one);
  }
  return drawing;
}

// Sets pixels and clears others with the given probabilities in parts per thousand.
void add_noise(Picture *edges, int set_per_mille, int clear_per_mille, unsigned seed) {
  Random random(seed);
  for (std::uint8_t &pixel : edges->pixels()) {
    const int draw = random.below(1000);
    if (pixel == 0 && draw < set_per_mille)
      pixel = 255;
    else if (pixel != 0 && draw < clear_per_mille)
      pixel = 0;
  }
}

// Returns true if both ends agree within 2 pixels and the direction within 1 degree.
bool matches(const HoughLine &line, const std::array<double, 4> &s) {
  const double same_way =
      std::max(std::hypot(line.x1 - s[0], line.y1 - s[1]), std::hypot(line.x2 - s[2], line.y2 - s[3]));
  const double other_way =
      std::max(std::hypot(line.x1 - s[2], line.y1 - s[3]), std::hypot(line.x2 - s[0], line.y2 - s[1]));
  const double turn = std::abs(std::remainder(
      std::atan2(line.y2 - line.y1, line.x2 - line.x1) - std::atan2(s[3] - s[1], s[2] - s[0]), kPi));
  return std::min(same_way, other_way) <= 2 && turn <= kDegree;
}
// Returns true if both ends are within 2 pixels of the infinite line through the segment.
bool along(const HoughLine &line, const std::array<double, 4> &s) {
  const double length = std::hypot(s[2] - s[0], s[3] - s[1]);
  const auto off = [&](double x, double y) {
    return std::abs((x - s[0]) * (s[3] - s[1]) - (y - s[1]) * (s[2] - s[0])) / length;
  };
  return off(line.x1, line.y1) <= 2 && off(line.x2, line.y2) <= 2;
}

struct Score {
  int drawn = 0, found = 0, reported = 0, right = 0, split = 0, merged = 0;

  friend std::ostream &operator<<(std::ostream &out, const Score &s) {
    return out << s.found << " of " << s.drawn << " drawn segments found, " << s.right << " of " << s.reported
               << " reported segments correct, " << s.split << " split, " << s.merged << " merged";
  }
};

Score score(const Found &found, const Drawing &drawing) {
  Score score;
  score.drawn = static_cast<int>(drawing.segments.size());
  score.reported = static_cast<int>(found.lines.size());
  for (const auto &segment : drawing.segments) {
    int matching = 0, pieces = 0;
    for (const HoughLine &line : found.lines) {
      matching += matches(line, segment);
      const double length = std::hypot(segment[2] - segment[0], segment[3] - segment[1]);
      pieces += !matches(line, segment) && along(line, segment) &&
                std::hypot(line.x2 - line.x1, line.y2 - line.y1) < length - 4;
    }
    score.found += matching > 0, score.split += matching == 0 && pieces > 1;
  }
  for (const HoughLine &line : found.lines) {
    int covered = 0;
    bool right = false;
    for (const auto &segment : drawing.segments)
      right |= matches(line, segment), covered += along(line, segment);
    score.right += right, score.merged += !right && covered > 1;
  }
  return score;
}

TEST_P(HoughSegments, drawings_are_found_and_nothing_else) {
  for (const bool noisy : {false, true}) {
    Score total;
    for (unsigned seed = 1; seed <= (kEmulated ? 1u : 30u); ++seed) {
      Drawing drawing = draw(kEmulated ? Size{200, 150} : Size{640, 480}, kEmulated ? 4 : 12, seed);
      if (noisy) add_noise(&drawing.edges, 2, 30, seed);
      HoughParams params = segments(30, 40, 3);
      const Found found = HoughRunner(execution(), drawing.edges.size()).run(drawing.edges, params);
      const Score one = score(found, drawing);
      total.drawn += one.drawn, total.found += one.found, total.reported += one.reported,
          total.right += one.right;
      total.split += one.split, total.merged += one.merged;
    }
    EXPECT_GE(total.found, 0.95 * total.drawn) << total;
    EXPECT_GE(total.right, 0.95 * total.reported) << total;
    EXPECT_LE(total.split, 0.02 * total.drawn) << total;
    EXPECT_LE(total.merged, 0.02 * total.reported) << total;
  }
}

TEST_P(HoughSegments, photographs_equal_the_definition) {
  std::string missing;
  for (const char *file : {"building.jpg", "sudoku.png"}) {
    const Photo &photo = gray_photo(file);
    if (!photo.ok()) {
      missing += photo.why_not + "; ";
      continue;
    }
    const Picture edges =
        edges_of(kEmulated ? photo.pixels.crop({100, 100, 110, 80}) : photo.pixels, 50, 150);
    const HoughParams params = segments(kEmulated ? 20 : 100, kEmulated ? 15 : 60, 3);
    const Found expected = defined_segments(edges, params);
    EXPECT_GT(expected.count.found, 2) << file;
    EXPECT_TRUE(same(HoughRunner(execution(), edges.size()).run(edges, params), expected)) << file;
  }
  if (!missing.empty()) GTEST_SKIP() << missing;
}

}  // namespace
