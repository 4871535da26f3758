// SPDX-License-Identifier: LGPL-2.1-or-later
// A GstHarness with the expectations that all elements share.
#include "tests/elements/harness.h"

#include <utility>

namespace cudavision::test {
namespace {

std::uint64_t launches() { return simt::counters().launches; }

}  // namespace

Harness::Harness(const std::string &description)
    : element_(parse(description + " backend=" + backend())),
      harness_(gst_harness_new_with_element(element_.get(), "sink", "src")) {}

Harness::~Harness() { gst_harness_teardown(harness_); }

void Harness::negotiate(const VideoFrame &frame) {
  Owned<GstCaps> caps = frame.caps();
  if (caps_ && gst_caps_is_equal(caps.get(), caps_.get())) return;
  gst_harness_set_src_caps(harness_, gst_caps_ref(caps.get()));
  caps_ = std::move(caps);
}

Owned<GstBuffer> Harness::exchange(Owned<GstBuffer> buffer, GstFlowReturn expected) {
  EXPECT_EQ(push(std::move(buffer)), expected);
  Owned<GstBuffer> out(gst_harness_try_pull(harness_));
  EXPECT_TRUE(!out || gst_buffer_is_writable(out.get())) << "the element has not let go of it";
  return out;
}

std::vector<std::uint8_t> Harness::pass(const VideoFrame &frame) {
  negotiate(frame);
  const Owned<GstBuffer> out = exchange(frame.buffer());
  EXPECT_NE(out, nullptr);
  return out ? bytes_of(out.get()) : std::vector<std::uint8_t>();
}

std::vector<std::uint8_t> Harness::work(const VideoFrame &frame) {
  const std::uint64_t before = launches();
  std::vector<std::uint8_t> bytes = pass(frame);
  EXPECT_EQ(text(element(), "active-backend"), backend());
  if (kEmulated) {
    EXPECT_GT(launches(), before) << "no kernel was launched";
  }
  return bytes;
}

void Harness::flush() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_flush_stop(TRUE)));
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_segment(&segment)));
}

void Harness::restart() {
  gst_element_set_state(element(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(element(), GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_stream_start("again")));
  caps_.reset();
}

}  // namespace cudavision::test
