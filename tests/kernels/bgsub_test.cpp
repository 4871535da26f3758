// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares background subtraction on every backend with its definition and with cv::BackgroundSubtractorMOG2, and tests
// its limits.
#include "cuda/bgsub/bgsub.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <opencv2/video/background_segm.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/components/components.h"
#include "cuda/morphology/morphology.h"
#include "tests/kernels/bgsub_definition.h"
#include "tests/support/budget.h"
#include "tests/support/decode.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::BackgroundSubtractor;
using cudavision::bgsub_picture;
using cudavision::BgsubParams;
using cudavision::BgsubPicture;
using cudavision::BgsubPixels;
using cudavision::Input;
using cudavision::make_bgsub;
using cudavision::Region;
using cudavision::Size;

class Bgsub : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Bgsub);

struct Case {
  const char *name;
  BgsubParams params;
  int mixtures = 5;
};

// In each case one or several parameters differ from the defaults.
std::vector<Case> cases() {
  return {
      {"defaults", {}},
      {"no shadows", {.detect_shadows = false}},
      {"short history", {.history = 3}},
      {"fixed rate", {.learning_rate = 0.05}},
      {"fast", {.learning_rate = 0.7}},
      {"equal weights", {.learning_rate = 0.5, .background_ratio = 0.4, .complexity_reduction = 0}},
      {"no learning", {.learning_rate = 0}},
      {"anew in each frame", {.learning_rate = 1}},
      {"thresholds", {.learning_rate = 0.1, .var_threshold = 4, .var_threshold_gen = 20}},
      {"nothing is near", {.learning_rate = 0.2, .var_threshold = 0, .var_threshold_gen = 0}},
      {"ratio of 0", {.background_ratio = 0}},
      {"ratio of 1", {.learning_rate = 0.1, .background_ratio = 1}},
      {"variances", {.learning_rate = 0.1, .var_init = 90, .var_min = 120, .var_max = 1}},
      {"no pruning", {.learning_rate = 0.1, .complexity_reduction = 0}},
      {"much pruning", {.learning_rate = 0.2, .complexity_reduction = 0.7}},
      {"all is pruned", {.learning_rate = 0.3, .complexity_reduction = 1}},
      {"shadows", {.learning_rate = 0.1, .shadow_value = 255, .shadow_threshold = 0.9}},
      {"one mode", {.learning_rate = 0.1}, 1},
      {"two modes", {.learning_rate = 0.1}, 2},
      {"eight modes", {.learning_rate = 0.1}, cudavision::kMaxMixtures},
  };
}

class OpenCv {
 public:
  OpenCv(const BgsubParams &p, int mixtures)
      : mog_(cv::createBackgroundSubtractorMOG2(p.history, p.var_threshold, p.detect_shadows)) {
    mog_->setNMixtures(mixtures);
    mog_->setVarThreshold(p.var_threshold);  // createBackgroundSubtractorMOG2() accepts no 0
    mog_->setVarThresholdGen(p.var_threshold_gen);
    mog_->setBackgroundRatio(p.background_ratio);
    mog_->setVarInit(p.var_init);
    mog_->setVarMin(p.var_min);
    mog_->setVarMax(p.var_max);
    mog_->setComplexityReductionThreshold(p.complexity_reduction);
    mog_->setShadowValue(p.shadow_value);
    mog_->setShadowThreshold(p.shadow_threshold);
  }
  Picture mask(const Picture &picture, int channels, const BgsubParams &p) {
    const Size size{picture.width() / channels, picture.height()};
    Picture result(size);
    cv::Mat mask(size.height, size.width, CV_8U, result.row(0));
    mog_->apply(
        cv::Mat(size.height, size.width, CV_8UC(channels), const_cast<std::uint8_t *>(picture.row(0))), mask,
        p.learning_rate);
    return result;
  }
  Picture background(Size bytes) const {
    cv::Mat background;
    mog_->getBackgroundImage(background);
    Picture result(bytes);
    std::copy_n(background.data, result.pixels().size(), result.row(0));
    return result;
  }

 private:
  cv::Ptr<cv::BackgroundSubtractorMOG2> mog_;
};

// --- the peer and the definition ---

TEST_P(Bgsub, masks_and_backgrounds_equal_opencv_for_all_parameters) {
  const Size size = kEmulated ? Size{37, 14} : Size{97, 61};
  for (const int channels : {1, 3})
    for (const Case &c : cases()) {
      SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(channels) + " channels");
      const Scene scene = busy_scene(size, channels, kEmulated ? 24 : 60, 7);
      SubtractorRunner ours(execution(), size, channels, c.mixtures);
      OpenCv peer(c.params, c.mixtures);
      for (std::size_t i = 0; i < scene.pictures.size(); ++i) {
        ASSERT_TRUE(
            same(ours.mask(scene.pictures[i], c.params), peer.mask(scene.pictures[i], channels, c.params)))
            << "frame " << i;
        if (i % 7 == 0) {
          ASSERT_TRUE(same(ours.background(c.params), peer.background(scene.pictures[i].size())))
              << "frame " << i;
        }
      }
    }
}

TEST_P(Bgsub, masks_and_backgrounds_equal_the_definition_for_every_size_and_placement) {
  std::vector<Size> sizes{{1, 1}, {1, 9}, {2, 3}, {7, 2}, {16, 3}, {33, 5}};
  if (!kEmulated) sizes.insert(sizes.end(), {{31, 8}, {32, 9}, {63, 17}, {64, 4}, {65, 33}, {129, 7}});
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const int channels : {1, 3})
      for (const Placement &placement : kPlacements) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << channels
                                        << " channels, " << placement << ", seed " << seed);
        const Scene scene = busy_scene(size, channels, 16, seed++);
        const BgsubParams params{.history = 40, .complexity_reduction = seed % 2 == 0 ? 0.05 : 0.3};
        SubtractorRunner ours(execution(), size, channels, 4,
                              channels == 1 ? 1 : 3 + static_cast<int>(seed / 2 % 2), placement);
        DefinedBackground defined(size, channels, 4);
        for (const Picture &picture : scene.pictures)
          ASSERT_TRUE(same(ours.mask(picture, params), defined.learn(picture, {}, params)));
        ASSERT_TRUE(same(ours.background(params), defined.background(params)));
      }
}

TEST_P(Bgsub, what_is_kept_is_classified_and_not_learnt) {
  const Size size{41, 13};
  for (const int channels : {1, 3}) {
    const Scene scene = busy_scene(size, channels, 30, 3);
    SubtractorRunner ours(execution(), size, channels);
    DefinedBackground defined(size, channels, 5);
    for (std::size_t i = 0; i < scene.pictures.size(); ++i) {
      const BgsubParams params{.learning_rate = i % 4 == 0 ? -1 : 0.1};
      // Some pixels are kept in every frame, others in some frames, and the rest in none.
      Picture kept(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          kept.at(x, y) = x < 5 ? 255 : x % 7 == 3 && i % 3 != 0 ? static_cast<std::uint8_t>(1 + y) : 0;
      const Picture mask = ours.mask(scene.pictures[i], params, kept);
      ASSERT_TRUE(same(mask, defined.learn(scene.pictures[i], kept, params))) << "frame " << i;
      for (int y = 0; y < size.height; ++y) ASSERT_EQ(mask.at(2, y), 0) << "a model came into being";
    }
    ASSERT_TRUE(same(ours.background(), defined.background({})));
  }
}

// Parameters may differ from frame to frame, and the rate may change from automatic to a fixed one and back.
TEST_P(Bgsub, parameters_that_change_equal_opencv) {
  const Size size{45, 11};
  const Scene scene = busy_scene(size, 3, 40, 9);
  SubtractorRunner ours(execution(), size, 3);
  const BgsubParams fixed{};
  OpenCv peer(fixed, 5);
  for (std::size_t i = 0; i < scene.pictures.size(); ++i) {
    BgsubParams params;
    params.learning_rate = i % 10 < 4 ? -1 : i == 25 ? 1 : static_cast<double>(i % 3) / 20;
    ASSERT_TRUE(same(ours.mask(scene.pictures[i], params), peer.mask(scene.pictures[i], 3, params)))
        << "frame " << i;
  }
}

TEST_P(Bgsub, frames_of_a_real_video_equal_opencv) {
  const Size size = kEmulated ? Size{96, 64} : Size{768, 576};
  SubtractorRunner ours(execution(), size, 1);
  OpenCv peer({}, 5);
  for (int i = 0; i < (kEmulated ? 4 : 12); ++i) {
    const Photo &photo = gray_photo("vtest.avi", 3 * i);
    if (!photo.ok()) GTEST_SKIP() << photo.why_not;
    const Picture picture =
        photo.pixels.crop({kEmulated ? 300 : 0, kEmulated ? 200 : 0, size.width, size.height});
    ASSERT_TRUE(same(ours.mask(picture), peer.mask(picture, 1, {}))) << "frame " << i;
    ASSERT_TRUE(same(ours.background(), peer.background(size))) << "frame " << i;
  }
}

// --- cases that can be computed by hand ---

TEST_P(Bgsub, the_first_frame_is_shadow_and_black_is_foreground) {
  SubtractorRunner ours(execution(), {5, 1}, 1);
  Picture picture({5, 1});
  for (int x = 0; x < 5; ++x) picture.at(x, 0) = static_cast<std::uint8_t>(x * 60);
  EXPECT_TRUE(ours.subtractor().is_empty());
  EXPECT_EQ(ours.mask(picture).pixels(), (std::vector<std::uint8_t>{255, 127, 127, 127, 127}));
  EXPECT_FALSE(ours.subtractor().is_empty());
  EXPECT_EQ(ours.background(), picture);
  EXPECT_EQ(ours.mask(picture).pixels(), (std::vector<std::uint8_t>(5, 0)));
  ours.subtractor().restart();
  EXPECT_EQ(ours.background().pixels(), (std::vector<std::uint8_t>(5, 0)));
  EXPECT_EQ(ours.mask(picture, {.detect_shadows = false}).pixels(), (std::vector<std::uint8_t>(5, 255)));
}

// After 200 equal frames the variance is var_min, 4: the mask is set from a distance of 4 sigma, which is 8, on.
TEST_P(Bgsub, a_still_pixel_is_background_up_to_four_sigma) {
  const BgsubParams params{.learning_rate = 0.1, .detect_shadows = false};
  SubtractorRunner ours(execution(), {20, 1}, 1);
  for (int i = 0; i < 200; ++i) (void)ours.mask(constant({20, 1}, 100), params);
  Picture picture({20, 1});
  for (int x = 0; x < 20; ++x) picture.at(x, 0) = static_cast<std::uint8_t>(100 + x);
  const Picture mask = ours.mask(picture, {.learning_rate = 0, .detect_shadows = false});
  for (int x = 0; x < 20; ++x) EXPECT_EQ(mask.at(x, 0), x < 8 ? 0 : 255) << x;
}

// A change of the scene weighs 1 - (1 - rate)^n after n frames, and counts as background when the old scene weighs less
// than background_ratio, 0.9: after 2 frames at a rate of 0.06, as 0.94^2 = 0.88.
TEST_P(Bgsub, a_change_becomes_background_after_the_time_that_the_rate_gives) {
  const BgsubParams params{.learning_rate = 0.06, .complexity_reduction = 0, .detect_shadows = false};
  SubtractorRunner ours(execution(), {1, 1}, 1);
  for (int i = 0; i < 50; ++i) (void)ours.mask(constant({1, 1}, 20), params);
  std::vector<std::uint8_t> masks;
  for (int i = 0; i < 4; ++i) masks.push_back(ours.mask(constant({1, 1}, 220), params).at(0, 0));
  EXPECT_EQ(masks, (std::vector<std::uint8_t>{255, 0, 0, 0}));
}

TEST_P(Bgsub, a_dimmed_background_is_a_shadow_up_to_the_threshold) {
  SubtractorRunner ours(execution(), {4, 1}, 3);
  Picture still({12, 1}), dimmed({12, 1});
  for (int x = 0; x < 4; ++x)
    for (int c = 0; c < 3; ++c) {
      still.at(3 * x + c, 0) = static_cast<std::uint8_t>(200 - 40 * c);
      const double part[] = {0.8, 0.55, 0.45, c == 0 ? 0.4 : 0.9};  // the last pixel has another hue
      dimmed.at(3 * x + c, 0) = static_cast<std::uint8_t>(still.at(3 * x + c, 0) * part[x]);
    }
  for (int i = 0; i < 30; ++i) (void)ours.mask(still);
  EXPECT_EQ(ours.mask(dimmed).pixels(), (std::vector<std::uint8_t>{127, 127, 255, 255}));
}

// --- limits and errors ---

// A model that resumes from the state of another one gives the same masks from then on, also on another backend.
TEST_P(Bgsub, a_model_goes_on_from_the_state_of_another) {
  const Size size{41, 23};
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  for (const int channels : {1, 3}) {
    SubtractorRunner first(execution(), size, channels, 4), here(execution(), size, channels, 4),
        there(one_thread.execution(), size, channels, 4);
    const auto picture = [&](unsigned i) {
      Picture p = noise({size.width * channels, size.height}, i);
      for (int y = 0; y < p.height(); ++y)
        for (int x = 0; x < p.width(); ++x)
          p.at(x, y) = static_cast<std::uint8_t>(100 + p.at(x, y) / (x % 2 == 0 ? 16 : 3));
      return p;
    };
    for (unsigned i = 0; i < 9; ++i) first.mask(picture(i));
    cudavision::BgsubState state;
    ASSERT_TRUE(succeeds(first.subtractor().fetch(&state)));
    finish(execution());
    EXPECT_EQ(state.frames, 9);
    ASSERT_TRUE(succeeds(here.subtractor().resume(state)));
    ASSERT_TRUE(succeeds(there.subtractor().resume(state)));
    EXPECT_FALSE(here.subtractor().is_empty());
    for (unsigned i = 9; i < 15; ++i) {
      const Picture expected = first.mask(picture(i));
      EXPECT_TRUE(same(here.mask(picture(i)), expected)) << i;
      EXPECT_TRUE(same(there.mask(picture(i)), expected)) << i;
    }
    EXPECT_TRUE(same(here.background(), first.background()));
    cudavision::BgsubState wrong = state;
    wrong.counts[3] = 5;
    EXPECT_TRUE(refused(here.subtractor().resume(wrong)));
    wrong = state, wrong.modes.pop_back();
    EXPECT_TRUE(refused(here.subtractor().resume(wrong)));
    wrong = state, wrong.frames = 0;
    EXPECT_TRUE(refused(here.subtractor().resume(wrong)));
  }
}

TEST_P(Bgsub, refuses_what_it_cannot_do) {
  SubtractorRunner ours(execution(), {6, 4}, 1);
  BackgroundSubtractor &subtractor = ours.subtractor();
  BgsubPixels<std::uint8_t> wrong = ours.view();
  wrong.width = 5;
  EXPECT_TRUE(refused(subtractor.run(wrong, {}, {}, ours.mask_view())));
  wrong = ours.view();
  wrong.channels = 3;
  EXPECT_TRUE(refused(subtractor.run(wrong, {}, {}, ours.mask_view())));
  EXPECT_TRUE(refused(subtractor.run(ours.view(), {}, {}, ours.mask_view().crop({0, 0, 5, 4}))));
  EXPECT_TRUE(
      refused(subtractor.run(ours.view(), ours.kept_view().crop({0, 0, 6, 3}), {}, ours.mask_view())));
  EXPECT_TRUE(refused(subtractor.run(ours.view(), {}, {.history = 0}, ours.mask_view())));
  EXPECT_TRUE(refused(subtractor.background({.background_ratio = 2}, ours.view())));
  EXPECT_TRUE(refused(subtractor.background({}, wrong)));
  std::unique_ptr<BackgroundSubtractor> made;
  EXPECT_TRUE(refused(make_bgsub(execution(), {0, 4}, 1, 5, &made)));
  EXPECT_TRUE(refused(make_bgsub(execution(), {4, 16385}, 1, 5, &made)));
  EXPECT_TRUE(refused(make_bgsub(execution(), {4, 4}, 2, 5, &made)));
  EXPECT_TRUE(refused(make_bgsub(execution(), {4, 4}, 1, 0, &made)));
  EXPECT_TRUE(refused(make_bgsub(execution(), {4, 4}, 1, 9, &made)));
}

TEST(BgsubParams, each_has_a_range) {
  EXPECT_TRUE(succeeds(validate(BgsubParams{})));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const BgsubParams &params :
       {BgsubParams{.history = 0}, BgsubParams{.learning_rate = nan}, BgsubParams{.learning_rate = 1.1},
        BgsubParams{.var_threshold = -1}, BgsubParams{.var_threshold_gen = nan},
        BgsubParams{.background_ratio = 1.5}, BgsubParams{.var_init = 0}, BgsubParams{.var_min = 0},
        BgsubParams{.var_max = 1e9}, BgsubParams{.complexity_reduction = -0.1},
        BgsubParams{.shadow_value = 256}, BgsubParams{.shadow_threshold = 2}})
    EXPECT_TRUE(refused(validate(params)));
}

TEST(BgsubPictures, have_the_channels_in_the_order_of_the_frame) {
  for (const PixelFormat &format : pixel_formats()) {
    if (format.layout.model != cudavision::ColorModel::rgb) continue;
    const HostFrame pixels(format, {9, 5}, 1);
    const ExecutionOwner owner({.name = "cpu", .backend = cudavision::Backend::cpu});
    const TestFrame frame(owner.execution(), pixels, kOddPitch);
    const BgsubPicture picture = bgsub_picture(frame.frame(), {2, 1, 4, 3});
    EXPECT_EQ(picture.size(), (Size{4, 3}));
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x)
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(picture.data[y * picture.pitch_bytes + x * picture.step_bytes + c],
                    pixels.planes[0].at((x + 2) * format.plane[0].group_bytes + c, y + 1))
              << format;
  }
}

TEST_P(Bgsub, two_instances_at_once_do_not_meet) {
  const Size size{34, 9};
  const Scene one = busy_scene(size, 1, 12, 1), other = busy_scene(size, 1, 12, 2);
  SubtractorRunner a(execution(), size, 1), b(execution(), size, 1);
  DefinedBackground defined_a(size, 1, 5), defined_b(size, 1, 5);
  for (std::size_t i = 0; i < one.pictures.size(); ++i) {
    ASSERT_TRUE(same(a.mask(one.pictures[i]), defined_a.learn(one.pictures[i], {}, {})));
    ASSERT_TRUE(same(b.mask(other.pictures[i]), defined_b.learn(other.pictures[i], {}, {})));
  }
}

TEST_P(Bgsub, a_frame_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  SubtractorRunner ours(execution(), {64, 40}, 1);
  (void)ours.mask(noise({64, 40}, 1));
  const Budget budget;
  EXPECT_TRUE(succeeds(ours.subtractor().run(ours.view(), {}, {}, ours.mask_view(), Input::complete)));
  budget.expect_launches_alone(1);
}

// Frames that are enqueued without waiting, each cleaned and searched for components, give the results of frames alone.
TEST_P(Bgsub, what_moves_in_frames_in_flight_equals_frames_alone) {
  const Size size = kEmulated ? Size{90, 70} : Size{640, 360};
  constexpr int kFrames = 8, kListed = 16;
  struct Listed {
    cudavision::ComponentCount count;
    cudavision::ConnectedComponent components[kListed];
  };
  std::vector<std::unique_ptr<TestImage<std::uint8_t>>> pictures;
  for (int i = 0; i < kFrames; ++i) {
    Picture picture = smooth_noise(size, 3, 1);
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 24; ++x)
        picture.at(8 * i + x, 6 * i + y) = static_cast<std::uint8_t>(i % 2 == 0 ? 0 : 255);
    pictures.push_back(std::make_unique<TestImage<std::uint8_t>>(execution(), picture, kAligned));
  }
  cudavision::MorphologyParams opening;
  opening.count = 2;
  opening.steps[0] = {cudavision::MorphologyKind::open, 1},
  opening.steps[1] = {cudavision::MorphologyKind::close, 2};
  const auto run = [&](bool alone, int scale) {
    const Size reduced_size = cudavision::reduced_size(size, scale);
    std::unique_ptr<BackgroundSubtractor> subtractor;
    std::unique_ptr<cudavision::MaskCleaner> cleaner;
    std::unique_ptr<cudavision::Components> components;
    EXPECT_TRUE(succeeds(make_bgsub(execution(), reduced_size, 1, 5, &subtractor)));
    EXPECT_TRUE(succeeds(make_mask_cleaner(execution(), size, &cleaner)));
    EXPECT_TRUE(succeeds(make_components(execution(), size, &components)));
    const TestImage<std::uint8_t> reduced(execution(), reduced_size, kAligned),
        reduced_mask(execution(), reduced_size, kAligned);
    const auto pixels = [](const TestImage<std::uint8_t> &image) {
      const cudavision::ImageView<std::uint8_t> view = image.view();
      return BgsubPixels<std::uint8_t>{view.data, view.pitch_bytes, 1, 1, view.width, view.height};
    };
    const TestImage<std::uint8_t> mask(execution(), size,
                                       kAligned);  // the same for all frames, as in cudabgsub
    std::vector<std::unique_ptr<TestImage<std::uint8_t>>> cleaned;
    std::vector<std::unique_ptr<Memory>> lists;
    for (int i = 0; i < kFrames; ++i) {
      cleaned.push_back(std::make_unique<TestImage<std::uint8_t>>(execution(), size, kAligned));
      lists.push_back(std::make_unique<Memory>(execution(), sizeof(Listed)));
      lists.back()->write(std::vector<std::uint8_t>(sizeof(Listed)));
    }
    const auto step = [&](const cudavision::Status &status) {
      EXPECT_TRUE(succeeds(status));
      if (alone) finish(execution());
    };
    for (std::size_t i = 0; i < kFrames; ++i) {
      const BgsubPicture picture = bgsub_picture(pictures[i]->view());
      if (scale == 1) {
        step(subtractor->run(picture, {}, {.history = 4, .detect_shadows = false}, mask.view(),
                             Input::complete));
      } else {
        step(reduce_picture(execution(), picture, scale, pixels(reduced), Input::complete));
        step(subtractor->run(pixels(reduced), {}, {.history = 4, .detect_shadows = false},
                             reduced_mask.view()));
        step(enlarge_picture(execution(), pixels(reduced_mask), scale, pixels(mask)));
      }
      step(cleaner->run(mask.view(), opening, cleaned[i]->view()));
      auto *list = reinterpret_cast<Listed *>(lists[i]->data());
      step(components->run(cleaned[i]->view(), {}, {&list->count, list->components, kListed}));
    }
    std::vector<std::pair<Picture, std::vector<cudavision::ConnectedComponent>>> results;
    for (std::size_t i = 0; i < kFrames; ++i) {
      Listed list;
      std::memcpy(&list, lists[i]->read().data(), sizeof list);
      std::vector<cudavision::ConnectedComponent> found(list.components, list.components + list.count.listed);
      results.emplace_back(cleaned[i]->download(), std::move(found));
    }
    return results;
  };
  for (const int scale : {1, 2}) {
    const auto alone = run(true, scale);
    EXPECT_FALSE(alone[4].second.empty()) << "nothing moves";
    for (int round = 0; round < (kEmulated ? 1 : 5); ++round)
      EXPECT_TRUE(run(false, scale) == alone) << "round " << round;
  }
}

TEST(BgsubSimd, every_instruction_set_gives_the_same_bytes) {
  const ExecutionOwner owner({.name = "cpu", .backend = cudavision::Backend::cpu, .threads = 2});
  const Size size{83, 21};
  for (const int channels : {1, 3}) {
    const Scene scene = busy_scene(size, channels, 24, 5);
    on_every_instruction_set([&] {
      const BgsubParams params{.learning_rate = 0.1, .complexity_reduction = 0.4};
      SubtractorRunner ours(owner.execution(), size, channels);
      DefinedBackground defined(size, channels, 5);
      for (const Picture &picture : scene.pictures)
        ASSERT_TRUE(same(ours.mask(picture, params), defined.learn(picture, {}, params)));
    });
  }
}

}  // namespace
