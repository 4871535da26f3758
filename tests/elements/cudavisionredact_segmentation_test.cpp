// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionredact hides what the segmentations of other elements select (GstAnalytics, GStreamer 1.26).
#include <gst/gst.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/drawn_frame.h"
#include "tests/elements/harness.h"

#if CUDAVISION_HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
#include <gst/analytics/analytics.h>
#include <gst/video/video.h>

namespace {

using namespace cudavision::test;
using cudavision::Region;

class CudaVisionRedactSegmentation : public ElementTest {};

// A mask of 8x6 values and the rectangle of the frame over which it is stretched. The rows begin at multiples of the
// stride behind the offset; `missing` bytes are missing at the end.
struct Mask {
  Region place{10, 5, 16, 12};
  gsize offset = 0;
  gint stride = 8;
  gsize missing = 0;
  std::vector<std::pair<guint, const char *>> classes = {};  // the class of each value; none: no classes

  static constexpr int kWidth = 8, kHeight = 6;
  static guint8 value(int x, int y) { return static_cast<guint8>((3 * x + y) % 4); }
};

const VideoFrame &picture() {
  static const VideoFrame frame = bright("GRAY8", {64, 48});
  return frame;
}

GstBuffer *buffer_of(const Mask &mask) {
  std::vector<guint8> bytes(
      mask.offset + static_cast<gsize>(mask.stride * (Mask::kHeight - 1) + Mask::kWidth), 1);
  for (int y = 0; y < Mask::kHeight; ++y)
    for (int x = 0; x < Mask::kWidth; ++x)
      bytes[mask.offset + static_cast<gsize>(y * mask.stride + x)] = Mask::value(x, y);
  GstBuffer *buffer = gst_buffer_new_memdup(bytes.data(), bytes.size() - mask.missing);
  const gsize offsets[GST_VIDEO_MAX_PLANES] = {mask.offset};
  const gint strides[GST_VIDEO_MAX_PLANES] = {mask.stride};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, Mask::kWidth,
                                 Mask::kHeight, 1, offsets, strides);
  return buffer;
}

Owned<GstBuffer> frame_with(const Mask &mask) {
  Owned<GstBuffer> frame = picture().buffer();
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(frame.get());
  std::vector<guint> values;
  std::vector<GQuark> names;
  for (const auto &[value, name] : mask.classes)
    values.push_back(value), names.push_back(g_quark_from_static_string(name));
  if (values.empty()) values = {0, 1, 2, 3};
  GstAnalyticsSegmentationMtd segmentation;
  EXPECT_TRUE(gst_analytics_relation_meta_add_segmentation_mtd(
      relations, buffer_of(mask), GST_SEGMENTATION_TYPE_SEMANTIC, values.size(), values.data(), mask.place.x,
      mask.place.y, static_cast<guint>(mask.place.width), static_cast<guint>(mask.place.height),
      &segmentation));
  if (names.empty()) return frame;
  std::vector<gfloat> levels(names.size(), 1);
  GstAnalyticsClsMtd classes;
  EXPECT_TRUE(gst_analytics_relation_meta_add_cls_mtd(relations, names.size(), levels.data(), names.data(),
                                                      &classes));
  EXPECT_TRUE(gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_N_TO_N,
                                                       segmentation.id, classes.id));
  return frame;
}

// Whether the element hides exactly the pixels that `selected` chooses.
testing::AssertionResult hides(const std::string &properties, const Mask &mask,
                               const std::function<bool(int x, int y)> &selected) {
  Harness redact("cudavisionredact " + properties);
  redact.negotiate(picture());
  const Owned<GstBuffer> out = redact.exchange(frame_with(mask));
  VideoFrame expected = picture();
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      if (selected(x, y)) expected.sample(0, x, y) = color_in(expected, 0xff000000).component[0];
  return same_bytes(bytes_of(out.get()), expected);
}

// The value of the mask that is stretched over pixel (x, y); 0 outside.
int value_at(const Mask &mask, int x, int y) {
  const Region &place = mask.place;
  if (x < place.x || y < place.y || x >= place.x + place.width || y >= place.y + place.height) return 0;
  return Mask::value((x - place.x) * Mask::kWidth / place.width,
                     (y - place.y) * Mask::kHeight / place.height);
}

TEST_F(CudaVisionRedactSegmentation, values_other_than_0_are_hidden_where_the_mask_is_stretched) {
  for (const Region &place : {Region{10, 5, 16, 12}, Region{0, 0, 64, 48}, Region{-7, -9, 20, 40},
                              Region{50, 30, 90, 90}, Region{30, 20, 3, 2}}) {
    const Mask mask{.place = place};
    EXPECT_TRUE(hides("", mask, [&](int x, int y) { return value_at(mask, x, y) != 0; }))
        << place.x << ", " << place.y;
  }
}

TEST_F(CudaVisionRedactSegmentation, classes_choose_values) {
  const Mask mask{.classes = {{0, "background"}, {1, "car"}, {2, "person"}, {3, "background"}}};
  EXPECT_TRUE(hides("type=person", mask, [&](int x, int y) { return value_at(mask, x, y) == 2; }));
  EXPECT_TRUE(
      hides("", mask, [&](int x, int y) { return value_at(mask, x, y) == 1 || value_at(mask, x, y) == 2; }));
  EXPECT_TRUE(hides("masks=false type=person on-silence=pass", mask, [](int, int) { return false; }));
}

TEST_F(CudaVisionRedactSegmentation, rows_lie_where_the_video_meta_says) {
  const Mask mask{.offset = 5, .stride = 11};
  EXPECT_TRUE(hides("", mask, [&](int x, int y) { return value_at(mask, x, y) != 0; }));
}

// A mask that is shorter than its video meta says cannot be read: in doubt, everything is hidden.
TEST_F(CudaVisionRedactSegmentation, a_mask_that_ends_too_early_hides_the_frame) {
  for (const gsize offset : {gsize{0}, gsize{5}})
    EXPECT_TRUE(hides("", {.offset = offset, .stride = 11, .missing = 1}, [](int, int) { return true; }))
        << offset;
}

}  // namespace
#endif
