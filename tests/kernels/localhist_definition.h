// SPDX-License-Identifier: LGPL-2.1-or-later
// What local histograms are, in straight loops, and how the tests run the room.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/gradient_definition.h"
#include "localhist/localhist_rules.h"
#include "support/backends.h"
#include "support/pictures.h"
#include "support/test_image.h"

namespace cudavision {

inline std::ostream &operator<<(std::ostream &out, const LocalHistogramParams &p) {
  return out << (p.feature == LocalFeature::brightness ? "brightness" : "gradient") << " operator "
             << static_cast<int>(p.op) << " weight " << static_cast<int>(p.weight) << ", " << p.bins
             << " bins, window " << p.window.width << "x" << p.window.height << ", stride " << p.stride_x
             << "," << p.stride_y << (p.layout == HistogramLayout::planar ? ", planar" : "") << ", reduction "
             << static_cast<int>(p.reduction);
}

}  // namespace cudavision

namespace cudavision::test {

// A bin of each pixel, -1 where nothing is counted, and what it adds in fixed point.
struct DefinedSamples {
  HostImage<int> bin;
  HostImage<std::uint64_t> weight;

  DefinedSamples(const Picture &picture, const LocalHistogramParams &p)
      : bin(picture.size(), -1), weight(picture.size()) {
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) {
        if (p.feature == LocalFeature::brightness) {
          bin.at(x, y) = picture.at(x, y) * p.bins / 256;
          weight.at(x, y) = 1;
          continue;
        }
        const Gradient g = defined_gradient(picture, x, y, p.op);
        if (g == Gradient{}) continue;
        bin.at(x, y) = defined_bin(g.dx, g.dy, p.bins);
        weight.at(x, y) = localhist::fixed_weight(g, p.weight);
      }
  }

  // The sums of a region's bins.
  std::vector<std::uint64_t> count(Region region, int bins) const {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(bins));
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x)
        if (bin.at(x, y) >= 0) sums[static_cast<std::size_t>(bin.at(x, y))] += weight.at(x, y);
    return sums;
  }
};

// The windows of a picture, each with its sums.
struct DefinedWindows {
  int rows, cols;
  std::vector<std::vector<std::uint64_t>> sums;

  DefinedWindows(const Picture &picture, const LocalHistogramParams &p)
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

// Histograms as the room writes them.
template <typename Element>
HostImage<Element> definition(const Picture &picture, const LocalHistogramParams &p) {
  const DefinedWindows windows(picture, p);
  const bool planar = p.layout == HistogramLayout::planar;
  HostImage<Element> out(planar ? Size{windows.cols, windows.rows * p.bins}
                                : Size{windows.cols * p.bins, windows.rows});
  const bool counts = p.feature == LocalFeature::brightness || p.weight == GradientWeight::count;
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

struct Reductions {
  HostImage<std::uint16_t> argmax;
  HostImage<float> value;
};

// A room for pictures of one size. Outputs have guard bytes before and behind.
class Windows {
 public:
  Windows(const Execution &execution, Size size, const LocalHistogramParams &params)
      : execution_(execution), params_(params) {
    EXPECT_TRUE(succeeds(shape_of(size, params, &shape_))) << params;
    EXPECT_TRUE(succeeds(make_local_histogram(execution, size, params, &room_))) << params;
  }

  LocalHistogram &room() { return *room_; }
  const LocalHistogramShape &shape() const { return shape_; }

  template <typename Element>
  HostImage<Element> histograms(const Picture &picture, const Placement &placement = kMisalignedOddPitch) {
    const bool planar = params_.layout == HistogramLayout::planar;
    const Size size = planar ? Size{shape_.cols, shape_.rows * params_.bins}
                             : Size{shape_.cols * params_.bins, shape_.rows};
    // As little aligned as it may be.
    const TestImage<Element> out(execution_, size, {"", static_cast<int>(sizeof(Element)), 1, 0});
    run(picture, placement, {out.view().data, nullptr, nullptr}, nullptr);
    return out.download();
  }

  Reductions reductions(const Picture &picture) {
    const Size size{shape_.cols, shape_.rows};
    const TestImage<std::uint16_t> argmax(execution_, size, {"", 2, 1, 0});
    const TestImage<float> value(execution_, size, {"", 4, 1, 0});
    const bool has_bins = params_.reduction == LocalReduction::argmax;
    run(picture, kMisalignedOddPitch, {nullptr, has_bins ? argmax.view().data : nullptr, value.view().data},
        model_ != nullptr ? model_->view().data : nullptr);
    return {has_bins ? argmax.download() : HostImage<std::uint16_t>(), value.download()};
  }

  // The model of a region of the picture; it stays in the backend's memory until the next one.
  HostImage<float> take_model(const Picture &picture, Region region) {
    model_ = std::make_unique<TestImage<float>>(execution_, Size{params_.bins, 1}, Placement{"", 4, 1, 0});
    const TestImage<std::uint8_t> luma(execution_, picture, kMisalignedOddPitch);
    EXPECT_TRUE(succeeds(room_->take_model(luma.view(), region, model_->view().data)));
    EXPECT_TRUE(same(luma.download(), picture)) << "the picture is only read";
    return model_->download();
  }

 private:
  void run(const Picture &picture, const Placement &placement, const LocalHistogramOutput &output,
           const float *model) {
    const TestImage<std::uint8_t> luma(execution_, picture, placement);
    EXPECT_TRUE(succeeds(room_->run(luma.view(), output, model))) << params_;
    EXPECT_TRUE(same(luma.download(), picture)) << "the picture is only read";
  }

  Execution execution_;
  LocalHistogramParams params_;
  LocalHistogramShape shape_;
  std::unique_ptr<LocalHistogram> room_;
  std::unique_ptr<TestImage<float>> model_;
};

// Compares a room's histograms with the definition's.
inline testing::AssertionResult equals_definition(const Execution &execution, const Picture &picture,
                                                  const LocalHistogramParams &p,
                                                  const Placement &placement = kMisalignedOddPitch) {
  Windows windows(execution, picture.size(), p);
  const auto compare = [&]<typename Element>(Element) {
    return same(windows.histograms<Element>(picture, placement), definition<Element>(picture, p));
  };
  const auto result = windows.shape().element == HistogramElement::u16   ? compare(std::uint16_t{})
                      : windows.shape().element == HistogramElement::u32 ? compare(std::uint32_t{})
                                                                         : compare(0.0f);
  return result ? result : testing::AssertionFailure() << result.message() << "\n" << p;
}

inline LocalHistogramParams brightness_params(int bins, Size window) {
  LocalHistogramParams params;
  params.feature = LocalFeature::brightness;
  params.bins = bins;
  params.window = window;
  return params;
}
inline LocalHistogramParams gradient_params(int bins, Size window,
                                            GradientWeight weight = GradientWeight::count) {
  LocalHistogramParams params;
  params.bins = bins;
  params.window = window;
  params.weight = weight;
  return params;
}

inline constexpr GradientWeight kWeights[] = {GradientWeight::count, GradientWeight::magnitude,
                                              GradientWeight::sqrt_magnitude};

}  // namespace cudavision::test
