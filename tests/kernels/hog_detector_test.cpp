// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of HOG's detector on every backend: its hits and boxes are compared with
// cv::HOGDescriptor::detectMultiScale, its scores with the definition, and its limits are checked.
#include <functional>
#include <limits>

#include <opencv2/imgproc.hpp>

#include "cuda/hog/hit_groups_cpu.h"
#include "cuda/hog/hog_detector_plan.h"
#include "cuda/hog/hog_detector_rules.h"
#include "tests/kernels/hog_definition.h"
#include "tests/support/budget.h"
#include "tests/support/frames_in_flight.h"
#include "tests/support/instruction_sets.h"

namespace {

using namespace cudavision::test;
using cudavision::Execution;
using cudavision::HogBox;
using cudavision::HogBoxCount;
using cudavision::HogGrouping;
using cudavision::HogModel;
using cudavision::HogParams;
using cudavision::HogSearch;
using cudavision::HogThresholds;
using cudavision::Places;
using cudavision::Region;
using cudavision::Size;

// A score is the sum of about a thousand products of numbers of at most 1, whose errors mostly cancel.
constexpr double kScoreTolerance = 1e-4;

class HogDetector : public BackendTest {
 protected:
  struct Found {
    std::vector<HogBox> boxes;
    int hits = 0;
  };
  Found detect(const HogImage &image, const HogModel &model, const HogSearch &search,
               const HogThresholds &thresholds, const Placement &placement = kTight) const {
    return detect_by(execution(), image, model, search, thresholds, placement);
  }
  static Found detect_by(const Execution &execution, const HogImage &image, const HogModel &model,
                         const HogSearch &search, const HogThresholds &thresholds,
                         const Placement &placement = kTight) {
    const HogTestPicture picture(execution, image, placement);
    TestImage<HogBox> boxes(execution, Size{cudavision::kMaxHogHits, 1}, kTight);
    TestImage<HogBoxCount> count(execution, Size{1, 1}, kTight);
    std::unique_ptr<cudavision::HogDetector> detector;
    EXPECT_TRUE(
        succeeds(make_hog_detector(execution, image.size(), image.channels, model, search, &detector)));
    if (!detector) return {};
    EXPECT_TRUE(
        succeeds(detector->run(picture.picture(), thresholds, {boxes.view().data, count.view().data})));
    finish(execution);
    const HogBoxCount counted = count.download().pixels()[0];
    Found found{boxes.download().pixels(), counted.hits};
    found.boxes.resize(static_cast<std::size_t>(counted.listed));
    picture.expect_guards();
    return found;
  }
  static void expect_same(const Found &seen, const Found &expected) {
    EXPECT_FALSE(seen.boxes.empty());
    EXPECT_EQ(seen.hits, expected.hits);
    ASSERT_EQ(seen.boxes.size(), expected.boxes.size());
    for (std::size_t i = 0; i < seen.boxes.size(); ++i) {
      const HogBox &a = seen.boxes[i], &b = expected.boxes[i];
      EXPECT_TRUE(a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height) << i;
      EXPECT_EQ(a.score, b.score) << i;
    }
  }
};
CUDAVISION_TEST_ON_EVERY_BACKEND(HogDetector);

HogModel people() {
  HogModel model;
  model.weights = cv::HOGDescriptor::getDefaultPeopleDetector();
  model.bias = model.weights.back();
  model.weights.pop_back();
  return model;
}

// A model with small windows, whose scores are near 0 in noise.
HogModel small_model(unsigned seed, Size window = {16, 24}, Size cell = {4, 4}) {
  HogModel model;
  model.params.cell = cell, model.params.block = {8, 8}, model.params.stride = {4, 4};
  model.window = window;
  std::size_t count = 0;
  EXPECT_TRUE(succeeds(hog_weight_count(model.params, window, &count)));
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i)
    model.weights.push_back(static_cast<float>(random.byte() - 127.5) / 500);
  model.bias = 0.125f;
  return model;
}

// --- OpenCV ---

struct OpenCvFound {
  std::vector<cv::Rect> boxes;
  std::vector<double> scores;
};
OpenCvFound opencv_detect(const HogImage &image, const HogModel &model, const HogSearch &search,
                          const HogThresholds &thresholds) {
  cv::HOGDescriptor hog = opencv_hog(model.params, model.window);
  std::vector<float> weights = model.weights;
  weights.push_back(model.bias);
  hog.setSVMDetector(weights);
  OpenCvFound found;
  const int threads = cv::getNumThreads();
  cv::setNumThreads(1);  // with more threads the order of the scales is not defined
  hog.detectMultiScale(bgr_mat(image), found.boxes, found.scores, thresholds.hit,
                       {search.win_stride, search.win_stride}, {}, search.scale_step, thresholds.group,
                       false);
  cv::setNumThreads(threads);
  return found;
}

testing::AssertionResult same_boxes(const std::vector<HogBox> &boxes, const OpenCvFound &expected) {
  if (boxes.size() != expected.boxes.size())
    return testing::AssertionFailure() << boxes.size() << " boxes instead of " << expected.boxes.size();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const HogBox &box = boxes[i];
    if (cv::Rect(box.x, box.y, box.width, box.height) != expected.boxes[i] ||
        !(std::abs(box.score - expected.scores[i]) <= kScoreTolerance))
      return testing::AssertionFailure()
             << "box " << i << ": " << box.x << ", " << box.y << ", " << box.width << ", " << box.height
             << " " << box.score << " instead of " << expected.boxes[i] << " " << expected.scores[i];
  }
  return testing::AssertionSuccess();
}

// The smallest threshold, from `wanted` on in small steps, that is so far from all scores that rounding
// errors change no hit.
double clear_threshold(const HogImage &image, const HogModel &model, const HogSearch &search, double wanted) {
  const OpenCvFound all = opencv_detect(image, model, search, {-100, 0});
  const auto near = [&](double t) {
    return std::any_of(all.scores.begin(), all.scores.end(),
                       [t](double s) { return std::abs(s - t) < kScoreTolerance; });
  };
  while (near(wanted)) wanted += 2 * kScoreTolerance;
  return wanted;
}

void expect_opencv(const std::function<std::vector<HogBox>(const HogThresholds &)> &detect,
                   const HogImage &image, const HogModel &model, const HogSearch &search, double threshold,
                   std::size_t least) {
  const double hit = clear_threshold(image, model, search, threshold);
  for (const int group : {0, 1, 2}) {
    const OpenCvFound expected = opencv_detect(image, model, search, {hit, group});
    if (group == 0) {
      EXPECT_GE(expected.boxes.size(), least) << "the test finds too few boxes";
    }
    ASSERT_TRUE(same_boxes(detect({hit, group}), expected)) << "group " << group << " threshold " << hit;
  }
}

TEST_P(HogDetector, every_hit_and_box_is_that_of_opencv) {
  unsigned seed = 0;
  for (const int win_stride : {4, 8, 2, 6})
    for (const double step : {1.05, 1.3, 1.0})
      for (const int channels : {1, 3}) {
        ++seed;
        const Size size = kEmulated ? Size{43, 38} : Size{99, 71};
        SCOPED_TRACE(testing::Message()
                     << "stride " << win_stride << " step " << step << " channels " << channels);
        HogSearch search;
        search.scale_step = step, search.win_stride = win_stride;
        const HogImage image{smooth_noise({size.width * channels, size.height}, 2, seed), channels};
        const HogModel model = small_model(seed);
        expect_opencv(
            [&](const HogThresholds &t) {
              return detect(image, model, search, t, kPlacements[seed % 5]).boxes;
            },
            image, model, search, !kEmulated && win_stride < 8 ? 0.3 : -0.4, 1);
      }
}

TEST_P(HogDetector, people_of_a_video_are_those_of_opencv) {
  for (const int frame : {0, 100})
    for (const int channels : {3, 1}) {
      if (kSlow && (frame == 0 || channels == 1)) continue;
      const Photo &photo = channels == 1 ? gray_photo("vtest.avi", frame) : rgb_photo("vtest.avi", frame);
      if (!photo.ok()) GTEST_SKIP() << photo.why_not;
      SCOPED_TRACE(testing::Message() << "frame " << frame << " channels " << channels);
      HogImage image{photo.pixels, channels};
      if (kSlow) image = image.part({310, 140, 112, 172});
      for (const bool gamma : {true, false}) {
        if (!gamma && frame != 0) continue;
        HogModel model = people();
        model.params.gamma = gamma;
        expect_opencv([&](const HogThresholds &t) { return detect(image, model, {}, t).boxes; }, image, model,
                      {}, kSlow ? -4 : 0, kSlow ? 1 : 20);
      }
    }
}

// The definition of a scaled picture in plain loops: each pixel is interpolated between the four around its place in
// the picture, or along the border between the two there, with weights of 1/256.
HogImage resized(const HogImage &image, Size size) {
  struct Tap {
    int first, next, weight;
  };
  const auto tap = [](int i, int from, int to) -> Tap {
    const double at = (i + 0.5) * from / to - 0.5;
    if (at < 0) return {0, 0, 0};
    if (at >= from - 1) return {from - 1, from - 1, 0};
    const int first = static_cast<int>(at);
    return {first, first + 1, cvRound((at - first) * 256)};
  };
  HogImage result = noise_image(size, image.channels, 1);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < image.channels; ++c) {
        const Tap h = tap(x, image.width(), size.width), v = tap(y, image.height(), size.height);
        const auto along = [&](int row) {
          return image.at(h.first, row, c) * (256 - h.weight) + image.at(h.next, row, c) * h.weight;
        };
        result.bytes.at(x * image.channels + c, y) = static_cast<std::uint8_t>(
            (along(v.first) * (256 - v.weight) + along(v.next) * v.weight + 32768) >> 16);
      }
  return result;
}

TEST(HogResize, pictures_of_the_definition_are_those_of_opencv) {
  for (const Size size : {Size{148, 132}, {56, 50}, {41, 37}, {37, 33}, {20, 11}}) {
    const HogImage image = noise_image({37, 33}, 3, 9);
    cv::Mat expected;
    cv::resize(bgr_mat(image), expected, {size.width, size.height}, 0, 0, cv::INTER_LINEAR_EXACT);
    EXPECT_EQ(cv::norm(bgr_mat(resized(image, size)), expected, cv::NORM_INF), 0) << size.width;
  }
}

// OpenCV does not enlarge pictures itself. Each scale is compared with what it finds in a picture that was enlarged to
// the size of this scale before: without grouping, all windows.
TEST_P(HogDetector, hits_in_enlarged_pictures_are_those_of_opencv_in_such_pictures) {
  const Size size = kEmulated ? Size{31, 26} : Size{53, 41};
  for (const double least : {0.25, 2.0 / 3, 0.9})
    for (const int channels : {1, 3}) {
      const HogImage image{smooth_noise({size.width * channels, size.height}, 2, 5), channels};
      const HogModel model = small_model(5);
      HogSearch search, one_scale;
      search.min_scale = least, search.scale_step = 1.4, search.win_stride = one_scale.win_stride = 4;
      one_scale.scale_step = 1;
      const Found found = detect(image, model, search, {-1000, 0});
      std::size_t at = 0;
      for (double scale = least;; scale *= 1.4) {
        const Size of_scale{cvRound(size.width / scale), cvRound(size.height / scale)};
        if (of_scale.width < model.window.width || of_scale.height < model.window.height) break;
        const OpenCvFound expected = opencv_detect(resized(image, of_scale), model, one_scale, {-1000, 0});
        for (std::size_t i = 0; i < expected.boxes.size(); ++i, ++at) {
          ASSERT_LT(at, found.boxes.size());
          const HogBox &box = found.boxes[at];
          const cv::Rect &window = expected.boxes[i];
          const int x = std::min(cvRound(window.x * scale), size.width - 1),
                    y = std::min(cvRound(window.y * scale), size.height - 1);
          ASSERT_EQ(box.x, x) << "scale " << scale;
          ASSERT_EQ(box.y, y) << "scale " << scale;
          ASSERT_EQ(box.width, std::min(cvRound(model.window.width * scale), size.width - x));
          ASSERT_EQ(box.height, std::min(cvRound(model.window.height * scale), size.height - y));
          ASSERT_NEAR(box.score, expected.scores[i], kScoreTolerance);
        }
      }
      EXPECT_EQ(at, found.boxes.size());
      EXPECT_GE(at, 10u);
    }
}

TEST_P(HogDetector, enlarged_pictures_have_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  for (const int channels : {1, 3}) {
    HogSearch search;
    search.min_scale = 0.6, search.win_stride = 4;
    const HogImage image = noise_image(kEmulated ? Size{43, 38} : Size{101, 75}, channels, 12);
    const auto expected = detect_by(one_thread.execution(), image, small_model(8), search, {-0.25, 2});
    EXPECT_GT(expected.hits, 10);
    expect_same(detect(image, small_model(8), search, {-0.25, 2}), expected);
    if (GetParam().backend == cudavision::Backend::cpu)
      on_every_instruction_set([&] {
        expect_same(detect(image, small_model(8), search, {-0.25, 2}), expected);
      });
  }
}

// Of a frame of 16384 pixels, no scale below 1 is searched: the enlarged picture would be too large.
TEST(HogSearch, no_picture_is_enlarged_beyond_the_largest_frame) {
  HogSearch search;
  search.min_scale = 0.5, search.scale_step = 2;
  EXPECT_EQ(hog_window_count({16384, 16}, small_model(1, {16, 16}), search),
            hog_window_count({16384, 16}, small_model(1, {16, 16}), {.scale_step = 2}));
  EXPECT_GT(hog_window_count({8192, 16}, small_model(1, {16, 16}), search),
            hog_window_count({8192, 16}, small_model(1, {16, 16}), {.scale_step = 2}));
}

// The part of a window, or of the mean of windows, after the grouping.
TEST_P(HogDetector, boxes_are_cut_to_the_part_of_the_window_that_the_object_fills) {
  const HogImage image = noise_image({101, 75}, 1, 12);
  HogSearch search;
  search.win_stride = 4;
  for (HogThresholds thresholds :
       {HogThresholds{-0.25, 0}, HogThresholds{-0.25, 2}, HogThresholds{-0.25, 0, HogGrouping::best}}) {
    thresholds.object = {0.25, 0.125, 0.5, 0.75};
    const Found windows = detect(image, small_model(8), search, thresholds);
    thresholds.whole_windows = false;
    const Found objects = detect(image, small_model(8), search, thresholds);
    ASSERT_EQ(windows.boxes.size(), objects.boxes.size());
    EXPECT_FALSE(windows.boxes.empty());
    for (std::size_t i = 0; i < windows.boxes.size(); ++i) {
      const HogBox &w = windows.boxes[i], &o = objects.boxes[i];
      if (w.x + w.width == 101 || w.y + w.height == 75) continue;  // the picture may have cut the window
      EXPECT_EQ(o.x, w.x + cvRound(0.25 * w.width));
      EXPECT_EQ(o.x + o.width, w.x + cvRound(0.75 * w.width));
      EXPECT_EQ(o.y, w.y + cvRound(0.125 * w.height));
      EXPECT_EQ(o.y + o.height, w.y + cvRound(0.875 * w.height));
      EXPECT_EQ(o.score, w.score);
    }
  }
}

TEST(HogRules, of_every_window_a_pixel_is_left) {
  using cudavision::hog::cut_box;
  const Size picture{20, 10};
  EXPECT_EQ(cut_box({0.9, 0.9, 0.1, 0.1}, picture, {15, 5, 10, 10, 1}), (HogBox{19, 9, 1, 1, 1}));
  EXPECT_EQ(cut_box({0, 0, 0.01, 0.01}, picture, {3, 4, 10, 6, 1}), (HogBox{3, 4, 1, 1, 1}));
  EXPECT_EQ(cut_box({}, picture, {-2, -3, 10, 20, 1}), (HogBox{0, 0, 8, 10, 1}));
}

// --- the definition ---

void expect_definition(const std::vector<HogBox> &found, const HogImage &image, const HogModel &model,
                       double scale) {
  const HogImage at_scale = resized(image, {cvRound(37 / scale), cvRound(33 / scale)});
  const std::vector<double> blocks = hog_definition(at_scale, model.params);
  const int cols = (at_scale.width() - 8) / 4 + 1, length = 36;
  std::size_t at = 0;
  for (int y = 0; y + 24 <= at_scale.height(); y += 4)
    for (int x = 0; x + 16 <= at_scale.width(); x += 4, ++at) {
      double score = model.bias;
      const float *weight = model.weights.data();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j)
          for (int k = 0; k < length; ++k)
            score +=
                *weight++ * blocks[static_cast<std::size_t>(((y / 4 + j) * cols + x / 4 + i) * length + k)];
      ASSERT_LT(at, found.size());
      const HogBox &box = found[at];
      EXPECT_EQ(box.x, cvRound(x * scale));
      EXPECT_EQ(box.y, cvRound(y * scale));
      EXPECT_NEAR(box.score, score, kScoreTolerance);
    }
  EXPECT_EQ(found.size(), at);
}

TEST_P(HogDetector, scores_of_one_scale_equal_the_definition) {
  HogModel model = small_model(7);
  HogSearch search;
  search.scale_step = 1, search.win_stride = 4;
  const HogImage image = noise_image({37, 33}, 3, 11);
  for (const auto variant : {cudavision::HogVariant::opencv, cudavision::HogVariant::ghog})
    for (const double scale : {1.0, 0.6}) {
      SCOPED_TRACE(scale);
      model.params.variant = variant, search.min_scale = scale;
      const Found found = detect(image, model, search, {-1000, 0});
      EXPECT_EQ(found.hits, static_cast<int>(found.boxes.size()));
      expect_definition(found.boxes, image, model, scale);
    }
}

TEST_P(HogDetector, no_score_exceeds_the_bound_and_every_window_is_counted) {
  using cudavision::HogNorm;
  const HogImage image = noise_image({45, 37}, 1, 17);
  HogSearch search;
  search.win_stride = 4, search.scale_step = 1.2;
  for (const auto variant : {cudavision::HogVariant::opencv, cudavision::HogVariant::ghog})
    for (const HogNorm norm :
         {HogNorm::variant, HogNorm::l2_hys, HogNorm::l2, HogNorm::l1_sqrt, HogNorm::l1}) {
      HogModel model = small_model(18);
      model.params.variant = variant, model.params.norm = norm;
      for (const bool equal_weights : {false, true}) {
        if (equal_weights) std::fill(model.weights.begin(), model.weights.end(), 0.5f);
        const double bound = hog_score_bound(model);
        const Found found = detect(image, model, search, {-1000, 0});
        EXPECT_EQ(found.hits, hog_window_count(image.size(), model, search));
        float best = -1000;
        for (const HogBox &box : found.boxes) best = std::max(best, box.score);
        EXPECT_LE(best, bound);
        if (equal_weights && norm != HogNorm::l1) {
          EXPECT_GT(best, 0.6 * bound) << "the bound is useful";
        }
      }
    }
}

TEST_P(HogDetector, long_descriptors_give_the_boxes_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  const HogModel model = small_model(9, {16, 24}, {2, 2});
  HogSearch search;
  search.win_stride = 4;
  const HogImage image = noise_image({83, 61}, 1, 13);
  const auto expected = detect_by(one_thread.execution(), image, model, search, {-0.25, 2});
  EXPECT_GT(expected.hits, 10);
  expect_same(detect(image, model, search, {-0.25, 2}), expected);
}

TEST_P(HogDetector, boxes_and_scores_have_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  for (const HogThresholds &thresholds :
       {HogThresholds{-0.25, 0}, HogThresholds{-0.25, 2}, HogThresholds{-0.25, 0, HogGrouping::best}}) {
    HogSearch search;
    search.win_stride = 4;
    const HogImage image = noise_image({101, 75}, 3, 12);
    const auto seen = detect(image, small_model(8), search, thresholds),
               expected = detect_by(one_thread.execution(), image, small_model(8), search, thresholds);
    EXPECT_GT(seen.hits, 10);
    expect_same(seen, expected);
    if (GetParam().backend == cudavision::Backend::cpu)
      on_every_instruction_set(
          [&] { expect_same(detect(image, small_model(8), search, thresholds), expected); });
  }
}

// The weights of a wide window do not fit into the shared memory of the CUDA backend. A high window has more rows of
// blocks than a thread block multiplies, and nine rows are more than a thread multiplies.
TEST_P(HogDetector, wide_and_high_windows_have_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  HogSearch search;
  search.scale_step = 1, search.win_stride = 4;
  for (const Size window :
       {Size{8 + 4 * 90, 8 + 4 * 8}, Size{16, 8 + 4 * 17}, Size{8 + 4 * 15, 8 + 4 * 16}}) {
    SCOPED_TRACE(testing::Message() << window.width << "x" << window.height);
    const HogImage image = noise_image({window.width + 21, window.height + 14}, 1, 19);
    const HogModel model = small_model(12, window);
    const auto expected = detect_by(one_thread.execution(), image, model, search, {-1000, 0});
    EXPECT_EQ(expected.hits, 6 * 4);
    expect_same(detect(image, model, search, {-1000, 0}), expected);
  }
}

// More scales than a warp has lanes, and many positions of the grid.
TEST_P(HogDetector, many_scales_and_positions_have_the_bits_of_the_cpu_backend) {
  const ExecutionOwner one_thread({"one_thread", cudavision::Backend::cpu});
  HogSearch search;
  search.win_stride = 4;
  search.scale_step = 1.02;
  const HogImage image = noise_image(kEmulated ? Size{96, 80} : Size{480, 360}, 1, 17);
  const auto expected = detect_by(one_thread.execution(), image, small_model(11), search, {0.3, 0});
  EXPECT_GT(expected.hits, 10);
  expect_same(detect(image, small_model(11), search, {0.3, 0}), expected);
}

// The order in which the threads take the rows of the scales depends on their number, which may change between frames.
TEST(HogDetectorThreads, of_any_number_find_the_same) {
  const HogImage image = noise_image({240, 180}, 3, 19);
  HogSearch search;
  search.win_stride = 4;
  cudavision::Workers workers(1);
  const Execution execution{cudavision::Backend::cpu, &workers, nullptr};
  std::unique_ptr<cudavision::HogDetector> detector;
  ASSERT_TRUE(succeeds(make_hog_detector(execution, image.size(), 3, small_model(12), search, &detector)));
  const HogTestPicture picture(execution, image);
  std::vector<HogBox> expected;
  for (const int threads : {1, 2, 16, 5, 40, 3}) {
    workers.set_thread_count(threads);
    for (int frame = 0; frame < 5; ++frame) {
      std::vector<HogBox> boxes(cudavision::kMaxHogHits);
      HogBoxCount count{};
      ASSERT_TRUE(succeeds(detector->run(picture.picture(), {0, 0}, {boxes.data(), &count})));
      boxes.resize(static_cast<std::size_t>(count.listed));
      if (expected.empty()) expected = boxes;  // of one thread
      EXPECT_GT(boxes.size(), 100u);
      EXPECT_TRUE(boxes == expected) << threads << " threads, frame " << frame;
    }
  }
}

// A box about 50 or 110 pixels wide, in so small an area that many such boxes overlap. Its score is 0.
HogBox box_of_two_sizes(Random *random) {
  const int width = 40 + random->below(30) + 60 * random->below(2);
  return {.x = random->below(90),
          .y = random->below(90),
          .width = width,
          .height = width * 2 + random->below(9),
          .score = 0};
}

TEST(HogGrouping, groups_are_those_of_opencv) {
  Random random(3);
  const cv::HOGDescriptor hog;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<HogBox> hits;
    std::vector<cv::Rect> boxes;
    std::vector<double> scores;
    for (int i = random.below(60); i >= 0; --i) {
      hits.push_back(box_of_two_sizes(&random));
      hits.back().score = static_cast<float>(random.byte()) / 64;
      boxes.emplace_back(hits.back().x, hits.back().y, hits.back().width, hits.back().height);
      scores.push_back(hits.back().score);
    }
    const int threshold = 1 + trial % 5;
    hog.groupRectangles(boxes, scores, threshold, 0.2);
    ASSERT_TRUE(same_boxes(cudavision::hog::group_hits(hits, threshold), {boxes, scores})) << trial;
  }
}

// The definition of HogGrouping::best in plain loops.
std::vector<HogBox> suppressed(const std::vector<HogBox> &hits, const HogThresholds &thresholds) {
  const auto object_of = [&part = thresholds.object](const HogBox &hit) {
    const cv::Point first(hit.x + cvRound(part.x * hit.width), hit.y + cvRound(part.y * hit.height)),
        end(hit.x + cvRound((part.x + part.width) * hit.width),
            hit.y + cvRound((part.y + part.height) * hit.height));
    return cv::Rect(first, end);
  };
  std::vector<HogBox> boxes;
  std::vector<bool> gone(hits.size());
  while (true) {
    const HogBox *best = nullptr;
    for (std::size_t i = 0; i < hits.size(); ++i)
      if (!gone[i] && (best == nullptr || hits[i].score > best->score)) best = &hits[i];
    if (best == nullptr) return boxes;
    int count = 0;
    const cv::Rect a = object_of(*best);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const cv::Rect b = object_of(hits[i]);
      if (gone[i] || 5 * (a & b).area() < a.area() + b.area() - (a & b).area()) continue;
      gone[i] = true;
      ++count;
    }
    if (count > thresholds.group) boxes.push_back(*best);
  }
}

TEST(HogGrouping, best_hits_are_those_of_the_definition) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<HogBox> hits;
    for (int i = random.below(60); i >= 0; --i) {
      hits.push_back(box_of_two_sizes(&random));
      hits.back().score = static_cast<float>(random.below(20) - 10) / 4;  // many are equal
    }
    HogThresholds thresholds{.group = trial % 5, .grouping = HogGrouping::best};
    if (trial % 2 != 0) thresholds.object = {0.25, 0.125, 0.5, 0.75};
    ASSERT_TRUE(cudavision::hog::best_hits(hits, thresholds) == suppressed(hits, thresholds)) << trial;
  }
}

TEST(HogGrouping, hits_of_a_fifth_overlap) {
  const HogThresholds all{.group = 0, .grouping = HogGrouping::best};
  const HogBox best{.x = 0, .y = 0, .width = 12, .height = 1 << 14, .score = 2};
  for (const int shift : {7, 8, 9, 11, 12, 13}) {
    HogBox other = best;
    other.x = shift, other.score = 1;  // for a shift of 8 they share 4 of 20 columns
    EXPECT_EQ(cudavision::hog::best_hits({other, best}, all).size(), shift <= 8 ? 1u : 2u) << shift;
    std::swap(other.x, other.y), std::swap(other.width, other.height);
    const HogBox lying{.x = 0, .y = 0, .width = best.height, .height = best.width, .score = 2};
    EXPECT_EQ(cudavision::hog::best_hits({other, lying}, all).size(), shift <= 8 ? 1u : 2u) << shift;
  }
}

// All windows of a picture without gradients have the same score.
TEST_P(HogDetector, of_equally_good_hits_the_first_is_the_best) {
  HogSearch search;
  search.win_stride = 4, search.scale_step = 1.2;
  HogImage image = noise_image({61, 47}, 1, 1);
  for (int y = 0; y < 47; ++y)
    for (int x = 0; x < 61; ++x) image.bytes.at(x, y) = 77;
  HogModel model = small_model(3);
  for (const float bias : {-0.5f, 0.f, 0.5f}) {
    model.bias = bias;
    std::vector<HogBox> hits = detect(image, model, search, {-1, 0}).boxes;
    ASSERT_GT(hits.size(), 40u);
    for (const int group : {0, 2}) {
      const Found found = detect(image, model, search, {-1, group, HogGrouping::best});
      EXPECT_EQ(found.hits, static_cast<int>(hits.size()));
      EXPECT_TRUE(found.boxes == suppressed(hits, {.group = group})) << found.boxes.size();
      EXPECT_FALSE(found.boxes.empty());
    }
  }
}

// Compares the groups with those of group_hits(), which are compared with OpenCV's above. The first case has
// more hits than a thread block has threads, the second one more than kMaxHogHits.
TEST_P(HogDetector, many_hits_make_the_groups_of_the_definition) {
  HogModel model;
  model.window = model.params.cell = model.params.block = {8, 8}, model.params.stride = {1, 1};
  model.params.bins = 4;
  model.weights = {1, 0.25f, 0.75f, 0.5f};  // the score is positive if there is a gradient
  HogSearch search;
  search.win_stride = 1, search.scale_step = 1;
  const struct {
    Size size;
    double share;  // the share of windows that are hits
    int least;     // the smallest number of hits
  } cases[] = {{{60, 50}, 0.3, 600}, {{104, 104}, 0.45, cudavision::kMaxHogHits + 1}};
  for (const auto &c : cases) {
    HogImage image = noise_image(c.size, 1, 17);
    for (int y = 0; y < c.size.height;
         ++y)  // isolated patches of noise, so that the windows do not form one group
      for (int x = 0; x < c.size.width; ++x)
        if (x % 32 >= 20 || y % 32 >= 20) image.bytes.at(x, y) = 128;
    std::vector<float> scores;
    for (const HogBox &window : detect(image, model, search, {-1000, 0}).boxes)
      scores.push_back(window.score);
    ASSERT_FALSE(scores.empty());
    const auto at =
        scores.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(scores.size()) * (1 - c.share));
    std::nth_element(scores.begin(), at, scores.end());
    const double threshold = *at;
    const Found hits = detect(image, model, search, {threshold, 0});
    EXPECT_GE(hits.hits, c.least);
    EXPECT_EQ(hits.boxes.size(), static_cast<std::size_t>(std::min(hits.hits, cudavision::kMaxHogHits)));
    for (const int group : {1, 3}) {
      const std::vector<HogBox> expected = cudavision::hog::group_hits(hits.boxes, group);
      EXPECT_GE(expected.size(), 3u) << "too few groups for a test";
      const Found found = detect(image, model, search, {threshold, group});
      EXPECT_EQ(found.hits, hits.hits);
      EXPECT_TRUE(found.boxes == expected) << found.boxes.size() << " boxes, " << expected.size();
    }
    for (const int group : {0, 3}) {
      const std::vector<HogBox> expected =
          cudavision::hog::best_hits(hits.boxes, {.group = group, .grouping = HogGrouping::best});
      EXPECT_GE(expected.size(), 3u) << "too few groups for a test";
      const Found found = detect(image, model, search, {threshold, group, HogGrouping::best});
      EXPECT_EQ(found.hits, hits.hits);
      EXPECT_TRUE(found.boxes == expected) << found.boxes.size() << " boxes, " << expected.size();
    }
  }
}

TEST_P(HogDetector, two_detectors_and_two_runs_do_not_disturb_each_other) {
  struct Instance {
    HogImage image;
    HogModel model;
    std::unique_ptr<HogTestPicture> picture;
    std::unique_ptr<TestImage<HogBox>> boxes;
    std::unique_ptr<TestImage<HogBoxCount>> count;
    std::unique_ptr<cudavision::HogDetector> detector;
  };
  Instance instances[2] = {{.image = noise_image({41, 38}, 3, 1),
                            .model = small_model(1),
                            .picture = {},
                            .boxes = {},
                            .count = {},
                            .detector = {}},
                           {.image = noise_image({33, 46}, 1, 2),
                            .model = small_model(2, {12, 16}),
                            .picture = {},
                            .boxes = {},
                            .count = {},
                            .detector = {}}};
  for (Instance &instance : instances) {
    instance.picture = std::make_unique<HogTestPicture>(execution(), instance.image);
    instance.boxes =
        std::make_unique<TestImage<HogBox>>(execution(), Size{cudavision::kMaxHogHits, 1}, kTight);
    instance.count = std::make_unique<TestImage<HogBoxCount>>(execution(), Size{1, 1}, kTight);
    ASSERT_TRUE(succeeds(make_hog_detector(execution(), instance.image.size(), instance.image.channels,
                                           instance.model, {}, &instance.detector)));
  }
  // The boxes differ from run to run, so that leftovers of a previous run would be noticed.
  for (const HogThresholds &thresholds : {HogThresholds{-1, 1}, {-1, 0}, {-0.5, 0}, {-1, 1}}) {
    for (const Instance &instance : instances)
      ASSERT_TRUE(
          succeeds(instance.detector->run(instance.picture->picture(), thresholds,
                                          {instance.boxes->view().data, instance.count->view().data})));
    finish(execution());
    for (const Instance &instance : instances) {
      const std::vector<HogBox> alone = detect(instance.image, instance.model, {}, thresholds).boxes;
      EXPECT_FALSE(alone.empty());
      std::vector<HogBox> boxes = instance.boxes->download().pixels();
      boxes.resize(static_cast<std::size_t>(instance.count->download().pixels()[0].listed));
      EXPECT_TRUE(boxes == alone) << boxes.size() << " boxes instead of " << alone.size();
    }
  }
}

TEST(HogResize, taps_are_those_of_opencv) {
  for (const auto &[from, to] : {std::pair{100, 95},
                                 {100, 50},
                                 {99, 7},
                                 {16, 16},
                                 {640, 333},
                                 {5, 1},
                                 {1, 1},
                                 {64, 96},
                                 {75, 300},
                                 {1, 4},
                                 {43, 72}}) {
    cv::Mat source(1, from, CV_8U), target;
    for (int i = 0; i < from; ++i) source.at<std::uint8_t>(i) = static_cast<std::uint8_t>(i * 77);
    cv::resize(source, target, {to, 1}, 0, 0, cv::INTER_LINEAR_EXACT);
    const std::vector<std::int32_t> taps = cudavision::hog::resize_taps(from, to);
    ASSERT_EQ(taps.size(), static_cast<std::size_t>(to));
    for (int i = 0; i < to; ++i) {
      const int first = cudavision::hog::first_of_tap(taps[static_cast<std::size_t>(i)]),
                share = cudavision::hog::weight_of_tap(taps[static_cast<std::size_t>(i)]);
      const int next = std::min(first + 1, from - 1);
      const int sum = source.at<std::uint8_t>(first) * (256 - share) + source.at<std::uint8_t>(next) * share;
      EXPECT_EQ((sum * 256 + 32768) >> 16, target.at<std::uint8_t>(i)) << from << " to " << to << " at " << i;
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

// Chooses, in order, the windows whose centres lie in a region. all: all windows of the picture, in the order of the
// search.
std::vector<HogBox> windows_in_regions(const std::vector<HogBox> &all, Size size, Size window,
                                       const HogSearch &search, const std::vector<Region> &regions) {
  std::vector<HogBox> chosen;
  std::size_t at = 0;
  for (double scale = std::min(1.0, search.min_scale);; scale *= search.scale_step) {
    const Size scaled{cvRound(size.width / scale), cvRound(size.height / scale)};
    if (scaled.width < window.width || scaled.height < window.height) break;
    for (int y = 0; y + window.height <= scaled.height; y += search.win_stride)
      for (int x = 0; x + window.width <= scaled.width; x += search.win_stride, ++at) {
        const double centre_x = x + window.width / 2.0, centre_y = y + window.height / 2.0;
        if (std::any_of(regions.begin(), regions.end(), [&](const Region &r) {
              return centre_x >= r.x / scale && centre_x < (r.x + r.width) / scale &&
                     centre_y >= r.y / scale && centre_y < (r.y + r.height) / scale;
            }))
          chosen.push_back(all[at]);
      }
  }
  EXPECT_EQ(at, all.size());
  return chosen;
}

// One detector searches one picture after the other, so that leftovers of a search would be noticed.
TEST_P(HogDetector, only_windows_with_their_centres_in_the_regions_are_searched) {
  const Size size = kEmulated ? Size{91, 64} : Size{131, 94};
  Random random(23);
  std::vector<std::vector<Region>> sets = {{},
                                           {{0, 0, size.width, size.height}},
                                           {{30, 25, 9, 12}},
                                           {{0, 0, 3, 3}},
                                           {{size.width - 20, size.height - 16, 20, 16}},
                                           {{20, 20, 30, 9}, {40, 24, 25, 20}, {8, 40, 6, 0}, {22, 21, 5, 4}},
                                           {{16, 12, 2, 40}, {60, 12, 4, 40}, {17, 13, 40, 2}}};
  sets.emplace_back();
  for (int i = 0; i < Places::kMostRegions; ++i)
    sets.back().push_back(
        {random.below(size.width - 8), random.below(size.height - 8), random.below(8), 1 + random.below(8)});
  for (const int channels : {1, 3})
    for (const int win_stride : {4, 6}) {
      if (kEmulated && (channels == 1) != (win_stride == 4)) continue;
      HogSearch search;
      search.scale_step = 1.2, search.win_stride = win_stride;
      if (win_stride == 4) search.min_scale = 0.7;  // the first picture is enlarged
      const HogModel model = small_model(21, {16, 24});
      TestImage<HogBox> boxes(execution(), Size{cudavision::kMaxHogHits, 1}, kTight);
      TestImage<HogBoxCount> count(execution(), Size{1, 1}, kTight);
      std::unique_ptr<cudavision::HogDetector> detector;
      ASSERT_TRUE(succeeds(make_hog_detector(execution(), size, channels, model, search, &detector)));
      int chosen = 0;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        SCOPED_TRACE(testing::Message() << channels << " channels, stride " << win_stride << ", set " << i);
        const HogImage image{
            smooth_noise({size.width * channels, size.height}, 2, static_cast<unsigned>(i) + 31), channels};
        const std::vector<HogBox> expected = windows_in_regions(
            detect(image, model, search, {-1000, 0}).boxes, size, model.window, search, sets[i]);
        chosen += static_cast<int>(expected.size());
        const HogTestPicture picture(execution(), image, kPlacements[i % 5]);
        const auto run = [&](const HogThresholds &thresholds) {
          EXPECT_TRUE(succeeds(detector->run(picture.picture(), thresholds,
                                             {boxes.view().data, count.view().data}, places_of(sets[i]))));
          finish(execution());
          Found found{boxes.download().pixels(), count.download().pixels()[0].hits};
          found.boxes.resize(static_cast<std::size_t>(count.download().pixels()[0].listed));
          return found;
        };
        const Found found = run({-1000, 0});
        EXPECT_EQ(found.hits, static_cast<int>(expected.size()));
        ASSERT_TRUE(found.boxes == expected) << found.boxes.size() << " of " << expected.size();
        std::vector<HogBox> hits = expected;
        std::erase_if(hits, [](const HogBox &box) { return box.score < 0; });
        // The detector groups boxes before it clips them at the border, but `hits` are clipped already. If all windows
        // are searched, detect() gives the expected boxes.
        const bool everywhere =
            expected.size() == static_cast<std::size_t>(hog_window_count(size, model, search));
        EXPECT_TRUE(run({0, 1}).boxes == (everywhere ? detect(image, model, search, {0, 1}).boxes
                                                     : cudavision::hog::group_hits(hits, 1)));
      }
      EXPECT_GT(chosen, 100) << "the regions hold too few windows for a test";
    }
}

// One detector finds what a new one finds, also if whole pictures, regions and numbers of threads take turns.
TEST_P(HogDetector, regions_and_threads_may_change_from_picture_to_picture) {
  const Size size = kEmulated ? Size{60, 50} : Size{131, 94};
  const HogModel model = small_model(21, {16, 24});
  cudavision::Workers workers(1);
  Execution changing = execution();
  if (changing.backend == cudavision::Backend::cpu) changing.workers = &workers;
  const auto make = [&](const Execution &where) {
    std::unique_ptr<cudavision::HogDetector> detector;
    EXPECT_TRUE(succeeds(make_hog_detector(where, size, 1, model, {}, &detector)));
    return detector;
  };
  TestImage<HogBox> boxes(execution(), Size{cudavision::kMaxHogHits, 1}, kTight);
  TestImage<HogBoxCount> count(execution(), Size{1, 1}, kTight);
  const auto find = [&](cudavision::HogDetector &detector, const HogTestPicture &picture,
                        const Places &places) {
    EXPECT_TRUE(succeeds(
        detector.run(picture.picture(), {-1000, 0}, {boxes.view().data, count.view().data}, places)));
    finish(execution());
    std::vector<HogBox> found = boxes.download().pixels();
    found.resize(static_cast<std::size_t>(count.download().pixels()[0].listed));
    return found;
  };
  const auto detector = make(changing);
  Random random(77);
  int found = 0;
  for (int i = 0; i < (kSlow ? 6 : 40); ++i) {
    workers.set_thread_count(1 + random.below(4));
    std::vector<Region> regions;
    for (int n = random.below(4); n > 0; --n)
      regions.push_back({random.below(size.width - 30), random.below(size.height - 30), 1 + random.below(30),
                         1 + random.below(30)});
    const Places places = random.below(3) == 0 ? Places() : places_of(regions);
    const HogTestPicture picture(execution(), noise_image(size, 1, static_cast<unsigned>(i) + 60),
                                 kPlacements[i % 5]);
    const std::vector<HogBox> expected = find(*make(execution()), picture, places);
    ASSERT_TRUE(find(*detector, picture, places) == expected)
        << i << ", " << workers.thread_count() << " threads";
    found += static_cast<int>(expected.size());
  }
  EXPECT_GT(found, 100) << "too few windows for a test";
}

TEST_P(HogDetector, regions_outside_of_the_picture_are_refused) {
  const Size size{40, 40};
  TestImage<HogBox> boxes(execution(), Size{cudavision::kMaxHogHits, 1}, kTight);
  TestImage<HogBoxCount> count(execution(), Size{1, 1}, kTight);
  const HogImage image = noise_image(size, 1, 2);
  const HogTestPicture picture(execution(), image);
  std::unique_ptr<cudavision::HogDetector> detector;
  ASSERT_TRUE(succeeds(make_hog_detector(execution(), size, 1, small_model(1), {}, &detector)));
  const auto run = [&](const Places &places) {
    return detector->run(picture.picture(), {}, {boxes.view().data, count.view().data}, places);
  };
  EXPECT_TRUE(succeeds(run(places_of({{0, 0, 40, 40}, {40, 40, 0, 0}}))));
  for (const Region &region : {Region{-1, 0, 4, 4},
                               {0, -1, 4, 4},
                               {0, 0, -4, 4},
                               {1, 0, 40, 4},
                               {0, 1, 4, 40},
                               {1 << 30, 0, 1 << 30, 4}})
    EXPECT_TRUE(refused(run(places_of({region}))));
  Places many;
  many.count = Places::kMostRegions + 1;
  EXPECT_TRUE(refused(run(many)));
  many.count = -2;
  EXPECT_TRUE(refused(run(many)));
  finish(execution());
}

// --- limits ---

TEST_P(HogDetector, pictures_smaller_than_a_window_hold_nothing) {
  for (const Size size : {Size{1, 1}, Size{15, 40}, Size{40, 23}}) {
    const auto found = detect(noise_image(size, 1, 1), small_model(1), {}, {-1000, 0});
    EXPECT_EQ(found.boxes.size(), 0u);
    EXPECT_EQ(found.hits, 0);
  }
}

TEST_P(HogDetector, only_the_first_hits_are_used_if_there_are_too_many) {
  HogModel model = small_model(1, {8, 8});
  model.params.cell = model.params.block = {8, 8}, model.params.stride = {1, 1}, model.params.bins = 1;
  model.weights = {0.0f};
  HogSearch search;
  search.win_stride = 1, search.scale_step = 1;
  const auto found = detect(noise_image({80, 70}, 1, 1), model, search, {0.125, 0});
  EXPECT_EQ(found.hits, 73 * 63);
  ASSERT_EQ(found.boxes.size(), static_cast<std::size_t>(cudavision::kMaxHogHits));
  for (int i = 0; i < cudavision::kMaxHogHits; ++i)
    ASSERT_EQ(found.boxes[static_cast<std::size_t>(i)],
              (HogBox{.x = i % 73, .y = i / 73, .width = 8, .height = 8, .score = 0.125f}))
        << i;
}

TEST_P(HogDetector, scales_outside_of_the_limits_do_not_count) {
  HogSearch search;
  search.scale_step = 1.25, search.win_stride = 8;
  const HogImage image = noise_image({64, 64}, 1, 1);
  const auto widths = [&](double least, double most) {
    search.min_scale = least, search.max_scale = most;
    std::vector<int> all;
    for (const HogBox &box : detect(image, small_model(2), search, {-1000, 0}).boxes)
      if (all.empty() || all.back() != box.width) all.push_back(box.width);
    return all;
  };
  EXPECT_EQ(widths(1, 0), (std::vector<int>{16, 20, 25, 31, 39}));
  EXPECT_EQ(widths(1.2, 0), (std::vector<int>{20, 25, 31, 39}));
  EXPECT_EQ(widths(1, 1.25), (std::vector<int>{16, 20}));
  EXPECT_EQ(widths(1.3, 1.4), (std::vector<int>{}));
}

TEST(HogModel, what_is_out_of_range_is_refused) {
  const auto refuses = [](auto change) {
    HogModel model = small_model(1);
    change(model);
    return refused(validate(model));
  };
  EXPECT_TRUE(succeeds(validate(small_model(1))));
  EXPECT_TRUE(refuses([](HogModel &m) { m.window = {17, 24}; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.window = {4, 24}; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.window = {16, 2408}; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.levels = 0; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.levels = 257; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.weights.pop_back(); }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.weights.push_back(0); }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.weights[5] = std::numeric_limits<float>::quiet_NaN(); }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.bias = std::numeric_limits<float>::infinity(); }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.params.bins = 0; }));
  EXPECT_TRUE(refuses([](HogModel &m) { m.min_scale = 0.2; }));
  for (const cudavision::HogPart &part : {cudavision::HogPart{0, 0, 0, 1}, {0.5, 0, 0.6, 1}, {0, -0.1, 1, 1}})
    EXPECT_TRUE(refuses([&](HogModel &m) { m.object = part; }));
}

TEST(HogModel, windows_of_too_many_weights_are_refused) {
  HogParams params;
  params.cell = {1, 1}, params.block = {8, 8}, params.stride = {1, 1}, params.bins = 36;
  std::size_t count = 0;
  ASSERT_TRUE(succeeds(hog_weight_count(params, {128, 127}, &count)));
  EXPECT_EQ(count, 121u * 120u * 64u * 36u);
  EXPECT_LE(count, cudavision::kMaxHogWeights);
  EXPECT_TRUE(refused(hog_weight_count(params, {128, 129}, &count)));
  EXPECT_TRUE(refused(hog_weight_count(params, {2048, 2048}, &count)));
}

TEST(HogSearch, what_is_out_of_range_is_refused) {
  const auto refuses = [](auto change) {
    HogSearch search;
    change(search);
    return refused(validate(search));
  };
  EXPECT_TRUE(succeeds(validate(HogSearch{})));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.scale_step = 0.99; }));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.scale_step = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.min_scale = 0.24; }));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.min_scale = 3, s.max_scale = 2; }));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.win_stride = 0; }));
  EXPECT_TRUE(refuses([](HogSearch &s) { s.win_stride = 513; }));
}

// Tests grey and colour, also if every second frame has only a region without windows, so no thread block has work.
TEST_P(HogDetector, frames_in_flight_equal_frames_alone) {
  const Size size = kEmulated ? Size{43, 38} : Size{320, 240};
  for (const int channels : {1, 3})
    for (const bool all_have_windows : {true, false}) {
      std::unique_ptr<cudavision::HogDetector> detector;
      ASSERT_TRUE(succeeds(make_hog_detector(execution(), size, channels, small_model(3), {}, &detector)));
      const std::uint8_t *first = nullptr;  // the first of the two pictures
      expect_frames_in_flight_equal_frames_alone(
          execution(), {size.width * channels, size.height}, (cudavision::kMaxHogHits + 1) * sizeof(HogBox),
          [&](cudavision::ImageView<const std::uint8_t> bytes, std::uint8_t *memory, cudavision::Input) {
            if (first == nullptr) first = bytes.data;
            const bool has_windows = all_have_windows || bytes.data == first;
            auto *boxes = reinterpret_cast<HogBox *>(memory);
            return detector->run(packed_picture(bytes, channels), {-0.25, 2},
                                 {boxes + 1, reinterpret_cast<HogBoxCount *>(memory)},
                                 has_windows ? Places() : places_of({{0, 0, 1, 1}}));
          },
          false);
    }
}

TEST_P(HogDetector, frames_cost_few_launches) {
  CUDAVISION_NEEDS_EMULATION();
  struct Case {
    int channels;
    HogThresholds thresholds;
    unsigned launches;
  };
  TestImage<HogBox> boxes(execution(), Size{cudavision::kMaxHogHits, 1}, kTight);
  TestImage<HogBoxCount> count(execution(), Size{1, 1}, kTight);
  for (const Case &c :
       {Case{3, {0, 2}, 6}, Case{3, {0, 0}, 5}, Case{1, {0, 2}, 5}, Case{1, {0, 0, HogGrouping::best}, 5}}) {
    const HogImage image = noise_image({40, 40}, c.channels, 2);
    const HogTestPicture picture(execution(), image);
    std::unique_ptr<cudavision::HogDetector> detector;
    ASSERT_TRUE(
        succeeds(make_hog_detector(execution(), image.size(), c.channels, small_model(1), {}, &detector)));
    for (int frame = 0; frame < 2; ++frame) {
      const Budget budget;
      ASSERT_TRUE(
          succeeds(detector->run(picture.picture(), c.thresholds, {boxes.view().data, count.view().data})));
      budget.expect_launches_alone(c.launches);
      finish(execution());
    }
  }
}

}  // namespace
