// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of local histograms in plain loops.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "cuda/localhist/localhist_rules.h"
#include "tests/kernels/gradient_definition.h"
#include "tests/support/picture.h"

namespace cudavision {

inline std::ostream &operator<<(std::ostream &out, const LocalHistParams &p) {
  return out << (p.feature == LocalHistFeature::brightness ? "brightness" : "gradient") << " operator "
             << static_cast<int>(p.op) << " weight " << static_cast<int>(p.weight) << ", " << p.bins
             << " bins, window " << p.window.width << "x" << p.window.height << ", stride " << p.stride_x
             << "," << p.stride_y << (p.layout == LocalHistLayout::planar ? ", planar" : "") << ", reduction "
             << static_cast<int>(p.reduction);
}

}  // namespace cudavision

namespace cudavision::test {

// The bin of each pixel, -1 if it is not counted, and its weight in fixed point.
struct DefinedSamples {
  HostImage<int> bin;
  HostImage<std::uint64_t> weight;

  DefinedSamples(const Picture &picture, const LocalHistParams &p)
      : bin(picture.size(), -1), weight(picture.size()) {
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) {
        if (p.feature == LocalHistFeature::brightness) {
          bin.at(x, y) = picture.at(x, y) * p.bins / 256;
          weight.at(x, y) = 1;
          continue;
        }
        const Gradient g = defined_gradient(picture, x, y, p.op);
        if (g == Gradient{}) continue;
        bin.at(x, y) = defined_bin(g.dx, g.dy, p.bins);
        weight.at(x, y) = fixed_weight(g, p.weight);
      }
  }

  // Returns the sums of all bins over a region.
  std::vector<std::uint64_t> count(Region region, int bins) const {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(bins));
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x)
        if (bin.at(x, y) >= 0) sums[static_cast<std::size_t>(bin.at(x, y))] += weight.at(x, y);
    return sums;
  }
};

// The sums of all bins of each window of a picture, in row-major order.
struct DefinedWindows {
  int rows, cols;
  std::vector<std::vector<std::uint64_t>> sums;

  DefinedWindows(const Picture &picture, const LocalHistParams &p)
      : rows((picture.height() - p.window.height) / p.stride_y + 1),
        cols((picture.width() - p.window.width) / p.stride_x + 1) {
    const DefinedSamples samples(picture, p);
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col)
        sums.push_back(
            samples.count({col * p.stride_x, row * p.stride_y, p.window.width, p.window.height}, p.bins));
  }
  const std::vector<std::uint64_t> &at(int row, int col) const {
    return sums[static_cast<std::size_t>(row * cols + col)];
  }
};

// The histograms in the layout in which LocalHist writes them.
template <typename Element>
HostImage<Element> definition(const Picture &picture, const LocalHistParams &p) {
  const DefinedWindows windows(picture, p);
  const bool planar = p.layout == LocalHistLayout::planar;
  HostImage<Element> out(planar ? Size{windows.cols, windows.rows * p.bins}
                                : Size{windows.cols * p.bins, windows.rows});
  const bool counts = p.feature == LocalHistFeature::brightness || p.weight == GradientWeight::count;
  const float scale = counts ? 1.0f : p.weight == GradientWeight::magnitude ? 16.0f : 512.0f;
  for (int row = 0; row < windows.rows; ++row)
    for (int col = 0; col < windows.cols; ++col)
      for (int bin = 0; bin < p.bins; ++bin) {
        const std::uint64_t sum = windows.at(row, col)[static_cast<std::size_t>(bin)];
        Element &element = planar ? out.at(col, bin * windows.rows + row) : out.at(col * p.bins + bin, row);
        if constexpr (std::is_same_v<Element, float>)
          element = static_cast<float>(sum) / scale;
        else
          element = static_cast<Element>(sum);
      }
  return out;
}

inline LocalHistParams brightness_params(int bins, Size window) {
  LocalHistParams params;
  params.feature = LocalHistFeature::brightness;
  params.bins = bins;
  params.window = window;
  return params;
}
inline LocalHistParams gradient_params(int bins, Size window, GradientWeight weight = GradientWeight::count) {
  LocalHistParams params;
  params.bins = bins;
  params.window = window;
  params.weight = weight;
  return params;
}

inline constexpr GradientWeight kWeights[] = {GradientWeight::count, GradientWeight::magnitude,
                                              GradientWeight::sqrt_magnitude};

}  // namespace cudavision::test
