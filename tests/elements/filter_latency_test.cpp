// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that elements promise to the sinks of live pipelines.
#include <gst/base/gstbasetransform.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gst/base/element/promised_latency.h"
#include "gst/base/element/timing.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision;
using namespace cudavision::test;

constexpr GstClockTime kDistance = 40 * GST_MSECOND;

struct Answer {
  bool live;
  GstClockTime least, most;
  bool operator==(const Answer &) const = default;
};

// What the element says if the one before it says `before`.
Answer asked(PromisedLatency *latency, const Answer &before) {
  const std::unique_ptr<GstQuery, decltype(&gst_query_unref)> query(gst_query_new_latency(), gst_query_unref);
  gst_query_set_latency(query.get(), before.live, before.least, before.most);
  latency->add_to(query.get());
  gboolean live = FALSE;
  Answer answer{};
  gst_query_parse_latency(query.get(), &live, &answer.least, &answer.most);
  answer.live = live != FALSE;
  return answer;
}

constexpr Answer kLive{true, 10 * GST_MSECOND, GST_SECOND};

// The promise of an element in a live pipeline whose caps promise a frame each kDistance.
class PromisedLatencyTest : public testing::Test {
 protected:
  PromisedLatencyTest() {
    latency.set_frame_duration(kDistance);
    EXPECT_EQ(asked(&latency, kLive), kLive) << "nothing is known";
  }
  // Takes so many frames of so many milliseconds. Returns how often the promise has risen.
  int take(int frames, guint64 milliseconds) {
    int rises = 0;
    for (int i = 0; i < frames; ++i) rises += latency.take(milliseconds * GST_MSECOND);
    return rises;
  }
  guint64 promised() { return (asked(&latency, kLive).least - kLive.least) / GST_MSECOND; }

  PromisedLatency latency;
};

TEST_F(PromisedLatencyTest, is_what_a_frame_takes_and_a_quarter) {
  EXPECT_EQ(take(1, 900), 0) << "the first frame takes longer than all others";
  EXPECT_EQ(take(1, 20), 1);
  EXPECT_EQ(asked(&latency, kLive), (Answer{true, 35 * GST_MSECOND, GST_SECOND + 25 * GST_MSECOND}));
  EXPECT_EQ(asked(&latency, {true, 0, GST_CLOCK_TIME_NONE}),
            (Answer{true, 25 * GST_MSECOND, GST_CLOCK_TIME_NONE}));
}

// An element that is never ready when a frame arrives takes a frame that has waited for up to its duration.
TEST_F(PromisedLatencyTest, is_longer_by_a_frame_if_the_element_takes_longer_than_a_frame_lasts) {
  take(2, 100);
  EXPECT_EQ(promised(), 125u + 40u);
  latency.restart();
  take(2, 100);
  EXPECT_EQ(promised(), 125u) << "the caps have no rate";
}

TEST_F(PromisedLatencyTest, rises_seldom_never_for_one_frame_and_never_falls) {
  EXPECT_EQ(take(2, 24), 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(take(1, 20 + i % 5), 0);
  EXPECT_EQ(take(1, 1000) + take(1, 20), 0);
  EXPECT_EQ(promised(), 30u);
  EXPECT_EQ(take(10, 28), 1);
  EXPECT_EQ(take(1000, 2), 0);
  EXPECT_EQ(promised(), 35u);
}

TEST_F(PromisedLatencyTest, has_limits) {
  EXPECT_EQ(take(20, 0), 0) << "less than a millisecond is not worth a message";
  EXPECT_EQ(promised(), 0u);
  EXPECT_EQ(take(20, 100000), 1);
  EXPECT_EQ(promised(), 10000u);
}

TEST_F(PromisedLatencyTest, is_not_worth_a_message_if_nothing_is_live) {
  PromisedLatency of_file;
  (void)asked(&of_file, {false, 0, GST_CLOCK_TIME_NONE});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(of_file.take(100 * GST_MSECOND));
  EXPECT_FALSE(of_file.hold(GST_SECOND));
}

TEST_F(PromisedLatencyTest, contains_the_time_for_which_frames_are_held) {
  EXPECT_TRUE(latency.hold(300 * GST_MSECOND));
  EXPECT_FALSE(latency.hold(300 * GST_MSECOND));
  take(2, 20);
  EXPECT_EQ(promised(), 325u);
  EXPECT_TRUE(latency.hold(200 * GST_MSECOND));
  EXPECT_EQ(promised(), 225u);
  latency.restart();
  EXPECT_EQ(promised(), 0u);
}

void take_frame_at(FrameDistance *measured, GstClockTime pts, bool discont = false) {
  const Owned<GstBuffer> frame(gst_buffer_new());
  GST_BUFFER_PTS(frame.get()) = pts;
  if (discont) GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);
  measured->take(frame.get());
}

// A stream of frames at these times in milliseconds. frame_duration: by the caps, or 0.
FrameDistance stream_at(const std::vector<guint64> &times, guint64 frame_duration, bool discont = false) {
  FrameDistance measured;
  measured.set_frame_duration(frame_duration * GST_MSECOND);
  for (const guint64 time : times) take_frame_at(&measured, time * GST_MSECOND, discont);
  return measured;
}

// Eight frames at this distance in milliseconds, while the caps promise a frame every 33 ms.
FrameDistance stream_of(guint64 distance) {
  std::vector<guint64> times(8);
  for (guint64 i = 0; i < times.size(); ++i) times[i] = i * distance;
  return stream_at(times, 33);
}

TEST(FrameDistance, of_frames_in_bursts_is_their_mean) {
  std::vector<guint64> times;
  for (guint64 i = 0; i < 40; ++i) times.push_back(i / 5 * 160 + i % 5);
  EXPECT_NEAR(static_cast<double>(stream_at(times, 0).get()), 32.0 * GST_MSECOND, 4.0 * GST_MSECOND);
  EXPECT_EQ(stream_at(times, 30).get(), 30 * GST_MSECOND);
}

TEST(FrameDistance, leaves_out_one_long_pause) {
  EXPECT_EQ(stream_at({0, 20, 40, 60, 1500, 1520, 1540}, 0).get(), 20 * GST_MSECOND);
  EXPECT_EQ(stream_at({0, 1900, 1920, 1940, 1960, 1980}, 0).get(), 20 * GST_MSECOND);
}

TEST(FrameDistance, counts_a_frame_that_a_leaky_queue_has_dropped) {
  const std::vector<guint64> times{0, 100, 200, 300, 400, 500, 600};
  EXPECT_EQ(stream_at(times, 0).get(), 100 * GST_MSECOND);
  EXPECT_EQ(stream_at(times, 0, true).get(), 50 * GST_MSECOND);
  EXPECT_EQ(stream_at(times, 33, true).get(), 33 * GST_MSECOND);
}

// What is held back for ten frames, of a camera that takes fewer frames in the dark.
TEST(FrameDistance, of_frames_to_come_follows_a_lower_rate_at_once) {
  std::vector<guint64> times;
  for (guint64 i = 0; i < 40; ++i) times.push_back(33 * i);
  EXPECT_EQ(stream_at(times, 33).of_frames(10), 330 * GST_MSECOND);
  for (int i = 0; i < 5; ++i) times.push_back(times.back() + 66);
  EXPECT_EQ(stream_at(times, 33).of_frames(10), (5 * 33 + 5 * 66) * GST_MSECOND);
  for (int i = 0; i < 5; ++i) times.push_back(times.back() + 66);
  EXPECT_EQ(stream_at(times, 33).of_frames(10), 660 * GST_MSECOND);
  times.push_back(times.back() + 900);
  EXPECT_EQ(stream_at(times, 33).of_frames(10), 660 * GST_MSECOND) << "one pause";
}

// Whatever was dropped before the element, so many frames must arrive. Those of a detector that has just started come
// seldom.
TEST(FrameDistance, of_frames_to_come_counts_whole_gaps_but_no_rare_ones) {
  std::vector<guint64> times{0, 500, 910};
  EXPECT_EQ(stream_at(times, 33, true).of_frames(10), 330 * GST_MSECOND) << "too few are known";
  for (int i = 0; i < 16; ++i) times.push_back(times.back() + 100);
  EXPECT_EQ(stream_at(times, 33, true).of_frames(10), GST_SECOND);
  times.push_back(times.back() + 500);
  EXPECT_EQ(stream_at(times, 33, true).of_frames(10), GST_SECOND);
}

TEST(FrameDistance, of_frames_to_come_in_pairs_and_bursts_is_their_mean) {
  std::vector<guint64> pairs, bursts;
  for (guint64 i = 0; i < 40; ++i) pairs.push_back(i / 2 * 60), bursts.push_back(i / 5 * 165);
  EXPECT_EQ(stream_at(pairs, 30).of_frames(10), 300 * GST_MSECOND);
  EXPECT_EQ(stream_at(bursts, 33).of_frames(10), 330 * GST_MSECOND);
  std::vector<guint64> slow_bursts;
  for (guint64 i = 0; i < 40; ++i) slow_bursts.push_back(i / 5 * 165 + i % 5 * 10);
  EXPECT_EQ(stream_at(slow_bursts, 33).of_frames(15), 495 * GST_MSECOND);
}

// Whether the second of two frames continues the video; a segment with the rate begins before it.
bool continues_at(GstClockTime from, GstClockTime to, double rate_before, double rate) {
  Continuity continuity;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  bool continues = false;
  for (const auto &[pts, new_rate] : {std::pair{from, rate_before}, {to, rate}}) {
    const Owned<GstBuffer> frame(gst_buffer_new());
    GST_BUFFER_PTS(frame.get()) = pts;
    segment.rate = new_rate;
    continuity.expect_jump();
    continues = continuity.continues(frame.get(), segment, FrameDistance::kLeastGap);
  }
  return continues;
}

TEST(Continuity, frames_of_another_direction_are_another_video) {
  EXPECT_TRUE(continues_at(GST_SECOND, GST_SECOND + kDistance, 1, 1));
  EXPECT_TRUE(continues_at(GST_SECOND, GST_SECOND - kDistance, -1, -1));
  EXPECT_FALSE(continues_at(GST_SECOND, GST_SECOND - kDistance, 1, 1));
  EXPECT_FALSE(continues_at(GST_SECOND, GST_SECOND - kDistance, 1, -1));
  EXPECT_FALSE(continues_at(GST_SECOND, GST_SECOND + kDistance, -1, 1));
}

TEST(FrameDistance, counts_no_gaps_of_hours) {
  FrameDistance measured;
  for (const GstClockTime pts : {GstClockTime{0}, GST_CLOCK_TIME_NONE - 1, GstClockTime{1} << 62,
                                 GstClockTime{5}, GST_CLOCK_TIME_NONE - 33}) {
    take_frame_at(&measured, pts);
    EXPECT_EQ(measured.get(), 0u);
    EXPECT_EQ(measured.of_frames(300), 0u);
  }
}

TEST(FrameDistance, starts_anew_after_a_gap_that_ends_a_video) {
  EXPECT_EQ(stream_at({0, 20, 40, 90000, 90100, 90200}, 0).get(), 100 * GST_MSECOND);
  EXPECT_EQ(stream_at({90000, 90020, 90040, 0, 100, 200}, 0).get(), 100 * GST_MSECOND);
}

TEST(FrameDistance, is_that_of_new_caps) {
  FrameDistance measured = stream_of(20);
  measured.set_frame_duration(200 * GST_MSECOND);
  EXPECT_EQ(measured.get(), 200 * GST_MSECOND);
}

// Behind a leaky queue an element of 70 ms gets every second or third frame.
TEST(FrameDistance, of_a_slow_element_is_that_of_the_caps_unless_frames_are_much_further_apart) {
  for (const guint64 distance : {66, 99, 231})
    EXPECT_EQ(stream_of(distance).before(70 * GST_MSECOND), 33 * GST_MSECOND) << distance;
  EXPECT_EQ(stream_of(20).before(70 * GST_MSECOND), 20 * GST_MSECOND);
  EXPECT_EQ(stream_of(1000).before(70 * GST_MSECOND), GST_SECOND);
  EXPECT_EQ(stream_of(100).before(20 * GST_MSECOND), 100 * GST_MSECOND);
}

// --- in a pipeline ---

class FilterLatency : public ElementTest {
 protected:
  // An element that takes more than a millisecond for a frame, behind a source that is live.
  Harness slow_{"cudahog model=people display=false n-threads=1"};

  bool exchange(int frames) {
    const VideoFrame frame("GRAY8", {640, 480});
    slow_.negotiate(frame);
    for (int i = 0; i < frames; ++i) {
      Owned<GstBuffer> buffer = frame.buffer();
      GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(++frames_) * kDistance;
      if (slow_.exchange(std::move(buffer)) == nullptr) return false;
    }
    return true;
  }
  GstClockTime promised() { return gst_harness_query_latency(slow_.get()); }

 private:
  int frames_ = 0;
};

// As one that is put into a playing pipeline: nobody has asked it before. Without the message the sinks drop nearly all
// of its frames.
TEST_F(FilterLatency, an_element_that_nobody_has_asked_says_that_its_latency_has_changed) {
  ASSERT_TRUE(exchange(3));
  ASSERT_NE(take_message(slow_.element(), GST_MESSAGE_LATENCY), nullptr);
  EXPECT_GE(promised(), GST_MSECOND);
}

TEST_F(FilterLatency, an_element_behind_a_source_that_is_not_live_posts_nothing) {
  gst_harness_set_live(slow_.get(), FALSE);
  ASSERT_TRUE(exchange(3));
  EXPECT_EQ(take_message(slow_.element(), GST_MESSAGE_LATENCY), nullptr);
}

// The base class itself passes each frame: it answers with the time of the last one that has left, also if others were
// dropped because they were late.
TEST_F(FilterLatency, position_is_that_of_the_last_frame_that_has_left) {
  ASSERT_TRUE(exchange(2));
  EXPECT_TRUE(gst_harness_push_upstream_event(
      slow_.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, kDistance, 2 * kDistance)));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(exchange(1));
  ASSERT_TRUE(exchange(1));
  gint64 position = 0;
  EXPECT_TRUE(gst_element_query_position(slow_.element(), GST_FORMAT_TIME, &position));
  EXPECT_EQ(position, 6 * static_cast<gint64>(kDistance));
}

TEST_F(FilterLatency, a_sink_that_does_not_wait_gets_every_frame) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc is-live=true num-buffers=20 ! "
      "video/x-raw,format=GRAY8,width=320,height=240,framerate=200/1 ! cudahog model=people display=false "
      "n-threads=1 backend=" +
      std::string(backend()) + " ! fakevideosink name=sink sync=false");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  const Owned<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  GstStructure *stats = nullptr;
  g_object_get(sink.get(), "stats", &stats, nullptr);
  guint64 rendered = 0;
  gst_structure_get_uint64(stats, "rendered", &rendered);
  gst_structure_free(stats);
  EXPECT_EQ(rendered, 20u);
}

}  // namespace
