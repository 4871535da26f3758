// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the canvas with its definition, pixel by pixel, in every pixel format and on every backend.
#include "cuda/draw/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/kernels/canvas_definition.h"
#include "tests/kernels/canvas_runner.h"
#include "tests/support/backends.h"
#include "tests/support/budget.h"

namespace {

using namespace cudavision::test;
using cudavision::Canvas;
using cudavision::Color;
using cudavision::ColorModel;
using cudavision::Execution;
using cudavision::make_canvas;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;
using Kind = cudavision::Primitive::Kind;

class DrawCanvas : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(DrawCanvas);

// --- helpers ---

constexpr Kind kKinds[] = {Kind::point,    Kind::cross, Kind::line, Kind::rectangle, Kind::filled_rectangle,
                           Kind::character};

// Random primitives within, across and beyond the borders of the frame.
Primitives random_primitives(Size size, int count, unsigned seed) {
  Random random(seed);
  Primitives primitives;
  const auto coordinate = [&](int length) { return random.below(2 * length + 20) - length / 2 - 10; };
  for (int i = 0; i < count; ++i) {
    const Kind kind = kKinds[random.below(6)];
    const Color color{{random.byte(), random.byte(), random.byte()},
                      random.below(2) == 0 ? std::uint8_t{255} : random.byte()};
    const int reach = random.below(9), character = 30 + random.below(100), x1 = coordinate(size.width);
    primitives.push_back(primitive(kind, coordinate(size.width), coordinate(size.height),
                                   kind == Kind::cross       ? reach
                                   : kind == Kind::character ? character
                                                             : x1,
                                   coordinate(size.height), 1 + random.below(4), color));
  }
  return primitives;
}

// --- shapes ---

TEST_P(DrawCanvas, every_format_and_size_equals_the_definition) {
  std::vector<Size> sizes{{1, 1}, {2, 1}, {3, 5}, {67, 43}};
  if (!kEmulated) sizes.insert(sizes.end(), {{1, 40}, {40, 1}, {33, 64}, {64, 65}, {129, 130}});
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const Size size : sizes) {
      const Placement &placement = kPlacements[seed % 5];
      SCOPED_TRACE(::testing::Message() << format << " " << size.width << "x" << size.height << " "
                                        << placement << " seed " << seed);
      const HostFrame frame(format, size, seed);
      const Primitives primitives = random_primitives(size, 12, seed++);
      ASSERT_TRUE(same(run(execution(), frame, primitives, {}, placement), definition(frame, primitives)));
    }
}

TEST_P(DrawCanvas, every_kind_and_width_equals_the_definition) {
  const HostFrame frame = gray_frame({61, 47}, 2);
  for (const Kind kind : kKinds)
    for (const int width : {1, 2, 3, 4, 7, 31, 254, 255}) {
      if (kEmulated && width > 3 && width < 255) continue;
      const Primitives one{primitive(kind, 30, 20, kind == Kind::cross ? 9 : 41, 33, width)};
      ASSERT_TRUE(same(run(execution(), frame, one), definition(frame, one)))
          << "kind " << static_cast<int>(kind) << ", width " << width;
    }
}

// Eight characters in a row, at each of the scales at which the triangles that join pixels have another shape.
TEST_P(DrawCanvas, every_character_equals_the_definition) {
  const HostFrame frame = gray_frame({100, 24}, 4);
  for (int first = 24; first < 136; first += kEmulated ? 40 : 8)
    for (const int scale : {1, 2, 3, 4, 5}) {
      Primitives row;
      for (int i = 0; i < 8; ++i)
        row.push_back(primitive(Kind::character, i * 6 * scale - 7, 2 - scale, first + i, 0, scale));
      ASSERT_TRUE(same(run(execution(), frame, row), definition(frame, row))) << first << " scale " << scale;
    }
}

// Lines from the centre to every point of a square around it: all octants, the axes and the diagonals.
TEST_P(DrawCanvas, lines_of_every_direction_equal_the_definition) {
  const HostFrame frame = gray_frame({47, 47}, 3);
  constexpr int kMiddle = 23, kReach = 20;
  const int step = kEmulated ? 7 : 1;
  for (const int width : {1, 2, 5})
    for (int i = -kReach; i < kReach; i += step)
      for (const auto &[dx, dy] : {std::pair{i, -kReach}, {kReach, i}, {-i, kReach}, {-kReach, -i}}) {
        if (kEmulated && (width != 2) == ((dx + dy) % 2 == 0)) continue;
        const Primitives one{primitive(Kind::line, kMiddle, kMiddle, kMiddle + dx, kMiddle + dy, width)};
        ASSERT_TRUE(same(run(execution(), frame, one), definition(frame, one)))
            << "to " << dx << ", " << dy << " width " << width;
      }
}

TEST_P(DrawCanvas, lines_are_the_same_in_both_directions) {
  const HostFrame frame = gray_frame({47, 33}, 4);
  for (const auto &[dx, dy] : {std::pair{20, 3}, {-17, 8}, {5, -14}, {-9, -10}, {18, 9}, {0, 12}}) {
    const Primitives there{primitive(Kind::line, 23, 16, 23 + dx, 16 + dy, 3)},
        back{primitive(Kind::line, 23 + dx, 16 + dy, 23, 16, 3)};
    EXPECT_TRUE(same(run(execution(), frame, there), run(execution(), frame, back))) << dx << ", " << dy;
  }
}

TEST_P(DrawCanvas, lines_have_no_gaps_and_reach_both_ends) {
  const Size size{40, 30};
  const HostFrame frame(format_named("GRAY8"), size, 5);
  HostFrame black = frame;
  black.planes[0] = constant(size, 0);
  for (const auto &[x1, y1] : {std::pair{35, 9}, {2, 27}, {35, 27}, {2, 3}, {20, 27}, {35, 4}}) {
    const Primitives one{primitive(Kind::line, 20, 4, x1, y1)};
    const Picture drawn = run(execution(), black, one).planes[0];
    EXPECT_EQ(count_of(drawn, std::uint8_t{250}), std::max(std::abs(x1 - 20), std::abs(y1 - 4)) + 1);
    EXPECT_EQ(drawn.at(20, 4), 250);
    EXPECT_EQ(drawn.at(x1, y1), 250);
  }
}

// --- clipping ---

TEST_P(DrawCanvas, primitives_across_a_border_are_clipped) {
  const Size size{37, 29};
  const HostFrame frame(format_named("I420"), size, 6);
  for (const Kind kind : kKinds)
    for (const auto &[x, y] : {std::pair{0, 14}, {36, 14}, {18, 0}, {18, 28}, {0, 0}, {36, 28}}) {
      const Primitives one{
          primitive(kind, x, y, kind == Kind::cross ? 7 : x + 9, y - 6, 6),
          primitive(kind, x, y, kind == Kind::cross ? 3 : x - 11, y + 8, 3, {{9, 99, 199}, 100})};
      ASSERT_TRUE(same(run(execution(), frame, one), definition(frame, one)))
          << "kind " << static_cast<int>(kind) << " at " << x << ", " << y;
    }
}

TEST_P(DrawCanvas, primitives_outside_the_frame_change_nothing) {
  const HostFrame frame(format_named("NV12"), {37, 29}, 7);
  Primitives outside;
  for (const Kind kind : kKinds)
    for (const auto &[x, y] : {std::pair{-20, 14}, {60, 14}, {18, -20}, {18, 50}, {-20, -20}, {60, 50}})
      outside.push_back(primitive(kind, x, y, kind == Kind::cross ? 5 : x + 3, y + 4, 9));
  EXPECT_TRUE(same(run(execution(), frame, outside), frame));
}

TEST_P(DrawCanvas, farthest_coordinates_equal_the_definition) {
  constexpr int kLow = -32768, kHigh = 32767;
  const HostFrame frame(format_named("Y42B"), {41, 31}, 8);
  const Primitives cases[] = {
      {primitive(Kind::filled_rectangle, kLow, kLow, 20, 15)},
      {primitive(Kind::filled_rectangle, kHigh, kHigh, kLow, kLow, 255)},
      {primitive(Kind::rectangle, kLow, 3, kHigh, 27, 5)},
      {primitive(Kind::rectangle, kLow, kLow, kHigh, kHigh, 255)},
      {primitive(Kind::line, kLow, kLow, kHigh, kHigh, 3)},
      {primitive(Kind::line, kLow, kHigh, kHigh, -32700, 255)},
      {primitive(Kind::line, kHigh, 30, kLow, -10, 2)},
      {primitive(Kind::line, 20, kLow, 25, kHigh, 4)},
      {primitive(Kind::cross, 20, 15, kHigh, 0, 2)},
      {primitive(Kind::cross, kLow, 15, kHigh, 0, 2), primitive(Kind::cross, 30, kHigh, kHigh, 0, 3)},
      {primitive(Kind::point, kLow, kHigh, 0, 0, 255), primitive(Kind::point, kHigh, kHigh, 0, 0, 255)},
  };
  for (std::size_t i = 0; i < std::size(cases); ++i)
    ASSERT_TRUE(same(run(execution(), frame, cases[i]), definition(frame, cases[i]))) << "case " << i;
}

// --- colours ---

TEST_P(DrawCanvas, only_the_last_primitive_at_a_pixel_is_blended) {
  const HostFrame frame = gray_frame({20, 20}, 9);
  const Primitive under = primitive(Kind::filled_rectangle, 2, 2, 17, 17, 1, {{200, 0, 0}, 255}),
                  glass = primitive(Kind::filled_rectangle, 5, 5, 12, 12, 1, {{40, 0, 0}, 100}),
                  invisible = primitive(Kind::filled_rectangle, 8, 8, 19, 19, 1, {{1, 0, 0}, 0});
  const Primitives stack{under, glass, invisible};
  const HostFrame drawn = run(execution(), frame, stack);
  EXPECT_TRUE(same(drawn, definition(frame, stack)));
  EXPECT_EQ(drawn.at(0, 3, 3), 200);
  EXPECT_EQ(drawn.at(0, 6, 6), (100 * 40 + 155 * frame.at(0, 6, 6) + 127) / 255)
      << "it is blended over the picture, not over the primitives that it hides";
  EXPECT_EQ(drawn.at(0, 10, 10), frame.at(0, 10, 10)) << "an invisible primitive hides the ones below it";
  EXPECT_TRUE(same(run(execution(), frame, {glass, under}), definition(frame, {under})));
}

TEST_P(DrawCanvas, chroma_is_blended_with_the_last_primitive_in_its_cell) {
  for (const char *name : {"NV12", "NV21", "I420", "YUY2", "UYVY"})
    for (const Size size : {Size{8, 8}, Size{7, 7}})
      for (int corner = 0; corner < 4; ++corner) {
        const HostFrame frame(format_named(name), size, 10);
        const int x = 4 + (corner & 1), y = 4 + (corner >> 1);
        const Primitives two{primitive(Kind::point, x, y, 0, 0, 1, {{10, 20, 30}, 200}),
                             primitive(Kind::point, 9 - x, 9 - y, 0, 0, 1, {{90, 80, 70}, 90})};
        ASSERT_TRUE(same(run(execution(), frame, two), definition(frame, two)))
            << name << " corner " << corner;
        const Primitives reversed{two[1], two[0]};
        ASSERT_TRUE(same(run(execution(), frame, reversed), definition(frame, reversed)))
            << name << " corner " << corner;
      }
}

TEST_P(DrawCanvas, alpha_and_padding_do_not_change) {
  for (const char *name : {"RGBA", "BGRA"}) {
    const HostFrame frame(format_named(name), {33, 21}, 11);
    const HostFrame drawn = run(execution(), frame, {primitive(Kind::filled_rectangle, 0, 0, 40, 40)});
    for (int y = 0; y < 21; ++y)
      for (int x = 0; x < 33; ++x)
        ASSERT_EQ(drawn.planes[0].at(4 * x + 3, y), frame.planes[0].at(4 * x + 3, y));
  }
}

// --- lists ---

TEST_P(DrawCanvas, count_limits_the_primitives_that_are_drawn) {
  const Size size{45, 31};
  const HostFrame frame(format_named("I420"), size, 12);
  const Primitives all = random_primitives(size, 9, 13);
  for (const int count : {0, 1, 4, 8, 9, 10, 1000000, -1}) {
    const Primitives used(all.begin(), all.begin() + std::clamp(count, 0, 9));
    ASSERT_TRUE(same(run(execution(), frame, all, count), definition(frame, used))) << count;
  }
  EXPECT_TRUE(same(run(execution(), frame, all), definition(frame, all)));
}

TEST_P(DrawCanvas, empty_lists_change_nothing) {
  const HostFrame frame(format_named("NV12"), {20, 10}, 14);
  EXPECT_TRUE(same(run(execution(), frame, {}), frame));
  EXPECT_TRUE(same(run(execution(), frame, {}, 5), frame));
  EXPECT_TRUE(same(run(execution(), frame, {primitive(Kind::point, 3, 3, 0, 0, 9)}, 0), frame));
}

TEST_P(DrawCanvas, long_lists_equal_the_definition) {
  const Size size{90, 70};
  const HostFrame frame(format_named("NV12"), size, 15);
  for (const int count : {300, 1023, 1024, 1025, 2500}) {
    if (kEmulated && count != 1025) continue;
    const Primitives primitives = random_primitives(size, count, 16);
    ASSERT_TRUE(same(run(execution(), frame, primitives), definition(frame, primitives))) << count;
  }
}

// --- many frames ---

TEST_P(DrawCanvas, frames_do_not_depend_on_earlier_frames) {
  const Size size{45, 31};
  const std::unique_ptr<Canvas> canvas = canvas_of(execution(), size), other = canvas_of(execution(), size);
  unsigned seed = 20;
  for (const char *name : {"I420", "RGB", "GRAY8", "YUY2", "I420"}) {
    const HostFrame frame(format_named(name), size, seed);
    const Primitives many = random_primitives(size, 7, seed), few = random_primitives(size, 2, ++seed);
    const TestFrame first(execution(), frame, kOddPitch), second(execution(), frame, kTight),
        third(execution(), frame, kTight);
    const List many_list(execution(), many), few_list(execution(), few);
    EXPECT_TRUE(succeeds(many_list.draw(canvas.get(), first.frame())));
    EXPECT_TRUE(succeeds(few_list.draw(other.get(), third.frame())));
    EXPECT_TRUE(succeeds(few_list.draw(canvas.get(), second.frame())));
    EXPECT_TRUE(same(first.download(), definition(frame, many))) << name;
    EXPECT_TRUE(same(second.download(), definition(frame, few))) << name;
    EXPECT_TRUE(same(third.download(), definition(frame, few))) << name;
  }
}

TEST_P(DrawCanvas, primitives_are_clipped_to_the_region) {
  const Size size{45, kEmulated ? 31 : 140};
  const Primitives primitives = random_primitives(size, 20, 24);
  const List list(execution(), primitives);
  const std::unique_ptr<Canvas> canvas = canvas_of(execution(), size);
  for (const char *name : {"GRAY8", "RGB", "NV12", "YUY2"})
    for (const Region region :
         {Region{0, 0, 1, 1}, Region{7, 5, 20, 11}, Region{10, 3, 100, 200}, Region{-5, -9, 20, 20},
          Region{44, 30, 1, 1}, Region{60, 0, 5, 5}, Region{3, 3, 0, 0}}) {
      const HostFrame frame(format_named(name), size, 25);
      const TestFrame test_frame(execution(), frame, kOddPitch);
      EXPECT_TRUE(succeeds(list.draw(canvas.get(), test_frame.frame(), region)));
      EXPECT_TRUE(same(test_frame.download(), definition(frame, primitives, region)))
          << name << " " << region.x << "," << region.y << " " << region.width << "x" << region.height;
    }
}

TEST_P(DrawCanvas, frame_of_another_size_is_refused_and_stays_untouched) {
  const std::unique_ptr<Canvas> canvas = canvas_of(execution(), {20, 10});
  const List list(execution(), {primitive(Kind::filled_rectangle, 0, 0, 99, 99)});
  for (const Size size : {Size{21, 10}, Size{20, 9}, Size{10, 20}}) {
    const HostFrame pixels(format_named("NV12"), size, 21);
    const TestFrame frame(execution(), pixels, kAligned);
    EXPECT_TRUE(refused(list.draw(canvas.get(), frame.frame())));
    EXPECT_TRUE(same(frame.download(), pixels));
  }
  std::unique_ptr<Canvas> none;
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{-1, 5}, Size{16385, 5}, Size{5, 16385}})
    EXPECT_TRUE(refused(make_canvas(execution(), size, &none)));
}

TEST_P(DrawCanvas, stop_leaves_out_the_rest_of_a_long_list_alone) {
  if (execution().backend == cudavision::Backend::cpu) GTEST_SKIP() << "the CPU's workers have a flag";
  const Size size{45, 31};
  Primitives primitives(5000, primitive(Kind::point, 3, 3, 0, 0));
  primitives.push_back(primitive(Kind::filled_rectangle, 10, 10, 20, 20));
  const HostFrame frame = gray_frame(size, 26);
  const List list(execution(), primitives);
  cudavision::StopFlag stop;
  const std::unique_ptr<Canvas> canvas = canvas_of(execution(), size);
  ASSERT_TRUE(succeeds(canvas->stop_by(stop)));
  for (const bool stopped : {false, true, false}) {
    stopped ? stop.request(cudavision::StopReason::flush) : stop.withdraw(cudavision::StopReason::flush);
    const TestFrame drawn(execution(), frame, kTight);
    ASSERT_TRUE(succeeds(list.draw(canvas.get(), drawn.frame())));
    EXPECT_EQ(drawn.download().at(0, 15, 15), stopped ? frame.at(0, 15, 15) : 250) << stopped;
    EXPECT_EQ(drawn.download().at(0, 3, 3), 250)
        << "the beginning is drawn, and no id is left for the next frame";
  }
}

TEST_P(DrawCanvas, frame_takes_two_launches_and_an_empty_list_none) {
  CUDAVISION_NEEDS_EMULATION();
  const std::unique_ptr<Canvas> canvas = canvas_of(execution(), {45, 31});
  const List list(execution(), random_primitives({45, 31}, 9, 22), 5), empty(execution(), {});
  const TestFrame frame(execution(), HostFrame(format_named("NV12"), {45, 31}, 23), kAligned);
  for (int i = 0; i < 2; ++i) {
    const Budget budget;
    EXPECT_TRUE(succeeds(list.draw(canvas.get(), frame.frame())));
    budget.expect_launches_alone(2);
  }
  const Budget budget;
  EXPECT_TRUE(succeeds(empty.draw(canvas.get(), frame.frame())));
  budget.expect_launches_alone(0);
}

}  // namespace
