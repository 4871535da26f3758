// SPDX-License-Identifier: LGPL-2.1-or-later
// How the base class handles frames: memory, regions, skipped frames, messages and invalid buffers.
#include <gst/video/video.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterFrames : public ElementTest {};

// --- memory ---

TEST_F(FilterFrames, buffer_that_others_hold_is_not_overwritten) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18}), expected = with_edges(frame);
  harness.negotiate(frame);
  const Owned<GstBuffer> held = frame.buffer();
  const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(gst_buffer_ref(held.get())));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected));
  EXPECT_TRUE(same_bytes(bytes_of(held.get()), frame));
}

TEST_F(FilterFrames, memory_that_another_buffer_shares_is_not_overwritten) {
  for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
    Harness harness;
    const VideoFrame frame("I420", {34, 18}, 1, layout), expected = with_edges(frame);
    harness.negotiate(frame);
    const Owned<GstBuffer> held = frame.buffer();
    const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(gst_buffer_copy(held.get())));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), expected));
    EXPECT_TRUE(same_bytes(bytes_of(held.get()), frame));
  }
}

TEST_F(FilterFrames, memory_that_is_only_readable_is_not_overwritten) {
  Harness harness;
  const VideoFrame frame("RGB", {33, 18});
  harness.negotiate(frame);
  std::vector<std::uint8_t> bytes = frame.bytes();
  GstBuffer *buffer = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, bytes.data(), bytes.size(), 0,
                                                  bytes.size(), nullptr, nullptr);
  const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
  EXPECT_EQ(bytes, frame.bytes());
}

TEST_F(FilterFrames, writable_buffer_is_worked_on_in_place) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  const GstBuffer *const pushed = buffer.get();
  const GstMemory *const memory = gst_buffer_peek_memory(buffer.get(), 0);
  const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
  EXPECT_EQ(out.get(), pushed);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
}

TEST_F(FilterFrames, display_off_needs_no_memory_of_its_own) {
  Harness harness("cudacanny display=false");
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate(frame);
  const Owned<GstBuffer> held = frame.buffer();
  const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(gst_buffer_copy(held.get())));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
}

TEST_F(FilterFrames, frame_of_several_memories_is_worked_on) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate(frame);
  const std::size_t luma = GST_VIDEO_INFO_PLANE_OFFSET(&frame.info(), 1);
  Owned<GstBuffer> buffer(gst_buffer_new_memdup(frame.bytes().data(), luma));
  const Owned<GstBuffer> chroma(
      gst_buffer_new_memdup(frame.bytes().data() + luma, frame.bytes().size() - luma));
  gst_buffer_append_memory(buffer.get(), gst_buffer_get_memory(chroma.get(), 0));
  frame.add_meta(buffer.get());
  const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
}

TEST_F(FilterFrames, buffer_keeps_its_times_flags_and_metas) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_PTS(buffer.get()) = 7 * GST_SECOND;
  GST_BUFFER_DTS(buffer.get()) = 6 * GST_SECOND;
  GST_BUFFER_DURATION(buffer.get()) = 40 * GST_MSECOND;
  GST_BUFFER_OFFSET(buffer.get()) = 175;
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 1, 2, 3, 4);
  const Owned<GstBuffer> held(gst_buffer_ref(buffer.get()));  // makes the element work on a copy
  const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 7 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DTS(out.get()), 6 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * GST_MSECOND);
  EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 175u);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER));
  EXPECT_NE(gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0), nullptr);
}

// --- buffers that do not hold a frame of the caps ---

void expect_refused(Harness *harness, Owned<GstBuffer> buffer) {
  EXPECT_EQ(harness->exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(is(take_error(harness->element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "buffer"));
}

TEST_F(FilterFrames, buffer_that_is_too_small_is_an_error) {
  const VideoFrame frame("NV12", {32, 16});
  for (const char *display : {"true", "false"})
    for (const std::size_t missing : {std::size_t{1}, std::size_t{32 * 8}, frame.bytes().size() - 1}) {
      Harness harness(std::string("cudacanny display=") + display);
      harness.negotiate(frame);
      Owned<GstBuffer> buffer(gst_buffer_new_memdup(frame.bytes().data(), frame.bytes().size() - missing));
      expect_refused(&harness, std::move(buffer));
      harness.restart();
      EXPECT_FALSE(harness.work(frame).empty());
    }
}

TEST_F(FilterFrames, buffer_without_memory_is_an_error) {
  Harness harness;
  harness.negotiate(VideoFrame("NV12", {32, 16}));
  expect_refused(&harness, Owned<GstBuffer>(gst_buffer_new()));
}

TEST_F(FilterFrames, video_meta_that_reaches_beyond_the_buffer_is_an_error) {
  Harness harness;
  const VideoFrame frame("NV12", {32, 16}, 1, Layout::apart);
  harness.negotiate(frame);
  Owned<GstBuffer> buffer(gst_buffer_new_memdup(frame.bytes().data(), frame.bytes().size() - 80));
  frame.add_meta(buffer.get());  // the last rows of the last plane are missing
  expect_refused(&harness, std::move(buffer));
}

TEST_F(FilterFrames, video_meta_of_a_smaller_size_or_another_format_is_an_error) {
  const VideoFrame frame("NV12", {64, 48});
  for (const VideoFrame &other : {VideoFrame("NV12", {32, 16}), VideoFrame("NV21", {64, 48}),
                                  VideoFrame("GRAY8", {64, 48}), VideoFrame("RGB", {64, 48})}) {
    Harness harness;
    harness.negotiate(frame);
    Owned<GstBuffer> buffer = other.buffer();
    other.add_meta(buffer.get());
    expect_refused(&harness, std::move(buffer));
  }
}

TEST_F(FilterFrames, video_meta_of_a_larger_size_gives_its_upper_left_part) {
  for (const Size size : {Size{80, 48}, Size{64, 60}, Size{99, 61}}) {
    Harness harness;
    harness.negotiate(VideoFrame("I420", {64, 48}));
    const VideoFrame larger("I420", size);
    Owned<GstBuffer> buffer = larger.buffer();
    larger.add_meta(buffer.get());
    const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(larger, {}, {0, 0, 64, 48})));
  }
}

TEST_F(FilterFrames, video_meta_with_overlapping_rows_is_an_error) {
  for (const gint stride : {0, 16, -16, -64}) {
    Harness harness;
    const VideoFrame frame("GRAY8", {32, 16});
    harness.negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    gsize offset[GST_VIDEO_MAX_PLANES] = {stride < 0 ? 15u * 32 : 0u};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 32, 16, 1,
                                   offset, strides);
    expect_refused(&harness, std::move(buffer));
  }
}

// --- the region of interest ---

TEST_F(FilterFrames, region_is_clipped_to_the_frame) {
  const VideoFrame frame("I420", {41, 31});
  const struct {
    const char *description;
    Part part;
  } cases[] = {{"roi-x=7", {7, 0, 34, 31}},
               {"roi-y=9", {0, 9, 41, 22}},
               {"roi-width=11 roi-height=3", {0, 0, 11, 3}},
               {"roi-x=40 roi-y=30", {40, 30, 1, 1}},
               {"roi-x=20 roi-y=10 roi-width=1000 roi-height=1000", {20, 10, 21, 21}},
               {"roi-x=20 roi-width=2147483647 roi-height=2147483647", {20, 0, 21, 31}},
               {"roi-width=41 roi-height=31", {}}};
  for (const auto &[description, part] : cases) {
    Harness harness(std::string("cudacanny ") + description);
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame, {}, part))) << description;
    EXPECT_FALSE(take_warning(harness.element())) << description;
  }
}

TEST_F(FilterFrames, region_changes_in_playing) {
  Harness harness;
  const VideoFrame frame("YUY2", {41, 31});
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
  for (const Part part : {Part{3, 5, 20, 20}, Part{4, 5, 20, 20}, Part{4, 5, 7, 9}, Part{11, 11, 30, 20}}) {
    g_object_set(harness.element(), "roi-x", part.x, "roi-y", part.y, "roi-width", part.width, "roi-height",
                 part.height, nullptr);
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame, {}, part)));
  }
}

TEST_F(FilterFrames, region_outside_warns_once_and_frames_pass) {
  Harness harness;
  const VideoFrame frame("NV12", {40, 30});
  for (const char *outside : {"roi-x", "roi-y"}) {
    EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
    set(harness.element(), outside, "40");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bytes(harness.pass(frame), frame));
    EXPECT_TRUE(
        is(take_warning(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "roi-x"));
    EXPECT_FALSE(take_warning(harness.element())) << "one warning is enough";
    set(harness.element(), outside, "2147483647");  // a region that moves on outside is still outside
    EXPECT_TRUE(same_bytes(harness.pass(frame), frame));
    EXPECT_FALSE(take_warning(harness.element()));
    set(harness.element(), outside, "0");
  }
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
}

TEST_F(FilterFrames, region_outside_the_next_caps_warns_then) {
  Harness harness("cudacanny roi-x=30");
  const VideoFrame wide("NV12", {40, 30}), narrow("NV12", {20, 30});
  EXPECT_TRUE(same_bytes(harness.work(wide), with_edges(wide, {}, {30, 0, 10, 30})));
  EXPECT_TRUE(same_bytes(harness.pass(narrow), narrow));
  EXPECT_TRUE(take_warning(harness.element()));
  EXPECT_TRUE(same_bytes(harness.work(wide), with_edges(wide, {}, {30, 0, 10, 30})));
}

// --- frames that pass unchanged ---

TEST_F(FilterFrames, every_nth_works_on_the_first_of_each_group) {
  Harness harness("cudacanny every-nth=3");
  for (unsigned i = 0; i < 8; ++i) {
    const VideoFrame frame("NV12", {34, 18}, i + 1);
    if (i % 3 == 0)
      EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame))) << i;
    else
      EXPECT_TRUE(same_bytes(harness.pass(frame), frame)) << i;
  }
  harness.restart();  // restarts the count of frames
  const VideoFrame frame("NV12", {34, 18});
  EXPECT_TRUE(same_bytes(harness.work(frame), with_edges(frame)));
  EXPECT_TRUE(same_bytes(harness.pass(frame), frame));
}

// videorate marks the frames that it repeats with GAP. A flag says nothing of whether there is a picture.
TEST_F(FilterFrames, a_frame_is_worked_on_whatever_its_flags) {
  for (const GstBufferFlags flag :
       {GST_BUFFER_FLAG_GAP, GST_BUFFER_FLAG_DROPPABLE, GST_BUFFER_FLAG_CORRUPTED,
        GST_BUFFER_FLAG_DECODE_ONLY, GST_BUFFER_FLAG_DISCONT, GST_BUFFER_FLAG_HEADER, GST_BUFFER_FLAG_MARKER,
        GST_BUFFER_FLAG_RESYNC, GST_BUFFER_FLAG_DELTA_UNIT, GST_BUFFER_FLAG_LIVE,
        GST_BUFFER_FLAG_SYNC_AFTER}) {
    Harness harness;
    const VideoFrame frame("NV12", {34, 18});
    harness.negotiate(frame);
    Owned<GstBuffer> flagged = frame.buffer();
    GST_BUFFER_FLAG_SET(flagged.get(), flag);
    const Owned<GstBuffer> out = harness.exchange(std::move(flagged));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame))) << flag;
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), flag)) << flag;
  }
}

TEST_F(FilterFrames, gap_buffer_without_memory_passes) {
  Harness harness;
  harness.negotiate(VideoFrame("NV12", {34, 18}));
  GstBuffer *gap = gst_buffer_new();
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  EXPECT_NE(harness.exchange(Owned<GstBuffer>(gap)), nullptr);
  harness.work(VideoFrame("NV12", {34, 18}));
}

// --- messages ---

guint64 number(const GstStructure *structure, const char *field) {
  guint64 value = 0;
  EXPECT_TRUE(gst_structure_get_uint64(structure, field, &value)) << field;
  return value;
}

TEST_F(FilterFrames, message_tells_the_times_of_each_frame) {
  Harness harness("cudacanny message=true display=false every-nth=2");
  const VideoFrame frame("GRAY8", {20, 18});
  harness.negotiate(frame);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 3 * GST_SECOND;
  segment.base = 60 * GST_SECOND;
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
  for (guint64 i = 0; i < 4; ++i) {
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = (11 + i) * GST_SECOND;
    GST_BUFFER_DURATION(buffer.get()) = 40 * GST_MSECOND;
    const GstClockTime begin = gst_util_get_timestamp();
    EXPECT_NE(harness.exchange(std::move(buffer)), nullptr);
    const GstClockTime elapsed = gst_util_get_timestamp() - begin;
    const Owned<GstMessage> message = take_message(harness.element(), GST_MESSAGE_ELEMENT);
    ASSERT_EQ(message != nullptr, i % 2 == 0) << "one message for each frame that was worked on";
    if (!message) continue;
    const GstStructure *structure = gst_message_get_structure(message.get());
    EXPECT_STREQ(gst_structure_get_name(structure), "cudacanny");
    EXPECT_EQ(number(structure, "timestamp"), (11 + i) * GST_SECOND);
    EXPECT_EQ(number(structure, "stream-time"), (4 + i) * GST_SECOND);
    EXPECT_EQ(number(structure, "running-time"), (61 + i) * GST_SECOND);
    EXPECT_EQ(number(structure, "duration"), 40 * GST_MSECOND);
    EXPECT_GT(number(structure, "processing-time"), 0u);
    EXPECT_LE(number(structure, "processing-time"), elapsed);
  }
}

TEST_F(FilterFrames, no_message_unless_asked_for) {
  Harness harness;
  harness.work(VideoFrame("GRAY8", {20, 18}));
  EXPECT_FALSE(take_message(harness.element(), GST_MESSAGE_ELEMENT));
}

// --- threads ---

TEST_F(FilterFrames, threads_change_in_playing_and_nothing_else_does) {
  Harness harness("cudacanny n-threads=1");
  const VideoFrame frame("NV12", {101, 75});
  const VideoFrame expected = with_edges(frame);
  for (const int count : {1, 2, 7, 0, 1024, 1}) {
    g_object_set(harness.element(), "n-threads", count, nullptr);
    EXPECT_TRUE(same_bytes(harness.work(frame), expected)) << count;
  }
}

}  // namespace
