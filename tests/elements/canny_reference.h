// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudacanny: those of cv::Canny, written into frames pixel by pixel.
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "tests/elements/video_frame.h"

namespace cudavision::test {

// The parameters of cudacanny, with the defaults of the element.
struct CannyCase {
  double low = 50, high = 100;
  int aperture = 3;
  bool l2 = false;
  double sigma = 0;
  bool hysteresis = true;
};

using Colour = std::array<int, 3>;
// Converts 0xAARRGGBB to the components of the frame, by the matrix and range of its colorimetry.
Colour colour_in(const VideoFrame &frame, std::uint32_t argb);

// The Y component of the frame, or the result of cv::cvtColor for RGB.
cv::Mat luma_of(const VideoFrame &frame);
// Applies cv::GaussianBlur if sigma is positive, then cv::Canny. Pixels of the result are 0 or 255.
cv::Mat opencv_edges(const cv::Mat &luma, const CannyCase &canny);

// A rectangle of a frame. A width and height of 0 mean the whole frame.
struct Part {
  int x = 0, y = 0, width = 0, height = 0;
};

// The frame after output=edges and after output=overlay. Only the part is analysed and written, as a separate
// picture. A subsampled chroma sample is written if one of its pixels is written.
VideoFrame with_edges(VideoFrame frame, const CannyCase &canny = {}, Part part = {});
// The edge map, row by row.
std::vector<std::uint8_t> expected_edges(const VideoFrame &frame);
VideoFrame with_overlay(VideoFrame frame, std::uint32_t argb, const CannyCase &canny = {}, Part part = {});

}  // namespace cudavision::test
