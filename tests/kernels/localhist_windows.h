// SPDX-License-Identifier: LGPL-2.1-or-later
// Helpers that run local histograms and compare them with the definition.
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

// Runs LocalHist on pictures of one size. Outputs have guard bytes before and after them.
class Windows {
 public:
  Windows(const Execution &execution, Size size, const LocalHistParams &params)
      : execution_(execution), params_(params) {
    EXPECT_TRUE(succeeds(shape_of(size, params, &shape_))) << params;
    EXPECT_TRUE(succeeds(make_localhist(execution, size, params, &localhist_))) << params;
  }

  LocalHist &localhist() { return *localhist_; }
  const LocalHistShape &shape() const { return shape_; }

  // misalignment_bytes: of the output; by default its alignment is that of an element and no better.
  template <typename Element>
  HostImage<Element> histograms(const Picture &picture, const Placement &placement = kMisalignedOddPitch,
                                int misalignment_bytes = static_cast<int>(sizeof(Element))) {
    const bool planar = params_.layout == LocalHistLayout::planar;
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
    const bool has_bins = params_.reduction == LocalHistReduction::argmax;
    run(picture, kMisalignedOddPitch, {nullptr, has_bins ? argmax.view().data : nullptr, value.view().data},
        model_ != nullptr ? model_->view().data : nullptr);
    return {has_bins ? argmax.download() : HostImage<std::uint16_t>(), value.download()};
  }

  // Takes and returns the model of a region, which reductions() uses until the next model is taken.
  HostImage<float> take_model(const Picture &picture, Region region) {
    model_ = std::make_unique<TestImage<float>>(execution_, Size{params_.bins, 1}, Placement{"", 4, 1, 0});
    const TestImage<std::uint8_t> luma(execution_, picture, kMisalignedOddPitch);
    EXPECT_TRUE(succeeds(localhist_->take_model(luma.view(), region, model_->view().data)));
    EXPECT_TRUE(same(luma.download(), picture)) << "the picture is only read";
    return model_->download();
  }

 private:
  void run(const Picture &picture, const Placement &placement, const LocalHistOutput &output,
           const float *model) {
    const TestImage<std::uint8_t> luma(execution_, picture, placement);
    EXPECT_TRUE(succeeds(localhist_->run(luma.view(), output, model))) << params_;
    EXPECT_TRUE(same(luma.download(), picture)) << "the picture is only read";
  }

  Execution execution_;
  LocalHistParams params_;
  LocalHistShape shape_;
  std::unique_ptr<LocalHist> localhist_;
  std::unique_ptr<TestImage<float>> model_;
};

// Compares the histograms with those of the definition.
inline testing::AssertionResult equals_definition(const Execution &execution, const Picture &picture,
                                                  const LocalHistParams &p,
                                                  const Placement &placement = kMisalignedOddPitch) {
  Windows windows(execution, picture.size(), p);
  const auto compare = [&]<typename Element>(Element) {
    const HostImage<Element> expected = definition<Element>(picture, p);
    const auto result = same(windows.histograms<Element>(picture, placement), expected);
    // Two counts of 16 bits are written as one word if they are aligned, so the aligned case is tested too.
    return result && sizeof(Element) == 2 ? same(windows.histograms<Element>(picture, placement, 0), expected)
                                          : result;
  };
  const auto result = windows.shape().element == LocalHistElementType::u16   ? compare(std::uint16_t{})
                      : windows.shape().element == LocalHistElementType::u32 ? compare(std::uint32_t{})
                                                                             : compare(0.0f);
  return result ? result : testing::AssertionFailure() << result.message() << "\n" << p;
}

}  // namespace cudavision::test
