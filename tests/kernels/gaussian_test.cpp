// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the Gaussian on every backend with a plain implementation of its definition and with cv::GaussianBlur, and
// tests its limits.
#include "cuda/gaussian/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::Execution;
using cudavision::gaussian_weights;
using cudavision::make_gaussian;
using cudavision::Size;
using cudavision::validate_gaussian_sigma;

class Gaussian : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Gaussian);

// --- the definition ---

// Reflects index i into a row of count elements, by walking step by step from element 0: ... 3 2 1 0 1 2 3 ...
int mirrored(int i, int count) {
  int at = 0;
  for (int step = 0, direction = 1; step < std::abs(i) && count > 1; ++step) {
    if (at + direction < 0 || at + direction >= count) direction = -direction;
    at += direction;
  }
  return at;
}

// Evaluates both passes as one sum of products, in units of 1/65536.
Picture definition(const Picture &src, double sigma) {
  const std::vector<std::uint16_t> weights = gaussian_weights(sigma);
  const int radius = static_cast<int>(weights.size()) - 1;
  const auto weight = [&](int i) {
    return static_cast<long long>(weights[static_cast<std::size_t>(std::abs(i))]);
  };
  Picture dst(src.size());
  for (int y = 0; y < src.height(); ++y)
    for (int x = 0; x < src.width(); ++x) {
      long long sum = 0;
      for (int j = -radius; j <= radius; ++j)
        for (int i = -radius; i <= radius; ++i) {
          // mirrored() starts at element 0: indices beyond the other border are counted from there.
          const int px = x + i < 0 ? mirrored(x + i, src.width())
                         : x + i < src.width()
                             ? x + i
                             : src.width() - 1 - mirrored(x + i - src.width() + 1, src.width());
          const int py = y + j < 0 ? mirrored(y + j, src.height())
                         : y + j < src.height()
                             ? y + j
                             : src.height() - 1 - mirrored(y + j - src.height() + 1, src.height());
          sum += weight(i) * weight(j) * src.at(px, py);
        }
      dst.at(x, y) = static_cast<std::uint8_t>((sum + 32768) / 65536);
    }
  return dst;
}

Picture opencv(const Picture &src, double sigma) {
  const cv::Mat source(src.height(), src.width(), CV_8U, const_cast<std::uint8_t *>(src.row(0)));
  Picture dst(src.size());
  cv::Mat result(src.height(), src.width(), CV_8U, dst.row(0));
  cv::GaussianBlur(source, result, cv::Size(), sigma);
  return dst;
}

// A Gaussian instance with its input and output images, both with guard bytes.
class GaussianRunner {
 public:
  GaussianRunner(const Execution &execution, Size size, const Placement &src = kOddPitch,
                 const Placement &dst = kMisaligned)
      : src_(execution, size, src), dst_(execution, size, dst) {
    EXPECT_TRUE(succeeds(make_gaussian(execution, size, &gaussian_)));
  }
  Picture run(const Picture &src, double sigma) {
    src_.upload(src);
    EXPECT_TRUE(succeeds(gaussian_->run(src_.view(), dst_.view(), sigma)));
    (void)src_.download();  // checks its guard bytes
    return dst_.download();
  }
  cudavision::Gaussian &gaussian() { return *gaussian_; }
  const TestImage<std::uint8_t> &src() const { return src_; }
  const TestImage<std::uint8_t> &dst() const { return dst_; }

 private:
  TestImage<std::uint8_t> src_, dst_;
  std::unique_ptr<cudavision::Gaussian> gaussian_;
};

TEST(GaussianWeights, sum_to_one_and_fall_from_the_centre) {
  for (int i = 1; i <= 16000; ++i) {
    const double sigma = i / 1000.0;
    const std::vector<std::uint16_t> weights = gaussian_weights(sigma);
    ASSERT_EQ(2 * (weights.size() - 1) + 1, static_cast<std::size_t>(std::nearbyint(6 * sigma + 1)) | 1)
        << sigma;
    ASSERT_LE(weights.size(), static_cast<std::size_t>(cudavision::kMaxGaussianRadius) + 1) << sigma;
    int sum = weights[0];
    for (std::size_t k = 1; k < weights.size(); ++k) sum += 2 * weights[k];
    ASSERT_EQ(sum, 256) << sigma;
    // Because rounding errors are carried over, a weight can exceed its inner neighbour, but by at most one unit.
    for (std::size_t k = 1; k < weights.size(); ++k) ASSERT_LE(weights[k], weights[k - 1] + 1) << sigma;
  }
}

// 256 exp(-x^2 / 2) / sqrt(2 pi) is 1.13, 13.82 and 61.94 for x = 3, 2 and 1; the rounding errors are carried inward.
TEST(GaussianWeights, equal_known_values_for_sigma_one) {
  EXPECT_EQ(gaussian_weights(1.0), (std::vector<std::uint16_t>{102, 62, 14, 1}));
}

TEST(GaussianWeights, sigma_is_validated) {
  for (const double sigma : {0.0, 1e-300, 0.05, 1.0, 15.999, 16.0})
    EXPECT_TRUE(succeeds(validate_gaussian_sigma(sigma))) << sigma;
  for (const double sigma :
       {-0.001, -1.0, 16.0001, 17.0, 1e300, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(refused(validate_gaussian_sigma(sigma))) << sigma;
}

std::vector<Size> sizes() {
  if (kEmulated) return {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {31, 33}, {32, 32}, {65, 34}};
  return {{1, 1},   {2, 1},   {1, 2},   {2, 2},   {3, 5},   {1, 97},  {97, 1},
          {2, 60},  {60, 2},  {15, 17}, {31, 33}, {32, 32}, {33, 31}, {63, 16},
          {64, 64}, {65, 66}, {97, 49}, {129, 7}, {16, 40}, {131, 48}};
}

TEST_P(Gaussian, every_size_equals_the_definition) {
  unsigned seed = 1;
  for (const Size size : sizes())
    for (const double sigma : {0.1, 0.6, 2.3, 9.1}) {
      if (kEmulated && sigma == 9.1 && size.width > 40) continue;
      const Placement &src = kPlacements[seed % 5], &dst = kPlacements[(seed / 5 + seed) % 5];
      SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " sigma " << sigma << " seed "
                                        << seed << " src " << src << " dst " << dst);
      const Picture picture = noise(size, seed);
      ASSERT_TRUE(
          same(GaussianRunner(execution(), size, src, dst).run(picture, sigma), definition(picture, sigma)));
      ++seed;
    }
}

TEST_P(Gaussian, every_sigma_equals_opencv) {
  const Size size = kEmulated ? Size{45, 35} : Size{131, 97};
  const Picture picture = noise(size, 2);
  GaussianRunner runner(execution(), size);
  // With emulated kernels, each case (which runs the threads in an order of its own) tests a different subset.
  const int step = kEmulated ? 40 : 1, first = 1 + GetParam().name.back() % step;
  for (int i = first; i <= 320; i += step) {
    const double sigma = i * 0.05;
    ASSERT_TRUE(same(runner.run(picture, sigma), opencv(picture, sigma))) << sigma;
  }
  ASSERT_TRUE(same(runner.run(picture, 16), opencv(picture, 16)));
}

TEST_P(Gaussian, picture_smaller_than_the_radius_equals_opencv) {
  for (const Size size : {Size{1, 1}, Size{1, 5}, Size{7, 1}, Size{2, 2}, Size{3, 40}, Size{20, 3}})
    for (const double sigma : {0.7, 4.0, 16.0}) {
      const Picture picture = noise(size, 3);
      EXPECT_TRUE(same(GaussianRunner(execution(), size).run(picture, sigma), opencv(picture, sigma)))
          << size.width << "x" << size.height << " sigma " << sigma;
    }
}

TEST_P(Gaussian, photograph_equals_opencv) {
  const Photo &photo = gray_photo("building.jpg");
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const Picture picture = kEmulated ? photo.pixels.crop({300, 200, 100, 70}) : photo.pixels;
  GaussianRunner runner(execution(), picture.size());
  for (const double sigma : {0.8, 1.4, 5.0})
    EXPECT_TRUE(same(runner.run(picture, sigma), opencv(picture, sigma))) << sigma;
}

TEST_P(Gaussian, constant_picture_does_not_change) {
  for (const int value : {0, 1, 128, 255}) {
    const Picture picture = constant({70, 35}, static_cast<std::uint8_t>(value));
    EXPECT_TRUE(same(GaussianRunner(execution(), picture.size()).run(picture, 3.3), picture));
  }
}

TEST_P(Gaussian, tiny_sigma_copies) {
  const Picture picture = noise({70, 35}, 4);
  for (const double sigma : {5e-324, 1e-300, 1e-9, 0.05, 0.08})
    EXPECT_TRUE(same(GaussianRunner(execution(), picture.size()).run(picture, sigma), picture)) << sigma;
}

// One bright pixel becomes the outer product of the weights, rounded once.
TEST_P(Gaussian, impulse_gives_the_weights) {
  const Size size{41, 37};
  Picture picture(size);
  picture.at(20, 18) = 255;
  const std::vector<std::uint16_t> weights = gaussian_weights(1.6);
  const int radius = static_cast<int>(weights.size()) - 1;
  Picture expected(size);
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i)
      expected.at(20 + i, 18 + j) =
          static_cast<std::uint8_t>((255 * weights[static_cast<std::size_t>(std::abs(i))] *
                                         weights[static_cast<std::size_t>(std::abs(j))] +
                                     32768) >>
                                    16);
  EXPECT_TRUE(same(GaussianRunner(execution(), size).run(picture, 1.6), expected));
}

TEST_P(Gaussian, results_do_not_depend_on_earlier_sigmas) {
  const Picture a = noise({70, 67}, 5), b = smooth_noise({70, 67}, 2, 6);
  GaussianRunner runner(execution(), a.size());
  for (const double sigma : {1.0, 6.0, 0.3, 6.0, 1.0}) {
    ASSERT_TRUE(same(runner.run(a, sigma), opencv(a, sigma)));
    ASSERT_TRUE(same(runner.run(b, sigma), opencv(b, sigma)));
  }
}

TEST_P(Gaussian, invalid_sigmas_and_sizes_are_refused_and_leave_the_output_untouched) {
  GaussianRunner runner(execution(), {40, 30});
  const Picture before = runner.dst().download();
  for (const double sigma :
       {0.0, -1.0, 16.001, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(refused(runner.gaussian().run(runner.src().view(), runner.dst().view(), sigma))) << sigma;
  const TestImage<std::uint8_t> other(execution(), {41, 30}, kAligned);
  EXPECT_TRUE(refused(runner.gaussian().run(other.view(), runner.dst().view(), 1)));
  EXPECT_TRUE(refused(runner.gaussian().run(runner.src().view(), other.view(), 1)));
  EXPECT_TRUE(same(runner.dst().download(), before));
  (void)other.download();
}

TEST_P(Gaussian, sizes_out_of_range_are_refused) {
  for (const Size size : {Size{0, 0}, Size{0, 5}, Size{5, -1}, Size{16385, 1}, Size{1, 16385}}) {
    std::unique_ptr<cudavision::Gaussian> gaussian;
    EXPECT_TRUE(refused(make_gaussian(execution(), size, &gaussian)));
    EXPECT_EQ(gaussian, nullptr);
  }
}

TEST_P(Gaussian, frame_is_one_launch_without_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  GaussianRunner runner(execution(), {70, 35});
  const Budget budget;
  EXPECT_TRUE(succeeds(runner.gaussian().run(runner.src().view(), runner.dst().view(), 2)));
  budget.expect_launches_alone(1);
  finish(execution());
  EXPECT_EQ(budget.spent().global_atomics, 0u);
}

}  // namespace
