// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares drawn masks with their definition, in every pixel format and on every backend.
#include "cuda/draw/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::Color;
using cudavision::ColorModel;
using cudavision::Execution;
using cudavision::Frame;
using cudavision::ImageView;
using cudavision::overlay_mask;
using cudavision::Region;
using cudavision::replace_with_mask;
using cudavision::Size;
using cudavision::Status;

class Draw : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Draw);

// --- the definition ---

// Returns the frame after change(component, sample, mask value) has been called once for each sample that
// belongs to a pixel of the region for which wanted(mask value) is true.
template <typename Wanted, typename Change>
HostFrame changed(HostFrame frame, Region region, const Picture &mask, const Wanted &wanted,
                  const Change &change) {
  for (int i = 0; i < frame.component_count(); ++i) {
    std::vector<const std::uint8_t *> done;
    for (int y = 0; y < region.height; ++y)
      for (int x = 0; x < region.width; ++x) {
        std::uint8_t &sample = frame.sample(i, region.x + x, region.y + y);
        if (!wanted(mask.at(x, y))) continue;
        const bool subsampled =
            frame.format->layout.place[i].shift_x + frame.format->layout.place[i].shift_y > 0;
        if (subsampled && std::find(done.begin(), done.end(), &sample) != done.end()) continue;
        if (subsampled) done.push_back(&sample);
        change(i, sample, mask.at(x, y));
      }
  }
  return frame;
}

HostFrame replaced(const HostFrame &frame, Region region, const Picture &mask) {
  const bool yuv = frame.format->layout.model == ColorModel::yuv;
  return changed(
      frame, region, mask, [](std::uint8_t) { return true; },
      [&](int component, std::uint8_t &sample, std::uint8_t value) {
        sample = yuv && component > 0 ? 128 : value;
      });
}

HostFrame overlaid(const HostFrame &frame, Region region, const Picture &mask, Color color) {
  return changed(
      frame, region, mask, [](std::uint8_t value) { return value != 0; },
      [&](int component, std::uint8_t &sample, std::uint8_t) {
        sample = static_cast<std::uint8_t>(
            (color.alpha * color.component[component] + (255 - color.alpha) * sample + 127) / 255);
      });
}

// --- helpers ---

using Overlay = std::optional<Color>;  // without a colour the mask replaces the picture

HostFrame run(const Execution &execution, const HostFrame &frame, Region region, const Picture &mask,
              const Overlay &overlay, const Placement &frame_placement = kOddPitch,
              const Placement &mask_placement = kMisaligned) {
  const TestFrame test_frame(execution, frame, frame_placement);
  const TestImage<std::uint8_t> test_mask(execution, mask, mask_placement);
  EXPECT_TRUE(succeeds(overlay
                           ? overlay_mask(execution, test_frame.frame(), region, test_mask.view(), *overlay)
                           : replace_with_mask(execution, test_frame.frame(), region, test_mask.view())));
  EXPECT_TRUE(same(test_mask.download(), mask)) << "the mask must not change";
  return test_frame.download();
}

HostFrame expected(const HostFrame &frame, Region region, const Picture &mask, const Overlay &overlay) {
  return overlay ? overlaid(frame, region, mask, *overlay) : replaced(frame, region, mask);
}

// A mask in which one of `one_in` pixels is nonzero on average.
Picture sparse_mask(Size size, int one_in, unsigned seed) {
  Random random(seed);
  Picture mask(size);
  for (std::uint8_t &pixel : mask.pixels())
    if (random.below(one_in) == 0) pixel = static_cast<std::uint8_t>(1 + random.below(255));
  return mask;
}

constexpr Color kOpaque{{250, 20, 130}, 255}, kGlass{{10, 200, 77}, 100};

TEST_P(Draw, every_format_and_region_equals_the_definition) {
  const Size size{75, 43};
  std::vector<Region> regions{{0, 0, 75, 43}, {1, 1, 1, 1},    {0, 0, 1, 1},   {74, 42, 1, 1}, {3, 5, 40, 17},
                              {2, 4, 33, 32}, {11, 0, 64, 43}, {5, 41, 17, 2}, {73, 0, 2, 3}};
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const Region region : regions)
      for (const Overlay &overlay : {Overlay(), Overlay(kOpaque), Overlay(kGlass)}) {
        const Placement &placement = kPlacements[seed % 5],
                        &mask_placement = kPlacements[(seed / 5 + seed) % 5];
        SCOPED_TRACE(::testing::Message()
                     << format << " region " << region.x << "," << region.y << " " << region.width << "x"
                     << region.height << (overlay ? " overlay" : " replace") << " seed " << seed << " frame "
                     << placement << " mask " << mask_placement);
        const HostFrame frame(format, size, seed);
        const Picture mask = overlay
                                 ? sparse_mask({region.width, region.height}, seed % 2 == 0 ? 3 : 25, seed)
                                 : noise({region.width, region.height}, seed);
        ASSERT_TRUE(same(run(execution(), frame, region, mask, overlay, placement, mask_placement),
                         expected(frame, region, mask, overlay)));
        ++seed;
      }
}

TEST_P(Draw, every_frame_size_equals_the_definition) {
  const std::vector<Size> sizes =
      kEmulated ? std::vector<Size>{{1, 1}, {2, 1}, {1, 2}, {3, 3}, {33, 9}, {64, 16}}
                : std::vector<Size>{{1, 1},   {1, 2},   {2, 1},   {3, 3},   {1, 40},  {40, 1},
                                    {15, 16}, {16, 17}, {31, 32}, {64, 33}, {129, 50}};
  for (const PixelFormat &format : pixel_formats())
    for (const Size size : sizes)
      for (const Overlay &overlay : {Overlay(), Overlay(kGlass)}) {
        const HostFrame frame(format, size, 3);
        const Region all{0, 0, size.width, size.height};
        const Picture mask = sparse_mask(size, 2, 4);
        ASSERT_TRUE(same(run(execution(), frame, all, mask, overlay, kTight, kTight),
                         expected(frame, all, mask, overlay)))
            << format << " " << size.width << "x" << size.height << (overlay ? " overlay" : " replace");
      }
}

// A chroma sample that lies only partly in the region is changed, and only once.
TEST_P(Draw, regions_that_cut_chroma_samples_equal_the_definition) {
  const Size size{9, 8};
  for (const PixelFormat &format : pixel_formats()) {
    if (format.layout.model != ColorModel::yuv) continue;
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y)
        for (int width = 1; width <= 4; ++width)
          for (int height = 1; height <= 3; ++height) {
            const Region region{x, y, width, height};
            const HostFrame frame(format, size, 5);
            const Picture mask =
                sparse_mask({width, height}, 2, static_cast<unsigned>(64 * x + 16 * y + 4 * width + height));
            for (const Overlay &overlay : {Overlay(), Overlay(kGlass)}) {
              if (kEmulated && (x + y + width + height + (overlay ? 1 : 0)) % 2 == 0) continue;
              ASSERT_TRUE(same(run(execution(), frame, region, mask, overlay),
                               expected(frame, region, mask, overlay)))
                  << format << " region " << x << "," << y << " " << width << "x" << height
                  << (overlay ? " overlay" : " replace");
            }
          }
  }
}

TEST_P(Draw, blending_rounds_as_defined_for_all_values) {
  const PixelFormat &gray = pixel_formats().front();
  HostFrame frame(gray, {256, 1}, 0);
  for (int v = 0; v < 256; ++v) frame.sample(0, v, 0) = static_cast<std::uint8_t>(v);
  const Picture mask = constant({256, 1}, 1);
  for (const int alpha : {0, 1, 2, 64, 127, 128, 129, 200, 254, 255})
    for (const int color : {0, 1, 100, 127, 128, 254, 255}) {
      if (kEmulated && (alpha + color) % 2 == 0) continue;
      const Color c{{static_cast<std::uint8_t>(color), 0, 0}, static_cast<std::uint8_t>(alpha)};
      const HostFrame result = run(execution(), frame, {0, 0, 256, 1}, mask, c);
      for (int v = 0; v < 256; ++v) {
        // The weighted mean, rounded to the nearest integer; with a divisor of 255 there are no ties.
        const double exact = (alpha * color + (255 - alpha) * v) / 255.0;
        ASSERT_NEAR(result.at(0, v, 0), exact, 0.5)
            << "alpha " << alpha << " color " << color << " pixel " << v;
      }
    }
}

TEST_P(Draw, invisible_colour_and_empty_mask_change_nothing) {
  for (const PixelFormat &format : pixel_formats()) {
    const HostFrame frame(format, {37, 21}, 6);
    const Region region{1, 3, 30, 17};
    EXPECT_TRUE(same(run(execution(), frame, region, noise({30, 17}, 7), Color{{1, 2, 3}, 0}), frame))
        << format;
    EXPECT_TRUE(same(run(execution(), frame, region, constant({30, 17}, 0), kOpaque), frame)) << format;
  }
}

// The fourth byte of each pixel is alpha or padding.
TEST_P(Draw, alpha_is_never_written) {
  for (const PixelFormat &format : pixel_formats()) {
    if (format.plane[0].group_bytes != 4 || format.layout.model != ColorModel::rgb) continue;
    HostFrame frame(format, {130, 20}, 8);
    for (const Overlay &overlay : {Overlay(), Overlay(kOpaque)}) {
      const HostFrame result =
          run(execution(), frame, {0, 0, 130, 20}, constant({130, 20}, 255), overlay, kAligned, kAligned);
      for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 130; ++x)
          ASSERT_EQ(result.planes[0].at(4 * x + 3, y), frame.planes[0].at(4 * x + 3, y));
    }
  }
}

TEST_P(Draw, regions_that_leave_the_frame_are_refused_and_change_nothing) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const HostFrame pixels(pixel_formats()[1], {20, 10}, 9);
  const TestFrame frame(execution(), pixels, kAligned);
  const TestImage<std::uint8_t> memory(execution(), {20, 10}, kAligned);
  for (const Region r : {Region{-1, 0, 5, 5}, Region{0, -1, 5, 5}, Region{16, 0, 5, 5}, Region{0, 6, 5, 5},
                         Region{20, 0, 1, 1}, Region{0, 10, 1, 1}, Region{0, 0, 21, 10}, Region{0, 0, 20, 11},
                         Region{0, 0, 0, 5}, Region{0, 0, 5, 0}, Region{3, 3, -1, 2}, Region{3, 3, 2, -1},
                         Region{1, 0, kMost, 5}, Region{0, 1, 5, kMost}, Region{kMost, 0, 1, 1},
                         Region{kMost, kMost, kMost, kMost}}) {
    const ImageView<const std::uint8_t> mask{memory.view().data, memory.view().pitch_bytes, r.width,
                                             r.height};
    SCOPED_TRACE(::testing::Message() << r.x << "," << r.y << " " << r.width << "x" << r.height);
    EXPECT_TRUE(refused(replace_with_mask(execution(), frame.frame(), r, mask)));
    EXPECT_TRUE(refused(overlay_mask(execution(), frame.frame(), r, mask, kOpaque)));
  }
  EXPECT_TRUE(same(frame.download(), pixels));
}

TEST_P(Draw, mask_of_another_size_is_refused_and_changes_nothing) {
  const HostFrame pixels(pixel_formats()[5], {20, 10}, 10);
  const TestFrame frame(execution(), pixels, kAligned);
  for (const Size size : {Size{6, 5}, Size{5, 4}, Size{20, 10}, Size{0, 0}}) {
    const TestImage<std::uint8_t> mask(execution(), size, kAligned);
    EXPECT_TRUE(refused(replace_with_mask(execution(), frame.frame(), {2, 2, 5, 5}, mask.view())));
    EXPECT_TRUE(refused(overlay_mask(execution(), frame.frame(), {2, 2, 5, 5}, mask.view(), kOpaque)));
  }
  EXPECT_TRUE(same(frame.download(), pixels));
}

TEST_P(Draw, each_call_takes_one_launch_without_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  for (const PixelFormat &format : pixel_formats()) {
    const TestFrame frame(execution(), HostFrame(format, {70, 9}, 11), kAligned);
    const TestImage<std::uint8_t> mask(execution(), {70, 9}, kAligned);
    const Budget budget;
    EXPECT_TRUE(succeeds(replace_with_mask(execution(), frame.frame(), {0, 0, 70, 9}, mask.view())));
    EXPECT_TRUE(succeeds(overlay_mask(execution(), frame.frame(), {0, 0, 70, 9}, mask.view(), kGlass)));
    budget.expect_launches_alone(2);
    finish(execution());
    EXPECT_EQ(budget.spent().global_atomics, 0u) << format;
  }
}

}  // namespace
