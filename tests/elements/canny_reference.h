// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudacanny must give: cv::Canny, written into frames pixel by pixel.
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>

#include "tests/elements/video_frame.h"

namespace cudavision::test {

struct CannyCase {  // the defaults of the element
  double low = 50, high = 100;
  int aperture = 3;
  bool l2 = false;
  double sigma = 0;
  bool hysteresis = true;
};

using Colour = std::array<int, 3>;
// 0xAARRGGBB in the components of the frame, by the matrix and range of its colorimetry.
Colour colour_in(const VideoFrame &frame, std::uint32_t argb);

// The Y of the frame, or what cv::cvtColor makes of its R, G and B.
cv::Mat luma_of(const VideoFrame &frame);
// cv::GaussianBlur where it is wanted, then cv::Canny. 255 or 0.
cv::Mat opencv_edges(const cv::Mat &luma, const CannyCase &canny);

// A part of a frame; without a size it is the whole frame.
struct Part {
  int x = 0, y = 0, width = 0, height = 0;
};

// The frame after output=edges and after output=overlay. Only the part is analysed and written, as a picture
// of its own; a subsampled chroma sample is written when a written pixel of the part lies in it.
VideoFrame with_edges(VideoFrame frame, const CannyCase &canny = {}, Part part = {});
VideoFrame with_overlay(VideoFrame frame, std::uint32_t argb, const CannyCase &canny = {}, Part part = {});

}  // namespace cudavision::test
