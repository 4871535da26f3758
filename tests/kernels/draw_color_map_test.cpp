// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares painted maps with their definition, pixel by pixel, in every pixel format and on every backend.
#include "cuda/draw/color_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::Color;
using cudavision::ColorMap;
using cudavision::Execution;
using cudavision::MapElements;
using cudavision::MapPlace;
using cudavision::paint_color_map;
using cudavision::Region;
using cudavision::Size;

class DrawColorMap : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(DrawColorMap);

ColorMap colors(int count) {
  ColorMap map;
  map.count = count;
  map.dark = {{3, 250, 7}, 255};
  for (int i = 0; i < count; ++i)
    map.colors[i] = {{static_cast<std::uint8_t>(i * 37 + 5), static_cast<std::uint8_t>(200 - i),
                      static_cast<std::uint8_t>(i * 91)},
                     0};  // alpha is ignored
  return map;
}

// A map in host memory. If the image of indices is empty, the values alone choose the colours.
struct HostMap {
  HostImage<std::uint16_t> indices;
  HostImage<float> values;
  float low = 0, high = 1;
};

HostMap indexed_map(Size size, int count, unsigned seed) {
  HostMap map{HostImage<std::uint16_t>(size), HostImage<float>(size)};
  Random random(seed);
  for (std::uint16_t &index : map.indices.pixels()) index = static_cast<std::uint16_t>(random.below(count));
  for (float &value : map.values.pixels()) value = static_cast<float>(random.below(300) - 20) / 255;
  return map;
}

HostMap valued_map(Size size, float low, float high, unsigned seed) {
  HostMap map = indexed_map(size, 1, seed);
  map.indices = {};
  map.low = low;
  map.high = high;
  for (float &value : map.values.pixels()) value = low + (high - low) * value;
  return map;
}

double inside(double value) { return value >= 1 ? 1 : value > 0 ? value : 0; }

int defined_component(const HostMap &map, const ColorMap &palette, int row, int col, int c) {
  const float value = map.values.at(col, row);
  if (map.indices.size() == Size{}) {
    const double share = inside((value - map.low) / (map.high - map.low));
    return palette.colors[static_cast<int>(std::floor(share * (palette.count - 1) + 0.5))].component[c];
  }
  const int alpha = static_cast<int>(std::floor(inside(value) * 255 + 0.5));
  return (alpha * palette.colors[map.indices.at(col, row)].component[c] +
          (255 - alpha) * palette.dark.component[c] + 127) /
         255;
}

HostFrame definition(HostFrame frame, const HostMap &map, const MapPlace &place, const ColorMap &palette) {
  const Region r = place.clip;
  for (int c = 0; c < frame.component_count(); ++c)
    for (int y = r.y + r.height - 1; y >= r.y; --y)
      // In reverse order, so that the first pixel of each chroma sample is written last.
      for (int x = r.x + r.width - 1; x >= r.x; --x) {
        if (x < place.x || y < place.y) continue;
        const int col = (x - place.x) / place.step_x, row = (y - place.y) / place.step_y;
        if (col < map.values.width() && row < map.values.height())
          frame.sample(c, x, y) = static_cast<std::uint8_t>(defined_component(map, palette, row, col, c));
      }
  return frame;
}

HostFrame run(const Execution &execution, const HostFrame &frame, const HostMap &map, const MapPlace &place,
              const ColorMap &palette) {
  const TestFrame test_frame(execution, frame, kOddPitch);
  const TestImage<float> values(execution, map.values, {"", 4, 1, 0});
  std::unique_ptr<TestImage<std::uint16_t>> indices;
  if (map.indices.size() != Size{})
    indices = std::make_unique<TestImage<std::uint16_t>>(execution, map.indices, Placement{"", 2, 1, 0});
  const MapElements elements{.rows = map.values.height(),
                             .cols = map.values.width(),
                             .indices = indices ? indices->view().data : nullptr,
                             .values = values.view().data,
                             .low = map.low,
                             .high = map.high};
  EXPECT_TRUE(succeeds(paint_color_map(execution, test_frame.frame(), elements, place, palette)));
  return test_frame.download();
}

TEST_P(DrawColorMap, every_format_place_and_step_equals_the_definition) {
  const Size size{43, 21};
  const Region all{0, 0, 43, 21};
  const MapPlace places[] = {{.clip = all},
                             {.x = 5, .y = 3, .clip = {5, 3, 20, 11}},
                             {.x = -4, .y = -2, .step_x = 3, .step_y = 2, .clip = all},
                             {.x = 7, .y = 6, .step_x = 5, .step_y = 4, .clip = {9, 1, 17, 15}},
                             {.x = 1, .y = 1, .step_x = 40, .step_y = 40, .clip = all},
                             {.x = 60, .clip = all},
                             {.x = 42, .y = 20, .clip = {42, 20, 1, 1}}};
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const MapPlace &place : places)
      for (const HostMap &map : {indexed_map({12, 9}, 7, seed), valued_map({12, 9}, -1, 2, seed),
                                 valued_map({12, 9}, 2, 0, seed)}) {
        const HostFrame frame(format, size, seed++);
        ASSERT_TRUE(
            same(run(execution(), frame, map, place, colors(7)), definition(frame, map, place, colors(7))))
            << format << " at " << place.x << "," << place.y << " seed " << seed - 1;
      }
}

TEST_P(DrawColorMap, every_number_of_colors_is_reached) {
  const HostFrame frame(pixel_formats()[1], {40, 20}, 3);
  const MapPlace place{.clip = {0, 0, 40, 20}};
  for (const int count : {1, 2, 255, 256, 360}) {
    const HostMap indexed = indexed_map({40, 20}, count, 4), valued = valued_map({40, 20}, 0, 1, 5);
    ASSERT_TRUE(same(run(execution(), frame, indexed, place, colors(count)),
                     definition(frame, indexed, place, colors(count))));
    ASSERT_TRUE(same(run(execution(), frame, valued, place, colors(count)),
                     definition(frame, valued, place, colors(count))));
  }
}

TEST_P(DrawColorMap, nan_is_the_first_color_and_infinities_are_clamped) {
  HostMap map = valued_map({4, 1}, 0, 1, 6);
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {std::numeric_limits<float>::quiet_NaN(), -infinity, infinity, 0};
  std::copy_n(values, 4, map.values.row(0));
  const HostFrame frame(pixel_formats()[0], {4, 1}, 7);
  const HostFrame out = run(execution(), frame, map, {.clip = {0, 0, 4, 1}}, colors(9));
  for (int x = 0; x < 4; ++x) EXPECT_EQ(out.at(0, x, 0), colors(9).colors[x == 2 ? 8 : 0].component[0]) << x;
}

TEST_P(DrawColorMap, invalid_arguments_are_refused) {
  const HostFrame frame(pixel_formats()[0], {10, 8}, 8);
  const TestFrame test_frame(execution(), frame, kTight);
  const TestImage<float> values(execution(), {5, 5}, kTight);
  const MapElements elements{.rows = 5, .cols = 5, .values = values.view().data};
  const MapPlace place{.clip = {0, 0, 10, 8}};
  const auto refuses = [&](MapElements e, MapPlace p, const ColorMap &map) {
    EXPECT_TRUE(refused(paint_color_map(execution(), test_frame.frame(), e, p, map)));
  };
  for (const Region clip : {Region{0, 0, 11, 8}, {0, 0, 10, 9}, {-1, 0, 3, 3}, {0, 0, 0, 3}, {9, 7, 1, 2}})
    refuses(elements, {.clip = clip}, colors(2));
  refuses({.rows = 0, .cols = 5, .values = elements.values}, place, colors(2));
  refuses({.rows = 5, .cols = 5, .values = nullptr}, place, colors(2));
  refuses({.rows = 5, .cols = 5, .values = elements.values, .low = 1, .high = 1}, place, colors(2));
  refuses(elements, {.step_x = 0, .clip = place.clip}, colors(2));
  refuses(elements, place, colors(0));
}

TEST_P(DrawColorMap, takes_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const HostFrame frame(pixel_formats()[5], {40, 20}, 9);
  const TestFrame test_frame(execution(), frame, kTight);
  const TestImage<float> values(execution(), HostImage<float>({40, 20}), kTight);
  const Budget budget;
  ASSERT_TRUE(succeeds(paint_color_map(execution(), test_frame.frame(),
                                       {.rows = 20, .cols = 40, .values = values.view().data},
                                       {.clip = {0, 0, 40, 20}}, colors(9))));
  budget.expect_launches_alone(1);
  finish(execution());
  EXPECT_EQ(budget.spent().global_atomics, 0u);
}

}  // namespace
