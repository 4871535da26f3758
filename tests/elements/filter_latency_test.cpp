// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that elements promise to the sinks of live pipelines, and the frames that they drop to keep it.
#include <gst/base/gstbasetransform.h>
#include <gst/check/gsttestclock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "gst/base/element/promised_latency.h"
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

TEST(PromisedLatency, is_what_a_frame_takes_and_a_quarter) {
  PromisedLatency latency;
  EXPECT_EQ(asked(&latency, kLive), kLive);
  EXPECT_FALSE(latency.take(900 * GST_MSECOND, kDistance));  // the first frame takes longer than all others
  EXPECT_TRUE(latency.take(20 * GST_MSECOND, kDistance));
  EXPECT_EQ(asked(&latency, kLive), (Answer{true, 35 * GST_MSECOND, GST_SECOND + 25 * GST_MSECOND}));
  EXPECT_EQ(asked(&latency, {true, 0, GST_CLOCK_TIME_NONE}),
            (Answer{true, 25 * GST_MSECOND, GST_CLOCK_TIME_NONE}));
  EXPECT_EQ(asked(&latency, {false, 0, GST_CLOCK_TIME_NONE}), (Answer{false, 0, GST_CLOCK_TIME_NONE}));
}

// An element that is never ready when a frame arrives takes a frame that is up to one distance old.
TEST(PromisedLatency, of_an_element_that_cannot_take_every_frame_is_longer_by_the_distance_of_frames) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  for (int i = 0; i < 2; ++i) (void)latency.take(100 * GST_MSECOND, kDistance);
  EXPECT_EQ(asked(&latency, kLive).least, (10 + 125 + 40) * GST_MSECOND);
}

TEST(PromisedLatency, is_raised_seldom_and_never_for_one_frame) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  int raised = 0;
  for (int i = 0; i < 100; ++i) raised += latency.take((20 + i % 5) * GST_MSECOND, kDistance);
  EXPECT_EQ(raised, 1);
  EXPECT_FALSE(latency.take(GST_SECOND, kDistance));
  EXPECT_FALSE(latency.take(20 * GST_MSECOND, kDistance));
  for (int i = 0; i < 10; ++i) raised += latency.take(30 * GST_MSECOND, kDistance);
  EXPECT_EQ(raised, 2);
}

TEST(PromisedLatency, is_not_worth_a_message_below_a_millisecond_and_without_a_live_sink) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(latency.take(GST_MSECOND - 1, kDistance));
  EXPECT_EQ(asked(&latency, kLive), kLive);
  PromisedLatency of_file;
  (void)asked(&of_file, {false, 0, GST_CLOCK_TIME_NONE});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(of_file.take(100 * GST_MSECOND, kDistance));
}

// An element in a live pipeline that promises 25 ms, and its clock.
class LiveElement {
 public:
  LiveElement() {
    GstElement *element = element_.get();
    gst_element_set_clock(element, clock_.get());
    gst_element_set_base_time(element, 0);
    gst_segment_init(&transform()->segment, GST_FORMAT_TIME);
    gst_base_transform_set_qos_enabled(transform(), TRUE);
    latency_.restart();
    (void)asked(&latency_, {true, 0, GST_CLOCK_TIME_NONE});
    for (int i = 0; i < 2; ++i) (void)latency_.take(20 * GST_MSECOND, kDistance);
    EXPECT_FALSE(drops(0, 0));  // a frame a second is never dropped
  }
  // Times in milliseconds from kBegin on. The clock must not go back.
  void leave(guint64 pts, guint64 now) { latency_.leave(transform(), frame(pts, now).get()); }
  void tell(guint64 pts, int late_by, guint64 now) {
    (void)frame(pts, now);
    GstEvent *event =
        gst_event_new_qos(late_by < 0 ? GST_QOS_TYPE_OVERFLOW : GST_QOS_TYPE_UNDERFLOW, 1,
                          late_by * static_cast<GstClockTimeDiff>(GST_MSECOND), (kBegin + pts) * GST_MSECOND);
    latency_.take_qos(transform(), event);
    gst_event_unref(event);
  }
  void tell_of_drop(guint64 pts, int late_by, guint64 now) {
    (void)frame(pts, now);
    GstStructure *drop = gst_structure_new("GstCudaVisionDroppedFrame", "running-time", G_TYPE_UINT64,
                                           (kBegin + pts) * GST_MSECOND, "lateness", G_TYPE_INT64,
                                           static_cast<gint64>(late_by * GST_MSECOND), nullptr);
    GstEvent *event = gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, drop);
    latency_.take_drop(transform(), event);
    gst_event_unref(event);
  }
  bool drops(guint64 pts, guint64 now) { return latency_.drops(transform(), frame(pts, now).get()); }
  PromisedLatency &latency() { return latency_; }

 private:
  static constexpr guint64 kBegin = 1000;  // a frame cannot come before the running time 0

  GstBaseTransform *transform() { return GST_BASE_TRANSFORM(element_.get()); }
  Owned<GstBuffer> frame(guint64 pts, guint64 now) {
    gst_test_clock_set_time(GST_TEST_CLOCK(clock_.get()), (kBegin + now) * GST_MSECOND);
    Owned<GstBuffer> buffer(gst_buffer_new());
    GST_BUFFER_PTS(buffer.get()) = (kBegin + pts) * GST_MSECOND;
    return buffer;
  }

  Owned<GstElement> element_{GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("identity", nullptr)))};
  std::unique_ptr<GstClock, decltype(&gst_object_unref)> clock_{gst_test_clock_new(), gst_object_unref};
  PromisedLatency latency_;
};

// A frame is dropped if it would leave later than at pts + 25 ms, after 20 ms of work.
TEST(PromisedLatency, has_room_if_the_sink_shows_frames_later) {
  LiveElement element;
  EXPECT_FALSE(element.drops(33, 38));
  EXPECT_TRUE(element.drops(33, 39));
  element.leave(40, 50);
  element.tell(40, -590, 640);  // a sink that shows frames 600 ms later
  EXPECT_FALSE(element.drops(100, 679));
  EXPECT_TRUE(element.drops(100, 681));
  EXPECT_EQ(element.latency().longest_hold(), 600 * GST_MSECOND);
  element.leave(200, 700);
  element.tell(200, -33, 800);  // had waited behind another frame
  EXPECT_FALSE(element.drops(300, 879));
  element.leave(300, 880);
  element.tell(300, 30, 931);  // it came late, for what is in between takes 50 ms
  EXPECT_FALSE(element.drops(402, 931));
  EXPECT_TRUE(element.drops(400, 931));
  element.leave(400, 932);
  element.tell(400, -10, 1000);  // takes 58 ms, or has waited
  EXPECT_TRUE(element.drops(500, 1031));
  element.leave(4500, 5032);
  element.tell(4500, -60, 5100);  // takes 8 ms at most, and no frame came late for long
  EXPECT_FALSE(element.drops(4600, 5171));
  EXPECT_TRUE(element.drops(4600, 5173));
}

// Behind a tee, of which one branch takes longer.
TEST(PromisedLatency, has_the_room_of_the_slowest_branch) {
  LiveElement element;
  element.leave(40, 50);
  element.tell(40, -200, 260);
  element.leave(80, 262);
  EXPECT_FALSE(element.drops(200, 400));
  element.tell_of_drop(80, 200, 410);
  element.leave(240, 420);
  element.tell(240, -40, 460);        // by the other sink
  element.tell_of_drop(240, 1, 470);  // another frame takes less
  EXPECT_FALSE(element.drops(500, 504));
  EXPECT_TRUE(element.drops(500, 510));
  element.leave(4000, 4010);
  element.tell(4000, -200, 4220);  // no frame came late for long
  EXPECT_FALSE(element.drops(4300, 4489));
  EXPECT_TRUE(element.drops(4300, 4492));
}

TEST(PromisedLatency, forgets_what_another_sink_said) {
  LiveElement element;
  element.leave(40, 50);
  element.tell(40, -590, 640);
  element.leave(60, 645);
  element.tell(60, 100, 700);
  element.latency().forget_frames();  // the running time begins anew with a flush
  element.leave(130, 710);
  element.tell(130, -20, 730);
  EXPECT_FALSE(element.drops(200, 779));
  element.latency().forget_sink();
  EXPECT_TRUE(element.drops(300, 780));
}

// Something between the element and the sink gives frames times of its own.
TEST(PromisedLatency, has_no_room_if_nobody_knows_which_frame_came_late) {
  LiveElement element;
  element.leave(40, 50);
  element.tell(40, -590, 640);
  element.tell(41, 5, 650);
  EXPECT_TRUE(element.drops(200, 660));
}

TEST(PromisedLatency, learns_nothing_of_a_sink_that_does_not_wait) {
  LiveElement element;
  element.leave(40, 500);
  element.tell(40, 0, 640);
  EXPECT_TRUE(element.drops(600, 700));
}

// --- in a pipeline ---

class FilterLatency : public ElementTest {};

// A live source of 50 frames a second, and an element that takes a multiple of a frame's duration. sink: its properties.
struct Played {
  int shown = 0, processed = 0, dropped_by_sink = 0;
};

Played play(const std::string &element, const std::string &sink, int frames, const std::string &behind = "") {
  Played played;
  const Owned<GstElement> pipeline =
      parse("videotestsrc is-live=true pattern=ball num-buffers=" + std::to_string(frames) +
            " ! video/x-raw,format=GRAY8,width=1280,height=720,framerate=50/1 ! " + element +
            " n-threads=1 backend=" + backend() + behind +
            " ! identity name=out silent=true signal-handoffs=true ! fakevideosink name=sink " + sink);
  const Owned<GstElement> out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  g_signal_connect(out.get(), "handoff",
                   G_CALLBACK(+[](GstElement *, GstBuffer *, int *processed) { ++*processed; }),
                   &played.processed);
  EXPECT_TRUE(plays_to_the_end(pipeline));
  const Owned<GstElement> shower(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  GstStructure *stats = nullptr;
  g_object_get(shower.get(), "stats", &stats, nullptr);
  guint64 rendered = 0, dropped = 0;
  gst_structure_get_uint64(stats, "rendered", &rendered);
  gst_structure_get_uint64(stats, "dropped", &dropped);
  gst_structure_free(stats);
  played.shown = static_cast<int>(rendered), played.dropped_by_sink = static_cast<int>(dropped);
  return played;
}

// Whether is_good() holds for one of three runs of play(): a machine that has other work as well may be late for a while.
template <typename IsGood>
bool succeeds_once(const std::string &element, const IsGood &is_good, const std::string &sink = "sync=true",
                   const std::string &behind = "") {
  for (int i = 0; i < 3; ++i)
    if (is_good(play(element, sink, 100, behind))) return true;
  return false;
}

// Whether the machine has more work than processors, so that frames are late whatever an element does.
bool is_overloaded() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 1.5 * std::thread::hardware_concurrency();
}

// Before the promise was there, a sink that waits showed one frame a second.
TEST_F(FilterLatency, a_slow_element_loses_no_frame_that_it_has_worked_on) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  // Of the first frames nobody knows yet how long they take.
  const bool good = succeeds_once("cudahog model=people display=false", [](const Played &played) {
    return played.shown > 3 && played.processed - played.shown <= 4 + played.processed / 4;
  });
  if (!good && is_overloaded()) GTEST_SKIP() << "the machine has other work";
  EXPECT_TRUE(good) << "most frames that were worked on came too late";
}

// Without a queue, a frame arrives when the sink has let the previous one go, and sinks add to the latency for themselves.
TEST_F(FilterLatency, an_element_that_keeps_up_loses_no_frame) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  const bool good = succeeds_once("cudaopticalflow preset=medium display=false roi-width=320 roi-height=320",
                                  [](const Played &played) { return played.shown >= 60; });
  if (!good && is_overloaded()) GTEST_SKIP() << "the machine has other work";
  EXPECT_TRUE(good) << "without the slack every second frame is lost";
}

// Another branch may have made the latency of the pipeline long. Then the sink holds each frame, and the next one comes late;
// with a queue in between, only when this is full.
TEST_F(FilterLatency, an_element_before_a_sink_that_holds_frames_loses_none) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  for (const char *behind : {"", " ! queue max-size-buffers=3"}) {
    const bool good = succeeds_once(
        "cudaopticalflow preset=medium display=false roi-width=320 roi-height=320",
        [](const Played &played) { return played.shown >= 75; }, "sync=true ts-offset=400000000", behind);
    if (!good && is_overloaded()) GTEST_SKIP() << "the machine has other work";
    EXPECT_TRUE(good) << "few frames are shown" << behind;
  }
}

TEST_F(FilterLatency, a_sink_that_does_not_wait_gets_every_frame) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  EXPECT_EQ(play("cudahog model=people display=false", "sync=false", 20).processed, 20);
}

}  // namespace
