// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that elements promise to the sinks of live pipelines.
#include <gst/base/gstbasetransform.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

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
  PromisedLatencyTest() { EXPECT_EQ(asked(&latency, kLive), kLive) << "nothing is known"; }
  // Takes so many frames of so many milliseconds. Returns how often the promise has risen.
  int take(int frames, guint64 milliseconds, GstClockTime distance = kDistance) {
    int rises = 0;
    for (int i = 0; i < frames; ++i) rises += latency.take(milliseconds * GST_MSECOND, distance);
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
  take(2, 100, 0);
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
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(of_file.take(100 * GST_MSECOND, kDistance));
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

// --- in a pipeline ---

// An element that takes more than a millisecond for a frame, behind a source that is live.
class SlowElement {
 public:
  bool exchange(int frames) {
    const VideoFrame frame("GRAY8", kEmulated             ? Size{72, 136}
                                    : backend() == "cuda" ? Size{3840, 2160}
                                                          : Size{640, 480});
    harness_.negotiate(frame);
    for (int i = 0; i < frames; ++i) {
      Owned<GstBuffer> buffer = frame.buffer();
      GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(++frames_) * kDistance;
      if (harness_.exchange(std::move(buffer)) == nullptr) return false;
    }
    return true;
  }
  GstHarness *get() { return harness_.get(); }
  GstElement *element() { return harness_.element(); }

 private:
  Harness harness_{"cudahog model=people display=false n-threads=1"};
  int frames_ = 0;
};

class FilterLatency : public ElementTest {};

// As one that is put into a playing pipeline: nobody has asked it before. Without the message the sinks drop nearly all
// of its frames.
TEST_F(FilterLatency, an_element_that_nobody_has_asked_says_that_its_latency_has_changed) {
  SlowElement slow;
  ASSERT_TRUE(slow.exchange(3));
  ASSERT_NE(take_message(slow.element(), GST_MESSAGE_LATENCY), nullptr);
  EXPECT_GE(gst_harness_query_latency(slow.get()), GST_MSECOND);
}

TEST_F(FilterLatency, an_element_behind_a_source_that_is_not_live_posts_nothing) {
  SlowElement slow;
  gst_harness_set_live(slow.get(), FALSE);
  ASSERT_TRUE(slow.exchange(3));
  EXPECT_EQ(take_message(slow.element(), GST_MESSAGE_LATENCY), nullptr);
}

// The base class itself passes each frame: it answers with the time of the last one that has left, also if others were
// dropped because they were late.
TEST_F(FilterLatency, position_is_that_of_the_last_frame_that_has_left) {
  SlowElement slow;
  ASSERT_TRUE(slow.exchange(2));
  EXPECT_TRUE(gst_harness_push_upstream_event(
      slow.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, kDistance, 2 * kDistance)));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(slow.exchange(1));
  ASSERT_TRUE(slow.exchange(1));
  gint64 position = 0;
  EXPECT_TRUE(gst_element_query_position(slow.element(), GST_FORMAT_TIME, &position));
  EXPECT_EQ(position, 6 * static_cast<gint64>(kDistance));
}

TEST_F(FilterLatency, a_sink_that_does_not_wait_gets_every_frame) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc is-live=true num-buffers=10 ! "
      "video/x-raw,format=GRAY8,width=96,height=160,framerate=200/1 ! cudahog model=people display=false "
      "n-threads=1 backend=" +
      std::string(backend()) + " ! fakevideosink name=sink sync=false");
  EXPECT_TRUE(plays_to_the_end(pipeline));
  const Owned<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  GstStructure *stats = nullptr;
  g_object_get(sink.get(), "stats", &stats, nullptr);
  guint64 rendered = 0;
  gst_structure_get_uint64(stats, "rendered", &rendered);
  gst_structure_free(stats);
  EXPECT_EQ(rendered, 10u);
}

}  // namespace
