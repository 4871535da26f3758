// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares Canny on every backend with a plain implementation of its definition and with cv::Canny, and tests
// its limits.
#include "cuda/canny/canny.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/frames_in_flight.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::CannyParams;
using cudavision::divide_up;
using cudavision::Execution;
using cudavision::make_canny;
using cudavision::Region;
using cudavision::Size;

class Canny : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Canny);

// The side of a tile of the CUDA backend, and the number of pixels per word of the CPU backend.
constexpr int kTile = 64;

std::string describe(const CannyParams &p) {
  std::ostringstream text;
  text << "low " << p.low_threshold << " high " << p.high_threshold << " aperture " << p.aperture
       << (p.l2_gradient ? " L2" : " L1") << " sigma " << p.gaussian_sigma
       << (p.hysteresis ? "" : " no hysteresis");
  return text.str();
}

// --- the definition ---

// The product of two polynomials. The smoothing filter has the coefficients of (1 + z)^(aperture - 1), the
// derivative filter those of (1 + z)^(aperture - 3) (z^2 - 1).
std::vector<int> times(const std::vector<int> &a, const std::vector<int> &b) {
  std::vector<int> product(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) product[i + j] += a[i] * b[j];
  return product;
}
std::vector<int> smoothing(int aperture) {
  std::vector<int> row{1};
  for (int i = 1; i < aperture; ++i) row = times(row, {1, 1});
  return row;
}
std::vector<int> derivative(int aperture) { return times(smoothing(aperture - 2), {-1, 0, 1}); }

// Correlates luma with the outer product of the filters across (along x) and down (along y). The border is replicated.
HostImage<int> sobel(const Picture &luma, int aperture, const std::vector<int> &across,
                     const std::vector<int> &down) {
  HostImage<int> gradient(luma.size());
  for (int y = 0; y < luma.height(); ++y)
    for (int x = 0; x < luma.width(); ++x) {
      int sum = 0;
      for (int j = 0; j < aperture; ++j)
        for (int i = 0; i < aperture; ++i) {
          const int px = std::clamp(x + i - aperture / 2, 0, luma.width() - 1);
          const int py = std::clamp(y + j - aperture / 2, 0, luma.height() - 1);
          sum += across[static_cast<std::size_t>(i)] * down[static_cast<std::size_t>(j)] * luma.at(px, py);
        }
      // std::nearbyint rounds half to even.
      gradient.at(x, y) = aperture == 7 ? static_cast<int>(std::nearbyint(sum / 16.0)) : sum;
    }
  return gradient;
}

// Returns true if (x, y) is a local maximum in the direction of its gradient, by the arithmetic of OpenCV's canny.cpp.
bool is_maximum(const HostImage<int> &dx, const HostImage<int> &dy, const HostImage<int> &magnitude, int x,
                int y) {
  constexpr long long kTangent = 13573;  // tan 22.5 degrees in Q15
  const auto m_at = [&](int px, int py) {
    const bool outside = px < 0 || py < 0 || px >= magnitude.width() || py >= magnitude.height();
    return outside ? 0 : magnitude.at(px, py);
  };
  const int m = magnitude.at(x, y), gx = dx.at(x, y), gy = dy.at(x, y);
  const long long ax = std::abs(gx), ay = static_cast<long long>(std::abs(gy)) << 15;
  if (ay < ax * kTangent) return m > m_at(x - 1, y) && m >= m_at(x + 1, y);
  if (ay > ax * kTangent + (ax << 16)) return m > m_at(x, y - 1) && m >= m_at(x, y + 1);
  const int s = (gx ^ gy) < 0 ? -1 : 1;
  return m > m_at(x - s, y - 1) && m > m_at(x + s, y + 1);
}

Picture definition(const Picture &luma, const CannyParams &params) {
  const HostImage<int> dx =
      sobel(luma, params.aperture, derivative(params.aperture), smoothing(params.aperture));
  const HostImage<int> dy =
      sobel(luma, params.aperture, smoothing(params.aperture), derivative(params.aperture));
  double low = std::min(params.low_threshold, params.high_threshold);
  double high = std::max(params.low_threshold, params.high_threshold);
  if (params.aperture == 7) low /= 16, high /= 16;
  HostImage<int> magnitude(luma.size());
  for (std::size_t i = 0; i < magnitude.pixels().size(); ++i) {
    const int x = dx.pixels()[i], y = dy.pixels()[i];
    magnitude.pixels()[i] = params.l2_gradient ? x * x + y * y : std::abs(x) + std::abs(y);
  }
  if (params.l2_gradient) {
    low = std::pow(std::min(32767.0, low), 2);
    high = std::pow(std::min(32767.0, high), 2);
  }
  Picture weak(luma.size()), edges(luma.size());
  std::vector<std::pair<int, int>> todo;
  for (int y = 0; y < luma.height(); ++y)
    for (int x = 0; x < luma.width(); ++x) {
      const int m = magnitude.at(x, y);
      if (!(m > std::floor(low)) || !is_maximum(dx, dy, magnitude, x, y)) continue;
      weak.at(x, y) = 1;
      if (!(m > std::floor(high))) continue;
      edges.at(x, y) = 255;
      todo.emplace_back(x, y);
    }
  if (!params.hysteresis) return edges;
  while (!todo.empty()) {
    const auto [x, y] = todo.back();
    todo.pop_back();
    for (int ny = std::max(0, y - 1); ny <= std::min(luma.height() - 1, y + 1); ++ny)
      for (int nx = std::max(0, x - 1); nx <= std::min(luma.width() - 1, x + 1); ++nx)
        if (weak.at(nx, ny) != 0 && edges.at(nx, ny) == 0) {
          edges.at(nx, ny) = 255;
          todo.emplace_back(nx, ny);
        }
  }
  return edges;
}

Picture opencv(const Picture &luma, const CannyParams &params) {
  const cv::Mat source(luma.height(), luma.width(), CV_8U, const_cast<std::uint8_t *>(luma.row(0)));
  cv::Mat smoothed, edges;
  if (params.gaussian_sigma > 0) cv::GaussianBlur(source, smoothed, cv::Size(), params.gaussian_sigma);
  cv::Canny(params.gaussian_sigma > 0 ? smoothed : source, edges, params.low_threshold, params.high_threshold,
            params.aperture, params.l2_gradient);
  Picture result(luma.size());
  for (int y = 0; y < luma.height(); ++y) std::copy_n(edges.ptr(y), luma.width(), result.row(y));
  return result;
}

// --- running Canny ---

// A Canny instance with its input and output images, both with guard bytes.
class CannyRunner {
 public:
  CannyRunner(const Execution &execution, Size size, const Placement &luma = kOddPitch,
              const Placement &edges = kMisaligned)
      : luma_(execution, size, luma), edges_(execution, size, edges) {
    EXPECT_TRUE(succeeds(make_canny(execution, size, &canny_)));
  }

  void enqueue(const Picture &luma, const CannyParams &params) {
    luma_.upload(luma);
    ASSERT_TRUE(canny_);
    EXPECT_TRUE(succeeds(canny_->run(luma_.view(), edges_.view(), params)));
  }
  Picture result() {
    (void)luma_.download();  // checks its guard bytes
    return edges_.download();
  }
  Picture run(const Picture &luma, const CannyParams &params) {
    enqueue(luma, params);
    return result();
  }

  cudavision::Canny &canny() { return *canny_; }
  const TestImage<std::uint8_t> &luma() const { return luma_; }
  const TestImage<std::uint8_t> &edges() const { return edges_; }

 private:
  TestImage<std::uint8_t> luma_, edges_;
  std::unique_ptr<cudavision::Canny> canny_;
};

Picture find_edges(const Execution &execution, const Picture &luma, const CannyParams &params) {
  return CannyRunner(execution, luma.size()).run(luma, params);
}

// Scales thresholds for aperture 3 to another aperture: the gradients of aperture 5 are 8 times, those of
// aperture 7 about 60 times as large.
CannyParams scaled(double low, double high, int aperture, bool l2_gradient) {
  const double scale = aperture == 3 ? 1 : aperture == 5 ? 8 : 60;
  CannyParams params;
  params.low_threshold = low * scale;
  params.high_threshold = high * scale;
  params.aperture = aperture;
  params.l2_gradient = l2_gradient;
  return params;
}
// With these parameters a fifth of the pixels of noise() become edges, most of them by hysteresis across many tiles.
CannyParams for_noise(int aperture = 3, bool l2_gradient = false) {
  return l2_gradient ? scaled(150, 650, aperture, true) : scaled(200, 900, aperture, false);
}
// Parameters like those of for_noise(), but for the weaker gradients of smooth_noise().
CannyParams for_smooth_noise(int aperture = 3, bool l2_gradient = false) {
  return scaled(20, 130, aperture, l2_gradient);
}

std::vector<CannyParams> every_gradient(CannyParams (*make)(int aperture, bool l2_gradient)) {
  std::vector<CannyParams> all;
  for (const int aperture : {3, 5, 7})
    for (const bool l2_gradient : {false, true}) all.push_back(make(aperture, l2_gradient));
  return all;
}

// The picture; for emulated kernels its middle part, which is small enough for them and still has several tiles.
Picture part_for_backend(const Picture &picture) {
  if (!kEmulated) return picture;
  const int width = std::min(picture.width(), 200), height = std::min(picture.height(), 150);
  return picture.crop({(picture.width() - width) / 2, (picture.height() - height) / 2, width, height});
}

// --- the definition over all sizes ---

std::vector<Size> sizes() {
  if (kEmulated)
    return {{1, 1}, {1, 70}, {70, 1}, {2, 2}, {5, 3}, {63, 65}, {64, 64}, {65, 63}, {128, 5}, {129, 66}};
  std::vector<Size> all{{1, 1}, {2, 1},   {1, 2},   {2, 2},   {3, 3},
                        {7, 5}, {1, 200}, {200, 1}, {2, 129}, {333, 100}};
  for (const int width : {15, 31, 63, 64, 65, 127, 128, 129})
    for (const int height : {1, 15, 16, 17, 63, 64, 65, 129}) all.push_back({width, height});
  return all;
}

TEST_P(Canny, every_size_and_gradient_equals_the_definition) {
  unsigned seed = 1;
  for (const Size size : sizes())
    for (CannyParams params : every_gradient(for_noise)) {
      const Placement &luma = kPlacements[seed % 5], &edges = kPlacements[(seed / 5 + seed) % 5];
      const Picture picture = noise(size, seed);
      CannyRunner runner(execution(), size, luma, edges);
      for (const bool hysteresis : {true, false}) {
        params.hysteresis = hysteresis;
        SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height << " seed " << seed << " luma "
                                          << luma << " edges " << edges << " " << describe(params));
        ASSERT_TRUE(same(runner.run(picture, params), definition(picture, params)));
      }
      ++seed;
    }
}

TEST_P(Canny, every_placement_equals_the_definition) {
  const Picture picture = noise({150, 70}, 3);
  const Picture expected = definition(picture, for_noise());
  for (const Placement &luma : kPlacements)
    for (const Placement &edges : kPlacements) {
      SCOPED_TRACE(::testing::Message() << "luma " << luma << ", edges " << edges);
      EXPECT_TRUE(
          same(CannyRunner(execution(), picture.size(), luma, edges).run(picture, for_noise()), expected));
    }
}

// The last tile has every width that matters to the loading of whole words.
TEST_P(Canny, every_width_around_the_end_of_a_tile_equals_the_definition) {
  for (int width = 2 * kTile - 1; width <= 2 * kTile + 8; ++width)
    for (const int aperture : {3, 7}) {
      const Picture picture = noise({width, kTile}, static_cast<unsigned>(width));
      const CannyParams params = for_noise(aperture);
      SCOPED_TRACE(::testing::Message() << "width " << width << " " << describe(params));
      EXPECT_TRUE(same(CannyRunner(execution(), picture.size(), kAligned, kAligned).run(picture, params),
                       definition(picture, params)));
    }
}

// Sets the 3 x 3 pixels around (x, y) so that the gradient at (x, y) is (dx, dy), or (dy, dx) if `transposed` is true:
// 0 < dx <= 1020, 0 <= dy <= 510, both even or both odd. The pixels around these nine must be 0.
void set_gradient(Picture &picture, int x, int y, int dx, int dy, bool transposed) {
  const int middle = std::min(dx / 2, 255), corners = dx - 2 * middle, odd = corners % 2;
  const int below = (dy - odd) / 2;
  const int values[3][3] = {{0, 0, (corners - odd) / 2}, {0, 128, middle}, {0, below, (corners + odd) / 2}};
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      picture.at(x + i - 1, y + j - 1) = static_cast<std::uint8_t>(transposed ? values[i][j] : values[j][i]);
}

// Tests for each |dx| the gradients on both sides of 22.5 degrees, and, transposed and mirrored, those beside all eight
// bounds of sectors. (The sector decides the edges for |dx| from about 256 to 766.)
TEST_P(Canny, gradients_at_the_bounds_of_sectors_equal_the_definition) {
  constexpr int kMost = 1020, kCell = 7, kColumns = 102;
  for (const bool transposed : {false, true}) {
    Picture luma({kColumns * kCell, divide_up(2 * kMost, kColumns) * kCell});
    for (int i = 0; i < 2 * kMost; ++i) {
      const int dx = 1 + i / 2, bound = dx * 13573 >> 15;  // the largest dy of the horizontal sector
      const int inside = bound - (bound + dx) % 2, dy = i % 2 == 0 ? std::max(inside, dx % 2) : inside + 2;
      set_gradient(luma, i % kColumns * kCell + kCell / 2, i / kColumns * kCell + kCell / 2, dx, dy,
                   transposed);
    }
    const CannyParams params{.low_threshold = 0, .high_threshold = 0};
    for (const char *mirrored : {"not mirrored", "left and right", "top and bottom"}) {
      if (*mirrored == 'l')
        for (int y = 0; y < luma.height(); ++y) std::reverse(luma.row(y), luma.row(y) + luma.width());
      if (*mirrored == 't')
        for (int y = 0; y < luma.height() / 2; ++y)
          std::swap_ranges(luma.row(y), luma.row(y) + luma.width(), luma.row(luma.height() - 1 - y));
      EXPECT_EQ(find_edges(execution(), luma, params), definition(luma, params))
          << mirrored << (transposed ? ", transposed" : "");
    }
  }
}

// --- equality with OpenCV ---

TEST_P(Canny, noise_over_many_tiles_equals_opencv) {
  const Size size = kEmulated ? Size{200, 135} : Size{643, 411};
  CannyRunner runner(execution(), size);
  for (const CannyParams &params : every_gradient(for_noise)) {
    const Picture picture = noise(size, 11), expected = opencv(picture, params);
    SCOPED_TRACE(describe(params));
    EXPECT_GT(count_of<std::uint8_t>(expected, 255), size.width * size.height / 20)
        << "too few edges for a meaningful test";
    EXPECT_TRUE(same(runner.run(picture, params), expected));
    EXPECT_TRUE(same(definition(picture, params), expected));
  }
}

TEST_P(Canny, smooth_noise_over_many_tiles_equals_opencv) {
  const Size size = kEmulated ? Size{193, 150} : Size{640, 480};
  CannyRunner runner(execution(), size);
  for (const int radius : {1, 3})
    for (const CannyParams &params : every_gradient(for_smooth_noise)) {
      const Picture picture = smooth_noise(size, radius, 12);
      SCOPED_TRACE(::testing::Message() << "radius " << radius << " " << describe(params));
      EXPECT_TRUE(same(runner.run(picture, params), opencv(picture, params)));
    }
}

TEST_P(Canny, every_instruction_set_equals_opencv) {
  if (GetParam().backend == cudavision::Backend::cuda) GTEST_SKIP() << "of the CPU backend";
  const Picture picture = smooth_noise({193, 150}, 1, 12);
  on_every_instruction_set([&] {
    CannyRunner runner(execution(), picture.size());
    for (const CannyParams &params : every_gradient(for_smooth_noise))
      EXPECT_TRUE(same(runner.run(picture, params), opencv(picture, params))) << describe(params);
  });
}

// With few strong pixels, most edges are found through long chains across tiles.
TEST_P(Canny, few_strong_pixels_equal_opencv) {
  const Size size = kEmulated ? Size{200, 140} : Size{900, 700};
  CannyRunner runner(execution(), size);
  for (unsigned seed = 1; seed <= 4; ++seed)
    for (const double high : {250.0, 1250.0, 1500.0}) {
      const CannyParams params = high < 1000 ? scaled(10, high, 3, false) : scaled(300, high, 3, false);
      const Picture picture = high < 1000 ? smooth_noise(size, 2, seed) : noise(size, seed);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " " << describe(params));
      EXPECT_TRUE(same(runner.run(picture, params), opencv(picture, params)));
    }
}

TEST_P(Canny, photographs_equal_opencv) {
  std::string missing;
  struct Case {
    const char *file;
    int frame;
  };
  std::vector<Case> cases{{"building.jpg", 0}, {"sudoku.png", 0}, {"box.png", 0}};
  if (!kEmulated)
    cases.insert(cases.end(), {{"graf1.png", 0}, {"fruits.jpg", 0}, {"vtest.avi", 0}, {"vtest.avi", 50}});
  for (const Case &c : cases) {
    const Photo &photo = gray_photo(c.file, c.frame);
    if (!photo.ok()) {
      missing += photo.why_not + "; ";
      continue;
    }
    const Picture picture = part_for_backend(photo.pixels);
    CannyRunner runner(execution(), picture.size());
    for (const int aperture : {3, 5, 7})
      for (const bool l2_gradient : {false, true}) {
        const CannyParams params = scaled(50, 100, aperture, l2_gradient);
        SCOPED_TRACE(::testing::Message() << c.file << " frame " << c.frame << " " << describe(params));
        EXPECT_TRUE(same(runner.run(picture, params), opencv(picture, params)));
      }
  }
  if (!missing.empty()) GTEST_SKIP() << missing;
}

TEST_P(Canny, smoothing_equals_opencv_blur_and_canny) {
  const Size size = kEmulated ? Size{130, 70} : Size{300, 200};
  const Picture picture = noise(size, 13);
  CannyRunner runner(execution(), size);
  for (const double sigma : {0.4, 1.0, 1.4, 0.0, 3.7, 16.0}) {
    CannyParams params = scaled(20 / (1 + sigma), 60 / (1 + sigma), 3, sigma > 1);
    params.gaussian_sigma = sigma;
    SCOPED_TRACE(describe(params));
    EXPECT_TRUE(same(runner.run(picture, params), opencv(picture, params)));
  }
}

// --- analytic cases ---

TEST_P(Canny, constant_picture_has_no_edges) {
  for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0, 128, 255})
    for (const int aperture : {3, 5, 7}) {
      CannyParams params = scaled(0, 0, aperture, aperture == 5);
      EXPECT_EQ(find_edges(execution(), constant({130, 67}, value), params), constant({130, 67}, 0));
    }
}

TEST_P(Canny, single_pixel_has_no_edge) {
  CannyParams params;
  params.low_threshold = params.high_threshold = 0;
  EXPECT_EQ(find_edges(execution(), constant({1, 1}, 200), params), constant({1, 1}, 0));
}

// The two columns (or rows) beside a step have the same magnitude; the left (or upper) one wins the tie.
TEST_P(Canny, step_gives_one_line_on_its_upper_left_side) {
  const Size size{131, 130};
  CannyRunner runner(execution(), size);
  for (const int at : {1, 2, 62, 63, 64, 65, 66, 127, 128, 129})
    for (const bool upright : {true, false}) {
      const Picture picture = half_plane(size, at, at, upright ? 1 : 0, upright ? 0 : 1, 50, 100);
      Picture expected(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) expected.at(x, y) = (upright ? x : y) == at - 1 ? 255 : 0;
      SCOPED_TRACE(::testing::Message() << "at " << at << (upright ? " upright" : " level"));
      ASSERT_TRUE(same(runner.run(picture, CannyParams{}), expected));
    }
}

TEST_P(Canny, pixels_on_the_border_can_be_edges) {
  const Picture picture = noise({70, 66}, 14);
  const CannyParams params = scaled(0, 0, 3, false);
  const Picture edges = find_edges(execution(), picture, params);
  EXPECT_TRUE(same(edges, definition(picture, params)));
  EXPECT_GT(count_of<std::uint8_t>(edges.crop({0, 0, 70, 1}), 255), 0);
  EXPECT_GT(count_of<std::uint8_t>(edges.crop({0, 65, 70, 1}), 255), 0);
  EXPECT_GT(count_of<std::uint8_t>(edges.crop({0, 0, 1, 66}), 255), 0);
  EXPECT_GT(count_of<std::uint8_t>(edges.crop({69, 0, 1, 66}), 255), 0);
}

TEST_P(Canny, checkerboards_equal_the_definition) {
  const Size size{kEmulated ? 140 : 260, 131};
  CannyRunner runner(execution(), size);
  for (const int cell : {1, 2, 3, 4, 5, 8, 16, 32, 64})
    for (const double high : {40.0, 5000.0}) {
      const Picture picture = checkerboard(size, cell, 100, 120);
      const CannyParams params = scaled(10, high, 3, false);
      SCOPED_TRACE(::testing::Message() << "cell " << cell << " " << describe(params));
      EXPECT_TRUE(same(runner.run(picture, params), definition(picture, params)));
    }
}

TEST_P(Canny, stripes_across_all_tile_borders_equal_the_definition) {
  const Size size{kEmulated ? 140 : 333, 200};
  CannyRunner runner(execution(), size);
  const CannyParams params = scaled(25, 300, 3, false);
  EXPECT_TRUE(same(runner.run(fringes(size, kTile, Seed::none), params), constant(size, 0)))
      << "no pixel is strong";
  const Picture picture = fringes(size, kTile, Seed::at_the_end), expected = definition(picture, params);
  EXPECT_GT(count_of<std::uint8_t>(expected, 255), 1000);
  EXPECT_TRUE(same(runner.run(picture, params), expected));
}

// A diagonal weak edge with one pixel per row (x - direction * y is constant), which passes `shift` pixels
// beside the corner where four tiles meet. Its contrast increases toward its first or its last row.
Picture diagonal(Size size, int direction, int shift, bool begin_is_strong) {
  Picture picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int d = x - kTile - shift - direction * (y - (direction > 0 ? kTile : kTile - 1));
      const int from_end = begin_is_strong ? y : size.height - 1 - y;
      const int contrast = from_end < 24 ? 120 - 90 * from_end / 24 : 30;
      picture.at(x, y) = static_cast<std::uint8_t>(100 + (d < 0 ? 0 : d == 0 ? contrast / 2 : contrast));
    }
  return picture;
}

TEST_P(Canny, diagonals_through_tile_corners_are_followed_both_ways) {
  const Size size{2 * kTile, 2 * kTile};
  CannyRunner runner(execution(), size);
  const CannyParams params = scaled(30, 500, 3, false);
  for (const int direction : {1, -1})
    for (int shift = -2; shift <= 2; ++shift)
      for (const bool begin_is_strong : {true, false}) {
        SCOPED_TRACE(::testing::Message() << "direction " << direction << " shift " << shift << " strong "
                                          << (begin_is_strong ? "above" : "below"));
        const Picture picture = diagonal(size, direction, shift, begin_is_strong),
                      expected = definition(picture, params);
        EXPECT_GE(count_of<std::uint8_t>(expected, 255), size.height - 4) << "the diagonal is one component";
        if (shift == 0) {
          EXPECT_EQ(expected.at(kTile, direction > 0 ? kTile - 1 : kTile), 0)
              << "the diagonal passes through the corner";
          EXPECT_EQ(expected.at(kTile - 1, direction > 0 ? kTile : kTile - 1), 0);
        }
        EXPECT_TRUE(same(runner.run(picture, params), expected));
      }
}

// --- hysteresis over long paths ---

struct Path {
  const char *name;
  Picture (*make)(Size, Seed);
};
constexpr Path kPaths[] = {{"serpentine", serpentine}, {"spiral", spiral}};

TEST_P(Canny, path_through_all_tiles_is_found_from_its_far_end) {
  const Size size = kEmulated ? Size{200, 200} : Size{500, 480};
  CannyRunner runner(execution(), size);
  const CannyParams params = scaled(25, 350, 3, false);
  for (const Path &path : kPaths) {
    SCOPED_TRACE(path.name);
    const Picture picture = path.make(size, Seed::at_the_end);
    CannyParams all = params, strong = params;
    all.high_threshold = all.low_threshold;
    strong.hysteresis = false;
    const Picture everything = definition(picture, all), seeds = definition(picture, strong);
    ASSERT_GT(count_of<std::uint8_t>(everything, 255), size.width * size.height / 8);
    ASSERT_GT(count_of<std::uint8_t>(seeds, 255), 0);
    ASSERT_LT(count_of<std::uint8_t>(seeds, 255), count_of<std::uint8_t>(everything, 255) / 20);
    EXPECT_TRUE(same(runner.run(picture, params), everything));
  }
}

TEST_P(Canny, path_without_a_strong_pixel_has_no_edges) {
  const Size size = kEmulated ? Size{200, 200} : Size{500, 480};
  CannyRunner runner(execution(), size);
  for (const Path &path : kPaths) {
    SCOPED_TRACE(path.name);
    EXPECT_TRUE(same(runner.run(path.make(size, Seed::none), scaled(25, 350, 3, false)), constant(size, 0)));
  }
}

// --- thresholds ---

TEST_P(Canny, limits_of_the_thresholds_equal_opencv) {
  struct Pair {
    double low, high;
  };
  constexpr Pair kPairs[] = {
      {0, 0},         {0, 700},     {300, 300},     {900, 200},     {300.5, 900.25}, {299.999, 300.999},
      {2039, 2040},   {2040, 2041}, {100, 2041},    {5000, 5000},   {500, 1e7},      {1e7, 1e7},
      {32766, 32768}, {100, 32767}, {100, 32767.5}, {40000, 50000}, {100, 65535},    {100, 65536}};
  const Picture picture = noise({140, 75}, 16);
  Picture extremes = picture;  // only 0 and 255, for the largest magnitudes
  for (std::uint8_t &pixel : extremes.pixels()) pixel = pixel < 128 ? 0 : 255;
  CannyRunner runner(execution(), picture.size());
  for (const Picture &luma : {picture, extremes})
    for (const Pair &pair : kPairs)
      for (const int aperture : {3, 5, 7})
        for (const bool l2_gradient : {false, true}) {
          if (kEmulated && (luma == picture) == ((aperture == 5) == l2_gradient)) continue;
          CannyParams params;
          params.low_threshold = pair.low, params.high_threshold = pair.high;
          params.aperture = aperture, params.l2_gradient = l2_gradient;
          SCOPED_TRACE(describe(params));
          const Picture expected = definition(luma, params);
          ASSERT_TRUE(same(runner.run(luma, params), expected));
          EXPECT_TRUE(same(opencv(luma, params), expected))
              << "the definition in this file differs from OpenCV";
        }
}

TEST_P(Canny, reversed_thresholds_are_swapped) {
  const Picture picture = noise({140, 75}, 17);
  CannyParams params = for_noise(), reversed = params;
  std::swap(reversed.low_threshold, reversed.high_threshold);
  EXPECT_TRUE(same(find_edges(execution(), picture, reversed), find_edges(execution(), picture, params)));
}

TEST_P(Canny, threshold_must_be_exceeded) {
  const Size size{40, 20};
  const Picture picture = half_plane(size, 20, 0, 1, 0, 50, 75);  // magnitude 100
  CannyRunner runner(execution(), size);
  CannyParams params;
  for (const double low : {99.0, 99.999, 100.0, 100.5}) {
    params.low_threshold = params.high_threshold = low;
    EXPECT_EQ(count_of<std::uint8_t>(runner.run(picture, params), 255), low < 100 ? 20 : 0) << low;
  }
}

TEST_P(Canny, lowering_the_low_threshold_removes_no_edge) {
  const Size size{150, 100};
  const Picture picture = smooth_noise(size, 1, 18);
  CannyRunner runner(execution(), size);
  Picture before = constant(size, 0);
  int total = 0;
  for (const double low : {400.0, 200.0, 100.0, 50.0, 20.0, 5.0, 0.0}) {
    const Picture edges = runner.run(picture, scaled(low, 400, 3, false));
    for (std::size_t i = 0; i < edges.pixels().size(); ++i)
      ASSERT_GE(edges.pixels()[i], before.pixels()[i]) << low;
    EXPECT_GE(count_of<std::uint8_t>(edges, 255), total);
    total = count_of<std::uint8_t>(edges, 255);
    before = edges;
  }
}

// --- state ---

TEST_P(Canny, repeated_runs_give_the_same_edges) {
  const Picture picture = noise({200, 130}, 19);
  const CannyParams params = for_noise();
  const Picture expected = opencv(picture, params);
  CannyRunner runner(execution(), picture.size());
  for (int i = 0; i < (kEmulated ? 3 : 20); ++i)
    ASSERT_TRUE(same(runner.run(picture, params), expected)) << "run " << i;
}

TEST_P(Canny, frames_do_not_depend_on_earlier_frames) {
  const Size size{150, 130};
  struct Frame {
    Picture luma;
    CannyParams params;
  };
  CannyParams strong_alone = for_noise(), smoothed = for_noise();
  strong_alone.hysteresis = false;
  smoothed.gaussian_sigma = 1.2;
  smoothed.low_threshold = 20, smoothed.high_threshold = 90;
  std::vector<Frame> frames{{noise(size, 20), for_noise()},
                            {constant(size, 9), for_noise()},
                            {serpentine(size, Seed::at_the_end), scaled(25, 350, 3, false)},
                            {serpentine(size, Seed::none), scaled(25, 350, 3, false)},
                            {smooth_noise(size, 2, 21), for_smooth_noise(5, true)},
                            {noise(size, 22), strong_alone},
                            {noise(size, 23), smoothed},
                            {noise(size, 24), for_noise(7, true)}};
  std::vector<Picture> expected;
  for (const Frame &frame : frames) {
    CannyParams params = frame.params;
    expected.push_back(params.hysteresis ? opencv(frame.luma, params) : definition(frame.luma, params));
  }
  CannyRunner runner(execution(), size);
  for (const std::size_t i : {0u, 1u, 2u, 3u, 0u, 5u, 4u, 6u, 1u, 3u, 2u, 7u, 6u, 0u, 3u})
    ASSERT_TRUE(same(runner.run(frames[i].luma, frames[i].params), expected[i])) << "frame " << i;
}

TEST_P(Canny, frames_in_flight_equal_frames_alone) {
  const Size size = size_in_flight(execution(), {1920, 1080}, {130, 70});
  CannyParams smoothed = for_noise();
  smoothed.gaussian_sigma = 1.2;
  smoothed.low_threshold = 20, smoothed.high_threshold = 90;
  CannyParams maxima = for_noise();
  maxima.hysteresis = false;
  for (const CannyParams &params :
       {for_noise(), for_noise(7, true), scaled(25, 350, 3, false), smoothed, maxima}) {
    std::unique_ptr<cudavision::Canny> canny;
    ASSERT_TRUE(succeeds(make_canny(execution(), size, &canny)));
    expect_frames_in_flight_equal_frames_alone(
        execution(), size, static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
        [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *edges, cudavision::Input input) {
          return canny->run(luma, {edges, size.width, size.width, size.height}, params, input);
        });
  }
}

TEST_P(Canny, two_instances_do_not_interfere) {
  const Size sizes[2] = {{150, 131}, {97, 140}};
  const CannyParams params[2] = {for_noise(), for_smooth_noise(5)};
  Picture pictures[2], expected[2];
  for (int i = 0; i < 2; ++i) {
    pictures[i] = i == 0 ? noise(sizes[i], 25) : smooth_noise(sizes[i], 1, 26);
    expected[i] = opencv(pictures[i], params[i]);
  }
  const ExecutionOwner other(GetParam());
  CannyRunner runners[2] = {CannyRunner(execution(), sizes[0]), CannyRunner(other.execution(), sizes[1])};
  for (int round = 0; round < (kEmulated ? 1 : 10); ++round) {
    if (execution().backend == cudavision::Backend::cpu) {
      std::thread second([&] { runners[1].enqueue(pictures[1], params[1]); });
      runners[0].enqueue(pictures[0], params[0]);
      second.join();
    } else {
      for (int i = 0; i < 2; ++i) runners[i].enqueue(pictures[i], params[i]);
    }
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(same(runners[i].result(), expected[i])) << "instance " << i;
  }
}

// --- refusals ---

TEST_P(Canny, invalid_parameters_are_refused_and_leave_the_output_untouched) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  std::vector<CannyParams> invalid;
  for (const double value : {kNan, kInfinity, -kInfinity, -1.0, -1e-9, 1.0000001e7}) {
    invalid.emplace_back().low_threshold = value;
    invalid.emplace_back().high_threshold = value;
  }
  for (const int aperture : {-3, 0, 1, 2, 4, 6, 9, 31}) invalid.emplace_back().aperture = aperture;
  for (const double sigma : {kNan, kInfinity, -0.5, 16.0001, 17.0})
    invalid.emplace_back().gaussian_sigma = sigma;
  const Size size{70, 66};
  CannyRunner runner(execution(), size);
  const Picture before = runner.edges().download();
  for (const CannyParams &params : invalid) {
    SCOPED_TRACE(describe(params));
    EXPECT_TRUE(refused(validate(params)));
    EXPECT_TRUE(refused(runner.canny().run(runner.luma().view(), runner.edges().view(), params)));
  }
  EXPECT_TRUE(same(runner.edges().download(), before));
  const Picture picture = noise(size, 27);
  EXPECT_TRUE(same(runner.run(picture, for_noise()), opencv(picture, for_noise()))) << "after the refusals";
}

// One instance processes pictures of all sizes in turn, so that leftovers of a larger picture would be noticed.
TEST_P(Canny, smaller_pictures_have_the_edges_of_opencv) {
  const Size most{150, 133};
  std::unique_ptr<cudavision::Canny> canny;
  ASSERT_TRUE(succeeds(make_canny(execution(), most, &canny)));
  unsigned seed = 50;
  for (const Size size :
       {most, Size{1, 1}, Size{64, 64}, Size{150, 20}, Size{65, 133}, Size{63, 70}, most, Size{128, 128}})
    for (const double sigma : {0.0, 1.0}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " sigma " << sigma);
      CannyParams params = for_noise();
      params.gaussian_sigma = sigma;
      if (sigma > 0) params.low_threshold /= 8, params.high_threshold /= 8;
      const Picture picture = noise(size, ++seed);
      TestImage<std::uint8_t> luma(execution(), size, kPlacements[seed % 5]),
          edges(execution(), size, kPlacements[(seed + 1) % 5]);
      luma.upload(picture);
      ASSERT_TRUE(succeeds(canny->run(luma.view(), edges.view(), params)));
      finish(execution());
      EXPECT_TRUE(same(edges.download(), opencv(picture, params)));
    }
}

TEST_P(Canny, images_of_another_size_are_refused_and_leave_the_output_untouched) {
  CannyRunner runner(execution(), {70, 66});
  for (const Size other : {Size{71, 66}, Size{70, 65}, Size{66, 70}, Size{0, 0}, Size{140, 33}}) {
    const TestImage<std::uint8_t> image(execution(), other, kAligned);
    const Picture before = runner.edges().download(), image_before = image.download();
    EXPECT_TRUE(refused(runner.canny().run(image.view(), runner.edges().view(), {})));
    EXPECT_TRUE(refused(runner.canny().run(runner.luma().view(), image.view(), {})));
    EXPECT_TRUE(same(runner.edges().download(), before));
    EXPECT_TRUE(same(image.download(), image_before));
  }
}

TEST_P(Canny, sizes_out_of_range_are_refused) {
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const Size size : {Size{0, 0}, Size{0, 5}, Size{5, 0}, Size{-1, 5}, Size{5, -1}, Size{16385, 1},
                          Size{1, 16385}, Size{kMost, kMost}}) {
    std::unique_ptr<cudavision::Canny> canny;
    EXPECT_TRUE(refused(make_canny(execution(), size, &canny))) << size.width << "x" << size.height;
    EXPECT_EQ(canny, nullptr);
  }
}

TEST_P(Canny, longest_sides_are_accepted) {
  for (const Size size : {Size{16384, 3}, Size{2, 16384}}) {
    if (kEmulated && size.width == 2) continue;
    const Picture picture = noise(size, 28);
    EXPECT_TRUE(same(find_edges(execution(), picture, for_noise()), opencv(picture, for_noise())));
  }
}

// Runs in a child process with limited memory; exits with 0 if the lack of memory is reported as an error.
void run_without_memory(const Execution &where) {
  const rlimit limit{std::size_t{600} << 20, std::size_t{600} << 20};
  setrlimit(RLIMIT_AS, &limit);
  std::unique_ptr<cudavision::Canny> canny;
  cudavision::Status status;
  for (int made = 0; made < 8 && status.ok(); ++made) {  // instances are leaked until memory is exhausted
    status = make_canny(where, {16384, 16384}, &canny);
    (void)canny.release();
  }
  std::_Exit(status.code() == cudavision::Status::Code::out_of_memory ? 0 : 1);
}

TEST_P(Canny, lack_of_host_memory_is_an_error_without_abort) {
  if (GetParam().backend != cudavision::Backend::cpu) GTEST_SKIP() << "a test of the CPU backend";
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer itself needs more memory than the limit";
#endif
  EXPECT_EXIT(run_without_memory(execution()), testing::ExitedWithCode(0), "");
}

// --- the cost of a frame, and failures of the device ---

TEST_P(Canny, frame_is_two_launches_and_nothing_else) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{140, 75};
  CannyRunner runner(execution(), size);
  CannyParams strong_alone = for_noise(), smoothed = for_noise(), smoothed_alone = for_noise();
  strong_alone.hysteresis = smoothed_alone.hysteresis = false;
  smoothed.gaussian_sigma = smoothed_alone.gaussian_sigma = 1;
  (void)runner.run(noise(size, 29), smoothed);  // the first frame that smooths allocates
  const auto expect = [&](const CannyParams &params, unsigned launches) {
    SCOPED_TRACE(describe(params));
    const Budget budget;
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(succeeds(runner.canny().run(runner.luma().view(), runner.edges().view(), params)));
    budget.expect_launches_alone(2 * launches);
    finish(execution());
  };
  expect(for_noise(), 2);
  expect(strong_alone, 1);
  expect(smoothed, 3);
  expect(smoothed_alone, 2);
}

TEST_P(Canny, first_frame_without_smoothing_allocates_nothing) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{140, 75};
  CannyRunner runner(execution(), size);
  finish(execution());
  const Budget budget;
  EXPECT_TRUE(succeeds(runner.canny().run(runner.luma().view(), runner.edges().view(), for_noise())));
  budget.expect_launches_alone(2);
  finish(execution());
}

TEST_P(Canny, global_atomics_are_few) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{256, 128};
  CannyRunner runner(execution(), size);
  for (const Picture &picture :
       {noise(size, 30), fringes(size, kTile, Seed::none), checkerboard(size, 3, 100, 120)}) {
    // No pixel is strong, so that all components on the borders of tiles are undecided.
    runner.enqueue(picture, scaled(20, 4000, 3, false));
    finish(execution());
    const Budget budget;
    EXPECT_TRUE(succeeds(
        runner.canny().run(runner.luma().view(), runner.edges().view(), scaled(20, 4000, 3, false))));
    finish(execution());
    // At most one link per pair of facing border pixels, retries included: 2 x 64 pairs per tile of 4096
    // pixels. A tile also counts itself in up to four quads.
    EXPECT_LT(static_cast<double>(budget.spent().global_atomics),
              size.width * size.height * (2 * 64 + 4) / 4096.0);
  }
}

TEST_P(Canny, failed_allocation_is_reported_and_leaks_nothing) {
  CUDAVISION_NEEDS_EMULATION();
  for (unsigned successes = 0; successes < 5; ++successes) {
    const std::size_t before = simt::live_allocations();
    simt::fail_allocations_after(successes);
    std::unique_ptr<cudavision::Canny> canny;
    const cudavision::Status status = make_canny(execution(), {70, 66}, &canny);
    EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
    EXPECT_EQ(canny, nullptr);
    EXPECT_EQ(simt::live_allocations(), before);
  }
}

// The picture with the steepest gradient is white where the sum of both Sobel operators is positive.
TEST(CannyGradient, bound_is_reached) {
  for (const int aperture : {3, 5, 7}) {
    cv::Mat smooth, derive;
    cv::getDerivKernels(derive, smooth, 1, 0, aperture, false, CV_64F);
    const cv::Mat weights = smooth * derive.t() + derive * smooth.t();
    cv::Mat white(aperture, aperture, CV_64F), dx, dy;
    for (int i = 0; i < aperture * aperture; ++i)
      white.at<double>(i / aperture, i % aperture) =
          weights.at<double>(i / aperture, i % aperture) > 0 ? 255 : 0;
    cv::Sobel(white, dx, CV_64F, 1, 0, aperture);
    cv::Sobel(white, dy, CV_64F, 0, 1, aperture);
    const int middle = aperture / 2;
    const double most = std::abs(dx.at<double>(middle, middle)) + std::abs(dy.at<double>(middle, middle));
    // With aperture 7 dx and dy are divided by 16 and rounded; the bound is 32 larger to allow for that.
    EXPECT_EQ(cudavision::max_gradient(aperture), most + (aperture == 7 ? 32 : 0));
  }
}

// Black and white noise has the steepest gradients that there are, or nearly.
TEST_P(Canny, threshold_of_the_steepest_gradient_leaves_no_edge) {
  Picture picture = noise({kEmulated ? 100 : 640, 100}, 40);
  for (std::uint8_t &pixel : picture.pixels()) pixel = pixel < 128 ? 0 : 255;
  CannyRunner runner(execution(), picture.size());
  for (const int aperture : {3, 5, 7}) {
    CannyParams params;
    params.aperture = aperture;
    params.low_threshold = params.high_threshold = cudavision::max_gradient(aperture);
    const Picture edges = runner.run(picture, params);
    EXPECT_EQ(count_of<std::uint8_t>(edges, 255), 0) << aperture;
  }
}

TEST_P(Canny, failed_launch_is_reported_and_the_next_frame_is_right) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture picture = noise({140, 75}, 31);
  CannyRunner runner(execution(), picture.size());
  CannyParams smoothed = for_noise();
  smoothed.gaussian_sigma = 1;
  (void)runner.run(picture, smoothed);
  for (unsigned successes = 0; successes < 3; ++successes) {
    simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
    const cudavision::Status status =
        runner.canny().run(runner.luma().view(), runner.edges().view(), smoothed);
    EXPECT_EQ(status.code(), cudavision::Status::Code::device_failed);
    EXPECT_NE(status.text().find("kernel"), std::string::npos) << status.text();
    EXPECT_TRUE(same(runner.run(picture, for_noise()), opencv(picture, for_noise())));
  }
}

TEST_P(Canny, failed_allocation_for_smoothing_can_be_retried) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture picture = noise({140, 75}, 32);
  CannyRunner runner(execution(), picture.size());
  CannyParams smoothed = scaled(20, 60, 3, false);
  smoothed.gaussian_sigma = 1;
  simt::fail_allocations_after(0);
  const cudavision::Status status = runner.canny().run(runner.luma().view(), runner.edges().view(), smoothed);
  EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
  EXPECT_TRUE(same(runner.run(picture, smoothed), opencv(picture, smoothed)));
}

}  // namespace
