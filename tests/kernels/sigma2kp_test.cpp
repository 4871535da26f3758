// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the sigma^2 detector on every backend: against its definition in plain loops, and of its invariants.
#include <limits>

#include "tests/kernels/sigma2kp_runner.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/frames_in_flight.h"

namespace {

using namespace cudavision::test;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2KpParams;
using cudavision::Size;

class Sigma2Kp : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Sigma2Kp);

// --- the definition over all sizes ---

std::vector<Size> sizes() {
  if (kEmulated) return {{1, 1}, {8, 8}, {7, 8}, {9, 40}, {40, 9}, {68, 37}, {71, 39}, {133, 70}};
  std::vector<Size> all{{1, 1}, {2, 2}, {5, 5}, {7, 8}, {8, 7}, {8, 8}, {9, 9}, {1, 200}, {200, 1}};
  for (const int width : {31, 64, 67, 68, 69, 128, 133})
    for (const int height : {9, 35, 36, 37, 67, 68, 131}) all.push_back({width, height});
  return all;
}

TEST_P(Sigma2Kp, every_size_equals_the_definition) {
  unsigned seed = 1;
  for (const Size size : sizes())
    for (const Sigma2KpParams &params : {grid(5, 4, 1), grid(3, 4, 1.5, 4), dense(5, 4, 1)}) {
      const Placement &placement = kPlacements[seed % 5];
      const Picture picture = seed % 2 == 0 ? noise(size, seed) : smooth_noise(size, 2, seed);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " " << placement);
      ASSERT_TRUE(equals_definition(execution(), picture, params, placement));
      ++seed;
    }
}

TEST_P(Sigma2Kp, every_placement_equals_the_definition) {
  // Rows that are whole, aligned words are loaded word by word. All tiles of the last picture run at once on the
  // emulated device of four multiprocessors only if they are higher than usual.
  for (const Size size : {Size{77, 45}, Size{132, 45}, Size{68, 165}}) {
    const Picture picture = noise(size, 3);
    for (const Placement &placement : kPlacements)
      EXPECT_TRUE(equals_definition(execution(), picture, grid(5, 4, 1.5), placement)) << placement;
  }
}

// --- parameters ---

TEST_P(Sigma2Kp, every_window_equals_the_definition) {
  const Picture picture = smooth_noise(kEmulated ? Size{72, 43} : Size{112, 90}, 1, 4);
  for (const Placement &placement : {kAligned, kMisalignedOddPitch})
    for (int window = 3; window <= 31; window += kEmulated ? 7 : 1)
      for (const Sigma2KpParams &params : {grid(window, 4, 1.5), dense(window, 3, 1)})
        ASSERT_TRUE(equals_definition(execution(), picture, params, placement));
}

// These parameters need the most shared memory per block.
TEST_P(Sigma2Kp, largest_squares_of_the_largest_windows_equal_the_definition) {
  const Picture picture = smooth_noise({110, 97}, 1, 7);
  for (const double tau : {15.999, 14.5, 1.0})
    for (const Sigma2KpParams &params :
         {grid(31, 32, tau), dense(31, 32, tau), grid(22, 32, tau), dense(31, 31, tau - 0.5)})
      ASSERT_TRUE(equals_definition(execution(), picture, params));
}

TEST_P(Sigma2Kp, every_cell_and_tau_equals_the_definition) {
  const Picture picture = smooth_noise(kEmulated ? Size{80, 50} : Size{140, 110}, 1, 5);
  std::size_t found = 0;
  for (int cell = 2; cell <= 32; cell += kEmulated ? 5 : 1)
    for (const double share : {0.1, 0.5, 0.75, 0.999})
      for (const int grids : {2, 4}) {
        if (kEmulated && (share == 0.5) != (grids == 2)) continue;
        const Sigma2KpParams params = grid(3, cell, share * cell / 2, grids);
        ASSERT_TRUE(equals_definition(execution(), picture, params));
        if (cell < 8) found += definition(picture, params).keypoints.size();
      }
  EXPECT_GT(found, 500u) << "too few to prove much";
}

TEST_P(Sigma2Kp, every_dense_cell_and_tau_equals_the_definition) {
  const Picture picture = smooth_noise(kEmulated ? Size{70, 42} : Size{100, 80}, 1, 6);
  for (int cell = 2; cell <= 32; cell += kEmulated ? 10 : 5)
    for (const double share : {0.1, 0.5, 0.999})
      ASSERT_TRUE(equals_definition(execution(), picture, dense(4, cell, share * cell / 2)));
}

// The limit tau is exact: distances are less than tau with grids, and at most tau with equation 2 of the paper (dense).
TEST_P(Sigma2Kp, tau_is_exclusive_with_grids_only) {
  const Picture picture = noise({60, 60}, 7);
  const double root2 = std::sqrt(2.0);
  Sigma2KpRunner runner(execution(), picture.size());
  const auto count = [&](const Sigma2KpParams &params) {
    const FoundKeypoints found = runner.run(picture, params);
    EXPECT_TRUE(same_keypoints(found, definition(picture, params))) << params;
    return found.found;
  };
  const double above1 = std::nextafter(1.0, 2), below2 = std::nextafter(root2, 0);
  EXPECT_EQ(count(grid(5, 4, 0.5)), count(grid(5, 4, 1)));
  EXPECT_LT(count(grid(5, 4, 1)), count(grid(5, 4, above1)));
  EXPECT_EQ(count(grid(5, 4, above1)), count(grid(5, 4, below2)));
  EXPECT_LT(count(grid(5, 4, below2)), count(grid(5, 4, 1.5)));
  EXPECT_EQ(count(dense(5, 4, 0.5)), count(dense(5, 4, std::nextafter(1.0, 0))));
  EXPECT_LT(count(dense(5, 4, 0.5)), count(dense(5, 4, 1)));
}

// --- pictures whose keypoints are known ---

TEST_P(Sigma2Kp, constant_picture_and_ramp_have_none) {
  for (const Size size : {Size{40, 30}, Size{130, 70}})
    for (const Sigma2KpParams &params :
         {grid(5, 4, 1), grid(5, 4, 1.9, 4), dense(5, 4, 1), grid(24, 4, 1), dense(24, 5, 2)}) {
      if (kEmulated && size.width > 40) continue;
      Sigma2KpRunner runner(execution(), size);
      for (const int value : {0, 77, 255})
        EXPECT_EQ(runner.run(constant(size, static_cast<std::uint8_t>(value)), params).found, 0) << params;
      EXPECT_EQ(runner.run(ramp(size, 1, 0), params).found, 0) << params;  // at most 131 grey levels: no step
      EXPECT_EQ(runner.run(ramp(size, 1, 1), params).found, 0) << params;
    }
}

// A single bright pixel: all windows that contain it have the same, greatest strength.
TEST_P(Sigma2Kp, single_bright_pixel_is_found_where_its_plateau_begins) {
  Picture picture({40, 40});
  picture.at(20, 21) = 200;
  Sigma2KpParams params = grid(3, 8, 1.5);
  // The windows (18..20, 19..21) contain it. The first of them, (18, 19), lies at (2, 3) in the cell that begins at
  // (16, 16), and at (6, 7) in the cell that begins at (12, 12); it is the first greatest window of both.
  Sigma2KpRunner runner(execution(), picture.size());
  EXPECT_EQ(runner.run(picture, params).found, 0);
  params.tau = 2.3;  // the distance of (18, 19) from the centre (20, 20) is sqrt(5)
  const FoundKeypoints found = runner.run(picture, params);
  ASSERT_EQ(found.found, 1);
  EXPECT_EQ(found.keypoints[0],
            (Sigma2Keypoint{std::uint64_t{9} * 200 * 200 - 200 * 200, 18, 19, cudavision::kNoOrientation}));
  EXPECT_FLOAT_EQ(cudavision::center_of_window(18, 3), 19);
  EXPECT_DOUBLE_EQ(cudavision::variance_of(found.keypoints[0].strength, 3), 200 * 200 * (1.0 / 9 - 1.0 / 81));
  // Equation 2 (dense) does not choose among windows of equal strength: all near a q, a cell's centre, are keypoints.
  const FoundKeypoints all = runner.run(picture, dense(3, 8, 1));
  EXPECT_EQ(all.found, 9);
}

// All pictures a I + b, made of one picture I, have the same set of keypoints.
TEST_P(Sigma2Kp, brightness_and_contrast_change_no_keypoint) {
  const Size size{90, 60};
  const Picture base = smooth_noise(size, 1, 8);
  Picture low(size), high(size);
  for (std::size_t i = 0; i < base.pixels().size(); ++i) {
    const int level = base.pixels()[i] / 8;  // 0 to 31
    low.pixels()[i] = static_cast<std::uint8_t>(level);
    high.pixels()[i] = static_cast<std::uint8_t>(7 * level + 33);
  }
  for (const Sigma2KpParams &params : {grid(5, 4, 1.5), dense(5, 4, 1)}) {
    Sigma2KpRunner runner(execution(), size);
    const FoundKeypoints a = runner.run(low, params), b = runner.run(high, params);
    ASSERT_EQ(a.found, b.found);
    EXPECT_GT(a.found, 50);
    for (std::size_t i = 0; i < a.keypoints.size(); ++i) {
      EXPECT_EQ(a.keypoints[i].x, b.keypoints[i].x);
      EXPECT_EQ(a.keypoints[i].y, b.keypoints[i].y);
      EXPECT_EQ(49 * a.keypoints[i].strength, b.keypoints[i].strength);
    }
  }
}

TEST_P(Sigma2Kp, translation_by_cells_moves_the_set) {
  const Picture whole = noise({120, 80}, 9);
  const Sigma2KpParams params = grid(5, 4, 1.5);
  const Picture a = whole.crop({0, 0, 100, 60}), b = whole.crop({12, 8, 100, 60});
  Sigma2KpRunner runner(execution(), a.size());
  const FoundKeypoints of_a = runner.run(a, params), of_b = runner.run(b, params);
  Keypoints expected, moved;
  for (Sigma2Keypoint k : of_a.keypoints)
    if (k.x >= 14 && k.y >= 10) {  // away from the borders of both pictures
      k.x = static_cast<std::uint16_t>(k.x - 12), k.y = static_cast<std::uint16_t>(k.y - 8);
      expected.push_back(k);
    }
  for (const Sigma2Keypoint &k : of_b.keypoints)
    if (k.x >= 2 && k.y >= 2 && k.x < 82 && k.y < 46) moved.push_back(k);
  expected.erase(std::remove_if(expected.begin(), expected.end(),
                                [](const Sigma2Keypoint &k) { return k.x >= 82 || k.y >= 46; }),
                 expected.end());
  EXPECT_GT(moved.size(), 100u);
  EXPECT_TRUE(same_keypoints({moved, 0}, {expected, 0}));
}

// With half of the pixels black and half white S has its maximum, which exceeds 2^32 for windows of 23 pixels and more.
TEST_P(Sigma2Kp, largest_variance_does_not_overflow) {
  const Size size = kEmulated ? Size{70, 45} : Size{100, 80};
  Picture blobs = smooth_noise(size, 5, 20);  // S rises from 0 to its maximum within a few pixels
  for (std::uint8_t &pixel : blobs.pixels()) pixel = pixel >= 128 ? 255 : 0;
  std::uint64_t largest = 0, largest_of_23 = 0;
  int beyond_32_bits = 0;  // the number of lists whose weakest strength exceeds 32 bits
  const auto is_weaker = [](const Sigma2Keypoint &a, const Sigma2Keypoint &b) {
    return a.strength < b.strength;
  };
  Sigma2KpRunner runner(execution(), size);
  for (const int window : {21, 22, 23, 30, 31}) {
    Picture board = checkerboard(size, window / 2, 0, 255);
    board.at(30, 20) ^= 255, board.at(50, 33) ^= 255;
    for (const Picture &picture : {board, blobs})
      for (Sigma2KpParams params : {grid(window, 4, 1.9), grid(window, 9, 4), dense(window, 4, 1)}) {
        ASSERT_TRUE(equals_definition(execution(), picture, params));
        const FoundKeypoints all = definition(picture, params);
        for (const Sigma2Keypoint &k : all.keypoints) {
          largest = std::max(largest, k.strength);
          if (window == 23) largest_of_23 = std::max(largest_of_23, k.strength);
        }
        if ((window != 23 && window != 31) || all.found < 3) continue;
        for (const int most :
             {1, all.found / 3, all.found - 1}) {  // the selection compares more than 32 bits
          params.max_keypoints = most;
          const FoundKeypoints kept = definition(picture, params);
          ASSERT_TRUE(same_keypoints(runner.run(picture, params), kept)) << params;
          const auto weakest = std::min_element(kept.keypoints.begin(), kept.keypoints.end(), is_weaker);
          if (most < all.found / 2) beyond_32_bits += weakest->strength >> 32 != 0;
        }
        params.max_keypoints = 65536, params.min_distance = 4;
        ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
      }
  }
  EXPECT_GT(largest, std::uint64_t{15000000000}) << "not near the limit";
  EXPECT_GT(largest_of_23, std::uint64_t{1} << 32);
  EXPECT_GT(beyond_32_bits, 3);
}

// Many cells with several equal maxima, and many cells of equal strengths.
TEST_P(Sigma2Kp, ties_are_broken_in_row_major_order) {
  const Size size{90, 60};
  Picture few_levels = noise(size, 10);
  for (std::uint8_t &pixel : few_levels.pixels()) pixel = pixel > 240 ? 1 : 0;
  for (const Picture &picture : {few_levels, checkerboard(size, 1, 3, 4), checkerboard(size, 3, 0, 255)})
    for (const Sigma2KpParams &params : {grid(3, 4, 1.9, 4), grid(5, 7, 3, 2), dense(3, 4, 1)})
      ASSERT_TRUE(equals_definition(execution(), picture, params));
}

TEST_P(Sigma2Kp, keypoint_of_two_grids_is_listed_once) {
  Picture picture({80, 60});
  for (int i = 0; i < 8; ++i) picture.at(10 * i + 5, 7 * i + 4) = static_cast<std::uint8_t>(100 + i);
  for (const int grids : {2, 4}) {
    const Sigma2KpParams params = grid(3, 4, 1.99, grids);
    ASSERT_TRUE(equals_definition(execution(), picture, params));
  }
}

// --- photographs ---

TEST_P(Sigma2Kp, photographs_equal_the_definition) {
  std::string missing;
  for (const char *file : {"building.jpg", "graf1.png"}) {
    const Photo &photo = gray_photo(file);
    if (!photo.ok()) {
      missing += photo.why_not + "; ";
      continue;
    }
    const Picture luma = photo.pixels.crop(kEmulated ? cudavision::Region{100, 100, 150, 90}
                                                     : cudavision::Region{20, 30, 500, 330});
    for (Sigma2KpParams params : {grid(5, 4, 1), grid(7, 8, 2, 4), dense(5, 4, 1)}) {
      params.orientation = true;
      ASSERT_TRUE(equals_definition(execution(), luma, params)) << file;
    }
  }
  if (!missing.empty()) GTEST_SKIP() << missing;
}

// --- min_distance and max_keypoints ---

TEST_P(Sigma2Kp, strongest_are_listed_in_row_major_order) {
  const Size size{kEmulated ? 90 : 200, 70};
  Picture ties = noise(size, 11);
  for (std::uint8_t &pixel : ties.pixels()) pixel &= 1;
  for (const Picture &picture : {noise(size, 12), ties})
    for (Sigma2KpParams params : {grid(5, 4, 1.9), grid(25, 3, 1.2), dense(5, 4, 1)}) {
      const int found = definition(picture, params).found;
      ASSERT_GT(found, 20) << params;
      Sigma2KpRunner runner(execution(), size);
      for (const int most : {1, 2, found / 3, found - 1, found, found + 1}) {
        params.max_keypoints = most;
        ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
      }
    }
}

TEST_P(Sigma2Kp, distance_drops_keypoints_near_a_stronger_one) {
  const Size size{kEmulated ? 90 : 150, kEmulated ? 60 : 100};
  Picture ties = noise(size, 13);
  for (std::uint8_t &pixel : ties.pixels()) pixel &= 1;
  for (const Picture &picture : {smooth_noise(size, 1, 14), ties})
    for (Sigma2KpParams params : {grid(5, 4, 1.9), dense(3, 4, 1)}) {
      Sigma2KpRunner runner(execution(), size);
      int before = std::numeric_limits<int>::max();
      for (const int distance : {0, 1, 2, 3, 5, 9, 255}) {
        params.min_distance = distance;
        const FoundKeypoints expected = definition(picture, params);
        ASSERT_TRUE(same_keypoints(runner.run(picture, params), expected)) << params;
        EXPECT_LE(expected.found, before);
        before = expected.found;
      }
      EXPECT_EQ(before, 1);
      params.min_distance = 4;
      params.max_keypoints = 5;
      ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
    }
}

// --- state ---

TEST_P(Sigma2Kp, frames_do_not_affect_each_other) {
  const Size size{80, 50};
  Sigma2KpRunner runner(execution(), size);
  Sigma2KpParams few = grid(5, 4, 1.9), apart = grid(24, 5, 2), turned = dense(5, 4, 1);
  few.max_keypoints = 3, apart.min_distance = 6, turned.orientation = true;
  const Picture a = noise(size, 15), b = smooth_noise(size, 2, 16);
  for (int round = 0; round < 2; ++round)
    for (const Picture &picture : {a, constant(size, 9), b})
      for (const Sigma2KpParams &params : {grid(5, 4, 1), few, apart, turned, grid(5, 32, 15.9)})
        ASSERT_TRUE(same_keypoints(runner.run(picture, params), definition(picture, params))) << params;
}

TEST_P(Sigma2Kp, two_instances_are_independent) {
  const Picture a = noise({70, 40}, 17), b = noise({50, 60}, 18);
  Sigma2KpRunner of_a(execution(), a.size()), of_b(execution(), b.size());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(same_keypoints(of_a.run(a, grid(5, 4, 1.5)), definition(a, grid(5, 4, 1.5))));
    EXPECT_TRUE(same_keypoints(of_b.run(b, dense(5, 4, 1)), definition(b, dense(5, 4, 1))));
  }
}

// --- refusals ---

TEST_P(Sigma2Kp, values_out_of_range_are_refused_and_named) {
  const auto check = [](const char *name, auto change) {
    Sigma2KpParams params;
    change(params);
    const cudavision::Status status = validate(params);
    EXPECT_TRUE(refused(status)) << name;
    EXPECT_NE(status.text().find(name), std::string::npos) << status.text();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const int v : {2, 32}) check("window", [v](Sigma2KpParams &p) { p.window = v; });
  for (const int v : {1, 33}) check("cell", [v](Sigma2KpParams &p) { p.cell = v; });
  for (const double v : {0.0, -1.0, 2.0, 3.0, nan}) check("tau", [v](Sigma2KpParams &p) { p.tau = v; });
  check("cell", [](Sigma2KpParams &p) { p.cell = 2; });  // tau is half of it
  for (const int v : {0, 1, 3, 5}) check("grids", [v](Sigma2KpParams &p) { p.grids = v; });
  for (const int v : {-1, 256}) check("min-distance", [v](Sigma2KpParams &p) { p.min_distance = v; });
  for (const int v : {0, 1000001}) check("max-keypoints", [v](Sigma2KpParams &p) { p.max_keypoints = v; });
  for (const int v : {1, 65})
    check("orientation-window", [v](Sigma2KpParams &p) { p.orientation_window = v; });
  for (const int v : {0, 361}) check("orientation-bins", [v](Sigma2KpParams &p) { p.orientation_bins = v; });
  EXPECT_TRUE(succeeds(validate(grid(3, 2, 0.01, 4))));
  EXPECT_TRUE(succeeds(validate(dense(31, 32, 15.99))));
  Sigma2KpRunner runner(execution(), {20, 20});
  EXPECT_TRUE(refused(runner.detector().run(runner.luma(), grid(5, 4, 2), {})));
  const Sigma2KpRunner other(execution(), {20, 21});
  EXPECT_TRUE(refused(runner.detector().run(other.luma(), {}, {})));
  std::unique_ptr<cudavision::Sigma2Kp> none;
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{16385, 5}})
    EXPECT_TRUE(refused(make_sigma2kp(execution(), size, &none)));
}

// --- resources per frame ---

TEST_P(Sigma2Kp, frames_in_flight_equal_frames_alone) {
  const Size size = size_in_flight(execution(), {1920, 1080}, {100, 70});
  constexpr std::size_t kMost = 4096;
  for (const auto &[turned, distance] : {std::pair{false, 0}, {false, 3}, {true, 0}, {true, 3}}) {
    Sigma2KpParams params;
    params.max_keypoints = kMost, params.orientation = turned, params.min_distance = distance;
    std::unique_ptr<cudavision::Sigma2Kp> detector;
    ASSERT_TRUE(succeeds(make_sigma2kp(execution(), size, &detector)));
    expect_frames_in_flight_equal_frames_alone(
        execution(), size, (kMost + 1) * sizeof(Sigma2Keypoint),
        [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *bytes, cudavision::Input input) {
          auto *keypoints = reinterpret_cast<Sigma2Keypoint *>(bytes);
          return detector->run(luma, params,
                               {keypoints + 1, reinterpret_cast<cudavision::Sigma2KpCount *>(bytes)}, input);
        },
        false);
  }
}

TEST_P(Sigma2Kp, frame_is_a_launch_and_one_more_for_each_of_distance_and_orientation) {
  CUDAVISION_NEEDS_EMULATION();
  const Picture picture = noise({90, 60}, 19);
  const TestImage<std::uint8_t> luma(execution(), picture, kAligned);
  const TestImage<std::uint64_t> list(execution(), Size{2, 300}, kTight);
  const TestImage<std::uint32_t> count(execution(), Size{2, 1}, kTight);
  for (const bool apart : {false, true})
    for (const bool turned : {false, true}) {
      Sigma2KpParams params = grid(5, 4, 1.5);
      params.min_distance = apart ? 3 : 0, params.orientation = turned, params.max_keypoints = 300;
      std::unique_ptr<cudavision::Sigma2Kp> detector;
      ASSERT_TRUE(succeeds(make_sigma2kp(execution(), picture.size(), &detector)));
      const auto run = [&] {
        EXPECT_TRUE(
            succeeds(detector->run(luma.view(), params,
                                   {reinterpret_cast<Sigma2Keypoint *>(list.view().data),
                                    reinterpret_cast<cudavision::Sigma2KpCount *>(count.view().data)})));
      };
      run();
      finish(execution());
      const Budget budget;
      run();
      budget.expect_launches_alone(1u + apart + turned);
      finish(execution());
      // Three per tile (to claim it, to add its keypoints, to count it as done), and one for each band and each block
      // of keep_apart_kernel (one thread for each of at most 21 x 14 + 21 x 13 keypoints) to count it as done.
      EXPECT_EQ(budget.spent().global_atomics, 3u * 4 + 2u + (apart ? 3u : 0u));
    }
}

}  // namespace
