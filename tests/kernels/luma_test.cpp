// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares luma extraction on every backend with its definition and with cv::cvtColor, and tests its limits.
#include "cuda/luma/luma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::ColorModel;
using cudavision::Execution;
using cudavision::extract_luma;
using cudavision::LumaRange;
using cudavision::Size;

class Luma : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Luma);

// Converts a luma value of the limited range (16 to 235) to the full range, rounded to nearest.
std::uint8_t expanded(int y) {
  return static_cast<std::uint8_t>(std::clamp(std::lround((y - 16) * 255 / 219.0), 0l, 255l));
}

std::uint8_t definition(const HostFrame &frame, LumaRange range, int x, int y) {
  if (frame.format->layout.model == ColorModel::rgb)
    return static_cast<std::uint8_t>(
        (9798 * frame.at(0, x, y) + 19235 * frame.at(1, x, y) + 3735 * frame.at(2, x, y) + 16384) >> 15);
  const int luma = frame.at(0, x, y);
  return range == LumaRange::full ? expanded(luma) : static_cast<std::uint8_t>(luma);
}

Picture definition(const HostFrame &frame, LumaRange range = LumaRange::as_is) {
  Picture luma(frame.size);
  for (int y = 0; y < luma.height(); ++y)
    for (int x = 0; x < luma.width(); ++x) luma.at(x, y) = definition(frame, range, x, y);
  return luma;
}

Picture run(const Execution &execution, const HostFrame &frame, const Placement &source = kOddPitch,
            const Placement &destination = kMisaligned, LumaRange range = LumaRange::as_is) {
  const TestFrame test_frame(execution, frame, source);
  const TestImage<std::uint8_t> luma(execution, frame.size, destination);
  EXPECT_TRUE(succeeds(extract_luma(execution, test_frame.frame(), luma.view(), range)));
  EXPECT_TRUE(same(test_frame.download(), frame)) << "the frame must not change";
  return luma.download();
}

const PixelFormat &format_named(const std::string &name) {
  return *std::find_if(pixel_formats().begin(), pixel_formats().end(),
                       [&](const PixelFormat &f) { return f.name == name; });
}

TEST_P(Luma, every_format_and_size_equals_the_definition) {
  std::vector<Size> sizes{{1, 1}, {1, 9}, {2, 1}, {3, 3}, {4, 8}, {5, 7}, {127, 9}, {128, 8}, {129, 17}};
  if (!kEmulated)
    for (const int width : {15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 301})
      sizes.push_back({width, 33});
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const Size size : sizes) {
      const Placement &source = kPlacements[seed % 5], &destination = kPlacements[(seed / 5 + seed) % 5];
      SCOPED_TRACE(::testing::Message() << format << " " << size.width << "x" << size.height << " seed "
                                        << seed << " from " << source << " to " << destination);
      const HostFrame frame(format, size, seed++);
      for (const LumaRange range : {LumaRange::as_is, LumaRange::full})
        ASSERT_TRUE(same(run(execution(), frame, source, destination, range), definition(frame, range)));
    }
}

TEST_P(Luma, every_value_is_expanded_to_the_nearest_one) {
  HostFrame frame(format_named("GRAY8"), {256, 1}, 0);
  for (int y = 0; y < 256; ++y) frame.sample(0, y, 0) = static_cast<std::uint8_t>(y);
  const Picture luma = run(execution(), frame, kTight, kTight, LumaRange::full);
  for (int y = 0; y < 256; ++y) EXPECT_EQ(luma.at(y, 0), expanded(y)) << y;
  for (const auto &[y, full] :
       {std::pair{0, 0}, {16, 0}, {17, 1}, {126, 128}, {234, 254}, {235, 255}, {255, 255}})
    EXPECT_EQ(luma.at(y, 0), full) << y;
}

TEST_P(Luma, every_placement_equals_the_definition) {
  for (const char *name : {"RGB", "BGRA", "UYVY", "GRAY8"})
    for (const Placement &source : kPlacements)
      for (const Placement &destination : kPlacements) {
        const HostFrame frame(format_named(name), {130, 5}, 2);
        ASSERT_TRUE(same(run(execution(), frame, source, destination), definition(frame)))
            << name << " from " << source << " to " << destination;
      }
}

struct Conversion {
  const char *format;
  int code, type;
};
constexpr Conversion kConversions[] = {{"RGB", cv::COLOR_RGB2GRAY, CV_8UC3},
                                       {"BGR", cv::COLOR_BGR2GRAY, CV_8UC3},
                                       {"RGBA", cv::COLOR_RGBA2GRAY, CV_8UC4},
                                       {"BGRA", cv::COLOR_BGRA2GRAY, CV_8UC4}};

Picture opencv(const HostFrame &frame, const Conversion &conversion) {
  const cv::Mat source(frame.size.height, frame.size.width, conversion.type,
                       const_cast<std::uint8_t *>(frame.planes[0].row(0)));
  Picture luma(frame.size);
  cv::Mat result(frame.size.height, frame.size.width, CV_8U, luma.row(0));
  cv::cvtColor(source, result, conversion.code);
  return luma;
}

TEST_P(Luma, noise_equals_opencv) {
  const Size size = kEmulated ? Size{150, 40} : Size{641, 481};
  for (const Conversion &conversion : kConversions) {
    const HostFrame frame(format_named(conversion.format), size, 3);
    EXPECT_TRUE(same(run(execution(), frame), opencv(frame, conversion))) << conversion.format;
  }
}

TEST_P(Luma, photographs_equal_opencv) {
  for (const char *file : {"graf1.png", "fruits.jpg"}) {
    const Photo &photo = rgb_photo(file);
    if (!photo.ok()) GTEST_SKIP() << photo.why_not;
    HostFrame frame(format_named("RGB"), {photo.pixels.width() / 3, photo.pixels.height()}, 0);
    frame.planes[0] = photo.pixels;
    if (kEmulated) {
      frame.size = {150, 60};
      frame.planes[0] = photo.pixels.crop({300, 100, 450, 60});
    }
    EXPECT_TRUE(same(run(execution(), frame), opencv(frame, kConversions[0]))) << file;
  }
}

// All 256^3 colours on real backends. Emulated kernels: all values of red, and a grid of green and blue.
TEST_P(Luma, all_colours_equal_opencv) {
  const int step = kEmulated ? 37 : 1;
  for (int blue = 0; blue < 256; blue += step == 1 ? 16 : 85) {
    const int count = step == 1 ? 16 : 1;  // pictures of 256 x 256 pixels, stacked vertically
    const int greens = (255 + step) / step;
    HostFrame frame(format_named("RGB"), {256, greens * count}, 0);
    for (int b = 0; b < count; ++b)
      for (int g = 0; g < greens; ++g)
        for (int r = 0; r < 256; ++r) {
          frame.sample(0, r, b * greens + g) = static_cast<std::uint8_t>(r);
          frame.sample(1, r, b * greens + g) = static_cast<std::uint8_t>(g * step);
          frame.sample(2, r, b * greens + g) = static_cast<std::uint8_t>(blue + b);
        }
    ASSERT_TRUE(same(run(execution(), frame, kTight, kTight), opencv(frame, kConversions[0])))
        << "blue " << blue;
  }
}

TEST_P(Luma, alpha_and_padding_change_nothing) {
  for (const char *name : {"RGBA", "BGRA"}) {
    HostFrame frame(format_named(name), {70, 9}, 4);
    const Picture expected = run(execution(), frame);
    for (const int alpha : {0, 1, 128, 255}) {
      for (int y = 0; y < frame.size.height; ++y)
        for (int x = 0; x < frame.size.width; ++x)
          frame.planes[0].at(4 * x + 3, y) = static_cast<std::uint8_t>(alpha);
      EXPECT_TRUE(same(run(execution(), frame), expected)) << name << " alpha " << alpha;
    }
  }
}

TEST_P(Luma, gray_stays_gray_and_limits_are_reached) {
  EXPECT_EQ(cudavision::luma_of_rgb(0, 0, 0), 0);
  EXPECT_EQ(cudavision::luma_of_rgb(255, 255, 255), 255);
  HostFrame frame(format_named("BGR"), {256, 1}, 0);
  for (int v = 0; v < 256; ++v)
    for (int c = 0; c < 3; ++c) frame.sample(c, v, 0) = static_cast<std::uint8_t>(v);
  const Picture luma = run(execution(), frame);
  for (int v = 0; v < 256; ++v) EXPECT_EQ(luma.at(v, 0), v);
}

TEST_P(Luma, image_of_another_size_is_refused_and_stays_untouched) {
  for (const char *name : {"RGB", "NV12"})
    for (const Size size : {Size{21, 9}, Size{20, 10}, Size{10, 20}, Size{0, 0}}) {
      const TestFrame frame(execution(), HostFrame(format_named(name), {20, 9}, 5), kAligned);
      const TestImage<std::uint8_t> luma(execution(), size, kAligned);
      const Picture before = luma.download();
      EXPECT_TRUE(refused(extract_luma(execution(), frame.frame(), luma.view())));
      EXPECT_TRUE(same(luma.download(), before));
    }
}

TEST_P(Luma, frame_is_one_launch_without_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  for (const PixelFormat &format : pixel_formats()) {
    const TestFrame frame(execution(), HostFrame(format, {70, 9}, 6), kAligned);
    const TestImage<std::uint8_t> luma(execution(), {70, 9}, kAligned);
    const Budget budget;
    EXPECT_TRUE(succeeds(extract_luma(execution(), frame.frame(), luma.view())));
    budget.expect_launches_alone(1);
    finish(execution());
    EXPECT_EQ(budget.spent().global_atomics, 0u) << format;
  }
}

}  // namespace
