// SPDX-License-Identifier: LGPL-2.1-or-later
// Matches keypoints, estimates a homography and measures the quality of the result.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <opencv2/calib3d.hpp>
#include <optional>
#include <vector>

#include "features.h"

constexpr double kNear =
    3;  // greatest distance, in pixels, of inliers and of keypoints that count as repeated

inline cv::Point2f mapped(const cv::Mat &homography, cv::Point2f p) {
  std::vector<cv::Point2f> out;
  cv::perspectiveTransform(std::vector<cv::Point2f>{p}, out, homography);
  return out[0];
}

struct Registration {
  std::vector<cv::DMatch> matches, inliers;
  cv::Mat homography;  // empty if none is found
};

inline Registration match(const Features &first, const Features &second) {
  Registration result;
  if (first.points.size() < 4 || second.points.size() < 4) return result;
  const int norm = first.descriptors.depth() == CV_8U ? cv::NORM_HAMMING : cv::NORM_L2;
  cv::BFMatcher(norm, /* both ways */ true).match(first.descriptors, second.descriptors, result.matches);
  std::vector<cv::Point2f> from, to;
  for (const cv::DMatch &m : result.matches) {
    from.push_back(first.points[static_cast<std::size_t>(m.queryIdx)].pt);
    to.push_back(second.points[static_cast<std::size_t>(m.trainIdx)].pt);
  }
  if (from.size() < 4) return result;
  std::vector<std::uint8_t> mask;
  result.homography = cv::findHomography(from, to, cv::RANSAC, kNear, mask, 10000, 0.999);
  for (std::size_t i = 0; i < mask.size() && !result.homography.empty(); ++i)
    if (mask[i] != 0) result.inliers.push_back(result.matches[i]);
  return result;
}

// The fraction of the first picture's keypoints visible in the second that are also detected there. Returns
// nullopt if none is visible.
inline std::optional<double> repeatability(const Features &first, const Features &second,
                                           const cv::Mat &homography, cv::Size size) {
  int visible = 0, repeated = 0;
  for (const cv::KeyPoint &point : first.points) {
    const cv::Point2f at = mapped(homography, point.pt);
    if (at.x < 0 || at.y < 0 || at.x > static_cast<float>(size.width - 1) ||
        at.y > static_cast<float>(size.height - 1))
      continue;
    ++visible;
    repeated += std::any_of(second.points.begin(), second.points.end(),
                            [&](const cv::KeyPoint &other) { return cv::norm(other.pt - at) <= kNear; });
  }
  if (visible == 0) return {};
  return 1.0 * repeated / visible;
}

inline int correct_matches(const Features &first, const Features &second,
                           const std::vector<cv::DMatch> &matches, const cv::Mat &homography) {
  return static_cast<int>(std::count_if(matches.begin(), matches.end(), [&](const cv::DMatch &m) {
    return cv::norm(second.points[static_cast<std::size_t>(m.trainIdx)].pt -
                    mapped(homography, first.points[static_cast<std::size_t>(m.queryIdx)].pt)) <= kNear;
  }));
}

// The number of cells of a grid of 8 x 8 cells over the picture that hold a keypoint.
inline int coverage(const std::vector<cv::KeyPoint> &points, cv::Size size) {
  std::map<int, int> cells;
  for (const cv::KeyPoint &p : points)
    ++cells[static_cast<int>(p.pt.y * 8 / static_cast<float>(size.height)) * 8 +
            static_cast<int>(p.pt.x * 8 / static_cast<float>(size.width))];
  return static_cast<int>(cells.size());
}

using Detector = std::function<Features(const cv::Mat &)>;
struct Named {
  const char *name;
  Detector detect;
};

struct Trial {
  Features first, second;
  Registration registration;
};

inline Trial try_detector(const Detector &detect, const cv::Mat &first, const cv::Mat &second) {
  Trial trial{detect(first), detect(second), {}};
  trial.registration = match(trial.first, trial.second);
  return trial;
}
