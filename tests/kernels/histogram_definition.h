// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of a histogram as plain loops and by cv::calcHist, and a wrapper that runs the algorithm.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "cuda/histogram/histogram.h"
#include "tests/support/backends.h"
#include "tests/support/test_frame.h"

namespace cudavision::test {

using Counts = HostImage<std::uint32_t>;  // one row per channel

// value * bins / range, with the order of operations of cv::calcHist.
inline int defined_bin(int value, const HistogramParams &p) {
  const double scale = p.bins / static_cast<double>(p.range_max - p.range_min);
  const int bin = static_cast<int>(std::floor(value * scale - scale * p.range_min));
  return std::min(std::max(bin, 0), p.bins - 1);
}

inline void count(int value, const HistogramParams &p, std::uint32_t *counts) {
  if (value >= p.range_min && value < p.range_max) ++counts[defined_bin(value, p)];
}

inline Counts definition(const Picture &picture, const HistogramParams &p) {
  Counts counts({p.bins, 1});
  for (const std::uint8_t value : picture.pixels()) count(value, p, counts.row(0));
  return counts;
}

// The samples of a component that belong to any pixel of the region, each once.
inline std::vector<std::uint8_t> samples_of(const HostFrame &frame, int component, Region region) {
  const cudavision::PixelLayout::Place &place = frame.format->layout.place[component];
  std::vector<std::uint8_t> samples;
  for (int y = region.y; y < region.y + region.height; ++y)
    for (int x = region.x; x < region.x + region.width; ++x) {
      const bool new_column = x == region.x || x >> place.shift_x != (x - 1) >> place.shift_x;
      const bool new_row = y == region.y || y >> place.shift_y != (y - 1) >> place.shift_y;
      if (new_column && new_row) samples.push_back(static_cast<std::uint8_t>(frame.at(component, x, y)));
    }
  return samples;
}

inline Counts definition(const HostFrame &frame, Region region, const HistogramParams &p) {
  Counts counts({p.bins, frame.component_count()});
  for (int c = 0; c < frame.component_count(); ++c)
    for (const std::uint8_t value : samples_of(frame, c, region)) count(value, p, counts.row(c));
  return counts;
}

inline void add_opencv(const std::uint8_t *values, Size size, const HistogramParams &p,
                       std::uint32_t *counts) {
  const cv::Mat image(size.height, size.width, CV_8U, const_cast<std::uint8_t *>(values));
  const int channel = 0;
  const float range[] = {static_cast<float>(p.range_min), static_cast<float>(p.range_max)};
  const float *ranges = range;
  cv::Mat result;
  cv::calcHist(&image, 1, &channel, cv::Mat(), result, 1, &p.bins, &ranges);
  for (int i = 0; i < p.bins; ++i) counts[i] = static_cast<std::uint32_t>(result.at<float>(i));
}

inline Counts opencv(const Picture &picture, const HistogramParams &p) {
  Counts counts({p.bins, 1});
  add_opencv(picture.row(0), picture.size(), p, counts.row(0));
  return counts;
}

inline Counts opencv(const HostFrame &frame, Region region, const HistogramParams &p) {
  Counts counts({p.bins, frame.component_count()});
  for (int c = 0; c < frame.component_count(); ++c) {
    const std::vector<std::uint8_t> samples = samples_of(frame, c, region);
    add_opencv(samples.data(), {static_cast<int>(samples.size()), 1}, p, counts.row(c));
  }
  return counts;
}

class Counter {
 public:
  explicit Counter(const Execution &execution) : execution_(execution) {
    EXPECT_TRUE(succeeds(make_histogram(execution, &histogram_)));
  }

  cudavision::Histogram &histogram() { return *histogram_; }
  Counts count(const Samples &samples, const HistogramParams &params = {}) {
    const TestImage<std::uint32_t> counts(execution_, {params.bins, samples.channels}, kTight);
    EXPECT_TRUE(succeeds(histogram_->run(samples, params, counts.view().data)));
    return counts.download();
  }
  Counts count(const Picture &picture, const HistogramParams &params = {},
               const Placement &placement = kMisalignedOddPitch) {
    const TestImage<std::uint8_t> image(execution_, picture, placement);
    const Counts counts = count(luma_samples(image.view()), params);
    EXPECT_TRUE(same(image.download(), picture)) << "the picture must not change";
    return counts;
  }
  Counts count(const HostFrame &frame, Region region, const HistogramParams &params = {},
               const Placement &placement = kOddPitch) {
    const TestFrame test_frame(execution_, frame, placement);
    const Counts counts = count(channel_samples(test_frame.frame(), region), params);
    EXPECT_TRUE(same(test_frame.download(), frame)) << "the frame must not change";
    return counts;
  }

 private:
  Execution execution_;
  std::unique_ptr<cudavision::Histogram> histogram_;
};

inline std::uint64_t sum(const Counts &counts) {
  return std::accumulate(counts.pixels().begin(), counts.pixels().end(), std::uint64_t{0});
}

}  // namespace cudavision::test
