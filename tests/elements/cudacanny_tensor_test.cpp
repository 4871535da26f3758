// SPDX-License-Identifier: LGPL-2.1-or-later
// The edge map that cudacanny attaches as a tensor, and its element message.
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaCannyTensor : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaCannyTensor, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

cv::Mat edges_in(const VideoFrame &frame, const CannyCase &canny = {}, Part part = {}) {
  const cv::Rect rectangle = part.width == 0 ? cv::Rect(0, 0, frame.size().width, frame.size().height)
                                             : cv::Rect(part.x, part.y, part.width, part.height);
  return opencv_edges(luma_of(frame)(rectangle).clone(), canny);
}

void expect_edges(const Owned<GstBuffer> &buffer, const cv::Mat &edges) {
  const GstCudaVisionTensorMeta *meta = tensor_of(buffer, "edges");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(tensor_count(buffer), 1);
  EXPECT_EQ(meta->element_type, GST_CUDA_VISION_ELEMENT_TYPE_U8);
  EXPECT_EQ(dims_of(meta), (std::vector<std::size_t>{static_cast<std::size_t>(edges.rows),
                                                     static_cast<std::size_t>(edges.cols)}));
  EXPECT_EQ(elements_of<std::uint8_t>(meta),
            std::vector<std::uint8_t>(edges.begin<std::uint8_t>(), edges.end<std::uint8_t>()));
}

TEST_P(CudaCannyTensor, display_off_attaches_the_edges_and_changes_no_byte) {
  Harness canny("cudacanny display=false");
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{1, 40}, Size{64, 64}, Size{101, 75}}) {
    const VideoFrame frame(GetParam(), size, seed++);
    const Owned<GstBuffer> out = buffer_from(&canny, frame);
    expect_edges(out, edges_in(frame));
    EXPECT_EQ(geometry_of(tensor_of(out, "edges")),
              (Geometry{static_cast<guint>(size.width), static_cast<guint>(size.height), 0, 0, 1, 1}));
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), frame));
  }
}

TEST_P(CudaCannyTensor, edges_of_a_region_have_its_position) {
  Harness canny("cudacanny display=false roi-x=5 roi-y=3 roi-width=21 roi-height=17");
  const VideoFrame frame(GetParam(), {41, 31}, 10);
  const Owned<GstBuffer> out = buffer_from(&canny, frame);
  expect_edges(out, edges_in(frame, {}, {5, 3, 21, 17}));
  EXPECT_EQ(geometry_of(tensor_of(out, "edges")), (Geometry{41, 31, 5, 3, 1, 1}));
}

class CudaCannyEdges : public ElementTest {};

// --- roi-type ---

Owned<GstBuffer> with_regions(Harness *canny, const VideoFrame &frame, const std::vector<cv::Rect> &regions) {
  canny->negotiate(frame);
  Owned<GstBuffer> buffer = frame.buffer();
  for (const cv::Rect &r : regions)
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "motion", static_cast<guint>(r.x),
                                                 static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                 static_cast<guint>(r.height));
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "car", 2, 2, 20, 20);
  return canny->exchange(std::move(buffer));
}

cv::Mat only_in(const cv::Mat &edges, const std::vector<cv::Rect> &regions) {
  cv::Mat kept = cv::Mat::zeros(edges.size(), CV_8U);
  for (const cv::Rect &r : regions) edges(r).copyTo(kept(r));
  return kept;
}

// Without hysteresis the result for a pixel depends on its neighbourhood only.
TEST_F(CudaCannyEdges, strong_edges_in_regions_are_those_of_the_whole_frame) {
  const std::vector<std::vector<cv::Rect>> sets = {{},
                                                   {{20, 30, 25, 18}},
                                                   {{0, 0, 9, 9}, {3, 60, 7, 10}, {60, 1, 41, 74}},
                                                   {{0, 0, 101, 75}},
                                                   {{77, 50, 1, 1}}};
  unsigned seed = 60;
  for (const char *parameters : {"", "aperture=5 low-threshold=800 high-threshold=1600 gaussian-sigma=0.6",
                                 "aperture=7 low-threshold=9000 high-threshold=30000 l2-gradient=true",
                                 "gaussian-sigma=1.3 low-threshold=5 high-threshold=20"}) {
    const std::string all = std::string("cudacanny display=false hysteresis=false ") + parameters;
    Harness whole(all), gated(all + " roi-type=motion");
    for (const auto &regions : sets) {
      SCOPED_TRACE(testing::Message() << parameters << ", " << regions.size() << " regions");
      const VideoFrame frame("NV12", {101, 75}, ++seed);
      const Owned<GstBuffer> everywhere = buffer_from(&whole, frame);
      std::vector<std::uint8_t> bytes = elements_of<std::uint8_t>(tensor_of(everywhere, "edges"));
      const cv::Mat edges(75, 101, CV_8U, bytes.data());
      EXPECT_GT(cv::countNonZero(edges), 500) << "too few edges for a test";
      expect_edges(with_regions(&gated, frame, regions), only_in(edges, regions));
    }
  }
}

// With hysteresis the edges of a region are those of the picture of the region and its margin, of 2 pixels here.
TEST_F(CudaCannyEdges, chains_are_followed_in_the_regions_and_their_margins) {
  Harness gated("cudacanny display=false roi-type=motion");
  const VideoFrame frame("NV12", {101, 75}, 8);
  // The second and the third one overlap with their margins.
  const std::vector<cv::Rect> regions = {{0, 5, 20, 20}, {40, 10, 20, 20}, {62, 25, 30, 40}};
  cv::Mat expected = cv::Mat::zeros(75, 101, CV_8U);
  for (const auto &[region, with_margin] :
       {std::pair<cv::Rect, cv::Rect>{{0, 5, 20, 20}, {0, 3, 22, 24}}, {{40, 10, 52, 55}, {38, 8, 56, 59}}}) {
    const cv::Mat edges =
        edges_in(frame, {}, {with_margin.x, with_margin.y, with_margin.width, with_margin.height});
    edges(region - with_margin.tl()).copyTo(expected(region));
  }
  expect_edges(with_regions(&gated, frame, regions), expected);
}

TEST_F(CudaCannyEdges, regions_are_places_of_the_frame_also_in_a_region_of_interest) {
  Harness whole("cudacanny display=false hysteresis=false roi-x=11 roi-y=7 roi-width=60 roi-height=50"),
      gated(
          "cudacanny display=false hysteresis=false roi-type=motion roi-x=11 roi-y=7 roi-width=60 "
          "roi-height=50");
  const VideoFrame frame("I420", {101, 75}, 9);
  const Owned<GstBuffer> everywhere = buffer_from(&whole, frame);
  std::vector<std::uint8_t> bytes = elements_of<std::uint8_t>(tensor_of(everywhere, "edges"));
  expect_edges(with_regions(&gated, frame, {{5, 20, 30, 20}}),
               only_in(cv::Mat(50, 60, CV_8U, bytes.data()), {{0, 13, 24, 20}}));
}

TEST_F(CudaCannyEdges, parameters_apply_to_attached_edges) {
  const VideoFrame frame("NV12", {67, 65}, 3);
  Harness canny(
      "cudacanny display=false aperture=5 low-threshold=800 high-threshold=1600 gaussian-sigma=0.6");
  expect_edges(buffer_from(&canny, frame), edges_in(frame, {800, 1600, 5, false, 0.6}));
  g_object_set(canny.element(), "aperture", 3, "low-threshold", 50.0, "high-threshold", 400.0, nullptr);
  expect_edges(buffer_from(&canny, frame), edges_in(frame, {50, 400, 3, false, 0.6}));
}

TEST_F(CudaCannyEdges, displayed_edges_are_attached_too) {
  Harness canny;
  const VideoFrame frame("NV12", {34, 18}, 4);
  for (int i = 0; i < 2; ++i) {
    set(canny.element(), "display", "true");
    const Owned<GstBuffer> drawn = buffer_from(&canny, frame);
    expect_edges(drawn, edges_in(frame));
    EXPECT_TRUE(gst_cuda_vision_buffer_get_tensor_meta(drawn.get(), "edges")->is_drawn);
    EXPECT_TRUE(same_bytes(bytes_of(drawn.get()), with_edges(frame)));
    set(canny.element(), "display", "false");
    const Owned<GstBuffer> hidden = buffer_from(&canny, frame);
    expect_edges(hidden, edges_in(frame));
    EXPECT_FALSE(gst_cuda_vision_buffer_get_tensor_meta(hidden.get(), "edges")->is_drawn);
  }
}

TEST_F(CudaCannyEdges, held_edges_are_not_overwritten) {
  Harness canny("cudacanny display=false");
  std::vector<Owned<GstBuffer>> held;
  const auto frame_of = [](unsigned seed) { return VideoFrame("GRAY8", {40, 30}, seed); };
  for (unsigned seed = 0; seed < 10; ++seed) held.push_back(buffer_from(&canny, frame_of(seed)));
  gst_element_set_state(canny.element(), GST_STATE_NULL);
  for (unsigned seed = 0; seed < 10; ++seed) expect_edges(held[seed], edges_in(frame_of(seed)));
}

TEST_F(CudaCannyEdges, message_counts_edge_pixels) {
  const VideoFrame frame("I420", {101, 75}, 5);
  Harness canny("cudacanny message=true");
  for (const char *settings : {"true", "false"}) {
    set(canny.element(), "display", settings);
    for (const int x : {0, 20}) {
      g_object_set(canny.element(), "roi-x", x, nullptr);
      buffer_from(&canny, frame);
      const Owned<GstMessage> message = take_message(canny.element(), GST_MESSAGE_ELEMENT);
      ASSERT_NE(message, nullptr);
      guint pixels = 0;
      EXPECT_TRUE(gst_structure_get_uint(gst_message_get_structure(message.get()), "edge-pixels", &pixels));
      EXPECT_EQ(static_cast<int>(pixels), cv::countNonZero(edges_in(frame, {}, {x, 0, 101 - x, 75}))) << x;
      EXPECT_GT(pixels, 0u);
    }
  }
}

TEST_F(CudaCannyEdges, message_costs_a_launch_and_eight_bytes) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {66, 34});
  for (const char *display : {"true", "false"}) {
    Harness canny(std::string("cudacanny display=") + display);
    const auto spent_on_frame = [&] {
      canny.work(frame);  // the first frame may still allocate
      const simt::Counters before = simt::counters();
      canny.work(frame);
      return simt::counters() - before;
    };
    const simt::Counters quiet = spent_on_frame();
    set(canny.element(), "message", "true");
    const simt::Counters telling = spent_on_frame();
    EXPECT_EQ(telling.launches, quiet.launches + 1);
    EXPECT_EQ(telling.device_to_host_bytes, quiet.device_to_host_bytes + 8);
    EXPECT_EQ(telling.synchronisations, quiet.synchronisations);
    EXPECT_EQ(telling.allocations, 0u);
  }
}

TEST_F(CudaCannyEdges, attached_edges_stay_on_the_device_until_they_are_read) {
  CUDAVISION_NEEDS_EMULATION();
  Harness canny("cudacanny display=false");
  const VideoFrame frame("NV12", {66, 34});
  const simt::Counters before = simt::counters();
  const Owned<GstBuffer> out = buffer_from(&canny, frame);
  EXPECT_EQ((simt::counters() - before).device_to_host_bytes, 0u);
  expect_edges(out, edges_in(frame));
  EXPECT_EQ((simt::counters() - before).device_to_host_bytes, 66u * 34);
}

}  // namespace
