// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that the tests run with poisoned_maps.cpp: what a map gave cannot be used after its end.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include "tests/support/poisoned_maps.h"

namespace {

using cudavision::test::kNowhere;

std::uintptr_t address(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

class PoisonedMaps : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
  ~PoisonedMaps() override { gst_buffer_unref(buffer_); }

  GstBuffer *buffer_ = gst_buffer_new_allocate(nullptr, 64, nullptr);
  GstMapInfo map_;
};

TEST_F(PoisonedMaps, buffer_that_is_unmapped) {
  ASSERT_TRUE(gst_buffer_map(buffer_, &map_, GST_MAP_READ));
  EXPECT_NE(address(map_.data), kNowhere);
  gst_buffer_unmap(buffer_, &map_);
  EXPECT_EQ(address(map_.data), kNowhere);
  EXPECT_EQ(map_.size, kNowhere);
}

TEST_F(PoisonedMaps, memory_that_is_unmapped) {
  GstMemory *memory = gst_buffer_peek_memory(buffer_, 0);
  ASSERT_TRUE(gst_memory_map(memory, &map_, GST_MAP_READ));
  gst_memory_unmap(memory, &map_);
  EXPECT_EQ(address(map_.data), kNowhere);
  EXPECT_EQ(address(map_.memory), kNowhere);
}

TEST_F(PoisonedMaps, frame_that_is_unmapped) {
  for (const guint flags :
       {guint{GST_MAP_READ}, guint{GST_MAP_READ} | guint{GST_VIDEO_FRAME_MAP_FLAG_NO_REF}}) {
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, 8, 8));
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, buffer_, static_cast<GstMapFlags>(flags)));
    gst_video_frame_unmap(&frame);
    EXPECT_EQ(address(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)), kNowhere);
    EXPECT_EQ(address(frame.map[0].data), kNowhere);
    EXPECT_EQ(address(frame.buffer), kNowhere);
    EXPECT_EQ(GST_VIDEO_INFO_WIDTH(&frame.info), 8) << "the caps stay known";
    EXPECT_TRUE(gst_buffer_is_writable(buffer_)) << "the frame holds no reference any more";
  }
}

}  // namespace
