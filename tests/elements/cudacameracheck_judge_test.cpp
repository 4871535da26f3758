// SPDX-License-Identifier: LGPL-2.1-or-later
// What CameraJudge decides about made scenes: each trouble is told in time and ends, and what is usual is none.
#include "gst/cameracheck/camera_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/workers.h"
#include "gst/cameracheck/saved_looks.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision;
using test::Picture;
using test::Random;

constexpr Size kSize{320, 240};
constexpr double kRate = 10;  // frames a second

// A wall with rectangles of many sizes and brightnesses, larger than the frame by kMargin on each side.
constexpr int kMargin = 64;
cv::Mat wall(unsigned seed) {
  Random random(seed);
  cv::Mat picture(kSize.height + 2 * kMargin, kSize.width + 2 * kMargin, CV_8U, cv::Scalar(110));
  for (int i = 0; i < 150; ++i) {
    const cv::Rect rectangle(random.below(picture.cols), random.below(picture.rows), 4 + random.below(60),
                             4 + random.below(60));
    cv::rectangle(picture, rectangle, cv::Scalar(30 + random.below(180)), cv::FILLED);
  }
  return picture;
}

// How a frame differs from the wall.
struct Look {
  double x = 0, y = 0;        // the shift of the picture, in pixels
  double gain = 1, blur = 0;  // blur: the standard deviation
  int cover = -1;             // the luma of a cover, or none
  double cover_share = 1;     // of the frame's width
  int noise = 3;              // at most, up and down
  cv::Rect person = {};       // somebody who stands there
};

class Camera {
 public:
  explicit Camera(const JudgeSettings &settings = {}, unsigned seed = 1)
      : settings_(settings), wall_(wall(seed)), random_(seed), workers_(1) {
    EXPECT_TRUE(make_camerastats({Backend::cpu, &workers_, nullptr}, kSize, &stats_).ok());
    cells_.resize(40 * 30);
  }

  // Shows frames for so many seconds. Returns the events as words: "covered begin", and when each came.
  std::vector<std::string> show(double seconds, const Look &look = {}) {
    return show_each(seconds, [&](double) { return look; });
  }
  template <typename LookAt>
  std::vector<std::string> show_each(double seconds, const LookAt &look_at) {
    std::vector<std::string> told;
    const int frames = static_cast<int>(seconds * kRate + 0.5);
    for (int i = 0; i < frames; ++i)
      for (const CameraEvent &event : judge_.take(frame(look_at((i + 1) / kRate)), settings_)) {
        told.push_back(std::string(kTroubleNames[static_cast<int>(event.trouble)]) +
                       (event.begins ? " begin" : " end"));
        last_ = event, when_ = (i + 1) / kRate;
      }
    return told;
  }
  // Shows the same picture again and again, with this noise.
  std::vector<std::string> freeze(double seconds, int noise = 0) {
    Look look;
    look.noise = 0;
    const cv::Mat picture = shown(look);
    std::vector<std::string> told;
    for (int i = 0; i < static_cast<int>(seconds * kRate + 0.5); ++i) {
      cv::Mat own = picture.clone();
      add_noise(&own, noise);
      for (const CameraEvent &event : judge_.take(measured(own), settings_)) {
        told.push_back(std::string(kTroubleNames[static_cast<int>(event.trouble)]) +
                       (event.begins ? " begin" : " end"));
        last_ = event, when_ = (i + 1) / kRate;
      }
    }
    return told;
  }

  void turn_to(unsigned seed) { wall_ = wall(seed); }
  // Changes every frame before its noise is added.
  void set_change(std::function<void(cv::Mat *)> change) { change_ = std::move(change); }
  CameraJudge &judge() { return judge_; }
  const CameraEvent &last() const { return last_; }
  double when() const { return when_; }

 private:
  cv::Mat shown(const Look &look) {
    cv::Mat moved = wall_, picture;  // shares the pixels of the wall
    if (look.x != 0 || look.y != 0) {
      const cv::Mat shift = (cv::Mat_<double>(2, 3) << 1, 0, look.x, 0, 1, look.y);
      moved = cv::Mat();
      cv::warpAffine(wall_, moved, shift, wall_.size(), cv::INTER_LINEAR, cv::BORDER_REPLICATE);
    }
    if (look.blur > 0) {
      cv::Mat blurred;
      cv::GaussianBlur(moved, blurred, {}, look.blur);
      moved = blurred;
    }
    moved(cv::Rect(kMargin, kMargin, kSize.width, kSize.height)).convertTo(picture, CV_8U, look.gain);
    if (look.person.area() > 0) cv::rectangle(picture, look.person, cv::Scalar(70), cv::FILLED);
    if (look.cover >= 0)
      picture.colRange(0, static_cast<int>(look.cover_share * kSize.width)).setTo(look.cover);
    return picture;
  }
  // Adds noise from -most to most, triangular. A row of it begins anywhere in a long list.
  void add_noise(cv::Mat *picture, int most) {
    if (most == 0) return;
    if (noise_.empty())
      for (int i = 0; i < 20000; ++i) noise_.push_back(random_.below(1001) + random_.below(1001) - 1000);
    for (int y = 0; y < picture->rows; ++y) {
      const int *own = noise_.data() + random_.below(20000 - kSize.width);
      std::uint8_t *row = picture->ptr(y);
      for (int x = 0; x < picture->cols; ++x)
        row[x] = static_cast<std::uint8_t>(
            std::clamp(row[x] + (own[x] * most + 500 * (own[x] > 0 ? 1 : -1)) / 1000, 0, 255));
    }
  }
  JudgedFrame frame(const Look &look) {
    cv::Mat picture = shown(look);
    if (change_) change_(&picture);
    add_noise(&picture, look.noise);
    return measured(picture);
  }
  JudgedFrame measured(const cv::Mat &picture) {
    EXPECT_TRUE(
        stats_
            ->run({picture.data, static_cast<std::ptrdiff_t>(picture.step), picture.cols, picture.rows},
                  kNoiseLevel, &numbers_, cells_.data())
            .ok());
    const bool has_before = std::exchange(has_before_, true);
    return {numbers_, {cells_, camera_cells(kSize)}, kSize.width * kSize.height, 1 / kRate, has_before};
  }

  JudgeSettings settings_;
  cv::Mat wall_;
  std::function<void(cv::Mat *)> change_;
  Random random_;
  std::vector<int> noise_;
  Workers workers_;
  std::unique_ptr<CameraStats> stats_;
  std::vector<std::uint8_t> cells_;
  CameraNumbers numbers_;
  bool has_before_ = false;
  CameraJudge judge_;
  CameraEvent last_;
  double when_ = 0;
};

using Told = std::vector<std::string>;

// Shows what is usual, then what is wrong, then what is usual: the trouble begins and ends, and nothing else is told.
void expect_trouble(Camera *camera, const std::string &trouble, const Look &look) {
  EXPECT_EQ(camera->show(15), Told{});
  EXPECT_EQ(camera->show(6, look), Told{trouble + " begin"});
  EXPECT_NEAR(camera->when(), 2.1, 0.11) << "after the hysteresis";
  EXPECT_EQ(camera->show(6), Told{trouble + " end"});
  EXPECT_NEAR(camera->when(), 2.1, 0.11);
  EXPECT_NEAR(camera->last().duration, 6, 0.3);
}

TEST(CameraJudge, each_trouble_begins_after_the_hysteresis_and_ends) {
  const struct {
    const char *trouble;
    Look look;
  } cases[] = {{"covered", {.cover = 110}},
               {"covered", {.cover = 200}},
               {"covered", {.cover = 60, .cover_share = 0.9}},
               {"defocused", {.blur = 2}},
               {"defocused", {.blur = 6}},
               {"moved", {.x = 3}},
               {"moved", {.x = -20, .y = 13}},
               {"noise", {.noise = 60}}};
  for (const auto &[trouble, look] : cases) {
    SCOPED_TRACE(testing::Message() << trouble << " cover " << look.cover << " blur " << look.blur
                                    << " shift " << look.x);
    Camera camera;
    expect_trouble(&camera, trouble, look);
  }
}

TEST(CameraJudge, moved_has_the_shift) {
  for (const auto &[x, y] : {std::pair(3.0, 0.0), {8.0, -5.0}, {-40.0, 12.0}}) {
    Camera camera;
    camera.show(15);
    EXPECT_EQ(camera.show(4, {.x = x, .y = y}), Told{"moved begin"});
    EXPECT_TRUE(camera.last().has_shift);
    EXPECT_NEAR(camera.last().shift_x, x, 1);
    EXPECT_NEAR(camera.last().shift_y, y, 1);
  }
}

TEST(CameraJudge, another_view_has_moved_without_a_shift_and_is_learnt_after_the_relearn_time) {
  Camera camera({.relearn_time = 20});
  camera.show(15);
  camera.turn_to(7);
  EXPECT_EQ(camera.show(10), Told{"moved begin"});
  EXPECT_FALSE(camera.last().has_shift);
  EXPECT_EQ(camera.last().measure, 0);
  EXPECT_TRUE(camera.judge().is_on(Trouble::moved));
  EXPECT_EQ(camera.show(30), Told{"moved end"}) << "the new view is learnt";
  EXPECT_FALSE(camera.judge().is_on(Trouble::moved));
  EXPECT_EQ(camera.show(10, {.cover = 90}), Told{"covered begin"}) << "and is what a cover hides";
  camera.turn_to(1);
  EXPECT_EQ(camera.show(10), Told{"covered end"}) << "the old view is known still";
}

TEST(CameraJudge, a_view_that_has_moved_by_some_pixels_is_learnt_after_the_relearn_time) {
  Camera camera({.relearn_time = 20});
  camera.show(15);
  EXPECT_EQ(camera.show(10, {.x = 20}), Told{"moved begin"});
  EXPECT_EQ(camera.show(40, {.x = 20}), Told{"moved end"});
  EXPECT_EQ(camera.show(10), Told{}) << "the old view is known still";
  EXPECT_LT(std::abs(camera.judge().measures().shift_x), 1);
}

TEST(CameraJudge, a_view_without_edges_replaces_none_that_is_known) {
  Camera camera({.relearn_time = 20});
  camera.show(15);
  camera.turn_to(7);
  EXPECT_EQ(camera.show(10), Told{"moved begin"});
  EXPECT_EQ(camera.show(60, {.cover = 90}), Told{"covered begin"});
  camera.turn_to(1);
  EXPECT_EQ(camera.show(10), (Told{"covered end", "moved end"}));
}

TEST(CameraJudge, a_view_that_is_gone_in_two_ways_by_turns_is_told) {
  Camera camera;
  camera.show(15);
  bool is_flat = false;
  const cv::Mat other = wall(7)(cv::Rect(0, 0, kSize.width, kSize.height)).clone();
  camera.set_change([&](cv::Mat *picture) {
    is_flat = !is_flat;
    (is_flat ? cv::Mat(other.size(), CV_8U, cv::Scalar(90)) : other).copyTo(*picture);
  });
  const Told told = camera.show(2.5);
  EXPECT_EQ(std::ranges::count(told, "covered begin") + std::ranges::count(told, "moved begin"), 1);
  EXPECT_TRUE(camera.judge().is_on(Trouble::covered) || camera.judge().is_on(Trouble::moved));
}

TEST(CameraJudge, slow_changes_are_told_when_they_are_large) {
  Camera drifting, blurring;
  drifting.show(15), blurring.show(15);
  EXPECT_EQ(drifting.show_each(40, [](double time) { return Look{.x = time / 6}; }), Told{"moved begin"});
  EXPECT_NEAR(drifting.when(), 6 * 2 + 2, 4);
  EXPECT_EQ(blurring.show_each(60, [](double time) { return Look{.blur = time / 20}; }),
            Told{"defocused begin"});
  EXPECT_LT(blurring.when(), 40) << "at a standard deviation of 2 at the latest";
}

TEST(CameraJudge, what_is_usual_is_no_trouble) {
  Camera camera;
  camera.show(15);
  const struct {
    const char *what;
    Look look;
    double seconds;
  } cases[] = {{"a third less light", {.gain = 0.67}, 20},
               {"a third more light", {.gain = 1.2}, 20},
               {"a person", {.person = {100, 60, 60, 160}}, 20},
               {"a van that parks", {.person = {170, 20, 130, 200}}, 30},
               {"somebody close, for a moment", {.cover = 70, .cover_share = 0.8}, 1.5},
               {"a shaking pole", {.x = 1.2, .y = 0.5}, 10},
               {"rather more noise", {.noise = 8}, 20},
               {"a half of the lens", {.cover = 100, .cover_share = 0.5}, 20}};
  for (const auto &[what, look, seconds] : cases) {
    EXPECT_EQ(camera.show(seconds, look), Told{}) << what;
    EXPECT_EQ(camera.show(5), Told{}) << "after " << what;
  }
}

// Soft edges have weak gradients, so that something new with strong ones could seem a shift of all.
TEST(CameraJudge, what_is_new_in_a_soft_picture_is_no_shift) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Camera camera({}, seed);
    const auto soften = [](cv::Mat *picture) { cv::GaussianBlur(*picture, *picture, {}, 8); };
    camera.set_change(soften);
    EXPECT_EQ(camera.show(15, {.noise = 1}), Told{});
    camera.set_change([&](cv::Mat *picture) {
      soften(picture);
      cv::rectangle(*picture, {200, 40, 70, 160}, cv::Scalar(20), cv::FILLED);
    });
    EXPECT_EQ(camera.show(5, {.noise = 1}), Told{}) << seed;
    EXPECT_LT(std::hypot(camera.judge().measures().shift_x, camera.judge().measures().shift_y), 0.5) << seed;
  }
}

TEST(CameraJudge, a_cover_in_part_is_measured) {
  Camera camera;
  camera.show(15);
  EXPECT_NEAR(camera.judge().measures().covered_share, 0, 0.05);
  camera.show(3, {.cover = 100, .cover_share = 0.5});
  EXPECT_NEAR(camera.judge().measures().covered_share, 0.5, 0.12);
}

TEST(CameraJudge, a_frozen_picture_lacks_its_noise) {
  Camera camera({.frozen_time = 10});
  EXPECT_EQ(camera.show(40), Told{}) << "an empty scene with its noise is not frozen";
  EXPECT_EQ(camera.freeze(15), Told{"frozen begin"});
  EXPECT_NEAR(camera.when(), 11, 1);
  EXPECT_TRUE(camera.judge().is_on(Trouble::frozen));
  EXPECT_EQ(camera.show(10), Told{"frozen end"});
  EXPECT_EQ(camera.freeze(30, 3), Told{}) << "the usual noise";
}

TEST(CameraJudge, light_that_is_too_dark_too_bright_or_flickers) {
  Camera dark, bright, flickering;
  dark.show(15), bright.show(15), flickering.show(15);
  EXPECT_EQ(dark.show(5, {.gain = 0.15, .noise = 1}), Told{"dark begin"}) << "and it is no cover";
  EXPECT_EQ(dark.show(5), Told{"dark end"});
  const Told told = bright.show(5, {.gain = 8});
  EXPECT_TRUE(std::count(told.begin(), told.end(), "bright begin") == 1) << told.size();
  const auto mains = [](double time) { return Look{.gain = std::lround(time * kRate) % 2 == 0 ? 1.0 : 0.8}; };
  EXPECT_EQ(flickering.show_each(6, mains), Told{"flicker begin"});
  EXPECT_NEAR(flickering.when(), 2, 0.5);
  EXPECT_EQ(flickering.show(6), Told{"flicker end"});
}

// The switch of a lamp at dusk: the view fits half, is learnt as the second look, and both are known then.
TEST(CameraJudge, day_and_night_are_learnt_apart) {
  const auto lamp = [](cv::Mat *picture) {
    for (int y = 0; y < picture->rows; ++y)
      for (int x = 0; x < picture->cols / 2; ++x) {
        auto &value = picture->at<std::uint8_t>(y, x);
        value =
            static_cast<std::uint8_t>(60 + (x / 8 * 37 + y / 8 * 61) % 120);  // what the sun leaves in shadow
      }
  };
  Camera camera;
  EXPECT_EQ(camera.show(15), Told{});
  camera.set_change(lamp);
  EXPECT_EQ(camera.show(90), Told{});
  EXPECT_TRUE(camera.judge().looks()[1].is_learnt());
  EXPECT_GT(camera.judge().measures().kept_share, 0.9);
  camera.set_change(nullptr);
  EXPECT_EQ(camera.show(5), Told{});
  EXPECT_GT(camera.judge().measures().kept_share, 0.9) << "the day is known still";
}

TEST(CameraJudge, a_jump_in_time_ends_no_event_and_begins_none) {
  Camera camera;
  camera.show(15);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(camera.show(1.5, {.cover = 90}), Told{});
    camera.judge().jump();
  }
  EXPECT_EQ(camera.show(3, {.cover = 90}), Told{"covered begin"});
  camera.judge().jump();
  EXPECT_TRUE(camera.judge().is_on(Trouble::covered));
  EXPECT_EQ(camera.show(3), Told{"covered end"});
}

TEST(CameraJudge, a_picture_without_edges_tells_nothing_of_covers) {
  Camera camera;
  camera.set_change([](cv::Mat *picture) { picture->setTo(120); });
  EXPECT_EQ(camera.show(40), Told{});
  EXPECT_FALSE(camera.judge().measures().is_learnt);
  EXPECT_TRUE(camera.judge().lacks_edges());
  camera.set_change(nullptr);
  EXPECT_EQ(camera.show(15), Told{});
  EXPECT_FALSE(camera.judge().lacks_edges());
  EXPECT_EQ(camera.show(5, {.cover = 90}), Told{"covered begin"}) << "what it shows later is learnt";
}

// No equation tells a shift along stripes.
TEST(CameraJudge, stripes_tell_no_shift) {
  Camera camera;
  camera.set_change([](cv::Mat *picture) {
    for (int x = 0; x < picture->cols; ++x) picture->col(x).setTo(x / 20 * 53 % 120 + 60);
  });
  EXPECT_EQ(camera.show(20, {.noise = 0}), Told{});
  EXPECT_TRUE(camera.judge().measures().is_learnt);
  EXPECT_EQ(camera.judge().measures().shift_x, 0);
  EXPECT_EQ(camera.judge().measures().shift_y, 0);
  EXPECT_NEAR(camera.judge().measures().sharpness, 1, 1e-6);
}

TEST(CameraJudge, nothing_is_judged_by_the_view_before_it_is_learnt) {
  Camera camera({.learn_time = 5});
  EXPECT_EQ(camera.show(4, {.x = 30}), Told{});
  EXPECT_FALSE(camera.judge().measures().is_learnt);
  EXPECT_EQ(camera.show(4, {.x = 30}), Told{});
  EXPECT_TRUE(camera.judge().measures().is_learnt);
}

// --- the file ---

SavedLooks learnt_looks() {
  Camera camera;
  camera.show(15);
  return {.region = {3, 4, kSize.width, kSize.height}, .looks = camera.judge().looks()};
}

TEST(SavedLooks, are_read_as_they_were_written) {
  const SavedLooks saved = learnt_looks();
  SavedLooks read;
  ASSERT_TRUE(read.decode(saved.encode()).ok());
  EXPECT_EQ(read.region, saved.region);
  EXPECT_EQ(read.looks[0].means(), saved.looks[0].means());
  EXPECT_EQ(read.looks[0].sharpness, saved.looks[0].sharpness);
  EXPECT_FALSE(read.looks[1].is_learnt());
  EXPECT_EQ(read.encode(), saved.encode());
}

TEST(SavedLooks, every_file_that_is_cut_off_or_longer_is_refused) {
  const std::string whole = learnt_looks().encode();
  for (std::size_t length = 0; length < whole.size(); length += length < 100 ? 1 : 97) {
    SavedLooks read;
    EXPECT_FALSE(read.decode(whole.substr(0, length)).ok()) << length;
  }
  SavedLooks read;
  EXPECT_FALSE(read.decode(whole + "x").ok());
}

TEST(SavedLooks, impossible_numbers_are_refused) {
  const std::string whole = learnt_looks().encode();
  const std::size_t head = whole.find('\n') + 1;
  for (const std::size_t place : {head + 3, head + 8, head + 11, head + 16 + 7, whole.size() - 1}) {
    std::string bytes = whole;
    bytes[place] = '\xff';
    SavedLooks read;
    EXPECT_FALSE(read.decode(bytes).ok()) << place;
  }
}

}  // namespace
