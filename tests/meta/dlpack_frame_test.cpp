// SPDX-License-Identifier: LGPL-2.1-or-later
// Planes of video frames on the host as DLPack's structs: where the samples of each format lie, and what is no array.
#include <gst/video/video.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/meta/support.h"
#include "tests/support/dlpack.h"

namespace cudavision::test {
namespace {

struct UnrefCaps {
  void operator()(GstCaps *caps) const { gst_caps_unref(caps); }
};
using Caps = std::unique_ptr<GstCaps, UnrefCaps>;

constexpr int kColumns = 5, kRows = 3;

Caps caps_of(const std::string &format, int width = kColumns, int height = kRows) {
  return Caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format.c_str(), "width", G_TYPE_INT,
                                  width, "height", G_TYPE_INT, height, nullptr));
}

// A frame whose bytes count up.
Owned<GstBuffer> counting_frame(const Caps &caps) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps.get()));
  std::vector<guint8> bytes(GST_VIDEO_INFO_SIZE(&info));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<guint8>(i);
  return Owned<GstBuffer>(numbers(bytes));
}

std::string refusal(GstBuffer *buffer, GstCaps *caps, guint plane = 0) {
  return error_of([&](GError **error) {
    const Tensor tensor(gst_cuda_vision_frame_to_dlpack(buffer, caps, plane, kNone, kNoStream, error));
    return tensor != nullptr;
  });
}

TEST(DlpackFrame, has_the_planes_of_its_format) {
  using Shape = std::vector<std::int64_t>;
  const struct {
    const char *format;
    std::uint8_t bits;
    std::vector<Shape> planes;
  } cases[] = {{"GRAY8", 8, {{3, 5}}},
               {"NV12", 8, {{3, 5}, {2, 3, 2}}},
               {"I420", 8, {{3, 5}, {2, 3}, {2, 3}}},
               {"Y42B", 8, {{3, 5}, {3, 3}, {3, 3}}},
               {"YUY2", 8, {{3, 6, 2}}},
               {"UYVY", 8, {{3, 6, 2}}},
               {"RGB", 8, {{3, 5, 3}}},
               {"BGRx", 8, {{3, 5, 4}}},
               {"ARGB", 8, {{3, 5, 4}}},
               {"GBRA", 8, {{3, 5}, {3, 5}, {3, 5}, {3, 5}}},
               {"P010_10LE", 16, {{3, 5}, {2, 3, 2}}},
               {"I420_10LE", 16, {{3, 5}, {2, 3}, {2, 3}}},
               {"GRAY16_LE", 16, {{3, 5}}},
               {"ARGB64", 16, {{3, 5, 4}}},
               {"RGB16", 16, {{3, 5}}},
               {"RGB10A2_LE", 32, {{3, 5}}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.format);
    const Caps caps = caps_of(c.format);
    const Owned<GstBuffer> buffer = counting_frame(caps);
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_READ));
    ASSERT_EQ(gst_cuda_vision_frame_get_n_planes(caps.get()), c.planes.size());
    for (guint plane = 0; plane < c.planes.size(); ++plane) {
      const Tensor tensor = dlpack(buffer.get(), caps.get(), plane, kNone, kNoStream);
      ASSERT_NE(tensor, nullptr);
      const DLTensor &t = tensor->dl_tensor;
      EXPECT_EQ(Shape(t.shape, t.shape + t.ndim), c.planes[plane]);
      EXPECT_EQ(t.dtype.code, kDLUInt);
      EXPECT_EQ(t.dtype.bits, c.bits);
      EXPECT_EQ(t.data, map.data + GST_VIDEO_INFO_PLANE_OFFSET(&info, plane));
      EXPECT_EQ(t.strides[0] * c.bits / 8, GST_VIDEO_INFO_PLANE_STRIDE(&info, plane));
      EXPECT_EQ(t.strides[t.ndim - 1], 1);
      if (t.ndim == 3) {
        EXPECT_EQ(t.strides[1], t.shape[2]);
      }
      EXPECT_EQ(tensor->flags, kDLPackReadOnly);
      EXPECT_EQ(t.device.device_type, kDLCPU);
    }
    gst_buffer_unmap(buffer.get(), &map);
    EXPECT_NE(
        refusal(buffer.get(), caps.get(), static_cast<guint>(c.planes.size())).find("there is no plane"),
        std::string::npos);
  }
}

// Decoders and network sources give each plane a memory of its own, with gaps after rows.
TEST(DlpackFrame, lies_where_its_meta_says) {
  const Caps caps = caps_of("NV12", 4, 2);
  Owned<GstBuffer> buffer(numbers<guint8>({9, 1, 2, 3, 4, 0, 0, 0, 5, 6, 7, 8}));
  const std::vector<guint8> chroma{10, 20, 30, 40};
  gst_buffer_append_memory(
      buffer.get(), gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, const_cast<guint8 *>(chroma.data()), 4,
                                           0, 4, nullptr, nullptr));
  gsize offsets[GST_VIDEO_MAX_PLANES] = {1, 12};
  gint strides[GST_VIDEO_MAX_PLANES] = {7, 4};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 4, 2, 2,
                                 offsets, strides);
  const Tensor luma = dlpack(buffer.get(), caps.get(), 0), colour = dlpack(buffer.get(), caps.get(), 1);
  ASSERT_NE(luma, nullptr);
  ASSERT_NE(colour, nullptr);
  const auto *first = static_cast<const std::uint8_t *>(luma->dl_tensor.data);
  EXPECT_EQ(first[0], 1);
  EXPECT_EQ(luma->dl_tensor.strides[0], 7);
  EXPECT_EQ(first[7], 5);
  EXPECT_EQ(colour->dl_tensor.data, chroma.data());
  EXPECT_EQ(colour->dl_tensor.shape[2], 2);
}

TEST(DlpackFrame, outlives_the_frame_and_can_be_copied) {
  const Caps caps = caps_of("GRAY8");
  Owned<GstBuffer> buffer = counting_frame(caps);
  const Tensor shared = dlpack(buffer.get(), caps.get(), 0),
               copy = dlpack(buffer.get(), caps.get(), 0, kCopy);
  buffer.reset();
  EXPECT_EQ(copy->flags, kDLPackIsCopied);
  for (const Tensor *tensor : {&shared, &copy})
    EXPECT_EQ(static_cast<const std::uint8_t *>((*tensor)->dl_tensor.data)[8],
              8);  // the first one of the second row
  static_cast<std::uint8_t *>(copy->dl_tensor.data)[0] = 77;
  EXPECT_EQ(static_cast<const std::uint8_t *>(shared->dl_tensor.data)[0], 0);
}

TEST(DlpackFrame, what_is_no_array_is_refused) {
  const struct {
    const char *format, *reason;
  } cases[] = {{"v210", "do not lie in rows of whole bytes"},
               {"NV12_64Z32", "do not lie in rows of whole bytes"},
               {"RGB8P", "have a palette"},
               {"IYU1", "at equal distances"},
               {"GRAY16_BE", "in the order of other machines"}};
  for (const auto &c : cases) {
    const Caps caps = caps_of(c.format, 64, 32);
    const Owned<GstBuffer> buffer = counting_frame(caps);
    EXPECT_NE(refusal(buffer.get(), caps.get()).find(c.reason), std::string::npos) << c.format;
  }
  const Caps caps = caps_of("GRAY8"), sound(gst_caps_new_empty_simple("audio/x-raw")),
             any(gst_caps_new_any());
  const Owned<GstBuffer> buffer = counting_frame(caps);
  for (const Caps *other : {&sound, &any}) {
    const Criticals criticals;
    EXPECT_EQ(gst_cuda_vision_frame_get_n_planes(other->get()), 0u);
    EXPECT_EQ(refusal(buffer.get(), other->get()), "the caps are not those of video frames");
    EXPECT_EQ(criticals.count(), 0);
  }
  gst_buffer_resize(buffer.get(), 0, 20);
  EXPECT_EQ(refusal(buffer.get(), caps.get()), "plane 0 of the frame has 20 bytes instead of 21");
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 3);
  EXPECT_EQ(refusal(buffer.get(), caps.get()), "the frame is none of these caps");
}

// If sums of offsets wrapped around, the rows would seem to lie inside the buffer.
TEST(DlpackFrame, offsets_beyond_the_buffer_are_refused) {
  const Caps caps = caps_of("GRAY8", 4, 2);
  for (const gsize offset : {gsize{1}, gsize{9}, G_MAXSIZE - 3, G_MAXSIZE}) {
    const Owned<GstBuffer> buffer = counting_frame(caps);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {4};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 2, 1,
                                   offsets, strides);
    EXPECT_NE(refusal(buffer.get(), caps.get()).find("instead of 8"), std::string::npos) << offset;
  }
}

TEST(DlpackFrame, rows_that_run_upward_or_overlap_are_refused) {
  const Caps caps = caps_of("GRAY8", 4, 2);
  for (const gint stride : {-4, 3}) {
    const Owned<GstBuffer> buffer = counting_frame(caps);
    gsize offsets[GST_VIDEO_MAX_PLANES] = {4};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 2, 1,
                                   offsets, strides);
    EXPECT_NE(refusal(buffer.get(), caps.get()).find("rows do not lie one after the other"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace cudavision::test
