// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of HOG on every backend: its blocks are compared with the definition in double precision and with
// cv::HOGDescriptor::compute, and its limits are checked.
#include "tests/kernels/hog_definition.h"

#include <limits>

#include "cuda/common/fused.h"
#include "tests/support/budget.h"
#include "tests/support/frames_in_flight.h"
#include "tests/support/instruction_sets.h"

namespace {

using namespace cudavision::test;
using cudavision::HogNorm;
using cudavision::HogParams;
using cudavision::HogShape;
using cudavision::HogVariant;
using cudavision::Size;

// Each number is at most 1, and comes from a sum of at most 64 x 64 floats, whose errors of 2^-24 each mostly cancel.
constexpr double kTolerance = 1e-5;

class Hog : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Hog);

HogParams made(HogVariant variant, int cell, int cells, int stride, int bins) {
  HogParams p;
  p.variant = variant;
  p.cell = {cell, cell}, p.block = {cell * cells, cell * cells}, p.stride = {stride, stride}, p.bins = bins;
  return p;
}

// Varies one parameter after the other.
std::vector<HogParams> many_params() {
  std::vector<HogParams> all;
  for (const HogVariant variant : {HogVariant::opencv, HogVariant::ghog}) {
    all.push_back(made(variant, 8, 2, 8, 9));
    all.push_back(made(variant, 4, 3, 4, 12));
    all.push_back(made(variant, 6, 2, 6, 7));
    all.push_back(made(variant, 8, 2, 4, 9));
    all.push_back(made(variant, 5, 1, 7, 9));  // blocks that do not touch
    all.push_back(made(variant, 16, 2, 16, 18));
    all.push_back(made(variant, 8, 2, 8, 1));
    for (const HogNorm norm : {HogNorm::l2_hys, HogNorm::l2, HogNorm::l1_sqrt, HogNorm::l1}) {
      all.push_back(made(variant, 8, 2, 8, 9));
      all.back().norm = norm;
    }
    all.push_back(made(variant, 8, 2, 8, 9));
    all.back().gamma = false;
    all.push_back(made(variant, 8, 2, 8, 18));
    all.back().signed_gradient = true;
    all.push_back(made(variant, 8, 2, 8, 9));
    all.back().cell = {4, 8}, all.back().block = {12, 16}, all.back().stride = {4, 8};
    all.push_back(made(variant, 8, 2, 8, 9));
    all.back().sigma = 2.5;
    all.push_back(made(variant, 8, 2, 8, 9));
    all.back().sigma = 0.01;
    all.push_back(made(variant, 8, 2, 8, 9));  // some weights are as small as a float can be
    all.back().sigma = 0.45, all.back().norm = HogNorm::l1_sqrt;
  }
  return all;
}

// --- the definition ---

TEST_P(Hog, every_parameter_equals_the_definition) {
  unsigned seed = 1;
  for (const HogParams &params : many_params())
    for (const int channels : {1, 3}) {
      ++seed;
      const Size size = kEmulated ? Size{43, 37} : Size{101, 75};
      SCOPED_TRACE(testing::Message() << params << " channels " << channels);
      const HogImage image{smooth_noise({size.width * channels, size.height}, 1, seed), channels};
      ASSERT_TRUE(close(run_hog(execution(), image, params), hog_definition(image, params), kTolerance));
    }
}

TEST_P(Hog, every_size_equals_the_definition) {
  unsigned seed = 1;
  for (const int width : {16, 17, 23, 24, 66, 129})
    for (const int height : {16, 31, 32, 57}) {
      ++seed;
      HogParams params;
      params.variant = seed % 2 == 0 ? HogVariant::opencv : HogVariant::ghog;
      const int channels = seed % 4 < 2 ? 1 : 3;
      SCOPED_TRACE(testing::Message() << width << "x" << height << " " << params);
      const HogImage image = noise_image({width, height}, channels, seed);
      ASSERT_TRUE(close(run_hog(execution(), image, params, kPlacements[seed % 5]),
                        hog_definition(image, params), kTolerance));
    }
}

// A tile has sixteen rows of blocks (eight with other parameters than the defaults), but only if the device cannot run
// all tiles of fewer rows at once. These pictures are large enough for that on the emulated device of 4
// multiprocessors, and on a real GPU of 132. They would take the definition too long.
TEST_P(Hog, tall_tiles_give_the_blocks_of_the_cpu_backend) {
  const bool real = !kEmulated && GetParam().backend == cudavision::Backend::cuda;
  const Size tiles = real ? Size{23, 28} : Size{5, 4};  // of 8 x 16 blocks
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  std::vector<HogParams> all = {made(HogVariant::opencv, 8, 2, 8, 9), made(HogVariant::ghog, 5, 1, 7, 9),
                                made(HogVariant::opencv, 4, 2, 3, 5), made(HogVariant::opencv, 6, 2, 6, 7)};
  all.push_back(made(HogVariant::opencv, 4, 2, 4, 9));
  all.back().sigma = 0.01;
  for (const HogParams &params : all) {
    SCOPED_TRACE(params);
    const Size size{(8 * tiles.width - 3) * params.stride.width + params.block.width + 1,
                    (16 * tiles.height - 2) * params.stride.height + params.block.height + 2};
    const HogImage image = noise_image(size, params.cell.width == 8 ? 3 : 1, 17);
    ASSERT_EQ(run_hog(execution(), image, params), run_hog(one_thread.execution(), image, params));
  }
}

TEST_P(Hog, the_largest_blocks_equal_the_definition) {
  HogParams params = made(HogVariant::opencv, 8, 8, 64, cudavision::kMaxHogBins);
  const HogImage image = noise_image({67, 66}, 3, 5);
  EXPECT_TRUE(close(run_hog(execution(), image, params), hog_definition(image, params), kTolerance));
}

// --- the same bits ---

TEST_P(Hog, blocks_have_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  unsigned seed = 100;
  for (const HogParams &params : many_params())
    for (const int channels : {1, 3}) {
      SCOPED_TRACE(testing::Message() << params << " channels " << channels);
      const HogImage image = noise_image({101, 75}, channels, ++seed);
      ASSERT_EQ(run_hog(execution(), image, params), run_hog(one_thread.execution(), image, params));
    }
}

TEST(HogInstructionSets, give_the_same_bits) {
  if (kEmulated) GTEST_SKIP() << "the CPU backend is not under test";
  const ExecutionOwner owner({"one_thread", cudavision::Backend::cpu});
  for (const HogParams &params : many_params()) {
    SCOPED_TRACE(params);
    const HogImage image = noise_image({101, 75}, 3, 41);
    const std::vector<float> expected = run_hog(owner.execution(), image, params);
    on_every_instruction_set([&] { EXPECT_EQ(run_hog(owner.execution(), image, params), expected); });
  }
}

TEST(HogInstructionSets, doubles_give_the_fused_sum) {
  Random random(9);
  const auto number = [&random] {  // of any of 64 magnitudes, with few or many significant bits
    const int digits = random.below(1 << (1 + random.below(24)));
    const float sign = random.below(2) == 0 ? -1.0f : 1.0f;
    const int least = random.below(8) == 0 ? -149 : -40;  // some are subnormal, or make subnormal sums
    return std::ldexp(sign * static_cast<float>(digits), least + random.below(64));
  };
  for (int i = 0; i < 1000000; ++i) {
    const float a = number(), b = number(), c = i % 4 == 0 ? -a * b : number();
    ASSERT_EQ(cudavision::fused_by_doubles(a, b, c), std::fma(a, b, c)) << a << " " << b << " " << c;
  }
}

TEST_P(Hog, every_format_gives_the_same_blocks) {
  const HogImage image = noise_image({35, 33}, 3, 8);
  const std::vector<float> expected = run_hog(execution(), image, {});
  for (const PixelFormat &format : pixel_formats()) {
    if (format.layout.model != cudavision::ColorModel::rgb) continue;
    HostFrame host(format, image.size(), 1);
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x)
        for (int c = 0; c < 3; ++c) host.sample(c, x, y) = static_cast<std::uint8_t>(image.at(x, y, c));
    const TestFrame frame(execution(), host, kMisaligned);
    HogShape shape;
    ASSERT_TRUE(succeeds(hog_shape(image.size(), {}, &shape)));
    const TestImage<float> blocks(execution(), Size{static_cast<int>(shape.count()), 1}, kTight);
    std::unique_ptr<cudavision::Hog> hog;
    ASSERT_TRUE(succeeds(make_hog(execution(), image.size(), 3, {}, &hog)));
    ASSERT_TRUE(succeeds(hog->run(
        cudavision::hog_picture(frame.frame(), {0, 0, image.width(), image.height()}), blocks.view().data)));
    EXPECT_EQ(blocks.download().pixels(), expected) << format;
  }
}

// --- OpenCV ---

TEST_P(Hog, blocks_are_those_of_opencv) {
  for (const HogParams &params : many_params())
    for (const int channels : {1, 3}) {
      // OpenCV has one variant and one norm. (Its window must be a block plus whole strides: see opencv_blocks().)
      if (params.variant != HogVariant::opencv || params.norm != HogNorm::variant) continue;
      SCOPED_TRACE(testing::Message() << params << " channels " << channels);
      const HogImage image = noise_image(kEmulated ? Size{39, 37} : Size{99, 67}, channels, 3);
      ASSERT_TRUE(close(run_hog(execution(), image, params), opencv_blocks(image, params), kTolerance));
    }
}

// If all samples are black or white, many gradients of the channels have the same length, and OpenCV decides ties
// differently in the last width % 4 columns. In these pictures blocks contain them.
TEST_P(Hog, ties_between_channels_are_decided_as_by_opencv) {
  for (const int width : {18, 23, 32, 41}) {
    HogParams params;
    params.stride = {1, 8};
    HogImage image = noise_image({width, 24}, 3, static_cast<unsigned>(width));
    for (std::uint8_t &byte : image.bytes.pixels()) byte = byte < 128 ? 0 : 255;
    const std::vector<float> blocks = run_hog(execution(), image, params);
    EXPECT_TRUE(close(blocks, opencv_blocks(image, params), kTolerance)) << width;
    EXPECT_TRUE(close(blocks, hog_definition(image, params), kTolerance)) << width;
  }
}

TEST_P(Hog, real_pictures_have_the_blocks_of_opencv) {
  for (const char *name : {"fruits.jpg", "home.jpg", "vtest.avi"})
    for (const bool gamma : {true, false})
      for (const int channels : {1, 3}) {
        const Photo &photo = channels == 1 ? gray_photo(name) : rgb_photo(name);
        if (!photo.ok()) GTEST_SKIP() << photo.why_not;
        HogImage image{photo.pixels, channels};
        if (kEmulated) image = image.part({80, 60, 66, 41});
        HogParams params;
        params.gamma = gamma;
        SCOPED_TRACE(testing::Message() << name << " " << params << " channels " << channels);
        ASSERT_TRUE(close(run_hog(execution(), image, params), opencv_blocks(image, params), kTolerance));
      }
}

TEST_P(Hog, two_instances_do_not_disturb_each_other) {
  struct Instance {
    HogImage image;
    HogParams params;
    std::unique_ptr<HogTestPicture> picture;
    std::unique_ptr<TestImage<float>> blocks;
    std::unique_ptr<cudavision::Hog> hog;
  };
  Instance instances[2] = {
      {.image = noise_image({50, 41}, 3, 1), .params = {}, .picture = {}, .blocks = {}, .hog = {}},
      {.image = noise_image({33, 64}, 1, 2),
       .params = made(HogVariant::ghog, 4, 3, 4, 12),
       .picture = {},
       .blocks = {},
       .hog = {}}};
  for (Instance &instance : instances) {
    HogShape shape;
    ASSERT_TRUE(succeeds(hog_shape(instance.image.size(), instance.params, &shape)));
    instance.picture = std::make_unique<HogTestPicture>(execution(), instance.image);
    instance.blocks =
        std::make_unique<TestImage<float>>(execution(), Size{static_cast<int>(shape.count()), 1}, kTight);
    ASSERT_TRUE(succeeds(make_hog(execution(), instance.image.size(), instance.image.channels,
                                  instance.params, &instance.hog)));
  }
  for (const int turn : {0, 1, 0, 1})
    ASSERT_TRUE(succeeds(
        instances[turn].hog->run(instances[turn].picture->picture(), instances[turn].blocks->view().data)));
  for (const Instance &instance : instances)
    EXPECT_EQ(instance.blocks->download().pixels(), run_hog(execution(), instance.image, instance.params));
}

// --- analytic cases ---

TEST_P(Hog, equal_channels_are_gray) {
  const HogImage gray = noise_image({41, 35}, 1, 4);
  HogImage color{Picture({41 * 3, 35}), 3};
  for (int y = 0; y < 35; ++y)
    for (int x = 0; x < 41 * 3; ++x) color.bytes.at(x, y) = gray.bytes.at(x / 3, y);
  for (const HogVariant variant : {HogVariant::opencv, HogVariant::ghog}) {
    const HogParams params = made(variant, 8, 2, 8, 9);
    EXPECT_EQ(run_hog(execution(), color, params), run_hog(execution(), gray, params));
  }
}

TEST_P(Hog, constant_picture_has_no_votes) {
  const std::vector<float> blocks = run_hog(execution(), {constant({40, 40}, 77), 1}, {});
  EXPECT_EQ(blocks, std::vector<float>(blocks.size(), 0.0f));
}

// A ramp of slope 4 has the gradient (8, 0) at every pixel except at the borders. Half of each vote goes to
// the first bin and half to the last one, so that each sums to 256 in an unweighted cell of 8 x 8 pixels.
// With the norm l1, the 8 numbers of a block that are not 0 are then 1/8 each.
TEST_P(Hog, ramp_votes_for_the_two_bins_around_its_direction) {
  HogParams params = made(HogVariant::ghog, 8, 2, 8, 9);
  params.norm = HogNorm::l1, params.gamma = false;
  const std::vector<float> blocks = run_hog(execution(), {ramp({48, 32}, 4, 0), 1}, params);
  const int col = 2, row = 1, cols = 5;
  for (int cell = 0; cell < 4; ++cell)
    for (int bin = 0; bin < 9; ++bin)
      EXPECT_NEAR(blocks[static_cast<std::size_t>(((row * cols + col) * 4 + cell) * 9 + bin)],
                  bin == 0 || bin == 8 ? 0.125 : 0, 1e-5)
          << cell << " " << bin;
}

// --- limits ---

TEST(HogParams, what_is_out_of_range_is_refused) {
  const auto refuses = [](auto change) {
    HogParams params;
    change(params);
    return refused(validate(params));
  };
  EXPECT_TRUE(succeeds(validate(HogParams{})));
  EXPECT_TRUE(refuses([](HogParams &p) { p.cell = {0, 8}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.cell = {8, 65}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.block = {20, 16}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.block = {72, 16}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.cell = {1, 1}; }));  // 16 cells
  EXPECT_TRUE(refuses([](HogParams &p) { p.stride = {8, 0}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.stride = {65, 8}; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.bins = 0; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.bins = 37; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.sigma = -1; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.sigma = std::numeric_limits<double>::quiet_NaN(); }));
  // The square of the first sigma underflows to 0; with the second one all weights but the centre's are 0.
  EXPECT_TRUE(refuses([](HogParams &p) { p.sigma = 1e-170; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.sigma = 0.0099; }));
  HogParams narrow;
  narrow.sigma = 0.01;
  EXPECT_TRUE(succeeds(validate(narrow)));
  EXPECT_TRUE(refuses([](HogParams &p) { p.clip = 0; }));
  EXPECT_TRUE(refuses([](HogParams &p) { p.clip = std::numeric_limits<double>::quiet_NaN(); }));
  HogShape shape;
  EXPECT_TRUE(refused(hog_shape({15, 16}, {}, &shape)));
  EXPECT_TRUE(refused(hog_shape({16, 15}, {}, &shape)));
  ASSERT_TRUE(succeeds(hog_shape({31, 40}, {}, &shape)));
  EXPECT_EQ(shape, (HogShape{4, 2, 36}));
}

TEST_P(Hog, frames_in_flight_equal_frames_alone) {
  const Size size = kEmulated ? Size{80, 64} : Size{1280, 720};
  for (const int bins : {9, 6}) {  // the default parameters have a kernel of their own
    SCOPED_TRACE(bins);
    HogParams params;
    params.bins = bins;
    std::unique_ptr<cudavision::Hog> hog;
    ASSERT_TRUE(succeeds(make_hog(execution(), size, 1, params, &hog)));
    HogShape shape;
    ASSERT_TRUE(succeeds(hog_shape(size, params, &shape)));
    expect_frames_in_flight_equal_frames_alone(
        execution(), size, shape.count() * sizeof(float),
        [&](cudavision::ImageView<const std::uint8_t> luma, std::uint8_t *blocks, cudavision::Input input) {
          return hog->run(cudavision::hog_picture(luma), reinterpret_cast<float *>(blocks), input);
        });
  }
}

TEST_P(Hog, other_pictures_are_refused) {
  std::unique_ptr<cudavision::Hog> hog;
  EXPECT_TRUE(refused(make_hog(execution(), {64, 64}, 2, {}, &hog)));
  EXPECT_TRUE(refused(make_hog(execution(), {16385, 64}, 1, {}, &hog)));
  ASSERT_TRUE(succeeds(make_hog(execution(), {64, 64}, 1, {}, &hog)));
  const HogTestPicture color(execution(), noise_image({64, 64}, 3, 1)),
      small(execution(), noise_image({63, 64}, 1, 1));
  EXPECT_TRUE(refused(hog->run(color.picture(), nullptr)));
  EXPECT_TRUE(refused(hog->run(small.picture(), nullptr)));
  ASSERT_TRUE(succeeds(make_hog(execution(), {64, 64}, 3, {}, &hog)));
  for (int c = 0; c < 3; ++c) {
    cudavision::HogPicture other = color.picture();
    other.component[c].pitch_bytes += 1;
    EXPECT_TRUE(refused(hog->run(other, nullptr)));
    other = color.picture();
    other.component[c].shift_x = 1;
    EXPECT_TRUE(refused(hog->run(other, nullptr)));
  }
  cudavision::HogPicture apart = color.picture();
  for (int c = 0; c < 3; ++c) apart.component[c].pitch_bytes = 131072;
  EXPECT_TRUE(refused(hog->run(apart, nullptr)));
}

TEST_P(Hog, a_frame_costs_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const HogImage image = noise_image({40, 40}, 3, 2);
  const HogTestPicture picture(execution(), image);
  HogShape shape;
  ASSERT_TRUE(succeeds(hog_shape(image.size(), {}, &shape)));
  const TestImage<float> blocks(execution(), Size{static_cast<int>(shape.count()), 1}, kTight);
  std::unique_ptr<cudavision::Hog> hog;
  ASSERT_TRUE(succeeds(make_hog(execution(), image.size(), 3, {}, &hog)));
  const Budget budget;
  ASSERT_TRUE(succeeds(hog->run(picture.picture(), blocks.view().data)));
  budget.expect_launches_alone(1);
  finish(execution());
}

}  // namespace
