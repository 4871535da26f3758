// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of the sigma^2 detector in plain loops.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "cuda/gradient/samples_rules.h"
#include "cuda/sigma2kp/sigma2kp.h"
#include "tests/kernels/gradient_definition.h"
#include "tests/support/picture.h"

namespace cudavision {

inline std::ostream &operator<<(std::ostream &out, const Sigma2KpParams &p) {
  out << (p.definition == Sigma2KpDefinition::dense ? "dense" : "grid") << " window " << p.window << " cell "
      << p.cell << " tau " << p.tau << " grids " << p.grids << " min-distance " << p.min_distance
      << " max-keypoints " << p.max_keypoints;
  if (p.orientation)
    out << ", orientation in " << p.orientation_window << ", " << p.orientation_bins << " bins, operator "
        << static_cast<int>(p.op) << " weight " << static_cast<int>(p.weight);
  return out;
}

inline std::ostream &operator<<(std::ostream &out, const Sigma2Keypoint &k) {
  return out << "(" << k.x << ", " << k.y << ") S " << k.strength << " orientation " << k.orientation;
}

}  // namespace cudavision

namespace cudavision::test {

using Keypoints = std::vector<Sigma2Keypoint>;

// The strength S of each window, at the position of its top left pixel, in signed 64-bit arithmetic.
inline HostImage<std::int64_t> defined_strengths(const Picture &picture, int k) {
  HostImage<std::int64_t> s({std::max(0, picture.width() - k + 1), std::max(0, picture.height() - k + 1)});
  for (int y = 0; y < s.height(); ++y)
    for (int x = 0; x < s.width(); ++x) {
      std::int64_t sum = 0, squares = 0;
      for (int j = 0; j < k; ++j)
        for (int i = 0; i < k; ++i) {
          const int value = picture.at(x + i, y + j);
          sum += value, squares += value * value;
        }
      s.at(x, y) = k * k * squares - sum * sum;
    }
  return s;
}

// Returns true if the cell of l x l windows that begins at (x, y) lies among the windows of s.
inline bool holds(const HostImage<std::int64_t> &s, int x, int y, int l) {
  return x >= 0 && y >= 0 && x + l <= s.width() && y + l <= s.height();
}

inline void mark_grid(const HostImage<std::int64_t> &s, const Sigma2KpParams &p, int offset_x, int offset_y,
                      HostImage<std::uint8_t> *marks) {
  const int l = p.cell;
  for (int y = offset_y; y < s.height(); y += l)
    for (int x = offset_x; x < s.width(); x += l) {
      if (!holds(s, x, y, l)) continue;
      int best_x = x, best_y = y;
      bool flat = true;
      for (int j = y; j < y + l; ++j)
        for (int i = x; i < x + l; ++i) {
          if (s.at(i, j) != s.at(x, y)) flat = false;
          if (s.at(i, j) > s.at(best_x, best_y)) best_x = i, best_y = j;
        }
      const double dx = best_x - (x + l / 2.0), dy = best_y - (y + l / 2.0);
      if (!flat && dx * dx + dy * dy < p.tau * p.tau) marks->at(best_x, best_y) = 1;
    }
}

inline bool is_dense_keypoint(const HostImage<std::int64_t> &s, const Sigma2KpParams &p, int x, int y) {
  const int l = p.cell;
  for (int qy = y - l / 2; qy <= y + l / 2; ++qy)  // tau is less than l / 2
    for (int qx = x - l / 2; qx <= x + l / 2; ++qx) {
      const int left = qx - l / 2, top = qy - l / 2;
      const double dx = x - qx, dy = y - qy;
      const bool inside = x >= left && x < left + l && y >= top && y < top + l;
      if (!holds(s, left, top, l) || !inside || dx * dx + dy * dy > p.tau * p.tau) continue;
      bool greatest = true, greater = false;
      for (int j = top; j < top + l && greatest; ++j)
        for (int i = left; i < left + l && greatest; ++i) {
          greatest = s.at(x, y) >= s.at(i, j);
          greater |= s.at(x, y) > s.at(i, j);
        }
      if (greatest && greater) return true;
    }
  return false;
}

// All keypoints, before min_distance and max_keypoints are applied, without orientation.
inline Keypoints defined_keypoints(const Picture &picture, const Sigma2KpParams &p) {
  const HostImage<std::int64_t> s = defined_strengths(picture, p.window);
  HostImage<std::uint8_t> marks(s.size());
  const int half = p.cell / 2;
  if (p.definition == Sigma2KpDefinition::grid) {
    mark_grid(s, p, 0, 0, &marks);
    mark_grid(s, p, half, half, &marks);
    if (p.grids == 4) mark_grid(s, p, half, 0, &marks), mark_grid(s, p, 0, half, &marks);
  }
  Keypoints keypoints;
  for (int y = 0; y < s.height(); ++y)
    for (int x = 0; x < s.width(); ++x)
      if (marks.at(x, y) != 0 || (p.definition == Sigma2KpDefinition::dense && is_dense_keypoint(s, p, x, y)))
        keypoints.push_back({static_cast<std::uint64_t>(s.at(x, y)), static_cast<std::uint16_t>(x),
                             static_cast<std::uint16_t>(y), kNoOrientation});
  return keypoints;
}

inline bool is_stronger(const Sigma2Keypoint &a, const Sigma2Keypoint &b) {
  if (a.strength != b.strength) return a.strength > b.strength;
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}
inline bool is_earlier(const Sigma2Keypoint &a, const Sigma2Keypoint &b) {
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

inline Keypoints thinned_by_distance(const Keypoints &all, int distance) {
  Keypoints kept;
  for (const Sigma2Keypoint &a : all) {
    bool dropped = false;
    for (const Sigma2Keypoint &b : all) {
      const int dx = a.x - b.x, dy = a.y - b.y;
      dropped |= dx * dx + dy * dy < distance * distance && is_stronger(b, a);
    }
    if (!dropped) kept.push_back(a);
  }
  return kept;
}

inline Keypoints strongest(Keypoints all, int count) {
  std::sort(all.begin(), all.end(), is_stronger);
  all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
  std::sort(all.begin(), all.end(), is_earlier);
  return all;
}

inline int defined_orientation(const Picture &picture, const Sigma2KpParams &p, int x, int y) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(p.orientation_bins));
  // The centre of the window, and the square around it, rounded to the left and up.
  const double middle_x = x + p.window / 2.0, middle_y = y + p.window / 2.0, side = p.orientation_window;
  const int left = static_cast<int>(std::floor(middle_x - side / 2)),
            top = static_cast<int>(std::floor(middle_y - side / 2));
  for (int j = top; j < top + p.orientation_window; ++j)
    for (int i = left; i < left + p.orientation_window; ++i) {
      if (i < 0 || j < 0 || i >= picture.width() || j >= picture.height()) continue;
      const Gradient g = defined_gradient(picture, i, j, p.op);
      if (g == Gradient{}) continue;
      sums[static_cast<std::size_t>(defined_bin(g.dx, g.dy, p.orientation_bins))] +=
          fixed_weight(g, p.weight);
    }
  int best = kNoOrientation;
  std::uint64_t most = 0;
  for (int bin = 0; bin < p.orientation_bins; ++bin)
    if (sums[static_cast<std::size_t>(bin)] > most) best = bin, most = sums[static_cast<std::size_t>(bin)];
  return best;
}

struct FoundKeypoints {
  Keypoints keypoints;
  int found = 0;
};

inline FoundKeypoints definition(const Picture &picture, const Sigma2KpParams &p, const Places &places = {}) {
  Keypoints all = defined_keypoints(picture, p);
  if (places.count >= 0)
    std::erase_if(all, [&](const Sigma2Keypoint &k) {
      const int x = k.x + p.window / 2, y = k.y + p.window / 2;
      return std::none_of(places.region, places.region + places.count, [&](const Region &r) {
        return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
      });
    });
  if (p.min_distance > 0) all = thinned_by_distance(all, p.min_distance);
  FoundKeypoints result{strongest(all, p.max_keypoints), static_cast<int>(all.size())};
  if (p.orientation)
    for (Sigma2Keypoint &k : result.keypoints) k.orientation = defined_orientation(picture, p, k.x, k.y);
  return result;
}

inline testing::AssertionResult same_keypoints(const FoundKeypoints &actual, const FoundKeypoints &expected) {
  if (actual.found != expected.found || actual.keypoints.size() != expected.keypoints.size())
    return testing::AssertionFailure()
           << actual.keypoints.size() << " keypoints of " << actual.found << " instead of "
           << expected.keypoints.size() << " of " << expected.found;
  for (std::size_t i = 0; i < actual.keypoints.size(); ++i)
    if (!(actual.keypoints[i] == expected.keypoints[i]))
      return testing::AssertionFailure()
             << "keypoint " << i << " is " << actual.keypoints[i] << " instead of " << expected.keypoints[i];
  return testing::AssertionSuccess();
}

}  // namespace cudavision::test
