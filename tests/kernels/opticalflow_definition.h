// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of optical flow in plain loops, and helpers that run the algorithm.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/opticalflow/opticalflow.h"
#include "tests/support/backends.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

// A flow of w x h vectors.
struct Flow {
  HostImage<float> xy;  // 2 w x h: x and y of each vector side by side
  Picture valid;

  FlowVector at(int x, int y) const { return {xy.at(2 * x, y), xy.at(2 * x + 1, y)}; }
  Size size() const { return valid.size(); }
};

inline testing::AssertionResult same(const Flow &actual, const Flow &expected) {
  if (const testing::AssertionResult result = same(actual.valid, expected.valid); !result)
    return testing::AssertionFailure() << "valid: " << result.message();
  return same(actual.xy, expected.xy);
}

inline double distance(FlowVector a, FlowVector b) {
  return std::hypot(double{a.x} - b.x, double{a.y} - b.y);
}

// The distances between the vectors of two flows, sorted.
inline std::vector<double> distances(const Flow &a, const Flow &b) {
  std::vector<double> all;
  for (int y = 0; y < a.size().height; ++y)
    for (int x = 0; x < a.size().width; ++x) all.push_back(distance(a.at(x, y), b.at(x, y)));
  std::sort(all.begin(), all.end());
  return all;
}
inline double quantile(const std::vector<double> &sorted, double share) {
  return sorted.empty() ? 0
                        : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

inline std::string describe(const OpticalFlowParams &p) {
  std::ostringstream text;
  text << "window " << p.window_size << " levels " << p.levels << " iterations " << p.iterations
       << " epsilon " << p.epsilon << " min-eigenvalue " << p.min_eigenvalue << " stride " << p.stride
       << " forward-backward " << p.forward_backward;
  return text.str();
}

// --- the definition ---

inline int mirrored(int i, int count) {
  if (i >= 0 && i < count) return i;
  if (count == 1) return 0;
  const int period = 2 * count - 2, m = ((i % period) + period) % period;
  return m < count ? m : period - m;
}
inline int pixel(const Picture &p, int x, int y) {
  return p.at(mirrored(x, p.width()), mirrored(y, p.height()));
}

inline std::vector<Picture> defined_pyramid(const Picture &frame, const OpticalFlowParams &p) {
  std::vector<Picture> levels{frame};
  constexpr int kWeight[] = {1, 4, 6, 4, 1};
  while (static_cast<int>(levels.size()) <= p.levels) {
    const Picture &fine = levels.back();
    Picture coarse({(fine.width() + 1) / 2, (fine.height() + 1) / 2});
    if (coarse.width() <= p.window_size || coarse.height() <= p.window_size) break;
    for (int y = 0; y < coarse.height(); ++y)
      for (int x = 0; x < coarse.width(); ++x) {
        int sum = 128;
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i)
            sum += kWeight[i] * kWeight[j] * pixel(fine, 2 * x + i - 2, 2 * y + j - 2);
        coarse.at(x, y) = static_cast<std::uint8_t>(sum / 256);
      }
    levels.push_back(coarse);
  }
  return levels;
}

// The Scharr derivatives of a picture.
struct Gradients {
  HostImage<int> x, y;

  explicit Gradients(const Picture &i) : x(i.size()), y(i.size()) {
    constexpr int kSmooth[] = {3, 10, 3};
    for (int py = 0; py < i.height(); ++py)
      for (int px = 0; px < i.width(); ++px)
        for (int k = -1; k <= 1; ++k) {
          x.at(px, py) += kSmooth[k + 1] * (pixel(i, px + 1, py + k) - pixel(i, px - 1, py + k));
          y.at(px, py) += kSmooth[k + 1] * (pixel(i, px + k, py + 1) - pixel(i, px + k, py - 1));
        }
  }
};

// The iteration of one pixel on one level. With Real = float it computes from sums of whole displacements, as
// the backends do, and must give the same bits. With Real = double it interpolates every pixel of the window;
// the result must be the same up to rounding.
template <typename Real>
class DefinedWindow {
 public:
  DefinedWindow(const Picture &i, const Gradients &gradients, const Picture &j, int x, int y,
                const OpticalFlowParams &p)
      : i_(i), gradients_(gradients), j_(j), x_(x), y_(y), radius_(p.window_size / 2), params_(p) {
    long long xx = 0, xy = 0, yy = 0;
    for_each([&](int, int, int gx, int gy) { xx += gx * gx, xy += gx * gy, yy += gy * gy; });
    constexpr Real kScale = Real{1} / (1 << 20);
    xx_ = static_cast<Real>(xx) * kScale, xy_ = static_cast<Real>(xy) * kScale,
    yy_ = static_cast<Real>(yy) * kScale;
  }

  // Changes (*dx, *dy) from the start to the result. Returns false if the vector is invalid.
  bool track(Real *dx, Real *dy) const {
    const Real determinant = xx_ * yy_ - xy_ * xy_, difference = xx_ - yy_;
    const Real root = std::sqrt(difference * difference + 4 * xy_ * xy_);
    const Real eigenvalue =
        (yy_ + xx_ - root) / static_cast<Real>(2 * params_.window_size * params_.window_size);
    if (eigenvalue < static_cast<Real>(static_cast<float>(params_.min_eigenvalue)) ||
        determinant < static_cast<Real>(1.0 / (1 << 23)))
      return false;
    const Real inverse = 1 / determinant, epsilon = static_cast<Real>(static_cast<float>(params_.epsilon));
    Real before_x = 0, before_y = 0;
    for (int k = 0; k < params_.iterations; ++k) {
      if (is_outside(*dx, *dy)) return false;
      Real bx = 0, by = 0;
      mismatch(*dx, *dy, &bx, &by);
      const Real sx = (xy_ * by - yy_ * bx) * inverse, sy = (xy_ * bx - xx_ * by) * inverse;
      *dx += sx, *dy += sy;
      if (sx * sx + sy * sy <= epsilon * epsilon) break;
      constexpr Real kCancel = static_cast<Real>(0.01f);
      if (k > 0 && std::abs(sx + before_x) < kCancel && std::abs(sy + before_y) < kCancel) {
        *dx -= sx / 2, *dy -= sy / 2;
        break;
      }
      before_x = sx, before_y = sy;
    }
    return !is_outside(*dx, *dy);
  }

 private:
  // Calls visit(x, y, Ix, Iy) for the pixels of the window that lie in the picture.
  template <typename Visit>
  void for_each(const Visit &visit) const {
    for (int y = std::max(0, y_ - radius_); y <= std::min(i_.height() - 1, y_ + radius_); ++y)
      for (int x = std::max(0, x_ - radius_); x <= std::min(i_.width() - 1, x_ + radius_); ++x)
        visit(x, y, gradients_.x.at(x, y), gradients_.y.at(x, y));
  }

  bool is_outside(Real dx, Real dy) const {
    const double left = std::floor(double{dx}) + x_ - radius_, top = std::floor(double{dy}) + y_ - radius_;
    return left < -params_.window_size || left >= i_.width() || top < -params_.window_size ||
           top >= i_.height();
  }

  void mismatch(Real dx, Real dy, Real *bx, Real *by) const {
    const Real fx = dx - std::floor(dx), fy = dy - std::floor(dy);
    const int nx = static_cast<int>(std::floor(dx)), ny = static_cast<int>(std::floor(dy));
    const Real weight[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    constexpr Real kScale = Real{1} / (1 << 15);
    if constexpr (std::is_same_v<Real, float>) {
      long long ex[4] = {}, ey[4] = {};
      for_each([&](int x, int y, int gx, int gy) {
        for (int k = 0; k < 4; ++k) {
          const int difference = pixel(j_, x + nx + k % 2, y + ny + k / 2) - i_.at(x, y);
          ex[k] += gx * difference, ey[k] += gy * difference;
        }
      });
      const auto sum = [&](const long long *e) {
        Real term[4];
        for (int k = 0; k < 4; ++k) term[k] = weight[k] * static_cast<Real>(e[k]);
        return ((term[0] + term[1]) + (term[2] + term[3])) * kScale;
      };
      *bx = sum(ex), *by = sum(ey);
    } else {
      for_each([&](int x, int y, int gx, int gy) {
        Real at = 0;
        for (int k = 0; k < 4; ++k)
          at += weight[k] * static_cast<Real>(pixel(j_, x + nx + k % 2, y + ny + k / 2));
        const Real difference = at - static_cast<Real>(i_.at(x, y));
        *bx += static_cast<Real>(gx) * difference, *by += static_cast<Real>(gy) * difference;
      });
      *bx *= kScale, *by *= kScale;
    }
  }

  const Picture &i_;
  const Gradients &gradients_;
  const Picture &j_;
  int x_, y_, radius_;
  OpticalFlowParams params_;
  Real xx_, xy_, yy_;
};

// The flow of every pixel, for any stride, without the forward-backward check.
template <typename Real>
Flow defined_dense_flow(const Picture &first, const Picture &second, const OpticalFlowParams &p) {
  const std::vector<Picture> from = defined_pyramid(first, p), to = defined_pyramid(second, p);
  HostImage<Real> coarse_x, coarse_y, fine_x, fine_y;
  Picture valid;
  for (int level = static_cast<int>(from.size()) - 1; level >= 0; --level) {
    const Picture &i = from[static_cast<std::size_t>(level)], &j = to[static_cast<std::size_t>(level)];
    const Gradients gradients(i);
    fine_x = fine_y = HostImage<Real>(i.size());
    valid = Picture(i.size());
    for (int y = 0; y < i.height(); ++y)
      for (int x = 0; x < i.width(); ++x) {
        Real dx = 0, dy = 0;
        if (coarse_x.width() > 0) {
          // Twice the mean of the four pixels around (x / 2, y / 2); some of them may be the same pixel.
          const int l = x / 2, t = y / 2, r = std::min((x + 1) / 2, coarse_x.width() - 1),
                    b = std::min((y + 1) / 2, coarse_x.height() - 1);
          const auto start = [&](const HostImage<Real> &c) {
            return ((c.at(l, t) + c.at(r, t)) + (c.at(l, b) + c.at(r, b))) / 2;
          };
          dx = start(coarse_x), dy = start(coarse_y);
        }
        valid.at(x, y) = DefinedWindow<Real>(i, gradients, j, x, y, p).track(&dx, &dy) ? 1 : 0;
        fine_x.at(x, y) = dx, fine_y.at(x, y) = dy;
      }
    coarse_x = fine_x, coarse_y = fine_y;
  }
  Flow flow{HostImage<float>({2 * first.width(), first.height()}), valid};
  for (int y = 0; y < first.height(); ++y)
    for (int x = 0; x < first.width(); ++x) {
      flow.xy.at(2 * x, y) = static_cast<float>(fine_x.at(x, y));
      flow.xy.at(2 * x + 1, y) = static_cast<float>(fine_y.at(x, y));
    }
  return flow;
}

// Every stride-th vector.
inline Flow every(int stride, const Flow &dense) {
  const Size size{(dense.size().width + stride - 1) / stride, (dense.size().height + stride - 1) / stride};
  Flow flow{HostImage<float>({2 * size.width, size.height}), Picture(size)};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      flow.xy.at(2 * x, y) = dense.at(x * stride, y * stride).x;
      flow.xy.at(2 * x + 1, y) = dense.at(x * stride, y * stride).y;
      flow.valid.at(x, y) = dense.valid.at(x * stride, y * stride);
    }
  return flow;
}

// The forward-backward check: clears `valid` of the vectors that do not come back to within `most` pixels.
inline void check_way_back(const Flow &back, float most, Flow *flow) {
  for (int y = 0; y < back.size().height; ++y)
    for (int x = 0; x < back.size().width; ++x) {
      const FlowVector d = flow->at(x, y);
      const double ex = std::floor(static_cast<float>(x) + d.x + 0.5f),
                   ey = std::floor(static_cast<float>(y) + d.y + 0.5f);
      bool returns = ex >= 0 && ey >= 0 && ex < back.size().width && ey < back.size().height;
      if (returns) {
        const FlowVector b = back.at(static_cast<int>(ex), static_cast<int>(ey));
        const float rx = d.x + b.x, ry = d.y + b.y;
        returns = rx * rx + ry * ry <= most * most;
      }
      if (!returns) flow->valid.at(x, y) = 0;
    }
}

template <typename Real = float>
Flow definition(const Picture &first, const Picture &second, const OpticalFlowParams &p) {
  Flow flow = defined_dense_flow<Real>(first, second, p);
  if (p.forward_backward > 0)
    check_way_back(defined_dense_flow<Real>(second, first, p), static_cast<float>(p.forward_backward), &flow);
  return every(p.stride, flow);
}

// --- pictures ---

// Two frames of this size from the middle of a picture. The content moves by (dx, dy) whole pixels from the
// first frame to the second.
struct Pair {
  Picture first, second;
};
inline Pair displaced(const Picture &picture, Size size, int dx, int dy) {
  const int x = (picture.width() - size.width) / 2, y = (picture.height() - size.height) / 2;
  return {picture.crop({x, y, size.width, size.height}),
          picture.crop({x - dx, y - dy, size.width, size.height})};
}

// --- running the algorithm ---

// Placements of vectors, which keep their floats aligned.
inline constexpr Placement kFlowPlacements[] = {
    {"tight", 0, 4, 0}, {"misaligned by 4, odd pitch", 4, 4, 12}, {"aligned", 0, 256, 0}};

class Estimator {
 public:
  Estimator(const Execution &execution, Size size) : execution_(execution), size_(size) {
    EXPECT_TRUE(succeeds(make_opticalflow(execution, size, &flow_)));
  }

  OpticalFlow &flow() { return *flow_; }
  void place(const Placement &luma, const Placement &vectors, const Placement &valid) {
    luma_ = luma, vectors_ = vectors, valid_ = valid;
  }

  // Passes the first frame of a stream to the algorithm.
  void start(const Picture &frame, const OpticalFlowParams &params = {}) {
    flow_->drop_previous();
    const TestImage<std::uint8_t> luma(execution_, frame, luma_);
    EXPECT_TRUE(succeeds(flow_->run(luma.view(), params, {}, {})));
    EXPECT_TRUE(test::same(luma.download(), frame)) << "the frame is only read";
  }
  // Returns the flow from the previous frame to this one.
  Flow next(const Picture &frame, const OpticalFlowParams &params = {}, const Places &places = {}) {
    const Size size = flow_size(size_, params.stride);
    const TestImage<std::uint8_t> luma(execution_, frame, luma_), valid(execution_, size, valid_);
    const TestImage<float> vectors(execution_, {2 * size.width, size.height}, vectors_);
    EXPECT_TRUE(succeeds(flow_->run(luma.view(), params, view_of(vectors), valid.view(), places)));
    EXPECT_TRUE(test::same(luma.download(), frame)) << "the frame is only read";
    return {vectors.download(), valid.download()};
  }
  Flow between(const Picture &first, const Picture &second, const OpticalFlowParams &params = {},
               const Places &places = {}) {
    start(first, params);
    return next(second, params, places);
  }

  static ImageView<FlowVector> view_of(const TestImage<float> &xy) {
    const ImageView<float> view = xy.view();
    return {reinterpret_cast<FlowVector *>(view.data), view.pitch_bytes, view.width / 2, view.height};
  }

 private:
  Execution execution_;
  Size size_;
  Placement luma_ = kMisalignedOddPitch, vectors_ = kFlowPlacements[1], valid_ = kOddPitch;
  std::unique_ptr<OpticalFlow> flow_;
};

inline Flow flow_between(const Execution &execution, const Picture &first, const Picture &second,
                         const OpticalFlowParams &params = {}) {
  return Estimator(execution, first.size()).between(first, second, params);
}

}  // namespace cudavision::test
