// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudacanny, computed by OpenCV.
#include "tests/elements/canny_reference.h"

#include <cmath>
#include <functional>
#include <opencv2/imgproc.hpp>

namespace cudavision::test {
namespace {

// Converts RGB, each component in [0, 1], to YUV by the matrix (BT.601, BT.709 or BT.2020) and the range of
// the colorimetry.
Colour yuv_of(double r, double g, double b, const GstVideoColorimetry &colorimetry) {
  gdouble kr = 0, kb = 0;
  EXPECT_TRUE(gst_video_color_matrix_get_Kr_Kb(colorimetry.matrix, &kr, &kb));
  const double y = kr * r + (1 - kr - kb) * g + kb * b;
  const double u = (b - y) / (1 - kb) / 2, v = (r - y) / (1 - kr) / 2;
  const bool full = colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  const auto round = [](double value) {
    const double clamped = std::min(255.0, std::max(0.0, value));
    EXPECT_GT(std::abs(clamped - std::floor(clamped) - 0.5), 1e-3)
        << "choose a colour whose rounding is unambiguous";
    return static_cast<int>(std::lround(clamped));
  };
  return {round(full ? 255 * y : 16 + 219 * y), round(128 + (full ? 255 : 224) * u),
          round(128 + (full ? 255 : 224) * v)};
}

cv::Rect rectangle_of(const VideoFrame &frame, Part part) {
  const cv::Rect whole(0, 0, frame.size().width, frame.size().height);
  return part.width == 0 && part.height == 0 ? whole
                                             : whole & cv::Rect(part.x, part.y, part.width, part.height);
}

// Calls change(sample, component, edge) once for each sample that the rectangle touches. edge is the value of
// the edge map at the sample's pixel. For a subsampled component it is the largest value of the sample's
// pixels that lie in the rectangle.
void for_each_sample(VideoFrame *frame, cv::Rect rectangle, const cv::Mat &edges,
                     const std::function<void(std::uint8_t &, int, int)> &change) {
  for (int c = 0; c < frame->component_count(); ++c) {
    cv::Mat largest(frame->component_size(c).height, frame->component_size(c).width, CV_32S, cv::Scalar(-1));
    for (int y = 0; y < rectangle.height; ++y)
      for (int x = 0; x < rectangle.width; ++x) {
        int &cell =
            largest.at<int>((rectangle.y + y) >> frame->shift_y(c), (rectangle.x + x) >> frame->shift_x(c));
        cell = std::max<int>(cell, edges.at<std::uint8_t>(y, x));
      }
    for (int y = 0; y < largest.rows; ++y)
      for (int x = 0; x < largest.cols; ++x)
        if (largest.at<int>(y, x) >= 0) change(frame->sample(c, x, y), c, largest.at<int>(y, x));
  }
}

cv::Mat edges_of(const VideoFrame &frame, const CannyCase &canny, cv::Rect rectangle) {
  return opencv_edges(luma_of(frame)(rectangle).clone(), canny);
}

}  // namespace

Colour colour_in(const VideoFrame &frame, std::uint32_t argb) {
  const int r = argb >> 16 & 255, g = argb >> 8 & 255, b = argb & 255;
  if (frame.is_rgb()) return {r, g, b};
  if (frame.component_count() == 3) return yuv_of(r / 255.0, g / 255.0, b / 255.0, frame.info().colorimetry);
  cv::Mat gray;
  cv::cvtColor(cv::Mat(1, 1, CV_8UC3, cv::Scalar(r, g, b)), gray, cv::COLOR_RGB2GRAY);
  return {gray.at<std::uint8_t>(0), 0, 0};
}

cv::Mat luma_of(const VideoFrame &frame) {
  const Size size = frame.size();
  cv::Mat luma(size.height, size.width, CV_8U), rgb(size.height, size.width, CV_8UC3);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      if (frame.is_rgb())
        rgb.at<cv::Vec3b>(y, x) = {frame.sample(0, x, y), frame.sample(1, x, y), frame.sample(2, x, y)};
      else
        luma.at<std::uint8_t>(y, x) = frame.sample(0, x, y);
    }
  if (frame.is_rgb()) cv::cvtColor(rgb, luma, cv::COLOR_RGB2GRAY);
  return luma;
}

cv::Mat opencv_edges(const cv::Mat &luma, const CannyCase &canny) {
  cv::Mat smooth = luma, edges;
  if (canny.sigma > 0) cv::GaussianBlur(luma, smooth, cv::Size(), canny.sigma);
  const double low = canny.hysteresis ? canny.low : std::max(canny.low, canny.high);
  const double high = canny.hysteresis ? canny.high : low;
  cv::Canny(smooth, edges, low, high, canny.aperture, canny.l2);
  return edges;
}

VideoFrame with_edges(VideoFrame frame, const CannyCase &canny, Part part) {
  const cv::Rect rectangle = rectangle_of(frame, part);
  const bool yuv = !frame.is_rgb();
  for_each_sample(&frame, rectangle, edges_of(frame, canny, rectangle),
                  [yuv](std::uint8_t &sample, int component, int edge) {
                    sample = static_cast<std::uint8_t>(yuv && component > 0 ? 128 : edge);
                  });
  return frame;
}

std::vector<std::uint8_t> expected_edges(const VideoFrame &frame) {
  const cv::Mat edges = opencv_edges(luma_of(frame), {});
  return {edges.begin<std::uint8_t>(), edges.end<std::uint8_t>()};
}

VideoFrame with_overlay(VideoFrame frame, std::uint32_t argb, const CannyCase &canny, Part part) {
  const cv::Rect rectangle = rectangle_of(frame, part);
  const Colour colour = colour_in(frame, argb);
  const int alpha = static_cast<int>(argb >> 24);
  for_each_sample(&frame, rectangle, edges_of(frame, canny, rectangle),
                  [&](std::uint8_t &sample, int component, int edge) {
                    if (edge == 0) return;
                    const int c = colour[static_cast<std::size_t>(component)];
                    sample = static_cast<std::uint8_t>((alpha * c + (255 - alpha) * sample + 127) / 255);
                  });
  return frame;
}

}  // namespace cudavision::test
