// SPDX-License-Identifier: LGPL-2.1-or-later
// The plot of a histogram: the position of its panels and bars, on every backend and for frames of many sizes.
#include "cuda/histogram/plot_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/memory.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;
using cudavision::Backend;
using cudavision::Execution;
using cudavision::HistogramPlot;
using cudavision::place_plot;
using cudavision::plot_histogram;
using cudavision::plot_size;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;
using cudavision::Workers;

class HistogramPlotting : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(HistogramPlotting);

using Counts = std::vector<std::uint32_t>;  // [channels][bins]
static_assert(sizeof(Primitive) == 14, "primitives are compared as bytes: no padding");

constexpr Size kSizes[] = {{1, 1},      {1, 2},       {2, 3},       {1, 50},      {50, 1},
                           {1, 2000},   {2000, 1},    {7, 5},       {20, 20},     {64, 48},
                           {160, 120},  {320, 240},   {321, 241},   {640, 480},   {720, 576},
                           {1280, 720}, {1920, 1080}, {3840, 2160}, {2160, 3840}, {16384, 16384}};

HistogramPlot coloured(HistogramPlot plot) {
  plot.background = {{1, 2, 3}, 160};
  plot.outline = {{4, 5, 6}, 255};
  for (int i = 0; i < 3; ++i) plot.bars[i] = {{7, 8, static_cast<std::uint8_t>(i)}, 255};
  return plot;
}

std::vector<std::uint8_t> as_bytes(const void *data, std::size_t size) {
  const auto *first = static_cast<const std::uint8_t *>(data);
  return {first, first + size};
}

std::vector<Primitive> run(const Execution &execution, const Counts &counts, int channels,
                           const HistogramPlot &plot) {
  const int bins = static_cast<int>(counts.size()) / channels;
  const auto size = static_cast<std::size_t>(plot_size(channels, bins));
  Memory count_memory(execution, counts.size() * sizeof(std::uint32_t)),
      memory(execution, size * sizeof(Primitive));
  count_memory.write(as_bytes(counts.data(), count_memory.count()));
  memory.write(std::vector<std::uint8_t>(memory.count(), 0xee));
  EXPECT_TRUE(succeeds(plot_histogram(execution, reinterpret_cast<const std::uint32_t *>(count_memory.data()),
                                      channels, bins, plot, reinterpret_cast<Primitive *>(memory.data()))));
  const std::vector<std::uint8_t> bytes = memory.read();
  std::vector<Primitive> primitives(size);
  std::memcpy(primitives.data(), bytes.data(), bytes.size());
  return primitives;
}

// Random large and small counts; about every fifth one is 0.
Counts some_counts(int channels, int bins, unsigned seed) {
  Random random(seed);
  Counts counts(static_cast<std::size_t>(channels * bins));
  for (std::uint32_t &count : counts)
    count =
        random.below(5) == 0 ? 0 : static_cast<std::uint32_t>(1 + random.below(1 << (1 + random.below(28))));
  return counts;
}

// The bounding box of a primitive, including its line width.
Region box_of(const Primitive &p) {
  const bool filled = p.kind == Primitive::Kind::filled_rectangle;
  const int before = filled ? 0 : (p.line_width - 1) / 2, after = filled ? 0 : p.line_width / 2;
  const int x0 = std::min(p.x0, p.x1) - before, y0 = std::min(p.y0, p.y1) - before;
  return {x0, y0, std::max(p.x0, p.x1) + after - x0 + 1, std::max(p.y0, p.y1) + after - y0 + 1};
}

// Whether this is the hidden primitive, which stands for an empty bin.
bool draws_nothing(const Primitive &p) {
  return p.kind == Primitive::Kind::point && p.line_width == 1 && p.x0 == -1 && p.y0 == -1;
}

bool lies_in(Region inner, Region outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

std::string to_string(Region r) {
  return std::to_string(r.x) + "," + std::to_string(r.y) + " " + std::to_string(r.width) + "x" +
         std::to_string(r.height);
}

// --- place of the plot ---

TEST(HistogramPlotPlace, lies_at_the_lower_left_of_the_region) {
  for (const Size size : kSizes)
    for (const int channels : {1, 2, 3})
      for (const Region region :
           {Region{0, 0, size.width, size.height}, Region{11, 7, size.width, size.height}}) {
        const HistogramPlot plot = place_plot(region, channels);
        EXPECT_TRUE(lies_in(plot.area, region)) << to_string(plot.area) << " in " << to_string(region);
        EXPECT_GE(plot.area.width, 1);
        EXPECT_GE(plot.area.height, 1);
        EXPECT_LE(2 * (plot.area.x - region.x), region.width);
        EXPECT_GE(plot.line_width, 1);
      }
}

TEST(HistogramPlotPlace, is_legible_at_320x240_and_grows_with_the_frame) {
  for (const int channels : {1, 3}) {
    const HistogramPlot small = place_plot({0, 0, 320, 240}, channels);
    EXPECT_GE(small.area.width - 2 * small.line_width, 256) << "one column per bin";
    EXPECT_GE(small.area.height / channels, 48);
    const HistogramPlot large = place_plot({0, 0, 3840, 2160}, channels);
    EXPECT_NEAR(large.area.width, 3840 * 2 / 5, 2);
    EXPECT_NEAR(large.area.height, 2160 / 3, 2);
    EXPECT_EQ(large.line_width, 3);
  }
}

// --- panels and bars ---

void expect_panel(const Primitive *panel, Region region, Region area, int channel, int channels) {
  EXPECT_EQ(panel[0].color, (coloured({}).background));
  EXPECT_EQ(panel[1].color, (coloured({}).outline));
  if (draws_nothing(panel[0])) {
    EXPECT_TRUE(draws_nothing(panel[1]));
    EXPECT_LT(area.height, channels) << "a panel is hidden although there is space for it";
    return;
  }
  EXPECT_EQ(panel[0].kind, Primitive::Kind::filled_rectangle);
  EXPECT_EQ(panel[1].kind, Primitive::Kind::rectangle);
  EXPECT_TRUE(lies_in(box_of(panel[0]), area)) << to_string(box_of(panel[0]));
  EXPECT_EQ(box_of(panel[1]), box_of(panel[0]))
      << to_string(box_of(panel[1])) << ", " << to_string(box_of(panel[0]));
  EXPECT_TRUE(lies_in(area, region));
  EXPECT_EQ(box_of(panel[0]).width, area.width);
  EXPECT_NEAR(box_of(panel[0]).height, area.height / channels, 1);
  EXPECT_NEAR(box_of(panel[0]).y, area.y + area.height * channel / channels, 1);
}

// The part of a panel inside its outline.
Region interior_of(const Primitive *panel) {
  const Region box = box_of(panel[0]);
  const int line = panel[1].line_width;
  return {box.x + line, box.y + line, box.width - 2 * line, box.height - 2 * line};
}

void expect_bars(const Primitive *bars, Region interior, const std::uint32_t *counts, int bins, int channel) {
  const std::uint32_t largest = *std::max_element(counts, counts + bins);
  int right = interior.x;  // where the previous bar ends
  for (int b = 0; b < bins; ++b) {
    SCOPED_TRACE("bin " + std::to_string(b));
    if (counts[b] == 0 || interior.width < 1 || interior.height < 1) {
      ASSERT_TRUE(draws_nothing(bars[b]));
      continue;
    }
    const Region bar = box_of(bars[b]);
    ASSERT_EQ(bars[b].kind, Primitive::Kind::filled_rectangle);
    ASSERT_EQ(bars[b].color, coloured({}).bars[channel]);
    ASSERT_TRUE(lies_in(bar, interior)) << to_string(bar) << " in " << to_string(interior);
    ASSERT_EQ(bar.y + bar.height, interior.y + interior.height) << "a bar ends at the bottom of the panel";
    const double exact = static_cast<double>(counts[b]) * interior.height / largest;
    ASSERT_GE(bar.height, exact - 1e-6);
    ASSERT_LT(bar.height, exact + 1);
    ASSERT_TRUE(counts[b] != largest || bar.height == interior.height)
        << "the bar of the largest count fills the panel";
    ASSERT_TRUE(interior.width < bins || bar.x >= right) << "bars overlap";
    ASSERT_NEAR(bar.x, interior.x + static_cast<double>(interior.width) * b / bins, 1);
    ASSERT_LE(bar.width, interior.width / bins + 1);
    right = bar.x + bar.width;
  }
}

TEST_P(HistogramPlotting, bars_lie_in_their_panels_in_every_size) {
  unsigned seed = 1;
  for (const Size size : kSizes)
    for (const int channels : {1, 2, 3})
      for (const int bins : {1, 2, 16, 100, 256}) {
        const Region region{9, 5, size.width, size.height};
        const HistogramPlot plot = coloured(place_plot(region, channels));
        const Counts counts = some_counts(channels, bins, seed++);
        const std::vector<Primitive> primitives = run(execution(), counts, channels, plot);
        for (int c = 0; c < channels; ++c) {
          SCOPED_TRACE(::testing::Message()
                       << size.width << "x" << size.height << ", channel " << c << " of " << channels << ", "
                       << bins << " bins, area " << to_string(plot.area));
          const Primitive *panel = primitives.data() + c * (2 + bins);
          expect_panel(panel, region, plot.area, c, channels);
          const Region interior = draws_nothing(panel[0]) ? Region{} : interior_of(panel);
          expect_bars(panel + 2, interior, counts.data() + c * bins, bins, c);
          if (HasFatalFailure() || HasNonfatalFailure()) return;
        }
      }
}

TEST_P(HistogramPlotting, panels_do_not_overlap) {
  for (const Size size : kSizes) {
    const HistogramPlot plot = coloured(place_plot({0, 0, size.width, size.height}, 3));
    const std::vector<Primitive> primitives = run(execution(), Counts(3 * 4, 5), 3, plot);
    int bottom = plot.area.y;
    for (std::size_t c = 0; c < 3; ++c) {
      const Primitive &panel = primitives[c * 6];
      if (draws_nothing(panel)) continue;
      EXPECT_EQ(box_of(panel).y, bottom) << size.width << "x" << size.height;
      bottom = box_of(panel).y + box_of(panel).height;
    }
    EXPECT_EQ(bottom, plot.area.y + plot.area.height);
  }
}

TEST_P(HistogramPlotting, empty_histogram_has_panels_without_bars) {
  for (const int channels : {1, 3}) {
    const HistogramPlot plot = coloured(place_plot({0, 0, 320, 240}, channels));
    const std::vector<Primitive> primitives =
        run(execution(), Counts(static_cast<std::size_t>(channels) * 16, 0), channels, plot);
    for (std::size_t i = 0; i < primitives.size(); ++i)
      EXPECT_EQ(draws_nothing(primitives[i]), i % 18 >= 2) << i;
  }
}

TEST_P(HistogramPlotting, largest_counts_do_not_overflow) {
  const HistogramPlot plot = coloured(place_plot({0, 0, 3840, 2160}, 1));
  const Counts counts{0xffffffffu, 0x80000000u, 1, 0};
  const std::vector<Primitive> primitives = run(execution(), counts, 1, plot);
  const Region interior = interior_of(primitives.data());
  EXPECT_EQ(box_of(primitives[2]).height, interior.height);
  EXPECT_NEAR(box_of(primitives[3]).height, interior.height / 2, 1);
  EXPECT_EQ(box_of(primitives[4]).height, 1) << "a nonempty bin is visible";
  EXPECT_TRUE(draws_nothing(primitives[5]));
}

// Every backend and every order of threads gives the same bytes.
TEST_P(HistogramPlotting, primitives_equal_those_of_the_cpu) {
  const Workers workers(1);
  const Execution cpu{Backend::cpu, &workers, nullptr};
  unsigned seed = 50;
  for (const Size size : {Size{1, 1}, Size{3, 2}, Size{320, 240}, Size{1921, 1081}, Size{3840, 2160}})
    for (const int channels : {1, 2, 3})
      for (const int bins : {1, 7, 255, 256}) {
        const HistogramPlot plot = coloured(place_plot({3, 2, size.width, size.height}, channels));
        const Counts counts = some_counts(channels, bins, seed++);
        const std::vector<Primitive> ours = run(execution(), counts, channels, plot),
                                     expected = run(cpu, counts, channels, plot);
        ASSERT_EQ(std::memcmp(ours.data(), expected.data(), ours.size() * sizeof(Primitive)), 0)
            << size.width << "x" << size.height << ", " << channels << " channels of " << bins;
      }
}

TEST_P(HistogramPlotting, invalid_numbers_of_channels_or_bins_are_refused) {
  for (const auto &[channels, bins] : {std::pair{0, 256}, {4, 256}, {1, 0}, {1, 257}, {-1, 5}})
    EXPECT_TRUE(refused(plot_histogram(execution(), nullptr, channels, bins, {}, nullptr)))
        << channels << " " << bins;
}

TEST_P(HistogramPlotting, plot_takes_one_launch_without_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  Memory counts(execution(), 3 * 256 * sizeof(std::uint32_t)),
      primitives(execution(), 3 * 258 * sizeof(Primitive));
  counts.write(std::vector<std::uint8_t>(counts.count(), 1));
  const Budget budget;
  EXPECT_TRUE(succeeds(plot_histogram(execution(), reinterpret_cast<const std::uint32_t *>(counts.data()), 3,
                                      256, coloured(place_plot({0, 0, 320, 240}, 3)),
                                      reinterpret_cast<Primitive *>(primitives.data()))));
  budget.expect_launches_alone(1);
  finish(execution());
  EXPECT_EQ(budget.spent().global_atomics, 0u);
}

// --- labels ---

TEST(PlotLabels, lie_within_their_panel) {
  for (const int channels : {1, 3})
    for (const Region region : {Region{0, 0, 320, 240}, Region{7, 5, 1920, 1080}, Region{0, 0, 3840, 2160}}) {
      const HistogramPlot plot = coloured(place_plot(region, channels));
      const std::vector<Primitive> labels = cudavision::plot_labels(plot, channels, "RGB", {});
      // Three marks, three backgrounds, and the characters of "0", a name and "255" for each channel.
      EXPECT_EQ(labels.size(), static_cast<std::size_t>(11 * channels));
      for (const Primitive &p : labels) {
        const bool is_character = p.kind == Primitive::Kind::character;
        EXPECT_GE(p.x0, plot.area.x);
        EXPECT_GE(p.y0, plot.area.y);
        EXPECT_LT(is_character ? p.x0 + 5 * p.line_width - 1 : p.x1, plot.area.x + plot.area.width);
        EXPECT_LT(is_character ? p.y0 + 7 * p.line_width - 1 : p.y1, plot.area.y + plot.area.height);
      }
    }
}

TEST(PlotLabels, say_the_range) {
  const HistogramPlot plot = coloured(place_plot({0, 0, 640, 480}, 1));
  const auto labels = [&](int low, int high) {
    cudavision::HistogramParams params;
    params.range_min = low, params.range_max = high;
    return cudavision::plot_labels(plot, 1, "Y", params).size();
  };
  EXPECT_GT(labels(100, 256), labels(1, 256)) << "three digits instead of one";
  EXPECT_GT(labels(0, 256), labels(0, 2));
}

TEST(PlotLabels, of_small_plots_are_left_out) {
  for (const Region region : {Region{0, 0, 1, 1}, Region{0, 0, 40, 400}, Region{0, 0, 400, 60}})
    EXPECT_TRUE(cudavision::plot_labels(coloured(place_plot(region, 3)), 3, "YUV", {}).empty());
}

}  // namespace
