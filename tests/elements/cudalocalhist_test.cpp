// SPDX-License-Identifier: LGPL-2.1-or-later
// cudalocalhist compared with the definition in every format: its tensors, its painted maps and its properties.
#include <gst/video/video.h>

#include <string>
#include <vector>

#include "tests/elements/localhist_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::GradientOperator;
using cudavision::GradientWeight;
using cudavision::LocalHistLayout;
using cudavision::LocalHistParams;
using cudavision::Size;

class CudaLocalHist : public ElementTest {};

using Dims = std::vector<std::size_t>;

template <typename Element>
constexpr GstCudaVisionElementType kTypeOf = GST_CUDA_VISION_ELEMENT_TYPE_F32;
template <>
constexpr GstCudaVisionElementType kTypeOf<std::uint16_t> = GST_CUDA_VISION_ELEMENT_TYPE_U16;
template <>
constexpr GstCudaVisionElementType kTypeOf<std::uint32_t> = GST_CUDA_VISION_ELEMENT_TYPE_U32;

// Expects that the buffer has one tensor, which holds the histograms of the frame.
template <typename Element = std::uint16_t>
void expect_histograms(const Owned<GstBuffer> &buffer, const VideoFrame &frame, const LocalHistParams &params,
                       Part part = {}) {
  const GstCudaVisionTensorMeta *meta = tensor_of(buffer, "local-histogram");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(tensor_count(buffer), 1);
  EXPECT_EQ(meta->element_type, kTypeOf<Element>);
  const Picture picture = luma_picture(frame, part);
  const DefinedWindows windows(picture, params);
  const auto rows = static_cast<std::size_t>(windows.rows), cols = static_cast<std::size_t>(windows.cols),
             bins = static_cast<std::size_t>(params.bins);
  EXPECT_EQ(dims_of(meta),
            params.layout == LocalHistLayout::planar ? (Dims{bins, rows, cols}) : (Dims{rows, cols, bins}));
  EXPECT_EQ(elements_of<Element>(meta), definition<Element>(picture, params).pixels()) << params;
}

template <typename Element>
std::vector<Element> map_of(const Owned<GstBuffer> &buffer, const char *id, const DefinedMap &expected) {
  const GstCudaVisionTensorMeta *meta = tensor_of(buffer, id);
  if (meta == nullptr) return {};
  EXPECT_EQ(meta->element_type, kTypeOf<Element>);
  EXPECT_EQ(dims_of(meta),
            (Dims{static_cast<std::size_t>(expected.rows), static_cast<std::size_t>(expected.cols)}));
  return elements_of<Element>(meta);
}

void expect_near(const std::vector<float> &actual, const std::vector<float> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

// --- every format ---

class CudaLocalHistFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaLocalHistFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaLocalHistFormat, histograms_equal_the_definition) {
  Harness local("cudalocalhist display=false window-width=7 window-height=5");
  unsigned seed = 1;
  for (const Size size : {Size{7, 5}, {8, 40}, {33, 17}, {64, 31}})
    for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
      const VideoFrame frame(GetParam(), size, seed++, layout);
      expect_histograms(buffer_from(&local, frame), frame, gradient_params(9, {7, 5}));
    }
}

TEST_P(CudaLocalHistFormat, region_alone_is_analysed) {
  const Part part{5, 3, 21, 17};
  for (const char *display : {"true", "false"}) {
    Harness local(
        std::string("cudalocalhist feature=brightness bins=8 window-width=4 window-height=6 roi-x=5 "
                    "roi-y=3 roi-width=21 roi-height=17 display=") +
        display);
    const VideoFrame frame(GetParam(), {41, 31}, 50);
    expect_histograms(buffer_from(&local, frame), frame, brightness_params(8, {4, 6}), part);
  }
}

TEST_P(CudaLocalHistFormat, display_paints_dominant_bins_and_changes_nothing_else) {
  for (const Layout layout : {Layout::of_the_caps, Layout::apart})
    for (const char *reduce : {"none", "argmax"}) {
      Harness local(std::string("cudalocalhist window-width=6 window-height=4 roi-x=3 roi-y=5 roi-width=30 "
                                "roi-height=22 reduce=") +
                    reduce);
      const VideoFrame frame(GetParam(), {41, 31}, 60, layout);
      EXPECT_TRUE(
          same_bytes(local.work(frame), with_hues(frame, gradient_params(9, {6, 4}), {3, 5, 30, 22})));
    }
}

TEST_P(CudaLocalHistFormat, display_paints_strides_as_blocks) {
  LocalHistParams params = brightness_params(5, {6, 4});
  params.stride_x = 5;
  params.stride_y = 9;  // more than the window is high
  Harness local(
      "cudalocalhist feature=brightness bins=5 window-width=6 window-height=4 stride-x=5 stride-y=9");
  const VideoFrame frame(GetParam(), {41, 31}, 61);
  EXPECT_TRUE(same_bytes(local.work(frame), with_hues(frame, params)));
}

TEST_P(CudaLocalHistFormat, display_off_leaves_every_byte) {
  for (const char *reduce : {"none", "argmax", "entropy", "distance"}) {
    Harness local(std::string("cudalocalhist display=false reduce=") + reduce);
    const VideoFrame frame(GetParam(), {37, 25}, 80, Layout::apart);
    EXPECT_TRUE(same_bytes(local.work(frame), frame));
  }
}

// --- properties ---

TEST_F(CudaLocalHist, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudalocalhist");
  for (const auto &[property, value] : {std::pair{"feature", "gradient"},
                                        {"weight", "count"},
                                        {"operator", "sobel"},
                                        {"layout", "interleaved"},
                                        {"reduce", "none"}})
    EXPECT_EQ(text(element.get(), property), value) << property;
  for (const auto &[property, value] : {std::pair{"bins", 9},
                                        {"window-width", 16},
                                        {"window-height", 16},
                                        {"stride-x", 1},
                                        {"stride-y", 1},
                                        {"model-region-x", 0},
                                        {"model-region-y", 0},
                                        {"model-region-width", 0},
                                        {"model-region-height", 0}})
    EXPECT_EQ(integer(element.get(), property), value) << property;
  guint64 most = 1;
  g_object_get(element.get(), "max-memory", &most, nullptr);
  EXPECT_EQ(most, 0u);
}

TEST_F(CudaLocalHist, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudalocalhist bins=7 window-width=9 window-height=8 stride-x=3");
  for (const auto &[property, refused] : {std::pair{"bins", 0},
                                          {"bins", 361},
                                          {"window-width", 0},
                                          {"window-width", 1025},
                                          {"window-height", -1},
                                          {"window-height", 1025},
                                          {"stride-x", 0},
                                          {"stride-x", 1025},
                                          {"stride-y", 0},
                                          {"model-region-x", -1},
                                          {"model-region-width", -1},
                                          {"feature", 2},
                                          {"weight", 3},
                                          {"operator", 5},
                                          {"layout", 2},
                                          {"reduce", 4}}) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(integer(element.get(), property), before) << property << " " << refused;
  }
}

TEST_F(CudaLocalHist, window_that_becomes_too_large_leaves_the_last_valid_one_in_force) {
  const VideoFrame frame("GRAY8", {40, 30}, 3);
  Harness local("cudalocalhist"), other("cudalocalhist");
  const std::vector<std::uint8_t> expected = other.work(frame);
  EXPECT_EQ(local.work(frame), expected);
  set(local.element(), "window-width", "41");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(local.work(frame), expected);
  EXPECT_TRUE(is(take_warning(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "the last valid values stay in force"));
  EXPECT_FALSE(take_warning(local.element()));
  set(local.element(), "window-width", "40");
  EXPECT_NE(local.work(frame), expected);
}

TEST_F(CudaLocalHist, each_property_does_what_it_says) {
  const VideoFrame frame("I420", {67, 45}, 3);
  const auto expect = [&](const std::string &properties, const LocalHistParams &params, auto element) {
    SCOPED_TRACE(properties);
    Harness local("cudalocalhist display=false " + properties);
    expect_histograms<decltype(element)>(buffer_from(&local, frame), frame, params);
  };
  LocalHistParams params;
  expect("", params, std::uint16_t{});
  expect("bins=360", gradient_params(360, {16, 16}), std::uint16_t{});
  expect("feature=brightness bins=256", brightness_params(256, {16, 16}), std::uint16_t{});
  expect("window-width=30 window-height=2", gradient_params(9, {30, 2}), std::uint16_t{});
  expect("weight=magnitude", gradient_params(9, {16, 16}, GradientWeight::magnitude), 0.0f);
  expect("weight=sqrt-magnitude", gradient_params(9, {16, 16}, GradientWeight::sqrt_magnitude), 0.0f);
  params.stride_x = 5;
  expect("stride-x=5", params, std::uint16_t{});
  params.stride_y = 7;
  params.layout = LocalHistLayout::planar;
  expect("stride-x=5 stride-y=7 layout=planar", params, std::uint16_t{});
  for (const auto &[name, op] : {std::pair{"central", GradientOperator::central},
                                 {"scharr", GradientOperator::scharr},
                                 {"prewitt", GradientOperator::prewitt},
                                 {"roberts", GradientOperator::roberts}}) {
    LocalHistParams other;
    other.op = op;
    expect(std::string("operator=") + name, other, std::uint16_t{});
  }
}

TEST_F(CudaLocalHist, counts_of_large_windows_have_32_bits) {
  Harness local("cudalocalhist feature=brightness bins=3 window-width=256 window-height=257 display=false");
  VideoFrame frame("GRAY8", {257, 258}, 4);
  expect_histograms<std::uint32_t>(buffer_from(&local, frame), frame, brightness_params(3, {256, 257}));
}

// The changes are made one after the other, and end with the initial values.
TEST_F(CudaLocalHist, properties_changed_in_playing_take_effect_on_the_next_frame) {
  Harness local("cudalocalhist bins=16 display=false");
  const VideoFrame frame("I420", {65, 43}, 4);
  LocalHistParams params = gradient_params(16, {16, 16});
  expect_histograms(buffer_from(&local, frame), frame, params);
  const auto change = [&](const char *property, const char *value) {
    SCOPED_TRACE(std::string(property) + "=" + value);
    set(local.element(), property, value);
    expect_histograms(buffer_from(&local, frame), frame, params);
  };
  params.bins = 8;
  change("bins", "8");
  params.window.width = 4;
  change("window-width", "4");
  params.stride_y = 3;
  change("stride-y", "3");
  params.feature = cudavision::LocalHistFeature::brightness;
  change("feature", "brightness");
  change("display", "true");
  params.layout = LocalHistLayout::planar;
  change("layout", "planar");
  change("display", "false");
  params = gradient_params(16, {4, 16});
  g_object_set(local.element(), "stride-y", 1, "layout", 0, "feature", 1, nullptr);
  change("bins", "16");
  params.window.width = 16;
  change("window-width", "16");
  EXPECT_FALSE(take_warning(local.element()));
}

TEST_F(CudaLocalHist, contradiction_at_the_start_is_an_error_that_names_both) {
  const Owned<GstElement> element = parse("cudalocalhist feature=brightness bins=300 backend=" + backend());
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "bins with feature=brightness must be between 1 and 256, not 300"));
}

TEST_F(CudaLocalHist, contradiction_in_playing_warns_once_and_the_last_valid_values_stay) {
  Harness local("cudalocalhist bins=300 display=false");
  const VideoFrame frame("NV12", {35, 23}, 5);
  expect_histograms(buffer_from(&local, frame), frame, gradient_params(300, {16, 16}));
  set(local.element(), "feature", "brightness");
  for (int i = 0; i < 3; ++i)
    expect_histograms(buffer_from(&local, frame), frame, gradient_params(300, {16, 16}));
  EXPECT_TRUE(is(take_warning(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "feature=brightness"));
  EXPECT_FALSE(take_warning(local.element()));
  set(local.element(), "bins", "256");
  expect_histograms(buffer_from(&local, frame), frame, brightness_params(256, {16, 16}));
}

TEST_F(CudaLocalHist, window_that_does_not_fit_fails_negotiation) {
  Harness local("cudalocalhist window-width=40");
  const VideoFrame frame("GRAY8", {39, 50}, 6);
  local.negotiate(frame);
  EXPECT_EQ(local.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(is(take_error(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "(40x16) must not exceed the picture's (39x50)"));
}

// --- metadata and passed frames ---

TEST_F(CudaLocalHist, tensor_says_where_its_windows_lie) {
  Harness local("cudalocalhist display=false stride-x=3 stride-y=2");
  const VideoFrame frame("NV12", {101, 75}, 7);
  EXPECT_EQ(geometry_of(tensor_of(buffer_from(&local, frame), "local-histogram")),
            (Geometry{101, 75, 0, 0, 3, 2}));
  g_object_set(local.element(), "roi-x", 7, "roi-y", 9, "roi-width", 30, "roi-height", 20, nullptr);
  EXPECT_EQ(geometry_of(tensor_of(buffer_from(&local, frame), "local-histogram")),
            (Geometry{101, 75, 7, 9, 3, 2}));
}

TEST_F(CudaLocalHist, frames_that_pass_have_no_tensor) {
  Harness local("cudalocalhist every-nth=3");
  const VideoFrame frame("NV12", {34, 18}, 9);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(tensor_count(buffer_from(&local, frame)), i % 3 == 0 ? 1 : 0) << i;
}

TEST_F(CudaLocalHist, tensors_that_are_still_held_are_not_overwritten) {
  Harness local("cudalocalhist display=false");
  const VideoFrame first("GRAY8", {40, 30}, 10), second("GRAY8", {40, 30}, 11);
  const Owned<GstBuffer> held = buffer_from(&local, first), other = buffer_from(&local, second);
  expect_histograms(held, first, {});
  expect_histograms(other, second, {});
}

TEST_F(CudaLocalHist, factory_says_what_it_is) {
  GstElementFactory *factory = gst_element_factory_find("cudalocalhist");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME), "Local histograms");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video/Hardware");
  gst_object_unref(factory);
}

// --- reductions ---

TEST_F(CudaLocalHist, argmax_attaches_bins_and_shares) {
  Harness local("cudalocalhist reduce=argmax display=false window-width=8 window-height=6");
  const VideoFrame frame("NV12", {50, 31}, 12);
  const Owned<GstBuffer> out = buffer_from(&local, frame);
  const DefinedMap map = defined_map(luma_picture(frame), gradient_params(9, {8, 6}));
  EXPECT_EQ(tensor_count(out), 2);
  EXPECT_EQ(map_of<std::uint16_t>(out, "local-histogram-argmax", map), map.argmax);
  EXPECT_EQ(map_of<float>(out, "local-histogram-share", map), map.share);
}

TEST_F(CudaLocalHist, entropy_is_attached_and_painted_as_heat) {
  Harness local("cudalocalhist reduce=entropy feature=brightness bins=32 window-width=8 window-height=6");
  const VideoFrame frame("BGRx", {50, 31}, 13);
  const Owned<GstBuffer> out = buffer_from(&local, frame);
  const LocalHistParams params = brightness_params(32, {8, 6});
  const DefinedMap map = defined_map(luma_picture(frame), params);
  EXPECT_EQ(tensor_count(out), 1);
  const std::vector<float> entropy = map_of<float>(out, "local-histogram-entropy", map);
  expect_near(entropy, map.entropy);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_heat(frame, params, entropy, 0, 5)));
}

TEST_F(CudaLocalHist, entropy_of_one_bin_is_painted) {
  Harness local("cudalocalhist reduce=entropy bins=1 window-width=4 window-height=4");
  const VideoFrame frame("RGB", {20, 20}, 14);
  const std::vector<float> zeros(17 * 17, 0.0f);
  EXPECT_TRUE(same_bytes(local.work(frame), with_heat(frame, gradient_params(1, {4, 4}), zeros, 0, 1)));
}

}  // namespace
