// SPDX-License-Identifier: LGPL-2.1-or-later
// The expected results of cudahistogram.
#include "tests/elements/histogram_reference.h"

#include <opencv2/imgproc.hpp>
#include <utility>

#include "cuda/histogram/plot_labels.h"
#include "tests/elements/drawn_frame.h"

namespace cudavision::test {
namespace {

int channel_count(const VideoFrame &frame, const HistogramCase &histogram) {
  return histogram.channels ? frame.component_count() : 1;
}

// The samples of a component that belong to any pixel of the region.
cv::Mat samples_of(const VideoFrame &frame, int component, Region region) {
  const int shift_x = frame.shift_x(component), shift_y = frame.shift_y(component);
  const int left = region.x >> shift_x, right = (region.x + region.width - 1) >> shift_x;
  const int top = region.y >> shift_y, bottom = (region.y + region.height - 1) >> shift_y;
  cv::Mat samples(bottom - top + 1, right - left + 1, CV_8U);
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x)
      samples.at<std::uint8_t>(y - top, x - left) = frame.sample(component, x, y);
  return samples;
}

void append_counts(const cv::Mat &samples, const HistogramCase &histogram,
                   std::vector<std::uint32_t> *counts) {
  const int channel = 0;
  const float range[] = {static_cast<float>(histogram.range_min), static_cast<float>(histogram.range_max)};
  const float *ranges = range;
  cv::Mat result;
  cv::calcHist(&samples, 1, &channel, cv::Mat(), result, 1, &histogram.bins, &ranges);
  for (int i = 0; i < histogram.bins; ++i) counts->push_back(static_cast<std::uint32_t>(result.at<float>(i)));
}

HistogramPlot styled_plot(const VideoFrame &frame, Region region, int channels) {
  HistogramPlot plot = place_plot(region, channels);
  plot.background = color_in(frame, 0xa0000000);
  plot.outline = color_in(frame, 0xffffffff);
  const std::uint32_t white = 0xffffffff, red = 0xffff4040, green = 0xff40ff40, blue = 0xff6080ff;
  const bool rgb = frame.is_rgb();
  plot.bars[0] = color_in(frame, channels == 3 && rgb ? red : white);
  plot.bars[1] = color_in(frame, rgb ? green : blue);
  plot.bars[2] = color_in(frame, rgb ? blue : red);
  return plot;
}

}  // namespace

std::vector<std::uint32_t> opencv_counts(const VideoFrame &frame, const HistogramCase &histogram, Part part) {
  const Region region = region_of(frame, part);
  std::vector<std::uint32_t> counts;
  if (histogram.channels) {
    for (int c = 0; c < frame.component_count(); ++c)
      append_counts(samples_of(frame, c, region), histogram, &counts);
  } else {
    const cv::Rect rectangle(region.x, region.y, region.width, region.height);
    append_counts(luma_of(frame)(rectangle).clone(), histogram, &counts);
  }
  return counts;
}

VideoFrame with_plot(VideoFrame frame, const HistogramCase &histogram, Part part) {
  const int channels = channel_count(frame, histogram), count = plot_size(channels, histogram.bins);
  const std::vector<std::uint32_t> counts = opencv_counts(frame, histogram, part);
  const Workers workers(1);
  const Execution cpu{Backend::cpu, &workers, nullptr};
  std::vector<Primitive> primitives(static_cast<std::size_t>(count));
  const HistogramPlot plot = styled_plot(frame, region_of(frame, part), channels);
  EXPECT_TRUE(plot_histogram(cpu, counts.data(), channels, histogram.bins, plot, primitives.data()).ok());
  HistogramParams params;
  params.range_min = histogram.range_min, params.range_max = histogram.range_max;
  const char *names = channels == 1 ? "Y" : frame.is_rgb() ? "RGB" : "YUV";
  const std::vector<Primitive> labels = plot_labels(plot, channels, names, params);
  primitives.insert(primitives.end(), labels.begin(), labels.end());
  return with_primitives(std::move(frame), primitives);
}

Part plot_of(const VideoFrame &frame, const HistogramCase &histogram, Part part) {
  const Region area = place_plot(region_of(frame, part), channel_count(frame, histogram)).area;
  return {area.x, area.y, area.width, area.height};
}

}  // namespace cudavision::test
