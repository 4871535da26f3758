// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaopticalflow in every format: its tensors, its display, its properties and its messages.
#include <gst/video/video.h>

#include <string>
#include <vector>

#include "tests/elements/frame_budget.h"
#include "tests/elements/opticalflow_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::OpticalFlowParams;
using cudavision::Region;
using cudavision::Size;

class CudaOpticalFlow : public ElementTest {};

// Small windows for small frames.
constexpr char kSmall[] = "cudaopticalflow window-size=9 levels=2 ";
OpticalFlowParams small_params(int stride = 1) {
  OpticalFlowParams params;
  params.window_size = 9, params.levels = 2, params.stride = stride;
  return params;
}

// --- every format ---

class CudaOpticalFlowFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaOpticalFlowFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaOpticalFlowFormat, tensors_are_those_of_the_algorithm_and_the_picture_stays) {
  const std::vector<Size> sizes = kSanitized ? std::vector<Size>{{3, 5}, {40, 33}}
                                             : std::vector<Size>{{1, 1}, {3, 5}, {40, 33}, {67, 50}};
  for (const Size size : sizes)
    for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
      Harness flow(std::string(kSmall) + "display=false");
      const VideoFrame first = moving_frame(GetParam(), size, 0, layout),
                       second = moving_frame(GetParam(), size, 1, layout);
      expect_untouched(buffer_from(&flow, first), first);
      const Owned<GstBuffer> out = buffer_from(&flow, second);
      expect_flow(out, flow_between(first, second, small_params()));
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), second));
    }
}

TEST_P(CudaOpticalFlowFormat, wheel_is_blended_over_the_picture_and_the_flow_is_still_that_of_the_input) {
  Harness flow(std::string(kSmall) + "max-speed=5");
  VideoFrame before = moving_frame(GetParam(), {51, 42}, 0);
  expect_untouched(buffer_from(&flow, before), before);
  for (int i = 1; i < 4; ++i) {
    const VideoFrame now = moving_frame(GetParam(), {51, 42}, i);
    const Owned<GstBuffer> out = buffer_from(&flow, now);
    const ExpectedFlow expected = flow_between(before, now, small_params());
    expect_flow(out, expected);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_wheel(now, expected, 5)));
    before = now;
  }
}

TEST_P(CudaOpticalFlowFormat, arrows_are_drawn_on_the_picture) {
  Harness flow(std::string(kSmall) + "display-mode=arrows color=0x80f08010 arrow-scale=2.5 line-width=2");
  const VideoFrame first = moving_frame(GetParam(), {67, 50}, 0),
                   second = moving_frame(GetParam(), {67, 50}, 1);
  expect_untouched(buffer_from(&flow, first), first);
  const Owned<GstBuffer> out = buffer_from(&flow, second);
  const ExpectedFlow expected = flow_between(first, second, small_params());
  const VideoFrame drawn = with_arrows(second, expected, 0x80f08010, 2.5f, 2);
  EXPECT_NE(drawn.bytes(), second.bytes());
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), drawn));
}

TEST_P(CudaOpticalFlowFormat, region_alone_is_analysed_and_drawn_on) {
  const Part part{5, 3, 41, 33};
  const std::string region = "roi-x=5 roi-y=3 roi-width=41 roi-height=33 ";
  const VideoFrame first = moving_frame(GetParam(), {67, 50}, 0),
                   second = moving_frame(GetParam(), {67, 50}, 1);
  const ExpectedFlow expected = flow_between(first, second, small_params(), part);
  for (const char *mode : {"wheel", "arrows"}) {
    Harness flow(kSmall + region + "color=lime line-width=1 display-mode=" + mode);
    expect_untouched(buffer_from(&flow, first), first);
    const Owned<GstBuffer> out = buffer_from(&flow, second);
    expect_flow(out, expected);
    const VideoFrame drawn = std::string(mode) == "wheel"
                                 ? with_wheel(second, expected, 8, part)
                                 : with_arrows(second, expected, 0xff00ff00, 4, 1, part);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), drawn)) << mode;
    EXPECT_EQ(geometry_of(tensor_of(out, "optical-flow")), (Geometry{67, 50, 5, 3, 1, 1}));
  }
}

// --- properties ---

TEST_F(CudaOpticalFlow, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudaopticalflow");
  EXPECT_EQ(integer(element.get(), "window-size"), 21);
  EXPECT_EQ(integer(element.get(), "levels"), 3);
  EXPECT_EQ(integer(element.get(), "iterations"), 30);
  EXPECT_EQ(real(element.get(), "epsilon"), 0.01);
  EXPECT_EQ(real(element.get(), "min-eigenvalue"), 1e-4);
  EXPECT_EQ(text(element.get(), "stride"), "1");
  EXPECT_EQ(real(element.get(), "forward-backward"), 0);
  EXPECT_EQ(text(element.get(), "preset"), "none");
  EXPECT_EQ(text(element.get(), "display-mode"), "wheel");
  EXPECT_EQ(real(element.get(), "max-speed"), 8);
  EXPECT_EQ(real(element.get(), "arrow-scale"), 4);
  EXPECT_EQ(integer(element.get(), "line-width"), 0);
  EXPECT_EQ(text(element.get(), "color"), "direction");
  EXPECT_EQ(text(element.get(), "legend"), "true");
}

TEST_F(CudaOpticalFlow, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudaopticalflow");
  for (const auto &[property, refused] : {std::pair{"window-size", 4},
                                          {"window-size", 32},
                                          {"levels", -1},
                                          {"levels", 9},
                                          {"iterations", 0},
                                          {"iterations", 101},
                                          {"stride", 0},
                                          {"stride", 3},
                                          {"stride", 16},
                                          {"preset", 4},
                                          {"display-mode", 2},
                                          {"line-width", -1}}) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(integer(element.get(), property), before) << property << " " << refused;
  }
  for (const auto &[property, refused] : {std::pair{"epsilon", -0.1},
                                          {"epsilon", 10.1},
                                          {"min-eigenvalue", 16.1},
                                          {"forward-backward", 101.0},
                                          {"max-speed", 0.0},
                                          {"arrow-scale", 0.0}}) {
    const double before = real(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(real(element.get(), property), before) << property << " " << refused;
  }
  EXPECT_NE(why_refused("fakesrc ! cudaopticalflow preset=slow ! fakesink").find("preset"),
            std::string::npos);
}

TEST_F(CudaOpticalFlow, preset_sets_parameters_and_those_set_after_it_keep_their_values) {
  const struct {
    const char *preset;
    int window_size, levels, iterations;
    double epsilon;
    const char *stride;
    double forward_backward;
  } presets[] = {{"fast", 15, 3, 5, 0.03, "4", 0},
                 {"medium", 15, 3, 10, 0.03, "2", 0},
                 {"quality", 21, 4, 30, 0.01, "1", 1}};
  for (const auto &p : presets) {
    const Owned<GstElement> element = parse(std::string("cudaopticalflow levels=7 preset=") + p.preset);
    EXPECT_EQ(text(element.get(), "preset"), p.preset);
    EXPECT_EQ(integer(element.get(), "window-size"), p.window_size);
    EXPECT_EQ(integer(element.get(), "levels"), p.levels);
    EXPECT_EQ(integer(element.get(), "iterations"), p.iterations);
    EXPECT_EQ(real(element.get(), "epsilon"), p.epsilon);
    EXPECT_EQ(text(element.get(), "stride"), p.stride);
    EXPECT_EQ(real(element.get(), "forward-backward"), p.forward_backward);
    set(element.get(), "stride", "8");
    set(element.get(), "preset", "none");
    EXPECT_EQ(text(element.get(), "stride"), "8") << "none changes nothing";
    EXPECT_EQ(integer(element.get(), "window-size"), p.window_size);
  }
}

// Each change is made in PLAYING, after the last one.
TEST_F(CudaOpticalFlow, properties_take_effect_on_the_next_frame) {
  Harness flow("cudaopticalflow display=false");
  OpticalFlowParams params;
  VideoFrame before = moving_frame("I420", {83, 64}, 0);
  buffer_from(&flow, before);
  const struct {
    const char *property, *value;
    void (*change)(OpticalFlowParams *);
  } changes[] = {
      {"window-size", "9", [](OpticalFlowParams *p) { p->window_size = 9; }},
      {"levels", "1", [](OpticalFlowParams *p) { p->levels = 1; }},
      {"iterations", "2", [](OpticalFlowParams *p) { p->iterations = 2; }},
      {"levels", "3", [](OpticalFlowParams *p) { p->levels = 3; }},
      {"epsilon", "0.5", [](OpticalFlowParams *p) { p->epsilon = 0.5; }},
      {"min-eigenvalue", "0.05", [](OpticalFlowParams *p) { p->min_eigenvalue = 0.05; }},
      {"stride", "4", [](OpticalFlowParams *p) { p->stride = 4; }},
      {"forward-backward", "0.25", [](OpticalFlowParams *p) { p->forward_backward = 0.25; }},
      {"stride", "2", [](OpticalFlowParams *p) { p->stride = 2; }},
      {"preset", "fast", [](OpticalFlowParams *p) { apply_preset(cudavision::OpticalFlowPreset::fast, p); }},
  };
  int i = 1;
  ExpectedFlow last;
  for (const auto &change : changes) {
    SCOPED_TRACE(std::string(change.property) + "=" + change.value);
    set(flow.element(), change.property, change.value);
    const OpticalFlowParams old = params;
    change.change(&params);
    const VideoFrame now = moving_frame("I420", {83, 64}, i++);
    const ExpectedFlow expected = flow_between(before, now, params),
                       unchanged = flow_between(before, now, old);
    EXPECT_TRUE(expected.xy != unchanged.xy || expected.valid != unchanged.valid)
        << "the change proves nothing";
    expect_flow(buffer_from(&flow, now), expected);
    before = now;
  }
}

// The tensors become larger and smaller with the stride.
TEST_F(CudaOpticalFlow, stride_may_change_either_way) {
  Harness flow(std::string(kSmall) + "stride=8");
  VideoFrame before = moving_frame("NV12", {61, 40}, 0);
  buffer_from(&flow, before);
  int i = 1;
  for (const int stride : {8, 2, 1, 4, 1}) {
    set(flow.element(), "stride", std::to_string(stride));
    const VideoFrame now = moving_frame("NV12", {61, 40}, i++);
    const Owned<GstBuffer> out = buffer_from(&flow, now);
    const ExpectedFlow expected = flow_between(before, now, small_params(stride));
    expect_flow(out, expected);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_wheel(now, expected)));
    before = now;
  }
}

TEST_F(CudaOpticalFlow, roi_type_computes_the_vectors_of_regions_alone) {
  const std::string all =
      std::string(kSmall) + "display=false stride=2 roi-x=7 roi-y=5 roi-width=60 roi-height=44";
  Harness whole(all), gated(all + " roi-type=motion post-messages=true");
  const Region regions[] = {{3, 12, 21, 15}, {40, 20, 19, 24}};  // in the frame
  for (int i = 0; i < 3; ++i) {
    const VideoFrame frame = moving_frame("NV12", {80, 60}, i);
    const Owned<GstBuffer> everywhere = buffer_from(&whole, frame);
    gated.negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    for (const Region &r : regions)
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), "motion", static_cast<guint>(r.x),
                                                   static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                   static_cast<guint>(r.height));
    const Owned<GstBuffer> out = gated.exchange(std::move(buffer));
    if (i == 0) continue;
    const auto vectors = elements_of<float>(tensor_of(out, "optical-flow")),
               expected_vectors = elements_of<float>(tensor_of(everywhere, "optical-flow"));
    const auto valid = elements_of<std::uint8_t>(tensor_of(out, "optical-flow-valid")),
               expected_valid = elements_of<std::uint8_t>(tensor_of(everywhere, "optical-flow-valid"));
    ASSERT_EQ(valid.size(), 30u * 22u);
    int count = 0;
    for (int row = 0; row < 22; ++row)
      for (int column = 0; column < 30; ++column) {
        const auto at = static_cast<std::size_t>(30 * row + column);
        const bool is_in = contains(regions[0], 7 + 2 * column, 5 + 2 * row) ||
                           contains(regions[1], 7 + 2 * column, 5 + 2 * row);
        ASSERT_EQ(valid[at], is_in ? expected_valid[at] : 0) << column << ", " << row;
        for (const std::size_t k : {2 * at, 2 * at + 1})
          ASSERT_EQ(vectors[k], is_in ? expected_vectors[k] : 0) << column << ", " << row;
        count += valid[at];
      }
    EXPECT_GT(count, 30);
  }
}

TEST_F(CudaOpticalFlow, even_windows_are_an_error_at_the_start_and_a_warning_in_playing) {
  {
    const Owned<GstElement> element = parse("cudaopticalflow window-size=20 backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_TRUE(
        is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "window-size"));
  }
  Harness flow(std::string(kSmall) + "display=false");
  const VideoFrame first = moving_frame("NV12", {50, 40}, 0), second = moving_frame("NV12", {50, 40}, 1);
  buffer_from(&flow, first);
  set(flow.element(), "window-size", "10");
  expect_flow(buffer_from(&flow, second), flow_between(first, second, small_params()));
  EXPECT_TRUE(
      is(take_warning(flow.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "window-size"));
  set(flow.element(), "window-size", "9");
  expect_flow(buffer_from(&flow, first), flow_between(second, first, small_params()));
  EXPECT_FALSE(take_warning(flow.element()));
}

// --- messages and costs ---

struct Summary {
  gboolean has_flow = FALSE;
  guint vectors = 0, valid = 0;

  friend bool operator==(const Summary &, const Summary &) = default;
};
Summary summary_of(GstElement *element) {
  const Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT);
  EXPECT_NE(message, nullptr);
  if (!message) return {};
  const GstStructure *structure = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(structure), "cudaopticalflow");
  Summary s;
  EXPECT_TRUE(gst_structure_get_boolean(structure, "has-flow", &s.has_flow));
  EXPECT_TRUE(gst_structure_get_uint(structure, "vectors", &s.vectors));
  EXPECT_TRUE(gst_structure_get_uint(structure, "valid-vectors", &s.valid));
  return s;
}

TEST_F(CudaOpticalFlow, message_says_how_many_vectors_are_valid) {
  Harness flow(std::string(kSmall) + "message=true stride=2 min-eigenvalue=0.05");
  const VideoFrame first = moving_frame("GRAY8", {61, 40}, 0), second = moving_frame("GRAY8", {61, 40}, 1);
  OpticalFlowParams params = small_params(2);
  params.min_eigenvalue = 0.05;
  const ExpectedFlow expected = flow_between(first, second, params);
  const auto valid = static_cast<guint>(std::count(expected.valid.begin(), expected.valid.end(), 1));
  EXPECT_GT(valid, 0u);
  EXPECT_LT(valid, 31u * 20u);
  buffer_from(&flow, first);
  EXPECT_EQ(summary_of(flow.element()), (Summary{FALSE, 0, 0}));
  buffer_from(&flow, second);
  EXPECT_EQ(summary_of(flow.element()), (Summary{TRUE, 31 * 20, valid}));
  EXPECT_FALSE(take_message(flow.element(), GST_MESSAGE_ELEMENT));
}

TEST_F(CudaOpticalFlow, frame_asks_the_gpu_for_little) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    unsigned launches, uploads, downloads;
  } cases[] = {
      {"display=false", "NV12", 8, 1, 0},                      // three on each level, two on the small one
      {"display=false", "BGRx", 9, 1, 0},                      // and one for the luma
      {"display=false stride=4", "NV12", 6, 1, 0},             // two launches on each level
      {"display=false forward-backward=1", "NV12", 14, 1, 0},  // three more levels, and one for the check
      {"display=false message=true", "NV12", 9, 1, 1},
      {"display=true", "NV12", 9, 2, 2},
      {"display-mode=arrows", "I420", 11, 3, 3},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness flow(kSmall + std::string(c.description));
    for (int i = 0; i < 2; ++i) flow.work(moving_frame(c.format, {66, 50}, i));  // these may still allocate
    const VideoFrame frame = moving_frame(c.format, {66, 50}, 2);
    expect_spent(spent_on(&flow, frame), {c.launches, c.uploads, c.downloads});
  }
}

}  // namespace
