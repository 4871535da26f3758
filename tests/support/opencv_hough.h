// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes cv::HoughLines of any OpenCV version use the directions of OpenCV 4.6.
#pragma once

#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace cudavision::test {

// OpenCV up to 4.6 uses round((max_theta - min_theta) / theta) directions, as does the Hough transform of
// this project. OpenCV 4.7 and later (pull request 22164) use floor((max_theta - min_theta) / theta) + 1, or
// one less if the last direction would equal the first. This function returns an end of the range for which
// the installed version uses as many directions as 4.6; the directions themselves do not depend on the end.
inline double max_theta_of_opencv_4_6(double theta, double min_theta, double max_theta) {
  constexpr bool kCountsAsOpenCV46 = CV_VERSION_MAJOR * 100 + CV_VERSION_MINOR < 407;
  if constexpr (kCountsAsOpenCV46) return max_theta;
  const int directions = cvRound((max_theta - min_theta) / static_cast<float>(theta));
  return min_theta + (directions - 0.5) * theta;
}

inline void opencv_hough_lines(const cv::Mat &edges, std::vector<cv::Vec3f> *lines, double rho, double theta,
                               int threshold, double min_theta, double max_theta) {
  lines->clear();
  const double end = max_theta_of_opencv_4_6(theta, min_theta, max_theta);
  if (end >= min_theta) cv::HoughLines(edges, *lines, rho, theta, threshold, 0, 0, min_theta, end);
}

}  // namespace cudavision::test
