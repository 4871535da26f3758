// SPDX-License-Identifier: LGPL-2.1-or-later
// The display of optical flow as colours and as arrows, on every backend and in every format.
#include "cuda/opticalflow/flow_display.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/opticalflow_definition.h"
#include "tests/support/budget.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::arrow_grid;
using cudavision::arrow_line_count;
using cudavision::Color;
using cudavision::draw_flow_wheel;
using cudavision::Execution;
using cudavision::flow_size;
using cudavision::FlowArrows;
using cudavision::FlowOnFrame;
using cudavision::FlowVector;
using cudavision::FlowWheel;
using cudavision::kArrowLines;
using cudavision::make_flow_arrows;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;

class FlowDisplay : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(FlowDisplay);

FlowArrows one_colored(float scale, int line_width, Color color) {
  FlowArrows arrows{.scale = scale, .line_width = line_width};
  std::fill_n(arrows.colors, 6, color);
  return arrows;
}

// A wheel from red to magenta in R, G, B. The algorithm does not depend on the components of the frame.
FlowWheel rgb_wheel(float max_speed = 8) {
  FlowWheel wheel;
  const std::uint8_t corners[6][3] = {{255, 0, 0},   {255, 255, 0}, {0, 255, 0},
                                      {0, 255, 255}, {0, 0, 255},   {255, 0, 255}};
  for (int i = 0; i < 6; ++i) wheel.corners[i] = {{corners[i][0], corners[i][1], corners[i][2]}, 255};
  wheel.ring = {{250, 240, 230}, 255};
  wheel.black = {{10, 20, 30}, 255};
  wheel.max_speed = max_speed;
  return wheel;
}

// Vectors of all directions, up to 20 pixels long; some are invalid and some are zero.
Flow some_flow(Size size, unsigned seed) {
  Random random(seed);
  Flow flow{HostImage<float>({2 * size.width, size.height}), Picture(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      flow.valid.at(x, y) = random.below(8) != 0;
      if (random.below(8) == 0) continue;
      const double angle = random.below(10000) * 6.2832e-4, speed = random.below(2000) / 100.0;
      flow.xy.at(2 * x, y) = static_cast<float>(speed * std::cos(angle));
      flow.xy.at(2 * x + 1, y) = static_cast<float>(speed * std::sin(angle));
    }
  return flow;
}

// A flow in the backend's memory.
class PlacedFlow {
 public:
  PlacedFlow(const Execution &execution, const Flow &flow, int stride, Region region)
      : xy_(execution, flow.xy, kFlowPlacements[1]),
        valid_(execution, flow.valid, kMisalignedOddPitch),
        stride_(stride),
        region_(region) {}
  FlowOnFrame on_frame() const { return {Estimator::view_of(xy_), valid_.view(), stride_, region_}; }

 private:
  TestImage<float> xy_;
  TestImage<std::uint8_t> valid_;
  int stride_;
  Region region_;
};

// --- colours ---

// Component i of the colour of a vector over a dimmed picture, with the hue by atan2, in double precision.
double defined_color(FlowVector d, const FlowWheel &wheel, int i, double dimmed) {
  double hue = std::atan2(double{d.y}, double{d.x}) * 6 / (2 * std::acos(-1.0));
  if (hue < 0) hue += 6;
  const int sector = static_cast<int>(hue) % 6;
  const double from = wheel.corners[sector].component[i], to = wheel.corners[(sector + 1) % 6].component[i];
  const double pure = from + (to - from) * (hue - std::floor(hue));
  const double saturation = std::min(1.0, std::hypot(double{d.x}, double{d.y}) / double{wheel.max_speed});
  return dimmed + (pure - dimmed) * saturation;
}

double defined_dimmed(const FlowWheel &wheel, int i, double picture, double share) {
  return wheel.black.component[i] + (picture - wheel.black.component[i]) * share;
}

// Expects that every sample of the region has the colour of the first of its pixels in the region, and that
// all other bytes are unchanged.
void expect_wheel(const HostFrame &actual, HostFrame before, const Flow &flow, int stride, Region region,
                  const FlowWheel &wheel) {
  for (int c = 0; c < before.component_count(); ++c) {
    const cudavision::PixelLayout::Place &place = before.format->layout.place[c];
    for (int y = region.y + region.height - 1; y >= region.y; --y)
      for (int x = region.x + region.width - 1; x >= region.x; --x) {
        const bool first_x = x == region.x || x >> place.shift_x != (x - 1) >> place.shift_x;
        const bool first_y = y == region.y || y >> place.shift_y != (y - 1) >> place.shift_y;
        if (!first_x || !first_y) continue;
        const int column = (x - region.x) / stride, row = (y - region.y) / stride;
        const double picture = before.at(c, x, y);
        const double expected =
            flow.valid.at(column, row) != 0
                ? defined_color(flow.at(column, row), wheel, c, defined_dimmed(wheel, c, picture, 0.5))
                : defined_dimmed(wheel, c, picture, 0.25);
        ASSERT_NEAR(actual.at(c, x, y), expected, 0.51) << "component " << c << " at " << x << ", " << y;
        before.sample(c, x, y) = static_cast<std::uint8_t>(actual.at(c, x, y));
      }
  }
  EXPECT_TRUE(same(actual, before)) << "every other byte stays";
}

TEST_P(FlowDisplay, wheel_in_every_format_and_region_equals_the_definition) {
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const Region region :
         {Region{0, 0, 41, 23}, Region{3, 5, 30, 17}, Region{1, 1, 1, 1}, Region{40, 2, 1, 21}})
      for (const int stride : {1, 4}) {
        SCOPED_TRACE(::testing::Message() << format << " region " << region.x << "," << region.y << " "
                                          << region.width << "x" << region.height << " stride " << stride);
        const HostFrame before(format, {41, 23}, seed);
        const Flow flow = some_flow(flow_size({region.width, region.height}, stride), seed++);
        const TestFrame frame(execution(), before, kPlacements[seed % 5]);
        const PlacedFlow placed(execution(), flow, stride, region);
        ASSERT_TRUE(succeeds(draw_flow_wheel(execution(), frame.frame(), placed.on_frame(), rgb_wheel())));
        expect_wheel(frame.download(), before, flow, stride, region, rgb_wheel());
      }
}

TEST_P(FlowDisplay, directions_have_the_colours_of_the_wheel) {
  const float h = std::sqrt(3.0f) / 2;
  const struct {
    FlowVector d;
    int r, g, b;
  } cases[] = {{{8, 0}, 255, 0, 0},       {{4, 8 * h}, 255, 255, 0},  {{-4, 8 * h}, 0, 255, 0},
               {{-8, 0}, 0, 255, 255},    {{-4, -8 * h}, 0, 0, 255},  {{4, -8 * h}, 255, 0, 255},
               {{0, 8}, 128, 255, 0},     {{0, -8}, 128, 0, 255},     {{0, 0}, 100, 50, 10},
               {{4, 0}, 178, 25, 5},      {{100, 0}, 255, 0, 0},      {{1e15f, 0}, 255, 0, 0},
               {{8, -1e-30f}, 255, 0, 0}, {{-1e-20f, 0}, 100, 50, 10}};
  for (const auto &c : cases) {
    Flow flow{HostImage<float>({2, 1}), constant({1, 1}, 1)};
    flow.xy.at(0, 0) = c.d.x, flow.xy.at(1, 0) = c.d.y;
    HostFrame picture(pixel_formats()[1], {1, 1}, 3);
    picture.sample(0, 0, 0) = 200, picture.sample(1, 0, 0) = 100, picture.sample(2, 0, 0) = 20;
    const TestFrame frame(execution(), picture, kTight);
    const PlacedFlow placed(execution(), flow, 1, {0, 0, 1, 1});
    FlowWheel wheel = rgb_wheel();
    wheel.black = {{0, 0, 0}, 255};
    ASSERT_TRUE(succeeds(draw_flow_wheel(execution(), frame.frame(), placed.on_frame(), wheel)));
    const HostFrame colour = frame.download();
    EXPECT_NEAR(colour.at(0, 0, 0), c.r, 1) << c.d.x << ", " << c.d.y;
    EXPECT_NEAR(colour.at(1, 0, 0), c.g, 1) << c.d.x << ", " << c.d.y;
    EXPECT_NEAR(colour.at(2, 0, 0), c.b, 1) << c.d.x << ", " << c.d.y;
  }
}

TEST_P(FlowDisplay, legend_shows_each_vector_at_its_place) {
  const Region region{3, 2, 60, 50};
  Flow flow{HostImage<float>({2 * 60, 50}), constant({60, 50}, 1)};  // nothing moves
  flow.valid.at(20, 20) = 0;                                         // under the legend
  FlowWheel wheel = rgb_wheel(5);
  wheel.legend_radius = 16;
  const HostFrame before(pixel_formats()[1], {70, 60}, 9);
  const TestFrame frame(execution(), before, kOddPitch);
  const PlacedFlow placed(execution(), flow, 1, region);
  ASSERT_TRUE(succeeds(draw_flow_wheel(execution(), frame.frame(), placed.on_frame(), wheel)));
  const HostFrame actual = frame.download();
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 60; ++x) {
      // the centre is 1 + 16 / 4 + 16 pixels from the corner, and the ring is a pixel wide
      const int dx = x - 21, dy = y - 21, square = dx * dx + dy * dy;
      const FlowVector d = square <= 256
                               ? FlowVector{static_cast<float>(dx) * 5 / 16, static_cast<float>(dy) * 5 / 16}
                               : FlowVector{0, 0};
      for (int c = 0; c < 3; ++c) {
        const double dimmed = defined_dimmed(wheel, c, before.at(c, 3 + x, 2 + y), 0.5);
        const double expected =
            square > 256 && square <= 289 ? wheel.ring.component[c] : defined_color(d, wheel, c, dimmed);
        ASSERT_NEAR(actual.at(c, 3 + x, 2 + y), expected, 0.51) << c << " at " << x << ", " << y;
      }
    }
}

TEST(FlowLegend, grows_with_the_region) {
  EXPECT_EQ(cudavision::legend_radius_for({119, 400}), 0);
  EXPECT_EQ(cudavision::legend_radius_for({320, 240}), 17);
  EXPECT_EQ(cudavision::legend_radius_for({1920, 1080}), 77);
}

TEST_P(FlowDisplay, both_backends_write_the_same_bytes) {
  if (GetParam().backend == cudavision::Backend::cpu)
    GTEST_SKIP() << "the CUDA backend is compared with this one";
  const ExecutionOwner cpu({"cpu", cudavision::Backend::cpu, 2});
  const Flow flow = some_flow({121, 90}, 7);
  const Region region{2, 1, 121, 90};
  HostFrame frames[2] = {{pixel_formats()[7], {125, 93}, 8}, {pixel_formats()[7], {125, 93}, 8}};
  const Execution executions[2] = {execution(), cpu.execution()};
  std::vector<std::uint8_t> arrows[2];
  for (int i = 0; i < 2; ++i) {
    const TestFrame frame(executions[i], frames[i], kOddPitch);
    const PlacedFlow placed(executions[i], flow, 1, region);
    FlowWheel wheel = rgb_wheel(12);
    wheel.legend_radius = 20;
    ASSERT_TRUE(succeeds(draw_flow_wheel(executions[i], frame.frame(), placed.on_frame(), wheel)));
    frames[i] = frame.download();
    const Memory lines(executions[i],
                       static_cast<std::size_t>(arrow_line_count({121, 90})) * sizeof(Primitive));
    ASSERT_TRUE(
        succeeds(make_flow_arrows(executions[i], placed.on_frame(), one_colored(3.5f, 2, {{9, 8, 7}, 6}),
                                  reinterpret_cast<Primitive *>(lines.data()))));
    arrows[i] = lines.read();
  }
  EXPECT_TRUE(same(frames[0], frames[1]));
  EXPECT_EQ(arrows[0], arrows[1]);
}

// --- arrows ---

// The mean, in double precision, of the valid ones of 8x8 vectors of a cell; zero if fewer than half are valid.
std::pair<double, double> defined_mean(const Flow &flow, int stride, Size region, int column, int row) {
  const int spacing = cudavision::arrow_spacing(region);
  double x_sum = 0, y_sum = 0;
  int seen = 0, valid = 0;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) {
      // the middles of 8x8 equal parts of the cell
      const int x = column * spacing + static_cast<int>((i + 0.5) * spacing / 8),
                y = row * spacing + static_cast<int>((j + 0.5) * spacing / 8);
      if (x >= region.width || y >= region.height) continue;
      ++seen;
      if (flow.valid.at(x / stride, y / stride) == 0) continue;
      ++valid;
      x_sum += double{flow.at(x / stride, y / stride).x}, y_sum += double{flow.at(x / stride, y / stride).y};
    }
  if (2 * valid < seen || valid == 0) return {0, 0};
  return {x_sum / valid, y_sum / valid};
}

std::vector<Primitive> arrows_of(const Execution &execution, const Flow &flow, int stride, Region region,
                                 const FlowArrows &arrows) {
  const auto count = static_cast<std::size_t>(arrow_line_count({region.width, region.height}));
  const PlacedFlow placed(execution, flow, stride, region);
  const Memory memory(execution, (count + 1) * sizeof(Primitive));
  EXPECT_TRUE(succeeds(
      make_flow_arrows(execution, placed.on_frame(), arrows, reinterpret_cast<Primitive *>(memory.data()))));
  const std::vector<std::uint8_t> bytes = memory.read(count * sizeof(Primitive));
  std::vector<Primitive> lines(count);
  if (count > 0) std::memcpy(lines.data(), bytes.data(), count * sizeof(Primitive));
  return lines;
}

bool is_hidden(const Primitive &p) { return p.kind == Primitive::Kind::point && p.x0 == -1 && p.y0 == -1; }

TEST_P(FlowDisplay, arrows_start_on_their_grid_and_end_where_the_scaled_vector_does) {
  const Region region{5, 3, 150, 90};
  for (const int stride : {1, 2, 8}) {
    const Flow flow = some_flow(flow_size({150, 90}, stride), 20);
    const FlowArrows arrows = one_colored(2.5f, 3, {{1, 2, 3}, 200});
    const std::vector<Primitive> lines = arrows_of(execution(), flow, stride, region, arrows);
    const Size grid = arrow_grid({150, 90});
    EXPECT_EQ(grid, (Size{9, 6}));
    int shown = 0;
    for (int i = 0; i < grid.width * grid.height; ++i) {
      const int px = 8 + i % grid.width * 16, py = 8 + i / grid.width * 16;
      const auto [mean_x, mean_y] = defined_mean(flow, stride, {150, 90}, i % grid.width, i / grid.width);
      const double speed = std::hypot(mean_x, mean_y), shown_share = std::min(1.0, 16 / (2.5 * speed));
      const struct { double x, y; } d{mean_x * shown_share, mean_y * shown_share};
      const bool moves = speed >= 0.5;
      const Primitive *line = &lines[static_cast<std::size_t>(i * kArrowLines)];
      for (int k = 0; k < kArrowLines; ++k) EXPECT_EQ(is_hidden(line[k]), !moves) << i;
      if (!moves) continue;
      ++shown;
      const auto within = [](double v, int first, int count) {
        return std::min(std::max(v, first + 1.0), first + count - 2.0);  // a line of 3 pixels
      };
      EXPECT_EQ(line[0].x0, region.x + px);
      EXPECT_EQ(line[0].y0, region.y + py);
      for (int k = 0; k < kArrowLines; ++k) {
        EXPECT_EQ(line[k].kind, Primitive::Kind::line);
        EXPECT_EQ(line[k].line_width, 3);
        EXPECT_EQ(line[k].color, arrows.colors[0]);
        EXPECT_NEAR(line[k].x1, within(region.x + px + 2.5 * d.x, region.x, region.width), 0.51);
        EXPECT_NEAR(line[k].y1, within(region.y + py + 2.5 * d.y, region.y, region.height), 0.51);
        const double turn = k == 1 ? 0.5 : -0.5;
        if (k == 0) continue;
        EXPECT_NEAR(line[k].x0,
                    within(region.x + px + 2.5 * (d.x - 0.3 * (d.x - turn * d.y)), region.x, region.width),
                    0.51);
        EXPECT_NEAR(line[k].y0,
                    within(region.y + py + 2.5 * (d.y - 0.3 * (d.y + turn * d.x)), region.y, region.height),
                    0.51);
      }
    }
    EXPECT_GT(shown, 20);
  }
}

TEST_P(FlowDisplay, cells_grow_with_the_region) {
  EXPECT_EQ(cudavision::arrow_spacing({400, 300}), 16);
  EXPECT_EQ(cudavision::arrow_spacing({1920, 1080}), 33);
  const Size size{800, 740};  // cells of 23 pixels
  const Flow flow = some_flow(size, 26);
  const std::vector<Primitive> lines =
      arrows_of(execution(), flow, 1, {0, 0, 800, 740}, one_colored(1, 1, {}));
  const Size grid = arrow_grid(size);
  int shown = 0;
  for (int i = 0; i < grid.width * grid.height; ++i) {
    const auto [x, y] = defined_mean(flow, 1, size, i % grid.width, i / grid.width);
    const Primitive &shaft = lines[static_cast<std::size_t>(i * kArrowLines)];
    if (std::abs(std::hypot(x, y) - 0.5) < 1e-3) continue;  // rounding decides
    ASSERT_EQ(is_hidden(shaft), std::hypot(x, y) < 0.5) << i;
    if (is_hidden(shaft)) continue;
    ++shown;
    EXPECT_NEAR(shaft.x1 - shaft.x0, x, 0.51) << i;
    EXPECT_NEAR(shaft.y1 - shaft.y0, y, 0.51) << i;
  }
  EXPECT_GT(shown, 300);
}

TEST_P(FlowDisplay, arrows_have_the_colour_of_their_direction) {
  const Region region{0, 0, 16, 16};
  FlowArrows arrows;
  std::copy_n(rgb_wheel().corners, 6, arrows.colors);
  const float h = std::sqrt(3.0f) / 2;
  const struct {
    FlowVector d;
    int r, g, b;
  } cases[] = {{{1, 0}, 255, 0, 0},    {{0, 3}, 128, 255, 0},     {{-9, 0}, 0, 255, 255},
               {{0, -2}, 128, 0, 255}, {{-1, -2 * h}, 0, 0, 255}, {{0.5f, h}, 255, 255, 0}};
  for (const auto &c : cases) {
    Flow flow{HostImage<float>({32, 16}), constant({16, 16}, 1)};
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) flow.xy.at(2 * x, y) = c.d.x, flow.xy.at(2 * x + 1, y) = c.d.y;
    for (const Primitive &line : arrows_of(execution(), flow, 1, region, arrows)) {
      EXPECT_NEAR(line.color.component[0], c.r, 1) << c.d.x << ", " << c.d.y;
      EXPECT_NEAR(line.color.component[1], c.g, 1) << c.d.x << ", " << c.d.y;
      EXPECT_NEAR(line.color.component[2], c.b, 1) << c.d.x << ", " << c.d.y;
      EXPECT_EQ(line.color.alpha, 255);
    }
  }
}

TEST_P(FlowDisplay, arrows_stay_within_every_region) {
  for (const Size size : {Size{1, 1}, Size{8, 8}, Size{9, 9}, Size{200, 9}, Size{9, 40}, Size{25, 24}})
    for (const int width : {1, 2, 9, 255}) {
      Flow flow = some_flow(size, 21);
      for (float &v : flow.xy.pixels()) v = v < 0 ? -1e14f : 1e14f;
      const Region region{2, 7, size.width, size.height};
      for (const Primitive &line : arrows_of(execution(), flow, 1, region, one_colored(100, width, {}))) {
        if (is_hidden(line)) continue;
        EXPECT_LE(width, std::min(size.width, size.height));
        for (const auto &[x, y] : {std::pair{line.x0, line.y0}, {line.x1, line.y1}}) {
          EXPECT_GE(x - (width - 1) / 2, region.x);
          EXPECT_GE(y - (width - 1) / 2, region.y);
          EXPECT_LT(x + width / 2, region.x + region.width);
          EXPECT_LT(y + width / 2, region.y + region.height);
        }
      }
    }
}

// --- errors and costs ---

TEST_P(FlowDisplay, sizes_that_do_not_match_are_refused) {
  const HostFrame before(pixel_formats()[1], {20, 10}, 22);
  const TestFrame frame(execution(), before, kTight);
  const Flow flow = some_flow({20, 10}, 23);
  const auto draw = [&](Region region, int stride, float max_speed) {
    const PlacedFlow placed(execution(), flow, stride, region);
    return draw_flow_wheel(execution(), frame.frame(), placed.on_frame(), rgb_wheel(max_speed));
  };
  EXPECT_TRUE(refused(draw({1, 0, 20, 10}, 1, 8)));
  EXPECT_TRUE(refused(draw({0, -1, 20, 10}, 1, 8)));
  EXPECT_TRUE(refused(draw({0, 0, 20, 10}, 2, 8)));
  EXPECT_TRUE(refused(draw({0, 0, 20, 9}, 1, 8)));
  for (const float speed : {0.0f, -1.0f, std::nanf(""), HUGE_VALF})
    EXPECT_TRUE(refused(draw({0, 0, 20, 10}, 1, speed)));
  const PlacedFlow placed(execution(), flow, 2, {0, 0, 20, 10});
  EXPECT_TRUE(refused(make_flow_arrows(execution(), placed.on_frame(), {}, nullptr)));
  EXPECT_TRUE(same(frame.download(), before));
}

TEST_P(FlowDisplay, each_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const TestFrame frame(execution(), HostFrame(pixel_formats()[5], {90, 50}, 24), kTight);
  const PlacedFlow placed(execution(), some_flow({90, 50}, 25), 1, {0, 0, 90, 50});
  const Memory memory(execution(), static_cast<std::size_t>(arrow_line_count({90, 50})) * sizeof(Primitive));
  finish(execution());
  const Budget budget;
  EXPECT_TRUE(succeeds(draw_flow_wheel(execution(), frame.frame(), placed.on_frame(), rgb_wheel())));
  EXPECT_TRUE(succeeds(
      make_flow_arrows(execution(), placed.on_frame(), {}, reinterpret_cast<Primitive *>(memory.data()))));
  budget.expect_launches_alone(2);
  finish(execution());
}

}  // namespace
