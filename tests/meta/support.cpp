// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames, pipelines and comparisons for the tests of the metas.
#include "tests/meta/support.h"

#include <gst/check/gstharness.h>

#include <cmath>
#include <limits>
#include <utility>

namespace cudavision::test {
namespace {

class GStreamer : public testing::Environment {
 public:
  void SetUp() override { gst_init(nullptr, nullptr); }
};
const testing::Environment *const kGStreamer = testing::AddGlobalTestEnvironment(new GStreamer);

// Whether OpenGL works here: its elements can be installed on a machine that has no display and no driver.
bool gl_works() {
  static const bool works = [] {
    GstElement *pipeline =
        gst_parse_launch("videotestsrc num-buffers=1 ! glupload ! gldownload ! fakesink", nullptr);
    if (pipeline == nullptr) return false;
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    const bool prerolls =
        gst_element_get_state(pipeline, nullptr, nullptr, 60 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS;
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    return prerolls;
  }();
  return works;
}

// Returns false if an element is not installed, or needs OpenGL and there is none. Fails the test if the elements
// cannot be made for another reason.
bool all_installed(const std::string &elements) {
  GError *error = nullptr;
  GstParseContext *context = gst_parse_context_new();
  GstElement *bin = gst_parse_bin_from_description_full(elements.c_str(), TRUE, context,
                                                        GST_PARSE_FLAG_FATAL_ERRORS, &error);
  char **missing = gst_parse_context_get_missing_elements(context);
  const bool installed = missing == nullptr;
  if (installed && error != nullptr) ADD_FAILURE() << elements << ": " << error->message;
  g_strfreev(missing);
  g_clear_error(&error);
  gst_parse_context_free(context);
  if (bin != nullptr) gst_object_unref(gst_object_ref_sink(bin));
  return installed && (elements.find("glupload") == std::string::npos || gl_works());
}

// A harness on the sink pad of the first and the source pad of the last element: textoverlay has another pad for texts.
GstHarness *harness_around(const std::string &elements) {
  GstElement *bin = gst_parse_bin_from_description(
      ("identity name=first ! " + elements + " ! identity name=last").c_str(), FALSE, nullptr);
  for (const auto &[element, pad] : {std::pair{"first", "sink"}, std::pair{"last", "src"}}) {
    GstElement *end = gst_bin_get_by_name(GST_BIN(bin), element);
    GstPad *target = gst_element_get_static_pad(end, pad);
    gst_element_add_pad(bin, gst_ghost_pad_new(pad, target));
    gst_object_unref(target);
    gst_object_unref(end);
  }
  GstHarness *harness = gst_harness_new_with_element(bin, "sink", "src");
  gst_object_unref(bin);  // the harness has its own reference
  return harness;
}

void expect_same_value(float actual, float expected, const char *what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual;
  } else {
    EXPECT_EQ(actual, expected) << what;
  }
}

}  // namespace

Criticals::Criticals() : before_(g_log_set_default_handler(handle, this)) {}
Criticals::~Criticals() { g_log_set_default_handler(before_, nullptr); }

void Criticals::handle(const char *domain, GLogLevelFlags level, const char *message, gpointer self) {
  if ((level & G_LOG_LEVEL_CRITICAL) == 0) return g_log_default_handler(domain, level, message, nullptr);
  ++static_cast<Criticals *>(self)->count_;
  static_cast<Criticals *>(self)->last_ = message;
}

std::vector<gsize> dims_of(const GstCudaVisionTensorMeta *meta) {
  guint n_dims = 0;
  const gsize *dims = gst_cuda_vision_tensor_meta_get_dims(meta, &n_dims);
  return {dims, dims + n_dims};
}

Owned<GstBuffer> frame() {
  GstBuffer *buffer = gst_buffer_new_allocate(nullptr, kWidth * kHeight * 3, nullptr);
  gst_buffer_memset(buffer, 0, 0, gst_buffer_get_size(buffer));
  GST_BUFFER_PTS(buffer) = 0;
  return Owned<GstBuffer>(buffer);
}

std::vector<GstCudaVisionKeypoint> some_keypoints() {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  return {{0, 0, 1.5f, 0}, {10.25f, 20.5f, 3, 1.25f}, {319, 239, 0.5f, kNone}, {100, 7, -2, -3}};
}

std::vector<GstCudaVisionLine> some_lines() {
  const float diagonal = std::sqrt(0.5f), pi_4 = std::atan(1.f);
  return {{120, 0, 230, 120, 0, 120, 239},                   // vertical
          {50, std::acos(0.f), 100, 0, 50, 319, 50},         // horizontal
          {200 * diagonal, pi_4, 90, 0, 200, 200, 0},        // x + y = 200
          {-60 * diagonal, 3 * pi_4, 10, 60, 0, 299, 239}};  // x - y = 60
}

void attach_all(GstBuffer *buffer) {
  const gsize dims[] = {2, 3};
  GstCudaVisionTensorMeta *tensor = gst_cuda_vision_buffer_add_tensor_meta(
      buffer, "grid", GST_CUDA_VISION_ELEMENT_TYPE_U8, 2, dims, counted_numbers(kGrid));
  ASSERT_NE(tensor, nullptr);
  gst_cuda_vision_tensor_meta_set_geometry(tensor, kWidth, kHeight, 53, 59.5, 106.5, 120);
  tensor->is_drawn = TRUE;
  const auto keypoints = some_keypoints();
  ASSERT_NE(gst_cuda_vision_buffer_add_keypoints_meta(buffer, keypoints.data(), guint(keypoints.size())),
            nullptr);
  const auto lines = some_lines();
  ASSERT_NE(gst_cuda_vision_buffer_add_lines_meta(buffer, lines.data(), guint(lines.size())), nullptr);
}

Owned<GstBuffer> through(const std::string &elements, Owned<GstBuffer> buffer, GstCaps **caps_of_result) {
  if (!all_installed(elements)) return nullptr;
  GstHarness *harness = harness_around(elements);
  const std::string caps =
      "video/x-raw,format=RGB,framerate=30/1,pixel-aspect-ratio=1/1,width=" + std::to_string(kWidth) +
      ",height=" + std::to_string(kHeight);
  gst_harness_set_src_caps_str(harness, caps.c_str());
  EXPECT_EQ(gst_harness_push(harness, buffer.release()), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_eos()));
  Owned<GstBuffer> result(gst_harness_pull(harness));
  EXPECT_NE(result, nullptr) << elements;
  if (caps_of_result != nullptr) *caps_of_result = gst_pad_get_current_caps(harness->sinkpad);
  gst_harness_teardown(harness);
  return result;
}

void expect_near(const GstCudaVisionKeypoint &actual, const GstCudaVisionKeypoint &expected) {
  EXPECT_NEAR(actual.x, expected.x, 1e-4);
  EXPECT_NEAR(actual.y, expected.y, 1e-4);
  EXPECT_EQ(actual.response, expected.response);
  EXPECT_EQ(std::isnan(actual.angle), std::isnan(expected.angle));
  if (!std::isnan(expected.angle)) {
    EXPECT_NEAR(actual.angle, expected.angle, 1e-6);
  }
}

void expect_near(const GstCudaVisionLine &actual, const GstCudaVisionLine &expected) {
  EXPECT_NEAR(actual.rho, expected.rho, 1e-4);
  EXPECT_NEAR(actual.theta, expected.theta, 1e-6);
  EXPECT_EQ(actual.votes, expected.votes);
  EXPECT_NEAR(actual.x1, expected.x1, 1e-4);
  EXPECT_NEAR(actual.y1, expected.y1, 1e-4);
  EXPECT_NEAR(actual.x2, expected.x2, 1e-4);
  EXPECT_NEAR(actual.y2, expected.y2, 1e-4);
}

void expect_same(const GstCudaVisionKeypointsMeta *actual,
                 const std::vector<GstCudaVisionKeypoint> &expected) {
  ASSERT_NE(actual, nullptr);
  ASSERT_EQ(gst_cuda_vision_keypoints_meta_get_n(actual), expected.size());
  for (guint i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    GstCudaVisionKeypoint keypoint;
    ASSERT_TRUE(gst_cuda_vision_keypoints_meta_get_keypoint(actual, i, &keypoint));
    expect_same_value(keypoint.x, expected[i].x, "x");
    expect_same_value(keypoint.y, expected[i].y, "y");
    expect_same_value(keypoint.response, expected[i].response, "response");
    expect_same_value(keypoint.angle, expected[i].angle, "angle");
  }
}

void expect_same(const GstCudaVisionLinesMeta *actual, const std::vector<GstCudaVisionLine> &expected) {
  ASSERT_NE(actual, nullptr);
  ASSERT_EQ(gst_cuda_vision_lines_meta_get_n(actual), expected.size());
  for (guint i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    GstCudaVisionLine line;
    ASSERT_TRUE(gst_cuda_vision_lines_meta_get_line(actual, i, &line));
    expect_same_value(line.rho, expected[i].rho, "rho");
    expect_same_value(line.theta, expected[i].theta, "theta");
    EXPECT_EQ(line.votes, expected[i].votes);
    expect_same_value(line.x1, expected[i].x1, "x1");
    expect_same_value(line.y1, expected[i].y1, "y1");
    expect_same_value(line.x2, expected[i].x2, "x2");
    expect_same_value(line.y2, expected[i].y2, "y2");
  }
}

}  // namespace cudavision::test
