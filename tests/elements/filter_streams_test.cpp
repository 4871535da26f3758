// SPDX-License-Identifier: LGPL-2.1-or-later
// The base class in a stream: caps changes, events, and several elements and pipelines at once.
#include <gst/app/app.h>
#include <gst/video/video.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterStreams : public ElementTest {};

// --- caps in the middle of a stream ---

TEST_F(FilterStreams, caps_change_between_frames) {
  Harness harness;
  const struct {
    const char *format;
    Size size;
  } cases[] = {{"NV12", {34, 18}}, {"NV12", {66, 40}}, {"RGB", {66, 40}},  {"BGRA", {66, 40}},
               {"GRAY8", {5, 3}},  {"YUY2", {65, 7}},  {"NV12", {34, 18}}, {"I420", {34, 18}}};
  unsigned seed = 1;
  for (const auto &[format, size] : cases) {
    const VideoFrame frame(format, size, seed++);
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
  }
}

TEST_F(FilterStreams, colorimetry_change_changes_the_overlay) {
  Harness harness("cudacanny output=overlay");
  VideoFrame frame("NV12", {34, 18});
  for (const char *colorimetry : {"bt601", "bt709", "bt601"}) {
    frame.set_colorimetry(colorimetry);
    EXPECT_TRUE(same_bytes(harness.work(frame), with_overlay(frame, 0xffff0000))) << colorimetry;
  }
}

// --- events ---

TEST_F(FilterStreams, flush_lets_the_stream_go_on) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.work(frame);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
  EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_FLUSHING);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
}

TEST_F(FilterStreams, discont_frames_are_worked_on) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
}

TEST_F(FilterStreams, end_of_stream_arrives_after_the_last_frame) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.work(frame);
  while (Owned<GstEvent> event{gst_harness_try_pull_event(harness.get())})
    EXPECT_NE(GST_EVENT_TYPE(event.get()), GST_EVENT_EOS);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  const Owned<GstEvent> event(gst_harness_try_pull_event(harness.get()));
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(GST_EVENT_TYPE(event.get()), GST_EVENT_EOS);
  EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_EOS);
}

// An appsrc whose application does not choose a format sends a segment in bytes.
TEST_F(FilterStreams, segment_of_bytes_is_no_reason_to_complain) {
  Harness harness("cudacanny message=true");
  const VideoFrame frame("GRAY8", {20, 18});
  harness.negotiate(frame);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_PTS(buffer.get()) = 3 * GST_SECOND;
  const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
  const Owned<GstMessage> message = take_message(harness.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  guint64 stream_time = 0;
  EXPECT_TRUE(
      gst_structure_get_uint64(gst_message_get_structure(message.get()), "stream-time", &stream_time));
  EXPECT_EQ(stream_time, GST_CLOCK_TIME_NONE);
  EXPECT_EQ(take_glib_complaints(), 0u);
}

// --- several elements ---

std::string with_backend(const std::string &description) { return description + " backend=" + backend(); }

std::vector<std::uint8_t> pull_from(const Owned<GstElement> &pipeline, const char *sink) {
  const Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(child(pipeline, sink)), kPatience));
  EXPECT_NE(sample, nullptr) << sink;
  return sample ? bytes_of(gst_sample_get_buffer(sample.get())) : std::vector<std::uint8_t>();
}

TEST_F(FilterStreams, two_elements_in_a_row_work_one_after_the_other) {
  const Owned<GstElement> pipeline = parse(
      "appsrc name=source format=time ! " + with_backend("cudacanny low-threshold=20 high-threshold=300") +
      " ! " + with_backend("cudacanny gaussian-sigma=1.5 roi-x=3 roi-width=20") +
      " ! appsink name=sink sync=false");
  const VideoFrame frame("NV12", {34, 18});
  GstAppSrc *source = GST_APP_SRC(child(pipeline, "source"));
  gst_app_src_set_caps(source, frame.caps().get());
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gst_app_src_push_buffer(source, frame.buffer().release()), GST_FLOW_OK);
    EXPECT_TRUE(same_bytes(pull_from(pipeline, "sink"),
                           with_edges(with_edges(frame, {20, 300}), {.sigma = 1.5}, {3, 0, 20, 18})));
  }
}

TEST_F(FilterStreams, parallel_branches_keep_their_own_settings) {
  const Owned<GstElement> pipeline =
      parse("appsrc name=source format=time ! tee name=t  t. ! queue ! " +
            with_backend("cudacanny high-threshold=400") + " ! appsink name=one sync=false  t. ! queue ! " +
            with_backend("cudacanny aperture=5 output=overlay") +
            " ! appsink name=two sync=false  t. ! queue ! appsink name=original sync=false");
  GstAppSrc *source = GST_APP_SRC(child(pipeline, "source"));
  gst_app_src_set_caps(source, VideoFrame("NV12", {34, 18}).caps().get());
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const VideoFrame frame("NV12", {34, 18}, seed);
    EXPECT_EQ(gst_app_src_push_buffer(source, frame.buffer().release()), GST_FLOW_OK);
    EXPECT_TRUE(same_bytes(pull_from(pipeline, "one"), with_edges(frame, {50, 400})));
    EXPECT_TRUE(same_bytes(pull_from(pipeline, "two"), with_overlay(frame, 0xffff0000, {.aperture = 5})));
    EXPECT_TRUE(same_bytes(pull_from(pipeline, "original"), frame));
  }
}

TEST_F(FilterStreams, pipelines_of_two_threads_do_not_meet) {
  const auto play = [](const char *format, Size size, double high) {
    Harness harness;
    g_object_set(harness.element(), "high-threshold", high, nullptr);
    for (unsigned seed = 1; seed <= 15; ++seed) {
      const VideoFrame frame(format, size, seed);
      EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame, {50, high})));
    }
  };
  std::thread one(play, "NV12", Size{65, 43}, 100.0), other(play, "BGRx", Size{43, 65}, 300.0);
  one.join();
  other.join();
}

TEST_F(FilterStreams, settings_may_change_from_another_thread_at_any_time) {
  Harness harness;
  const VideoFrame frame("NV12", {40, 30});
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) {
      g_object_set(harness.element(), "roi-x", i % 8, "roi-width", 1 + i % 50, "display", i % 3 != 0,
                   "n-threads", i % 4, "every-nth", 1 + i % 2, "gaussian-sigma", i % 5 * 0.4, "aperture",
                   3 + i % 3 * 2, nullptr);
      EXPECT_GE(integer(harness.element(), "roi-x"), 0);
      g_usleep(200);
    }
  });
  for (int i = 0; i < 60; ++i) EXPECT_EQ(harness.pass(frame).size(), frame.bytes().size());
  stop = true;
  changer.join();
  EXPECT_FALSE(take_error(harness.element()));
}

std::ptrdiff_t threads_of_this_process() {
  using Folder = std::filesystem::directory_iterator;
  return std::distance(Folder("/proc/self/task"), Folder());
}

// Each pipeline has a streaming thread; all pipelines share the worker threads.
TEST_F(FilterStreams, pipelines_on_the_cpu_share_their_threads) {
  if (kEmulated) GTEST_SKIP() << "the emulated CUDA has threads of its own";
  constexpr std::ptrdiff_t kPipelines = 16;
  const auto cores = static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
  const std::ptrdiff_t before = threads_of_this_process();
  std::vector<Owned<GstElement>> pipelines;
  for (std::ptrdiff_t i = 0; i < kPipelines; ++i) {
    pipelines.push_back(
        parse("videotestsrc ! video/x-raw,format=NV12,width=320,height=240 ! cudacanny backend=cpu ! "
              "fakesink name=sink sync=true"));
    ASSERT_NE(gst_element_set_state(pipelines.back().get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  }
  for (const Owned<GstElement> &pipeline : pipelines)
    ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
  EXPECT_LE(threads_of_this_process() - before, kPipelines + cores + 4) << "4: GStreamer's and GLib's own";
}

}  // namespace
