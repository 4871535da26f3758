// SPDX-License-Identifier: LGPL-2.1-or-later
// The model of cudalocalhist, its limits of memory, its messages and its costs on the GPU.
#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/elements/frame_budget.h"
#include "tests/elements/localhist_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::LocalHistParams;
using cudavision::Region;

class CudaLocalHistModel : public ElementTest {};
class CudaLocalHistMemory : public ElementTest {};

const std::string kDistance =
    "cudalocalhist reduce=distance feature=brightness bins=16 window-width=8 window-height=6 ";
const LocalHistParams kParams = brightness_params(16, {8, 6});
constexpr Region kRegion{10, 7, 12, 9};
const std::string kModelRegion =
    "model-region-x=10 model-region-y=7 model-region-width=12 model-region-height=9 ";

VideoFrame frame_of(unsigned seed) { return VideoFrame("NV12", {50, 31}, seed); }

std::vector<float> distances_in(const Owned<GstBuffer> &buffer) {
  const GstCudaVisionTensorMeta *meta = tensor_of(buffer, "local-histogram-distance");
  return meta == nullptr ? std::vector<float>() : elements_of<float>(meta);
}

// Expects the distances of the windows of `frame` to a model that was taken from a region of the frame `model_of`.
void expect_distances(const Owned<GstBuffer> &buffer, const VideoFrame &frame, const VideoFrame &model_of,
                      Region region = kRegion, Part part = {}) {
  const std::vector<float> actual = distances_in(buffer);
  const std::vector<float> expected =
      defined_map(luma_picture(frame, part), kParams,
                  defined_model(luma_picture(model_of, part), kParams, region))
          .distance;
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

// --- the model ---

TEST_F(CudaLocalHistModel, is_taken_from_the_first_frame_and_kept) {
  Harness local(kDistance + kModelRegion + "display=false");
  for (unsigned seed = 1; seed < 4; ++seed)
    expect_distances(buffer_from(&local, frame_of(seed)), frame_of(seed), frame_of(1));
}

TEST_F(CudaLocalHistModel, without_a_size_reaches_to_the_end) {
  Harness local(kDistance + "display=false");
  expect_distances(buffer_from(&local, frame_of(1)), frame_of(1), frame_of(1), {0, 0, 50, 31});
  g_object_set(local.element(), "model-region-x", 20, nullptr);
  expect_distances(buffer_from(&local, frame_of(2)), frame_of(2), frame_of(2), {20, 0, 30, 31});
}

TEST_F(CudaLocalHistModel, is_taken_again_whenever_its_region_is_set_even_to_the_same_place) {
  Harness local(kDistance + kModelRegion + "display=false");
  buffer_from(&local, frame_of(1));
  expect_distances(buffer_from(&local, frame_of(2)), frame_of(2), frame_of(1));
  g_object_set(local.element(), "model-region-x", 10, nullptr);
  expect_distances(buffer_from(&local, frame_of(3)), frame_of(3), frame_of(3));
  g_object_set(local.element(), "model-region-width", 3, nullptr);
  expect_distances(buffer_from(&local, frame_of(4)), frame_of(4), frame_of(4), {10, 7, 3, 9});
}

TEST_F(CudaLocalHistModel, survives_other_windows_but_not_other_bins) {
  Harness local(kDistance + kModelRegion + "display=false");
  buffer_from(&local, frame_of(1));
  g_object_set(local.element(), "window-width", 5, nullptr);
  buffer_from(&local, frame_of(2));
  g_object_set(local.element(), "window-width", 8, nullptr);
  expect_distances(buffer_from(&local, frame_of(3)), frame_of(3), frame_of(1));
  g_object_set(local.element(), "bins", 8, nullptr);
  buffer_from(&local, frame_of(4));
  g_object_set(local.element(), "bins", 16, nullptr);
  expect_distances(buffer_from(&local, frame_of(5)), frame_of(5), frame_of(5));
}

TEST_F(CudaLocalHistModel, region_is_of_the_frame_and_clipped_to_what_is_analysed) {
  Harness local(kDistance + kModelRegion + "display=false roi-x=14 roi-y=2 roi-width=30 roi-height=12");
  expect_distances(buffer_from(&local, frame_of(1)), frame_of(1), frame_of(1), {0, 5, 8, 7}, {14, 2, 30, 12});
}

TEST_F(CudaLocalHistModel, outside_warns_once_and_the_last_one_stays) {
  Harness local(kDistance + kModelRegion + "display=false");
  buffer_from(&local, frame_of(1));
  g_object_set(local.element(), "model-region-x", 50, nullptr);
  for (unsigned seed = 2; seed < 5; ++seed)
    expect_distances(buffer_from(&local, frame_of(seed)), frame_of(seed), frame_of(1));
  EXPECT_TRUE(is(take_warning(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "model-region-x and model-region-y (50, 7)"));
  EXPECT_FALSE(take_warning(local.element()));
  g_object_set(local.element(), "model-region-x", 10, nullptr);
  expect_distances(buffer_from(&local, frame_of(6)), frame_of(6), frame_of(6));
  EXPECT_FALSE(take_warning(local.element()));
}

TEST_F(CudaLocalHistModel, outside_from_the_start_leaves_frames_as_they_are) {
  Harness local(kDistance + "model-region-x=60");
  for (int i = 0; i < 2; ++i) {
    const Owned<GstBuffer> out = buffer_from(&local, frame_of(1));
    EXPECT_EQ(tensor_count(out), 0);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), frame_of(1)));
  }
  EXPECT_TRUE(is(take_warning(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "there is no model"));
  EXPECT_FALSE(take_warning(local.element()));
}

TEST_F(CudaLocalHistModel, display_paints_windows_that_resemble_it_bright) {
  for (const char *format : {"RGB", "BGRA", "GRAY8"}) {
    Harness local(kDistance + kModelRegion);
    const VideoFrame frame(format, {50, 31}, 7);
    const Owned<GstBuffer> out = buffer_from(&local, frame);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_heat(frame, kParams, distances_in(out), 2, 0)));
  }
}

// --- messages ---

TEST_F(CudaLocalHistModel, message_says_where_the_least_distance_is) {
  Harness local(kDistance +
                "message=true display=false stride-x=2 stride-y=3 model-region-x=18 model-region-y=10 "
                "model-region-width=8 model-region-height=6 roi-x=4 roi-y=1");
  buffer_from(&local, frame_of(1));
  const Owned<GstMessage> message = take_message(local.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  const GstStructure *s = gst_message_get_structure(message.get());
  guint64 windows = 0;
  gint x = 0, y = 0;
  gdouble least = -1;
  EXPECT_TRUE(gst_structure_get_uint64(s, "windows", &windows));
  EXPECT_EQ(windows, 20u * 9u);
  EXPECT_TRUE(gst_structure_get(s, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "least-distance", G_TYPE_DOUBLE,
                                &least, nullptr));
  EXPECT_EQ(x, 18);
  EXPECT_EQ(y, 10);
  EXPECT_EQ(least, 0);
}

TEST_F(CudaLocalHistModel, message_of_histograms_counts_windows_alone) {
  Harness local("cudalocalhist message=true");
  buffer_from(&local, frame_of(1));
  const Owned<GstMessage> message = take_message(local.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  guint64 windows = 0;
  EXPECT_TRUE(gst_structure_get_uint64(gst_message_get_structure(message.get()), "windows", &windows));
  EXPECT_EQ(windows, 35u * 16u);
  EXPECT_FALSE(gst_structure_has_field(gst_message_get_structure(message.get()), "x"));
}

// --- memory ---

TEST_F(CudaLocalHistMemory, maps_of_gigabytes_are_refused_with_their_size_and_nothing_is_allocated) {
  simt::set_memory_limit(std::size_t{64} << 20);  // enough for the frame and its luma, but not for the map
  const VideoFrame frame("GRAY8", {3840, 2160}, 1);
  Harness local("cudalocalhist feature=brightness bins=256 window-width=257 window-height=256 display=false");
  local.negotiate(frame);
  EXPECT_EQ(local.push(frame.buffer()), GST_FLOW_NOT_NEGOTIATED);
  // 3584 x 1905 windows of 256 counts of 4 bytes
  EXPECT_TRUE(is(take_error(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 std::to_string(3584ull * 1905 * 256 * 4) + " bytes for a tensor"));
  EXPECT_LT(simt::live_bytes(), std::size_t{64} << 20);
}

TEST_F(CudaLocalHistMemory, too_much_in_playing_is_an_error) {
  Harness local("cudalocalhist display=false n-threads=1");
  const VideoFrame frame("GRAY8", {40, 30}, 3);
  buffer_from(&local, frame);
  set(local.element(), "max-memory", "1000");
  EXPECT_EQ(local.exchange(frame.buffer(), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(
      is(take_error(local.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "max-memory"));
}

// --- costs on the GPU ---

TEST_F(CudaLocalHistMemory, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    FrameBudget budget;
  } cases[] = {
      {"display=false", "NV12", {2, 1, 0}},
      {"display=false", "BGRx", {3, 1, 0}},  // one more for the luma
      {"display=false feature=brightness", "NV12", {1, 1, 0}},
      {"display=false reduce=argmax", "NV12", {2, 1, 0}},
      {"display=false reduce=distance", "NV12", {2, 1, 0}},
      {"display=false reduce=distance message=true", "NV12", {2, 1, 1}},
      {"reduce=argmax", "NV12", {3, 2, 2}},
      {"reduce=none", "NV12", {5, 2, 2}},  // histograms, dominant bins, and the painting
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness local(std::string("cudalocalhist ") + c.description);
    expect_budget(&local, VideoFrame(c.format, {66, 34}), c.budget);
  }
}

}  // namespace
