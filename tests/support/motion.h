// SPDX-License-Identifier: LGPL-2.1-or-later
// Pairs of pictures with known motion at every pixel.
#pragma once

#include <cmath>
#include <functional>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "cuda/opticalflow/opticalflow.h"
#include "tests/support/picture.h"

namespace cudavision::test {

struct Motion {
  std::string name;
  std::function<FlowVector(float x, float y)> at;  // in pixels per frame
};

// Motions for a picture of this size: rotation by 1 degree with enlargement by 1 % around its centre; and
// waves of 2 pixels amplitude, hundreds of pixels long.
inline std::vector<Motion> motions(Size size) {
  const float cx = static_cast<float>(size.width) / 2, cy = static_cast<float>(size.height) / 2;
  const float c = 1.01f * std::cos(0.01745f), s = 1.01f * std::sin(0.01745f);
  return {{"affine",
           [=](float x, float y) {
             const float dx = x - cx, dy = y - cy;
             return FlowVector{c * dx - s * dy - dx, s * dx + c * dy - dy};
           }},
          {"waves", [](float x, float y) {
             return FlowVector{2 * std::sin(y / 50), 2 * std::cos(x / 60 + y / 90)};
           }}};
}

// The frame before `next`. Its pixel p is next(p + motion(p)), interpolated cubically, so the flow from it to
// `next` is exactly the motion, except where the motion points outside of the picture.
inline Picture frame_before(const Picture &next, const Motion &motion) {
  cv::Mat map(next.height(), next.width(), CV_32FC2);
  for (int y = 0; y < next.height(); ++y)
    for (int x = 0; x < next.width(); ++x) {
      const FlowVector d = motion.at(static_cast<float>(x), static_cast<float>(y));
      map.at<cv::Vec2f>(y, x) = {static_cast<float>(x) + d.x, static_cast<float>(y) + d.y};
    }
  const cv::Mat source(next.height(), next.width(), CV_8U, const_cast<std::uint8_t *>(next.row(0)));
  Picture before(next.size());
  cv::Mat result(next.height(), next.width(), CV_8U, before.row(0));
  cv::remap(source, result, map, cv::noArray(), cv::INTER_CUBIC, cv::BORDER_REFLECT_101);
  return before;
}

}  // namespace cudavision::test
