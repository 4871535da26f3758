// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency that elements promise to the sinks of live pipelines, and the frames that they drop to keep it.
#include <gst/base/gstbasetransform.h>
#include <gst/check/gsttestclock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
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

TEST(PromisedLatency, is_raised_when_frames_come_more_often) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  for (int i = 0; i < 2; ++i) (void)latency.take(20 * GST_MSECOND, kDistance);
  EXPECT_TRUE(latency.take(20 * GST_MSECOND, kDistance / 2));
  EXPECT_EQ(asked(&latency, kLive).least, (10 + 25 + 20) * GST_MSECOND);
  EXPECT_FALSE(latency.take(20 * GST_MSECOND, kDistance));
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

// Such as after an overload of the processor.
TEST(PromisedLatency, falls_when_many_frames_take_less_than_half) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  for (int i = 0; i < 100; ++i) (void)latency.take(200 * GST_MSECOND, GST_SECOND);
  int changes = 0;
  for (int i = 0; i < 600; ++i) changes += latency.take(20 * GST_MSECOND, GST_SECOND);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(asked(&latency, kLive).least, (10 + 25) * GST_MSECOND);
  for (int i = 0; i < 600; ++i) changes += latency.take(12 * GST_MSECOND, GST_SECOND);
  EXPECT_EQ(changes, 1) << "more than half is not worth a message";
}

TEST(PromisedLatency, of_frames_held_changes_only_by_much) {
  PromisedLatency latency;
  (void)asked(&latency, kLive);
  int changes = 0;
  for (const guint64 time : {320, 330, 310, 250, 335}) changes += latency.hold(time * GST_MSECOND);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(asked(&latency, kLive).least, (10 + 320) * GST_MSECOND);
  EXPECT_TRUE(latency.hold(400 * GST_MSECOND));
  for (int i = 0; i < 100; ++i) changes += latency.hold((i % 20 == 0 ? 390 : 100) * GST_MSECOND);
  EXPECT_EQ(changes, 1) << "a hold that flips";
  for (int i = 0; i < 40; ++i) changes += latency.hold((200 - i) * GST_MSECOND);
  EXPECT_EQ(changes, 2);
  EXPECT_EQ(asked(&latency, kLive).least, (10 + 200) * GST_MSECOND);
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

// An element in a live pipeline of a frame each 20 ms, and its clock. It takes 20 ms for one, and so promises 45.
class LiveElement {
 public:
  explicit LiveElement(GstClockTime frame_distance = 20 * GST_MSECOND) {
    GstElement *element = element_.get();
    gst_element_set_clock(element, clock_.get());
    gst_element_set_base_time(element, 0);
    gst_segment_init(&transform()->segment, GST_FORMAT_TIME);
    gst_base_transform_set_qos_enabled(transform(), TRUE);
    latency_.restart();
    (void)asked(&latency_, {true, 0, GST_CLOCK_TIME_NONE});
    for (int i = 0; i < 2; ++i) (void)latency_.take(20 * GST_MSECOND, frame_distance);
    EXPECT_FALSE(drops(0, 0));  // the first frame is never dropped
  }
  // Times in milliseconds from kBegin on. The clock must not go back.
  void tell(guint64 pts, int late_by, guint64 now) {
    (void)frame(pts, now);
    GstEvent *event =
        gst_event_new_qos(late_by < 0 ? GST_QOS_TYPE_OVERFLOW : GST_QOS_TYPE_UNDERFLOW, 1,
                          late_by * static_cast<GstClockTimeDiff>(GST_MSECOND), (kBegin + pts) * GST_MSECOND);
    latency_.take_qos(element_.get(), event);
    gst_event_unref(event);
  }
  void tell_latency(guint64 of_pipeline) {
    GstEvent *event = gst_event_new_latency(of_pipeline * GST_MSECOND);
    latency_.take_event(event);
    gst_event_unref(event);
  }
  // The latest time, in steps of 1 ms from `from` on, at which the element does not drop a frame with this timestamp.
  guint64 latest(guint64 pts, guint64 from) {
    while (!drops(pts, from)) ++from;
    return from - 1;
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

bool takes_promise(PromisedLatency *latency, const char *name, guint64 milliseconds) {
  const std::unique_ptr<GstEvent, decltype(&gst_event_unref)> event(
      gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new(name, "latency", G_TYPE_UINT64,
                                                                        milliseconds * GST_MSECOND, nullptr)),
      gst_event_unref);
  return latency->take_promise(event.get());
}
constexpr const char *kPromise = "GstCudaVisionPromisedLatency";

// A frame is dropped if it would leave later than at pts + 45 ms, after 20 ms of work.
TEST(PromisedLatency, has_room_if_the_sink_shows_frames_later) {
  LiveElement element;
  EXPECT_EQ(element.latest(20, 40), 45U);
  element.tell_latency(50);  // 5 ms more than was promised, which nobody needs
  EXPECT_EQ(element.latest(40, 60), 70U);
  element.tell_latency(500);
  EXPECT_EQ(element.latest(60, 80), 105U) << "a sink hardly needs the 20 ms that it allows for itself";
  element.tell(60, -550, 660);  // a sink that shows frames 600 ms later
  EXPECT_EQ(element.latest(120, 680), 700U);
  EXPECT_EQ(element.latency().longest_hold(), 600 * GST_MSECOND);
}

// A sink that took long for one frame seems to show frames later; a late frame shows when it would have been in time.
// Nothing is learnt from a sink that does not wait.
TEST(PromisedLatency, learns_when_the_sink_shows_frames) {
  LiveElement element;
  element.tell(20, 30, 110);  // was due after 60 ms
  element.tell(40, 0, 500);
  EXPECT_EQ(element.latest(480, 500), 520U);
  element.tell(480, -90, 1280);  // was due after 600 ms, and shown for 200
  EXPECT_EQ(element.latest(600, 1290), 1380U);
  element.tell(700, 90, 1390);
  EXPECT_EQ(element.latest(900, 1400), 1480U);
}

TEST(PromisedLatency, leaves_the_time_that_the_slowest_branch_behind_it_promises) {
  LiveElement element;
  element.tell(40, -190, 240);  // the sink shows frames 200 ms later
  EXPECT_EQ(element.latest(80, 250), 260U);
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 90));
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 30));
  EXPECT_EQ(element.latest(200, 280), 290U);
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 1000));  // more than there is
  EXPECT_EQ(element.latest(300, 295), 300U) << "what comes fresh is in time";
}

// Otherwise frames that the later sink still shows would fill a queue in front of the element, and all be late for the
// earlier one.
TEST(PromisedLatency, of_two_sinks_the_earlier_one_counts) {
  LiveElement element;
  for (guint64 pts = 0; pts < 200; pts += 40) {
    element.tell(pts, -50, pts + 500);
    element.tell(pts, 300, pts + 500);  // was due after 200 ms
  }
  element.tell(240, -50, 740);
  EXPECT_EQ(element.latest(600, 770), 780U);
  element.tell(800, -50, 1700);  // a second later only the other sink reports
  EXPECT_EQ(element.latest(900, 1770), 1780U);
}

// Because of ts-offset, or of a latency that is less than was promised.
TEST(PromisedLatency, has_less_room_if_the_sink_shows_frames_earlier) {
  LiveElement element;
  element.tell(40, 30, 100);  // was due after 30 ms
  EXPECT_EQ(element.latest(100, 105), 110U);
  element.tell(100, 70, 180);  // after 10 ms, less than the element takes
  EXPECT_EQ(element.latest(190, 185), 190U);
}

// A promise falls, too: what is told a second later is no other branch.
TEST(PromisedLatency, follows_a_promise_behind_it_that_falls) {
  LiveElement element;
  element.tell(40, -190, 240);  // the sink shows frames 200 ms later
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 90));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 30));
  EXPECT_EQ(element.latest(200, 280), 350U);
}

TEST(PromisedLatency, takes_only_its_own_events_and_times_that_can_be) {
  LiveElement element;
  element.tell(40, -190, 240);
  EXPECT_FALSE(takes_promise(&element.latency(), "OfSomebodyElse", 90));
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 4000 * 1000));
  EXPECT_EQ(element.latest(80, 250), 260U);
}

TEST(PromisedLatency, forgets_what_another_sink_said) {
  LiveElement element;
  element.tell(40, -590, 640);
  EXPECT_TRUE(takes_promise(&element.latency(), kPromise, 300));
  EXPECT_EQ(element.latest(400, 650), 680U);
  element.latency().forget_sink();
  EXPECT_EQ(element.latest(660, 682), 685U);
  element.tell(700, -590, 1290);
  EXPECT_EQ(element.latest(800, 1300), 1370U);
}

TEST(PromisedLatency, of_an_element_that_takes_every_second_frame_drops_none) {
  LiveElement element;
  (void)element.latency().take(20 * GST_MSECOND, 20 * GST_MSECOND, 2);
  EXPECT_FALSE(element.drops(20, 900)) << "the frames between go on without it";
  (void)element.latency().take(20 * GST_MSECOND, 20 * GST_MSECOND, 1);
  EXPECT_TRUE(element.drops(40, 900));
}

// At most as many frames are dropped in a row as have come during the work on the last frame. If frames are late for
// another reason, the element would otherwise never work.
TEST(PromisedLatency, of_an_element_before_which_all_frames_are_late_lets_its_share_pass) {
  LiveElement element;
  int passed = 0;
  guint64 now = 2000;  // frames come 1 s late, each 20 ms, when it is ready: it takes 50 ms for one
  for (guint64 pts = 1000; pts < 2000; pts += 20) {
    now = std::max(now, pts + 1000);
    if (element.drops(pts, now)) continue;
    ++passed;
    now += 50;
  }
  EXPECT_GE(passed, 12);
  EXPECT_LE(passed, 20);
  for (guint64 pts = 2000, i = 0; i < 10; ++i) (void)element.drops(pts + i, 3060 + i);
  EXPECT_FALSE(element.drops(2300, 3360)) << "the next ten that come at once";
}

// An element that takes 20 of 40 ms makes up for any delay.
TEST(PromisedLatency, of_an_element_that_keeps_up_drops_nothing) {
  LiveElement keeps_up(40 * GST_MSECOND), of_unknown_frame_rate(0);
  EXPECT_FALSE(keeps_up.drops(20, 900));
  EXPECT_FALSE(of_unknown_frame_rate.drops(20, 900));
  for (int i = 0; i < 8; ++i) (void)keeps_up.latency().take(33 * GST_MSECOND, kDistance);
  EXPECT_FALSE(keeps_up.drops(20, 900));  // the first one
  EXPECT_TRUE(keeps_up.drops(30, 905));
  for (int i = 0; i < 8; ++i) (void)keeps_up.latency().take(20 * GST_MSECOND, kDistance);
  EXPECT_FALSE(keeps_up.drops(40, 905)) << "it was slow for a while only";
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

class FilterLatency : public ElementTest {};

// The counts of a run of play(): a live source of 50 frames a second, a slow element, and a sink with properties.
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

// Whether is_good() holds for one of three runs of play(): a machine with other work may be late for a while.
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

// Without the promise of a latency, a sink that waits for the clock showed one frame a second.
TEST_F(FilterLatency, a_slow_element_loses_no_frame_that_it_has_worked_on) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  // Of the first frames nobody knows yet how long they take.
  const bool good = succeeds_once("cudahog model=people display=false", [](const Played &played) {
    return played.shown > 3 && played.processed - played.shown <= 4 + played.processed / 4;
  });
  if (!good && is_overloaded()) GTEST_SKIP() << "the machine has other work";
  EXPECT_TRUE(good) << "most frames that were worked on came too late";
}

// Without a queue, a frame arrives when the sink has released the previous one. Sinks also add to the latency.
TEST_F(FilterLatency, an_element_that_keeps_up_loses_no_frame) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  const bool good = succeeds_once("cudaopticalflow preset=medium display=false roi-width=320 roi-height=320",
                                  [](const Played &played) { return played.shown >= 60; });
  if (!good && is_overloaded()) GTEST_SKIP() << "the machine has other work";
  EXPECT_TRUE(good) << "without the slack every second frame is lost";
}

// Another branch may have made the pipeline's latency long. Then the sink holds each frame, and the next one comes
// late; with a queue in between, only when the queue is full.
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

// Stores the latency that an element promises in an event to the elements before it.
GstPadProbeReturn note_promise(GstPad *, GstPadProbeInfo *info, gpointer last) {
  const GstStructure *told = gst_event_get_structure(GST_PAD_PROBE_INFO_EVENT(info));
  if (told != nullptr && gst_structure_has_name(told, kPromise))
    gst_structure_get_uint64(told, "latency", static_cast<guint64 *>(last));
  return GST_PAD_PROBE_OK;
}

TEST_F(FilterLatency, an_element_tells_its_promise_and_that_of_those_behind_it) {
  const std::string slow = "cudaopticalflow display=false n-threads=1 backend=" + std::string(backend());
  const Owned<GstElement> pipeline = parse(
      "videotestsrc is-live=true num-buffers=12 ! "
      "video/x-raw,format=GRAY8,width=320,height=240,framerate=20/1 ! " +
      slow + " name=first ! tee name=both ! queue ! " + slow +
      " name=second ! fakevideosink both. ! queue ! fakevideosink");
  guint64 by_first = 0, by_second = 0;
  for (const auto &[name, last] : {std::pair{"first", &by_first}, std::pair{"second", &by_second}})
    gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(child(pipeline, name)), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
                      note_promise, last, nullptr);
  EXPECT_TRUE(plays_to_the_end(pipeline));
  EXPECT_GE(by_second, GST_MSECOND);
  EXPECT_GE(by_first, by_second + GST_MSECOND);
  by_first = 0;
  gst_pad_send_event(GST_BASE_TRANSFORM_SRC_PAD(child(pipeline, "first")), gst_event_new_reconfigure());
  EXPECT_GE(by_first, GST_MSECOND) << "those before it have forgotten it with this event";
}

TEST_F(FilterLatency, a_sink_that_does_not_wait_gets_every_frame) {
  if (kEmulated || kSanitized) GTEST_SKIP() << "their times are no measure";
  EXPECT_EQ(play("cudahog model=people display=false", "sync=false", 20).processed, 20);
}

}  // namespace
