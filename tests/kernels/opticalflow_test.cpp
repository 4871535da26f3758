// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow compared with its definition in plain loops, and at its limits, on every backend.
#include "cuda/opticalflow/opticalflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernels/opticalflow_definition.h"
#include "tests/support/budget.h"
#include "tests/support/instruction_sets.h"

namespace {

using namespace cudavision::test;
using cudavision::Execution;
using cudavision::flow_size;
using cudavision::FlowVector;
using cudavision::OpticalFlowParams;
using cudavision::Places;
using cudavision::Region;
using cudavision::Size;

class OpticalFlow : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(OpticalFlow);

// A texture and the same texture moved by (dx, dy), with noise added to the second frame.
Pair moving(Size size, unsigned seed, int dx = 2, int dy = -1) {
  const int around = std::max({16, 2 * std::abs(dx), 2 * std::abs(dy)});
  const Picture texture = smooth_noise({size.width + around, size.height + around}, 2, seed);
  Pair pair = displaced(texture, size, dx, dy);
  Random random(seed + 1000);
  for (std::uint8_t &p : pair.second.pixels())
    p = static_cast<std::uint8_t>(std::min(255, p + random.below(8)));
  return pair;
}

OpticalFlowParams with(int window_size, int levels, int stride = 1) {
  OpticalFlowParams p;
  p.window_size = window_size, p.levels = levels, p.stride = stride;
  return p;
}

// --- the definition ---

TEST_P(OpticalFlow, every_size_equals_the_definition_bit_for_bit) {
  std::vector<Size> sizes{{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 7}, {31, 7}, {33, 9}, {45, 44}, {64, 17}};
  if (!kEmulated)
    for (const Size size :
         {Size{7, 150}, Size{150, 7}, Size{63, 65}, Size{64, 64}, Size{129, 90}, Size{300, 41}})
      sizes.push_back(size);
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const OpticalFlowParams &params : {with(21, 3), with(7, 3), with(5, 8, 2)}) {
      const Pair pair = moving(size, seed);
      Estimator estimator(execution(), size);
      estimator.place(kPlacements[seed % 5], kFlowPlacements[seed % 3], kPlacements[(seed + 2) % 5]);
      SCOPED_TRACE(::testing::Message()
                   << size.width << "x" << size.height << " seed " << seed << " " << describe(params));
      ASSERT_TRUE(same(estimator.between(pair.first, pair.second, params),
                       definition(pair.first, pair.second, params)));
      ++seed;
    }
}

TEST_P(OpticalFlow, every_parameter_equals_the_definition_bit_for_bit) {
  std::vector<OpticalFlowParams> all;
  const auto add = [&](auto OpticalFlowParams::*member, auto value) {
    OpticalFlowParams p = with(9, 2);
    p.*member = value;
    all.push_back(p);
  };
  for (const int side : {5, 15, 17, 31}) add(&OpticalFlowParams::window_size, side);
  for (const int levels : {0, 1, 8}) add(&OpticalFlowParams::levels, levels);
  for (const int iterations : {1, 2, 100}) add(&OpticalFlowParams::iterations, iterations);
  for (const double epsilon : {0.0, 0.5, 10.0}) add(&OpticalFlowParams::epsilon, epsilon);
  for (const double least : {0.0, 0.05, 16.0}) add(&OpticalFlowParams::min_eigenvalue, least);
  for (const int stride : {2, 4, 8}) add(&OpticalFlowParams::stride, stride);
  for (const double distance : {0.01, 1.0, 100.0}) add(&OpticalFlowParams::forward_backward, distance);
  const Pair pair = moving({63, 45}, 40);
  Estimator estimator(execution(), pair.first.size());
  for (const OpticalFlowParams &params : all) {
    SCOPED_TRACE(describe(params));
    EXPECT_TRUE(same(estimator.between(pair.first, pair.second, params),
                     definition(pair.first, pair.second, params)));
  }
}

// The highest contrast with the largest window: the sums reach 31^2 * 4080 * 255 and 31^2 * 4080^2.
TEST_P(OpticalFlow, sums_do_not_overflow) {
  const Picture first = checkerboard({40, 34}, 6, 0, 255), second = checkerboard({40, 34}, 6, 255, 0);
  const OpticalFlowParams params = with(31, 0);
  EXPECT_TRUE(same(flow_between(execution(), first, second, params), definition(first, second, params)));
}

// Interpolating between the sums of whole displacements gives the same as interpolating every pixel of the window.
TEST_P(OpticalFlow, interpolating_every_pixel_gives_the_same) {
  const Pair pair = moving(kEmulated ? Size{60, 50} : Size{90, 70}, 41);
  for (const OpticalFlowParams &params : {with(21, 3), with(13, 2)}) {
    SCOPED_TRACE(describe(params));
    const Flow expected = definition<double>(pair.first, pair.second, params);
    const Flow flow = flow_between(execution(), pair.first, pair.second, params);
    EXPECT_LE(quantile(distances(flow, expected), 0.99), 1e-3);
    EXPECT_TRUE(same(flow.valid, expected.valid));
  }
}

// Tiles (stride 1) and single windows (stride 2) compute the same integers: for pixels that move alike, in different
// ways or at random, and that leave the picture.
TEST_P(OpticalFlow, tiles_and_single_windows_give_the_same_bits) {
  const Size size = kSlow ? Size{37, 33} : Size{211, 97};
  std::vector<Pair> pairs{moving(size, 70), moving(size, 71, 9, -6), moving(size, 72, -14, 15)};
  pairs.push_back({noise(size, 73), noise(size, 74)});
  pairs.push_back({pairs[0].first, pairs[1].first});
  if (kSlow) pairs.erase(pairs.begin(), pairs.begin() + 2);
  Estimator estimator(execution(), size);
  for (const Pair &pair : pairs)
    for (OpticalFlowParams params : {with(21, 3), with(5, 2), with(31, 0)}) {
      params.min_eigenvalue = 0, params.iterations = kSlow ? 3 : 30;
      const Flow dense = estimator.between(pair.first, pair.second, params);
      params.stride = 2;
      EXPECT_TRUE(same(estimator.between(pair.first, pair.second, params), every(2, dense)))
          << describe(params);
    }
}

TEST_P(OpticalFlow, stride_takes_every_so_many_th_vector) {
  const Pair pair = moving(kSlow ? Size{43, 35} : Size{83, 62}, 42);
  Estimator estimator(execution(), pair.first.size());
  for (OpticalFlowParams params : {with(11, 3), with(9, 1)})
    for (const double distance : {0.0, 0.3}) {
      params.forward_backward = distance, params.stride = 1;
      const Flow dense = estimator.between(pair.first, pair.second, params);
      for (const int stride : {2, 4, 8}) {
        params.stride = stride;
        EXPECT_TRUE(same(estimator.between(pair.first, pair.second, params), every(stride, dense)))
            << describe(params);
      }
    }
}

// --- regions ---

Places places_of(const std::vector<Region> &regions) {
  Places places;
  places.count = static_cast<int>(regions.size());
  std::copy(regions.begin(), regions.end(), places.region);
  return places;
}

// The flow without the vectors outside of the regions, which become zero and invalid.
Flow only_in(const std::vector<Region> &regions, int stride, Flow flow) {
  for (int y = 0; y < flow.size().height; ++y)
    for (int x = 0; x < flow.size().width; ++x)
      if (std::none_of(regions.begin(), regions.end(), [&](const Region &r) {
            return x * stride >= r.x && x * stride < r.x + r.width && y * stride >= r.y &&
                   y * stride < r.y + r.height;
          }))
        flow.xy.at(2 * x, y) = flow.xy.at(2 * x + 1, y) = 0, flow.valid.at(x, y) = 0;
  return flow;
}

TEST_P(OpticalFlow, vectors_in_regions_are_those_of_the_whole_frame) {
  const Size size = kSlow ? Size{49, 41} : Size{211, 157};
  const int right = size.width, below = size.height;
  std::vector<Region> grid;
  for (int i = 0; i < Places::kMostRegions; ++i)
    grid.push_back({i % 8 * (right / 8), i / 8 * (below / 4), 2, 3});
  std::vector<std::vector<Region>> sets = {{},
                                           {{17, 9, 1, 1}},
                                           {{3, 20, 30, 20}, {20, 29, 25, 8}},
                                           {{right - 1, 0, 1, below}, {0, below - 7, 19, 7}, {5, 5, 0, 9}},
                                           {{0, 0, right, below}},
                                           {{100, 20, 28, 12}, {0, 100, 3, 3}},  // end at ends of tiles
                                           grid};
  std::vector<OpticalFlowParams> all{with(9, 3), with(15, 1, 2), with(5, 8, 4), with(7, 0), with(9, 2, 8)};
  all[0].forward_backward = all[2].forward_backward = 0.5;
  if (kSlow) sets.resize(4), all.resize(3);
  Estimator estimator(execution(), size);
  unsigned seed = 90;
  for (OpticalFlowParams &params : all) {
    if (kSlow) params.iterations = 3;
    const Pair pair = moving(size, ++seed, 5, -3);
    const Flow whole = flow_between(execution(), pair.first, pair.second, params);
    // Leaves other vectors in the memory of all levels, so that leftovers would be noticed.
    (void)estimator.between(pair.second, noise(size, seed), params);
    int valid = 0;
    for (const std::vector<Region> &regions : sets) {
      SCOPED_TRACE(testing::Message() << describe(params) << ", " << regions.size() << " regions");
      const Flow expected = only_in(regions, params.stride, whole);
      EXPECT_TRUE(same(estimator.between(pair.first, pair.second, params, places_of(regions)), expected));
      if (regions.size() > 1)
        for (const std::uint8_t v : expected.valid.pixels()) valid += v;
    }
    EXPECT_GT(valid, 5) << "too few vectors for a test";
  }
}

TEST_P(OpticalFlow, regions_outside_of_the_frame_are_refused) {
  Estimator estimator(execution(), {40, 30});
  estimator.start(noise({40, 30}, 56));
  const TestImage<std::uint8_t> luma(execution(), noise({40, 30}, 58), kTight);
  const TestImage<float> xy(execution(), {80, 30}, kFlowPlacements[0]);
  Places many;
  many.count = Places::kMostRegions + 1;
  for (const Places &places : {places_of({{30, 0, 11, 5}}), places_of({{0, -1, 5, 5}}), many})
    EXPECT_TRUE(refused(estimator.flow().run(luma.view(), {}, Estimator::view_of(xy), luma.view(), places)));
}

TEST_P(OpticalFlow, both_backends_give_the_same_bits) {
  if (GetParam().backend == cudavision::Backend::cpu)
    GTEST_SKIP() << "the CUDA backend is compared with this one";
  const ExecutionOwner cpu({"cpu", cudavision::Backend::cpu, 2});
  const Pair pair = moving(kEmulated ? Size{80, 60} : Size{640, 480}, 43, 5, 3);
  for (OpticalFlowParams params : {with(21, 3), with(13, 3), with(15, 3, 4)}) {
    params.forward_backward = 0.5;
    EXPECT_TRUE(same(flow_between(execution(), pair.first, pair.second, params),
                     flow_between(cpu.execution(), pair.first, pair.second, params)))
        << describe(params);
  }
}

TEST(OpticalFlowInstructionSets, give_the_same_bits) {
  if (kEmulated) GTEST_SKIP() << "the CPU backend is not under test";
  const ExecutionOwner owner({"one_thread", cudavision::Backend::cpu});
  const Pair pair = moving({83, 62}, 44, 3, -2);
  for (OpticalFlowParams params : {with(21, 3), with(5, 2), with(13, 3, 2), with(13, 3, 8)}) {
    params.forward_backward = 0.5;
    const Flow expected = definition(pair.first, pair.second, params);
    on_every_instruction_set([&] {
      EXPECT_TRUE(same(flow_between(owner.execution(), pair.first, pair.second, params), expected))
          << describe(params);
    });
  }
}

// --- known results ---

TEST_P(OpticalFlow, identical_frames_do_not_move) {
  const Picture frame = smooth_noise({90, 60}, 2, 44);
  const Flow flow = flow_between(execution(), frame, frame, with(15, 3));
  EXPECT_EQ(flow.xy, HostImage<float>({180, 60}));
  EXPECT_EQ(count_of<std::uint8_t>(flow.valid, 1), 90 * 60);
}

TEST_P(OpticalFlow, whole_translations_are_found_away_from_borders) {
  const Size size = kEmulated ? Size{96, 80} : Size{240, 200};
  const Picture texture = smooth_noise({size.width + 32, size.height + 32}, 2, 45);
  Estimator estimator(execution(), size);
  for (const auto &[dx, dy] : {std::pair{1, 0}, {0, -1}, {3, 2}, {-5, 4}, {12, -9}}) {
    if (kEmulated && dx == 12) continue;  // too large a part of the small picture would leave it
    const Pair pair = displaced(texture, size, dx, dy);
    const Flow flow = estimator.between(pair.first, pair.second, with(15, 3));
    const int border = 24;  // the window, and pixels that move out of the picture or into it
    std::vector<double> errors;
    for (int y = border; y < size.height - border; ++y)
      for (int x = border; x < size.width - border; ++x) {
        const FlowVector exact{static_cast<float>(dx), static_cast<float>(dy)};
        errors.push_back(distance(flow.at(x, y), exact));
        EXPECT_EQ(flow.valid.at(x, y), 1);
      }
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(quantile(errors, 0.99), 1e-3) << "(" << dx << ", " << dy << ")";
    EXPECT_LE(quantile(errors, 1), 5e-3) << "(" << dx << ", " << dy << ")";  // half a last step of epsilon
  }
}

TEST_P(OpticalFlow, pictures_without_texture_have_no_valid_flow) {
  const Picture gray = constant({60, 50}, 90),
                stripes = ramp({60, 50}, 4, 0);  // texture in one direction only
  Estimator estimator(execution(), gray.size());
  EXPECT_EQ(count_of<std::uint8_t>(estimator.between(gray, gray, with(9, 2)).valid, 0), 60 * 50);
  EXPECT_EQ(count_of<std::uint8_t>(estimator.between(gray, noise({60, 50}, 1), with(9, 2)).valid, 0),
            60 * 50);
  const Flow flow = estimator.between(gray, stripes, with(9, 2));
  EXPECT_EQ(flow.xy, HostImage<float>({120, 50})) << "and no vectors";
}

TEST_P(OpticalFlow, vectors_that_leave_the_picture_are_invalid_and_finite) {
  OpticalFlowParams params = with(5, 0);
  params.min_eigenvalue = 0, params.epsilon = 0;
  int left = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {  // two unrelated frames
    const Flow flow = flow_between(execution(), noise({40, 30}, seed), noise({40, 30}, seed + 50), params);
    for (const float v : flow.xy.pixels()) EXPECT_TRUE(std::isfinite(v));
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 40; ++x) {
        const FlowVector d = flow.at(x, y);
        const double first_x = std::floor(double{d.x}) + x - 2, first_y = std::floor(double{d.y}) + y - 2;
        const bool outside = first_x < -5 || first_x >= 40 || first_y < -5 || first_y >= 30;
        left += outside;
        if (outside) {
          EXPECT_EQ(flow.valid.at(x, y), 0);
        }
      }
  }
  EXPECT_GT(left, 0) << "no vector leaves the picture, so the test proves nothing";
}

TEST_P(OpticalFlow, unrelated_frames_mostly_fail_the_forward_backward_check) {
  const Size size = kEmulated ? Size{48, 40} : Size{80, 64};
  const Picture before = smooth_noise(size, 2, 46), after = smooth_noise(size, 2, 47);  // a scene cut
  OpticalFlowParams params = with(15, 2);
  params.forward_backward = 0.5;
  Estimator estimator(execution(), size);
  estimator.start(before, params);
  const Flow cut = estimator.next(after, params), still = estimator.next(after, params);
  EXPECT_LT(count_of<std::uint8_t>(cut.valid, 1), size.width * size.height / 3);
  EXPECT_EQ(count_of<std::uint8_t>(still.valid, 1), size.width * size.height)
      << "the cut does not affect the next frame";
  EXPECT_EQ(still.xy, HostImage<float>({2 * size.width, size.height}));
}

TEST_P(OpticalFlow, raising_the_minimum_eigenvalue_makes_no_vector_valid) {
  const Pair pair = moving({70, 50}, 48);
  Picture before = constant({70, 50}, 1);
  int valid = 70 * 50;
  for (const double least : {0.0, 0.02, 0.05, 0.1, 0.3}) {
    OpticalFlowParams params = with(9, 0);
    params.min_eigenvalue = least;
    const Picture now = flow_between(execution(), pair.first, pair.second, params).valid;
    for (std::size_t i = 0; i < now.pixels().size(); ++i)
      ASSERT_LE(now.pixels()[i], before.pixels()[i]) << least;
    before = now;
    valid = count_of<std::uint8_t>(now, 1);
  }
  EXPECT_LT(valid, 70 * 50 / 2) << "the largest value must reject many vectors";
}

// --- streams of frames ---

TEST_P(OpticalFlow, each_frame_is_compared_with_the_one_before) {
  const Picture texture = smooth_noise({100, 90}, 2, 49);
  std::vector<Picture> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(texture.crop({10 + 2 * i, 20 - i, 70, 50}));
  frames.push_back(texture.crop({5, 30, 70, 50}));
  Estimator estimator(execution(), {70, 50});
  OpticalFlowParams params = with(9, 2);
  params.iterations = 5;
  estimator.start(frames[0], params);
  for (std::size_t i = 1; i < frames.size(); ++i)
    EXPECT_TRUE(
        same(estimator.next(frames[i], params), flow_between(execution(), frames[i - 1], frames[i], params)))
        << i;
}

TEST_P(OpticalFlow, without_a_previous_frame_nothing_is_written) {
  const Size size{40, 30};
  Estimator estimator(execution(), size);
  const TestImage<std::uint8_t> luma(execution(), noise(size, 50), kTight),
      valid(execution(), size, kOddPitch);
  const TestImage<float> xy(execution(), {80, 30}, kFlowPlacements[0]);
  const HostImage<float> vectors_before = xy.download();
  const Picture valid_before = valid.download();
  EXPECT_FALSE(estimator.flow().has_previous());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(succeeds(estimator.flow().run(luma.view(), {}, Estimator::view_of(xy), valid.view())));
    EXPECT_TRUE(estimator.flow().has_previous());
    estimator.flow().drop_previous();
    EXPECT_FALSE(estimator.flow().has_previous());
  }
  EXPECT_EQ(xy.download(), vectors_before);
  EXPECT_TRUE(same(valid.download(), valid_before));
}

// The pyramid of the previous frame may have fewer or more levels than the current one needs.
TEST_P(OpticalFlow, parameters_may_change_from_frame_to_frame) {
  const Picture texture = smooth_noise({130, 110}, 2, 51);
  Estimator estimator(execution(), {100, 80});
  Picture before = texture.crop({10, 10, 100, 80});
  estimator.start(before, with(21, 0));
  int x = 10;
  for (const OpticalFlowParams &params : {with(9, 3), with(21, 0), with(5, 8, 4), with(7, 1), with(21, 3)}) {
    const Picture now = texture.crop({x += 3, 12, 100, 80});
    EXPECT_TRUE(same(estimator.next(now, params), flow_between(execution(), before, now, params)))
        << describe(params);
    before = now;
  }
}

TEST_P(OpticalFlow, queued_frames_of_two_instances_do_not_mix) {
  const Pair a = moving({70, 40}, 52), b = moving({50, 60}, 53);
  Estimator one(execution(), {70, 40}), other(execution(), {50, 60});
  const TestImage<std::uint8_t> a1(execution(), a.first, kTight), a2(execution(), a.second, kOddPitch),
      b1(execution(), b.first, kTight), b2(execution(), b.second, kOddPitch),
      a_valid(execution(), {70, 40}, kTight), b_valid(execution(), {50, 60}, kTight);
  const TestImage<float> a_xy(execution(), {140, 40}, kFlowPlacements[0]),
      b_xy(execution(), {100, 60}, kFlowPlacements[0]);
  const OpticalFlowParams params = with(9, 2);
  EXPECT_TRUE(succeeds(one.flow().run(a1.view(), params, {}, {})));
  EXPECT_TRUE(succeeds(other.flow().run(b1.view(), params, {}, {})));
  EXPECT_TRUE(succeeds(one.flow().run(a2.view(), params, Estimator::view_of(a_xy), a_valid.view())));
  EXPECT_TRUE(succeeds(other.flow().run(b2.view(), params, Estimator::view_of(b_xy), b_valid.view())));
  EXPECT_TRUE(same({a_xy.download(), a_valid.download()}, definition(a.first, a.second, params)));
  EXPECT_TRUE(same({b_xy.download(), b_valid.download()}, definition(b.first, b.second, params)));
}

TEST_P(OpticalFlow, repeated_runs_give_the_same_bits) {
  const Pair pair = moving(kSlow ? Size{58, 46} : Size{90, 70}, 54);
  for (const OpticalFlowParams &params : {with(15, 3), with(15, 3, 2)}) {
    const Flow first = flow_between(execution(), pair.first, pair.second, params);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(same(flow_between(execution(), pair.first, pair.second, params), first));
  }
}

// --- errors ---

std::vector<std::pair<const char *, OpticalFlowParams>> invalid_params() {
  std::vector<std::pair<const char *, OpticalFlowParams>> all;
  const auto add = [&](const char *name, auto OpticalFlowParams::*member, auto value) {
    OpticalFlowParams p;
    p.*member = value;
    all.emplace_back(name, p);
  };
  for (const int side : {-1, 0, 3, 4, 6, 20, 32, 33})
    add("window-size", &OpticalFlowParams::window_size, side);
  for (const int levels : {-1, 9}) add("levels", &OpticalFlowParams::levels, levels);
  for (const int iterations : {-1, 0, 101}) add("iterations", &OpticalFlowParams::iterations, iterations);
  for (const int stride : {-1, 0, 3, 16}) add("stride", &OpticalFlowParams::stride, stride);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinite = std::numeric_limits<double>::infinity();
  for (const double value : {-0.1, 101.0, nan, infinite}) {
    add("epsilon", &OpticalFlowParams::epsilon, value);
    add("min-eigenvalue", &OpticalFlowParams::min_eigenvalue, value);
    add("forward-backward", &OpticalFlowParams::forward_backward, value);
  }
  return all;
}

TEST_P(OpticalFlow, invalid_parameters_are_refused_and_change_nothing) {
  const Pair pair = moving({40, 30}, 55);
  Estimator estimator(execution(), {40, 30});
  estimator.start(pair.first, with(9, 1));
  const TestImage<std::uint8_t> luma(execution(), noise({40, 30}, 3), kTight),
      valid(execution(), {40, 30}, kTight);
  const TestImage<float> xy(execution(), {80, 30}, kFlowPlacements[0]);
  const HostImage<float> before = xy.download();
  for (const auto &[name, params] : invalid_params()) {
    const cudavision::Status status =
        estimator.flow().run(luma.view(), params, Estimator::view_of(xy), valid.view());
    EXPECT_TRUE(refused(status)) << describe(params);
    EXPECT_TRUE(refused(validate(params))) << describe(params);
    EXPECT_NE(status.text().find(name), std::string::npos) << status.text();
  }
  EXPECT_EQ(xy.download(), before);
  EXPECT_TRUE(same(estimator.next(pair.second, with(9, 1)), definition(pair.first, pair.second, with(9, 1))))
      << "the refused frame must not become the previous frame";
}

TEST_P(OpticalFlow, images_of_another_size_are_refused) {
  Estimator estimator(execution(), {40, 30});
  estimator.start(noise({40, 30}, 56));
  const TestImage<std::uint8_t> small(execution(), noise({39, 30}, 57), kTight),
      luma(execution(), noise({40, 30}, 58), kTight), grid(execution(), {20, 15}, kTight);
  const TestImage<float> xy(execution(), {80, 30}, kFlowPlacements[0]),
      grid_xy(execution(), {40, 15}, kFlowPlacements[0]);
  cudavision::OpticalFlow &optical_flow = estimator.flow();
  EXPECT_TRUE(refused(optical_flow.run(small.view(), {}, Estimator::view_of(xy), luma.view())));
  EXPECT_TRUE(refused(optical_flow.run(luma.view(), {}, Estimator::view_of(grid_xy), luma.view())));
  EXPECT_TRUE(refused(optical_flow.run(luma.view(), {}, Estimator::view_of(xy), grid.view())));
  EXPECT_TRUE(refused(optical_flow.run(luma.view(), with(21, 3, 2), Estimator::view_of(xy), luma.view())));
  EXPECT_TRUE(refused(optical_flow.run(luma.view(), {}, {}, {})));
  EXPECT_TRUE(
      succeeds(optical_flow.run(luma.view(), with(21, 3, 2), Estimator::view_of(grid_xy), grid.view())));
}

TEST_P(OpticalFlow, sizes_out_of_range_are_refused_and_the_longest_sides_are_not) {
  std::unique_ptr<cudavision::OpticalFlow> flow;
  for (const Size size : {Size{0, 1}, Size{1, 0}, Size{-1, 5}, Size{16385, 1}, Size{1, 16385}})
    EXPECT_TRUE(refused(make_opticalflow(execution(), size, &flow)));
  EXPECT_EQ(flow, nullptr);
  for (const Size size : {Size{16384, 2}, Size{3, 16384}}) {
    const Pair pair = moving(size, 59, 1, 0);
    const OpticalFlowParams params = with(5, 1, 8);
    EXPECT_TRUE(same(flow_between(execution(), pair.first, pair.second, params),
                     definition(pair.first, pair.second, params)));
  }
}

// --- costs, and failures of the device ---

TEST_P(OpticalFlow, frame_costs_at_most_three_launches_per_level_and_nothing_else) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{200, 160};
  const Picture still = noise(size, 60);  // the costs do not depend on the picture
  Estimator estimator(execution(), size);
  const TestImage<std::uint8_t> luma(execution(), still, kTight), valid(execution(), size, kTight);
  const TestImage<float> xy(execution(), {400, 160}, kFlowPlacements[0]);
  OpticalFlowParams checked = with(9, 3);
  checked.forward_backward = 1;
  estimator.start(still, checked);
  (void)estimator.next(still, checked);  // the first frame that checks allocates
  const auto expect = [&](const OpticalFlowParams &params, unsigned launches, const Places &places = {}) {
    SCOPED_TRACE(describe(params));
    const auto run = [&] {
      return estimator.flow().run(luma.view(), params, Estimator::view_of(xy), valid.view(), places);
    };
    EXPECT_TRUE(succeeds(run()));
    const Budget budget;
    EXPECT_TRUE(succeeds(run()));
    budget.expect_launches_alone(launches);
    finish(execution());
  };
  // On the emulated device, levels of at most 384 pixels are tracked by one launch: here only that of 13 x 10.
  expect(with(9, 3), 4 * 3);
  expect(with(9, 4), 4 * 3 + 2);
  expect(with(9, 0), 3);
  expect(with(21, 8), 3 * 3);  // the level of 25 x 20 is left out: its height is not larger than the window
  expect(checked, 4 * (3 + 2) + 1);
  expect(with(9, 3), 4 * 3 + 1, places_of({{20, 30, 40, 50}}));
}

TEST_P(OpticalFlow, first_frame_prepares_its_levels_and_nothing_else) {
  CUDAVISION_NEEDS_EMULATION();
  Estimator estimator(execution(), {100, 80});
  const TestImage<std::uint8_t> luma(execution(), noise({100, 80}, 63), kTight);
  finish(execution());
  const Budget budget;
  EXPECT_TRUE(succeeds(estimator.flow().run(luma.view(), with(9, 2), {}, {})));
  budget.expect_launches_alone(3);
  finish(execution());
}

TEST_P(OpticalFlow, failed_allocation_is_reported_and_leaves_nothing) {
  CUDAVISION_NEEDS_EMULATION();
  for (unsigned successes = 0; successes < 12; ++successes) {
    const std::size_t before = simt::live_allocations();
    simt::fail_allocations_after(successes);
    std::unique_ptr<cudavision::OpticalFlow> flow;
    const cudavision::Status status = make_opticalflow(execution(), {70, 66}, &flow);
    EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
    EXPECT_EQ(flow, nullptr);
    EXPECT_EQ(simt::live_allocations(), before);
  }
}

TEST_P(OpticalFlow, failed_allocation_for_the_check_can_be_tried_again) {
  CUDAVISION_NEEDS_EMULATION();
  const Pair pair = moving({50, 40}, 64);
  OpticalFlowParams params = with(9, 1);
  params.forward_backward = 0.5;
  Estimator estimator(execution(), {50, 40});
  estimator.start(pair.first, params);
  const TestImage<std::uint8_t> luma(execution(), pair.second, kTight), valid(execution(), {50, 40}, kTight);
  const TestImage<float> xy(execution(), {100, 40}, kFlowPlacements[0]);
  simt::fail_allocations_after(0);
  const cudavision::Status status =
      estimator.flow().run(luma.view(), params, Estimator::view_of(xy), valid.view());
  EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
  EXPECT_TRUE(estimator.flow().has_previous());
  EXPECT_TRUE(same(estimator.next(pair.second, params), definition(pair.first, pair.second, params)));
}

TEST_P(OpticalFlow, failed_launch_is_reported_and_the_stream_starts_anew) {
  CUDAVISION_NEEDS_EMULATION();
  const Pair pair = moving({40, 34}, 65);
  OpticalFlowParams params = with(9, 1);
  params.iterations = 2;
  params.forward_backward = 0.5;
  Estimator estimator(execution(), {40, 34});
  (void)estimator.between(pair.first, pair.second, params);
  const Flow expected = definition(pair.first, pair.second, params);
  const TestImage<std::uint8_t> luma(execution(), pair.second, kTight), valid(execution(), {40, 34}, kTight);
  const TestImage<float> xy(execution(), {80, 34}, kFlowPlacements[0]);
  for (unsigned successes = 0; successes < 9; ++successes) {
    estimator.start(pair.first, params);
    simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
    const cudavision::Status status =
        estimator.flow().run(luma.view(), params, Estimator::view_of(xy), valid.view());
    EXPECT_EQ(status.code(), cudavision::Status::Code::device_failed);
    EXPECT_NE(status.text().find("kernel"), std::string::npos) << status.text();
    EXPECT_FALSE(estimator.flow().has_previous());
    EXPECT_TRUE(same(estimator.between(pair.first, pair.second, params), expected));
  }
}

}  // namespace
