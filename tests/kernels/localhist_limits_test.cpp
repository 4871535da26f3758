// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms at the limits of their parameters, sums and memory, on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cuda/localhist/tile_plan.h"
#include "tests/kernels/localhist_windows.h"

namespace {

using namespace cudavision::test;
using cudavision::GradientOperator;
using cudavision::GradientWeight;
using cudavision::LocalHist;
using cudavision::LocalHistElementType;
using cudavision::LocalHistFeature;
using cudavision::LocalHistLayout;
using cudavision::LocalHistParams;
using cudavision::LocalHistReduction;
using cudavision::LocalHistShape;
using cudavision::make_localhist;
using cudavision::Region;
using cudavision::shape_of;
using cudavision::Size;
using cudavision::Status;
using cudavision::localhist::DeviceLimits;
using cudavision::localhist::plan_tiles;
using cudavision::localhist::TilePlan;

class LocalHistLimits : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(LocalHistLimits);

// --- shapes ---

TEST(LocalHistShape, counts_windows_and_bytes) {
  LocalHistShape shape;
  ASSERT_TRUE(succeeds(shape_of({1280, 720}, gradient_params(9, {16, 16}), &shape)));
  EXPECT_EQ(shape.rows, 705);
  EXPECT_EQ(shape.cols, 1265);
  EXPECT_EQ(shape.element, LocalHistElementType::u16);
  EXPECT_EQ(shape.histogram_bytes, 705u * 1265u * 9u * 2u);
  LocalHistParams strided = gradient_params(9, {16, 16}, GradientWeight::magnitude);
  strided.stride_x = 7;
  strided.stride_y = 1024;
  ASSERT_TRUE(succeeds(shape_of({1280, 720}, strided, &shape)));
  EXPECT_EQ(shape.rows, 1);
  EXPECT_EQ(shape.cols, 1264 / 7 + 1);
  EXPECT_EQ(shape.element, LocalHistElementType::f32);
  // More than 2^32 bytes.
  ASSERT_TRUE(succeeds(shape_of({3840, 2160}, brightness_params(256, {257, 256}), &shape)));
  EXPECT_EQ(shape.element, LocalHistElementType::u32);
  EXPECT_EQ(shape.histogram_bytes, 3584ull * 1905 * 256 * 4);
}

TEST(LocalHistShape, element_is_wide_enough_for_the_window) {
  LocalHistShape shape;
  for (const auto &[window, element] : {std::pair{Size{255, 257}, LocalHistElementType::u16},
                                        {Size{256, 256}, LocalHistElementType::u32},
                                        {Size{64, 1023}, LocalHistElementType::u16},
                                        {Size{64, 1024}, LocalHistElementType::u32}}) {
    ASSERT_TRUE(succeeds(shape_of({2000, 2000}, brightness_params(2, window), &shape)));
    EXPECT_EQ(shape.element, element) << window.width << "x" << window.height;
  }
}

TEST(LocalHistShape, invalid_parameters_are_refused_and_named) {
  LocalHistShape shape;
  const auto refuses = [&](LocalHistParams params, const char *name) {
    const Status status = shape_of({2000, 1500}, params, &shape);
    EXPECT_TRUE(refused(status)) << params;
    EXPECT_NE(status.text().find(name), std::string::npos) << status.text();
  };
  refuses(brightness_params(0, {8, 8}), "bins");
  refuses(brightness_params(257, {8, 8}), "feature=brightness");
  refuses(gradient_params(361, {8, 8}), "bins");
  refuses(gradient_params(-1, {8, 8}), "bins");
  refuses(gradient_params(9, {0, 8}), "window-width");
  refuses(gradient_params(9, {1025, 8}), "window-width");
  refuses(gradient_params(9, {8, 1025}), "window-height");
  LocalHistParams params;
  params.stride_x = 0;
  refuses(params, "stride-x");
  params.stride_x = 1;
  params.stride_y = 1025;
  refuses(params, "stride-y");
  EXPECT_TRUE(refused(shape_of({7, 8}, gradient_params(9, {8, 8}), &shape)));
  EXPECT_TRUE(refused(shape_of({8, 7}, gradient_params(9, {8, 8}), &shape)));
  EXPECT_TRUE(succeeds(shape_of({8, 8}, gradient_params(9, {8, 8}), &shape)));
}

// --- sums ---

// All pixels of a window lie in one bin. An even and an odd bin are tested because they share words, with the
// largest window whose counts fit 16 bits and with larger ones.
TEST_P(LocalHistLimits, full_bins_do_not_wrap) {
  for (const Size window : {Size{255, 257}, Size{256, 256}, Size{64, 1024}})
    for (const int bin : {2, 3}) {
      const Picture picture =
          constant({window.width + 2, window.height + 1}, static_cast<std::uint8_t>(64 * bin));
      const LocalHistParams params = brightness_params(4, window);
      const std::uint32_t area = static_cast<std::uint32_t>(window.width * window.height);
      Windows windows(execution(), picture.size(), params);
      const auto check = [&](const auto &counts) {
        for (int row = 0; row < 2; ++row)
          for (int i = 0; i < 3 * 4; ++i)
            ASSERT_EQ(counts.at(i, row), i % 4 == bin ? area : 0u) << window.width << "x" << window.height;
      };
      if (area <= 65535)
        check(windows.histograms<std::uint16_t>(picture));
      else
        check(windows.histograms<std::uint32_t>(picture));
    }
}

// Vertical bars with the largest contrast, so that every gradient is the largest one of its operator.
Picture bars(Size size) {
  Picture picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.at(x, y) = x / 2 % 2 == 0 ? 0 : 255;
  return picture;
}

// 1024 x 1024 pixels with the largest gradient of the Scharr operator: 2^20 * 4080 * 16 is more than 2^32.
TEST_P(LocalHistLimits, weighted_sums_beyond_32_bits_are_exact) {
  const Size window = kEmulated ? Size{1024, 160} : Size{1024, 1024};
  LocalHistParams params = gradient_params(4, window, GradientWeight::magnitude);
  params.op = GradientOperator::scharr;
  const Picture picture = bars({1026, window.height + 1});
  Windows windows(execution(), picture.size(), params);
  EXPECT_TRUE(same(windows.histograms<float>(picture), definition<float>(picture, params)));
}

TEST_P(LocalHistLimits, weighted_sums_below_31_bits_are_exact) {
  for (const GradientWeight weight : {GradientWeight::magnitude, GradientWeight::sqrt_magnitude})
    ASSERT_TRUE(equals_definition(execution(), bars({260, 66}), gradient_params(5, {256, 64}, weight)));
}

// --- sizes ---

TEST_P(LocalHistLimits, largest_windows_of_the_most_bins_equal_the_definition) {
  const Picture picture = noise({1027, kEmulated ? 5 : 1025}, 31);
  const int height = picture.height() - 1;
  ASSERT_TRUE(equals_definition(execution(), picture, gradient_params(360, {1024, height})));
  ASSERT_TRUE(equals_definition(execution(), picture, brightness_params(256, {1024, height})));
  ASSERT_TRUE(equals_definition(execution(), noise({4, 1026}, 32), gradient_params(9, {2, 1024})));
  LocalHistParams planar = gradient_params(100, {1024, height}, GradientWeight::sqrt_magnitude);
  planar.layout = LocalHistLayout::planar;
  ASSERT_TRUE(equals_definition(execution(), picture, planar));
}

// Both instances use the same kernel, and the limit of dynamic shared memory belongs to the kernel, not to the launch.
TEST_P(LocalHistLimits, instances_with_much_and_with_little_shared_memory_take_turns) {
  const Picture picture = noise({452, 9}, 35);
  const LocalHistParams much = brightness_params(256, {450, 3}), little = brightness_params(256, {2, 3});
  LocalHistShape shape;
  ASSERT_TRUE(succeeds(shape_of(picture.size(), much, &shape)));
  EXPECT_GT(plan_tiles(much, shape, {4, 64 << 10}).shared_bytes(), std::size_t{48} << 10);
  Windows first(execution(), picture.size(), much), second(execution(), picture.size(), little);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(same(first.histograms<std::uint16_t>(picture), definition<std::uint16_t>(picture, much)));
    ASSERT_TRUE(same(second.histograms<std::uint16_t>(picture), definition<std::uint16_t>(picture, little)));
  }
}

TEST_P(LocalHistLimits, largest_windows_are_reduced) {
  const Picture picture = noise({1026, 6}, 33);
  LocalHistParams params = gradient_params(360, {1024, 5}, GradientWeight::magnitude);
  params.reduction = LocalHistReduction::argmax;
  Windows windows(execution(), picture.size(), params);
  const Reductions actual = windows.reductions(picture);
  const DefinedWindows expected(picture, params);
  for (int row = 0; row < 2; ++row)
    for (int col = 0; col < 3; ++col) {
      const std::vector<std::uint64_t> &sums = expected.at(row, col);
      ASSERT_EQ(actual.argmax.at(col, row), std::max_element(sums.begin(), sums.end()) - sums.begin());
    }
}

// --- plans ---

// Every plan fits the shared memory of a block, also on the smallest device, and covers the whole map.
TEST(LocalHistPlan, always_fits_the_device) {
  for (const std::size_t shared_bytes : {48u << 10, 64u << 10, 227u << 10})
    for (const int bins : {1, 2, 9, 16, 31, 64, 100, 256, 360})
      for (const int width : {1, 7, 16, 256, 1024})
        for (const int stride : {1, 3, 200, 1024})
          for (const LocalHistReduction reduction : {LocalHistReduction::none, LocalHistReduction::argmax})
            for (const LocalHistLayout layout : {LocalHistLayout::interleaved, LocalHistLayout::planar})
              for (const GradientWeight weight : {GradientWeight::count, GradientWeight::magnitude}) {
                LocalHistParams params = gradient_params(bins, {width, 16}, weight);
                params.stride_x = stride;
                params.reduction = reduction;
                params.layout = layout;
                LocalHistShape shape;
                ASSERT_TRUE(succeeds(shape_of({1920, 1080}, params, &shape)));
                const TilePlan plan = plan_tiles(params, shape, {132, shared_bytes});
                SCOPED_TRACE(testing::Message() << params << ", " << shared_bytes << " bytes");
                ASSERT_GE(plan.cols, 1);
                ASSERT_GE(plan.rows, 1);
                ASSERT_LE(plan.shared_bytes(), shared_bytes);
                ASSERT_LE(plan.segments * plan.words, plan.threads);
                ASSERT_GE(plan.segments * plan.segment, plan.cols);
                ASSERT_GE(plan.groups * plan.group_bins, bins);
                ASSERT_LT((plan.groups - 1) * plan.group_bins, bins) << "no group is empty";
                const int summed = plan.spans_of_window > 0 ? plan.span : 0;
                ASSERT_LE(summed * 1024ll * 92320, 1ll << 32) << "sums over a span have 32 bits";
              }
}

// --- memory ---

TEST_P(LocalHistLimits, lack_of_device_memory_is_an_error_with_its_size) {
  CUDAVISION_NEEDS_EMULATION();
  simt::fail_allocations_after(0);
  std::unique_ptr<LocalHist> localhist;
  const Status status = make_localhist(execution(), {64, 48}, gradient_params(9, {8, 8}), &localhist);
  EXPECT_EQ(status.code(), Status::Code::out_of_memory);
  EXPECT_NE(status.text().find("128 x 48 bytes"), std::string::npos) << status.text();
}

// --- errors ---

TEST_P(LocalHistLimits, wrong_sizes_and_missing_outputs_are_refused) {
  const Size size{20, 16};
  const TestImage<std::uint8_t> luma(execution(), noise(size, 34), kTight),
      other(execution(), {19, 16}, kTight);
  const TestImage<float> floats(execution(), {9 * 20, 16}, kTight);
  const TestImage<std::uint16_t> argmax(execution(), {20, 16}, kTight);
  float *const some = floats.view().data;
  LocalHistParams params = gradient_params(9, {4, 4});
  Windows windows(execution(), size, params);
  EXPECT_TRUE(refused(windows.localhist().run(other.view(), {some, nullptr, nullptr}, nullptr)));
  EXPECT_TRUE(refused(windows.localhist().run(luma.view(), {nullptr, argmax.view().data, some}, nullptr)));
  params.reduction = LocalHistReduction::argmax;
  Windows dominant(execution(), size, params);
  EXPECT_TRUE(refused(dominant.localhist().run(luma.view(), {some, nullptr, some}, nullptr)));
  EXPECT_TRUE(refused(dominant.localhist().run(luma.view(), {some, argmax.view().data, nullptr}, nullptr)));
  params.reduction = LocalHistReduction::distance;
  Windows distance(execution(), size, params);
  EXPECT_TRUE(refused(distance.localhist().run(luma.view(), {nullptr, nullptr, some}, nullptr)));
  for (const Region region : {Region{0, 0, 21, 1}, Region{0, 0, 0, 1}, Region{-1, 0, 2, 2},
                              Region{19, 15, 1, 2}, Region{5, 5, std::numeric_limits<int>::max(), 1}})
    EXPECT_TRUE(refused(distance.localhist().take_model(luma.view(), region, some)))
        << region.x << "," << region.y << " " << region.width << "x" << region.height;
}

}  // namespace
