// SPDX-License-Identifier: LGPL-2.1-or-later
// StreamClock: how frames lie in time, by its definition.
#include "gst/base/element/stream_clock.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using cudavision::StreamClock;
using cudavision::Tick;
using Place = cudavision::Tick::Place;

constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE, kSecond = GST_SECOND, kFrame = kSecond / 25,
                       kHour = 3600 * kSecond;
constexpr GstClockTime kStart = 10 * kHour;

constexpr GstClockTimeDiff ahead(GstClockTime time) { return static_cast<GstClockTimeDiff>(time); }
constexpr GstClockTimeDiff back(GstClockTime time) { return -ahead(time); }

// Frames of a stream, in this direction.
struct Stream {
  explicit Stream(GstClockTime caps = 0, bool backwards = false) : reverse(backwards) {
    clock.follow_caps(caps);
  }
  // Frame number n of 25 a second, moved by `by` in the direction of playback; with n = 0 at kStart.
  GstClockTime time_of(int n, GstClockTimeDiff by = 0) const {
    const GstClockTimeDiff forward = n * ahead(kFrame) + by;
    return static_cast<GstClockTime>(ahead(kStart) + (reverse ? -forward : forward));
  }
  Tick at(int n, GstClockTimeDiff by = 0) { return next(time_of(n, by)); }
  Tick next(GstClockTime pts, bool is_discont = false) { return clock.next(pts, is_discont, reverse); }
  // A stream that has run for ten frames, the last of which is number 9.
  Stream &run() {
    for (int n = 0; n < 10; ++n) at(n);
    return *this;
  }

  StreamClock clock;
  bool reverse;
};

TEST(StreamClock, any_steady_distance_below_an_hour_is_that_of_frames_that_follow) {
  for (const GstClockTime distance :
       {GstClockTime{1}, kFrame, 19 * kSecond / 10, 5 * kSecond / 2, 30 * kSecond, kHour - 1})
    for (const GstClockTime caps : {GstClockTime{0}, kSecond / 30, 7200 * kSecond})
      for (const bool is_discont : {false, true}) {
        Stream stream(caps);
        EXPECT_EQ(stream.next(0, is_discont).time, 0u);
        for (guint64 n = 1; n < 40; ++n) {
          const Tick tick = stream.next(n * distance, is_discont);
          EXPECT_EQ(tick.place, Place::follows) << distance << ' ' << n;
          EXPECT_EQ(tick.time, distance);
        }
      }
  Stream hours;
  hours.next(0);
  for (guint64 n = 1; n < 10; ++n)
    EXPECT_EQ(hours.next(n * kHour).place, n % 2 == 1 ? Place::stray : Place::jumps) << n;
}

TEST(StreamClock, a_pause_has_its_limits) {
  for (const auto &[distance, limit] :
       {std::pair{kFrame, 2 * kSecond}, {kSecond, 5 * kSecond}, {20 * 60 * kSecond, kHour - 1}})
    for (const GstClockTime more : {GstClockTime{0}, GstClockTime{1}}) {
      Stream stream;
      GstClockTime pts = kStart;
      for (int n = 0; n < 5; ++n) stream.next(pts += distance);
      EXPECT_EQ(stream.next(pts + limit + more).place, more == 0 ? Place::follows : Place::stray) << distance;
    }
}

// After a rare distance, which counts for 15 frames, the same one follows.
TEST(StreamClock, pauses_as_long_as_the_last_ones_are_the_rhythm_of_a_stream) {
  Stream stream;
  int jumps = 0;
  for (int n = 0; n < 60; ++n) jumps += stream.at(n, n / 10 * ahead(10 * kSecond)).tells_jump() ? 1 : 0;
  EXPECT_EQ(jumps, 1);
}

TEST(StreamClock, a_stray_timestamp_disturbs_its_own_frame_alone) {
  for (const bool reverse : {false, true})
    for (const GstClockTimeDiff by : {ahead(2 * kHour), back(2 * kHour), ahead(3 * kSecond), back(kSecond)})
      for (const int period : {2, 5}) {
        Stream stream(0, reverse);
        GstClockTime time = 0;
        const int strays = period - 1;
        bool turned = reverse;  // the first frame of a stream in reverse announces a jump
        for (int n = 0; n < 40; ++n) {
          const bool is_stray = n >= 10 && n % period == strays;
          const Tick tick = stream.at(n, is_stray ? by : 0);
          const Place follows = n > 10 && n % period == 0 ? Place::returns : Place::follows;
          EXPECT_EQ(tick.place, turned ? Place::jumps : is_stray ? Place::stray : follows) << n << ' ' << by;
          EXPECT_TRUE(n == 0 || is_stray || (tick.frames == 1 && tick.step == tick.time && !tick.is_long))
              << n;
          EXPECT_EQ(tick.pause, 0u);
          EXPECT_EQ(time += tick.time, static_cast<guint64>(n) * kFrame) << n;
          turned = false;
        }
      }
}

TEST(StreamClock, a_jump_is_told_once) {
  struct Case {
    GstClockTimeDiff by;
    GstClockTime pause;
  };
  for (const auto &[by, pause] : {Case{ahead(3 * kSecond), 3 * kSecond},
                                  {ahead(5 * kHour), 5 * kHour},
                                  {ahead(25 * kHour), 0},
                                  {back(kSecond), 0},
                                  {back(8 * kFrame), 0}})
    for (const bool announced : {false, true}) {
      Stream stream;
      stream.run();
      if (announced) stream.clock.expect_jump();
      const Tick first = stream.at(10, by), second = stream.at(11, by);
      EXPECT_EQ(first.place, announced ? Place::jumps : Place::stray);
      EXPECT_EQ(second.place, announced ? Place::follows : Place::confirms);
      EXPECT_EQ(announced ? first.pause : second.pause, pause);
      EXPECT_EQ(announced ? second.pause : first.pause, 0u);
      EXPECT_EQ(first.time, kFrame);
      EXPECT_EQ(first.step, pause > 0 ? pause + kFrame : 0);
      EXPECT_EQ(first.frames, pause > 0 ? static_cast<int>(first.step / kFrame) : 1);
      EXPECT_EQ(first.is_long, by > 0);
      for (const Tick &tick : {second, stream.at(12, by)}) {
        EXPECT_EQ(tick.time, kFrame);
        EXPECT_EQ(tick.step, kFrame);
        EXPECT_EQ(tick.frames, 1);
      }
      EXPECT_EQ(stream.at(13, by).place, Place::follows);
    }
}

TEST(StreamClock, of_two_stray_frames_the_second_is_a_jump) {
  Stream stream;
  stream.run();
  EXPECT_EQ(stream.at(10, ahead(kHour)).place, Place::stray);
  EXPECT_EQ(stream.at(11, back(kHour)).place, Place::jumps);
  EXPECT_EQ(stream.at(12, back(kHour)).place, Place::follows);
}

TEST(StreamClock, at_a_new_rate_only_the_first_frame_is_stray) {
  Stream stream(kFrame);
  stream.run();
  for (int n = 1; n < 20; ++n) {
    const Place place = stream.at(9, n * ahead(30 * kSecond)).place;
    EXPECT_EQ(place, n == 1 ? Place::stray : n == 2 ? Place::confirms : Place::follows) << n;
  }
  EXPECT_EQ(stream.clock.duration(), 30 * kSecond);
  for (int n = 10; n < 40; ++n) EXPECT_EQ(stream.at(n, 19 * ahead(30 * kSecond)).place, Place::follows) << n;
  EXPECT_EQ(stream.clock.duration(), kFrame);
}

TEST(StreamClock, announced_frames_follow_only_if_their_time_goes_on) {
  for (const bool is_discont : {false, true}) {
    const auto place_at = [is_discont](GstClockTime pts) {
      Stream stream;
      stream.run();
      if (!is_discont) stream.clock.expect_jump();
      return stream.next(pts, is_discont).place;
    };
    const Stream stream;
    EXPECT_EQ(place_at(stream.time_of(10)), Place::follows);
    EXPECT_EQ(place_at(stream.time_of(9) + 2 * kSecond), Place::follows);
    EXPECT_EQ(place_at(stream.time_of(9) + 2 * kSecond + 1), Place::jumps);
    EXPECT_EQ(place_at(stream.time_of(9)), Place::jumps);
    EXPECT_EQ(place_at(stream.time_of(8)), Place::jumps);
    EXPECT_EQ(place_at(kNone), Place::jumps);
  }
}

TEST(StreamClock, another_direction_is_a_jump) {
  for (const bool reverse : {false, true})
    for (const int n : {8, 10}) {
      Stream stream(0, reverse);
      stream.run();
      stream.reverse = !reverse;
      EXPECT_EQ(stream.next(kStart + static_cast<GstClockTime>(n) * kFrame).place, Place::jumps);
      EXPECT_EQ(
          stream.clock
              .next(kStart + static_cast<GstClockTime>(n + (reverse ? 1 : -1)) * kFrame, false, !reverse)
              .place,
          Place::follows);
    }
}

TEST(StreamClock, a_frame_without_a_time_of_its_own_counts_as_a_frame_duration) {
  for (const GstClockTime caps : {GstClockTime{0}, kFrame}) {
    Stream stream(caps);
    const GstClockTime duration = caps > 0 ? caps : kSecond / 30;
    for (int n = 0; n < 200; ++n) {
      const Tick tick = stream.next(kNone);
      EXPECT_EQ(tick.time, duration);
      EXPECT_EQ(tick.place, Place::follows);
    }
    EXPECT_EQ(stream.clock.knows_duration(), caps > 0);
  }
  // Missing, repeated, and two frames that have changed places: the next time corrects what they have counted.
  Stream stream;
  stream.run();
  GstClockTime time = 0;
  for (const GstClockTime pts : {kNone, kNone, stream.time_of(15), stream.time_of(15), stream.time_of(15),
                                 stream.time_of(18), stream.time_of(17), stream.time_of(20)}) {
    const Tick tick = stream.next(pts);
    EXPECT_EQ(tick.place, Place::follows);
    time += tick.time;
  }
  EXPECT_EQ(time, 11 * kFrame);
  Stream two;
  two.run();
  EXPECT_EQ(two.at(9, back(4 * kFrame)).place, Place::follows);
  EXPECT_EQ(two.at(9, back(4 * kFrame + 1)).place, Place::stray);
}

// The frame durations are those between the frames, whichever are missing or have no timestamp.
TEST(StreamClock, frame_durations_are_counted) {
  std::minstd_rand random(5);
  for (const GstClockTime caps : {GstClockTime{0}, kFrame}) {
    Stream stream(caps);
    stream.run();
    int counted = 9, last_stamped = 9;
    for (int n = 10; n < 2000; ++n) {
      const auto what = random() % 8;
      if (what == 0) continue;
      const bool has_time = what > 1;
      counted += (has_time ? stream.at(n) : stream.next(kNone)).frames;
      if (!has_time) continue;
      EXPECT_EQ(counted, n) << last_stamped;
      last_stamped = n;
    }
  }
}

TEST(StreamClock, a_long_step_is_more_than_twice_the_longest_of_the_last_distances) {
  Stream stream(kFrame);
  EXPECT_FALSE(stream.at(0).is_long);
  EXPECT_FALSE(stream.at(10).is_long) << "the first distance";
  EXPECT_FALSE(stream.at(30).is_long);
  for (int n = 31; n < 46; ++n) EXPECT_FALSE(stream.at(n).is_long);
  EXPECT_TRUE(stream.at(48).is_long);
  EXPECT_FALSE(stream.at(54).is_long);
}

TEST(StreamClock, a_restart_keeps_the_caps_alone) {
  Stream stream(kSecond);
  stream.run();
  EXPECT_EQ(stream.clock.duration(), kFrame);
  stream.clock.restart();
  EXPECT_EQ(stream.clock.duration(), kSecond);
  const Tick first = stream.next(0);
  EXPECT_EQ(first.place, Place::follows);
  EXPECT_EQ(first.time, 0u);
  EXPECT_EQ(stream.next(kHour - 1).place, Place::follows) << "the first distance";
}

// Timestamps may be anything.
TEST(StreamClock, bounds_hold_whatever_comes) {
  std::minstd_rand random(7);
  const std::vector<GstClockTime> times{
      0, 1, kFrame, 2 * kSecond, kHour - 1, kHour, 24 * kHour, GstClockTime{1} << 63, kNone - 1, kNone};
  const std::vector<GstClockTime> durations{0, 1, kFrame, kHour - 1, kHour, kNone - 1};
  StreamClock clock;
  bool was_stray = false;
  GstClockTime last = 0;
  for (int i = 0; i < 200000; ++i) {
    if (random() % 100 == 0) clock.follow_caps(durations[random() % durations.size()]);
    if (random() % 100 == 0) clock.expect_jump();
    if (random() % 1000 == 0) clock.restart(), was_stray = false;
    const GstClockTime time = times[random() % times.size()];
    last = random() % 2 == 0 || time == kNone ? time : last + time;
    const Tick tick = clock.next(last, random() % 50 == 0, i / 1000 % 2 == 1);
    ASSERT_GE(tick.frames, 1);
    ASSERT_LE(tick.time, 2 * kHour);
    ASSERT_LE(tick.pause, 48 * kHour);
    ASSERT_GT(tick.scale, 0);
    ASSERT_FALSE(was_stray && (tick.place == Place::stray || tick.place == Place::follows));
    was_stray = tick.place == Place::stray;
  }
}

}  // namespace
