// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of the Hough transform in plain loops and by cv::HoughLines, and the class that runs it in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/hough/hough.h"
#include "tests/support/backends.h"
#include "tests/support/opencv_hough.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision {

inline std::ostream &operator<<(std::ostream &out, const HoughLine &l) {
  return out << "{rho " << l.rho << " theta " << l.theta << " votes " << l.votes << " (" << l.x1 << ", "
             << l.y1 << ") (" << l.x2 << ", " << l.y2 << ")}";
}
inline std::ostream &operator<<(std::ostream &out, const HoughCount &c) {
  return out << c.listed << " of " << c.found << ", " << c.peaks << " peaks";
}
inline std::ostream &operator<<(std::ostream &out, const HoughParams &p) {
  out << (p.mode == HoughMode::lines ? "lines" : "segments") << " rho " << p.rho << " theta " << p.theta
      << " from " << p.min_theta << " to " << p.max_theta << " threshold " << p.threshold << " max-lines "
      << p.max_lines;
  if (p.nms_radius > 0) out << " nms-radius " << p.nms_radius;
  if (p.gradient_voting) out << " gradient-voting";
  if (p.mode == HoughMode::segments) out << " min-length " << p.min_length << " max-gap " << p.max_gap;
  return out;
}

}  // namespace cudavision

namespace cudavision::test {

using Votes = HostImage<std::uint32_t>;  // one row per angle, one column per distance

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kDegree = kPi / 180;

// --- the definition ---

struct Accumulator {
  int angles, rhos;
  Votes
      framed;  // OpenCV's accumulator with its border of one element: (angles + 2) rows x (rhos + 2) columns

  std::uint32_t at(int n, int r) const { return framed.at(r + 1, n + 1); }
  Votes inner() const { return framed.crop({1, 1, rhos, angles}); }
};

// votes_for(x, y, n) returns true if the edge pixel (x, y) votes for angle n.
template <typename VotesFor>
Accumulator accumulate(const Picture &edges, const HoughParams &p, const VotesFor &votes_for) {
  const float rho = static_cast<float>(p.rho), theta = static_cast<float>(p.theta), per_rho = 1 / rho;
  Accumulator a;
  a.angles = cvRound((p.max_theta - p.min_theta) / theta);
  a.rhos = cvRound(static_cast<float>((edges.width() + edges.height()) * 2 + 1) / rho);
  a.framed = Votes({a.rhos + 2, a.angles + 2});
  float angle = static_cast<float>(p.min_theta);
  for (int n = 0; n < a.angles; ++n, angle += theta) {
    const float sin = static_cast<float>(std::sin(static_cast<double>(angle)) * per_rho);
    const float cos = static_cast<float>(std::cos(static_cast<double>(angle)) * per_rho);
    for (int y = 0; y < edges.height(); ++y)
      for (int x = 0; x < edges.width(); ++x) {
        if (edges.at(x, y) == 0 || !votes_for(x, y, n)) continue;
        const float products[] = {static_cast<float>(x) * cos, static_cast<float>(y) * sin};
        const int r = cvRound(products[0] + products[1]) + (a.rhos - 1) / 2;
        ++a.framed.at(r + 1, n + 1);
      }
  }
  return a;
}
inline Accumulator accumulate(const Picture &edges, const HoughParams &p) {
  return accumulate(edges, p, [](int, int, int) { return true; });
}

struct DefinedPeak {
  std::uint32_t votes;
  int n, r;
};

// The votes of direction n and distance r. n may lie outside the accumulator: after half a turn the directions repeat,
// and the distances from the middle of a row have the other sign.
inline DefinedPeak around(const Accumulator &a, const HoughParams &p, int n, int r) {
  const int middle = (a.rhos - 1) / 2, half_turn = cvRound(kPi / static_cast<float>(p.theta));
  for (; a.angles == half_turn && n < 0; n += half_turn) r = 2 * middle - r;
  for (; a.angles == half_turn && n >= half_turn; n -= half_turn) r = 2 * middle - r;
  const bool counted = n >= 0 && n < a.angles && r >= -1 && r <= a.rhos;
  return {counted ? a.at(n, r) : 0, n, r};
}

inline bool is_maximum(const Accumulator &a, const HoughParams &p, int n, int r) {
  const std::uint32_t votes = a.at(n, r);
  if (votes <= static_cast<std::uint32_t>(p.threshold) || votes <= a.at(n, r - 1) || votes < a.at(n, r + 1) ||
      votes <= a.at(n - 1, r) || votes < a.at(n + 1, r))
    return false;
  for (int m = n - p.nms_radius; m <= n + p.nms_radius; ++m)
    for (int q = r - p.nms_radius; q <= r + p.nms_radius; ++q) {
      const DefinedPeak other = around(a, p, m, q);
      const bool earlier = other.n < n || (other.n == n && other.r < r), self = other.n == n && other.r == r;
      if (!self && (other.votes > votes || (other.votes == votes && earlier))) return false;
    }
  return true;
}

inline std::vector<DefinedPeak> peaks_of(const Accumulator &a, const HoughParams &p) {
  std::vector<DefinedPeak> peaks;
  for (int n = 0; n < a.angles; ++n)
    for (int r = 0; r < a.rhos; ++r)
      if (is_maximum(a, p, n, r)) peaks.push_back({a.at(n, r), n, r});
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const DefinedPeak &one, const DefinedPeak &other) { return one.votes > other.votes; });
  return peaks;
}

// The line of a peak, without its ends.
inline HoughLine line_of(const DefinedPeak &peak, const Accumulator &a, const HoughParams &p) {
  const float rho = (static_cast<float>(peak.r) - static_cast<float>(a.rhos - 1) * 0.5f) *
                    static_cast<float>(p.rho),
              theta =
                  static_cast<float>(p.min_theta) + static_cast<float>(peak.n) * static_cast<float>(p.theta);
  const bool turned = theta < 0;  // reported half a turn later, which is the same line
  return {turned ? 0 - rho : rho, turned ? theta + 3.14159265f : theta, peak.votes, 0, 0, 0, 0};
}

inline std::vector<HoughLine> definition(const Picture &edges, const HoughParams &p) {
  const Accumulator a = accumulate(edges, p);
  std::vector<HoughLine> lines;
  for (const DefinedPeak &peak : peaks_of(a, p)) lines.push_back(line_of(peak, a, p));
  return lines;
}

inline std::vector<HoughLine> opencv(const Picture &edges, const HoughParams &p) {
  const cv::Mat image(edges.height(), edges.width(), CV_8U, const_cast<std::uint8_t *>(edges.row(0)));
  std::vector<cv::Vec3f> found;
  opencv_hough_lines(image, &found, p.rho, p.theta, p.threshold, p.min_theta, p.max_theta);
  std::vector<HoughLine> lines;
  for (const cv::Vec3f &line : found)
    lines.push_back({line[0], line[1], static_cast<std::uint32_t>(line[2]), 0, 0, 0, 0});
  return lines;
}

// The edges that cv::Canny finds.
inline Picture edges_of(const Picture &luma, double low = 50, double high = 100) {
  Picture edges(luma.size());
  cv::Mat map(luma.height(), luma.width(), CV_8U, edges.row(0));
  cv::Canny(cv::Mat(luma.height(), luma.width(), CV_8U, const_cast<std::uint8_t *>(luma.row(0))), map, low,
            high);
  return edges;
}

// --- running the transform ---

struct Found {
  std::vector<HoughLine> lines;  // the listed ones
  HoughCount count{};

  friend bool operator==(const Found &, const Found &) = default;
};

// Compares rho, theta, votes and order, but not the ends. EXPECT_TRUE(same_lines(...)) reports the first difference.
inline testing::AssertionResult same_lines(const std::vector<HoughLine> &actual,
                                           const std::vector<HoughLine> &expected) {
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const HoughLine &a = actual[i], &e = expected[i];
    if (a.rho != e.rho || a.theta != e.theta || a.votes != e.votes)
      return testing::AssertionFailure() << "line " << i << " is " << a << " instead of " << e;
  }
  if (actual.size() == expected.size()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << actual.size() << " lines instead of " << expected.size();
}

// Compares all members, including the ends.
inline testing::AssertionResult same(const Found &actual, const Found &expected) {
  if (actual.count != expected.count)
    return testing::AssertionFailure() << actual.count << " instead of " << expected.count;
  for (std::size_t i = 0; i < std::min(actual.lines.size(), expected.lines.size()); ++i)
    if (actual.lines[i] != expected.lines[i])
      return testing::AssertionFailure()
             << "line " << i << " is " << actual.lines[i] << " instead of " << expected.lines[i];
  return testing::AssertionSuccess();
}

// Runs the transform on images of one size, in the backend's memory.
class HoughRunner {
 public:
  HoughRunner(const Execution &execution, Size size, const Placement &placement = kMisalignedOddPitch)
      : execution_(execution), edges_(execution, size, placement), luma_(execution, size, placement) {
    EXPECT_TRUE(succeeds(make_hough(execution, size, &hough_)));
  }

  void enqueue(const Picture &edges, const HoughParams &params) {
    edges_.upload(edges);
    enqueue(params);
  }
  // Runs on the previous picture.
  void enqueue(const HoughParams &params) {
    constexpr int kWords = sizeof(HoughLine) / 4;
    if (!lines_ || capacity_ != params.max_lines) {
      lines_ = std::make_unique<TestImage<std::uint32_t>>(execution_, Size{kWords, params.max_lines}, kTight);
      count_ = std::make_unique<TestImage<std::uint32_t>>(execution_, Size{3, 1}, kTight);
      capacity_ = params.max_lines;
    }
    ASSERT_TRUE(hough_);
    EXPECT_TRUE(succeeds(hough_->run(edges_.view(), luma_.view(), params, list())));
  }
  HoughList list() const {
    return {reinterpret_cast<HoughLine *>(lines_->view().data),
            reinterpret_cast<HoughCount *>(count_->view().data)};
  }
  // Waits for the result. The test fails if guard bytes of an image were overwritten.
  Found result() {
    const HostImage<std::uint32_t> count = count_->download(), lines = lines_->download();
    Found found;
    std::memcpy(&found.count, count.row(0), sizeof found.count);
    EXPECT_LE(found.count.listed, capacity_);
    found.lines.resize(static_cast<std::size_t>(std::clamp(found.count.listed, 0, capacity_)));
    if (!found.lines.empty())
      std::memcpy(found.lines.data(), lines.row(0), found.lines.size() * sizeof(HoughLine));
    (void)edges_.download();
    (void)luma_.download();
    return found;
  }
  Found run(const Picture &edges, const HoughParams &params) {
    enqueue(edges, params);
    return result();
  }
  Found run(const Picture &edges, const Picture &luma, const HoughParams &params) {
    luma_.upload(luma);
    return run(edges, params);
  }
  // The accumulator of the last run.
  Votes votes(const HoughParams &params) {
    const HoughShape shape = hough_shape(edges_.view().size(), params);
    const TestImage<std::uint32_t> votes(execution_, Size{shape.rhos, shape.angles}, kAligned);
    EXPECT_TRUE(succeeds(hough_->copy_votes(votes.view())));
    return votes.download();
  }

  Hough &hough() { return *hough_; }
  ImageView<const std::uint8_t> edges() const { return edges_.view(); }
  ImageView<const std::uint8_t> luma() const { return luma_.view(); }

 private:
  Execution execution_;
  TestImage<std::uint8_t> edges_, luma_;
  std::unique_ptr<TestImage<std::uint32_t>> lines_, count_;
  int capacity_ = 0;
  std::unique_ptr<Hough> hough_;
};

inline HoughParams with_threshold(int threshold, double rho = 1, double theta = kDegree) {
  HoughParams params;
  params.threshold = threshold, params.rho = rho, params.theta = theta;
  params.max_lines = kEmulated ? 4096 : 100000;
  return params;
}

// A picture in which each pixel is an edge with a probability of percent / 100.
inline Picture dots(Size size, int percent, unsigned seed) {
  Picture picture(size);
  Random random(seed);
  for (std::uint8_t &pixel : picture.pixels())
    pixel = random.below(100) < percent ? static_cast<std::uint8_t>(1 + random.below(255)) : 0;
  return picture;
}

}  // namespace cudavision::test
