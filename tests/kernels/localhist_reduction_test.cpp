// SPDX-License-Identifier: LGPL-2.1-or-later
// The reductions of windows compared with those of the definition's histograms, on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/kernels/localhist_windows.h"

namespace {

using namespace cudavision::test;
using cudavision::GradientWeight;
using cudavision::LocalHistParams;
using cudavision::LocalHistReduction;
using cudavision::Region;
using cudavision::Size;

class LocalHistReductions : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(LocalHistReductions);

// Both features and all weights, with few bins and with more than one group of bins.
std::vector<LocalHistParams> all_params(LocalHistReduction reduction) {
  std::vector<LocalHistParams> all;
  for (const int bins : {1, 9, 64, 150}) {
    all.push_back(brightness_params(bins, {7, 6}));
    for (const GradientWeight weight : kWeights) all.push_back(gradient_params(bins, {7, 6}, weight));
  }
  all.push_back(gradient_params(360, {5, 9}));
  all.push_back(brightness_params(16, {5, 64}));
  for (const GradientWeight weight : kWeights) all.push_back(gradient_params(9, {5, 64}, weight));
  for (LocalHistParams &params : all) params.reduction = reduction;
  LocalHistParams strided = all[5];
  strided.stride_x = 3;
  strided.stride_y = 2;
  all.push_back(strided);
  return all;
}

// Noise with a part in which no window has a gradient.
Picture picture_with_a_flat_part() {
  Picture picture = noise({47, 67}, 21);
  for (int y = 2; y < 20; ++y)
    for (int x = 5; x < 25; ++x) picture.at(x, y) = 60;
  return picture;
}

std::uint64_t sum_of(const std::vector<std::uint64_t> &sums) {
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Calls check(row, col, sums) for every window.
template <typename Check>
void for_each_window(const DefinedWindows &windows, const Check &check) {
  for (int row = 0; row < windows.rows; ++row)
    for (int col = 0; col < windows.cols; ++col) check(row, col, windows.at(row, col));
}

TEST_P(LocalHistReductions, argmax_is_the_first_of_the_fullest_bins_and_its_share) {
  const Picture picture = picture_with_a_flat_part();
  for (const LocalHistParams &params : all_params(LocalHistReduction::argmax)) {
    SCOPED_TRACE(params);
    Windows windows(execution(), picture.size(), params);
    const Reductions actual = windows.reductions(picture);
    for_each_window(DefinedWindows(picture, params),
                    [&](int row, int col, const std::vector<std::uint64_t> &sums) {
                      const auto most = std::max_element(sums.begin(), sums.end());  // the first one of a tie
                      const std::uint64_t total = sum_of(sums);
                      EXPECT_EQ(actual.argmax.at(col, row), most - sums.begin()) << col << "," << row;
                      EXPECT_EQ(actual.value.at(col, row),
                                total == 0 ? 0.0f : static_cast<float>(*most) / static_cast<float>(total))
                          << col << "," << row;
                    });
    if (HasFailure()) return;
  }
}

TEST_P(LocalHistReductions, entropy_is_that_of_the_shares) {
  const Picture picture = picture_with_a_flat_part();
  for (const LocalHistParams &params : all_params(LocalHistReduction::entropy)) {
    SCOPED_TRACE(params);
    Windows windows(execution(), picture.size(), params);
    const Reductions actual = windows.reductions(picture);
    for_each_window(DefinedWindows(picture, params),
                    [&](int row, int col, const std::vector<std::uint64_t> &sums) {
                      double entropy = 0;
                      for (const std::uint64_t sum : sums)
                        if (sum > 0) {
                          const double share = static_cast<double>(sum) / static_cast<double>(sum_of(sums));
                          entropy -= share * std::log2(share);
                        }
                      // At most 360 additions with a sum of at most 8.5; each rounds by at most 2^-21.
                      EXPECT_NEAR(actual.value.at(col, row), entropy, 360.0 / (1 << 21)) << col << "," << row;
                    });
    if (HasFailure()) return;
  }
}

TEST_P(LocalHistReductions, every_reduction_has_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  const Picture picture = picture_with_a_flat_part();
  for (const auto reduction :
       {LocalHistReduction::argmax, LocalHistReduction::entropy, LocalHistReduction::distance})
    for (const LocalHistParams &params : all_params(reduction)) {
      SCOPED_TRACE(params);
      const auto values = [&](const cudavision::Execution &execution) {
        Windows windows(execution, picture.size(), params);
        if (reduction == LocalHistReduction::distance) (void)windows.take_model(picture, {8, 5, 9, 9});
        return windows.reductions(picture).value.pixels();
      };
      ASSERT_EQ(values(execution()), values(one_thread.execution()));
    }
}

TEST_P(LocalHistReductions, entropy_of_equal_shares_is_their_number_in_bits) {
  Picture picture({64, 8});
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 64; ++x) picture.at(x, y) = static_cast<std::uint8_t>(4 * (x % 8 * 8 + y));
  LocalHistParams params = brightness_params(64, {8, 8});
  params.reduction = LocalHistReduction::entropy;
  Windows windows(execution(), picture.size(), params);
  const HostImage<float> entropy = windows.reductions(picture).value;
  for (const float value : entropy.pixels()) ASSERT_NEAR(value, 6, 1e-5);
}

TEST_P(LocalHistReductions, model_is_the_shares_of_its_region) {
  const Picture picture = picture_with_a_flat_part();
  for (const LocalHistParams &params : all_params(LocalHistReduction::distance))
    for (const Region region :
         {Region{0, 0, 47, 30}, Region{30, 3, 9, 8}, Region{46, 29, 1, 1}, Region{8, 5, 9, 9}}) {
      SCOPED_TRACE(testing::Message() << params << " region " << region.x << "," << region.y);
      Windows windows(execution(), picture.size(), params);
      const HostImage<float> model = windows.take_model(picture, region);
      const std::vector<std::uint64_t> sums = DefinedSamples(picture, params).count(region, params.bins);
      const std::uint64_t total = sum_of(sums);
      for (int bin = 0; bin < params.bins; ++bin)
        ASSERT_EQ(model.at(bin, 0), total == 0 ? 0.0f
                                               : static_cast<float>(sums[static_cast<std::size_t>(bin)]) /
                                                     static_cast<float>(total));
    }
}

TEST_P(LocalHistReductions, distance_is_that_of_the_shares_to_the_models) {
  const Picture picture = picture_with_a_flat_part();
  for (const LocalHistParams &params : all_params(LocalHistReduction::distance)) {
    SCOPED_TRACE(params);
    Windows windows(execution(), picture.size(), params);
    const HostImage<float> shares = windows.take_model(picture, {28, 8, 12, 14});
    const Reductions actual = windows.reductions(picture);
    for_each_window(
        DefinedWindows(picture, params), [&](int row, int col, const std::vector<std::uint64_t> &sums) {
          double distance = 0;
          const std::uint64_t total = sum_of(sums);
          for (int bin = 0; bin < params.bins; ++bin) {
            const double sum = static_cast<double>(sums[static_cast<std::size_t>(bin)]);
            distance += std::fabs((total == 0 ? 0 : sum / static_cast<double>(total)) - shares.at(bin, 0));
          }
          // At most 360 additions with a sum of at most 2; each rounds by at most 2^-23.
          EXPECT_NEAR(actual.value.at(col, row), distance, 360.0 / (1 << 23)) << col << "," << row;
        });
    if (HasFailure()) return;
  }
}

TEST_P(LocalHistReductions, distance_is_0_where_the_model_was_taken_and_2_where_nothing_is_shared) {
  Picture picture = constant({40, 20}, 200);
  for (int y = 4; y < 12; ++y)
    for (int x = 10; x < 18; ++x) picture.at(x, y) = static_cast<std::uint8_t>(10 * (x - 10) + y);
  LocalHistParams params = brightness_params(64, {8, 8});
  params.reduction = LocalHistReduction::distance;
  Windows windows(execution(), picture.size(), params);
  windows.take_model(picture, {10, 4, 8, 8});
  const HostImage<float> distance = windows.reductions(picture).value;
  for (int row = 0; row < distance.height(); ++row)
    for (int col = 0; col < distance.width(); ++col) {
      if (col == 10 && row == 4) {
        EXPECT_EQ(distance.at(col, row), 0);
      } else {
        EXPECT_GT(distance.at(col, row), 0) << col << "," << row;
      }
    }
  EXPECT_NEAR(distance.at(30, 12), 2, 1e-6);
}

TEST_P(LocalHistReductions, window_without_gradient_is_far_from_the_model_by_the_model_s_sum) {
  const Picture picture = constant({20, 20}, 7), textured = noise({20, 20}, 22);
  LocalHistParams params = gradient_params(9, {4, 4});
  params.reduction = LocalHistReduction::distance;
  Windows windows(execution(), {20, 20}, params);
  windows.take_model(textured, {0, 0, 20, 20});
  const HostImage<float> far = windows.reductions(picture).value;
  for (const float distance : far.pixels()) ASSERT_NEAR(distance, 1, 1e-6);
  windows.take_model(picture, {0, 0, 20, 20});
  const HostImage<float> near = windows.reductions(picture).value;
  for (const float distance : near.pixels()) ASSERT_EQ(distance, 0);
}

}  // namespace
