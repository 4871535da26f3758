// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's own metas for tensors and segmentation (1.26), tested with cudacanny: they share the data of ours.
#include <gst/gst.h>

#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/tensor.h"

#if CUDAVISION_HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
#include <gst/analytics/analytics.h>
#include <gst/video/video.h>

namespace {

using namespace cudavision::test;

class CudaCannyAnalytics : public ElementTest {};

const VideoFrame &the_frame() {
  static const VideoFrame frame("NV12", {66, 34}, 3);
  return frame;
}

TEST_F(CudaCannyAnalytics, edges_are_a_tensor_of_gstreamer_that_shares_the_data) {
  Harness canny("cudacanny display=false");
  const Owned<GstBuffer> buffer = buffer_from(&canny, the_frame());
  const GstCudaVisionTensorMeta *ours = tensor_of(buffer, "edges");
  GstTensorMeta *meta = gst_buffer_get_tensor_meta(buffer.get());
  ASSERT_NE(meta, nullptr);
  ASSERT_EQ(meta->num_tensors, 1u);
  const GstTensor *tensor = gst_tensor_meta_get(meta, 0);
  EXPECT_STREQ(g_quark_to_string(tensor->id), "edges");
  EXPECT_EQ(tensor->data, ours->data);
  EXPECT_EQ(tensor->data_type, GST_TENSOR_DATA_TYPE_UINT8);
  EXPECT_EQ(tensor->dims_order, GST_TENSOR_DIM_ORDER_ROW_MAJOR);
  EXPECT_EQ(std::vector<std::size_t>(tensor->dims, tensor->dims + tensor->num_dims), dims_of(ours));
}

TEST_F(CudaCannyAnalytics, second_element_adds_its_tensor) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width=64,height=48 ! cudacanny display=false "
      "backend=" +
      backend() + " ! cudahistogram display=false backend=" + backend() + " ! appsink name=sink");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstSample *sample = nullptr;
  g_signal_emit_by_name(child(pipeline, "sink"), "pull-sample", &sample);
  ASSERT_NE(sample, nullptr);
  GstTensorMeta *meta = gst_buffer_get_tensor_meta(gst_sample_get_buffer(sample));
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->num_tensors, 2u);
  EXPECT_EQ(gst_tensor_meta_get_index_from_id(meta, g_quark_from_string("edges")), 0);
  const gint histogram = gst_tensor_meta_get_index_from_id(meta, g_quark_from_string("histogram"));
  ASSERT_EQ(histogram, 1);
  const auto counts = elements_of<std::uint32_t>(gst_tensor_meta_get(meta, 1)->data, 256);
  std::uint64_t pixels = 0;
  for (const std::uint32_t count : counts) pixels += count;
  EXPECT_EQ(pixels, 64u * 48u);
  gst_sample_unref(sample);
}

// Another program has removed tensors of the meta without changing their number, or has put null in their place.
TEST_F(CudaCannyAnalytics, tensors_that_are_none_are_left_out) {
  Harness canny("cudacanny display=false");
  canny.negotiate(the_frame());
  for (const bool in_array : {false, true}) {
    Owned<GstBuffer> frame = the_frame().buffer();
    GstTensorMeta *foreign = gst_buffer_add_tensor_meta(frame.get());
    foreign->num_tensors = 5;
    if (in_array) foreign->tensors = g_new0(GstTensor *, 5);
    const Owned<GstBuffer> buffer = canny.exchange(std::move(frame));
    const GstTensorMeta *meta = gst_buffer_get_tensor_meta(buffer.get());
    ASSERT_EQ(meta->num_tensors, 1u);
    EXPECT_EQ(meta->tensors[0]->data, tensor_of(buffer, "edges")->data);
  }
}

TEST_F(CudaCannyAnalytics, edges_are_a_segmentation_of_the_region) {
  Harness canny("cudacanny display=false roi-x=5 roi-y=3 roi-width=21 roi-height=17");
  const Owned<GstBuffer> buffer = buffer_from(&canny, the_frame());
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer.get());
  ASSERT_NE(relations, nullptr);
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd segmentation;
  ASSERT_TRUE(gst_analytics_relation_meta_iterate(
      relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &segmentation));
  gint x = 0, y = 0;
  guint width = 0, height = 0;
  GstBuffer *mask = gst_analytics_segmentation_mtd_get_mask(&segmentation, &x, &y, &width, &height);
  EXPECT_EQ(cv::Rect(x, y, static_cast<int>(width), static_cast<int>(height)), cv::Rect(5, 3, 21, 17));
  EXPECT_EQ(mask, tensor_of(buffer, "edges")->data) << "no second copy";
  EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_count(&segmentation), 2u);
  EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_id(&segmentation, 1), 255u);

  GstVideoMeta *layout = gst_buffer_get_video_meta(mask);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->format, GST_VIDEO_FORMAT_GRAY8);
  EXPECT_EQ(layout->stride[0], 21);
  GstAnalyticsClsMtd classes;
  state = nullptr;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations, segmentation.id, GST_ANALYTICS_REL_TYPE_N_TO_N, gst_analytics_cls_mtd_get_mtd_type(), &state,
      &classes));
  EXPECT_STREQ(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&classes, 1)), "edge");
  gst_buffer_unref(mask);
}

}  // namespace
#endif
