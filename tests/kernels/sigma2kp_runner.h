// SPDX-License-Identifier: LGPL-2.1-or-later
// The class that runs the sigma^2 detector in tests, and shorthands for its parameters.
#pragma once

#include <algorithm>
#include <memory>

#include "tests/kernels/sigma2kp_definition.h"
#include "tests/support/backends.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

inline Sigma2KpParams grid(int window, int cell, double tau, int grids = 2) {
  Sigma2KpParams p;
  p.window = window, p.cell = cell, p.tau = tau, p.grids = grids;
  return p;
}
inline Sigma2KpParams dense(int window, int cell, double tau) {
  Sigma2KpParams p = grid(window, cell, tau);
  p.definition = Sigma2KpDefinition::dense;
  return p;
}

// Runs the detector on pictures of one size. The list has guard bytes before and after it.
class Sigma2KpRunner {
 public:
  Sigma2KpRunner(const Execution &execution, Size size, const Placement &placement = kMisalignedOddPitch)
      : execution_(execution), luma_(execution, size, placement) {
    EXPECT_TRUE(succeeds(make_sigma2kp(execution, size, &detector_)));
  }

  Sigma2Kp &detector() { return *detector_; }
  ImageView<const std::uint8_t> luma() const { return luma_.view(); }

  FoundKeypoints run(const Picture &picture, const Sigma2KpParams &params, const Places &places = {}) {
    luma_.upload(picture);
    // The largest possible number of listed keypoints.
    const int capacity = std::min(params.max_keypoints, picture.width() * picture.height());
    const TestImage<std::uint64_t> list(execution_, Size{2, capacity}, {"", 8, 1, 0});
    const TestImage<std::uint32_t> count(execution_, Size{2, 1}, {"", 4, 1, 0});
    EXPECT_TRUE(succeeds(detector_->run(luma_.view(), params,
                                        {reinterpret_cast<Sigma2Keypoint *>(list.view().data),
                                         reinterpret_cast<Sigma2KpCount *>(count.view().data)},
                                        Input::in_stream_order, places)))
        << params;
    const HostImage<std::uint32_t> counts = count.download();
    EXPECT_TRUE(same(luma_.download(), picture)) << "the picture was modified";
    const HostImage<std::uint64_t> words = list.download();
    FoundKeypoints result;
    const int listed = static_cast<int>(counts.at(0, 0));
    result.found = static_cast<int>(counts.at(1, 0));
    EXPECT_EQ(listed, std::min(result.found, params.max_keypoints));
    result.keypoints.resize(static_cast<std::size_t>(std::clamp(listed, 0, capacity)));
    const auto *keypoints = reinterpret_cast<const Sigma2Keypoint *>(words.row(0));
    std::copy_n(keypoints, result.keypoints.size(), result.keypoints.begin());
    return result;
  }

 private:
  Execution execution_;
  TestImage<std::uint8_t> luma_;
  std::unique_ptr<Sigma2Kp> detector_;
};

inline testing::AssertionResult equals_definition(const Execution &execution, const Picture &picture,
                                                  const Sigma2KpParams &params,
                                                  const Placement &placement = kMisalignedOddPitch) {
  const auto result = same_keypoints(
      Sigma2KpRunner(execution, picture.size(), placement).run(picture, params), definition(picture, params));
  return result ? result
                : testing::AssertionFailure() << result.message() << "\n"
                                              << picture.width() << "x" << picture.height() << " " << params;
}

}  // namespace cudavision::test
