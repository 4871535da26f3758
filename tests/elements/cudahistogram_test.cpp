// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares cudahistogram with cv::calcHist in every format; tests its tensor, its plot, its properties and messages.
#include <gst/video/video.h>

#include <string>
#include <vector>

#include "tests/elements/frame_budget.h"
#include "tests/elements/histogram_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaHistogram : public ElementTest {};

// Expects exactly one tensor, with the counts of cv::calcHist and the documented type and shape.
void expect_counts(const Owned<GstBuffer> &buffer, const VideoFrame &frame,
                   const HistogramCase &histogram = {}, Part part = {}) {
  const GstCudaVisionTensorMeta *meta = tensor_of(buffer, "histogram");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(tensor_count(buffer), 1);
  EXPECT_EQ(meta->element_type, GST_CUDA_VISION_ELEMENT_TYPE_U32);
  const std::size_t channels = histogram.channels ? static_cast<std::size_t>(frame.component_count()) : 1;
  EXPECT_EQ(dims_of(meta), (std::vector<std::size_t>{channels, static_cast<std::size_t>(histogram.bins)}));
  EXPECT_EQ(elements_of<std::uint32_t>(meta), opencv_counts(frame, histogram, part));
}

// --- every format ---

class CudaHistogramFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaHistogramFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

constexpr Size kSizes[] = {{1, 1},   {2, 2},   {3, 5},    {1, 40},   {40, 1},
                           {17, 13}, {64, 64}, {101, 75}, {200, 130}};

TEST_P(CudaHistogramFormat, luma_equals_opencv) {
  Harness histogram("cudahistogram display=false");
  unsigned seed = 1;
  for (const Size size : kSizes) {
    const VideoFrame frame(GetParam(), size, seed++);
    expect_counts(buffer_from(&histogram, frame), frame);
  }
}

TEST_P(CudaHistogramFormat, channels_equal_opencv) {
  Harness histogram("cudahistogram mode=channels display=false");
  unsigned seed = 20;
  for (const Size size : kSizes) {
    const VideoFrame frame(GetParam(), size, seed++);
    expect_counts(buffer_from(&histogram, frame), frame, {.channels = true});
  }
}

TEST_P(CudaHistogramFormat, planes_that_are_not_contiguous_are_counted) {
  for (const bool channels : {false, true}) {
    Harness histogram(std::string("cudahistogram display=false mode=") + (channels ? "channels" : "luma"));
    const VideoFrame frame(GetParam(), {67, 65}, 40, Layout::apart);
    expect_counts(buffer_from(&histogram, frame), frame, {.channels = channels});
  }
}

TEST_P(CudaHistogramFormat, only_the_region_is_counted) {
  const Part part{5, 3, 21, 17};
  for (const char *display : {"true", "false"})
    for (const bool channels : {false, true}) {
      Harness histogram(std::string("cudahistogram roi-x=5 roi-y=3 roi-width=21 roi-height=17 display=") +
                        display + (channels ? " mode=channels" : ""));
      const VideoFrame frame(GetParam(), {41, 31}, 50);
      expect_counts(buffer_from(&histogram, frame), frame, {.channels = channels}, part);
    }
}

TEST_P(CudaHistogramFormat, display_plots_the_counts_of_the_undrawn_frame) {
  for (const bool channels : {false, true}) {
    Harness histogram(std::string("cudahistogram mode=") + (channels ? "channels" : "luma"));
    for (const Size size : {Size{1, 1}, Size{3, 2}, Size{67, 65}, Size{320, 240}}) {
      const VideoFrame frame(GetParam(), size, 60);
      const Owned<GstBuffer> out = buffer_from(&histogram, frame);
      EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_plot(frame, {.channels = channels})));
      expect_counts(out, frame, {.channels = channels});
    }
  }
}

TEST_P(CudaHistogramFormat, display_does_not_change_bytes_outside_the_plot) {
  Harness histogram("cudahistogram mode=channels roi-x=4 roi-y=2 roi-width=80 roi-height=50");
  const Part part{4, 2, 80, 50};
  const VideoFrame frame(GetParam(), {101, 75}, 70, Layout::apart);
  const Owned<GstBuffer> out = buffer_from(&histogram, frame);
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_plot(frame, {.channels = true}, part)));
  // Restore the samples of the plot: all other bytes must be unchanged.
  VideoFrame restored = frame;
  restored.bytes() = bytes_of(out.get());
  const Part plot = plot_of(frame, {.channels = true}, part);
  for (int c = 0; c < frame.component_count(); ++c)
    for (int y = plot.y >> frame.shift_y(c); y <= (plot.y + plot.height - 1) >> frame.shift_y(c); ++y)
      for (int x = plot.x >> frame.shift_x(c); x <= (plot.x + plot.width - 1) >> frame.shift_x(c); ++x)
        restored.sample(c, x, y) = frame.sample(c, x, y);
  EXPECT_TRUE(same_bytes(restored.bytes(), frame));
}

TEST_P(CudaHistogramFormat, frame_does_not_change_without_display) {
  for (const char *mode : {"luma", "channels"}) {
    Harness histogram(std::string("cudahistogram display=false mode=") + mode);
    for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
      const VideoFrame frame(GetParam(), {67, 65}, 80, layout);
      EXPECT_TRUE(same_bytes(histogram.work(frame), frame));
    }
  }
}

// --- properties ---

TEST_F(CudaHistogram, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudahistogram");
  EXPECT_EQ(integer(element.get(), "bins"), 256);
  EXPECT_EQ(text(element.get(), "mode"), "luma");
  EXPECT_EQ(integer(element.get(), "range-min"), 0);
  EXPECT_EQ(integer(element.get(), "range-max"), 256);
}

TEST_F(CudaHistogram, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudahistogram bins=7 range-min=3 range-max=99");
  for (const auto &[property, refused] : {std::pair{"bins", 0},
                                          {"bins", -1},
                                          {"bins", 257},
                                          {"range-min", -1},
                                          {"range-min", 256},
                                          {"range-max", 0},
                                          {"range-max", 257},
                                          {"mode", 2}}) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(integer(element.get(), property), before) << property << " " << refused;
  }
  EXPECT_NE(why_refused("fakesrc ! cudahistogram bins=many ! fakesink").find("bins"), std::string::npos);
  EXPECT_NE(why_refused("fakesrc ! cudahistogram mode=hue ! fakesink").find("mode"), std::string::npos);
}

TEST_F(CudaHistogram, each_property_has_the_effect_of_its_opencv_parameter) {
  const VideoFrame frame("BGRx", {67, 65}, 3);
  const struct {
    std::string description;
    HistogramCase expected;
  } cases[] = {
      {"bins=1", {false, 1}},
      {"bins=2", {false, 2}},
      {"bins=7 mode=channels", {true, 7}},
      {"bins=255", {false, 255}},
      {"range-min=10 range-max=200", {false, 256, 10, 200}},
      {"range-min=255 mode=channels", {true, 256, 255, 256}},
      {"range-max=1", {false, 256, 0, 1}},
      {"bins=100 range-min=10 range-max=200 mode=channels", {true, 100, 10, 200}},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.description);
    Harness histogram("cudahistogram " + c.description);
    const Owned<GstBuffer> out = buffer_from(&histogram, frame);
    expect_counts(out, frame, c.expected);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_plot(frame, c.expected)));
  }
}

// Consecutive changes, including changes back to the initial values and to the defaults.
TEST_F(CudaHistogram, properties_changed_in_playing_take_effect_on_the_next_frame) {
  Harness histogram("cudahistogram bins=16 display=false");
  const VideoFrame frame("I420", {65, 43}, 4);
  expect_counts(buffer_from(&histogram, frame), frame, {false, 16});
  const struct {
    const char *property, *value;
    HistogramCase expected;
  } changes[] = {{"bins", "256", {false, 256}},
                 {"bins", "16", {false, 16}},
                 {"mode", "channels", {true, 16}},
                 {"range-max", "200", {true, 16, 0, 200}},
                 {"range-min", "100", {true, 16, 100, 200}},
                 {"bins", "3", {true, 3, 100, 200}},
                 {"mode", "luma", {false, 3, 100, 200}},
                 {"display", "true", {false, 3, 100, 200}},
                 {"mode", "channels", {true, 3, 100, 200}},
                 {"display", "false", {true, 3, 100, 200}},
                 {"range-min", "0", {true, 3, 0, 200}},
                 {"range-max", "256", {true, 3, 0, 256}},
                 {"mode", "luma", {false, 3}},
                 {"bins", "256", {false, 256}}};
  for (const auto &change : changes) {
    SCOPED_TRACE(std::string(change.property) + "=" + change.value);
    set(histogram.element(), change.property, change.value);
    expect_counts(buffer_from(&histogram, frame), frame, change.expected);
  }
  EXPECT_FALSE(take_warning(histogram.element()));
}

// --- contradictions ---

TEST_F(CudaHistogram, contradiction_at_the_start_is_an_error_that_names_both_properties) {
  for (const auto &[low, high] : {std::pair{200, 100}, {77, 77}, {255, 1}}) {
    const Owned<GstElement> element = parse("cudahistogram backend=" + backend());
    g_object_set(element.get(), "range-min", low, "range-max", high, nullptr);
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    const auto error = take_error(element.get());
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "range-min (" + std::to_string(low) + ")"));
    EXPECT_TRUE(is(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "range-max (" + std::to_string(high) + ")"));
    EXPECT_FALSE(take_error(element.get())) << "only one error is posted";
    gst_element_set_state(element.get(), GST_STATE_NULL);
    g_object_set(element.get(), "range-min", 0, nullptr);
    EXPECT_NE(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  }
}

TEST_F(CudaHistogram, contradiction_in_playing_warns_once_and_the_last_valid_values_stay) {
  Harness histogram("cudahistogram bins=32 range-max=200 display=false");
  const VideoFrame frame("NV12", {65, 43}, 5);
  const HistogramCase valid{false, 32, 0, 200};
  expect_counts(buffer_from(&histogram, frame), frame, valid);
  for (int round = 0; round < 2; ++round) {
    g_object_set(histogram.element(), "range-min", 220, nullptr);
    for (int i = 0; i < 3; ++i) expect_counts(buffer_from(&histogram, frame), frame, valid);
    EXPECT_TRUE(is(take_warning(histogram.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "range-min (220)"));
    EXPECT_FALSE(take_warning(histogram.element())) << "only one warning is posted for each contradiction";
    EXPECT_FALSE(take_error(histogram.element()));
    g_object_set(histogram.element(), "range-min", 0, nullptr);  // so the next contradiction is a new one
    expect_counts(buffer_from(&histogram, frame), frame, valid);
    EXPECT_FALSE(take_warning(histogram.element()));
  }
  g_object_set(histogram.element(), "range-min", 220, "range-max", 250, nullptr);
  expect_counts(buffer_from(&histogram, frame), frame, {false, 32, 220, 250});
  EXPECT_FALSE(take_warning(histogram.element()));
}

TEST_F(CudaHistogram, valid_values_do_not_survive_a_restart) {
  Harness histogram("cudahistogram bins=32 display=false");
  const VideoFrame frame("GRAY8", {30, 20}, 6);
  buffer_from(&histogram, frame);
  g_object_set(histogram.element(), "range-min", 220, "range-max", 100, nullptr);
  expect_counts(buffer_from(&histogram, frame), frame, {false, 32});
  gst_element_set_state(histogram.element(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(histogram.element(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  g_object_set(histogram.element(), "range-min", 3, "bins", 5, nullptr);
  histogram.restart();
  expect_counts(buffer_from(&histogram, frame), frame, {false, 5, 3, 100});
}

// --- tensors and messages ---

TEST_F(CudaHistogram, tensor_geometry_describes_the_region) {
  Harness histogram("cudahistogram display=false");
  const VideoFrame frame("NV12", {101, 75}, 7);
  EXPECT_EQ(geometry_of(tensor_of(buffer_from(&histogram, frame), "histogram")).frame_width, 101u);
  g_object_set(histogram.element(), "roi-x", 7, "roi-y", 9, "roi-width", 30, "roi-height", 20, nullptr);
  const Owned<GstBuffer> out = buffer_from(&histogram, frame);
  const Geometry geometry = geometry_of(tensor_of(out, "histogram"));
  EXPECT_EQ(geometry.frame_width, 101u);
  EXPECT_EQ(geometry.frame_height, 75u);
  EXPECT_EQ(geometry.origin_x, 7);
  EXPECT_EQ(geometry.origin_y, 9);
}

// The number of counted samples and the fullest bin, from the next message on the bus.
std::pair<guint64, guint> summary_of(GstElement *element) {
  const Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT);
  EXPECT_NE(message, nullptr);
  if (!message) return {};
  const GstStructure *structure = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(structure), "cudahistogram");
  guint64 counted = 0, time = 0;
  guint fullest = 0;
  EXPECT_TRUE(gst_structure_get_uint64(structure, "counted", &counted));
  EXPECT_TRUE(gst_structure_get_uint(structure, "fullest-bin", &fullest));
  for (const char *field : {"timestamp", "stream-time", "running-time", "duration"})
    EXPECT_TRUE(gst_structure_get_uint64(structure, field, &time)) << field;
  return {counted, fullest};
}

TEST_F(CudaHistogram, message_has_the_number_of_samples_and_the_fullest_bin) {
  Harness histogram("cudahistogram message=true");
  VideoFrame frame("I420", {40, 30}, 8);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x)
      if ((x + y) % 2 == 0) frame.sample(0, x, y) = 130;
  for (const char *display : {"true", "false"}) {
    set(histogram.element(), "display", display);
    set(histogram.element(), "mode", "luma");
    set(histogram.element(), "bins", "256");
    buffer_from(&histogram, frame);
    EXPECT_EQ(summary_of(histogram.element()), (std::pair<guint64, guint>(1200, 130)));
    set(histogram.element(), "mode", "channels");
    set(histogram.element(), "bins", "16");
    buffer_from(&histogram, frame);
    EXPECT_EQ(summary_of(histogram.element()), (std::pair<guint64, guint>(1200 + 2 * 300, 130 / 16)));
  }
  EXPECT_FALSE(take_message(histogram.element(), GST_MESSAGE_ELEMENT));
}

TEST_F(CudaHistogram, skipped_frames_have_no_tensor) {
  Harness histogram("cudahistogram every-nth=3");
  const VideoFrame frame("NV12", {34, 18}, 9);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(tensor_count(buffer_from(&histogram, frame)), i % 3 == 0 ? 1 : 0) << i;
}

TEST_F(CudaHistogram, tensors_of_two_elements_are_both_attached) {
  Harness histogram("cudahistogram bins=4 display=false");
  const VideoFrame frame("GRAY8", {34, 18}, 10);
  Owned<GstBuffer> out = buffer_from(&histogram, frame);
  Harness second("cudahistogram bins=8 display=false");
  second.negotiate(frame);
  out = second.exchange(std::move(out));
  ASSERT_EQ(tensor_count(out), 2);
  GPtrArray *metas = gst_cuda_vision_buffer_get_tensor_metas(out.get());
  for (guint i = 0; i < 2; ++i) {
    const auto *meta = static_cast<const GstCudaVisionTensorMeta *>(g_ptr_array_index(metas, i));
    EXPECT_EQ(elements_of<std::uint32_t>(meta), opencv_counts(frame, {false, i == 0 ? 4 : 8}));
  }
  g_ptr_array_unref(metas);
}

TEST_F(CudaHistogram, factory_metadata_describes_the_element) {
  GstElementFactory *factory = gst_element_factory_find("cudahistogram");
  ASSERT_NE(factory, nullptr);
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME), "Histogram");
  EXPECT_STREQ(gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
               "Filter/Analyzer/Video/Hardware");
  gst_object_unref(factory);
}

// --- cost on the GPU ---

TEST_F(CudaHistogram, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    FrameBudget budget;
  } cases[] = {
      {"display=false", "NV12", {1, 1, 0}},
      {"display=false", "I420", {1, 1, 0}},
      {"display=false", "BGRx", {2, 1, 0}},  // one more launch converts the pixels to luma
      {"display=false mode=channels", "NV12", {1, 2, 0}},
      {"display=false mode=channels", "I420", {1, 3, 0}},
      {"display=false mode=channels", "BGRx", {1, 1, 0}},
      {"display=false mode=channels", "YUY2", {1, 1, 0}},
      {"display=false message=true", "GRAY8", {1, 1, 1}},
      {"display=true", "NV12", {4, 2, 2}},  // one launch counts, one plots, two draw
      {"display=true", "RGB", {5, 1, 1}},
      {"display=true mode=channels", "RGB", {4, 1, 1}},
      {"display=true mode=channels message=true", "I420", {4, 3, 4}},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness histogram(std::string("cudahistogram ") + c.description);
    expect_budget(&histogram, VideoFrame(c.format, {66, 34}), c.budget);
  }
}

}  // namespace
