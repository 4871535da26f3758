// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the camera's statistics on every backend with their definition and with OpenCV, and tests their limits.
#include "cuda/camerastats/camerastats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "cuda/common/backends.h"
#include "tests/kernels/camerastats_definition.h"
#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::camera_cells;
using cudavision::CameraNumbers;
using cudavision::CameraSums;
using cudavision::Execution;
using cudavision::make_camerastats;
using cudavision::Size;

class CameraStats : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(CameraStats);

testing::AssertionResult same(const CameraResult &actual, const CameraResult &expected) {
  const CameraSums &a = actual.numbers.sums, &e = expected.numbers.sums;
  if (!(a == e))
    return testing::AssertionFailure()
           << "sums " << a.laplacian << " " << a.laplacian_square << " " << a.laplacian_common << " "
           << a.changed << " " << a.difference << " instead of " << e.laplacian << " " << e.laplacian_square
           << " " << e.laplacian_common << " " << e.changed << " " << e.difference;
  for (int v = 0; v < 256; ++v)
    if (actual.numbers.histogram[v] != expected.numbers.histogram[v])
      return testing::AssertionFailure() << actual.numbers.histogram[v] << " pixels of value " << v
                                         << " instead of " << expected.numbers.histogram[v];
  return cudavision::test::same(actual.cells, expected.cells);
}

// Runs frames of one size through one object.
class Runner {
 public:
  Runner(const Execution &execution, Size size, const Placement &placement = kAligned)
      : execution_(execution),
        size_(size),
        placement_(placement),
        numbers_(execution, sizeof(CameraNumbers)) {
    EXPECT_TRUE(succeeds(make_camerastats(execution, size, &stats_)));
  }

  CameraResult run(const Picture &luma, int noise = 8) {
    const TestImage<std::uint8_t> image(execution_, luma, placement_),
        cells(execution_, camera_cells(size_), kTight);
    EXPECT_TRUE(succeeds(stats_->run(image.view(), noise, numbers(), cells.view().data)));
    CameraResult result;
    result.cells = cells.download();
    const std::vector<std::uint8_t> bytes = numbers_.read();
    std::memcpy(&result.numbers, bytes.data(), sizeof result.numbers);
    EXPECT_TRUE(cudavision::test::same(image.download(), luma)) << "the luma must not change";
    return result;
  }
  cudavision::CameraStats &stats() { return *stats_; }
  CameraNumbers *numbers() { return reinterpret_cast<CameraNumbers *>(numbers_.data()); }

 private:
  Execution execution_;
  Size size_;
  Placement placement_;
  std::unique_ptr<cudavision::CameraStats> stats_;
  Memory numbers_;
};

// The picture with each value changed by at most `most`.
Picture disturbed(const Picture &picture, int most, unsigned seed) {
  Random random(seed);
  Picture result = picture;
  for (std::uint8_t &value : result.pixels())
    value = static_cast<std::uint8_t>(std::clamp(value + random.below(2 * most + 1) - most, 0, 255));
  return result;
}

TEST_P(CameraStats, every_size_and_placement_equals_the_definition) {
  std::vector<Size> sizes{{1, 1}, {1, 9}, {2, 3}, {7, 1}, {8, 8}, {9, 17}, {127, 7}, {129, 9}, {132, 8}};
  if (!kEmulated) sizes.insert(sizes.end(), {{31, 33}, {255, 65}, {517, 131}, {640, 480}});
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const Placement &placement : kPlacements) {
      SCOPED_TRACE(testing::Message()
                   << size.width << "x" << size.height << " " << placement << " seed " << seed);
      Runner runner(execution(), size, placement);
      const Picture first = noise(size, seed++), second = disturbed(first, 20, seed),
                    third = noise(size, seed);
      ASSERT_TRUE(same(runner.run(first), camerastats_definition(first, first, 8)));
      ASSERT_TRUE(same(runner.run(second), camerastats_definition(second, first, 8)));
      ASSERT_TRUE(same(runner.run(third), camerastats_definition(third, second, 8)));
    }
}

TEST_P(CameraStats, equals_the_functions_of_opencv) {
  const Size size{203, 77};
  Runner runner(execution(), size);
  Picture first = smooth_noise(size, 2, 3), second = disturbed(first, 30, 4);
  (void)runner.run(first);
  const CameraResult result = runner.run(second, 12);
  const cv::Mat now(size.height, size.width, CV_8U, second.pixels().data()),
      before(size.height, size.width, CV_8U, first.pixels().data());
  const CameraSums &sums = result.numbers.sums;
  cv::Mat laplacian, difference;
  cv::Laplacian(now, laplacian, CV_16S, 1);
  EXPECT_EQ(static_cast<double>(sums.laplacian), cv::sum(laplacian)[0]);
  EXPECT_EQ(static_cast<double>(sums.laplacian_square), cv::norm(laplacian, cv::NORM_L2SQR));
  cv::Scalar mean, deviation;
  cv::meanStdDev(laplacian, mean, deviation);
  const double count = size.width * size.height, own_mean = static_cast<double>(sums.laplacian) * (1 / count);
  EXPECT_EQ(own_mean, mean[0]);
  EXPECT_EQ(std::sqrt(static_cast<double>(sums.laplacian_square) * (1 / count) - own_mean * own_mean),
            deviation[0]);
  cv::absdiff(now, before, difference);
  EXPECT_EQ(sums.changed, cv::countNonZero(difference > 12));
  EXPECT_EQ(static_cast<double>(sums.difference),
            cv::sum(cv::Mat(cv::min(difference, 255)).setTo(0, difference > 12))[0]);
}

// The sums are largest where neighbours differ most: they must not overflow in rows as long as frames can have.
TEST_P(CameraStats, longest_rows_of_the_largest_differences_are_exact) {
  for (const Size size : {Size{cudavision::kMaxSide, 2}, {3, 2 * 1031}}) {
    const Picture board = checkerboard(size, 1, 0, 255), other = checkerboard(size, 1, 255, 0);
    Runner runner(execution(), size);
    ASSERT_TRUE(same(runner.run(board), camerastats_definition(board, board, 8)));
    ASSERT_TRUE(same(runner.run(other, 255), camerastats_definition(other, board, 255)));
    ASSERT_TRUE(same(runner.run(board, 254), camerastats_definition(board, other, 254)));
  }
}

TEST_P(CameraStats, restart_forgets_the_frame_before) {
  const Picture first = noise({40, 20}, 1), second = noise({40, 20}, 2);
  Runner runner(execution(), first.size());
  (void)runner.run(first);
  runner.stats().restart();
  EXPECT_TRUE(same(runner.run(second), camerastats_definition(second, second, 8)));
  EXPECT_TRUE(same(runner.run(first), camerastats_definition(first, second, 8)));
}

TEST_P(CameraStats, other_sizes_and_limits_are_refused_and_write_nothing) {
  const Picture first = noise({40, 20}, 1), second = noise({40, 20}, 2);
  Runner runner(execution(), first.size());
  const CameraResult before = runner.run(first);
  const TestImage<std::uint8_t> image(execution(), second, kAligned),
      other(execution(), noise({41, 20}, 1), kAligned), cells(execution(), {5, 3}, kTight);
  const Picture untouched = cells.download();
  for (const int refused_noise : {-1, 256})
    EXPECT_TRUE(
        refused(runner.stats().run(image.view(), refused_noise, runner.numbers(), cells.view().data)));
  EXPECT_TRUE(refused(runner.stats().run(other.view(), 8, runner.numbers(), cells.view().data)));
  EXPECT_TRUE(same(cells.download(), untouched));
  EXPECT_TRUE(same(runner.run(second), camerastats_definition(second, first, 8)))
      << "the last good frame counts";
  std::unique_ptr<cudavision::CameraStats> stats;
  for (const Size size : {Size{0, 1}, {1, 0}, {cudavision::kMaxSide + 1, 1}})
    EXPECT_TRUE(refused(make_camerastats(execution(), size, &stats)));
}

TEST_P(CameraStats, real_frames_equal_the_definition) {
  if (kEmulated) GTEST_SKIP() << "too large for the emulator";
  const Photo &first = gray_photo("vtest.avi", 0), &second = gray_photo("vtest.avi", 1);
  ASSERT_TRUE(first.ok() && second.ok()) << first.why_not;
  Runner runner(execution(), first.pixels.size());
  (void)runner.run(first.pixels);
  EXPECT_TRUE(same(runner.run(second.pixels), camerastats_definition(second.pixels, first.pixels, 8)));
}

TEST(CameraStatsCpu, every_instruction_set_equals_the_definition) {
  if (kEmulated) GTEST_SKIP();
  const ExecutionOwner owner({"cpu", cudavision::Backend::cpu, 1});
  const Picture first = noise({1200, 19}, 5), second = disturbed(first, 20, 6),
                board = checkerboard({cudavision::kMaxSide, 2}, 1, 0, 255);
  on_every_instruction_set([&] {
    Runner runner(owner.execution(), first.size());
    (void)runner.run(first);
    EXPECT_TRUE(same(runner.run(second), camerastats_definition(second, first, 8)));
    Runner longest(owner.execution(), board.size());
    EXPECT_TRUE(same(longest.run(board), camerastats_definition(board, board, 8)));
  });
}

TEST_P(CameraStats, frame_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture luma = noise({140, 20}, 1);
  Runner runner(execution(), luma.size());
  (void)runner.run(luma);
  const TestImage<std::uint8_t> image(execution(), luma, kAligned),
      cells(execution(), camera_cells(luma.size()), kTight);
  const Budget budget;
  EXPECT_TRUE(succeeds(runner.stats().run(image.view(), 8, runner.numbers(), cells.view().data)));
  budget.expect_launches_alone(1);
}

}  // namespace
