// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class in a live pipeline whose frames come faster than an element on the CPU can take them: it brings a frame to the
// sink while it works on the next one, and all that goes through it keeps its order.
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "tests/elements/harness.h"
#include "tests/support/emulated.h"

namespace {

using namespace cudavision::test;
using namespace std::chrono_literals;

// Frames of 1 ms, of which the element takes some for each.
class Overlapping {
 public:
  Overlapping() : harness_("cudahog model=people display=false post-messages=true") {
    Owned<GstCaps> caps = frame_.caps();
    caps.reset(gst_caps_make_writable(caps.release()));
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 1000, 1, nullptr);
    gst_harness_set_src_caps(harness_.get(), caps.release());
    gst_harness_use_testclock(harness_.get());
    EXPECT_EQ(push(), GST_FLOW_OK);
    EXPECT_NE(pull(), nullptr) << "nobody knows yet whether a sink waits";
    gst_harness_query_latency(harness_.get());  // the harness answers as a live source
    // A sink that waits for the clock tells when frames arrive.
    EXPECT_TRUE(gst_harness_push_upstream_event(
        harness_.get(), gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 1, -GST_SECOND, GST_SECOND)));
    // The second frame tells how long one takes.
    EXPECT_EQ(push(), GST_FLOW_OK);
    EXPECT_NE(pull(), nullptr);
    EXPECT_EQ(push(), GST_FLOW_OK);
    EXPECT_EQ(pull(), nullptr) << "the element does not hold the frame";
    while (GstEvent *event = gst_harness_try_pull_event(harness_.get())) gst_event_unref(event);
  }

  GstHarness *harness() const { return harness_.get(); }
  Harness &element() { return harness_; }
  GstClockTime &time() { return time_; }
  GstClockTime &distance() { return distance_; }  // of the next frames
  GstFlowReturn push() {
    Owned<GstBuffer> buffer = frame_.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_;
    time_ += distance_;
    return harness_.push(std::move(buffer));
  }
  Owned<GstBuffer> pull() { return Owned<GstBuffer>(gst_harness_try_pull(harness_.get())); }
  // The frames that have left, by their milliseconds.
  std::vector<guint64> numbers() {
    std::vector<guint64> result;
    while (const Owned<GstBuffer> out = pull()) result.push_back(GST_BUFFER_PTS(out.get()) / GST_MSECOND);
    return result;
  }

 private:
  VideoFrame frame_{"GRAY8", {320, 240}};
  Harness harness_;
  GstClockTime time_ = 0, distance_ = GST_MSECOND;
};

class FilterOverlap : public ElementTest {
  void SetUp() override {
    if (kEmulated || backend() != "cpu") GTEST_SKIP() << "on CUDA the host does not wait for a frame";
  }
};

using Numbers = std::vector<guint64>;

// What the probe of the source pad sees, in its order.
struct Order {
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;  // messages of frames
  bool next_was_told = true;
};

TEST_F(FilterOverlap, a_frame_is_worked_on_while_the_sink_holds_the_one_before) {
  Overlapping stream;
  Order order;
  const Owned<GstBus> bus(gst_element_get_bus(stream.element().element()));
  gst_bus_set_sync_handler(
      bus.get(),
      [](GstBus *, GstMessage *message, gpointer data) {
        auto *o = static_cast<Order *>(data);
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
          const std::lock_guard lock(o->mutex);
          ++o->told, o->changed.notify_all();
        }
        return GST_BUS_PASS;
      },
      &order, nullptr);
  const Owned<GstPad> source(gst_element_get_static_pad(stream.element().element(), "src"));
  gst_pad_add_probe(
      source.get(), GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad *, GstPadProbeInfo *, gpointer data) {
        auto *o = static_cast<Order *>(data);
        std::unique_lock lock(o->mutex);
        const int before = o->told;
        o->next_was_told =
            o->next_was_told && o->changed.wait_for(lock, 20s, [&] { return o->told > before; });
        return GST_PAD_PROBE_OK;
      },
      &order, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(order.next_was_told) << "the sink and the element wait for one another";
  EXPECT_EQ(stream.numbers(), (Numbers{2, 3, 4}));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
}

TEST_F(FilterOverlap, results_are_those_of_their_frames) {
  Overlapping stream;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  for (Owned<GstBuffer> out = stream.pull(); out; out = stream.pull())
    EXPECT_GE(gst_cuda_vision_buffer_get_n_results(out.get(), nullptr), 0);
}

TEST_F(FilterOverlap, events_and_the_end_of_the_stream_leave_behind_their_frames) {
  for (const bool is_end : {false, true}) {
    Overlapping stream;
    EXPECT_TRUE(gst_harness_push_event(
        stream.harness(),
        is_end ? gst_event_new_eos()
               : gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("between"))));
    EXPECT_EQ(stream.numbers(), Numbers{2});
    const Owned<GstEvent> event(gst_harness_try_pull_event(stream.harness()));
    EXPECT_NE(event, nullptr);
  }
}

TEST_F(FilterOverlap, whoever_waits_until_nothing_is_held_gets_it) {
  Overlapping stream;
  GstQuery *query = gst_query_new_drain();
  gst_pad_peer_query(stream.harness()->srcpad, query);
  gst_query_unref(query);
  EXPECT_EQ(stream.numbers(), Numbers{2});
}

TEST_F(FilterOverlap, a_flush_and_a_stop_forget_the_frame) {
  Overlapping flushed;
  flushed.element().flush();
  EXPECT_EQ(flushed.push(), GST_FLOW_OK);
  EXPECT_EQ(flushed.push(), GST_FLOW_OK);
  EXPECT_EQ(flushed.numbers(), Numbers{3});
  Overlapping stopped;
  EXPECT_EQ(gst_element_set_state(stopped.element().element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(stopped.numbers(), Numbers{});
}

// The sink says that a frame would be late, or the clock does.
TEST_F(FilterOverlap, a_frame_behind_a_gap_is_marked) {
  for (const bool by_clock : {false, true}) {
    Overlapping stream;
    if (by_clock) {
      EXPECT_TRUE(gst_harness_set_time(stream.harness(), 10 * GST_SECOND));
      EXPECT_EQ(stream.push(), GST_FLOW_OK);
      EXPECT_EQ(stream.numbers(), Numbers{}) << "the frame was not dropped";
      stream.time() = 10 * GST_SECOND;
    } else {
      EXPECT_TRUE(gst_harness_push_upstream_event(
          stream.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, GST_MSECOND, 2 * GST_MSECOND)));
    }
    while (stream.numbers().empty()) ASSERT_EQ(stream.push(), GST_FLOW_OK);
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    const Owned<GstBuffer> out = stream.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_GT(GST_BUFFER_PTS(out.get()), 3 * GST_MSECOND);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT)) << by_clock;
  }
}

TEST_F(FilterOverlap, what_the_sink_answers_ends_the_stream) {
  Overlapping stream;
  const Owned<GstPad> source(gst_element_get_static_pad(stream.element().element(), "src"));
  const Owned<GstPad> end(gst_pad_get_peer(source.get()));
  GST_PAD_SET_FLUSHING(end.get());
  EXPECT_EQ(stream.push(), GST_FLOW_FLUSHING);
  EXPECT_EQ(stream.numbers(), Numbers{});
}

TEST_F(FilterOverlap, ends_when_frames_come_seldom) {
  Overlapping stream;
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  stream.distance() = GST_SECOND;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.numbers().size(), 10u) << "a frame is held";
}

TEST_F(FilterOverlap, ends_with_the_stream) {
  Overlapping stream;
  Owned<GstCaps> caps(gst_pad_get_current_caps(stream.harness()->srcpad));
  stream.element().restart();
  EXPECT_EQ(stream.numbers(), Numbers{});
  gst_harness_set_src_caps(stream.harness(), caps.release());
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.numbers().size(), 1u) << "a new start knows nothing of the sink";
}

}  // namespace
