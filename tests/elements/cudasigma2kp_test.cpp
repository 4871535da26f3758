// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of cudasigma2kp in every format against the definition: its meta, its drawing and its properties.
#include <gst/cudavision/cudavision.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "tests/elements/drawn_frame.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/harness.h"
#include "tests/kernels/sigma2kp_definition.h"

namespace {

using namespace cudavision::test;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2KpParams;
using cudavision::Size;

class CudaSigma2Kp : public ElementTest {};

using Points = std::vector<GstCudaVisionKeypoint>;

// Pushes one frame and returns the attached keypoints. out: receives the bytes of the output frame.
Points points_from(Harness *element, const VideoFrame &frame, VideoFrame *out = nullptr) {
  element->negotiate(frame);
  const Owned<GstBuffer> buffer = element->exchange(frame.buffer());
  EXPECT_NE(buffer, nullptr);
  if (!buffer) return {};
  if (out != nullptr) out->bytes() = bytes_of(buffer.get());
  EXPECT_EQ(gst_buffer_get_n_meta(buffer.get(), GST_CUDA_VISION_KEYPOINTS_META_API_TYPE), 1u);
  const GstCudaVisionKeypointsMeta *meta = gst_cuda_vision_buffer_get_keypoints_meta(buffer.get());
  EXPECT_NE(meta, nullptr);
  if (meta == nullptr) return {};
  guint count = 0;
  const GstCudaVisionKeypoint *points = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &count);
  return points == nullptr ? Points() : Points(points, points + count);
}

FoundKeypoints defined(const VideoFrame &frame, const Sigma2KpParams &params, Part part = {}) {
  const Region region = region_of(frame, part);
  const cv::Mat luma = luma_of(frame);
  Picture picture({region.width, region.height});
  for (int y = 0; y < region.height; ++y)
    for (int x = 0; x < region.width; ++x)
      picture.at(x, y) = luma.at<std::uint8_t>(region.y + y, region.x + x);
  return definition(picture, params);
}

testing::AssertionResult same_points(const Points &actual, const Keypoints &expected,
                                     const Sigma2KpParams &params, Part part = {}) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " keypoints instead of " << expected.size();
  const double k = params.window;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Sigma2Keypoint &e = expected[i];
    const double x = part.x + e.x + (k - 1) / 2, y = part.y + e.y + (k - 1) / 2;
    const double variance = static_cast<double>(e.strength) / (k * k * k * k);
    const double angle = (e.orientation + 0.5) * 2 * std::numbers::pi / params.orientation_bins;
    const bool same_angle = e.orientation == cudavision::kNoOrientation
                                ? std::isnan(actual[i].angle)
                                : actual[i].angle == static_cast<float>(angle);
    if (actual[i].x != x || actual[i].y != y || actual[i].response != static_cast<float>(variance) ||
        !same_angle)
      return testing::AssertionFailure()
             << "keypoint " << i << ": " << actual[i].x << ", " << actual[i].y << " response "
             << actual[i].response << " angle " << actual[i].angle << " instead of " << x << ", " << y << " "
             << variance << " " << angle;
  }
  return testing::AssertionSuccess();
}

// The frame with its keypoints drawn.
VideoFrame with_points(const VideoFrame &frame, const Points &points, std::uint32_t argb, int size, int width,
                       Part part = {}) {
  std::vector<Primitive> primitives;
  const auto pixel = [](double coordinate) { return static_cast<std::int16_t>(coordinate); };
  const auto rounded = [](double coordinate) { return static_cast<std::int16_t>(std::lround(coordinate)); };
  const auto line_width = static_cast<std::uint8_t>(width);
  const double reach = 4 * size;
  for (const GstCudaVisionKeypoint &p : points) {
    const std::int16_t x = pixel(p.x), y = pixel(p.y);
    if (std::isnan(p.angle)) {
      primitives.push_back({Primitive::Kind::cross, line_width, color_in(frame, argb), x, y,
                            static_cast<std::int16_t>(size), 0});
      continue;
    }
    primitives.push_back(
        {Primitive::Kind::point, static_cast<std::uint8_t>(3 * width), color_in(frame, argb), x, y, 0, 0});
    primitives.push_back({Primitive::Kind::line, line_width, color_in(frame, argb), x, y,
                          static_cast<std::int16_t>(x + rounded(reach * std::cos(p.angle))),
                          static_cast<std::int16_t>(y + rounded(reach * std::sin(p.angle)))});
  }
  return with_primitives(frame, primitives, part);
}

// --- every format ---

class CudaSigma2KpFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaSigma2KpFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaSigma2KpFormat, keypoints_equal_the_definition_and_are_drawn) {
  Harness element("cudasigma2kp point-size=3 line-width=1 min-contrast=0");
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{17, 13}, Size{70, 65}, Size{101, 45}}) {
    const VideoFrame frame(GetParam(), size, seed++);
    VideoFrame out = frame;
    const Points points = points_from(&element, frame, &out);
    EXPECT_TRUE(same_points(points, defined(frame, {}).keypoints, {}));
    if (size.width < 8 || size.height < 8) {
      EXPECT_TRUE(points.empty()) << "no cell fits";
    }
    if (size.width > 60) {
      EXPECT_FALSE(points.empty()) << "large frames must have keypoints";
    }
    EXPECT_TRUE(same_bytes(out.bytes(), with_points(frame, points, 0xffff0000, 3, 1)));
  }
}

TEST_P(CudaSigma2KpFormat, orientations_equal_the_definition_and_are_drawn) {
  Harness element(
      "cudasigma2kp orientation=true tau=1.5 color=0x8020ff41 point-size=2 line-width=2 min-contrast=0");
  Sigma2KpParams params;
  params.orientation = true, params.tau = 1.5;
  const VideoFrame frame(GetParam(), {67, 49}, 40, Layout::apart);
  VideoFrame out = frame;
  const Points points = points_from(&element, frame, &out);
  EXPECT_GT(points.size(), 10u);
  EXPECT_TRUE(same_points(points, defined(frame, params).keypoints, params));
  EXPECT_TRUE(same_bytes(out.bytes(), with_points(frame, points, 0x8020ff41, 2, 2)));
}

TEST_P(CudaSigma2KpFormat, only_the_region_is_processed_in_coordinates_of_the_frame) {
  const Part part{5, 3, 52, 47};
  Harness element(
      "cudasigma2kp point-size=3 line-width=1 min-contrast=0 tau=1.5 roi-x=5 roi-y=3 roi-width=52 "
      "roi-height=47");
  Sigma2KpParams params;
  params.tau = 1.5;
  const VideoFrame frame(GetParam(), {71, 61}, 50);
  VideoFrame out = frame;
  const Points points = points_from(&element, frame, &out);
  EXPECT_GT(points.size(), 10u);
  EXPECT_TRUE(same_points(points, defined(frame, params, part).keypoints, params, part));
  EXPECT_TRUE(same_bytes(out.bytes(), with_points(frame, points, 0xffff0000, 3, 1, part)));
}

TEST_P(CudaSigma2KpFormat, display_off_changes_no_byte) {
  Harness element("cudasigma2kp display=false");
  const VideoFrame frame(GetParam(), {67, 65}, 60);
  VideoFrame out = frame;
  EXPECT_TRUE(same_points(points_from(&element, frame, &out), defined(frame, {}).keypoints, {}));
  EXPECT_TRUE(same_bytes(out.bytes(), frame));
}

// --- the parameters ---

TEST_F(CudaSigma2Kp, only_keypoints_in_regions_of_the_type_are_found) {
  const VideoFrame frame("NV12", {120, 90}, 51);
  const Sigma2KpParams params;
  const Keypoints all = defined(frame, params, {9, 7, 100, 70}).keypoints;
  Harness element("cudasigma2kp display=false roi-type=motion roi-x=9 roi-y=7 roi-width=100 roi-height=70");
  for (const std::vector<Region> &regions :
       {std::vector<Region>{{20, 20, 40, 30}, {80, 4, 30, 70}}, {}, {{0, 0, 120, 90}}}) {
    element.negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    for (const Region &r : regions)
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "motion", static_cast<guint>(r.x),
                                                   static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                   static_cast<guint>(r.height));
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "car", 0, 0, 99, 80);
    Keypoints expected;
    for (const Sigma2Keypoint &k : all)
      if (const int x = 9 + k.x + params.window / 2, y = 7 + k.y + params.window / 2;
          std::any_of(regions.begin(), regions.end(), [&](const Region &r) {
            return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
          }))
        expected.push_back(k);
    EXPECT_EQ(expected.empty(), regions.empty());
    const Owned<GstBuffer> out = element.exchange(std::move(buffer));
    const GstCudaVisionKeypointsMeta *meta = gst_cuda_vision_buffer_get_keypoints_meta(out.get());
    ASSERT_NE(meta, nullptr);
    guint count = 0;
    const GstCudaVisionKeypoint *points = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &count);
    EXPECT_TRUE(same_points(Points(points, points + count), expected, params, {9, 7, 100, 70}));
  }
}

TEST_F(CudaSigma2Kp, each_parameter_does_what_the_definition_says) {
  const VideoFrame frame("GRAY8", {120, 90}, 3);
  using P = Sigma2KpParams;
  const struct {
    const char *description;
    std::function<void(P &)> change;
  } settings[] = {
      {"window=8", [](P &p) { p.window = 8; }},
      {"window=25", [](P &p) { p.window = 25; }},
      {"cell=6 tau=2", [](P &p) { p.cell = 6, p.tau = 2; }},
      {"tau=1.5", [](P &p) { p.tau = 1.5; }},
      {"grids=4", [](P &p) { p.grids = 4; }},
      {"definition=dense", [](P &p) { p.definition = cudavision::Sigma2KpDefinition::dense; }},
      {"min-distance=9", [](P &p) { p.min_distance = 9; }},
      {"orientation=true", [](P &p) { p.orientation = true; }},
      {"orientation=true orientation-window=9", [](P &p) { p.orientation_window = 9; }},
      {"orientation=true orientation-bins=8", [](P &p) { p.orientation_bins = 8; }},
      {"orientation=true operator=scharr", [](P &p) { p.op = cudavision::GradientOperator::scharr; }},
      {"orientation=true weight=magnitude", [](P &p) { p.weight = cudavision::GradientWeight::magnitude; }},
  };
  for (const auto &setting : settings) {
    Harness element(std::string("cudasigma2kp display=false ") + setting.description);
    P params, changed;
    params.orientation = changed.orientation =
        std::string(setting.description).starts_with("orientation=true ");
    setting.change(changed);
    const Keypoints expected = defined(frame, changed).keypoints;
    EXPECT_NE(expected, defined(frame, params).keypoints) << setting.description;
    EXPECT_GE(expected.size(), 5u) << setting.description;
    EXPECT_TRUE(same_points(points_from(&element, frame), expected, changed)) << setting.description;
  }
}

TEST_F(CudaSigma2Kp, parameters_changed_in_playing_take_effect_on_the_next_frame) {
  Harness element("cudasigma2kp display=false");
  const VideoFrame frame("NV12", {120, 90}, 4);
  Sigma2KpParams params;
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
  g_object_set(element.element(), "cell", 8, "tau", 2.5, "window", 24, nullptr);
  params.cell = 8, params.tau = 2.5, params.window = 24;
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
  g_object_set(element.element(), "orientation", TRUE, "min-distance", 20, nullptr);
  params.orientation = true, params.min_distance = 20;
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
  const VideoFrame smaller("NV12", {60, 50}, 5);
  EXPECT_TRUE(same_points(points_from(&element, smaller), defined(smaller, params).keypoints, params));
}

TEST_F(CudaSigma2Kp, flat_frame_has_a_meta_without_keypoints) {
  Harness element("cudasigma2kp display=false");
  VideoFrame frame("GRAY8", {60, 40});
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) frame.sample(0, x, y) = 99;
  EXPECT_TRUE(points_from(&element, frame).empty());
}

// --- capacity ---

// Truncation causes no warning if max-keypoints was set.
TEST_F(CudaSigma2Kp, keypoints_beyond_max_keypoints_are_counted) {
  const VideoFrame frame("GRAY8", {120, 90}, 6);
  Sigma2KpParams params;
  const int all = defined(frame, params).found;
  ASSERT_GT(all, 20);
  params.max_keypoints = 7;
  Harness element("cudasigma2kp max-keypoints=7 message=true");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
  EXPECT_FALSE(take_warning(element.element()));
  points_from(&element, frame);
  const Owned<GstMessage> message = take_message(element.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  const GstStructure *structure = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(structure), "cudasigma2kp");
  int listed = 0, found = 0;
  EXPECT_TRUE(gst_structure_get_int(structure, "keypoints", &listed));
  EXPECT_TRUE(gst_structure_get_int(structure, "found", &found));
  EXPECT_EQ(listed, 7);
  EXPECT_EQ(found, all);
  params.max_keypoints = 1000000;
  g_object_set(element.element(), "max-keypoints", params.max_keypoints, nullptr);
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
  EXPECT_FALSE(take_warning(element.element()));
}

// A checkerboard of single pixels with defects: almost every window has the same variance, which is the
// greatest, and with `dense` each of these windows near a defect is a keypoint.
TEST_F(CudaSigma2Kp, keypoints_beyond_the_default_of_max_keypoints_cause_one_warning) {
  VideoFrame frame("GRAY8", {300, 270});
  for (int y = 0; y < 270; ++y)
    for (int x = 0; x < 300; ++x)
      frame.sample(0, x, y) = (x + y) % 2 == 0 || (x % 20 == 9 && y % 20 == 10) ? 200 : 0;
  Harness element("cudasigma2kp display=false definition=dense window=4 cell=24 tau=11.5");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(points_from(&element, frame).size(), 65536u);
  EXPECT_TRUE(is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "more than the 65536"));
  EXPECT_FALSE(take_warning(element.element()));
}

// --- contradictory properties ---

TEST_F(CudaSigma2Kp, tau_beyond_half_a_cell_at_the_start_is_an_error_that_names_both) {
  for (const char *description : {"tau=2", "cell=2", "cell=32 tau=15.999 window=3 cell=31"}) {
    const Owned<GstElement> element =
        parse(std::string("cudasigma2kp ") + description + " backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE)
        << description;
    const auto error = take_error(element.get());
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "tau ("));
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "cell ("));
  }
}

TEST_F(CudaSigma2Kp, tau_beyond_half_a_cell_in_playing_warns_once_and_the_last_valid_values_stay) {
  Harness element("cudasigma2kp display=false");
  const VideoFrame frame("NV12", {120, 90}, 7);
  const Keypoints expected = defined(frame, {}).keypoints;
  EXPECT_TRUE(same_points(points_from(&element, frame), expected, {}));
  g_object_set(element.element(), "tau", 2.5, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_points(points_from(&element, frame), expected, {}));
  EXPECT_TRUE(
      is(take_warning(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "tau (2.5"));
  EXPECT_FALSE(take_warning(element.element()));
  g_object_set(element.element(), "cell", 6, nullptr);
  Sigma2KpParams params;
  params.tau = 2.5, params.cell = 6;
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, params).keypoints, params));
}

// --- properties ---

TEST_F(CudaSigma2Kp, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudasigma2kp");
  for (const auto &[property, value] : {std::pair<const char *, const char *>{"window", "5"},
                                        {"cell", "4"},
                                        {"grids", "2"},
                                        {"definition", "grid"},
                                        {"min-distance", "0"},
                                        {"max-keypoints", "65536"},
                                        {"orientation", "false"},
                                        {"orientation-window", "16"},
                                        {"orientation-bins", "36"},
                                        {"operator", "sobel"},
                                        {"weight", "count"},
                                        {"point-size", "0"},
                                        {"line-width", "0"},
                                        {"color", "red"}})
    EXPECT_EQ(text(element.get(), property), value) << property;
  EXPECT_EQ(real(element.get(), "tau"), 1);
  EXPECT_EQ(real(element.get(), "min-contrast"), 12);
}

TEST_F(CudaSigma2Kp, refused_numbers_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudasigma2kp");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {-1.0, 0.0, 16.0, nan}) {
    g_object_set(element.get(), "tau", value, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << value;
    EXPECT_EQ(real(element.get(), "tau"), 1);
  }
  const struct {
    const char *property;
    int least, most;
  } limits[] = {{"window", 3, 31},        {"cell", 2, 32},
                {"min-distance", 0, 255}, {"max-keypoints", 1, 1000000},
                {"point-size", 0, 255},   {"orientation-window", 2, 64},
                {"line-width", 0, 255},   {"orientation-bins", 1, 360}};
  for (const auto &limit : limits) {
    for (const int value : {limit.least, limit.most}) {
      g_object_set(element.get(), limit.property, value, nullptr);
      EXPECT_EQ(integer(element.get(), limit.property), value);
    }
    for (const int value : {limit.least - 1, limit.most + 1}) {
      g_object_set(element.get(), limit.property, value, nullptr);
      EXPECT_EQ(take_glib_complaints(), 1u) << limit.property;
    }
    EXPECT_EQ(integer(element.get(), limit.property), limit.most);
  }
  EXPECT_NE(why_refused("fakesrc ! cudasigma2kp grids=3 ! fakesink").find("grids"), std::string::npos);
  EXPECT_NE(why_refused("fakesrc ! cudasigma2kp definition=all ! fakesink").find("definition"),
            std::string::npos);
}

TEST_F(CudaSigma2Kp, factory_has_its_metadata) {
  GstElementFactory *factory = gst_element_factory_find("cudasigma2kp");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME),
               "Keypoints of local variance");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video/Hardware");
  EXPECT_STREQ(gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)), "cudavision");
  gst_object_unref(factory);
}

// --- resources per frame, and failures of the device ---

TEST_F(CudaSigma2Kp, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    unsigned launches, uploads, downloads;
  } cases[] = {
      {"display=false", "NV12", 1, 1, 1},  // the keypoints are downloaded together with their count
      {"display=false orientation=true", "NV12", 2, 1, 1},
      {"display=false orientation=true min-distance=5", "RGB", 1 + 3, 1, 1},
      {"display=true", "NV12", 1 + 3, 2, 3},  // one launch makes primitives, two draw them
      {"display=true orientation=true", "I420", 2 + 3, 3, 4},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness element(std::string("cudasigma2kp ") + c.description);
    expect_budget(&element, VideoFrame(c.format, {66, 34}), {c.launches, c.uploads, c.downloads});
  }
}

// A copy to pinned memory is asynchronous.
TEST_F(CudaSigma2Kp, list_is_copied_to_pinned_memory) {
  CUDAVISION_NEEDS_EMULATION();
  Harness element("cudasigma2kp display=false");
  const VideoFrame frame("GRAY8", {66, 34});
  element.work(frame);
  g_object_set(element.element(), "max-keypoints", 100, nullptr);
  const simt::Counters spent = spent_on(&element, frame);
  EXPECT_EQ(spent.host_allocations, 1u);
  EXPECT_EQ(spent.allocations, 1u);
}

TEST_F(CudaSigma2Kp, failure_of_the_device_is_an_error_and_the_element_can_be_restarted) {
  CUDAVISION_NEEDS_EMULATION();
  Harness element("cudasigma2kp display=false");
  const VideoFrame frame("GRAY8", {67, 65}, 8);
  points_from(&element, frame);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchFailure);
  EXPECT_EQ(element.push(frame.buffer()), GST_FLOW_ERROR);
  EXPECT_TRUE(is(take_error(element.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                 "cudaErrorLaunchFailure"));
  element.restart();
  EXPECT_TRUE(same_points(points_from(&element, frame), defined(frame, {}).keypoints, {}));
}

}  // namespace
