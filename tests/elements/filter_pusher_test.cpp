// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class in a live pipeline whose frames come faster than an element on the CPU can take them: a separate
// thread pushes a frame to the sink while the element works on the next one, and frames, events and queries keep their
// order.
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/elements/harness.h"
#include "tests/support/emulated.h"

namespace {

using namespace cudavision::test;
using namespace std::chrono_literals;

// Waits for the condition. Returns false if it does not hold within 20 s.
template <typename Condition>
bool comes_to_pass(const Condition &condition) {
  for (int i = 0; i < 20000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

// A stream with a frame each 1 ms, while the element takes several milliseconds for a frame.
class Stream {
 public:
  Stream() : harness_("cudahog model=people display=false post-messages=true") {
    Owned<GstCaps> caps = frame_.caps();
    caps.reset(gst_caps_make_writable(caps.release()));
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 1000, 1, nullptr);
    gst_harness_set_src_caps(harness_.get(), caps.release());
    gst_harness_use_testclock(harness_.get());
    turn_on();
    const Owned<GstPad> source(gst_element_get_static_pad(element(), "src"));
    gst_pad_add_probe(source.get(), GST_PAD_PROBE_TYPE_BUFFER, on_frame, this, nullptr);
    const Owned<GstBus> bus(gst_element_get_bus(element()));
    gst_bus_set_sync_handler(bus.get(), on_message, this, nullptr);
  }
  ~Stream() {
    gst_element_set_state(element(), GST_STATE_NULL);  // no thread of it is left
    const Owned<GstBus> bus(gst_element_get_bus(element()));
    gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  }

  // Tells the element that the sink waits for the clock.
  void tell_of_clock() {
    EXPECT_TRUE(gst_harness_push_upstream_event(
        harness_.get(), gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 1, -GST_SECOND, GST_SECOND)));
  }
  // From the third frame on, the thread pushes.
  void turn_on() {
    EXPECT_EQ(push(), GST_FLOW_OK);
    const guint64 first = pull();
    gst_harness_query_latency(harness_.get());  // the harness answers as a live source
    tell_of_clock();
    EXPECT_EQ(push(), GST_FLOW_OK);  // tells how long a frame takes
    EXPECT_EQ(pull(), first + 1);
  }

  GstHarness *harness() const { return harness_.get(); }
  GstElement *element() const { return harness_.element(); }
  GstClockTime &time() { return time_; }
  GstClockTime &distance() { return distance_; }  // from the next frame to the one after it
  // Called for each frame that leaves, in the thread that brings it, and for each frame that the element has worked on.
  std::function<void()> &when_it_leaves() { return when_it_leaves_; }
  std::function<void()> &when_it_is_done() { return when_it_is_done_; }
  int done() const { return done_; }
  int left() const { return left_; }
  int dropped() const { return dropped_; }
  std::thread::id pusher() const { return pusher_; }

  // Sends a frame, and calls body while somebody behind the element holds it: until body ends, or release() is called.
  void hold(const std::function<void()> &body) {
    is_held_ = is_released_ = false;
    const int n = left_;
    when_it_leaves_ = [this, n] {
      is_held_ = true;
      EXPECT_TRUE(left_ > n || comes_to_pass([this] { return is_released_.load(); }));
    };
    EXPECT_EQ(push(), GST_FLOW_OK);
    EXPECT_TRUE(comes_to_pass([this] { return is_held_.load(); }));
    body();
    release();
    EXPECT_TRUE(comes_to_pass([&] { return left_ > n; }));
  }
  void release() { is_released_ = true; }

  GstFlowReturn push() {
    Owned<GstBuffer> buffer = frame_.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_;
    time_ += distance_;
    return harness_.push(std::move(buffer));
  }
  Owned<GstBuffer> pull_frame() { return Owned<GstBuffer>(gst_harness_pull(harness_.get())); }
  // The milliseconds of the frame that leaves next.
  guint64 pull() {
    const Owned<GstBuffer> out = pull_frame();
    return out ? GST_BUFFER_PTS(out.get()) / GST_MSECOND : G_MAXUINT64;
  }
  bool event(GstEvent *event) { return gst_harness_push_event(harness_.get(), event); }
  bool event(const char *name) {
    return event(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(name)));
  }
  void restart() { harness_.restart(); }

 private:
  static GstPadProbeReturn on_frame(GstPad *, GstPadProbeInfo *, gpointer self) {
    auto *stream = static_cast<Stream *>(self);
    stream->pusher_ = std::this_thread::get_id();
    if (stream->when_it_leaves_) stream->when_it_leaves_();
    ++stream->left_;
    return GST_PAD_PROBE_OK;
  }
  static GstBusSyncReply on_message(GstBus *, GstMessage *message, gpointer self) {
    auto *stream = static_cast<Stream *>(self);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_QOS) ++stream->dropped_;
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT) return GST_BUS_PASS;
    ++stream->done_;
    if (stream->when_it_is_done_) stream->when_it_is_done_();
    return GST_BUS_PASS;
  }

  VideoFrame frame_{"GRAY8", {320, 240}};
  Harness harness_;
  GstClockTime time_ = 0, distance_ = GST_MSECOND;
  std::function<void()> when_it_leaves_, when_it_is_done_;
  std::atomic<int> done_ = 0, left_ = 0, dropped_ = 0;
  std::atomic<bool> is_held_ = false, is_released_ = false;
  std::atomic<std::thread::id> pusher_{};
};

class FilterPusher : public ElementTest {
  void SetUp() override {
    if (kEmulated || backend() != "cpu") GTEST_SKIP() << "on CUDA the host does not wait for a frame";
  }
};

TEST_F(FilterPusher, a_frame_is_worked_on_while_the_sink_holds_the_one_before) {
  Stream stream;
  stream.when_it_leaves() = [&] {
    const int n = stream.left();
    EXPECT_TRUE(n >= 3 || comes_to_pass([&] { return stream.done() > n + 1; }))
        << "the sink and the element wait for one another";
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  for (const guint64 n : {2u, 3u, 4u, 5u}) {
    const Owned<GstBuffer> out = stream.pull_frame();
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), n * GST_MSECOND);
    EXPECT_GE(gst_cuda_vision_buffer_get_n_results(out.get(), nullptr), 0);
  }
  EXPECT_NE(stream.pusher(), std::this_thread::get_id());
}

TEST_F(FilterPusher, no_frame_waits_for_the_next_one) {
  Stream stream;
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.pull(), 2u);
}

TEST_F(FilterPusher, what_is_serialised_leaves_behind_the_frame) {
  for (int what = 0; what < 3; ++what) {
    Stream stream;
    stream.when_it_leaves() = [] { std::this_thread::sleep_for(50ms); };
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    if (what == 0) {
      EXPECT_TRUE(stream.event(gst_event_new_eos()));
    } else if (what == 1) {
      EXPECT_TRUE(stream.event("between"));
    } else {
      GstQuery *query = gst_query_new_drain();
      gst_pad_peer_query(stream.harness()->srcpad, query);
      gst_query_unref(query);
    }
    EXPECT_EQ(stream.left(), 1) << what;
  }
}

// A program may do so when it hears of what was found.
TEST_F(FilterPusher, an_event_may_be_sent_while_a_message_is_posted) {
  Stream stream;
  stream.when_it_is_done() = [&] { EXPECT_TRUE(stream.event("found")); };
  stream.when_it_leaves() = [] { std::this_thread::sleep_for(20ms); };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  for (const guint64 n : {2u, 3u, 4u}) EXPECT_EQ(stream.pull(), n);
}

// Records the names of the events and the timestamps, in milliseconds, of the frames that leave a pad.
class Leaving {
 public:
  explicit Leaving(GstElement *element) : pad_(gst_element_get_static_pad(element, "src")) {
    const auto types = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER;
    probe_ = gst_pad_add_probe(pad_.get(), static_cast<GstPadProbeType>(types), note, this, nullptr);
  }
  ~Leaving() { gst_pad_remove_probe(pad_.get(), probe_); }
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  static GstPadProbeReturn note(GstPad *, GstPadProbeInfo *info, gpointer self) {
    auto *leaving = static_cast<Leaving *>(self);
    const std::lock_guard lock(leaving->mutex_);
    if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0) {
      leaving->names_.push_back(
          std::to_string(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / GST_MSECOND));
    } else {
      GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
      const GstStructure *structure = gst_event_get_structure(event);
      const bool is_custom = GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM;
      leaving->names_.emplace_back(is_custom ? gst_structure_get_name(structure)
                                             : GST_EVENT_TYPE_NAME(event));
    }
    return GST_PAD_PROBE_OK;
  }

  Owned<GstPad> pad_;
  gulong probe_;
  std::mutex mutex_;
  std::vector<std::string> names_;
};

// Who holds frame 2 sends an event, which waits for the lock that the sender of the next frame, event or query holds.
class FilterPusherHeld : public FilterPusher {
 protected:
  static Owned<GstCaps> other_caps(const Stream &stream) {
    const Owned<GstCaps> now(gst_pad_get_current_caps(stream.harness()->srcpad));
    Owned<GstCaps> caps(gst_caps_copy(now.get()));
    gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION, 2, 1, nullptr);
    return caps;
  }
  // Sends frame 2, and calls body while whoever holds it sends the event "seen".
  void while_held(Stream &stream, const std::function<void()> &body) {
    std::atomic<bool> is_begun = false;
    stream.when_it_leaves() = [&] {
      if (stream.left() > 0) return;
      EXPECT_TRUE(comes_to_pass([&] { return is_begun.load(); }));
      std::this_thread::sleep_for(50ms);
      EXPECT_TRUE(stream.event("seen"));
    };
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    const auto begin = std::chrono::steady_clock::now();
    is_begun = true;
    body();
    EXPECT_TRUE(comes_to_pass([&] { return stream.left() > 0; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  }
};

TEST_F(FilterPusherHeld, events_leave_behind_the_frame_in_their_order) {
  Stream stream;
  Leaving leaving(stream.element());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  while_held(stream, [&] {
    EXPECT_TRUE(stream.event("between"));
    EXPECT_TRUE(stream.event(gst_event_new_segment(&segment)));
    EXPECT_TRUE(stream.event(gst_event_new_gap(5 * GST_MSECOND, GST_MSECOND)));
  });
  EXPECT_EQ(GST_BASE_TRANSFORM(stream.element())->segment.base, GST_SECOND);
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(stream.event(gst_event_new_eos()));
  std::vector<std::string> names = leaving.names();
  EXPECT_EQ(std::erase(names, "seen"), 1u);  // its place is not certain
  EXPECT_EQ(names, (std::vector<std::string>{"2", "between", "segment", "gap", "3", "eos"}));
}

TEST_F(FilterPusherHeld, a_query_has_no_answer) {
  Stream stream;
  while_held(stream, [&] {
    GstQuery *query = gst_query_new_drain();
    EXPECT_FALSE(gst_pad_peer_query(stream.harness()->srcpad, query));
    gst_query_unref(query);
  });
}

TEST_F(FilterPusherHeld, frames_are_dropped_and_the_next_one_is_marked) {
  for (const bool pads_change : {false, true}) {
    Stream stream;
    if (pads_change) {
      stream.when_it_is_done() = [&] {
        gst_harness_push_upstream_event(stream.harness(), gst_event_new_reconfigure());
        stream.tell_of_clock();
      };
    }
    Leaving leaving(stream.element());
    while_held(stream, [&] { EXPECT_EQ(stream.push(), GST_FLOW_OK); });
    EXPECT_EQ(stream.pull(), 2u);
    std::this_thread::sleep_for(50ms);  // the thread comes back
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    const Owned<GstBuffer> out = stream.pull_frame();
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), 4 * GST_MSECOND);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
    EXPECT_EQ(stream.dropped(), 1);
    EXPECT_EQ(stream.done(), pads_change ? 2 : 3);  // the dropped frame is not begun
    EXPECT_EQ(leaving.names(), (std::vector<std::string>{"seen", "2", "4"}));  // "seen" left while 2 was held
  }
}

// New caps wait for the next frame, however long the last one is held.
TEST_F(FilterPusherHeld, another_format_comes_with_the_next_frame) {
  Stream stream;
  Leaving leaving(stream.element());
  const Owned<GstCaps> caps = other_caps(stream);
  stream.hold([&] {
    EXPECT_TRUE(stream.event(gst_event_new_caps(caps.get())));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
    EXPECT_TRUE(stream.event("between"));
  });
  EXPECT_TRUE(comes_to_pass([&] { return leaving.names().size() == 2; }));
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  for (const guint64 n : {2u, 6u}) EXPECT_EQ(stream.pull(), n);
  EXPECT_EQ(leaving.names(), (std::vector<std::string>{"2", "between", "caps", "6"}));
}

// They wait together for as long as a sink may hold a frame.
TEST_F(FilterPusherHeld, what_comes_later_does_not_wait_anew) {
  Stream stream;
  Leaving leaving(stream.element());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> expected{"2"};
  stream.hold([&] {
    for (int i = 0; i < 1100; ++i) EXPECT_EQ(stream.event("many"), i < 1024);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  expected.insert(expected.end(), 1024, "many");
  EXPECT_TRUE(comes_to_pass([&] { return leaving.names() == expected; }));
}

// In PAUSED a sink holds a frame for any time.
TEST_F(FilterPusherHeld, no_frame_is_dropped_while_the_element_is_paused) {
  Stream stream;
  gst_element_set_state(stream.element(), GST_STATE_PAUSED);
  std::thread other;
  stream.hold([&] {
    other = std::thread([&] {
      std::this_thread::sleep_for(500ms);
      gst_element_set_state(stream.element(), GST_STATE_PLAYING);
      stream.release();
    });
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
  });
  other.join();
  for (const guint64 n : {2u, 3u}) EXPECT_EQ(stream.pull(), n);
  EXPECT_EQ(stream.dropped(), 0);
}

TEST_F(FilterPusherHeld, no_frame_of_before_a_flush_reaches_the_sink) {
  Stream stream;
  Leaving leaving(stream.element());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  stream.hold([&] {
    EXPECT_TRUE(stream.event(gst_event_new_flush_start()));
    EXPECT_TRUE(stream.event(gst_event_new_flush_stop(TRUE)));
    EXPECT_TRUE(stream.event(gst_event_new_segment(&segment)));
    // A live source would make frames without end, which are all late.
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 350ms);
  });
  EXPECT_TRUE(comes_to_pass([&] { return leaving.names() == std::vector<std::string>{"2", "segment"}; }));
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.pull(), 5u);
}

TEST_F(FilterPusherHeld, caps_that_wait_outlive_a_flush) {
  Stream stream;
  Leaving leaving(stream.element());
  const Owned<GstCaps> caps = other_caps(stream);
  std::thread other;
  stream.hold([&] {
    EXPECT_TRUE(stream.event(gst_event_new_caps(caps.get())));
    gst_element_set_state(stream.element(), GST_STATE_PAUSED);  // the next frame waits for any time
    other = std::thread([&] {
      std::this_thread::sleep_for(100ms);
      EXPECT_TRUE(stream.event(gst_event_new_flush_start()));
    });
    EXPECT_EQ(stream.push(), GST_FLOW_FLUSHING);
    other.join();
  });
  EXPECT_TRUE(stream.event(gst_event_new_flush_stop(FALSE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(stream.event(gst_event_new_segment(&segment)));
  gst_element_set_state(stream.element(), GST_STATE_PLAYING);
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.pull(), 4u);
  std::vector<std::string> names = leaving.names();
  EXPECT_EQ(names, (std::vector<std::string>{"2", "caps", "segment", "4"}));
}

TEST_F(FilterPusherHeld, tags_outlive_a_flush_and_other_events_do_not) {
  Stream stream;
  Leaving leaving(stream.element());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  stream.hold([&] {
    EXPECT_TRUE(stream.event("between"));
    EXPECT_TRUE(stream.event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "held", nullptr))));
    EXPECT_TRUE(stream.event(gst_event_new_eos()));
    EXPECT_TRUE(stream.event(gst_event_new_flush_start()));
  });
  EXPECT_TRUE(stream.event(gst_event_new_flush_stop(FALSE)));
  EXPECT_TRUE(stream.event(gst_event_new_segment(&segment)));
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(stream.event(gst_event_new_eos()));
  EXPECT_EQ(leaving.names(), (std::vector<std::string>{"2", "segment", "tag", "3", "eos"}));
}

// The old thread still has its frame when the next run begins. The new run gets a new thread later.
TEST_F(FilterPusher, who_restarts_the_element_with_a_frame_gets_the_next_frames) {
  Stream stream;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(stream.harness()->srcpad));
  std::atomic<bool> is_restarted = false;
  stream.when_it_leaves() = [&] {
    if (is_restarted) return;
    stream.restart();
    is_restarted = true;
    EXPECT_TRUE(comes_to_pass([&] { return stream.left() == 2; }));
  };
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(comes_to_pass([&] { return is_restarted.load(); }));
  gst_harness_set_src_caps(stream.harness(), gst_caps_ref(caps.get()));
  stream.turn_on();
  EXPECT_TRUE(comes_to_pass([&] { return stream.left() == 3; }));
  EXPECT_TRUE(comes_to_pass([&] {
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    return stream.pusher() != std::this_thread::get_id();
  }));
}

// A program may replace an element when it is called with a frame; the elements before it go on.
TEST_F(FilterPusher, who_stops_the_element_with_a_frame_does_not_stop_what_is_before_it) {
  Stream stream;
  std::atomic<bool> is_stopped = false;
  stream.when_it_leaves() = [&] {
    EXPECT_TRUE(comes_to_pass([&] { return stream.done() == 2; }));  // the next frame waits
    gst_element_set_state(stream.element(), GST_STATE_READY);
    is_stopped = true;
  };
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(comes_to_pass([&] { return is_stopped.load(); }));
  EXPECT_EQ(stream.push(), GST_FLOW_FLUSHING);
}

// The flush comes from another thread, or from whoever holds the frame.
TEST_F(FilterPusher, a_flush_ends_while_a_frame_is_on_its_way) {
  for (const bool by_sink : {false, true}) {
    Stream stream;
    const auto flush = [&stream] {
      EXPECT_TRUE(comes_to_pass([&] { return stream.done() == 2; }));  // the next frame waits
      std::this_thread::sleep_for(20ms);
      EXPECT_TRUE(stream.event(gst_event_new_flush_start()));
      EXPECT_TRUE(stream.event(gst_event_new_flush_stop(FALSE)));
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      EXPECT_TRUE(stream.event(gst_event_new_segment(&segment)));
    };
    std::atomic<bool> is_flushed = false;
    const Owned<GstPad> source(gst_element_get_static_pad(stream.element(), "src"));
    const Owned<GstPad> end(gst_pad_get_peer(source.get()));
    stream.when_it_leaves() = [&] {
      if (is_flushed) return;
      if (!by_sink) (void)comes_to_pass([&] { return stream.done() == 2; });
      if (by_sink) {
        flush();
        GST_PAD_SET_FLUSHING(end.get());  // the old frame has not got there
      }
      is_flushed = true;
    };
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    std::thread other([&] {
      if (!by_sink) flush();
    });
    (void)stream.push();  // waits for the frame before
    other.join();
    EXPECT_TRUE(comes_to_pass([&] { return is_flushed || !by_sink; }));
    if (by_sink) std::this_thread::sleep_for(50ms);
    GST_PAD_UNSET_FLUSHING(end.get());
    const int before = stream.left();
    EXPECT_EQ(stream.push(), GST_FLOW_OK) << by_sink;
    EXPECT_TRUE(comes_to_pass([&] { return stream.left() > before; })) << by_sink;
    EXPECT_TRUE(stream.event(gst_event_new_eos()));  // waits for the last frame
  }
}

// A QoS event of the sink, or the clock, shows that a frame is late.
TEST_F(FilterPusher, a_frame_behind_a_gap_is_marked) {
  for (const bool by_clock : {false, true}) {
    Stream stream;
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    EXPECT_EQ(stream.pull(), 2u);
    if (by_clock) {
      EXPECT_TRUE(gst_harness_set_time(stream.harness(), 10 * GST_SECOND));
    } else {
      EXPECT_TRUE(gst_harness_push_upstream_event(
          stream.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, GST_MSECOND, 3 * GST_MSECOND)));
    }
    EXPECT_EQ(stream.push(), GST_FLOW_OK);
    EXPECT_EQ(stream.done(), 1) << "the frame was not dropped";
    stream.time() = 10 * GST_SECOND;
    for (const bool is_first : {true, false}) {
      EXPECT_EQ(stream.push(), GST_FLOW_OK);
      const Owned<GstBuffer> out = stream.pull_frame();
      ASSERT_NE(out, nullptr);
      EXPECT_EQ(bool(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT)), is_first) << by_clock;
    }
  }
}

TEST_F(FilterPusher, what_the_sink_answers_is_told_once_with_the_next_frame) {
  Stream stream;
  const Owned<GstPad> source(gst_element_get_static_pad(stream.element(), "src"));
  const Owned<GstPad> end(gst_pad_get_peer(source.get()));
  GST_PAD_SET_FLUSHING(end.get());
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_FALSE(stream.event("between"));
  EXPECT_EQ(stream.push(), GST_FLOW_FLUSHING);
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(comes_to_pass([&] { return stream.left() == 2; }));
  GST_PAD_UNSET_FLUSHING(end.get());
  EXPECT_EQ(stream.push(), GST_FLOW_OK) << "the sink takes frames again";
  EXPECT_EQ(stream.pull(), 5u);
}

TEST_F(FilterPusher, ends_when_frames_come_seldom) {
  Stream stream;
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  stream.distance() = GST_SECOND;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(stream.pusher() == std::this_thread::get_id());
  EXPECT_EQ(stream.left(), 9);
}

TEST_F(FilterPusher, ends_with_the_stream) {
  Stream stream;
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  Owned<GstCaps> caps(gst_pad_get_current_caps(stream.harness()->srcpad));
  stream.restart();
  gst_harness_set_src_caps(stream.harness(), caps.release());
  EXPECT_EQ(stream.push(), GST_FLOW_OK);
  EXPECT_TRUE(stream.pusher() == std::this_thread::get_id()) << "a new start knows nothing of the sink";
}

// Buffers of a camera: as many as the sink and the element hold.
TEST_F(FilterPusher, a_pool_of_two_buffers_is_enough) {
  Stream stream;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(stream.harness()->srcpad));
  GstBufferPool *pool = gst_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), 320 * 240, 2, 2);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool, config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  Owned<GstBuffer> shown;  // by the sink, until the next one comes
  for (int i = 0; i < 10; ++i) {
    GstBuffer *buffer = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
    GST_BUFFER_PTS(buffer) = stream.time() += GST_MSECOND;
    ASSERT_EQ(gst_harness_push(stream.harness(), buffer), GST_FLOW_OK);
    shown = stream.pull_frame();
    ASSERT_NE(shown, nullptr) << i;
  }
  shown.reset();
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
}

// The sink holds a frame in PAUSED.
TEST_F(FilterPusher, stops_while_the_sink_holds_a_frame) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc is-live=true pattern=ball ! video/x-raw,format=GRAY8,width=1280,height=720,"
      "framerate=50/1 ! cudahog model=people display=false ! fakevideosink sync=true");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  std::this_thread::sleep_for(700ms);
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  std::this_thread::sleep_for(200ms);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

}  // namespace
