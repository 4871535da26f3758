// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares cudacanny with cv::Canny in every format, and tests its properties.
#include <gst/controller/controller.h>
#include <gst/video/video.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaCanny : public ElementTest {};

// --- every format ---

class CudaCannyFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaCannyFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

constexpr Size kSizes[] = {{1, 1},   {2, 2},   {3, 5},   {1, 40},   {40, 1},
                           {17, 13}, {64, 64}, {65, 67}, {101, 75}, {200, 130}};

TEST_P(CudaCannyFormat, edges_equal_opencv) {
  Harness canny;
  unsigned seed = 1;
  for (const Size size : kSizes) {
    const VideoFrame frame(GetParam(), size, seed++);
    EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame)));
  }
}

TEST_P(CudaCannyFormat, overlay_draws_the_colour_on_edges_only) {
  Harness canny("cudacanny output=overlay");
  unsigned seed = 20;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{17, 13}, Size{67, 65}}) {
    const VideoFrame frame(GetParam(), size, seed++);
    for (const guint32 argb : {0xffff0000u, 0x8020ff41u, 0x01ffffffu}) {
      set(canny.element(), "color", color_text(argb));
      EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, argb))) << std::hex << argb;
    }
  }
}

TEST_P(CudaCannyFormat, planes_can_lie_apart_and_the_bytes_between_them_do_not_change) {
  Harness canny;
  unsigned seed = 40;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{67, 65}}) {
    const VideoFrame frame(GetParam(), size, seed++, Layout::apart);
    set(canny.element(), "output", "edges");
    EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame)));
    set(canny.element(), "output", "overlay");
    EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, 0xffff0000)));
  }
}

TEST_P(CudaCannyFormat, only_pixels_of_the_region_change) {
  Harness canny("cudacanny roi-x=5 roi-y=3 roi-width=21 roi-height=17");
  const Part part{5, 3, 21, 17};
  for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
    const VideoFrame frame(GetParam(), {41, 31}, 50, layout);
    set(canny.element(), "output", "edges");
    EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, {}, part)));
    set(canny.element(), "output", "overlay");
    EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, 0xffff0000, {}, part)));
  }
}

TEST_P(CudaCannyFormat, display_off_changes_no_byte) {
  Harness canny("cudacanny display=false output=overlay");
  for (const Size size : {Size{1, 1}, Size{17, 13}, Size{67, 65}}) {
    const VideoFrame frame(GetParam(), size, 60);
    EXPECT_TRUE(same_bytes(canny.work(frame), frame));
  }
}

// --- the parameters ---

struct Setting {
  std::string description;
  CannyCase expected;
};

const std::vector<Setting> kSettings = {
    {"low-threshold=0 high-threshold=0", {0, 0}},
    {"low-threshold=20 high-threshold=300", {20, 300}},
    {"low-threshold=300 high-threshold=20", {300, 20}},  // swapped
    {"low-threshold=120.5 high-threshold=199.9", {120.5, 199.9}},
    {"low-threshold=1e7 high-threshold=1e7", {1e7, 1e7}},
    {"l2-gradient=true", {.l2 = true}},
    {"aperture=5 low-threshold=800 high-threshold=1600", {800, 1600, 5}},
    {"aperture=5 low-threshold=800 high-threshold=1600 l2-gradient=true", {800, 1600, 5, true}},
    {"aperture=7 low-threshold=12000 high-threshold=25000", {12000, 25000, 7}},
    {"aperture=7 low-threshold=12000 high-threshold=25000 l2-gradient=true", {12000, 25000, 7, true}},
    {"gaussian-sigma=0.6", {.sigma = 0.6}},
    {"gaussian-sigma=1.4", {.sigma = 1.4}},
    {"gaussian-sigma=16 low-threshold=1 high-threshold=3", {1, 3, 3, false, 16}},
    {"hysteresis=false", {.hysteresis = false}},
    {"hysteresis=false low-threshold=300 high-threshold=20", {300, 20, 3, false, 0, false}},
};

TEST_F(CudaCanny, each_parameter_equals_opencv) {
  const VideoFrame frame("GRAY8", {67, 65}, 3);
  for (const Setting &setting : kSettings) {
    Harness canny("cudacanny " + setting.description);
    EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, setting.expected))) << setting.description;
  }
}

TEST_F(CudaCanny, each_tested_setting_changes_the_result) {
  const VideoFrame frame("GRAY8", {67, 65}, 3);
  const int edges = cv::countNonZero(opencv_edges(luma_of(frame), {}));
  EXPECT_GT(edges, 67 * 65 / 50);
  EXPECT_LT(edges, 67 * 65 / 2);
  for (const Setting &setting : kSettings)
    EXPECT_NE(cv::countNonZero(opencv_edges(luma_of(frame), setting.expected)), edges) << setting.description;
}

TEST_F(CudaCanny, parameters_changed_in_playing_take_effect_on_the_next_frame) {
  Harness canny;
  const VideoFrame frame("NV12", {65, 43}, 4);
  EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame)));
  g_object_set(canny.element(), "high-threshold", 400.0, nullptr);
  EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, {50, 400})));
  g_object_set(canny.element(), "gaussian-sigma", 1.0, "aperture", 5, nullptr);
  EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, {50, 400, 5, false, 1.0})));
  g_object_set(canny.element(), "gaussian-sigma", 2.5, "l2-gradient", TRUE, nullptr);
  EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, {50, 400, 5, true, 2.5})));
  g_object_set(canny.element(), "gaussian-sigma", 0.0, "aperture", 3, "hysteresis", FALSE, nullptr);
  EXPECT_TRUE(same_bytes(canny.work(frame), with_edges(frame, {50, 400, 3, true, 0, false})));
}

// --- control bindings ---

// Binds the property to (time, value) pairs. Each value applies until the time of the next pair.
void control(GstElement *element, const char *property,
             const std::vector<std::pair<GstClockTime, double>> &values) {
  GstControlSource *source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  for (const auto &[time, value] : values)
    EXPECT_TRUE(gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), time, value));
  EXPECT_TRUE(gst_object_add_control_binding(
      GST_OBJECT(element), gst_direct_control_binding_new_absolute(GST_OBJECT(element), property, source)));
  gst_object_unref(source);
}

VideoFrame edges_at(Harness *canny, const VideoFrame &frame, GstClockTime pts) {
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_PTS(buffer.get()) = pts;
  VideoFrame result = frame;
  const Owned<GstBuffer> out = canny->exchange(std::move(buffer));
  if (out) result.bytes() = bytes_of(out.get());
  return result;
}

TEST_F(CudaCanny, controlled_threshold_follows_stream_time) {
  Harness canny;
  const VideoFrame frame("GRAY8", {48, 48}, 5);
  canny.work(frame);
  control(canny.element(), "high-threshold", {{0, 100}, {5 * GST_SECOND, 250}, {6 * GST_SECOND, 400}});
  GstSegment segment;  // the buffer at 104 s has stream time 5 s
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 100 * GST_SECOND;
  segment.time = 1 * GST_SECOND;
  EXPECT_TRUE(gst_harness_push_event(canny.get(), gst_event_new_segment(&segment)));
  for (const auto &[pts, high] : {std::pair{103, 100.0}, {104, 250.0}, {105, 400.0}, {103, 100.0}}) {
    const VideoFrame result = edges_at(&canny, frame, static_cast<GstClockTime>(pts) * GST_SECOND);
    EXPECT_TRUE(same_bytes(result.bytes(), with_edges(frame, {50, high}))) << pts;
    EXPECT_EQ(real(canny.element(), "high-threshold"), high);
  }
  edges_at(&canny, frame, GST_CLOCK_TIME_NONE);  // a frame without a timestamp changes no property
  EXPECT_EQ(real(canny.element(), "high-threshold"), 100.0);
}

TEST_F(CudaCanny, every_controllable_property_can_be_bound) {
  Harness canny;
  for (const char *property : {"low-threshold", "high-threshold", "gaussian-sigma", "l2-gradient",
                               "hysteresis", "display", "roi-x", "roi-y", "roi-width", "roi-height"})
    control(canny.element(), property, {{0, 1}});
  const VideoFrame frame("I420", {20, 20}, 6);
  canny.negotiate(frame);
  const VideoFrame result = edges_at(&canny, frame, 0);  // the region is pixel (1, 1), which has no edge
  EXPECT_TRUE(same_bytes(result.bytes(), with_edges(frame, {1, 1, 3, true, 1}, {1, 1, 1, 1})));
  EXPECT_EQ(integer(canny.element(), "roi-height"), 1);
}

// --- colours ---

TEST_F(CudaCanny, overlay_colour_follows_the_caps_colorimetry) {
  for (const char *colorimetry :
       {"bt601", "bt709", "bt2020", "1:3:5:1", "1:4:5:1"})  // the last two have full range
    for (const char *format : {"NV12", "Y444", "YUY2", "UYVY"}) {
      VideoFrame frame(format, {34, 19}, 7);
      frame.set_colorimetry(colorimetry);
      Harness canny("cudacanny output=overlay");
      for (const guint32 argb : {0xffff0000u, 0xff00ff00u, 0xff0000ffu, 0xc0ffffffu, 0xff123456u}) {
        set(canny.element(), "color", color_text(argb));
        EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, argb)))
            << colorimetry << " " << std::hex << argb;
      }
    }
}

TEST_F(CudaCanny, colour_is_a_name_or_digits_or_a_number) {
  const VideoFrame frame("RGB", {34, 19}, 7);
  Harness canny("cudacanny output=overlay");
  for (const auto &[text, argb] : {std::pair{"red", 0xffff0000u},
                                   {"Lime", 0xff00ff00u},
                                   {"GREEN", 0xff008000u},
                                   {"orange", 0xffffa500u},
                                   {"#20e030", 0xff20e030u},
                                   {"#20E030", 0xff20e030u},
                                   {"#8020e030", 0x8020e030u},
                                   {"0x8020e030", 0x8020e030u},
                                   {"0Xff20e030", 0xff20e030u},
                                   {"4278255360", 0xff00ff00u},
                                   // no opacity: a hint, and opaque
                                   {"0x20e030", 0xff20e030u},
                                   {"#0020e030", 0xff20e030u},
                                   {"0", 0xff000000u}}) {
    set(canny.element(), "color", text);
    EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, argb))) << text;
    EXPECT_FALSE(take_warning(canny.element())) << text;
  }
}

TEST_F(CudaCanny, text_that_is_no_colour_is_refused) {
  for (const char *text : {"reed", "", "#12345", "#1234567", "#123456789", "#gg0000", "0x123456789", "0x",
                           "-1", "1.5", "4294967296", " red"}) {
    const Owned<GstElement> canny = parse("cudacanny backend=" + backend());
    g_object_set(canny.get(), "color", text, nullptr);
    EXPECT_EQ(gst_element_set_state(canny.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << text;
    EXPECT_TRUE(is(take_error(canny.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   std::string("color='") + text + "' is not a colour"));
  }
}

TEST_F(CudaCanny, text_that_is_no_colour_in_playing_leaves_the_last_one_in_force) {
  Harness canny("cudacanny output=overlay color=blue");
  const VideoFrame frame("RGB", {34, 19}, 7);
  canny.work(frame);
  set(canny.element(), "color", "bluish");
  EXPECT_TRUE(same_bytes(canny.work(frame), with_overlay(frame, 0xff0000ff)));
  EXPECT_TRUE(is(take_warning(canny.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "'bluish' is not a colour"));
  set(canny.element(), "color", "blue");
  canny.work(frame);
  set(canny.element(), "color", "bluish");
  canny.work(frame);
  EXPECT_TRUE(take_warning(canny.element())) << "warned again";
}

// --- properties ---

TEST_F(CudaCanny, properties_have_their_defaults) {
  const Owned<GstElement> canny = parse("cudacanny");
  EXPECT_EQ(real(canny.get(), "low-threshold"), 50);
  EXPECT_EQ(real(canny.get(), "high-threshold"), 100);
  EXPECT_EQ(integer(canny.get(), "aperture"), 3);
  EXPECT_EQ(text(canny.get(), "l2-gradient"), "false");
  EXPECT_EQ(real(canny.get(), "gaussian-sigma"), 0);
  EXPECT_EQ(text(canny.get(), "hysteresis"), "true");
  EXPECT_EQ(text(canny.get(), "output"), "edges");
  EXPECT_EQ(text(canny.get(), "color"), "red");
}

TEST_F(CudaCanny, invalid_numbers_warn_and_change_nothing) {
  const Owned<GstElement> canny = parse("cudacanny low-threshold=7 high-threshold=7 gaussian-sigma=7");
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const char *property : {"low-threshold", "high-threshold", "gaussian-sigma"})
    for (const double value : {-1.0, nan, 1e8, infinity, -infinity}) {
      g_object_set(canny.get(), property, value, nullptr);
      EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << value;
      EXPECT_EQ(real(canny.get(), property), 7) << value;
    }
  g_object_set(canny.get(), "gaussian-sigma", 17.0, nullptr);
  EXPECT_EQ(take_glib_complaints(), 1u);
  EXPECT_EQ(real(canny.get(), "gaussian-sigma"), 7);
}

TEST_F(CudaCanny, invalid_enum_values_change_nothing) {
  const Owned<GstElement> canny = parse("cudacanny aperture=5 output=overlay");
  for (const int value : {0, 2, 4, 6, 9, -1}) {
    g_object_set(canny.get(), "aperture", value, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << value;
  }
  set(canny.get(), "aperture", "4");
  set(canny.get(), "output", "nothing");
  EXPECT_EQ(integer(canny.get(), "aperture"), 5);
  EXPECT_EQ(text(canny.get(), "output"), "overlay");
  EXPECT_NE(why_refused("fakesrc ! cudacanny aperture=4 ! fakesink").find("aperture"), std::string::npos);
  EXPECT_NE(why_refused("fakesrc ! cudacanny output=both ! fakesink").find("output"), std::string::npos);
  EXPECT_NE(why_refused("fakesrc ! cudacanny low-threshold=much ! fakesink").find("low-threshold"),
            std::string::npos);
}

TEST_F(CudaCanny, factory_describes_the_element) {
  GstElementFactory *factory = gst_element_factory_find("cudacanny");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME),
               "Canny edge detector");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Effect/Video/Hardware");
  EXPECT_STRNE(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_DESCRIPTION), "");
  EXPECT_STRNE(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_AUTHOR), "");
  EXPECT_EQ(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), static_cast<guint>(GST_RANK_NONE));
  EXPECT_STREQ(gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory)), "cudavision");
  gst_object_unref(factory);
}

// --- the cost of a frame on the GPU ---

TEST_F(CudaCanny, frame_stays_within_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    FrameBudget budget;
  } cases[] = {
      {"display=true", "GRAY8", {3, 1, 1}},  // two launches of Canny, and one that draws
      {"display=true", "NV12", {3, 2, 2}},       {"display=true", "I420", {3, 3, 3}},
      {"display=true", "BGRx", {4, 1, 1}},  // one more launch for the luma
      {"display=true", "YUY2", {4, 1, 1}},       {"output=overlay", "NV12", {3, 2, 2}},
      {"hysteresis=false", "NV12", {2, 2, 2}},  // one launch of Canny
      {"gaussian-sigma=1.4", "NV12", {4, 2, 2}}, {"display=false", "NV12", {2, 1, 0}},
      {"display=false", "I420", {2, 1, 0}},      {"display=false", "RGB", {3, 1, 0}},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness canny(std::string("cudacanny ") + c.description);
    expect_budget(&canny, VideoFrame(c.format, {66, 34}), c.budget);
  }
}

TEST_F(CudaCanny, moving_the_region_allocates_nothing) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {66, 34});
  Harness canny("cudacanny roi-width=20 roi-height=10");
  canny.work(frame);
  const simt::Counters before = simt::counters();
  for (const int x : {1, 7, 46}) {
    g_object_set(canny.element(), "roi-x", x, "roi-y", x / 2, nullptr);
    canny.work(frame);
  }
  const simt::Counters spent = simt::counters() - before;
  EXPECT_EQ(spent.allocations + spent.host_allocations + spent.frees + spent.host_frees, 0u);
}

TEST_F(CudaCanny, frame_without_display_uploads_only_its_luma) {
  CUDAVISION_NEEDS_EMULATION();
  Harness canny("cudacanny display=false");
  const VideoFrame frame("NV12", {66, 34});
  canny.work(frame);  // the first frame may still allocate
  const simt::Counters spent = spent_on(&canny, frame);
  EXPECT_EQ(spent.host_to_device_bytes, 66u * 34);
  EXPECT_EQ(spent.device_to_host_bytes, 0u);
}

}  // namespace
