// SPDX-License-Identifier: LGPL-2.1-or-later
// State changes of the base class: repeated starts and stops, leaks, and failures in between.
#include <gst/base/gstbasetransform.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterStates : public ElementTest {};

void expect_nothing_left() {
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_bytes(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
}

// --- starts and stops ---

TEST_F(FilterStates, hundred_cycles_leave_nothing) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=32,height=24 ! cudacanny name=canny "
      "backend=" +
      backend() + " ! fakesink");
  GstElement *canny = child(pipeline, "canny");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(plays_to_the_end(pipeline)) << i;
    EXPECT_EQ(text(canny, "active-backend"), backend());
    ASSERT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(text(canny, "active-backend"), "none");
    expect_nothing_left();
  }
}

TEST_F(FilterStates, half_way_cycles_leave_nothing) {
  const Owned<GstElement> pipeline =
      parse("videotestsrc ! video/x-raw,format=RGB,width=32,height=24 ! cudacanny backend=" + backend() +
            " ! fakesink");
  for (int i = 0; i < 20; ++i)
    for (const GstState state :
         {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY}) {
      ASSERT_NE(gst_element_set_state(pipeline.get(), state), GST_STATE_CHANGE_FAILURE);
      ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
      if (state == GST_STATE_READY) expect_nothing_left();
    }
}

TEST_F(FilterStates, element_is_finalised_when_it_was_used_and_when_not) {
  gpointer used = nullptr, unused = nullptr;
  {
    Harness harness;
    used = harness.element();
    g_object_add_weak_pointer(G_OBJECT(harness.element()), &used);
    harness.work(VideoFrame("NV12", {34, 18}));
    const Owned<GstElement> element = parse("cudacanny");
    unused = element.get();
    g_object_add_weak_pointer(G_OBJECT(element.get()), &unused);
  }
  EXPECT_EQ(used, nullptr);
  EXPECT_EQ(unused, nullptr);
}

TEST_F(FilterStates, restart_works_with_other_caps_and_settings) {
  Harness harness;
  const VideoFrame first("NV12", {34, 18}), second("RGB", {21, 33});
  EXPECT_TRUE(same_bytes(harness.work(first), with_edges(first)));
  gst_element_set_state(harness.element(), GST_STATE_READY);
  expect_nothing_left();
  g_object_set(harness.element(), "high-threshold", 300.0, nullptr);
  harness.restart();
  EXPECT_TRUE(same_bytes(harness.work(second), with_edges(second, {50, 300})));
}

TEST_F(FilterStates, backend_changes_between_stop_and_start) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  for (const std::string &choice : {std::string("cpu"), backend(), std::string("cpu"), std::string("auto")}) {
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    set(harness.element(), "backend", choice);
    harness.restart();
    EXPECT_TRUE(same_bytes(harness.pass(frame), with_edges(frame))) << choice;
    if (choice != "auto") {
      EXPECT_EQ(text(harness.element(), "active-backend"), choice);
    }
  }
}

TEST_F(FilterStates, stop_before_caps_arrive_is_quiet) {
  for (int i = 0; i < 5; ++i) Harness harness;
  Harness harness;
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
}

// Sends the beginning of a stream and a frame.
GstFlowReturn begin_stream(GstPad *sink, const VideoFrame &frame) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_send_event(sink, gst_event_new_stream_start("early"));
  gst_pad_send_event(sink, gst_event_new_caps(frame.caps().get()));
  gst_pad_send_event(sink, gst_event_new_segment(&segment));
  return gst_pad_chain(sink, frame.buffer().release());
}

// GStreamer opens the pads before it starts the element. Here the stream begins when start() posts a message.
TEST_F(FilterStates, a_stream_that_begins_while_the_element_starts_is_refused) {
  struct Visit {
    const VideoFrame frame{"NV12", {34, 18}};
    GstFlowReturn flow = GST_FLOW_OK;
  } visit;
  Harness harness("cudainpaint");  // says that no property selects what to remove
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  const Owned<GstBus> bus(gst_element_get_bus(harness.element()));
  const auto on_message = [](GstBus *, GstMessage *message, gpointer data) {
    auto *own = static_cast<Visit *>(data);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_INFO)
      own->flow = begin_stream(GST_BASE_TRANSFORM_SINK_PAD(message->src), own->frame);
    return GST_BUS_PASS;
  };
  gst_bus_set_sync_handler(bus.get(), on_message, &visit, nullptr);
  harness.restart();
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  EXPECT_TRUE(visit.flow == GST_FLOW_FLUSHING || visit.flow == GST_FLOW_NOT_NEGOTIATED) << visit.flow;
  harness.restart();
  harness.pass(visit.frame);
  (void)take_glib_complaints();  // of GStreamer, about a segment without caps: they were refused
}

// --- injected failures ---

// The frame fails with an error that contains `word`; after NULL the element works again.
void expect_failure_then_recovery(Harness *harness, const VideoFrame &frame, const std::string &words) {
  // Copies that a failed synchronisation leaves queued are executed at the stop, so the memory must still exist.
  std::vector<std::uint8_t> bytes = frame.bytes();
  GstBuffer *buffer = gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), bytes.data(), bytes.size(),
                                                  0, bytes.size(), nullptr, nullptr);
  EXPECT_EQ(harness->exchange(Owned<GstBuffer>(buffer), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(is(take_error(harness->element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, words));
  EXPECT_FALSE(take_error(harness->element())) << "one error is enough";
  simt::reset();
  gst_element_set_state(harness->element(), GST_STATE_NULL);
  expect_nothing_left();
  harness->restart();
  EXPECT_TRUE(same_bytes(harness->work(frame), with_edges(frame)));
  EXPECT_FALSE(take_error(harness->element()));
}

TEST_F(FilterStates, too_little_device_memory_says_how_many_bytes) {
  CUDAVISION_NEEDS_EMULATION();
  Harness harness;
  const VideoFrame frame("NV12", {640, 360});
  simt::set_memory_limit(100 * 1000);
  harness.negotiate(frame);
  EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "at least 230400 bytes are needed, and there are 100000"));
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  simt::reset();
  harness.restart();
  const VideoFrame small("NV12", {34, 18});
  EXPECT_TRUE(same_bytes(harness.work(small), with_edges(small)));
}

// The element's answer to caps if the nth allocation fails; false if it makes fewer allocations.
bool survives_failure_of_allocation(unsigned n, const VideoFrame &frame) {
  Harness harness;
  simt::fail_allocations_after(n);
  harness.negotiate(frame);
  const auto error = take_error(harness.element());
  simt::reset();
  if (!error) return false;
  EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "bytes"));
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  expect_nothing_left();
  harness.restart();
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
  return true;
}

TEST_F(FilterStates, every_allocation_may_fail) {
  CUDAVISION_NEEDS_EMULATION();
  for (const char *format : {"NV12", "RGB"}) {
    unsigned failures = 0;
    while (survives_failure_of_allocation(failures, VideoFrame(format, {34, 18}))) ++failures;
    EXPECT_GT(failures, 3u) << format;
  }
}

TEST_F(FilterStates, allocation_that_fails_in_playing_is_an_error) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {34, 18});
  const std::pair<const char *, VideoFrame> cases[] = {// each change makes the element allocate
                                                       {"gaussian-sigma", with_edges(frame, {.sigma = 3})},
                                                       {"roi-x", with_edges(frame, {}, {3, 0, 31, 18})}};
  for (const auto &[change, expected] : cases) {
    Harness harness;
    harness.work(frame);
    set(harness.element(), change, "3");
    for (int i = 0; i < 2; ++i) {
      simt::fail_allocations_after(0);
      EXPECT_EQ(harness.exchange(frame.buffer(), GST_FLOW_ERROR), nullptr) << change;
      EXPECT_TRUE(
          is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "bytes"));
      simt::reset();
    }
    EXPECT_TRUE(same_bytes(harness.work(frame), expected)) << "an upstream that goes on all the same";
    harness.restart();
    EXPECT_TRUE(same_bytes(harness.work(frame), expected));
  }
}

TEST_F(FilterStates, every_launch_may_fail) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("RGB", {34, 18});
  // The launches: luma, two kernels of Canny, drawing.
  for (unsigned successes = 0; successes < 4; ++successes) {
    Harness harness;
    harness.work(frame);
    simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
    expect_failure_then_recovery(&harness, frame, "cudaErrorLaunchFailure");
  }
}

TEST_F(FilterStates, every_copy_may_fail) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {34, 18});
  for (unsigned successes = 0; successes < 4; ++successes) {
    Harness harness;
    harness.work(frame);
    simt::fail_after(simt::Call::copy, successes, cudaErrorIllegalAddress);
    expect_failure_then_recovery(&harness, frame, "cudaErrorIllegalAddress");
  }
}

TEST_F(FilterStates, failing_synchronisation_is_an_error) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {34, 18});
  Harness harness;
  harness.work(frame);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchTimeout);
  expect_failure_then_recovery(&harness, frame, "cudaErrorLaunchTimeout");
}

TEST_F(FilterStates, stream_that_cannot_be_made_fails_the_start) {
  CUDAVISION_NEEDS_EMULATION();
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  simt::fail_next(simt::Call::create, cudaErrorDevicesUnavailable);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  // From 1.24 on GStreamer creates the stream and reports no reason for a failure.
  const char *reason = GST_CHECK_VERSION(1, 24, 0) ? "gst_cuda_stream_new" : "cudaErrorDevicesUnavailable";
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, reason));
  gst_element_set_state(element.get(), GST_STATE_NULL);
  EXPECT_NE(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
}

TEST_F(FilterStates, pipeline_ends_with_the_elements_error) {
  CUDAVISION_NEEDS_EMULATION();
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=5 ! video/x-raw,format=NV12,width=32,height=24 ! cudacanny backend=cuda ! "
      "fakesink");
  simt::fail_after(simt::Call::launch, 9, cudaErrorLaunchFailure);
  EXPECT_FALSE(plays_to_the_end(pipeline));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  expect_nothing_left();
  EXPECT_TRUE(plays_to_the_end(pipeline));
}

}  // namespace
