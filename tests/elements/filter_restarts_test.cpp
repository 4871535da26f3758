// SPDX-License-Identifier: LGPL-2.1-or-later
// Every element in a stream that does not wait for its start: GStreamer opens the pads before, so that frames, caps and
// other events come while an element starts and stops.
#include <gst/video/video.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace {

using namespace cudavision::test;

class FilterRestarts : public ElementTest {};

// Pushes frames of two sizes with boxes and track ids, whatever the result. The pad has a template: GStreamer 1.22 asks
// a pad without one for its current caps, and uses them after it has released the lock that protects them.
GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
class Stream {
 public:
  Stream()
      : frames_{VideoFrame("GRAY8", {64, 48}), VideoFrame("GRAY8", {48, 64})},
        pad_(GST_PAD(g_object_ref_sink(gst_pad_new_from_static_template(&source_template, "src")))) {
    gst_pad_set_active(pad_.get(), TRUE);
    gst_pad_push_event(pad_.get(), gst_event_new_stream_start("stream"));
    begin(0);
    thread_ = std::thread([this] { run(); });
  }
  ~Stream() {
    ends_ = true;
    thread_.join();
    gst_pad_set_active(pad_.get(), FALSE);
  }
  GstPad *pad() const { return pad_.get(); }

 private:
  void begin(std::size_t size) {
    gst_pad_push_event(pad_.get(), gst_event_new_caps(frames_[size].caps().get()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(pad_.get(), gst_event_new_segment(&segment));
  }
  void run() {
    for (guint64 n = 0; !ends_; ++n) {
      const std::size_t size = n / 20 % 2;
      if (n % 20 == 0) begin(size);
      Owned<GstBuffer> buffer = frames_[size].buffer();
      GST_BUFFER_PTS(buffer.get()) = n * GST_SECOND / 30;
      for (guint64 i = 0; i < 20; ++i) {
        GstVideoRegionOfInterestMeta *box = gst_buffer_add_video_region_of_interest_meta(
            buffer.get(), "person", static_cast<guint>((n * 7 + i * 3) % 40), static_cast<guint>(i), 10, 8);
        gst_video_region_of_interest_meta_add_param(
            box, gst_structure_new("tracking", "id", G_TYPE_UINT64, i + 1, nullptr));
      }
      gst_pad_push(pad_.get(), buffer.release());
    }
  }

  const VideoFrame frames_[2];
  const Owned<GstPad> pad_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

// As many lines as there can be, so that their memory is moved for a while.
std::string many_lines() {
  std::string lines;
  for (int i = 0; i < 128; ++i)
    lines += (i == 0 ? "" : ", ") + std::string("{\\\"name\\\": \\\"") + std::to_string(i) +
             "\\\", \\\"from\\\": [0, 0], \\\"to\\\": [9, 9]}";
  return "zones=\"{\\\"lines\\\": [" + lines + "]}\"";
}

TEST_F(FilterRestarts, a_stream_that_goes_on_while_elements_start_and_stop_does_no_harm) {
  if (kEmulated) GTEST_SKIP() << "it would take too long";
  const Owned<GstElement> sink = parse("fakesink sync=false async=false");
  const Owned<GstPad> end(gst_element_get_static_pad(sink.get(), "sink"));
  gst_element_set_state(sink.get(), GST_STATE_PLAYING);
  {
    const Stream stream;
    for (const std::string &use :
         every_element({.own = {"cudavisionredact", "cudavisionredact look-back=5 timeout=0",
                                "cudavisionzones " + many_lines(), "cudabgsub display=false",
                                "cudahog display=false"}})) {
      const Owned<GstElement> element = parse(on_backend(use));
      const Owned<GstPad> in(gst_element_get_static_pad(element.get(), "sink")),
          out(gst_element_get_static_pad(element.get(), "src"));
      for (int round = 0; round < (kSlow ? 20 : 150); ++round) {
        ASSERT_EQ(gst_pad_link(out.get(), end.get()), GST_PAD_LINK_OK) << use;
        ASSERT_EQ(gst_pad_link(stream.pad(), in.get()), GST_PAD_LINK_OK) << use;
        gst_element_set_state(element.get(), GST_STATE_PLAYING);
        g_usleep(static_cast<gulong>(round % 8 * 150));
        gst_element_set_state(element.get(), GST_STATE_READY);
        gst_pad_unlink(stream.pad(), in.get());
        gst_pad_unlink(out.get(), end.get());
      }
      gst_element_set_state(element.get(), GST_STATE_NULL);
    }
  }
  gst_element_set_state(sink.get(), GST_STATE_NULL);
  (void)take_glib_complaints();  // of GStreamer, about frames of a stream that the element has not seen begin
}

}  // namespace
