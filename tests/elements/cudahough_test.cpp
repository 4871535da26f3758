// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of cudahough in every format against cv::Canny and cv::HoughLines: its meta, its drawing and its properties.
#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "tests/elements/drawn_frame.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/harness.h"
#include "tests/elements/tensor.h"
#include "tests/support/opencv_hough.h"

namespace {

using namespace cudavision::test;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;

constexpr double kPi = 3.14159265358979323846;

class CudaHough : public ElementTest {};

struct HoughCase {
  int threshold = 30;
  double rho = 1, theta = kPi / 180, min_theta = 0, max_theta = kPi;
  CannyCase canny = {};
  bool ready_edges = false;  // input=edges
};

using Lines = std::vector<GstCudaVisionLine>;

// Pushes one frame and returns the attached lines. out: receives the bytes of the output frame.
Lines lines_from(Harness *hough, const VideoFrame &frame, VideoFrame *out = nullptr) {
  hough->negotiate(frame);
  const Owned<GstBuffer> buffer = hough->exchange(frame.buffer());
  EXPECT_NE(buffer, nullptr);
  if (!buffer) return {};
  if (out != nullptr) out->bytes() = bytes_of(buffer.get());
  EXPECT_EQ(gst_buffer_get_n_meta(buffer.get(), GST_CUDA_VISION_LINES_META_API_TYPE), 1u);
  const GstCudaVisionLinesMeta *meta = gst_cuda_vision_buffer_get_lines_meta(buffer.get());
  EXPECT_NE(meta, nullptr);
  if (meta == nullptr) return {};
  guint count = 0;
  const GstCudaVisionLine *lines = gst_cuda_vision_lines_meta_get_lines(meta, &count);
  return lines == nullptr ? Lines() : Lines(lines, lines + count);
}

std::vector<cv::Vec3f> opencv_lines(const VideoFrame &frame, const HoughCase &hough, Part part = {}) {
  const Region region = region_of(frame, part);
  cv::Mat luma = luma_of(frame)(cv::Rect(region.x, region.y, region.width, region.height)).clone();
  std::vector<cv::Vec3f> lines;
  opencv_hough_lines(hough.ready_edges ? luma : opencv_edges(luma, hough.canny), &lines, hough.rho,
                     hough.theta, hough.threshold, hough.min_theta, hough.max_theta);
  return lines;
}

bool equal(const Lines &one, const Lines &other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto &a, const auto &b) {
    return a.rho == b.rho && a.theta == b.theta && a.votes == b.votes;
  });
}

// Compares lines with those of cv::HoughLines, moved by the origin of the part, in order.
testing::AssertionResult same_lines(const Lines &actual, const std::vector<cv::Vec3f> &expected,
                                    Part part = {}) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " lines instead of " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double theta = expected[i][1];
    const double rho = expected[i][0] + part.x * std::cos(theta) + part.y * std::sin(theta);
    const bool exact =
        part.x == 0 && part.y == 0 ? actual[i].rho == expected[i][0] : std::abs(actual[i].rho - rho) < 1e-3;
    if (!exact || actual[i].theta != expected[i][1] || static_cast<float>(actual[i].votes) != expected[i][2])
      return testing::AssertionFailure()
             << "line " << i << ": rho " << actual[i].rho << " theta " << actual[i].theta << " votes "
             << actual[i].votes << " instead of " << rho << " " << theta << " " << expected[i][2];
  }
  return testing::AssertionSuccess();
}

// The lines of cv::HoughLines, all of them drawn in one colour.
const std::string kAllLines = "cudahough nms-radius=0 max-drawn=0 color=red line-width=2 ";

// The frame with its lines drawn from end to end.
VideoFrame with_lines(const VideoFrame &frame, const Lines &lines, std::uint32_t argb, int line_width,
                      Part part = {}) {
  std::vector<Primitive> primitives;
  const auto pixel = [](float coordinate) { return static_cast<std::int16_t>(std::lround(coordinate)); };
  for (const GstCudaVisionLine &line : lines)
    primitives.push_back({Primitive::Kind::line, static_cast<std::uint8_t>(line_width), color_in(frame, argb),
                          pixel(line.x1), pixel(line.y1), pixel(line.x2), pixel(line.y2)});
  return with_primitives(frame, primitives, part);
}

// --- every format ---

class CudaHoughFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaHoughFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaHoughFormat, lines_equal_opencv_and_are_drawn) {
  Harness hough(kAllLines + "threshold=15");
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{17, 13}, Size{64, 64}, Size{101, 75}}) {
    const VideoFrame frame(GetParam(), size, seed++);
    VideoFrame out = frame;
    const Lines lines = lines_from(&hough, frame, &out);
    EXPECT_TRUE(same_lines(lines, opencv_lines(frame, {15})));
    EXPECT_EQ(lines.empty(), size.width * size.height < 64 * 64) << "large frames must have lines";
    EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0xffff0000, 2)));
  }
}

TEST_P(CudaHoughFormat, separate_planes_are_processed_and_the_bytes_between_are_kept) {
  Harness hough(kAllLines + "threshold=15 color=0x8020ff41 line-width=1");
  const VideoFrame frame(GetParam(), {67, 65}, 40, Layout::apart);
  VideoFrame out = frame;
  const Lines lines = lines_from(&hough, frame, &out);
  EXPECT_TRUE(same_lines(lines, opencv_lines(frame, {15})));
  EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0x8020ff41, 1)));
}

TEST_P(CudaHoughFormat, only_the_region_is_processed_in_coordinates_of_the_frame) {
  const Part part{5, 3, 52, 47};
  Harness hough(kAllLines + "threshold=10 line-width=5 roi-x=5 roi-y=3 roi-width=52 roi-height=47");
  const VideoFrame frame(GetParam(), {71, 61}, 50);
  VideoFrame out = frame;
  const Lines lines = lines_from(&hough, frame, &out);
  EXPECT_FALSE(lines.empty());
  EXPECT_TRUE(same_lines(lines, opencv_lines(frame, {10}, part), part));
  for (const GstCudaVisionLine &line : lines)
    for (const auto &[x, y] : {std::pair{line.x1, line.y1}, {line.x2, line.y2}}) {
      EXPECT_TRUE(x >= 5 && x <= 56 && y >= 3 && y <= 49) << x << ", " << y;
      EXPECT_NEAR(x * std::cos(line.theta) + y * std::sin(line.theta), line.rho, 1.5);
    }
  EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0xffff0000, 5, part)));
}

TEST_P(CudaHoughFormat, display_off_changes_no_byte) {
  Harness hough(kAllLines + "threshold=15 display=false");
  const VideoFrame frame(GetParam(), {67, 65}, 60);
  VideoFrame out = frame;
  EXPECT_TRUE(same_lines(lines_from(&hough, frame, &out), opencv_lines(frame, {15})));
  EXPECT_TRUE(same_bytes(out.bytes(), frame));
}

TEST_P(CudaHoughFormat, input_edges_uses_the_luma_as_edge_map) {
  Harness hough(kAllLines + "input=edges threshold=12 display=false");
  VideoFrame frame(GetParam(), {60, 45}, 70);
  for (int y = 0; y < 45; ++y)
    for (int x = 0; x < 60; ++x)
      for (int c = 0; c < (frame.is_rgb() ? 3 : 1); ++c)
        frame.sample(c, x, y) = (x * 7 + y * 11) % 17 == 0 ? static_cast<std::uint8_t>(4 + x) : 0;
  const Lines lines = lines_from(&hough, frame);
  EXPECT_FALSE(lines.empty());
  EXPECT_TRUE(same_lines(lines, opencv_lines(frame, {.threshold = 12, .ready_edges = true})));
}

// --- what is drawn by default ---

TEST_F(CudaHough, only_edges_in_regions_of_the_type_vote) {
  const VideoFrame frame("NV12", {90, 70}, 41);
  const auto with_regions = [&](Harness *element, const std::vector<cv::Rect> &regions) {
    element->negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    for (const cv::Rect &r : regions)
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "motion", static_cast<guint>(r.x),
                                                   static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                   static_cast<guint>(r.height));
    return element->exchange(std::move(buffer));
  };
  for (const bool ready : {false, true}) {
    Harness canny("cudacanny display=false roi-type=motion"),
        hough(kAllLines + "display=false threshold=10 roi-type=motion" + (ready ? " input=edges" : ""));
    for (const std::vector<cv::Rect> &regions :
         {std::vector<cv::Rect>{{10, 10, 30, 20}, {50, 30, 30, 30}}, {}, {{0, 0, 90, 70}}}) {
      SCOPED_TRACE(testing::Message() << regions.size() << " regions, input=edges " << ready);
      cv::Mat edges = cv::Mat::zeros(70, 90, CV_8U);
      const Owned<GstBuffer> found = with_regions(&canny, regions);
      const std::vector<std::uint8_t> bytes = elements_of<std::uint8_t>(tensor_of(found, "edges"));
      if (ready)
        for (const cv::Rect &r : regions) luma_of(frame)(r).copyTo(edges(r));
      else
        std::copy(bytes.begin(), bytes.end(), edges.data);
      std::vector<cv::Vec3f> expected;
      opencv_hough_lines(edges, &expected, 1, kPi / 180, 10, 0, kPi);
      EXPECT_EQ(expected.empty(), regions.empty());
      const Owned<GstBuffer> out = with_regions(&hough, regions);
      const GstCudaVisionLinesMeta *meta = gst_cuda_vision_buffer_get_lines_meta(out.get());
      ASSERT_NE(meta, nullptr);
      guint count = 0;
      const GstCudaVisionLine *lines = gst_cuda_vision_lines_meta_get_lines(meta, &count);
      EXPECT_TRUE(same_lines(Lines(lines, lines + count), expected));
    }
  }
}

TEST_F(CudaHough, automatic_threshold_grows_with_the_region) {
  const VideoFrame frame("GRAY8", {200, 150}, 3);
  Harness automatic("cudahough low-threshold=20 display=false"),
      whole("cudahough low-threshold=20 threshold=60 display=false"),
      part("cudahough low-threshold=20 threshold=50 roi-width=100 display=false");
  const Lines lines = lines_from(&automatic, frame);
  EXPECT_FALSE(lines.empty());
  EXPECT_TRUE(equal(lines, lines_from(&whole, frame))) << "30 + 150 / 5";
  set(automatic.element(), "roi-width", "100");
  EXPECT_TRUE(equal(lines_from(&automatic, frame), lines_from(&part, frame))) << "30 + 100 / 5";
}

TEST_F(CudaHough, no_more_than_max_drawn_lines_are_drawn) {
  const VideoFrame frame("RGB", {101, 75}, 3);
  Harness hough(kAllLines + "threshold=15 max-drawn=3");
  VideoFrame out = frame;
  Lines lines = lines_from(&hough, frame, &out);
  ASSERT_GT(lines.size(), 3u) << "the list is whole";
  lines.resize(3);
  EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0xffff0000, 2)));
}

// 12 hues from red (normals in +x) over yellow to magenta.
TEST_F(CudaHough, each_direction_has_a_hue) {
  VideoFrame frame("RGB", {101, 101});
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 101; ++y)
      for (int x = 0; x < 101; ++x) frame.sample(c, x, y) = x == 50 || y == 50 ? 255 : 0;
  Harness hough("cudahough input=edges threshold=95");
  VideoFrame out = frame;
  const Lines lines = lines_from(&hough, frame, &out);
  ASSERT_EQ(lines.size(), 2u);
  const auto pixel = [&](int x, int y) {
    return std::array{out.sample(0, x, y), out.sample(1, x, y), out.sample(2, x, y)};
  };
  EXPECT_EQ(pixel(50, 10), (std::array<std::uint8_t, 3>{255, 64, 0})) << "theta 0: the first of 12 hues";
  EXPECT_EQ(pixel(10, 50), (std::array<std::uint8_t, 3>{0, 191, 255})) << "theta pi/2: the seventh";
  EXPECT_EQ(pixel(10, 10), (std::array<std::uint8_t, 3>{0, 0, 0}));
}

TEST_F(CudaHough, automatic_lines_grow_with_the_frame) {
  for (const auto &[height, width] : {std::pair{100, 1}, {599, 1}, {600, 2}, {1000, 3}}) {
    VideoFrame frame("GRAY8", {1100, height});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < 1100; ++x) frame.sample(0, x, y) = y == 50 ? 255 : 0;
    Harness hough("cudahough input=edges threshold=1000 color=red");
    VideoFrame out = frame;
    const Lines lines = lines_from(&hough, frame, &out);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0xffff0000, width))) << height;
  }
}

// --- the parameters ---

TEST_F(CudaHough, each_parameter_acts_as_in_opencv) {
  const VideoFrame frame("GRAY8", {120, 90}, 3);
  const struct {
    std::string description;
    HoughCase expected;
  } settings[] = {
      {"threshold=25", {25}},
      {"threshold=20 rho=2", {20, 2}},
      {"threshold=20 rho=0.5", {20, 0.5}},
      {"threshold=20 theta=0.05", {20, 1, 0.05}},
      {"threshold=20 min-theta=0.5 max-theta=1.25", {20, 1, kPi / 180, 0.5, 1.25}},
      {"threshold=20 low-threshold=20 high-threshold=300", {20, 1, kPi / 180, 0, kPi, {20, 300}}},
      {"threshold=20 aperture=5 low-threshold=800 high-threshold=1600",
       {20, 1, kPi / 180, 0, kPi, {800, 1600, 5}}},
      {"threshold=20 gaussian-sigma=1.4", {20, 1, kPi / 180, 0, kPi, {.sigma = 1.4}}},
  };
  const std::vector<cv::Vec3f> defaults = opencv_lines(frame, {20});
  for (const auto &setting : settings) {
    Harness hough(kAllLines + "display=false " + setting.description);
    const std::vector<cv::Vec3f> expected = opencv_lines(frame, setting.expected);
    EXPECT_NE(expected, defaults) << setting.description;
    EXPECT_TRUE(same_lines(lines_from(&hough, frame), expected)) << setting.description;
  }
}

// Angles of lines in degrees: 0 is horizontal, 45 falls to the right, 90 is vertical. Both ends belong to the range,
// which may go through 0.
TEST_F(CudaHough, lines_of_a_range_of_angles_are_found) {
  VideoFrame frame("GRAY8", {200, 200});
  std::fill(frame.bytes().begin(), frame.bytes().end(), std::uint8_t{0});
  const auto draw = [&frame](int x, int y) { frame.bytes()[static_cast<std::size_t>(y * 200 + x)] = 255; };
  for (int i = 0; i < 200; ++i) {
    draw(i, 40);                                                                        // 0 degrees
    draw(150, i);                                                                       // 90
    if (i < 100) draw(20 + i, 80 + i);                                                  // 45
    if (i < 100) draw(20 + i, 190 - i);                                                 // 135
    draw(i, 100 + static_cast<int>(std::lround(std::tan(5 * kPi / 180) * (i - 100))));  // 5
  }
  const struct {
    const char *range;
    std::vector<int> angles;
  } cases[] = {{"", {0, 5, 45, 90, 135}},
               {"min-angle=80 max-angle=100", {90}},
               {"min-angle=90 max-angle=90", {90}},
               {"min-angle=170 max-angle=10", {0, 5}},
               {"min-angle=0 max-angle=0", {0}},
               {"min-angle=5 max-angle=45", {5, 45}},
               {"min-angle=6 max-angle=180", {0, 45, 90, 135}},
               {"min-angle=45 max-angle=5", {0, 5, 45, 90, 135}},
               {"min-angle=120 max-angle=160", {135}},
               {"min-angle=46 max-angle=4", {0, 90, 135}}};
  for (const auto &[range, angles] : cases) {
    Harness hough(std::string("cudahough input=edges threshold=90 display=false nms-radius=8 ") + range);
    std::vector<int> found;
    for (const GstCudaVisionLine &line : lines_from(&hough, frame))
      found.push_back(static_cast<int>(std::lround(line.theta * 180 / kPi) + 90) % 180);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, angles) << range;
  }
}

TEST_F(CudaHough, parameters_changed_in_playing_take_effect_on_the_next_frame) {
  Harness hough(kAllLines + "threshold=20 display=false");
  const VideoFrame frame("NV12", {120, 90}, 4);
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {20})));
  g_object_set(hough.element(), "threshold", 25, "rho", 2.0, nullptr);
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {25, 2})));
  g_object_set(hough.element(), "theta", 0.1, "min-theta", 1.0, nullptr);
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {25, 2, 0.1, 1})));
  g_object_set(hough.element(), "high-threshold", 400.0, nullptr);
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {25, 2, 0.1, 1, kPi, {50, 400}})));
  set(hough.element(), "input", "edges");
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {25, 2, 0.1, 1, kPi, {}, true})));
}

TEST_F(CudaHough, nms_radius_and_gradient_voting_reduce_the_lines) {
  const VideoFrame frame("GRAY8", {120, 90}, 5);
  Harness hough(kAllLines + "threshold=15 display=false");
  const std::size_t all = lines_from(&hough, frame).size();
  g_object_set(hough.element(), "nms-radius", 5, nullptr);
  const std::size_t apart = lines_from(&hough, frame).size();
  g_object_set(hough.element(), "nms-radius", 0, "gradient-voting", TRUE, nullptr);
  const std::size_t near = lines_from(&hough, frame).size();
  EXPECT_GT(apart, 0u);
  EXPECT_LT(apart, all);
  EXPECT_GT(near, 0u);
  EXPECT_LT(near, all);
}

// A frame with one bright rectangle.
VideoFrame frame_with_rectangle(const std::string &format, Size size, cv::Rect rectangle) {
  VideoFrame frame(format, size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < (frame.is_rgb() ? 3 : 1); ++c)
        frame.sample(c, x, y) = rectangle.contains({x, y}) ? 200 : 50;
  return frame;
}

TEST_F(CudaHough, segments_end_where_the_edges_end) {
  const VideoFrame frame = frame_with_rectangle("NV12", {100, 80}, {20, 15, 50, 40});
  Harness hough(kAllLines + "mode=segments threshold=25 min-length=30 max-gap=2");
  VideoFrame out = frame;
  const Lines lines = lines_from(&hough, frame, &out);
  ASSERT_EQ(lines.size(), 4u);
  int level = 0;
  for (const GstCudaVisionLine &line : lines) {
    const bool is_level = std::abs(line.y2 - line.y1) < 2;
    level += is_level;
    EXPECT_NEAR(std::hypot(line.x2 - line.x1, line.y2 - line.y1), is_level ? 50 : 40, 3);
    EXPECT_NEAR(is_level ? line.x1 : line.y1, is_level ? 20 : 15, 2);
  }
  EXPECT_EQ(level, 2);
  EXPECT_TRUE(same_bytes(out.bytes(), with_lines(frame, lines, 0xffff0000, 2)));
  g_object_set(hough.element(), "min-length", 45, nullptr);
  EXPECT_EQ(lines_from(&hough, frame).size(), 2u);
  g_object_set(hough.element(), "min-length", 10, "roi-width", 45, nullptr);  // cuts the horizontal ones
  for (const GstCudaVisionLine &line : lines_from(&hough, frame)) EXPECT_LE(line.x2, 44);
}

TEST_F(CudaHough, empty_frame_has_a_meta_without_lines) {
  Harness hough(kAllLines + "threshold=0 display=false");
  EXPECT_TRUE(lines_from(&hough, frame_with_rectangle("RGB", {40, 30}, {})).empty());
}

// --- capacity ---

TEST_F(CudaHough, lines_beyond_max_lines_are_counted_and_cause_one_warning) {
  const VideoFrame frame("GRAY8", {120, 90}, 6);
  const std::vector<cv::Vec3f> all = opencv_lines(frame, {10});
  ASSERT_GT(all.size(), 20u);
  Harness hough(kAllLines + "threshold=10 max-lines=7 message=true");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(same_lines(lines_from(&hough, frame), {all.begin(), all.begin() + 7}));
  EXPECT_TRUE(
      is(take_warning(hough.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "max-lines is 7"));
  EXPECT_FALSE(take_warning(hough.element()));
  lines_from(&hough, frame);
  const Owned<GstMessage> message = take_message(hough.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  const GstStructure *structure = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(structure), "cudahough");
  int listed = 0, found = 0, peaks = 0;
  EXPECT_TRUE(gst_structure_get_int(structure, "lines", &listed));
  EXPECT_TRUE(gst_structure_get_int(structure, "found", &found));
  EXPECT_TRUE(gst_structure_get_int(structure, "peaks", &peaks));
  EXPECT_EQ(listed, 7);
  EXPECT_EQ(found, static_cast<int>(all.size()));
  EXPECT_EQ(peaks, found);
  g_object_set(hough.element(), "max-lines", 1000000, nullptr);
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), all));
  EXPECT_FALSE(take_warning(hough.element()));
}

TEST_F(CudaHough, accumulator_that_is_too_large_fails_the_negotiation_and_names_its_bytes) {
  Harness hough(kAllLines + "theta=0.0001 rho=0.01");
  const VideoFrame frame("GRAY8", {2000, 20});
  gst_harness_set_src_caps(hough.get(), frame.caps().release());
  EXPECT_EQ(hough.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(is(take_error(hough.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, " bytes"));
}

// --- contradictory properties ---

TEST_F(CudaHough, contradiction_at_the_start_is_an_error_that_names_both) {
  const struct {
    const char *description, *one, *other;
  } cases[] = {{"min-theta=2 max-theta=1", "min-theta (2", "max-theta (1"},
               {"input=edges gradient-voting=true", "gradient-voting", "input=edges"},
               {"min-angle=80 min-theta=1", "min-angle", "min-theta"}};
  for (const auto &c : cases) {
    const Owned<GstElement> element =
        parse(std::string("cudahough ") + c.description + " backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    const auto error = take_error(element.get());
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, c.one));
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, c.other));
  }
}

TEST_F(CudaHough, contradiction_in_playing_warns_once_and_the_last_valid_values_stay) {
  Harness hough(kAllLines + "threshold=20 display=false max-theta=2");
  const VideoFrame frame("NV12", {120, 90}, 7);
  const std::vector<cv::Vec3f> expected = opencv_lines(frame, {20, 1, kPi / 180, 0, 2});
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), expected));
  g_object_set(hough.element(), "min-theta", 2.5, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_lines(lines_from(&hough, frame), expected));
  EXPECT_TRUE(
      is(take_warning(hough.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "min-theta (2.5"));
  EXPECT_FALSE(take_warning(hough.element()));
  g_object_set(hough.element(), "min-theta", 0.0, "gradient-voting", TRUE, nullptr);
  set(hough.element(), "input", "edges");
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), expected));
  EXPECT_TRUE(
      is(take_warning(hough.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "gradient-voting"));
}

// --- properties ---

TEST_F(CudaHough, properties_have_their_defaults) {
  const Owned<GstElement> hough = parse("cudahough");
  for (const auto &[property, value] : {std::pair<const char *, const char *>{"input", "picture"},
                                        {"mode", "lines"},
                                        {"threshold", "-1"},
                                        {"max-lines", "4096"},
                                        {"nms-radius", "6"},
                                        {"max-drawn", "50"},
                                        {"gradient-voting", "false"},
                                        {"min-length", "50"},
                                        {"max-gap", "5"},
                                        {"aperture", "3"},
                                        {"line-width", "0"},
                                        {"color", "direction"}})
    EXPECT_EQ(text(hough.get(), property), value) << property;
  for (const auto &[property, value] : {std::pair<const char *, double>{"rho", 1},
                                        {"theta", kPi / 180},
                                        {"min-theta", 0},
                                        {"max-theta", kPi},
                                        {"min-angle", 0},
                                        {"max-angle", 180},
                                        {"low-threshold", 50},
                                        {"high-threshold", 100},
                                        {"gaussian-sigma", 0}})
    EXPECT_EQ(real(hough.get(), property), value) << property;
}

TEST_F(CudaHough, refused_numbers_warn_and_change_nothing) {
  const Owned<GstElement> hough = parse("cudahough");
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const char *property : {"rho", "theta", "min-theta", "max-theta", "low-threshold", "gaussian-sigma"})
    for (const double value : {-1.0, nan, 1e8, infinity}) {
      const double before = real(hough.get(), property);
      g_object_set(hough.get(), property, value, nullptr);
      EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << value;
      EXPECT_EQ(real(hough.get(), property), before);
    }
  const struct {
    const char *property;
    int least, most;
  } limits[] = {{"threshold", -1, G_MAXINT}, {"max-lines", 1, 1000000}, {"nms-radius", 0, 32},
                {"min-length", 1, 32768},    {"max-gap", 0, 16384},     {"line-width", 0, 255}};
  for (const auto &limit : limits) {
    for (const int value : {limit.least, limit.most}) {
      g_object_set(hough.get(), limit.property, value, nullptr);
      EXPECT_EQ(integer(hough.get(), limit.property), value);
    }
    g_object_set(hough.get(), limit.property, limit.least - 1, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << limit.property;
    if (limit.most < G_MAXINT) {
      g_object_set(hough.get(), limit.property, limit.most + 1, nullptr);
      EXPECT_EQ(take_glib_complaints(), 1u) << limit.property;
    }
    EXPECT_EQ(integer(hough.get(), limit.property), limit.most);
  }
  EXPECT_NE(why_refused("fakesrc ! cudahough mode=circles ! fakesink").find("mode"), std::string::npos);
  EXPECT_NE(why_refused("fakesrc ! cudahough input=both ! fakesink").find("input"), std::string::npos);
}

TEST_F(CudaHough, factory_has_its_metadata) {
  GstElementFactory *factory = gst_element_factory_find("cudahough");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME),
               "Hough line detector");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video/Hardware");
  EXPECT_STREQ(gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)), "cudavision");
  gst_object_unref(factory);
}

// --- resources per frame, and failures of the device ---

TEST_F(CudaHough, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    unsigned launches, uploads, downloads;
  } cases[] = {
      // Two launches of Canny and five for lines. The lines are downloaded together with their count.
      {"display=false", "NV12", 2 + 5, 1, 1},
      {"display=false input=edges", "NV12", 5, 1, 1},
      {"display=false mode=segments", "NV12", 2 + 9, 1, 1},
      {"display=false gradient-voting=true", "RGB", 1 + 2 + 5, 1, 1},
      {"display=true", "NV12", 2 + 5 + 3, 2, 3},  // one launch makes primitives, two draw them
      {"display=true", "I420", 2 + 5 + 3, 3, 4},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness hough(kAllLines + "threshold=10 " + c.description);
    const VideoFrame frame(c.format, {66, 34});
    expect_budget(&hough, frame, {c.launches, c.uploads, c.downloads});
  }
}

TEST_F(CudaHough, failure_of_the_device_is_an_error_and_the_element_can_be_restarted) {
  CUDAVISION_NEEDS_EMULATION();
  Harness hough(kAllLines + "threshold=15 display=false");
  const VideoFrame frame("GRAY8", {67, 65}, 8);
  lines_from(&hough, frame);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchFailure);
  EXPECT_EQ(hough.push(frame.buffer()), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(hough.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                 "cudaErrorLaunchFailure"));
  hough.restart();
  EXPECT_TRUE(same_lines(lines_from(&hough, frame), opencv_lines(frame, {15})));
}

}  // namespace
