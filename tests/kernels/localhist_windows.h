// SPDX-License-Identifier: LGPL-2.1-or-later
// How the tests run local histograms, and compare them with the definition.
#pragma once

#include <memory>

#include "tests/kernels/localhist_definition.h"
#include "tests/support/backends.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

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

  // misalignment_bytes: of the output, by default as little aligned as it may be.
  template <typename Element>
  HostImage<Element> histograms(const Picture &picture, const Placement &placement = kMisalignedOddPitch,
                                int misalignment_bytes = static_cast<int>(sizeof(Element))) {
    const bool planar = params_.layout == HistogramLayout::planar;
    const Size size = planar ? Size{shape_.cols, shape_.rows * params_.bins}
                             : Size{shape_.cols * params_.bins, shape_.rows};
    const TestImage<Element> out(execution_, size, {"", misalignment_bytes, 1, 0});
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
    const HostImage<Element> expected = definition<Element>(picture, p);
    const auto result = same(windows.histograms<Element>(picture, placement), expected);
    // Two counts of 16 bits may be written at once where they are aligned.
    return result && sizeof(Element) == 2 ? same(windows.histograms<Element>(picture, placement, 0), expected)
                                          : result;
  };
  const auto result = windows.shape().element == HistogramElement::u16   ? compare(std::uint16_t{})
                      : windows.shape().element == HistogramElement::u32 ? compare(std::uint32_t{})
                                                                         : compare(0.0f);
  return result ? result : testing::AssertionFailure() << result.message() << "\n" << p;
}

}  // namespace cudavision::test
