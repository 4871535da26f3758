// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the histogram with its definition and with cv::calcHist on every backend, and tests its limits.
#include "cuda/histogram/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernels/histogram_definition.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/frames_in_flight.h"

namespace {

using namespace cudavision::test;
using cudavision::channel_samples;
using cudavision::ColorModel;
using cudavision::Execution;
using cudavision::HistogramParams;
using cudavision::ImageView;
using cudavision::luma_samples;
using cudavision::Region;
using cudavision::Samples;
using cudavision::Size;

class Histogram : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Histogram);

constexpr int kBins[] = {1, 2, 3, 7, 16, 100, 255, 256};
constexpr HistogramParams kRanges[] = {{256, 0, 256}, {256, 10, 200}, {256, 255, 256}, {256, 0, 1}};

std::vector<HistogramParams> all_params() {
  std::vector<HistogramParams> all;
  for (const HistogramParams &range : kRanges)
    for (const int bins : kBins) all.push_back({bins, range.range_min, range.range_max});
  return all;
}

std::string to_string(const HistogramParams &p) {
  return std::to_string(p.bins) + " bins, range " + std::to_string(p.range_min) + " to " +
         std::to_string(p.range_max);
}

// --- bins ---

// The bin does not decrease with the value, so if the histograms of a ramp are equal, every value has OpenCV's bin.
TEST(HistogramBins, equal_opencv_for_every_range) {
  const Picture ramp_of_values = ramp({256, 1}, 1, 0);
  for (int low = 0; low < 256; low += kEmulated ? 17 : 1)
    for (int high = low + 1; high <= 256; high += kEmulated ? 13 : 1)
      for (const int bins : {3, 10, 100, 256}) {
        const HistogramParams params{bins, low, high};
        Counts counts({bins, 1});
        for (int v = 0; v < 256; ++v)
          if (const int bin = bin_of(v, params); bin >= 0) ++counts.at(bin, 0);
        ASSERT_TRUE(same(counts, opencv(ramp_of_values, params))) << to_string(params);
      }
}

TEST(HistogramBins, are_of_equal_width_in_the_half_open_range) {
  for (const HistogramParams &params : all_params())
    for (int v = -3; v < 260; ++v) {
      const bool inside = v >= params.range_min && v < params.range_max;
      const double exact =
          (v - params.range_min) * params.bins / static_cast<double>(params.range_max - params.range_min);
      const int bin = bin_of(v, params);
      ASSERT_EQ(bin >= 0, inside) << v << ", " << to_string(params);
      if (!inside) continue;
      ASSERT_LT(bin, params.bins);
      // If the exact quotient is an integer, the rounding of double decides, as it does in OpenCV.
      ASSERT_LE(bin, std::floor(exact)) << v << ", " << to_string(params);
      ASSERT_GE(bin, std::ceil(exact) - 1) << v << ", " << to_string(params);
    }
}

// --- one channel ---

TEST_P(Histogram, every_size_and_placement_equals_the_definition) {
  std::vector<Size> sizes{{1, 1}, {1, 300}, {2, 1}, {3, 7}, {15, 2}, {16, 3}, {17, 5}, {129, 9}, {255, 4}};
  if (!kEmulated)
    for (const int side : {31, 32, 33, 127, 128, 256, 257, 500, 511, 513}) sizes.push_back({side, side - 2});
  Counter counter(execution());
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const Placement &placement : kPlacements) {
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " " << placement << " seed " << seed);
      const Picture picture = noise(size, seed++);
      const Counts counts = counter.count(picture, {}, placement);
      ASSERT_TRUE(same(counts, definition(picture, {})));
      ASSERT_EQ(sum(counts), picture.pixels().size());
    }
}

TEST_P(Histogram, every_bins_and_range_equals_the_definition_and_opencv) {
  Counter counter(execution());
  for (const Picture &picture :
       {noise({67, 41}, 3), ramp({256, 3}, 1, 5), checkerboard({40, 33}, 3, 10, 199)})
    for (const HistogramParams &params : all_params()) {
      const Counts counts = counter.count(picture, params);
      ASSERT_TRUE(same(counts, definition(picture, params))) << to_string(params);
      ASSERT_TRUE(same(counts, opencv(picture, params))) << to_string(params);
    }
}

TEST_P(Histogram, values_outside_the_range_are_not_counted) {
  Counter counter(execution());
  const Picture picture = ramp({256, 4}, 1, 0);
  for (const HistogramParams &params : all_params())
    EXPECT_EQ(sum(counter.count(picture, params)),
              4u * static_cast<unsigned>(params.range_max - params.range_min))
        << to_string(params);
}

TEST_P(Histogram, rows_may_begin_at_any_address) {
  const Picture whole = noise({70, 6}, 4);
  const TestImage<std::uint8_t> image(execution(), whole, kOddPitch);
  Counter counter(execution());
  for (int x = 0; x < 18; ++x)
    for (const int width : {1, 2, 15, 16, 17, 31, 33, 48}) {
      const Region region{x, 1, width, 4};
      const ImageView<const std::uint8_t> view = image.view().crop(region);
      ASSERT_TRUE(same(counter.count(luma_samples(view)), definition(whole.crop(region), {})))
          << "from column " << x << ", " << width << " wide";
    }
}

// The OpenCL tutorial "Histograms on a GPU" counts in bytes, which wrap around at 256, and ignores pixels
// beyond the last whole group of 256 x 128.
TEST_P(Histogram, counts_of_constant_pictures_do_not_wrap_and_are_complete) {
  std::vector<Size> sizes{{16, 16}, {257, 1}, {129, 127}, {100, 60}};
  if (!kEmulated) sizes.insert(sizes.end(), {{512, 512}, {640, 480}, {500, 300}, {1921, 1081}, {1, 5000}});
  Counter counter(execution());
  for (const Size size : sizes)
    for (const int value : {0, 1, 16, 127, 128, 254, 255}) {
      const Picture picture = constant(size, static_cast<std::uint8_t>(value));
      Counts expected({256, 1});
      expected.at(value, 0) = static_cast<std::uint32_t>(size.width * size.height);
      ASSERT_TRUE(same(counter.count(picture), expected))
          << size.width << "x" << size.height << " of " << value;
    }
}

TEST_P(Histogram, every_constant_value_is_counted_in_its_bin) {
  Counter counter(execution());
  for (int value = 0; value < 256; value += kEmulated ? 15 : 1) {
    const Picture picture = constant({33, 9}, static_cast<std::uint8_t>(value));
    ASSERT_TRUE(same(counter.count(picture), opencv(picture, {}))) << value;
  }
}

TEST_P(Histogram, photographs_equal_opencv) {
  Counter counter(execution());
  for (const char *file : {"graf1.png", "fruits.jpg"}) {
    const Photo &photo = gray_photo(file);
    if (!photo.ok()) GTEST_SKIP() << photo.why_not;
    const Picture picture = kEmulated ? photo.pixels.crop({100, 100, 200, 150}) : photo.pixels;
    for (const HistogramParams &params :
         {HistogramParams{}, HistogramParams{16, 0, 256}, HistogramParams{100, 10, 200}})
      EXPECT_TRUE(same(counter.count(picture, params), opencv(picture, params)))
          << file << " " << to_string(params);
  }
}

// A count beyond the precision of float, for a frame of the largest size: all its rows are the same row in
// memory (pitch 0).
TEST_P(Histogram, counts_are_exact_beyond_24_bits) {
  if (kEmulated) GTEST_SKIP() << "takes too long";
  const TestImage<std::uint8_t> row(execution(), constant({16384, 1}, 7), kAligned);
  Counter counter(execution());
  const Counts counts = counter.count(luma_samples({row.view().data, 0, 16384, 16384}));
  EXPECT_EQ(counts.at(7, 0), 16384u * 16384u);
  EXPECT_EQ(sum(counts), 16384u * 16384u);
}

// --- channels ---

// All formats of the tests, and one whose first byte is padding.
std::vector<PixelFormat> channel_formats() {
  std::vector<PixelFormat> formats = pixel_formats();
  formats.push_back({"xRGB",
                     {ColorModel::rgb,
                      {{.offset_bytes = 1, .step_bytes = 4},
                       {.offset_bytes = 2, .step_bytes = 4},
                       {.offset_bytes = 3, .step_bytes = 4}}},
                     1,
                     {{4, 0, 0}}});
  return formats;
}

TEST_P(Histogram, channels_of_every_format_and_size_equal_the_definition_and_opencv) {
  std::vector<Size> sizes{{1, 1}, {1, 9}, {2, 1}, {5, 7}, {33, 18}};
  if (!kEmulated) sizes.insert(sizes.end(), {{16, 16}, {129, 65}, {301, 200}});
  Counter counter(execution());
  unsigned seed = 1;
  for (const PixelFormat &format : channel_formats())
    for (const Size size : sizes) {
      const Placement &placement = kPlacements[seed % 5];
      SCOPED_TRACE(::testing::Message() << format << " " << size.width << "x" << size.height << " "
                                        << placement << " seed " << seed);
      const HostFrame frame(format, size, seed++);
      const Region all{0, 0, size.width, size.height};
      const Counts counts = counter.count(frame, all, {}, placement);
      ASSERT_TRUE(same(counts, definition(frame, all, {})));
      ASSERT_TRUE(same(counts, opencv(frame, all, {})));
    }
}

TEST_P(Histogram, channels_of_a_region_equal_the_definition) {
  Counter counter(execution());
  const Size size{53, 21};
  const HistogramParams params{100, 10, 200};
  for (const PixelFormat &format : channel_formats()) {
    const HostFrame frame(format, size, 11);
    for (int x = 0; x < 17; x += kEmulated ? 3 : 1)
      for (const Region region :
           {Region{x, 0, 1, 1}, Region{x, 3, 5, 4}, Region{x, 4, 36, 17}, Region{x, 20, 8, 1}})
        ASSERT_TRUE(same(counter.count(frame, region, params), definition(frame, region, params)))
            << format << " region " << region.x << "," << region.y << " " << region.width << "x"
            << region.height;
  }
}

TEST_P(Histogram, channels_take_every_bins_and_range) {
  Counter counter(execution());
  const Region region{1, 1, 30, 19};
  for (const PixelFormat &format : channel_formats()) {
    const HostFrame frame(format, {33, 21}, 12);
    for (const HistogramParams &params : all_params()) {
      if (kEmulated && params.bins != 3 && params.bins != 256) continue;
      ASSERT_TRUE(same(counter.count(frame, region, params), opencv(frame, region, params)))
          << format << " " << to_string(params);
    }
  }
}

TEST_P(Histogram, alpha_and_padding_are_not_counted) {
  Counter counter(execution());
  for (const PixelFormat &format : channel_formats()) {
    if (format.layout.model != ColorModel::rgb || format.plane[0].group_bytes != 4) continue;
    HostFrame frame(format, {37, 9}, 13);
    const int fourth = std::string(format.name) == "xRGB" ? 0 : 3;
    const Counts expected = counter.count(frame, {0, 0, 37, 9});
    EXPECT_EQ(sum(expected), 3u * 37 * 9) << format;
    for (const int alpha : {0, 255}) {
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 37; ++x) frame.planes[0].at(4 * x + fourth, y) = static_cast<std::uint8_t>(alpha);
      EXPECT_TRUE(same(counter.count(frame, {0, 0, 37, 9}), expected)) << format << " alpha " << alpha;
    }
  }
}

// --- many frames ---

TEST_P(Histogram, frames_do_not_depend_on_earlier_frames) {
  Counter counter(execution());
  const HostFrame frame(pixel_formats()[1], {40, 20}, 14);
  const Picture dark = constant({40, 20}, 3), bright = noise({90, 30}, 15);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(same(counter.count(bright), definition(bright, {}))) << i;
    EXPECT_TRUE(same(counter.count(dark), definition(dark, {}))) << i;
    EXPECT_TRUE(same(counter.count(frame, {3, 2, 30, 10}), definition(frame, {3, 2, 30, 10}, {}))) << i;
    EXPECT_TRUE(same(counter.count(bright, {7, 10, 200}), definition(bright, {7, 10, 200}))) << i;
  }
}

TEST_P(Histogram, queued_frames_and_two_instances_are_independent) {
  std::unique_ptr<cudavision::Histogram> one, other;
  ASSERT_TRUE(succeeds(make_histogram(execution(), &one)));
  ASSERT_TRUE(succeeds(make_histogram(execution(), &other)));
  const Picture a = noise({90, 30}, 16), b = constant({77, 21}, 9);
  const TestImage<std::uint8_t> image_a(execution(), a, kTight), image_b(execution(), b, kTight);
  const TestImage<std::uint32_t> first(execution(), {256, 1}, kTight), second(execution(), {3, 1}, kTight),
      third(execution(), {256, 1}, kTight), fourth(execution(), {16, 1}, kTight);
  EXPECT_TRUE(succeeds(one->run(luma_samples(image_a.view()), {}, first.view().data)));
  EXPECT_TRUE(succeeds(other->run(luma_samples(image_b.view()), {3, 0, 256}, second.view().data)));
  EXPECT_TRUE(succeeds(one->run(luma_samples(image_b.view()), {}, third.view().data)));
  EXPECT_TRUE(succeeds(other->run(luma_samples(image_a.view()), {16, 10, 200}, fourth.view().data)));
  EXPECT_TRUE(same(first.download(), definition(a, {})));
  EXPECT_TRUE(same(second.download(), definition(b, {3, 0, 256})));
  EXPECT_TRUE(same(third.download(), definition(b, {})));
  EXPECT_TRUE(same(fourth.download(), definition(a, {16, 10, 200})));
}

// --- invalid parameters ---

TEST_P(Histogram, contradicting_parameters_are_refused_and_change_nothing) {
  Counter counter(execution());
  const Picture picture = noise({30, 20}, 17);
  const TestImage<std::uint8_t> image(execution(), picture, kTight);
  const TestImage<std::uint32_t> counts(execution(), {257, 1}, kTight);
  const Counts before = counts.download();
  for (const HistogramParams &params :
       {HistogramParams{0, 0, 256}, HistogramParams{-1, 0, 256}, HistogramParams{257, 0, 256},
        HistogramParams{256, 100, 100}, HistogramParams{256, 200, 100}, HistogramParams{256, -1, 256},
        HistogramParams{256, 0, 257}, HistogramParams{256, 256, 256}}) {
    EXPECT_TRUE(refused(validate(params))) << to_string(params);
    EXPECT_TRUE(refused(counter.histogram().run(luma_samples(image.view()), params, counts.view().data)))
        << to_string(params);
  }
  EXPECT_TRUE(same(counts.download(), before));
  EXPECT_TRUE(same(counter.count(picture), definition(picture, {}))) << "the next frame is counted";
}

TEST(HistogramParams, error_texts_name_the_contradicting_parameters) {
  EXPECT_NE(validate(HistogramParams{0, 0, 256}).text().find("bins"), std::string::npos);
  const std::string text = validate(HistogramParams{256, 200, 100}).text();
  for (const char *word : {"range-min", "200", "range-max", "100"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
  for (const HistogramParams &params : all_params()) EXPECT_TRUE(succeeds(validate(params)));
}

TEST_P(Histogram, frames_in_flight_equal_frames_alone) {
  Counter counter(execution());
  const Size size = size_in_flight(execution(), {1920, 1080}, {300, 70});
  expect_frames_in_flight_equal_frames_alone(
      execution(), size, 256 * sizeof(std::uint32_t),
      [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *counts, cudavision::Input input) {
        return counter.histogram().run(luma_samples(luma), {}, reinterpret_cast<std::uint32_t *>(counts),
                                       input);
      });
}

// --- cost on the GPU ---

TEST_P(Histogram, frame_takes_one_launch_with_a_bounded_number_of_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  Counter counter(execution());
  for (const PixelFormat &format : pixel_formats())
    for (const Size size : {Size{1, 1}, Size{70, 9}, Size{300, 200}}) {
      const TestFrame frame(execution(), HostFrame(format, size, 18), kAligned);
      const Samples samples = channel_samples(frame.frame(), {0, 0, size.width, size.height});
      const TestImage<std::uint32_t> counts(execution(), {256, samples.channels}, kTight);
      finish(execution());
      const Budget budget;
      EXPECT_TRUE(succeeds(counter.histogram().run(samples, {}, counts.view().data)));
      budget.expect_launches_alone(1);
      finish(execution());
      // The bound: each block adds the count of each bin once.
      const int chunks = (samples.rows[0].row_bytes / 16 + 2) * samples.rows[0].rows;
      const unsigned blocks = static_cast<unsigned>(std::min(132, chunks / 512 + 1));
      EXPECT_LE(budget.spent().global_atomics, blocks * static_cast<unsigned>(samples.channels) * 256)
          << format;
    }
}

}  // namespace
