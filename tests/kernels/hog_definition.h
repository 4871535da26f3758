// SPDX-License-Identifier: LGPL-2.1-or-later
// Support for the tests of HOG: its definition as simple loops in double precision, the results of OpenCV,
// and a function that runs the algorithm.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <ostream>
#include <vector>

#include "cuda/hog/hog.h"
#include "tests/support/backends.h"
#include "tests/support/decode.h"
#include "tests/support/opencv_hog.h"
#include "tests/support/test_frame.h"

namespace cudavision {

inline std::ostream &operator<<(std::ostream &out, const HogParams &p) {
  return out << (p.variant == HogVariant::opencv ? "opencv" : "ghog") << " cell " << p.cell.width << "x"
             << p.cell.height << " block " << p.block.width << "x" << p.block.height << " stride "
             << p.stride.width << "x" << p.stride.height << " bins " << p.bins
             << (p.signed_gradient ? " signed" : "") << (p.gamma ? " gamma" : "") << " norm "
             << static_cast<int>(p.norm) << " sigma " << p.sigma;
}

namespace test {

// One channel, or three interleaved channels R, G, B.
struct HogImage {
  Picture bytes;
  int channels = 1;

  int width() const { return bytes.width() / channels; }
  int height() const { return bytes.height(); }
  Size size() const { return {width(), height()}; }
  int at(int x, int y, int channel) const { return bytes.at(x * channels + channel, y); }
  HogImage part(Region r) const {
    return {bytes.crop({r.x * channels, r.y, r.width * channels, r.height}), channels};
  }
};
inline HogImage noise_image(Size size, int channels, unsigned seed) {
  return {noise({size.width * channels, size.height}, seed), channels};
}

// --- the definition ---

inline std::vector<double> hog_definition(const HogImage &image, const HogParams &p) {
  const bool opencv = p.variant == HogVariant::opencv;
  const int width = image.width(), height = image.height();
  const auto color = [&](int x, int y, int c) {
    const double v = image.at(mirror_index(x, width), mirror_index(y, height), c);
    const double unit = opencv ? 1 : 256;
    return p.gamma ? std::sqrt(v / unit) : v / unit;
  };
  // Gradients are computed in floats, because ties between channels depend on the rounding.
  struct Vote {
    double magnitude, position;  // position: in bins from the lower border of bin 0
  };
  std::vector<Vote> votes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool first_is_red = opencv && x >= width - width % 4;
      float best = -1;
      double dx = 0, dy = 0;
      for (int i = 0; i < image.channels; ++i) {
        const int c = image.channels == 1 ? 0 : first_is_red ? i : 2 - i;
        const float gx = static_cast<float>(color(x + 1, y, c)) - static_cast<float>(color(x - 1, y, c)),
                    gy = static_cast<float>(color(x, y + 1, c)) - static_cast<float>(color(x, y - 1, c));
        if (const float length = gx * gx + gy * gy; length > best) best = length, dx = gx, dy = gy;
      }
      double angle =
          opencv ? static_cast<double>(cv::fastAtan2(static_cast<float>(dy), static_cast<float>(dx))) *
                       std::numbers::pi / 180
                 : std::atan2(dy, dx);
      if (angle < 0) angle += 2 * std::numbers::pi;
      votes.push_back({std::hypot(dx, dy), angle * p.bins / (p.signed_gradient ? 2 : 1) / std::numbers::pi});
    }
  HogShape shape;
  EXPECT_TRUE(hog_shape(image.size(), p, &shape).ok());
  const double sigma = p.sigma > 0 ? p.sigma : (p.block.width + p.block.height) / 8.0;
  const int cells_x = p.block.width / p.cell.width, cells_y = p.block.height / p.cell.height;
  std::vector<double> all;
  for (int row = 0; row < shape.rows; ++row)
    for (int col = 0; col < shape.cols; ++col) {
      std::vector<double> block(static_cast<std::size_t>(shape.length), 0.0);
      for (int j = 0; j < p.block.height; ++j)
        for (int i = 0; i < p.block.width; ++i) {
          const int x = col * p.stride.width + i, y = row * p.stride.height + j;
          const Vote vote = votes[static_cast<std::size_t>(y * width + x)];
          const double below = std::floor(vote.position - 0.5), share = vote.position - 0.5 - below;
          for (int cx = 0; cx < cells_x; ++cx)
            for (int cy = 0; cy < cells_y; ++cy) {
              double weight = i / p.cell.width == cx && j / p.cell.height == cy ? 1 : 0;
              if (opencv) {
                const double di = i - p.block.width * 0.5, dj = j - p.block.height * 0.5;
                weight = std::max(0.0, 1 - std::abs((i + 0.5) / p.cell.width - 0.5 - cx)) *
                         std::max(0.0, 1 - std::abs((j + 0.5) / p.cell.height - 0.5 - cy)) *
                         std::exp(-(di * di + dj * dj) / (2 * sigma * sigma));
              }
              const int first = ((static_cast<int>(below) % p.bins) + p.bins) % p.bins;
              double *cell = block.data() + (cx * cells_y + cy) * p.bins;
              cell[first] += weight * vote.magnitude * (1 - share);
              cell[(first + 1) % p.bins] += weight * vote.magnitude * share;
            }
        }
      const auto l1 = [&] {
        double sum = 0;
        for (const double v : block) sum += v;
        return sum;
      };
      const auto l2 = [&] {
        double sum = 0;
        for (const double v : block) sum += v * v;
        return std::sqrt(sum);
      };
      HogNorm norm = p.norm;
      if (norm == HogNorm::variant) norm = opencv ? HogNorm::l2_hys : HogNorm::l1_sqrt;
      const double e = opencv ? 0.1 * shape.length : 1e-5;
      const double scale = 1 / ((norm == HogNorm::l1 || norm == HogNorm::l1_sqrt ? l1() : l2()) + e);
      for (double &v : block) {
        v *= scale;
        if (norm == HogNorm::l1_sqrt) v = std::sqrt(v);
        if (norm == HogNorm::l2_hys) v = std::min(v, p.clip);
      }
      if (norm == HogNorm::l2_hys) {
        const double again = 1 / (l2() + (opencv ? 1e-3 : 1e-5));
        for (double &v : block) v *= again;
      }
      all.insert(all.end(), block.begin(), block.end());
    }
  return all;
}

// --- OpenCV ---

inline cv::Mat bgr_mat(const HogImage &image) {
  cv::Mat mat(image.height(), image.width(), image.channels == 3 ? CV_8UC3 : CV_8UC1);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels; ++c)
        mat.ptr(y)[x * image.channels + c] =
            static_cast<std::uint8_t>(image.at(x, y, image.channels - 1 - c));
  return mat;
}

inline cv::HOGDescriptor opencv_hog(const HogParams &p, Size window) {
  const auto size = [](Size s) { return cv::Size(s.width, s.height); };
  return cv::HOGDescriptor(size(window), size(p.block), size(p.stride), size(p.cell), p.bins, 1,
                           p.sigma > 0 ? p.sigma : -1, cv::HOGDescriptor::L2Hys, p.clip, p.gamma, 64,
                           p.signed_gradient);
}

// The descriptors of all blocks in row-major order. They are computed as those of one window that spans all
// blocks; OpenCV returns them in column-major order.
inline std::vector<float> opencv_blocks(const HogImage &image, const HogParams &p) {
  HogShape s;
  EXPECT_TRUE(hog_shape(image.size(), p, &s).ok());
  const Size window{(s.cols - 1) * p.stride.width + p.block.width,
                    (s.rows - 1) * p.stride.height + p.block.height};
  std::vector<float> columns;
  opencv_hog(p, window).compute(bgr_mat(image), columns, cv::Size(p.stride.width, p.stride.height),
                                cv::Size(), {cv::Point(0, 0)});
  std::vector<float> blocks(columns.size());
  const auto length = static_cast<std::size_t>(s.length);
  for (int row = 0; row < s.rows; ++row)
    for (int col = 0; col < s.cols; ++col)
      std::copy_n(columns.begin() + static_cast<std::ptrdiff_t>(length) * (col * s.rows + row), length,
                  blocks.begin() + static_cast<std::ptrdiff_t>(length) * (row * s.cols + col));
  return blocks;
}

// --- running the algorithm ---

inline HogPicture packed_picture(const ImageView<const std::uint8_t> &bytes, int channels) {
  HogPicture p{channels, bytes.width / channels, bytes.height, {}};
  auto *data = const_cast<std::uint8_t *>(bytes.data);  // is only read
  for (int c = 0; c < channels; ++c)
    p.component[c] = {.data = data + c, .pitch_bytes = bytes.pitch_bytes, .step_bytes = channels};
  return p;
}

// A picture in the memory of a backend, with guards around it (TestImage).
class HogTestPicture {
 public:
  HogTestPicture(const Execution &execution, const HogImage &image, const Placement &placement = kTight)
      : bytes_(execution, image.bytes, placement), channels_(image.channels) {}
  HogPicture picture() const { return packed_picture(bytes_.view(), channels_); }
  // Fails the test if a byte outside the picture has changed.
  void expect_guards() const { (void)bytes_.download(); }

 private:
  TestImage<std::uint8_t> bytes_;
  int channels_;
};

inline std::vector<float> run_hog(const Execution &execution, const HogImage &image, const HogParams &p,
                                  const Placement &placement = kTight) {
  HogShape shape;
  EXPECT_TRUE(succeeds(hog_shape(image.size(), p, &shape)));
  const HogTestPicture picture(execution, image, placement);
  const TestImage<float> blocks(execution, Size{static_cast<int>(shape.count()), 1}, kTight);
  std::unique_ptr<Hog> hog;
  EXPECT_TRUE(succeeds(make_hog(execution, image.size(), image.channels, p, &hog)));
  if (!hog) return {};
  EXPECT_TRUE(succeeds(hog->run(picture.picture(), blocks.view().data)));
  finish(execution);
  picture.expect_guards();
  return blocks.download().pixels();
}

template <typename Expected>
testing::AssertionResult close(const std::vector<float> &actual, const std::vector<Expected> &expected,
                               double most) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " numbers instead of " << expected.size();
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (const double off = std::abs(double{actual[i]} - double{expected[i]}); !(off <= worst))
      worst = off, where = i;
  if (worst <= most) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "number " << where << " of " << actual.size() << " is "
                                     << actual[where] << " instead of " << expected[where];
}

}  // namespace test
}  // namespace cudavision
