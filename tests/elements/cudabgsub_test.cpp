// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares cudabgsub with cv::BackgroundSubtractorMOG2 in every format. Tests its regions, its tensor, what it draws,
// what it does not learn, its properties and its messages.
#include <gst/video/gstvideometa.h>

#include <png.h>
#include <sys/stat.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <opencv2/video/background_segm.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/file_limit.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/picture_file.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Region;
using cudavision::Size;

class CudaBgsub : public ElementTest {};

// A still scene in the format, the same for every call. If the square has a size, its pixels differ from the scene.
VideoFrame scene(const std::string &format, Size size, Region square = {}) {
  VideoFrame frame(format, size, 7);
  for (int y = square.y; y < square.y + square.height; ++y)
    for (int x = square.x; x < square.x + square.width; ++x)
      for (int c = 0; c < (frame.is_rgb() ? 3 : 1); ++c)
        frame.sample(c, x, y) = frame.sample(c, x, y) < 128 ? 250 : 5;
  return frame;
}

// What OpenCV analyses: the luma, or the three channels in their order in memory.
cv::Mat pixels_of(const VideoFrame &frame) {
  if (!frame.is_rgb()) return luma_of(frame);
  const auto [width, height] = frame.size();
  const int step = GST_VIDEO_INFO_COMP_PSTRIDE(&frame.info(), 0);
  guint first = GST_VIDEO_INFO_COMP_POFFSET(&frame.info(), 0);
  for (int c = 1; c < 3; ++c) first = std::min(first, GST_VIDEO_INFO_COMP_POFFSET(&frame.info(), c));
  cv::Mat pixels(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        pixels.ptr(y)[3 * x + c] =
            frame.bytes()[GST_VIDEO_INFO_PLANE_OFFSET(&frame.info(), 0) +
                          static_cast<std::size_t>(y * GST_VIDEO_INFO_PLANE_STRIDE(&frame.info(), 0) +
                                                   x * step + c + static_cast<int>(first))];
  return pixels;
}

// The frame with a mask in place of the pixels of a part.
VideoFrame with_mask(VideoFrame frame, const cv::Mat &mask, Part part) {
  for (int c = 0; c < frame.component_count(); ++c)
    for (int y = part.y; y < part.y + part.height; ++y)
      for (int x = part.x; x < part.x + part.width; ++x)
        frame.sample(c, x >> frame.shift_x(c), y >> frame.shift_y(c)) =
            c > 0 && !frame.is_rgb() ? 128 : mask.at<std::uint8_t>(y - part.y, x - part.x);
  return frame;
}

struct MotionRegion {
  Region box;
  int area = 0;
  double share = 0;
};
std::vector<MotionRegion> regions_of(const Owned<GstBuffer> &buffer) {
  std::vector<MotionRegion> regions;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer.get(), &state,
                                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *region = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    if (region->roi_type != g_quark_from_string("motion")) continue;
    MotionRegion found{{static_cast<int>(region->x), static_cast<int>(region->y), static_cast<int>(region->w),
                        static_cast<int>(region->h)}};
    const GstStructure *param = gst_video_region_of_interest_meta_get_param(region, "motion");
    EXPECT_NE(param, nullptr);
    EXPECT_TRUE(gst_structure_get_int(param, "area", &found.area));
    EXPECT_TRUE(gst_structure_get_double(param, "share", &found.share));
    EXPECT_GT(region->id, 0);
    regions.push_back(found);
  }
  return regions;
}

// Sends the still scene so often that it is background.
void learn(Harness *harness, const std::string &format, Size size, int frames = 8) {
  for (int i = 0; i < frames; ++i) (void)buffer_from(harness, scene(format, size));
}

// --- every format ---

class CudaBgsubFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaBgsubFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaBgsubFormat, the_mask_equals_opencv) {
  for (const Size size : {Size{1, 1}, {3, 5}, {64, 33}}) {
    Harness bgsub("cudabgsub blind-time=0 output=mask open=0 close=0");
    const auto peer = cv::createBackgroundSubtractorMOG2();
    for (int i = 0; i < 12; ++i) {
      VideoFrame frame(GetParam(), size, i % 5 == 4 ? 9 : 7);  // another scene now and then
      for (int y = 0; y < size.height; ++y)
        frame.sample(0, (i * 3 + y) % size.width, y) = static_cast<std::uint8_t>(i * 20);
      cv::Mat mask;
      peer->apply(pixels_of(frame), mask);
      ASSERT_TRUE(same_bytes(bgsub.work(frame), with_mask(frame, mask, {0, 0, size.width, size.height})))
          << "frame " << i;
    }
  }
}

TEST_P(CudaBgsubFormat, only_the_region_is_analysed_and_drawn) {
  const Part part{6, 4, 30, 20};
  Harness bgsub(
      "cudabgsub blind-time=0 output=mask open=0 close=0 roi-x=6 roi-y=4 roi-width=30 roi-height=20");
  const auto peer = cv::createBackgroundSubtractorMOG2();
  for (int i = 0; i < 6; ++i) {
    const VideoFrame frame = scene(GetParam(), {50, 40}, {4 * i, 10, 9, 9});
    cv::Mat mask;
    peer->apply(pixels_of(frame)(cv::Rect(part.x, part.y, part.width, part.height)), mask);
    ASSERT_TRUE(same_bytes(bgsub.work(frame), with_mask(frame, mask, part))) << "frame " << i;
  }
}

TEST_P(CudaBgsubFormat, without_display_the_frame_does_not_change_and_has_the_mask) {
  const Size size{66, 50};
  Harness bgsub("cudabgsub display=false open=0 close=0 min-area=10");
  learn(&bgsub, GetParam(), size);
  const VideoFrame frame = scene(GetParam(), size, {20, 10, 12, 16});
  const Owned<GstBuffer> out = buffer_from(&bgsub, frame);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), frame));
  const GstCudaVisionTensorMeta *meta = tensor_of(out, "foreground-mask");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(dims_of(meta), (std::vector<std::size_t>{50, 66}));
  const std::vector<std::uint8_t> mask = elements_of<std::uint8_t>(meta);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      ASSERT_EQ(mask[static_cast<std::size_t>(y * size.width + x)],
                x >= 20 && x < 32 && y >= 10 && y < 26 ? 255 : 0)
          << x << ", " << y;
  const std::vector<MotionRegion> regions = regions_of(out);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].box, (Region{20, 10, 12, 16}));
  EXPECT_EQ(regions[0].area, 12 * 16);
  EXPECT_DOUBLE_EQ(regions[0].share, 12.0 * 16 / (66 * 50));
}

TEST_P(CudaBgsubFormat, the_background_is_the_scene_without_what_moves) {
  const Size size{48, 32};
  Harness bgsub("cudabgsub output=background");
  learn(&bgsub, GetParam(), size, 30);
  const VideoFrame still = scene(GetParam(), size), moving = scene(GetParam(), size, {16, 8, 8, 8});
  const cv::Mat grey = luma_of(still);
  const VideoFrame expected = still.is_rgb() ? still : with_mask(moving, grey, {0, 0, 48, 32});
  VideoFrame actual = moving;
  actual.bytes() = bgsub.work(moving);
  for (int c = 0; c < expected.component_count(); ++c)
    for (int y = 0; y < expected.component_size(c).height; ++y)
      for (int x = 0; x < expected.component_size(c).width; ++x)
        ASSERT_EQ(actual.sample(c, x, y), expected.sample(c, x, y))
            << "component " << c << " at " << x << ", " << y;
}

// --- regions ---

TEST_F(CudaBgsub, regions_are_the_largest_parts_in_coordinates_of_the_frame) {
  const Size size{100, 60};
  Harness bgsub(
      "cudabgsub display=false open=0 close=0 min-area=20 roi-x=10 roi-y=5 roi-width=80 roi-height=50");
  learn(&bgsub, "GRAY8", size, 20);
  VideoFrame frame = scene("GRAY8", size, {20, 10, 10, 10});
  for (const Region square : {Region{40, 10, 12, 12}, Region{60, 20, 5, 4}, Region{70, 40, 4, 4}}) {
    const VideoFrame with = scene("GRAY8", size, square);
    for (int y = square.y; y < square.y + square.height; ++y)
      for (int x = square.x; x < square.x + square.width; ++x) frame.sample(0, x, y) = with.sample(0, x, y);
  }
  g_object_set(bgsub.element(), "learning-rate", 0.0, nullptr);
  std::vector<MotionRegion> regions = regions_of(buffer_from(&bgsub, frame));
  ASSERT_EQ(regions.size(), 3u) << "the smallest has 16 pixels";
  EXPECT_EQ(regions[0].box, (Region{40, 10, 12, 12}));
  EXPECT_EQ(regions[1].box, (Region{20, 10, 10, 10}));
  EXPECT_EQ(regions[2].box, (Region{60, 20, 5, 4}));
  set(bgsub.element(), "max-regions", "2");
  EXPECT_EQ(regions_of(buffer_from(&bgsub, frame)).size(), 2u);
  set(bgsub.element(), "max-regions", "0");
  EXPECT_EQ(regions_of(buffer_from(&bgsub, frame)).size(), 0u);
  set(bgsub.element(), "max-regions", "100");
  set(bgsub.element(), "min-area", "1");
  EXPECT_EQ(regions_of(buffer_from(&bgsub, frame)).size(), 4u);
}

TEST_F(CudaBgsub, gaps_are_closed_and_small_parts_are_removed) {
  const Size size{60, 40};
  VideoFrame frame = scene("GRAY8", size, {10, 10, 20, 12});
  const VideoFrame still = scene("GRAY8", size);
  for (int y = 10; y < 22; ++y) frame.sample(0, 19, y) = still.sample(0, 19, y);  // a gap
  frame.sample(0, 50, 30) = still.sample(0, 50, 30) < 128 ? 250 : 5;              // a single pixel
  for (const auto &[properties, count] :
       {std::pair{"open=0 close=0", 3u}, {"open=1 close=0", 2u}, {"open=1 close=2", 1u}}) {
    Harness bgsub(std::string("cudabgsub display=false min-area=1 ") + properties);
    learn(&bgsub, "GRAY8", size);
    EXPECT_EQ(regions_of(buffer_from(&bgsub, frame)).size(), count) << properties;
  }
}

// The fields of the next message.
struct Report {
  double moving = -1;
  gboolean global_change = -1;
  int regions = -1, found = -1;
};
Report report_of(GstElement *element) {
  const auto is_other = [](const Owned<GstMessage> &m) {
    return m && !gst_structure_has_name(gst_message_get_structure(m.get()), "cudabgsub");
  };
  Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT);
  while (is_other(message)) message = take_message(element, GST_MESSAGE_ELEMENT);
  Report report;
  if (!message) return report;
  const GstStructure *s = gst_message_get_structure(message.get());
  EXPECT_TRUE(gst_structure_get_double(s, "moving", &report.moving));
  EXPECT_TRUE(gst_structure_get_boolean(s, "global-change", &report.global_change));
  EXPECT_TRUE(gst_structure_get_int(s, "regions", &report.regions));
  EXPECT_TRUE(gst_structure_get_int(s, "found", &report.found));
  return report;
}

TEST_F(CudaBgsub, only_a_frame_whose_motion_is_known_is_marked) {
  const auto marks = [](const Owned<GstBuffer> &out) {
    return gst_cuda_vision_buffer_get_n_results(out.get(), "motion");
  };
  const Size size{40, 30};
  Harness bgsub("cudabgsub display=false open=0 close=0 min-area=1 detect-shadows=false max-motion=0.4");
  EXPECT_EQ(marks(buffer_from(&bgsub, scene("GRAY8", size))), -1) << "the first frame";
  EXPECT_EQ(marks(buffer_from(&bgsub, scene("GRAY8", size))), 0);
  EXPECT_EQ(marks(buffer_from(&bgsub, scene("GRAY8", size, {0, 0, 40, 12}))), 1);
  EXPECT_EQ(marks(buffer_from(&bgsub, scene("GRAY8", size, {0, 15, 40, 15}))), -1) << "a change of light";
}

// After a failed launch the kernels may not have run, and the memory of the model may hold anything.
TEST_F(CudaBgsub, nothing_is_learnt_on_a_device_that_fails) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame = scene("GRAY8", {40, 30});
  Harness bgsub("cudabgsub display=false");
  for (const unsigned successes : {0u, 1u, 2u}) {
    for (int learnt = 0; learnt < 2; ++learnt) (void)buffer_from(&bgsub, frame);
    simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
    EXPECT_EQ(bgsub.push(frame.buffer()), GST_FLOW_ERROR);
    EXPECT_TRUE(take_error(bgsub.element()));
    simt::reset();
    const Owned<GstBuffer> out = buffer_from(&bgsub, frame);
    EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(out.get(), "motion"), -1)
        << successes << ": not the first frame of a model";
  }
}

TEST_F(CudaBgsub, a_change_of_light_has_no_regions_and_is_told) {
  const Size size{40, 30};
  Harness bgsub(
      "cudabgsub display=false open=0 close=0 min-area=1 detect-shadows=false message=true max-motion=0.4");
  learn(&bgsub, "GRAY8", size);
  while (take_message(bgsub.element(), GST_MESSAGE_ELEMENT)) {
  }
  EXPECT_EQ(regions_of(buffer_from(&bgsub, scene("GRAY8", size, {0, 0, 40, 12}))).size(), 1u);
  Report report = report_of(bgsub.element());
  EXPECT_DOUBLE_EQ(report.moving, 0.4);
  EXPECT_FALSE(report.global_change);
  EXPECT_EQ(report.regions, 1);
  const Owned<GstBuffer> out = buffer_from(&bgsub, scene("GRAY8", size, {0, 15, 40, 15}));
  EXPECT_EQ(regions_of(out).size(), 0u);
  report = report_of(bgsub.element());
  EXPECT_DOUBLE_EQ(report.moving, 0.5);
  EXPECT_TRUE(report.global_change);
  EXPECT_EQ(report.regions, 0);
  EXPECT_EQ(report.found, 1);
  const std::vector<std::uint8_t> mask = elements_of<std::uint8_t>(tensor_of(out, "foreground-mask"));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 255), 600) << "the mask stays";
}

// --- what is shown ---

TEST_F(CudaBgsub, overlay_paints_what_moves_and_foreground_blackens_the_rest) {
  const Size size{40, 30};
  const Region square{12, 8, 10, 10};
  const VideoFrame frame = scene("RGB", size, square);
  for (const bool overlay : {true, false}) {
    Harness bgsub(std::string("cudabgsub open=0 close=0 color=lime output=") +
                  (overlay ? "overlay" : "foreground"));
    learn(&bgsub, "RGB", size);
    VideoFrame actual = frame;
    actual.bytes() = bgsub.work(frame);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < 3; ++c) {
          const bool inside = x >= 12 && x < 22 && y >= 8 && y < 18;
          const int painted = overlay ? (c == 1 ? 255 : 0) : 0;
          ASSERT_EQ(actual.sample(c, x, y), inside == overlay ? painted : frame.sample(c, x, y))
              << x << ", " << y;
        }
  }
}

// With a scale, the masks are those of the reduced picture, enlarged.
TEST_F(CudaBgsub, scale_works_on_means_of_squares) {
  const Size size{50, 38};
  for (const char *format : {"NV12", "RGB"})
    for (const auto &[scale, side] : {std::pair{"1/2", 2}, {"1/4", 4}}) {
      SCOPED_TRACE(std::string(format) + " " + scale);
      Harness bgsub(std::string("cudabgsub blind-time=0 output=mask open=0 close=0 scale=") + scale);
      const auto peer = cv::createBackgroundSubtractorMOG2();
      const int width = (size.width + side - 1) / side, height = (size.height + side - 1) / side;
      for (int i = 0; i < 8; ++i) {
        const VideoFrame frame = scene(format, size, {5 * i, 10, 9, 9});
        const cv::Mat pixels = pixels_of(frame);
        cv::Mat reduced(height, width, pixels.type()), mask, enlarged(size.height, size.width, CV_8U);
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const cv::Rect square =
                cv::Rect(x * side, y * side, side, side) & cv::Rect(0, 0, size.width, size.height);
            const cv::Scalar mean = cv::mean(pixels(square));
            for (int c = 0; c < pixels.channels(); ++c)
              reduced.ptr(y)[x * pixels.channels() + c] = static_cast<std::uint8_t>(mean[c] + 0.5);
          }
        peer->apply(reduced, mask);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) enlarged.ptr(y)[x] = mask.ptr(y / side)[x / side];
        ASSERT_TRUE(
            same_bytes(bgsub.work(frame), with_mask(frame, enlarged, {0, 0, size.width, size.height})))
            << "frame " << i;
      }
    }
}

TEST_F(CudaBgsub, scale_keeps_what_is_kept_and_shows_the_background) {
  const Size size{40, 32};
  for (const char *format : {"GRAY8", "BGRx"}) {
    Harness bgsub("cudabgsub output=background scale=1/4 ignore-type=person");
    const VideoFrame still = scene(format, size);
    int sum = 0;
    for (int y = 8; y < 12; ++y)
      for (int x = 8; x < 12; ++x) sum += still.sample(0, x, y);
    bgsub.negotiate(still);
    for (int i = 0; i < 10; ++i) {  // something comes, and stands in a region
      Owned<GstBuffer> buffer = scene(format, size, {8, 8, i < 5 ? 0 : 8, 8}).buffer();
      if (i >= 5) {
        ASSERT_TRUE(
            gst_cuda_vision_buffer_add_region(buffer.get(), "person", 8, 8, 8, 8, 1, nullptr, -1, nullptr));
      }
      VideoFrame shown = still;
      shown.bytes() = bytes_of(bgsub.exchange(std::move(buffer)).get());
      EXPECT_EQ(shown.sample(0, 8, 8), shown.sample(0, 11, 11)) << "a square has one value";
      EXPECT_EQ(shown.sample(0, 9, 10), (sum + 8) / 16) << "what stands in the region was learnt";
    }
  }
}

// --- what is not learnt ---

TEST_F(CudaBgsub, what_a_mask_file_selects_is_never_learnt_and_does_not_move) {
  const Size size{40, 30};
  Picture picture({4, 3});
  picture.at(0, 0) = 255;  // the first 10 x 10 pixels of the frame
  const std::string file = testing::TempDir() + "cudabgsub_mask.png";
  std::ofstream(file, std::ios::binary) << png_file(picture, {8, PNG_COLOR_TYPE_GRAY});
  Harness bgsub("cudabgsub display=false open=0 close=0 min-area=1 mask-location=" + file);
  learn(&bgsub, "GRAY8", size);
  EXPECT_EQ(regions_of(buffer_from(&bgsub, scene("GRAY8", size, {2, 2, 5, 5}))).size(), 0u);
  EXPECT_EQ(regions_of(buffer_from(&bgsub, scene("GRAY8", size, {20, 12, 5, 5}))).size(), 1u);
}

TEST_F(CudaBgsub, a_missing_mask_file_is_an_error_that_names_it) {
  const Owned<GstElement> element = parse("cudabgsub mask-location=/nowhere/mask.png backend=" + backend());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(
      is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "/nowhere/mask.png"));
}

// Something that stands still in a region of this type does not become background.
TEST_F(CudaBgsub, regions_of_ignore_type_are_not_learnt) {
  const Size size{40, 30};
  for (const bool kept : {true, false}) {
    Harness bgsub("cudabgsub display=false open=0 close=0 min-area=1 learning-rate=0.2 ignore-type=person");
    const VideoFrame frame = scene("GRAY8", size, {10, 8, 6, 6});
    learn(&bgsub, "GRAY8", size);
    std::size_t last = 0;
    for (int i = 0; i < 20; ++i) {
      Owned<GstBuffer> buffer = frame.buffer();
      ASSERT_TRUE(gst_cuda_vision_buffer_add_region(buffer.get(), kept ? "person" : "car", 9, 7, 8, 8, 1,
                                                    nullptr, -1, nullptr));
      last = regions_of(bgsub.exchange(std::move(buffer))).size();
    }
    EXPECT_EQ(last, kept ? 1u : 0u);
    while (take_warning(bgsub.element())) {
    }
  }
}

// --- streams ---

TEST_F(CudaBgsub, the_model_starts_anew_with_a_stream_a_flush_and_another_place) {
  const Size size{40, 30};
  Harness bgsub("cudabgsub display=false open=0 close=0 min-area=1 max-motion=1 detect-shadows=false");
  // In the first frame every pixel is set in the mask, but there are no regions.
  const auto is_first = [&] {
    const Owned<GstBuffer> out = buffer_from(&bgsub, scene("GRAY8", size));
    EXPECT_EQ(regions_of(out).size(), 0u);
    return elements_of<std::uint8_t>(tensor_of(out, "foreground-mask"))[0] == 255;
  };
  EXPECT_TRUE(is_first());
  EXPECT_FALSE(is_first());
  bgsub.flush();
  EXPECT_TRUE(is_first());
  EXPECT_FALSE(is_first());
  bgsub.restart();
  EXPECT_TRUE(is_first());
  EXPECT_FALSE(is_first());
  g_object_set(bgsub.element(), "roi-width", 30, nullptr);
  EXPECT_TRUE(is_first());
  EXPECT_FALSE(is_first());
  g_object_set(bgsub.element(), "roi-x", 5, nullptr);
  EXPECT_TRUE(is_first());
  EXPECT_FALSE(is_first());
}

// --- properties ---

// --- model-location ---

// A file for this test and backend: the test programs of all backends run at the same time.
std::string file_of_test(const char *name) {
  return testing::TempDir() + "cudabgsub_" + name + "_" + (kEmulated ? "emulated" : backend());
}

std::string bytes_of_file(const std::string &location) {
  std::ifstream file(location, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

enum class HeadNumber { x, y, width, height, scale, channels, mixtures, frames };

// A number of the file's head, which follows a title of 34 bytes.
std::int32_t number_of_file(const std::string &location, HeadNumber number) {
  std::int32_t value = -1;
  const std::string bytes = bytes_of_file(location);
  const std::size_t at = 34 + sizeof value * static_cast<std::size_t>(number);
  if (bytes.size() >= at + sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST_F(CudaBgsub, the_model_is_kept_from_one_run_to_the_next) {
  const std::string file = file_of_test("model");
  for (const char *format : {"I420", "BGRx"})
    for (const char *more : {"", " scale=1/2 roi-x=4 roi-y=2 roi-width=30 roi-height=20"}) {
      std::remove(file.c_str());
      const std::string description = std::string("cudabgsub output=background") + more;
      const auto frame = [&](int i) { return scene(format, {40, 30}, {i % 8 * 4, i % 5 * 5, 6, 6}); };
      Harness whole(description);
      {
        Harness first(description + " model-location=" + file);
        for (int i = 0; i < 8; ++i) EXPECT_EQ(first.work(frame(i)), whole.work(frame(i)));
      }
      Harness second(description + " model-location=" + file);
      for (int i = 8; i < 14; ++i)
        EXPECT_EQ(second.work(frame(i)), whole.work(frame(i))) << format << more << i;
    }
}

TEST_F(CudaBgsub, a_model_that_does_not_fit_is_refused_with_the_reason) {
  const std::string file = file_of_test("other_model");
  std::remove(file.c_str());
  { Harness("cudabgsub model-location=" + file).work(scene("GRAY8", {40, 30})); }
  const std::string good = bytes_of_file(file);
  ASSERT_GT(good.size(), 1200u);
  const auto error_with = [&](const std::string &bytes, const std::string &properties = "") {
    std::ofstream(file, std::ios::binary) << bytes;
    const VideoFrame frame = scene("GRAY8", {40, 30});
    const std::string description = "cudabgsub model-location=" + file + properties;
    const auto text_of = [](GstElement *element) {
      const auto error = take_error(element);
      return error ? error->text : std::string();
    };
    const Owned<GstElement> element = parse(description + " backend=" + backend());
    if (gst_element_set_state(element.get(), GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
      return text_of(element.get());
    Harness harness(description);  // some faults are found at the first frame only
    harness.negotiate(frame);
    (void)harness.push(frame.buffer());
    (void)Owned<GstBuffer>(gst_harness_try_pull(harness.get()));
    return text_of(harness.element());
  };
  EXPECT_EQ(error_with(good), "");
  std::string version = good, size = good, count = good, number = good;
  version[32] = '2';
  size[34 + 4 * 2 + 3] = 127;  // the width
  count[34 + 4 * 8] = 6;       // of the first pixel
  number.replace(34 + 4 * 8 + 1, 4, "\xff\xff\xff\xff");
  EXPECT_NE(error_with(version).find("not a background model of this version"), std::string::npos);
  EXPECT_NE(error_with(size).find("sizes are impossible"), std::string::npos);
  for (const std::string &bytes : {count, number, good.substr(0, good.size() - 1), good + "x"})
    EXPECT_NE(error_with(bytes).find("impossible, or its length is wrong"), std::string::npos);
  for (const std::size_t length : {0, 20, 40, 80})
    EXPECT_NE(error_with(good.substr(0, length)), "") << length;
  EXPECT_NE(error_with(good, " model-location=/dev/zero").find("not a file"), std::string::npos);
}

// The file stays as it is, so that a frame of another size does not destroy a model that was learnt for weeks.
TEST_F(CudaBgsub, a_model_for_other_frames_stays) {
  const std::string file = file_of_test("model_that_stays");
  std::remove(file.c_str());
  const std::string description = "cudabgsub model-location=" + file;
  {
    Harness first(description);
    first.work(scene("GRAY8", {40, 30}));
    first.work(scene("GRAY8", {20, 20}));
  }
  const std::string good = bytes_of_file(file);
  ASSERT_GT(good.size(), 400u);
  for (const char *more : {"", " scale=1/2", " mixtures=3", " roi-width=10"}) {
    Harness other(description + more);
    other.work(scene(*more == '\0' ? "BGRx" : "GRAY8", {20, 20}));
    other.work(scene(*more == '\0' ? "BGRx" : "GRAY8", {24, 20}));
    gst_element_set_state(other.element(), GST_STATE_NULL);
    std::string warnings;
    while (const auto warning = take_warning(other.element())) warnings += warning->text;
    EXPECT_NE(warnings.find("it stays as it is, and the background is learnt anew"), std::string::npos)
        << more << warnings;
    EXPECT_NE(warnings.find("is not replaced by the model: it is a model for 40x30 pixels"),
              std::string::npos)
        << more << warnings;
  }
  EXPECT_EQ(bytes_of_file(file), good);
}

// Frames of another size, a seek or a gap begin the model anew; the file keeps what was learnt before.
TEST_F(CudaBgsub, a_file_is_not_lost_by_a_few_frames) {
  const std::string file = file_of_test("model_of_weeks");
  const std::string description = "cudabgsub history=50 model-location=" + file;
  const VideoFrame frame = scene("GRAY8", {40, 30}), other = scene("GRAY8", {20, 20});
  const auto learnt = [&] { return number_of_file(file, HeadNumber::frames); };
  const auto work = [](Harness *bgsub, const VideoFrame &picture, int count) {
    for (int i = 0; i < count; ++i) bgsub->work(picture);
  };
  std::remove(file.c_str());
  {
    Harness first(description);
    work(&first, frame, 30);
    work(&first, other, 1);
  }
  EXPECT_EQ(learnt(), 30) << "and not the one frame of another size";
  {
    Harness bgsub(description);
    work(&bgsub, other, 1);
    work(&bgsub, frame, 2);
    work(&bgsub, other, 1);
    work(&bgsub, frame, 2);
  }
  EXPECT_EQ(learnt(), 34) << "it goes on when its frames come back";
  {
    Harness bgsub(description);
    work(&bgsub, frame, 1);
    g_object_set(bgsub.element(), "roi-width", 20, nullptr);
    work(&bgsub, frame, 1);
    g_object_set(bgsub.element(), "roi-width", 0, nullptr);
    work(&bgsub, frame, 1);
  }
  EXPECT_EQ(learnt(), 36);
  for (const int frames : {5, 60}) {  // each after a seek
    Harness bgsub(description);
    work(&bgsub, frame, 1);
    bgsub.flush();
    work(&bgsub, frame, frames);
    gst_element_set_state(bgsub.element(), GST_STATE_NULL);
    EXPECT_EQ(learnt(), frames < 50 ? 36 : frames);
    const auto warning = take_warning(bgsub.element());
    ASSERT_EQ(static_cast<bool>(warning), frames < 50);
    EXPECT_EQ(warning && warning->text.find("it has learnt more than the 5 frames") != std::string::npos,
              frames < 50);
  }
}

TEST_F(CudaBgsub, a_few_frames_do_not_occupy_the_file) {
  const std::string file = file_of_test("model_of_few");
  std::remove(file.c_str());
  const VideoFrame frame = scene("GRAY8", {40, 30}), other = scene("GRAY8", {20, 20});
  for (int run = 0; run < 2; ++run) {
    Harness bgsub("cudabgsub history=50 model-location=" + file);
    bgsub.work(other), bgsub.work(other);
    for (int i = 0; i < 60; ++i) bgsub.work(frame);
  }
  EXPECT_EQ(number_of_file(file, HeadNumber::width), 40) << "a sender may begin small";
}

// A file that cannot be read is an error at the beginning, and a warning later.
TEST_F(CudaBgsub, a_bad_file_does_not_end_a_running_stream) {
  const std::string file = file_of_test("model_that_breaks");
  std::remove(file.c_str());
  Harness bgsub("cudabgsub model-location=" + file);
  bgsub.work(scene("GRAY8", {40, 30}));
  std::ofstream(file) << "a letter";
  bgsub.work(scene("GRAY8", {20, 20}));
  bgsub.work(scene("GRAY8", {40, 30}));
  EXPECT_FALSE(take_error(bgsub.element()));
  EXPECT_EQ(bytes_of_file(file), "a letter");
}

TEST_F(CudaBgsub, a_small_budget_keeps_the_model) {
  const std::string file = file_of_test("model_in_a_budget");
  std::remove(file.c_str());
  const VideoFrame frame = scene("GRAY8", {320, 240}), other = scene("GRAY8", {20, 20});
  for (int run = 0; run < 2; ++run) {
    Harness bgsub("cudabgsub display=false max-memory=8000000 model-location=" + file);
    bgsub.pass(frame), bgsub.pass(other), bgsub.pass(frame);
    EXPECT_FALSE(take_error(bgsub.element()));
  }
  EXPECT_EQ(number_of_file(file, HeadNumber::frames), 4);
}

TEST_F(CudaBgsub, a_link_stays_a_link_and_a_file_keeps_its_mode) {
  const std::string file = file_of_test("private"), link = file_of_test("link");
  std::remove(file.c_str()), std::remove(link.c_str());
  { Harness("cudabgsub model-location=" + file).work(scene("GRAY8", {40, 30})); }
  std::filesystem::permissions(file,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(file, link);
  { Harness("cudabgsub model-location=" + link).work(scene("GRAY8", {40, 30})); }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::remove(file.c_str()), std::remove(link.c_str());
}

TEST_F(CudaBgsub, a_write_protected_model_stays) {
  const std::string file = file_of_test("protected");
  std::remove(file.c_str());
  { Harness("cudabgsub model-location=" + file).work(scene("GRAY8", {40, 30})); }
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  Harness bgsub("cudabgsub model-location=" + file);
  bgsub.work(scene("GRAY8", {40, 30}));
  gst_element_set_state(bgsub.element(), GST_STATE_NULL);
  const auto warning = take_warning(bgsub.element());
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->text.find("write-protected"), std::string::npos) << warning->text;
  EXPECT_EQ(number_of_file(file, HeadNumber::frames), 1);
  std::remove(file.c_str());
}

// A new location takes effect at the next start, so that the models of two cameras stay apart.
TEST_F(CudaBgsub, another_location_counts_from_the_next_start) {
  const std::string first = file_of_test("first_camera"), second = file_of_test("second_camera");
  std::remove(first.c_str()), std::remove(second.c_str());
  Harness bgsub("cudabgsub model-location=" + first);
  bgsub.work(scene("GRAY8", {40, 30}));
  set(bgsub.element(), "model-location", second);
  bgsub.work(scene("GRAY8", {40, 30}));
  gst_element_set_state(bgsub.element(), GST_STATE_NULL);
  EXPECT_EQ(number_of_file(first, HeadNumber::frames), 2);
  EXPECT_FALSE(std::filesystem::exists(second));
}

// A file gets what was learnt up to a stop, also if the stop ends a frame in the middle. If that frame was the first,
// there is no model yet, and no file is written.
TEST_F(CudaBgsub, a_frame_that_is_given_up_leaves_a_whole_model_or_none) {
  if (backend() != "cpu") GTEST_SKIP() << "a GPU ends its frames";
  const std::string file = file_of_test("given_up");
  const VideoFrame frame = scene("GRAY8", {2000, 1500});
  for (const int frames : {0, 1}) {
    int given_up = 0;
    for (int attempt = 0; attempt < 60 && given_up < 3; ++attempt) {
      std::remove(file.c_str());
      Harness harness("cudabgsub display=false n-threads=1 model-location=" + file);
      harness.negotiate(frame);
      for (int i = 0; i < frames; ++i) harness.exchange(frame.buffer());
      GstFlowReturn result = GST_FLOW_OK;
      std::thread pushing([&] { result = harness.push(frame.buffer()); });
      g_usleep(static_cast<gulong>(500 * (attempt % 12)));
      gst_element_set_state(harness.element(), GST_STATE_NULL);
      pushing.join();
      if (result == GST_FLOW_OK) continue;
      ++given_up;
      const std::string bytes = bytes_of_file(file);
      EXPECT_LE(bytes.size(), 100 + frame.size().width * frame.size().height * 13ull);
      EXPECT_EQ(bytes.empty(), frames == 0);
      if (frames > 0) Harness("cudabgsub model-location=" + file).work(frame);
    }
    EXPECT_GT(given_up, 0) << frames;
  }
  std::remove(file.c_str());
}

// A model file of any size takes no memory until frames come that match it.
TEST_F(CudaBgsub, a_file_takes_no_more_memory_than_the_frames_do) {
  const std::string file = file_of_test("hollow");
  std::remove(file.c_str());
  { Harness("cudabgsub model-location=" + file).work(scene("GRAY8", {40, 30})); }
  std::string head = bytes_of_file(file).substr(0, 34 + 4 * 8);
  head[34 + 4 * 2 + 1] = head[34 + 4 * 3 + 1] = 32;  // 8232x8222 pixels
  std::ofstream(file, std::ios::binary) << head;
  std::filesystem::resize_file(file, 100 + 8232ull * 8222);
  Harness harness("cudabgsub max-memory=4000000 model-location=" + file);
  harness.work(scene("GRAY8", {40, 30}));
  const auto warning = take_warning(harness.element());
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->text.find("is for 8232x8222 pixels"), std::string::npos) << warning->text;
  std::remove(file.c_str());
}

// This includes files at a location that is set while frames come, which were never read.
TEST_F(CudaBgsub, a_model_replaces_nothing_but_a_model) {
  const std::string text = file_of_test("text"), pipe = file_of_test("pipe");
  for (const std::string &location : {text, pipe}) {
    std::remove(location.c_str());
    Harness harness("cudabgsub model-location=" + location);
    harness.work(scene("GRAY8", {40, 30}));
    if (location == text) std::ofstream(text) << "a letter";
    ASSERT_TRUE(location == text || mkfifo(pipe.c_str(), 0600) == 0);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    const auto warning = take_warning(harness.element());
    ASSERT_TRUE(warning) << location;
    EXPECT_NE(warning->text.find("is not replaced by the model"), std::string::npos) << warning->text;
  }
  EXPECT_EQ(bytes_of_file(text), "a letter");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::remove(pipe.c_str());
}

TEST_F(CudaBgsub, a_model_that_may_not_be_so_long_leaves_the_old_one) {
  const std::string file = file_of_test("model");
  std::remove(file.c_str());
  const auto learn = [&file] {
    Harness harness("cudabgsub model-location=" + file);
    harness.work(scene("GRAY8", {40, 30}));
    const FileLimit limit(std::filesystem::exists(file) ? 1000 : RLIM_INFINITY);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    return take_warning(harness.element());
  };
  EXPECT_FALSE(learn());
  const std::string before = bytes_of_file(file);
  EXPECT_GT(before.size(), 1000u);
  const auto warning = learn();
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->text.find("File too large"), std::string::npos) << warning->text;
  EXPECT_EQ(bytes_of_file(file), before);
}

TEST_F(CudaBgsub, properties_have_the_defaults_of_opencv) {
  const Owned<GstElement> element = parse("cudabgsub");
  const auto peer = cv::createBackgroundSubtractorMOG2();
  EXPECT_EQ(integer(element.get(), "history"), peer->getHistory());
  EXPECT_EQ(real(element.get(), "learning-rate"), -1);
  EXPECT_EQ(real(element.get(), "var-threshold"), peer->getVarThreshold());
  EXPECT_EQ(text(element.get(), "detect-shadows"), peer->getDetectShadows() ? "true" : "false");
  EXPECT_EQ(integer(element.get(), "shadow-value"), peer->getShadowValue());
  EXPECT_EQ(real(element.get(), "shadow-threshold"), peer->getShadowThreshold());
  EXPECT_EQ(integer(element.get(), "mixtures"), peer->getNMixtures());
  EXPECT_FLOAT_EQ(static_cast<float>(real(element.get(), "background-ratio")),
                  static_cast<float>(peer->getBackgroundRatio()));
  EXPECT_EQ(real(element.get(), "var-threshold-gen"), peer->getVarThresholdGen());
  EXPECT_EQ(real(element.get(), "var-init"), peer->getVarInit());
  EXPECT_EQ(real(element.get(), "var-min"), peer->getVarMin());
  EXPECT_EQ(real(element.get(), "var-max"), peer->getVarMax());
  EXPECT_FLOAT_EQ(static_cast<float>(real(element.get(), "complexity-reduction")),
                  static_cast<float>(peer->getComplexityReductionThreshold()));
  EXPECT_EQ(text(element.get(), "output"), "overlay");
}

TEST_F(CudaBgsub, properties_of_the_model_reach_it) {
  const Size size{64, 33};
  Harness bgsub(
      "cudabgsub blind-time=0 output=mask open=0 close=0 history=7 var-threshold=9 shadow-value=60 "
      "shadow-threshold=0.7 "
      "mixtures=3 "
      "background-ratio=0.8 var-threshold-gen=4 var-init=20 var-min=5 var-max=40 complexity-reduction=0.2");
  const auto peer = cv::createBackgroundSubtractorMOG2(7, 9);
  peer->setShadowValue(60), peer->setShadowThreshold(0.7), peer->setNMixtures(3),
      peer->setBackgroundRatio(0.8);
  peer->setVarThresholdGen(4), peer->setVarInit(20), peer->setVarMin(5), peer->setVarMax(40);
  peer->setComplexityReductionThreshold(0.2);
  double rate = -1;
  for (int i = 0; i < 30; ++i) {
    if (i == 20) {
      rate = 0.3;
      g_object_set(bgsub.element(), "learning-rate", rate, "detect-shadows", FALSE, nullptr);
      peer->setDetectShadows(false);
    }
    const VideoFrame frame("BGRx", size, static_cast<unsigned>(i * i % 7));
    cv::Mat mask;
    peer->apply(pixels_of(frame), mask, rate);
    ASSERT_TRUE(same_bytes(bgsub.work(frame), with_mask(frame, mask, {0, 0, size.width, size.height})))
        << "frame " << i;
  }
}

TEST_F(CudaBgsub, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudabgsub");
  for (const auto &[property, refused] : {std::pair{"history", 0},
                                          {"mixtures", 9},
                                          {"shadow-value", 256},
                                          {"open", 17},
                                          {"close", -1},
                                          {"min-area", 0},
                                          {"max-regions", 1025}}) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(integer(element.get(), property), before) << property << " " << refused;
  }
}

// --- cost on the GPU ---

TEST_F(CudaBgsub, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    FrameBudget budget;
  } cases[] = {
      {"display=false", "NV12", {6, 1, 1}},  // one launch subtracts, one cleans, four find components
      {"display=false", "BGRx", {6, 1, 1}},
      {"display=false message=true", "GRAY8", {6, 1, 1}},
      {"output=overlay", "NV12", {7, 2, 3}},
      {"output=mask", "RGB", {7, 1, 2}},
      {"output=background", "RGB", {7, 1, 2}},
      {"output=background", "NV12", {8, 2, 3}},
      {"output=foreground", "RGB", {8, 1, 2}},
      {"display=false scale=1/2", "GRAY8", {8, 1, 1}},
      {"output=background scale=1/4", "BGRx", {10, 1, 2}},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness bgsub(std::string("cudabgsub ") + c.description);
    expect_budget(&bgsub, VideoFrame(c.format, {66, 34}), c.budget);
  }
}

}  // namespace
