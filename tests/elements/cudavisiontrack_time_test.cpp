// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisiontrack: time passes between frames, also where frames are missing, and whatever the caps and timestamps say.
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/track_harness.h"

namespace {

using namespace cudavision::test;

class CudaVisionTrackTime : public TrackMethodTest {};
INSTANTIATE_TEST_SUITE_P(, CudaVisionTrackTime, testing::Values("buffered", "sort"),
                         [](const auto &method) { return method.param; });

// The filter of SORT counts time in whole frame durations.
class CudaVisionTrackSteps : public ElementTest {};

// Somebody who walks steadily, in frame n of the full rate.
Box walker(int n, double speed = 6) { return {20 + speed * n, 10, 60, 120}; }

GstClockTime nth(int n, int frames_a_second) {
  return gst_util_uint64_scale_int(static_cast<guint64>(n) * GST_SECOND, 1, frames_a_second);
}

// The ids of the walker in these frames of the full rate.
std::set<guint64> ids_of_walk(TrackHarness *track, const std::vector<int> &frames, int frames_a_second,
                              double speed = 6) {
  std::set<guint64> ids;
  for (const int n : frames) ids.insert(track->id_at(nth(n, frames_a_second), walker(n, speed)));
  return ids;
}

std::vector<int> all_until(int end, int begin = 0, int step = 1) {
  std::vector<int> frames;
  for (int n = begin; n < end; n += step) frames.push_back(n);
  return frames;
}
std::vector<int> joined(std::vector<int> a, const std::vector<int> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::set<guint64> kOne{1};

TEST_P(CudaVisionTrackTime, lost_frames_do_not_change_the_id) {
  const std::vector<int> lossy = joined(all_until(20), all_until(200, 24, 8));
  const std::vector<int> random{0, 1, 2, 4, 5, 9, 10, 11, 17, 18, 19, 25, 26, 38, 39, 40, 41, 55, 56, 80, 81};
  for (const int rate : {30, 0})
    for (const auto &frames : {lossy, random}) {
      TrackHarness track(with_method("min-hits=0"), rate);
      EXPECT_EQ(ids_of_walk(&track, frames, 30), kOne) << rate << ' ' << frames.size();
    }
}

TEST_P(CudaVisionTrackTime, lost_frames_do_not_change_the_id_in_reverse) {
  TrackHarness track(with_method("min-hits=0"), 30);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1, segment.stop = segment.position = nth(300, 30);
  ASSERT_TRUE(gst_harness_push_event(track.get(), gst_event_new_segment(&segment)));
  std::vector<int> frames = joined(all_until(20), all_until(200, 24, 8));
  std::set<guint64> ids;
  for (const int n : frames) ids.insert(track.id_at(nth(250 - n, 30), walker(n)));
  EXPECT_EQ(ids, kOne);
}

// The estimates of a walk in these frames, with these timestamps; some frames have no box.
std::vector<Estimate> estimates(TrackHarness *track, const std::vector<GstClockTime> &times,
                                const std::vector<int> &frames, const std::set<int> &empty = {}) {
  std::vector<Estimate> all;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::vector<Box> boxes;
    if (!empty.contains(frames[i])) boxes.push_back(walker(frames[i]));
    const Owned<GstBuffer> out = track->exchange_at(times[i], frame_with(boxes));
    for (GstVideoRegionOfInterestMeta *region : regions_of(out)) all.push_back(*estimate_of(region));
  }
  return all;
}

void expect_same_bits(const std::vector<Estimate> &a, const std::vector<Estimate> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, b[i].id) << i;
    for (const auto side : {&Box::x, &Box::y, &Box::width, &Box::height})
      EXPECT_EQ(a[i].box.*side, b[i].box.*side) << i;
  }
}

std::vector<GstClockTime> times_of(const std::vector<int> &frames, int rate) {
  std::vector<GstClockTime> times;
  for (const int n : frames) times.push_back(nth(n, rate));
  return times;
}

TEST_F(CudaVisionTrackSteps, missing_frames_predict_like_frames_without_boxes) {
  for (const int lost : {1, 2, 7, 20}) {
    const std::vector<int> there = joined(all_until(15), all_until(45, 15 + lost)),
                           gone = all_until(15 + lost, 15);
    TrackHarness missing("method=sort min-hits=0", 25), empty("method=sort min-hits=0", 25);
    expect_same_bits(estimates(&missing, times_of(there, 25), there),
                     estimates(&empty, times_of(all_until(45), 25), all_until(45),
                               std::set<int>(gone.begin(), gone.end())));
  }
}

// 24 and 20 frames a second where the caps say 30 lie between whole frames; a rate of 0 is variable.
TEST_F(CudaVisionTrackSteps, jitter_of_nanoseconds_changes_no_bit) {
  for (const auto &[caps, rate] : {std::pair{30, 30},
                                   {30, 20},
                                   {30, 24},
                                   {30, 60},
                                   {30, 12},
                                   {0, 25},
                                   {0, 24},
                                   {60, 24},
                                   {90000, 25},
                                   {1, 25},
                                   {25, 10}}) {
    const std::vector<int> frames = joined(joined(all_until(20), all_until(60, 24, 3)), all_until(90, 60));
    const std::vector<GstClockTime> times = times_of(frames, rate);
    TrackHarness exact("method=sort min-hits=0", caps);
    const std::vector<Estimate> expected = estimates(&exact, times, frames);
    std::minstd_rand random(3);
    for (int run = 0; run < 3; ++run) {
      std::vector<GstClockTime> jittered = times;
      for (GstClockTime &time : jittered) time += 1000 + random() % 401 - 200;
      TrackHarness track("method=sort min-hits=0", caps);
      SCOPED_TRACE(std::to_string(rate) + " in caps of " + std::to_string(caps));
      expect_same_bits(estimates(&track, jittered, frames), expected);
    }
  }
}

// Frames come at a constant rate, which may be another one than the caps say: SORT counts them one by one.
TEST_F(CudaVisionTrackSteps, constant_rate_counts_frames) {
  const std::vector<int> frames = all_until(30);
  const std::set<int> empty{11, 12, 20};
  TrackHarness reference("method=sort min-hits=0", 25);
  const std::vector<Estimate> expected = estimates(&reference, times_of(frames, 25), frames, empty);
  for (const auto &[caps, rate] :
       {std::pair{0, 25}, {0, 1}, {1, 1}, {30, 25}, {30, 24}, {25, 30}, {30, 60}, {1, 25}}) {
    TrackHarness track("method=sort min-hits=0", caps);
    SCOPED_TRACE(std::to_string(rate) + " in caps of " + std::to_string(caps));
    expect_same_bits(estimates(&track, times_of(frames, rate), frames, empty), expected);
  }
  for (const GstClockTime always : {GST_CLOCK_TIME_NONE, GstClockTime{0}, GstClockTime{GST_SECOND}})
    for (const int caps : {0, 25}) {
      TrackHarness track("method=sort min-hits=0", caps);
      expect_same_bits(estimates(&track, std::vector<GstClockTime>(frames.size(), always), frames, empty),
                       expected);
    }
}

TEST_P(CudaVisionTrackTime, timestamps_may_be_missing_now_and_then) {
  const std::vector<int> frames = joined(all_until(20), all_until(50, 26));
  std::vector<GstClockTime> times = times_of(frames, 25);
  TrackHarness all(with_method("min-hits=0"), 25), some(with_method("min-hits=0"), 25);
  const std::vector<Estimate> expected = estimates(&all, times, frames);
  for (const std::size_t i : {3, 4, 5, 9, 25, 27, 28}) times[i] = GST_CLOCK_TIME_NONE;
  expect_same_bits(estimates(&some, times, frames), expected);
}

TEST_P(CudaVisionTrackTime, rates_that_change_keep_the_id) {
  for (const int caps : {0, 30, 1000, 90000}) {
    TrackHarness track(with_method("min-hits=0"), caps);
    std::vector<int> frames = joined(all_until(40), all_until(280, 40, 4));
    frames = joined(joined(frames, all_until(340, 281)), all_until(700, 340, 13));
    EXPECT_EQ(ids_of_walk(&track, frames, 30), kOne) << caps;
  }
}

// The frames behind a leaky queue before a slow element; caps that do not say the rate.
TEST_P(CudaVisionTrackTime, frames_that_are_always_far_apart_keep_the_id) {
  for (const int caps : {30, 60, 1000, 90000, 0}) {
    TrackHarness track(with_method("min-hits=0"), caps);
    EXPECT_EQ(ids_of_walk(&track, all_until(1200, 0, 40), 30, 0.5), kOne) << caps;
  }
}

TEST_P(CudaVisionTrackTime, timestamps_may_be_anything) {
  for (const int caps : {0, 25, 1000000000, G_MAXINT}) {
    TrackHarness track(with_method("min-hits=0 max-age=1000"), caps);
    EXPECT_EQ(track.id_at(0, walker(0)), 1u);
    EXPECT_EQ(track.id_at(40 * GST_MSECOND, walker(0)), 1u);
    EXPECT_EQ(track.id_at(GST_CLOCK_TIME_NONE - 1, walker(0)), 2u) << "later than anything before";
    for (const GstClockTime pts : {GstClockTime{1}, GstClockTime{G_MAXINT64}, GstClockTime{0}})
      EXPECT_NE(track.id_at(pts, walker(0)), 0u) << caps;
  }
}

// Less than a nanosecond lies between two frames.
TEST_P(CudaVisionTrackTime, frames_without_timestamps_may_be_closer_than_a_nanosecond) {
  for (const int caps : {0, 25}) {
    TrackHarness track(with_method("min-hits=0"), caps);
    for (const GstClockTime pts : {GstClockTime{0}, GST_CLOCK_TIME_NONE, GstClockTime{1}, GstClockTime{2}})
      EXPECT_EQ(track.id_at(pts, walker(0)), 1u) << caps;
  }
}

// --- ages ---

// The id of a box that comes `missing` frames later than a walk of ten frames at 25 frames a second.
guint64 id_after(const std::string &properties, int missing, int caps) {
  TrackHarness track("min-hits=0 " + properties, caps);
  ids_of_walk(&track, all_until(10), 25);
  return track.id_at(nth(10 + missing, 25), walker(10 + missing));
}

TEST_P(CudaVisionTrackTime, pause_longer_than_max_age_ends_tracks) {
  for (const int caps : {25, 0}) {
    EXPECT_EQ(id_after(with_method("max-age=5"), 5, caps), 1u);
    EXPECT_EQ(id_after(with_method("max-age=5"), 6, caps), 2u);
    const int most = is_sort() ? 30 : 74;  // 30 frame durations, and 3 s
    EXPECT_EQ(id_after(with_method(""), most, caps), 1u);
    EXPECT_EQ(id_after(with_method(""), most + 1, caps), 2u);
    EXPECT_EQ(id_after(with_method("max-age-time=1000000000"), 24, caps), 1u);
    EXPECT_EQ(id_after(with_method("max-age-time=1000000000"), 25, caps), 2u);
    EXPECT_EQ(id_after(with_method("max-age-time=5000000000"), 60, caps), 1u);
  }
}

// Pauses as long as the previous pause are the rhythm of the stream. A track ends only in a frame without its box.
TEST_P(CudaVisionTrackTime, missing_frames_alone_end_no_track) {
  TrackHarness track(with_method("min-hits=0 max-age=5"), 25);
  ids_of_walk(&track, all_until(10), 25, 0);
  const guint64 id = track.id_at(nth(30, 25), walker(0));
  EXPECT_EQ(id, 2u);
  EXPECT_EQ(track.id_at(nth(50, 25), walker(0)), id);
  EXPECT_EQ(track.id_at(nth(70, 25), walker(0)), id);
  track.exchange_at(nth(90, 25), frame_with({}));
  EXPECT_EQ(track.id_at(nth(91, 25), walker(0)), id + 1);
}

// The id of a box that comes after a walk of ten frames and `empty` frames without boxes.
guint64 id_after_empty(const std::string &properties, int empty, int caps, int rate) {
  TrackHarness track("min-hits=0 " + properties, caps);
  ids_of_walk(&track, all_until(10), rate, 1);
  for (int n = 10; n < 10 + empty; ++n) track.exchange_at(nth(n, rate), frame_with({}));
  return track.id_at(nth(10 + empty, rate), walker(10 + empty, 1));
}

TEST_P(CudaVisionTrackTime, max_age_counts_frames_of_the_streams_rate) {
  for (const auto &[caps, rate] : {std::pair{25, 25}, {0, 25}, {30, 25}, {90000, 25}, {1000, 25}, {0, 1}}) {
    EXPECT_EQ(id_after_empty(with_method("max-age=5"), 5, caps, rate), 1u) << caps;
    EXPECT_EQ(id_after_empty(with_method("max-age=5"), 6, caps, rate), 2u) << caps;
  }
  // Every other frame is missing.
  EXPECT_EQ(id_after_empty(with_method("max-age=6"), 3, 50, 25), 1u);
  EXPECT_EQ(id_after_empty(with_method("max-age=6"), 4, 50, 25), 2u);
}

TEST_P(CudaVisionTrackTime, max_age_time_takes_the_place_of_max_age) {
  for (const int max_age : {0, 30, 1000}) {
    const std::string properties = "max-age-time=500000000 max-age=" + std::to_string(max_age);
    for (const int rate : {25, 50, 10}) {
      EXPECT_EQ(id_after_empty(with_method(properties), rate / 2, rate, rate), 1u) << rate;
      EXPECT_EQ(id_after_empty(with_method(properties), rate / 2 + 1, rate, rate), 2u) << rate;
    }
  }
  TrackHarness timeless(with_method("min-hits=0 max-age=2 max-age-time=1"));  // nothing tells the time
  EXPECT_EQ(timeless.id_at(GST_CLOCK_TIME_NONE, walker(0)), 1u);
  for (int i = 0; i < 2; ++i) timeless.exchange_at(GST_CLOCK_TIME_NONE, frame_with({}));
  EXPECT_EQ(timeless.id_at(GST_CLOCK_TIME_NONE, walker(0)), 1u);
  for (int i = 0; i < 3; ++i) timeless.exchange_at(GST_CLOCK_TIME_NONE, frame_with({}));
  EXPECT_EQ(timeless.id_at(GST_CLOCK_TIME_NONE, walker(0)), 2u);
}

TEST_P(CudaVisionTrackTime, frames_of_a_track_are_frame_durations) {
  TrackHarness track(with_method("min-hits=0"), 25);
  gint64 frames = 0;
  for (const int n : {0, 1, 2, 5, 6, 9}) {
    const Owned<GstBuffer> out = track.exchange_at(nth(n, 25), frame_with({walker(n)}));
    const GstStructure *tracking =
        gst_video_region_of_interest_meta_get_param(regions_of(out)[0], "tracking");
    ASSERT_TRUE(gst_structure_get_int64(tracking, "frames", &frames));
    EXPECT_EQ(frames, n);
  }
}

// Somebody who walks at 75 pixels a second to the right and 25 up, seen at different rates, with frames missing where
// the caps tell the rate.
TEST_P(CudaVisionTrackTime, velocity_is_in_pixels_a_second) {
  for (const int rate : {10, 25, 50})
    for (const int caps : {rate, 0}) {
      TrackHarness track(with_method("min-hits=0"), caps);
      const GstStructure *tracking = nullptr;
      Owned<GstBuffer> out;
      for (int n = 0; n < 4 * rate; n += caps != 0 && n % 3 == 2 ? 2 : 1)
        out = track.exchange_at(nth(n, rate), frame_with({{75.0 * n / rate, 400 - 25.0 * n / rate, 40, 80}}));
      tracking = gst_video_region_of_interest_meta_get_param(regions_of(out)[0], "tracking");
      double x = 0, y = 0;
      ASSERT_TRUE(gst_structure_get(tracking, "velocity-x", G_TYPE_DOUBLE, &x, "velocity-y", G_TYPE_DOUBLE,
                                    &y, nullptr));
      EXPECT_NEAR(x, 75, 5) << rate;
      EXPECT_NEAR(y, -25, 5) << rate;
    }
}

// --- timestamps that go back ---

TEST_P(CudaVisionTrackTime, timestamp_that_goes_back_ends_tracks) {
  TrackHarness track(with_method("min-hits=0"), 25);
  EXPECT_EQ(ids_of_walk(&track, all_until(20), 25, 0), kOne);
  EXPECT_EQ(track.id_at(0, walker(0)), 2u) << "the video begins again";
  EXPECT_EQ(track.id_at(nth(1, 25), walker(0)), 2u);
}

// Recorders stamp a single frame hours away now and then. Its boxes have ids of their own.
TEST_P(CudaVisionTrackTime, stray_timestamps_end_no_track) {
  for (const int caps : {25, 0})
    for (const guint64 stray : {guint64{0}, guint64{100} * GST_SECOND, guint64{40000} * GST_SECOND}) {
      TrackHarness track(with_method(""), caps);
      for (int n = 0; n < 100; ++n) {
        const bool strays = n % 20 == 19;
        const guint64 id = track.id_at(strays ? stray : 1000 * GST_SECOND + nth(n, 25), walker(n, 2));
        if (strays)
          EXPECT_GT(id, 1u) << n;
        else
          EXPECT_EQ(id, 1u) << n << ' ' << stray / GST_SECOND;
      }
    }
}

TEST_P(CudaVisionTrackTime, tracks_come_back_only_after_a_single_frame) {
  const auto at = [](int n) { return 1000 * GST_SECOND + nth(n, 25); };
  const auto begin = [&at](TrackHarness *track) {
    for (int n = 0; n < 20; ++n) EXPECT_EQ(track->id_at(at(n), walker(0)), 1u);
  };
  TrackHarness two(with_method("min-hits=0"), 25);
  begin(&two);
  for (int n = 0; n < 2; ++n) EXPECT_EQ(two.id_at(nth(n, 25), walker(0)), 2u);
  EXPECT_EQ(two.id_at(at(20), walker(0)), 3u);
  // Nothing tells where a frame without a timestamp belongs.
  TrackHarness timeless(with_method("min-hits=0"), 25);
  begin(&timeless);
  EXPECT_EQ(timeless.id_at(0, walker(0)), 2u);
  EXPECT_EQ(timeless.id_at(GST_CLOCK_TIME_NONE, walker(0)), 2u);
  // The first frame of a segment does not stray.
  TrackHarness sought(with_method("min-hits=0"), 25);
  begin(&sought);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(gst_harness_push_event(sought.get(), gst_event_new_segment(&segment)));
  EXPECT_EQ(sought.id_at(0, walker(0)), 2u);
  EXPECT_EQ(sought.id_at(at(20), walker(0)), 3u);
}

TEST_P(CudaVisionTrackTime, two_frames_may_change_places) {
  TrackHarness track(with_method("min-hits=0"), 25);
  const std::vector<int> frames{0, 1, 2, 4, 3, 5, 6, 8, 7, 9};
  EXPECT_EQ(ids_of_walk(&track, frames, 25), kOne);
}

TEST_P(CudaVisionTrackTime, caps_with_another_rate_keep_the_tracks) {
  TrackHarness track(with_method("min-hits=0"), 25);
  EXPECT_EQ(ids_of_walk(&track, all_until(20), 25), kOne);
  track.follow(50);
  std::set<guint64> ids;
  for (int n = 0; n < 20; ++n) ids.insert(track.id_at(nth(20, 25) + nth(n, 50), walker(20 + n / 2)));
  EXPECT_EQ(ids, kOne);
}

}  // namespace
