// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of cudahog: its tensor and boxes in every format, compared with cv::HOGDescriptor, what it draws, and
// its properties.
#include "tests/elements/hog_reference.h"

#include "tests/elements/frame_budget.h"
#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaHog : public ElementTest {};
class CudaHogFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaHogFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

// The tensor of one frame.
struct Blocks {
  std::vector<float> numbers;
  std::vector<std::size_t> dims;
  Geometry geometry{};
};
// Pushes one frame. Stores the bytes of the output frame in *out unless it is null.
Blocks blocks_from(Harness *hog, const VideoFrame &frame, VideoFrame *out = nullptr) {
  const Owned<GstBuffer> buffer = buffer_from(hog, frame);
  if (!buffer) return {};
  if (out != nullptr) out->bytes() = bytes_of(buffer.get());
  EXPECT_EQ(tensor_count(buffer), 1);
  const GstCudaVisionTensorMeta *tensor = tensor_of(buffer, "hog");
  if (tensor == nullptr) return {};
  EXPECT_EQ(tensor->element_type, GST_CUDA_VISION_ELEMENT_TYPE_F32);
  return {elements_of<float>(tensor), dims_of(tensor), geometry_of(tensor)};
}

// --- blocks ---

TEST_P(CudaHogFormat, blocks_are_those_of_opencv) {
  Harness hog("cudahog display=false");
  unsigned seed = 1;
  for (const Size size : {Size{16, 16}, Size{43, 33}, Size{66, 52}}) {
    const VideoFrame frame(GetParam(), size, seed, seed % 2 == 0 ? Layout::apart : Layout::of_the_caps);
    ++seed;
    VideoFrame out = frame;
    const Blocks blocks = blocks_from(&hog, frame, &out);
    EXPECT_TRUE(near(blocks.numbers, opencv_blocks(mat_of(frame), cv::HOGDescriptor())));
    EXPECT_EQ(blocks.dims, (std::vector<std::size_t>{static_cast<std::size_t>(size.height / 8 - 1),
                                                     static_cast<std::size_t>(size.width / 8 - 1), 36}));
    EXPECT_EQ(blocks.geometry,
              (Geometry{static_cast<guint>(size.width), static_cast<guint>(size.height), 0, 0, 8, 8}));
    EXPECT_TRUE(same_bytes(out.bytes(), frame));
  }
}

TEST_P(CudaHogFormat, only_the_region_is_analysed) {
  Harness hog("cudahog display=false roi-x=6 roi-y=4 roi-width=41 roi-height=35");
  const VideoFrame frame(GetParam(), {66, 52}, 9);
  const Blocks blocks = blocks_from(&hog, frame);
  EXPECT_TRUE(near(blocks.numbers,
                   opencv_blocks(mat_of(frame)(cv::Rect(6, 4, 41, 35)).clone(), cv::HOGDescriptor())));
  EXPECT_EQ(blocks.geometry, (Geometry{66, 52, 6, 4, 8, 8}));
}

TEST_P(CudaHogFormat, stars_are_drawn_only_in_the_region) {
  Harness hog("cudahog roi-x=8 roi-y=8 roi-width=32 roi-height=24");
  const VideoFrame frame(GetParam(), {52, 44}, 11);
  VideoFrame out = frame;
  blocks_from(&hog, frame, &out);
  int changed = 0;
  for (int y = 0; y < 44; ++y)
    for (int x = 0; x < 52; ++x) {
      const bool inside = x >= 8 && x < 40 && y >= 8 && y < 32;
      const bool differs = out.sample(0, x, y) != frame.sample(0, x, y);
      if (inside)
        changed += differs;
      else
        EXPECT_FALSE(differs) << x << ", " << y;
    }
  EXPECT_GT(changed, 100);
}

TEST_F(CudaHog, every_parameter_is_that_of_opencv) {
  const VideoFrame frame("RGB", {61, 49}, 3);
  Harness hog(
      "cudahog display=false cell-size=6 block-size=3 block-stride=6 bins=12 signed=true gamma=false "
      "norm=l2-hys");
  cv::HOGDescriptor opencv;
  opencv.winSize = {18, 18}, opencv.cellSize = {6, 6}, opencv.blockSize = {18, 18},
  opencv.blockStride = {6, 6}, opencv.nbins = 12;
  opencv.signedGradient = true, opencv.gammaCorrection = false;
  EXPECT_TRUE(near(blocks_from(&hog, frame).numbers, opencv_blocks(mat_of(frame), opencv)));
}

TEST_F(CudaHog, parameters_changed_in_playing_take_effect_on_the_next_frame) {
  const VideoFrame frame("GRAY8", {61, 49}, 3);
  Harness hog("cudahog display=false");
  cv::HOGDescriptor opencv;
  EXPECT_TRUE(near(blocks_from(&hog, frame).numbers, opencv_blocks(mat_of(frame), opencv)));
  g_object_set(hog.element(), "bins", 7, nullptr);
  opencv.nbins = 7;
  EXPECT_TRUE(near(blocks_from(&hog, frame).numbers, opencv_blocks(mat_of(frame), opencv)));
  g_object_set(hog.element(), "block-stride", 4, "gamma", FALSE, nullptr);
  opencv.blockStride = {4, 4}, opencv.gammaCorrection = false;
  EXPECT_TRUE(near(blocks_from(&hog, frame).numbers, opencv_blocks(mat_of(frame), opencv)));
}

// With the norm l1-sqrt, the squares of a block's numbers sum to 1 if there is a gradient.
TEST_F(CudaHog, blocks_of_the_thesis_have_unit_length) {
  Harness hog("cudahog display=false variant=ghog");
  const std::vector<float> numbers = blocks_from(&hog, VideoFrame("BGR", {64, 48}, 5)).numbers;
  ASSERT_EQ(numbers.size(), 5u * 7u * 36u);
  for (std::size_t block = 0; block < numbers.size(); block += 36) {
    double sum = 0;
    for (std::size_t i = 0; i < 36; ++i) sum += double{numbers[block + i]} * numbers[block + i];
    EXPECT_NEAR(sum, 1, 1e-3);
  }
}

TEST_F(CudaHog, frames_that_hold_no_block_fail_the_negotiation) {
  Harness hog("cudahog");
  const VideoFrame frame("GRAY8", {15, 40});
  gst_harness_set_src_caps(hog.get(), frame.caps().release());
  EXPECT_EQ(hog.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(is(take_error(hog.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "no block"));
}

// --- boxes ---

TEST_P(CudaHogFormat, boxes_are_those_of_opencv_and_are_drawn) {
  const ModelFile model("model.yml");
  unsigned seed = 20;
  int count = 0;
  for (const Size size : {Size{1, 1}, Size{16, 24}, Size{61, 50}, Size{72, 44}}) {
    const VideoFrame frame(GetParam(), size, seed, seed % 2 == 0 ? Layout::apart : Layout::of_the_caps);
    ++seed;
    const Boxes expected = opencv_boxes(mat_of(frame), model.opencv(), 4, 2);
    Harness hog("cudahog group-method=mean win-stride=4 color=0xff2050f0 line-width=1 model-location=" +
                model.location());
    VideoFrame out = frame;
    const Boxes boxes = boxes_from(&hog, frame, &out);
    EXPECT_TRUE(same_boxes(boxes, expected));
    EXPECT_TRUE(same_bytes(out.bytes(), with_boxes(frame, boxes, 0xff2050f0, 1)));
    g_object_set(hog.element(), "draw-labels", FALSE, nullptr);
    EXPECT_TRUE(same_boxes(boxes_from(&hog, frame, &out), expected));
    EXPECT_TRUE(same_bytes(out.bytes(), with_boxes(frame, boxes, 0xff2050f0, 1, {}, "")));
    g_object_set(hog.element(), "display", FALSE, nullptr);
    EXPECT_TRUE(same_boxes(boxes_from(&hog, frame, &out), expected));
    EXPECT_TRUE(same_bytes(out.bytes(), frame));
    count += static_cast<int>(expected.size());
  }
  EXPECT_GT(count, 0) << "too few boxes for a test";
}

TEST_F(CudaHog, boxes_of_a_region_are_in_coordinates_of_the_frame) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {90, 70}, 31);
  Boxes expected = opencv_boxes(mat_of(frame)(cv::Rect(7, 5, 70, 61)).clone(), model.opencv(), 4, 1);
  EXPECT_FALSE(expected.empty());
  for (Box &box : expected) box.rectangle += cv::Point(7, 5);
  Harness hog(
      "cudahog group-method=mean win-stride=4 group-threshold=1 line-width=2 roi-x=7 roi-y=5 roi-width=70 "
      "roi-height=61 "
      "model-location=" +
      model.location());
  VideoFrame out = frame;
  const Boxes boxes = boxes_from(&hog, frame, &out);
  EXPECT_TRUE(same_boxes(boxes, expected));
  EXPECT_TRUE(same_bytes(out.bytes(), with_boxes(frame, boxes, 0xff00ff00, 2, {7, 5, 70, 61})));
}

// The scale is 1, at which boxes are windows.
TEST_F(CudaHog, only_windows_with_their_centres_in_regions_of_the_type_are_searched) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {90, 70}, 31);
  const std::string search =
      "cudahog display=false group-method=mean win-stride=4 scale-step=1 group-threshold=0 "
      "hit-threshold=-1000 roi-x=7 roi-y=5 "
      "label=bird model-location=" +
      model.location();
  Harness all(search), gated(search + " roi-type=motion"), any(search + " roi-type=*");
  const Boxes windows = boxes_from(&all, frame);
  const auto in_regions = [&](Harness *hog, const std::vector<cv::Rect> &regions) {
    Owned<GstBuffer> in = frame.buffer();
    for (const cv::Rect &r : regions)
      EXPECT_TRUE(gst_cuda_vision_buffer_add_region(in.get(), "motion", r.x, r.y, static_cast<guint>(r.width),
                                                    static_cast<guint>(r.height), 1, nullptr, -1, nullptr));
    EXPECT_TRUE(gst_cuda_vision_buffer_add_region(in.get(), "car", 40, 30, 9, 9, 1, nullptr, -1, nullptr));
    hog->negotiate(frame);
    const Owned<GstBuffer> out = hog->exchange(std::move(in));
    Boxes boxes = boxes_of(out.get(), "bird");
    EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(out.get(), "bird"), -1) << "roi-x leaves a part out";
    return boxes;
  };
  const auto expected = [&](const std::vector<cv::Rect> &regions) {
    Boxes chosen;
    for (const auto &window : windows) {
      const cv::Rect &w = window.rectangle;
      const double x = w.x + w.width / 2.0, y = w.y + w.height / 2.0;
      if (std::any_of(regions.begin(), regions.end(), [&](const cv::Rect &r) {
            return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
          }))
        chosen.push_back(window);
    }
    return chosen;
  };
  const std::vector<cv::Rect> regions = {{20, 20, 17, 12}, {60, 40, 9, 16}};
  EXPECT_GT(expected(regions).size(), 5u);
  EXPECT_LT(expected(regions).size(), windows.size());
  EXPECT_TRUE(same_boxes(in_regions(&gated, regions), expected(regions)));
  EXPECT_TRUE(same_boxes(in_regions(&gated, {}), {}));
  EXPECT_TRUE(same_boxes(in_regions(&any, regions), expected({regions[0], regions[1], {40, 30, 9, 9}})));
}

TEST_F(CudaHog, label_is_that_of_the_frame) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {90, 70}, 31);
  Harness hog(
      "cudahog group-method=mean win-stride=4 group-threshold=1 line-width=2 label=dog model-location=" +
      model.location());
  for (const char *label : {"dog", "a label of more than forty characters, which is cut"}) {
    g_object_set(hog.element(), "label", label, nullptr);
    VideoFrame out = frame;
    const Boxes boxes = boxes_from(&hog, frame, &out);
    EXPECT_FALSE(boxes.empty());
    EXPECT_TRUE(same_bytes(out.bytes(),
                           with_boxes(frame, boxes, 0xff00ff00, 2, {}, std::string(label).substr(0, 40))));
  }
}

TEST_F(CudaHog, search_changed_in_playing_takes_effect_on_the_next_frame) {
  const ModelFile model("model.yml");
  const VideoFrame frame("NV12", {80, 64}, 12);
  Harness hog("cudahog display=false group-method=mean win-stride=4 model-location=" + model.location());
  const auto expect = [&](int win_stride, int group, double threshold, double step) {
    const Boxes expected = opencv_boxes(mat_of(frame), model.opencv(), win_stride, group, threshold, step);
    EXPECT_TRUE(same_boxes(boxes_from(&hog, frame), expected))
        << win_stride << " " << group << " " << threshold;
    return expected.size();
  };
  const std::size_t grouped = expect(4, 2, 0, 1.05);
  g_object_set(hog.element(), "group-threshold", 0, nullptr);
  EXPECT_GT(expect(4, 0, 0, 1.05), grouped);
  g_object_set(hog.element(), "hit-threshold", 0.2, nullptr);
  expect(4, 0, 0.2, 1.05);
  g_object_set(hog.element(), "scale-step", 1.2, nullptr);
  expect(4, 0, 0.2, 1.2);
  g_object_set(hog.element(), "win-stride", 6, nullptr);
  expect(6, 0, 0.2, 1.2);
}

TEST_F(CudaHog, with_the_method_best_no_box_overlaps_a_better_one) {
  const ModelFile model("model.yml");
  const VideoFrame frame("NV12", {80, 64}, 12);
  Harness hog("cudahog display=false group-method=mean win-stride=4 group-threshold=0 model-location=" +
              model.location());
  const Boxes hits = boxes_from(&hog, frame);
  gst_util_set_object_arg(G_OBJECT(hog.element()), "group-method", "best");
  const Boxes best = boxes_from(&hog, frame);
  EXPECT_GT(best.size(), 2u);
  EXPECT_LT(best.size(), hits.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_TRUE(std::any_of(hits.begin(), hits.end(), [&](const Box &hit) {
      return hit.rectangle == best[i].rectangle && hit.score == best[i].score;
    })) << i;
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(best[j].score, best[i].score);
      const int shared = (best[i].rectangle & best[j].rectangle).area();
      EXPECT_LT(5 * shared, best[i].rectangle.area() + best[j].rectangle.area() - shared) << i << " " << j;
    }
  }
}

TEST_F(CudaHog, boxes_have_the_label_and_the_tensor_is_attached_only_on_request) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {80, 64}, 12);
  Harness hog("cudahog group-method=mean win-stride=4 group-threshold=0 label=gnome model-location=" +
              model.location());
  EXPECT_EQ(text(hog.element(), "descriptor"), "false");
  const Owned<GstBuffer> buffer = buffer_from(&hog, frame);
  EXPECT_EQ(tensor_count(buffer), 0);
  gpointer state = nullptr;
  GstMeta *meta =
      gst_buffer_iterate_meta_filtered(buffer.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  ASSERT_NE(meta, nullptr);
  EXPECT_STREQ(g_quark_to_string(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta)->roi_type), "gnome");
  g_object_set(hog.element(), "descriptor", TRUE, nullptr);
  cv::HOGDescriptor opencv = model.opencv();
  // The blocks have the parameters of the model.
  EXPECT_TRUE(near(blocks_from(&hog, frame).numbers, opencv_blocks(mat_of(frame), opencv)));
}

// GStreamer 1.22's binding for Python finds regions by their ids alone.
TEST_F(CudaHog, every_region_has_its_own_id_beside_those_that_are_there) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {80, 64}, 12);
  Harness hog("cudahog group-method=mean win-stride=4 group-threshold=0 label=gnome model-location=" +
              model.location());
  hog.negotiate(frame);
  Owned<GstBuffer> pushed = frame.buffer();
  for (const gint id : {2, 0, 3})
    gst_buffer_add_video_region_of_interest_meta(pushed.get(), "other", 1, 2, 3, 4)->id = id;
  const Owned<GstBuffer> buffer = hog.exchange(std::move(pushed));
  std::vector<gint> ids;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer.get(), &state,
                                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    ids.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta)->id);
    EXPECT_EQ(gst_buffer_get_video_region_of_interest_meta_id(buffer.get(), ids.back()),
              reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta));
  }
  ASSERT_GT(ids.size(), 5u) << "too few boxes for a test";
  std::vector<gint> expected{2, 0, 3, 1};
  while (expected.size() < ids.size()) expected.push_back(static_cast<gint>(expected.size()));
  EXPECT_EQ(ids, expected);
}

#if CUDAVISION_HAVE_ANALYTICS
TEST_F(CudaHog, boxes_are_also_attached_as_object_detections) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {80, 64}, 12);
  Harness hog("cudahog group-method=mean win-stride=4 group-threshold=0 label=gnome model-location=" +
              model.location());
  const Boxes boxes = boxes_from(&hog, frame);
  EXPECT_FALSE(boxes.empty());
  const Owned<GstBuffer> buffer = buffer_from(&hog, frame);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer.get());
  ASSERT_NE(relations, nullptr);
  EXPECT_EQ(gst_analytics_relation_get_length(relations), boxes.size());
  gpointer state = nullptr;
  GstAnalyticsMtd detection;
  for (const Box &box : boxes) {
    ASSERT_TRUE(gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                                    &detection));
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat score = 0;
    ASSERT_TRUE(gst_analytics_od_mtd_get_location(&detection, &x, &y, &width, &height, &score));
    EXPECT_EQ(cv::Rect(x, y, width, height), box.rectangle);
    EXPECT_FLOAT_EQ(score, static_cast<float>(box.score));
    EXPECT_STREQ(g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&detection)), "gnome");
  }
}

TEST_F(CudaHog, gstreamers_own_element_draws_the_boxes) {
  GstElementFactory *factory = gst_element_factory_find("objectdetectionoverlay");
  if (factory == nullptr) GTEST_SKIP() << "this GStreamer has no objectdetectionoverlay";
  gst_object_unref(factory);
  const ModelFile model("model.yml");
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width=120,height=90 ! cudahog "
      "display=false group-method=mean win-stride=4 group-threshold=1 backend=" +
      backend() + " model-location=" + model.location() +
      " ! videoconvert ! video/x-raw,format=RGB ! objectdetectionoverlay draw-labels=false "
      "object-detection-outline-color=0xffff0000 ! video/x-raw,format=RGB ! appsink name=sink");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstSample> sample(
      gst_app_sink_try_pull_sample(GST_APP_SINK(child(pipeline, "sink")), kPatience));
  ASSERT_NE(sample, nullptr);
  GstBuffer *buffer = gst_sample_get_buffer(sample.get());
  const std::vector<std::uint8_t> rgb = bytes_of(buffer);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  ASSERT_NE(relations, nullptr);
  gpointer state = nullptr;
  GstAnalyticsMtd detection;
  int boxes = 0;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &detection)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat score = 0;
    ASSERT_TRUE(gst_analytics_od_mtd_get_location(&detection, &x, &y, &width, &height, &score));
    bool red = false;  // somewhere across the line below the box
    for (int row = y + height - 3; row < std::min(y + height + 3, 90); ++row) {
      const std::uint8_t *pixel =
          &rgb[static_cast<std::size_t>(row) * 360 + static_cast<std::size_t>(x + width / 2) * 3];
      red |= pixel[0] > 200 && pixel[1] < 80 && pixel[2] < 80;
    }
    EXPECT_TRUE(red) << "box at " << x << ", " << y;
    ++boxes;
  }
  EXPECT_GT(boxes, 0);
}
#endif

TEST_F(CudaHog, messages_contain_the_numbers_of_boxes_and_hits) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {80, 64}, 12);
  Harness hog("cudahog group-method=mean win-stride=4 message=true model-location=" + model.location());
  const std::size_t boxes = boxes_from(&hog, frame).size();
  const Owned<GstMessage> message = take_message(hog.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  int listed = -1, hits = -1;
  EXPECT_TRUE(gst_structure_get_int(gst_message_get_structure(message.get()), "boxes", &listed));
  EXPECT_TRUE(gst_structure_get_int(gst_message_get_structure(message.get()), "hits", &hits));
  EXPECT_EQ(listed, static_cast<int>(boxes));
  EXPECT_EQ(hits, static_cast<int>(opencv_boxes(mat_of(frame), model.opencv(), 4, 0).size()));
}

TEST_F(CudaHog, too_many_hits_cause_one_warning) {
  const ModelFile model("model.yml");
  const VideoFrame frame("GRAY8", {100, 80}, 12);
  Harness hog(
      "cudahog group-method=mean win-stride=1 hit-threshold=-1000 scale-step=1.3 group-threshold=0 "
      "display=false "
      "model-location=" +
      model.location());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(boxes_from(&hog, frame).size(), 4096u);
  EXPECT_TRUE(
      is(take_warning(hog.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "hit-threshold"));
  EXPECT_FALSE(take_warning(hog.element()));
}

// --- properties ---

TEST_F(CudaHog, contradictions_are_errors_at_start_and_warnings_in_playing) {
  for (const auto &[properties, words] :
       {std::pair<const char *, const char *>{"min-scale=3 max-scale=2", "max-scale (2"},
        {"cell-size=16 block-size=5", "block width"}}) {
    const Owned<GstElement> element = parse(std::string("cudahog ") + properties + " backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, words));
  }
  Harness hog("cudahog display=false");
  const VideoFrame frame("GRAY8", {61, 49}, 3);
  const std::vector<float> expected = blocks_from(&hog, frame).numbers;
  g_object_set(hog.element(), "cell-size", 33, nullptr);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(blocks_from(&hog, frame).numbers, expected);
  EXPECT_TRUE(
      is(take_warning(hog.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "block width"));
  EXPECT_FALSE(take_warning(hog.element()));
}

// Blocks of 64 pixels are valid, but too large for this frame.
TEST_F(CudaHog, parameters_that_do_not_fit_the_frame_cause_a_warning_in_playing) {
  const VideoFrame frame("GRAY8", {61, 49}, 3);
  const auto warned = [](Harness *hog) {
    return is(take_warning(hog->element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "no block");
  };
  for (const char *display : {"false", "true"}) {
    Harness hog(std::string("cudahog display=") + display);
    const std::vector<float> expected = blocks_from(&hog, frame).numbers;
    EXPECT_FALSE(expected.empty());
    for (int time = 0; time < 2; ++time) {
      g_object_set(hog.element(), "cell-size", 32, nullptr);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(blocks_from(&hog, frame).numbers, expected);
      EXPECT_EQ(warned(&hog), time == 0) << "once in a run";
      EXPECT_FALSE(take_warning(hog.element()));
      g_object_set(hog.element(), "cell-size", 8, nullptr);
      EXPECT_EQ(blocks_from(&hog, frame).numbers, expected);
    }
    EXPECT_FALSE(take_warning(hog.element()));
  }
  Harness hog("cudahog display=false descriptor=false cell-size=32");
  EXPECT_EQ(tensor_count(buffer_from(&hog, frame)), 0);
  g_object_set(hog.element(), "descriptor", TRUE, nullptr);
  EXPECT_EQ(tensor_count(buffer_from(&hog, frame)), 0);
  EXPECT_TRUE(warned(&hog));
  g_object_set(hog.element(), "cell-size", 8, nullptr);
  EXPECT_FALSE(blocks_from(&hog, frame).numbers.empty());
}

TEST_F(CudaHog, stars_come_with_one_message_that_says_how_people_are_found) {
  for (const char *description : {"cudahog", "cudahog display=false", "cudahog model=people"}) {
    Harness hog(description);
    for (const Size size : {Size{80, 140}, Size{96, 160}}) hog.work(VideoFrame("GRAY8", size, 2));
    const Owned<GstMessage> message = take_message(hog.element(), GST_MESSAGE_INFO);
    EXPECT_EQ(message != nullptr, std::string_view(description) == "cudahog") << description;
    EXPECT_EQ(take_message(hog.element(), GST_MESSAGE_INFO), nullptr);
  }
}

TEST_F(CudaHog, stars_of_too_many_lines_are_left_out_with_one_warning) {
  if (kEmulated) GTEST_SKIP() << "it would take too long";
  Harness hog("cudahog cell-size=2 block-size=1 block-stride=64 bins=36");
  const VideoFrame frame("GRAY8", {16384, 590}, 3);
  for (int i = 0; i < 2; ++i) {
    VideoFrame out = frame;
    EXPECT_EQ(blocks_from(&hog, frame, &out).numbers.size(), 256u * 10u * 36u);
    EXPECT_TRUE(out.bytes() == frame.bytes());
  }
  EXPECT_TRUE(is(take_warning(hog.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "lines"));
  EXPECT_FALSE(take_warning(hog.element()));
}

// The model is read at start.
TEST_F(CudaHog, model_location_set_in_playing_changes_nothing) {
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {80, 64}, 12);
  Harness with("cudahog group-method=mean win-stride=4 group-threshold=0 display=false model-location=" +
               model.location());
  const std::size_t boxes = boxes_from(&with, frame).size();
  EXPECT_GT(boxes, 0u);
  g_object_set(with.element(), "model-location", nullptr, nullptr);
  EXPECT_EQ(tensor_count(buffer_from(&with, frame)), 0);
  EXPECT_EQ(boxes_from(&with, frame).size(), boxes);
  for (const char *location : {"", " model-location=\"\""}) {  // an empty location means no model
    Harness without(std::string("cudahog display=false") + location);
    EXPECT_EQ(text(without.element(), "descriptor"), "true");
    const std::vector<float> expected = blocks_from(&without, frame).numbers;
    EXPECT_FALSE(expected.empty());
    g_object_set(without.element(), "model-location", model.location().c_str(), nullptr);
    EXPECT_EQ(blocks_from(&without, frame).numbers, expected);
  }
}

TEST_F(CudaHog, properties_have_their_defaults) {
  const Owned<GstElement> hog = parse("cudahog");
  for (const auto &[property, value] : {std::pair<const char *, const char *>{"variant", "opencv"},
                                        {"cell-size", "8"},
                                        {"block-size", "2"},
                                        {"block-stride", "8"},
                                        {"bins", "9"},
                                        {"signed", "false"},
                                        {"gamma", "true"},
                                        {"norm", "variant"},
                                        {"descriptor", "true"},
                                        {"label", "person"},
                                        {"model", "none"},
                                        {"draw-labels", "true"},
                                        {"scale-step", "1.05"},
                                        {"min-scale", "0"},
                                        {"boxes", "object"},
                                        {"group-method", "best"},
                                        {"max-scale", "0"},
                                        {"win-stride", "8"},
                                        {"hit-threshold", "0"},
                                        {"group-threshold", "2"},
                                        {"win-width", "64"},
                                        {"win-height", "128"},
                                        {"color", "lime"},
                                        {"line-width", "0"}})
    EXPECT_EQ(text(hog.get(), property), value) << property;
}

// Blocks: one kernel, and the upload of the frame. Boxes: six kernels of the detector, one for the outlines
// and two for the canvas; the upload of the frame; and the downloads of the frame and of the list with its
// count.
TEST_F(CudaHog, launches_and_copies_of_a_frame) {
  CUDAVISION_NEEDS_EMULATION();
  const ModelFile model("model.yml");
  const VideoFrame frame("RGB", {64, 48}, 3);
  Harness blocks("cudahog display=false");
  expect_budget(&blocks, frame, {1, 1, 0});
  Harness boxes("cudahog group-method=mean win-stride=4 model-location=" + model.location());
  expect_budget(&boxes, frame, {9, 1, 2});
}

}  // namespace
