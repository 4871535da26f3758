// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms compared with their definition, on every backend.
#include "cuda/localhist/localhist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cuda/canny/canny.h"
#include "cuda/histogram/histogram.h"
#include "tests/kernels/localhist_windows.h"
#include "tests/support/budget.h"
#include "tests/support/frames_in_flight.h"

namespace {

using namespace cudavision::test;
using cudavision::fixed_weight;
using cudavision::Gradient;
using cudavision::GradientOperator;
using cudavision::GradientWeight;
using cudavision::LocalHistElementType;
using cudavision::LocalHistFeature;
using cudavision::LocalHistLayout;
using cudavision::LocalHistParams;
using cudavision::LocalHistReduction;
using cudavision::Region;
using cudavision::Size;

class LocalHist : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(LocalHist);

// --- weights ---

TEST(LocalHistWeights, are_the_rounded_lengths_in_fixed_point) {
  for (int dy = 0; dy <= 4080; dy += 17)
    for (int dx = dy == 0; dx <= 4080; dx += 13) {
      const double length = std::hypot(dx, dy);
      const Gradient g{dx, -dy};
      ASSERT_EQ(fixed_weight(g, GradientWeight::count), 1u);
      // The last rounding contributes 0.5. The three roundings to 24 bits before it, of numbers up to 92320,
      // contribute at most 0.02.
      ASSERT_NEAR(fixed_weight(g, GradientWeight::magnitude), 16 * length, 0.52);
      ASSERT_NEAR(fixed_weight(g, GradientWeight::sqrt_magnitude), 512 * std::sqrt(length), 0.52);
    }
}

// --- the definition ---

TEST_P(LocalHist, every_size_and_placement_equals_the_definition) {
  struct Case {
    Size picture, window;
  };
  std::vector<Case> cases{{{1, 1}, {1, 1}},    {{1, 40}, {1, 3}},   {{40, 1}, {3, 1}}, {{2, 2}, {2, 1}},
                          {{7, 5}, {7, 5}},    {{16, 16}, {16, 1}}, {{17, 9}, {1, 9}}, {{31, 7}, {5, 4}},
                          {{66, 21}, {34, 5}}, {{65, 20}, {17, 19}}};
  if (!kEmulated)
    cases.insert(cases.end(), {{{257, 65}, {33, 64}}, {{300, 40}, {129, 7}}, {{100, 99}, {64, 64}}});
  unsigned seed = 1;
  for (const Case &c : cases)
    for (const bool gradient : {false, true}) {
      const Placement &placement = kPlacements[seed % 5];
      SCOPED_TRACE(testing::Message()
                   << c.picture.width << "x" << c.picture.height << " " << placement << " seed " << seed);
      ASSERT_TRUE(equals_definition(execution(), noise(c.picture, seed++),
                                    gradient ? gradient_params(9, c.window) : brightness_params(16, c.window),
                                    placement));
    }
}

// The windows begin and end at every row of a strip of the CUDA backend.
TEST_P(LocalHist, high_windows_equal_the_definition) {
  for (const int height : {64, 73, 80})
    for (const int stride : {1, 3})
      for (const GradientWeight weight : kWeights) {
        SCOPED_TRACE(testing::Message() << "height " << height << " stride " << stride);
        LocalHistParams params = gradient_params(9, {6, height}, weight);
        params.stride_y = stride;
        ASSERT_TRUE(equals_definition(execution(), noise({21, height + 3 * 17}, 5), params));
      }
  ASSERT_TRUE(equals_definition(execution(), noise({40, 100}, 6), brightness_params(31, {9, 70})));
  ASSERT_TRUE(equals_definition(execution(), noise({40, 100}, 7), brightness_params(60, {9, 70})));
}

// Maps that end one window before, at and one window after the end of a tile, for tiles of all sizes.
TEST_P(LocalHist, maps_that_straddle_tiles_equal_the_definition) {
  std::vector<int> cols{31, 32, 33, 127, 128, 129};
  if (!kEmulated) cols.insert(cols.end(), {63, 64, 65, 255, 256, 257, 511, 513});
  for (const int bins : {4, 70})
    for (const int n : cols)
      ASSERT_TRUE(
          equals_definition(execution(), noise({n + 4, 3 + n % 2}, 5), brightness_params(bins, {5, 2})));
  for (const int rows : {15, 16, 17, 33, 63, 64, 65})
    ASSERT_TRUE(equals_definition(execution(), noise({9, rows + 2}, 6), gradient_params(5, {4, 3})));
}

TEST_P(LocalHist, every_number_of_bins_equals_the_definition) {
  const Picture picture = noise({45, 13}, 7);
  for (const int bins :
       {1, 2, 3, 8, 9, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65, 90, 128, 200, 255, 256, 359, 360}) {
    if (kEmulated && bins > 9 && bins % 2 == 0 && bins != 64 && bins != 360) continue;
    if (bins <= 256) {
      ASSERT_TRUE(equals_definition(execution(), picture, brightness_params(bins, {6, 5})));
    }
    for (const GradientWeight weight : kWeights)
      ASSERT_TRUE(equals_definition(execution(), picture, gradient_params(bins, {6, 5}, weight)));
  }
}

TEST_P(LocalHist, every_operator_and_weight_equals_the_definition) {
  // The rows of the last two pictures are whole, aligned words, which are loaded eight pixels at a time.
  const std::pair<Picture, Placement> pictures[] = {{noise({37, 19}, 8), kMisalignedOddPitch},
                                                    {smooth_noise({37, 19}, 2, 9), kMisalignedOddPitch},
                                                    {checkerboard({37, 19}, 3, 0, 255), kMisalignedOddPitch},
                                                    {noise({40, 9}, 14), kAligned},
                                                    {noise({44, 9}, 15), kAligned}};
  for (const GradientOperator op : kOperators)
    for (const GradientWeight weight : kWeights)
      for (const auto &[picture, placement] : pictures) {
        LocalHistParams params = gradient_params(12, {7, 6}, weight);
        params.op = op;
        ASSERT_TRUE(equals_definition(execution(), picture, params, placement));
      }
}

TEST_P(LocalHist, both_layouts_of_every_element_equal_the_definition) {
  const Picture picture = noise({70, 22}, 10);
  for (const LocalHistLayout layout : {LocalHistLayout::interleaved, LocalHistLayout::planar})
    for (const int bins : {3, 33, 70, 130})
      for (LocalHistParams params : {brightness_params(bins, {9, 8}), gradient_params(bins, {9, 8}),
                                     gradient_params(bins, {9, 8}, GradientWeight::magnitude)}) {
        params.layout = layout;
        ASSERT_TRUE(equals_definition(execution(), picture, params));
      }
}

TEST_P(LocalHist, every_stride_equals_the_definition) {
  const Picture picture = noise({83, 41}, 11);
  for (const auto &[x, y] :
       {std::pair{1, 2}, {2, 1}, {3, 3}, {7, 5}, {16, 16}, {31, 40}, {33, 9}, {300, 300}, {1024, 1}})
    for (const LocalHistLayout layout : {LocalHistLayout::interleaved, LocalHistLayout::planar})
      for (LocalHistParams params : {brightness_params(40, {10, 9}), gradient_params(9, {16, 16})}) {
        params.stride_x = x;
        params.stride_y = y;
        params.layout = layout;
        ASSERT_TRUE(equals_definition(execution(), picture, params));
      }
}

// --- invariants ---

template <typename Element>
std::uint64_t sum_of(const HostImage<Element> &histograms, int col, int row, int bins) {
  std::uint64_t sum = 0;
  for (int bin = 0; bin < bins; ++bin) sum += histograms.at(col * bins + bin, row);
  return sum;
}

TEST_P(LocalHist, bins_sum_to_the_window_s_area_or_its_gradients) {
  Picture picture = smooth_noise({61, 40}, 3, 12);
  for (int y = 10; y < 25; ++y)
    for (int x = 20; x < 45; ++x) picture.at(x, y) = 90;  // no gradient
  const Size window{8, 11};
  Windows brightness(execution(), picture.size(), brightness_params(20, window));
  Windows gradients(execution(), picture.size(), gradient_params(20, window));
  const auto brightness_counts = brightness.histograms<std::uint16_t>(picture);
  const auto gradient_counts = gradients.histograms<std::uint16_t>(picture);
  for (int row = 0; row < brightness.shape().rows; ++row)
    for (int col = 0; col < brightness.shape().cols; ++col) {
      std::uint64_t not_zero = 0;
      for (int y = row; y < row + window.height; ++y)
        for (int x = col; x < col + window.width; ++x)
          not_zero += defined_gradient(picture, x, y, GradientOperator::sobel) != Gradient{};
      ASSERT_EQ(sum_of(brightness_counts, col, row, 20), 88u);
      ASSERT_EQ(sum_of(gradient_counts, col, row, 20), not_zero) << col << "," << row;
    }
}

TEST_P(LocalHist, window_of_the_whole_picture_equals_the_histogram) {
  const Picture picture = noise({53, 38}, 13);
  std::unique_ptr<cudavision::Histogram> histogram;
  ASSERT_TRUE(succeeds(make_histogram(execution(), &histogram)));
  for (const int bins : {1, 7, 64, 100, 256}) {
    const TestImage<std::uint8_t> image(execution(), picture, kOddPitch);
    const TestImage<std::uint32_t> counts(execution(), {bins, 1}, kTight);
    ASSERT_TRUE(succeeds(histogram->run(luma_samples(image.view()), {bins, 0, 256}, counts.view().data)));
    Windows windows(execution(), picture.size(), brightness_params(bins, picture.size()));
    const auto expected = counts.download();
    const auto actual = windows.histograms<std::uint16_t>(picture);
    for (int bin = 0; bin < bins; ++bin) ASSERT_EQ(actual.at(bin, 0), expected.at(bin, 0)) << bin;
  }
}

// The picture turned by 90 degrees from +x to +y: pixel (x, y) moves to (height - 1 - y, x).
Picture turned(const Picture &picture) {
  Picture result({picture.height(), picture.width()});
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x) result.at(picture.height() - 1 - y, x) = picture.at(x, y);
  return result;
}

// The Roberts operator is left out, because its pixels are not symmetric around the centre.
TEST_P(LocalHist, turned_pictures_permute_bins) {
  const Picture picture = noise({34, 23}, 14), other = turned(picture);
  for (const GradientOperator op : {GradientOperator::sobel, GradientOperator::central,
                                    GradientOperator::scharr, GradientOperator::prewitt})
    for (const int bins : {4, 12, 36}) {
      LocalHistParams params = gradient_params(bins, {6, 4}), turned_params = gradient_params(bins, {4, 6});
      params.op = turned_params.op = op;
      Windows windows(execution(), picture.size(), params),
          turned_windows(execution(), other.size(), turned_params);
      const auto before = windows.histograms<std::uint16_t>(picture);
      const auto after = turned_windows.histograms<std::uint16_t>(other);
      for (int row = 0; row < windows.shape().rows; ++row)
        for (int col = 0; col < windows.shape().cols; ++col)
          for (int bin = 0; bin < bins; ++bin)
            ASSERT_EQ(after.at((windows.shape().rows - 1 - row) * bins + (bin + bins / 4) % bins, col),
                      before.at(col * bins + bin, row))
                << col << "," << row << " bin " << bin << " of " << bins;
    }
}

TEST_P(LocalHist, constant_pictures_have_one_brightness_and_no_gradient) {
  for (const int value : {0, 1, 127, 128, 255}) {
    const Picture picture = constant({30, 20}, static_cast<std::uint8_t>(value));
    Windows brightness(execution(), picture.size(), brightness_params(16, {5, 4}));
    const auto counts = brightness.histograms<std::uint16_t>(picture);
    for (int i = 0; i < counts.width(); ++i) ASSERT_EQ(counts.at(i, 3), i % 16 == value / 16 ? 20 : 0);
    for (const GradientWeight weight : {GradientWeight::magnitude, GradientWeight::sqrt_magnitude}) {
      Windows gradients(execution(), picture.size(), gradient_params(9, {5, 4}, weight));
      const auto sums = gradients.histograms<float>(picture);
      ASSERT_EQ(count_of(sums, 0.0f), sums.width() * sums.height());
    }
  }
}

// Ramps in the eight directions whose angles are lower edges of bins: all pixels belong to the bin that starts there.
TEST_P(LocalHist, ramps_fill_the_one_bin_that_their_angle_begins) {
  constexpr int kX[] = {1, 1, 0, -1, -1, -1, 0, 1}, kY[] = {0, 1, 1, 1, 0, -1, -1, -1};
  for (int eighth = 0; eighth < 8; ++eighth)
    for (const int bins : {1, 8, 9, 360}) {
      Picture picture({20, 16});
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 20; ++x)
          picture.at(x, y) =
              static_cast<std::uint8_t>(128 + 3 * (kX[eighth] * (x - 10) + kY[eighth] * (y - 8)));
      Windows windows(execution(), picture.size(), gradient_params(bins, {3, 2}));
      const auto counts = windows.histograms<std::uint16_t>(picture);
      for (int row = 1; row + 1 < windows.shape().rows; ++row)  // gradients at the border use repeated pixels
        for (int col = 1; col + 1 < windows.shape().cols; ++col)
          for (int bin = 0; bin < bins; ++bin)
            ASSERT_EQ(counts.at(col * bins + bin, row), bin == eighth * bins / 8 ? 6 : 0)
                << 45 * eighth << " degrees, " << bins << " bins";
    }
}

// --- repeated runs ---

TEST_P(LocalHist, each_frame_is_counted_anew) {
  const Picture first = noise({40, 30}, 15), second = ramp({40, 30}, 3, 5);
  for (const LocalHistParams &params : {brightness_params(32, {9, 9}), gradient_params(9, {9, 9})}) {
    Windows windows(execution(), {40, 30}, params);
    for (const Picture *picture : {&first, &second, &first, &first})
      ASSERT_TRUE(
          same(windows.histograms<std::uint16_t>(*picture), definition<std::uint16_t>(*picture, params)));
  }
}

TEST_P(LocalHist, two_instances_take_turns) {
  const Picture picture = noise({40, 30}, 16);
  Windows gradients(execution(), picture.size(), gradient_params(9, {9, 9}, GradientWeight::magnitude));
  Windows brightness(execution(), picture.size(), brightness_params(64, {8, 3}));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(same(gradients.histograms<float>(picture),
                     definition<float>(picture, gradient_params(9, {9, 9}, GradientWeight::magnitude))));
    ASSERT_TRUE(same(brightness.histograms<std::uint16_t>(picture),
                     definition<std::uint16_t>(picture, brightness_params(64, {8, 3}))));
  }
}

TEST_P(LocalHist, frames_in_flight_equal_frames_alone) {
  const Size size = kEmulated ? Size{40, 70} : Size{640, 360};
  for (const LocalHistParams &params : {gradient_params(9, {8, 8}), gradient_params(9, {8, 64}),
                                        gradient_params(9, {8, 8}, GradientWeight::magnitude),
                                        brightness_params(9, {8, 8}), brightness_params(9, {8, 64})}) {
    std::unique_ptr<cudavision::LocalHist> localhist;
    ASSERT_TRUE(succeeds(make_localhist(execution(), size, params, &localhist)));
    cudavision::LocalHistShape shape;
    ASSERT_TRUE(succeeds(shape_of(size, params, &shape)));
    expect_frames_in_flight_equal_frames_alone(execution(), size, shape.histogram_bytes,
                                               [&](cudavision::ImageView<const std::uint8_t> luma,
                                                   std::uint8_t *histograms, cudavision::Input input) {
                                                 return localhist->run(luma, {.histograms = histograms},
                                                                       nullptr, input);
                                               });
  }
}

// Canny's kernels write the edges that LocalHist reads, and let LocalHist's kernels start before they have ended.
TEST_P(LocalHist, edges_of_frames_in_flight_equal_those_of_frames_alone) {
  const Size size = kEmulated ? Size{40, 70} : Size{640, 360};
  for (const LocalHistParams &params :
       {gradient_params(9, {8, 8}), brightness_params(9, {8, 8}), brightness_params(9, {8, 64})}) {
    std::unique_ptr<cudavision::Canny> canny;
    std::unique_ptr<cudavision::LocalHist> localhist;
    ASSERT_TRUE(succeeds(make_canny(execution(), size, &canny)));
    ASSERT_TRUE(succeeds(make_localhist(execution(), size, params, &localhist)));
    cudavision::LocalHistShape shape;
    ASSERT_TRUE(succeeds(shape_of(size, params, &shape)));
    const TestImage<std::uint8_t> edges(execution(), size, kAligned);
    expect_frames_in_flight_equal_frames_alone(
        execution(), size, shape.histogram_bytes,
        [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *histograms,
            cudavision::Input input) {
          CUDAVISION_TRY(canny->run(luma, edges.view(), {.low_threshold = 60, .high_threshold = 200}, input));
          return localhist->run(edges.view(), {.histograms = histograms}, nullptr,
                                cudavision::Input::in_stream_order);
        });
  }
}

TEST_P(LocalHist, frames_keep_the_budget) {
  CUDAVISION_NEEDS_EMULATION();
  struct Case {
    LocalHistParams params;
    unsigned launches;
  };
  std::vector<Case> cases{{brightness_params(16, {8, 8}), 1},
                          {brightness_params(256, {8, 8}), 1},
                          {gradient_params(9, {8, 8}), 2},
                          {gradient_params(9, {8, 64}), 3},
                          {brightness_params(30, {8, 64}), 2},
                          {brightness_params(34, {8, 64}), 1},
                          {gradient_params(360, {8, 8}, GradientWeight::magnitude), 2}};
  for (Case &c : cases) {
    const Size size{60, 70};
    const TestImage<std::uint8_t> luma(execution(), noise(size, 17), kOddPitch);
    for (const LocalHistReduction reduction :
         {LocalHistReduction::none, LocalHistReduction::argmax, LocalHistReduction::distance}) {
      c.params.reduction = reduction;
      Windows windows(execution(), size, c.params);
      const TestImage<float> out(execution(), {windows.shape().cols * c.params.bins, windows.shape().rows},
                                 kTight),
          value(execution(), {windows.shape().cols, windows.shape().rows}, kTight),
          model(execution(), {c.params.bins, 1}, kTight);
      const TestImage<std::uint16_t> argmax(execution(), {windows.shape().cols, windows.shape().rows},
                                            kTight);
      for (int frame = 0; frame < 2; ++frame) {
        const Budget budget;
        ASSERT_TRUE(succeeds(windows.localhist().run(
            luma.view(), {out.view().data, argmax.view().data, value.view().data}, model.view().data)));
        budget.expect_launches_alone(c.launches);
        finish(execution());
        EXPECT_EQ(budget.spent().global_atomics, 0u);
      }
    }
  }
}

}  // namespace
