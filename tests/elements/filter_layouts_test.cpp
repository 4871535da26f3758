// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as other elements lay them out: a part of a larger frame (GstVideoCropMeta), upside down (negative strides),
// and rows without the padding of GStreamer's strides.
#include <gst/video/video.h>

#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/harness.h"

namespace {

using cudavision::Size;
using namespace cudavision::test;

class FilterLayouts : public ElementTest {};

// Copies between the samples of a frame and those of a larger one from (x, y) on.
void copy(VideoFrame *whole, VideoFrame *part, int x, int y, bool to_whole) {
  for (int c = 0; c < part->component_count(); ++c) {
    const Size size = part->component_size(c);
    for (int j = 0; j < size.height; ++j)
      for (int i = 0; i < size.width; ++i) {
        std::uint8_t &in_part = part->sample(c, i, j),
                     &in_whole = whole->sample(c, i + (x >> whole->shift_x(c)), j + (y >> whole->shift_y(c)));
        to_whole ? in_whole = in_part : in_part = in_whole;
      }
  }
}

void add_crop(GstBuffer *buffer, guint x, guint y, Size size) {
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = x, crop->y = y;
  crop->width = static_cast<guint>(size.width), crop->height = static_cast<guint>(size.height);
}

TEST_F(FilterLayouts, a_crop_is_worked_on_and_the_rest_stays_as_it_is) {
  for (const std::string &format : kFormats)
    for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
      VideoFrame whole(format, {68, 36}, 3, layout), part(format, {34, 18});
      copy(&whole, &part, 6, 4, false);
      Harness harness;
      harness.negotiate(part);
      Owned<GstBuffer> buffer = whole.buffer();
      if (layout == Layout::of_the_caps) whole.add_meta(buffer.get());
      add_crop(buffer.get(), 6, 4, part.size());
      const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
      ASSERT_NE(out, nullptr) << format;
      VideoFrame edges = with_edges(part);
      copy(&whole, &edges, 6, 4, true);
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), whole)) << format;
    }
}

TEST_F(FilterLayouts, a_crop_between_chroma_samples_or_outside_of_the_frame_is_an_error) {
  for (const auto &[x, y] : {std::pair{3u, 4u}, {6u, 3u}, {36u, 0u}, {0u, 20u}, {0xfffffffeu, 0u}}) {
    const VideoFrame whole("NV12", {68, 36}), part("NV12", {34, 18});
    Harness harness;
    harness.negotiate(part);
    Owned<GstBuffer> buffer = whole.buffer();
    whole.add_meta(buffer.get());
    add_crop(buffer.get(), x, y, part.size());
    EXPECT_EQ(harness.exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
    EXPECT_TRUE(is(take_error(harness.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "GstVideoCropMeta begins at"));
  }
}

TEST_F(FilterLayouts, a_crop_behind_the_end_of_the_memory_is_an_error) {
  for (const gint stride : {64, -64}) {
    const VideoFrame part("GRAY8", {64, 18});
    Harness harness;
    harness.negotiate(part);
    Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 64 * 18, nullptr));
    gsize offsets[GST_VIDEO_MAX_PLANES] = {stride < 0 ? 64u * 17 : 0};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64,
                                   1 << 30, 1, offsets, strides);
    add_crop(buffer.get(), 0, 1 << 29, part.size());
    EXPECT_EQ(harness.exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
    EXPECT_TRUE(is(take_error(harness.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "GstVideoCropMeta begins at"));
  }
}

TEST_F(FilterLayouts, upside_down_frames_are_read_from_their_last_row_on) {
  for (const char *format : {"NV12", "I420", "GRAY8", "RGB", "BGRA", "YUY2"}) {
    const VideoFrame frame(format, {34, 18}, 5);
    const GstVideoInfo &info = frame.info();
    gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    gint strides[GST_VIDEO_MAX_PLANES] = {};
    const auto turned = [&](const std::vector<std::uint8_t> &bytes) {
      std::vector<std::uint8_t> upside_down = bytes;
      for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
        const guint plane = static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, c));
        const auto stride = static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, plane)),
                   rows = static_cast<std::size_t>(GST_VIDEO_INFO_COMP_HEIGHT(&info, c)),
                   begin = GST_VIDEO_INFO_PLANE_OFFSET(&info, plane);
        offsets[plane] = begin + (rows - 1) * stride;
        strides[plane] = -static_cast<gint>(stride);
        for (std::size_t y = 0; y < rows; ++y)
          std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin + y * stride), stride,
                      upside_down.begin() + static_cast<std::ptrdiff_t>(begin + (rows - 1 - y) * stride));
      }
      return upside_down;
    };
    const std::vector<std::uint8_t> bytes = turned(frame.bytes());
    Owned<GstBuffer> buffer(gst_buffer_new_memdup(bytes.data(), bytes.size()));
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), 34,
                                   18, GST_VIDEO_INFO_N_PLANES(&info), offsets, strides);
    Harness harness;
    harness.negotiate(frame);
    const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
    ASSERT_NE(out, nullptr) << format;
    EXPECT_EQ(bytes_of(out.get()), turned(with_edges(frame).bytes())) << format;
  }
}

TEST_F(FilterLayouts, the_error_of_a_buffer_that_is_too_small_says_what_it_has_and_what_it_needs) {
  const VideoFrame frame("NV12", {33, 17});
  Harness harness;
  harness.negotiate(frame);
  Owned<GstBuffer> unpadded(gst_buffer_new_allocate(nullptr, 33 * 17 + 34 * 9, nullptr));
  EXPECT_EQ(harness.exchange(std::move(unpadded), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(
      is(take_error(harness.element()), GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
         "it has 867 bytes; NV12 frames of 33x17 pixels have 972 bytes with strides of 36, 36 bytes"));
}

// The element does not propose to upstream what it does not honour itself, although buffers pass on unchanged.
TEST_F(FilterLayouts, only_what_the_element_honours_is_proposed_to_upstream) {
  Harness harness;
  const VideoFrame frame("NV12", {34, 18});
  for (const GType api :
       {GST_VIDEO_META_API_TYPE, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE,
        GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
        GST_VIDEO_GL_TEXTURE_UPLOAD_META_API_TYPE})
    gst_harness_add_propose_allocation_meta(harness.get(), api, nullptr);
  harness.negotiate(frame);
  const Owned<GstCaps> caps = frame.caps();
  GstQuery *query = gst_query_new_allocation(caps.get(), FALSE);
  EXPECT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
  EXPECT_EQ(gst_query_get_n_allocation_metas(query), 2u);
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, nullptr));
  gst_query_unref(query);
}

}  // namespace
