// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the sigma^2 detector at its limits: long lists, many bands, pictures without a window, and
// failures in the middle of a frame.
#include "tests/kernels/sigma2kp_runner.h"

namespace {

using namespace cudavision::test;
using cudavision::Places;
using cudavision::Region;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2KpParams;
using cudavision::Size;

class Sigma2Limits : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Sigma2Limits);

// --- regions ---

// One detector searches one picture after the other, so that leftovers of a search would be noticed.
TEST_P(Sigma2Limits, only_keypoints_in_the_regions_are_found) {
  const Size size = kEmulated ? Size{101, 75} : Size{203, 149};
  const std::vector<std::vector<Region>> sets = {{{0, 0, size.width, size.height}},
                                                 {},
                                                 {{20, 30, 31, 17}},
                                                 {{8, 9, 80, 55}, {70, 5, 20, 30}},
                                                 {{0, 0, 6, 5}, {size.width - 9, size.height - 9, 9, 9}},
                                                 {{60, 3, 12, 60}, {64, 40, 30, 8}, {5, 5, 0, 9}},
                                                 {{33, 20, 1, 50}}};
  unsigned seed = 80;
  for (Sigma2KpParams params : {grid(5, 4, 1), grid(7, 8, 2.5, 4), dense(5, 6, 1.5), grid(25, 4, 1)})
    for (const int min_distance : {0, 6}) {
      params.min_distance = min_distance, params.orientation = min_distance > 0;
      Sigma2KpRunner runner(execution(), size);
      int found = 0;
      for (const std::vector<Region> &regions : sets) {
        SCOPED_TRACE(testing::Message() << params << ", " << regions.size() << " regions");
        Places places;
        places.count = static_cast<int>(regions.size());
        std::copy(regions.begin(), regions.end(), places.region);
        const Picture picture = noise(size, ++seed);
        const FoundKeypoints expected = definition(picture, params, places);
        EXPECT_TRUE(same_keypoints(runner.run(picture, params, places), expected));
        if (places.count > 1) found += expected.found;
      }
      EXPECT_GT(found, 3) << "too few keypoints for a test";
    }
}

TEST_P(Sigma2Limits, regions_outside_of_the_picture_are_refused) {
  Sigma2KpRunner runner(execution(), {40, 30});
  Places places;
  places.count = 1, places.region[0] = {30, 0, 11, 5};
  const TestImage<std::uint64_t> list(execution(), Size{2, 1200}, {"", 8, 1, 0});
  const TestImage<std::uint32_t> count(execution(), Size{2, 1}, {"", 4, 1, 0});
  EXPECT_TRUE(
      refused(runner.detector().run(runner.luma(), {},
                                    {reinterpret_cast<Sigma2Keypoint *>(list.view().data),
                                     reinterpret_cast<cudavision::Sigma2KpCount *>(count.view().data)},
                                    cudavision::Input::in_stream_order, places)));
}

// --- long lists ---

// A band has 32 rows of 20 words, more than one word for each of the 256 threads of a block.
TEST_P(Sigma2Limits, wide_band_equals_the_definition) {
  const Size size{600, 40};
  const Picture picture = noise(size, 1);
  Sigma2KpRunner runner(execution(), size);
  for (const int distance : {0, 3}) {
    Sigma2KpParams params = grid(5, 4, 1.9);
    params.min_distance = distance;
    const FoundKeypoints all = definition(picture, params);
    EXPECT_GT(all.found, distance == 0 ? 1000 : 500);
    ASSERT_TRUE(same_keypoints(runner.run(picture, params), all)) << params;
    params.max_keypoints = all.found / 2;
    ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
  }
}

// More bands (of at most 32 rows) than a block has threads, and the largest cells.
TEST_P(Sigma2Limits, tall_picture_equals_the_definition) {
  if (kEmulated) GTEST_SKIP() << "takes long";
  const Picture picture = smooth_noise({40, 9000}, 1, 2);
  for (Sigma2KpParams params : {grid(5, 32, 15.9), grid(3, 4, 1.5)}) {
    EXPECT_GT(definition(picture, params).found, 150) << params;
    ASSERT_TRUE(equals_definition(execution(), picture, params));
    params.min_distance = 20, params.max_keypoints = 50, params.orientation = true;
    ASSERT_TRUE(equals_definition(execution(), picture, params));
  }
}

// More keypoints than the 1056 blocks of 8 warps that count orientations.
TEST_P(Sigma2Limits, more_orientations_than_warps_equal_the_definition) {
  if (kEmulated) GTEST_SKIP() << "takes long";
  const Picture picture = noise({400, 300}, 3);
  Sigma2KpParams params = grid(3, 4, 1.9, 4);
  params.orientation = true, params.orientation_window = 5;
  EXPECT_GT(definition(picture, params).found, 8 * 1056);
  ASSERT_TRUE(equals_definition(execution(), picture, params));
}

// --- pictures without a window, or without a cell ---

TEST_P(Sigma2Limits, tiny_pictures_have_no_keypoints) {
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{33, 40}})
    for (Sigma2KpParams params : {grid(31, 4, 1), dense(31, 4, 1), grid(3, 32, 15.9)}) {
      params.min_distance = 5, params.orientation = true;
      Sigma2KpRunner runner(execution(), size);
      for (int frame = 0; frame < 2; ++frame)
        EXPECT_EQ(runner.run(noise(size, 4), params).found, 0) << params;
    }
}

TEST_P(Sigma2Limits, parameters_may_change_between_no_cell_and_many) {
  const Size size{45, 42};
  const Picture picture = noise(size, 5);
  Sigma2KpParams fits = grid(5, 4, 1.9), does_not = grid(31, 20, 3);
  fits.min_distance = does_not.min_distance = 5;
  fits.orientation = does_not.orientation = true;
  const FoundKeypoints expected = definition(picture, fits);
  EXPECT_GT(expected.found, 20);
  Sigma2KpRunner runner(execution(), size);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(same_keypoints(runner.run(picture, does_not), {}));
    EXPECT_TRUE(same_keypoints(runner.run(picture, fits), expected));
  }
}

// --- failures ---

// Runs all three kernels on a frame; the memory of the list is allocated beforehand.
class FailingRun {
 public:
  explicit FailingRun(const cudavision::Execution &execution)
      : execution_(execution),
        runner_(execution, kSize),
        list_(execution, Size{2, params().max_keypoints}, kTight),
        count_(execution, Size{2, 1}, kTight) {}

  static Sigma2KpParams params() {
    Sigma2KpParams p = grid(5, 4, 1.9);
    p.min_distance = 3, p.orientation = true, p.max_keypoints = 40;
    return p;
  }
  cudavision::Status run() {
    const cudavision::Status status =
        runner_.detector().run(runner_.luma(), params(),
                               {reinterpret_cast<Sigma2Keypoint *>(list_.view().data),
                                reinterpret_cast<cudavision::Sigma2KpCount *>(count_.view().data)});
    finish(execution_);
    return status;
  }
  testing::AssertionResult next_frame_is_right(unsigned seed) {
    const Picture picture = noise(kSize, seed);
    return same_keypoints(runner_.run(picture, params()), definition(picture, params()));
  }

 private:
  static constexpr Size kSize{80, 45};
  cudavision::Execution execution_;
  Sigma2KpRunner runner_;
  TestImage<std::uint64_t> list_;
  TestImage<std::uint32_t> count_;
};

TEST_P(Sigma2Limits, failed_allocation_names_bytes_and_the_next_frame_is_right) {
  CUDAVISION_NEEDS_EMULATION();
  constexpr unsigned kAllocations = 6;  // bits, bands, strengths, places, row_begins, kept
  for (unsigned successes = 0; successes <= kAllocations; ++successes) {
    FailingRun runner(execution());
    simt::fail_allocations_after(successes);
    const cudavision::Status status = runner.run();
    simt::fail_allocations_after(~0u);
    EXPECT_EQ(status.ok(), successes == kAllocations) << successes;
    if (!status.ok()) {
      EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
      EXPECT_NE(status.text().find(" bytes"), std::string::npos) << status.text();
    }
    for (const unsigned seed : {6u, 7u}) EXPECT_TRUE(runner.next_frame_is_right(seed)) << successes;
  }
}

TEST_P(Sigma2Limits, failed_launch_is_reported_and_the_next_frame_is_right) {
  CUDAVISION_NEEDS_EMULATION();
  FailingRun runner(execution());
  unsigned launches_before = 0;
  for (const char *kernel : {"find_keypoints_kernel", "keep_apart_kernel", "orient_kernel"}) {
    EXPECT_TRUE(runner.next_frame_is_right(8));
    simt::fail_after(simt::Call::launch, launches_before++, cudaErrorLaunchFailure);
    const cudavision::Status status = runner.run();
    EXPECT_EQ(status.code(), cudavision::Status::Code::device_failed);
    EXPECT_NE(status.text().find(kernel), std::string::npos) << status.text();
    EXPECT_TRUE(runner.next_frame_is_right(9)) << kernel;
  }
}

}  // namespace
