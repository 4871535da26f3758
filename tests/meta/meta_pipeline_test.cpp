// SPDX-License-Identifier: LGPL-2.1-or-later
// Metas that pass through GStreamer's own elements: which survive, how coordinates change, what is copied.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <atomic>
#include <cmath>
#include <numbers>
#include <span>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

using std::numbers::pi;

class MetaPipeline : public testing::Test {
 protected:
  void SetUp() override { memory_counts().reset(); }
  // Threads of a pipeline may release its elements, and the elements their last frame, shortly after NULL is reached.
  void TearDown() override {
    for (int waited_ms = 0; memory_counts().alive != 0 && waited_ms < 5000; ++waited_ms) g_usleep(1000);
    EXPECT_EQ(memory_counts().alive, 0);
  }

  static Owned<GstBuffer> frame_with_all() {
    Owned<GstBuffer> buffer = frame();
    attach_all(buffer.get());
    return buffer;
  }
};

// Expects the tensor as it was attached, with its numbers not read on the way.
void expect_grid(const Owned<GstBuffer> &buffer) {
  EXPECT_EQ(memory_counts().maps + memory_counts().copies, 0);
  const auto *grid = gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "grid");
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(dims_of(grid), (std::vector<gsize>{2, 3}));
  EXPECT_EQ(values_of<guint8>(grid), kGrid);
  EXPECT_EQ(grid->frame_width, guint(kWidth));
  EXPECT_EQ(grid->frame_height, guint(kHeight));
  EXPECT_EQ(grid->origin_x, 53);
  EXPECT_EQ(grid->origin_y, 59.5);
  EXPECT_EQ(grid->step_x, 106.5);
  EXPECT_EQ(grid->step_y, 120);
}

void expect_untouched(const Owned<GstBuffer> &buffer) {
  expect_grid(buffer);
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(buffer.get()), some_keypoints());
  expect_same(gst_cuda_vision_buffer_get_lines_meta(buffer.get()), some_lines());
}

#define THROUGH_OR_SKIP(buffer, elements)                              \
  const Owned<GstBuffer> buffer = through(elements, frame_with_all()); \
  if (buffer == nullptr) GTEST_SKIP() << "not installed: " << (elements)

TEST_F(MetaPipeline, identity_and_queue_pass_them_on) {
  THROUGH_OR_SKIP(out, "identity ! queue ! identity");
  expect_untouched(out);
}

TEST_F(MetaPipeline, videorate_passes_them_on) {
  THROUGH_OR_SKIP(out, "videorate");
  expect_untouched(out);
}

TEST_F(MetaPipeline, videoconvert_passes_the_tensor_on) {
  THROUGH_OR_SKIP(out, "videoconvert ! capsfilter caps=video/x-raw,format=I420");
  expect_grid(out);
}

// GStreamer 1.22's videoconvert also scales, and asks for SCALE by 1.
TEST_F(MetaPipeline, videoconvert_passes_coordinates_on) {
  THROUGH_OR_SKIP(out, "videoconvert ! capsfilter caps=video/x-raw,format=I420");
  expect_same(gst_cuda_vision_buffer_get_keypoints_meta(out.get()), some_keypoints());
  expect_same(gst_cuda_vision_buffer_get_lines_meta(out.get()), some_lines());
}

TEST_F(MetaPipeline, an_element_that_writes_on_the_frame_keeps_them) {
  THROUGH_OR_SKIP(out, "videobalance saturation=0.5");
  expect_untouched(out);
}

// A direct implementation of the definition.
GstCudaVisionKeypoint scaled(GstCudaVisionKeypoint k, double sx, double sy) {
  k.x = float(k.x * sx);
  k.y = float(k.y * sy);
  k.angle = float(std::atan2(std::sin(k.angle) / sy, std::cos(k.angle) / sx));
  return k;
}
GstCudaVisionLine scaled(GstCudaVisionLine l, double sx, double sy) {
  const double nx = std::cos(l.theta) / sx, ny = std::sin(l.theta) / sy;
  l.rho = float(l.rho / std::hypot(nx, ny));
  l.theta = float(std::atan2(ny, nx));
  l.x1 = float(l.x1 * sx);
  l.x2 = float(l.x2 * sx);
  l.y1 = float(l.y1 * sy);
  l.y2 = float(l.y2 * sy);
  return l;
}

void expect_scaled(const Owned<GstBuffer> &buffer, double sx, double sy) {
  expect_grid(buffer);
  guint n = 0;
  const auto *keypoints_meta = gst_cuda_vision_buffer_get_keypoints_meta(buffer.get());
  ASSERT_NE(keypoints_meta, nullptr);
  const GstCudaVisionKeypoint *keypoints = gst_cuda_vision_keypoints_meta_get_keypoints(keypoints_meta, &n);
  ASSERT_EQ(n, some_keypoints().size());
  for (guint i = 0; i < n; ++i) expect_near(keypoints[i], scaled(some_keypoints()[i], sx, sy));
  const auto *lines_meta = gst_cuda_vision_buffer_get_lines_meta(buffer.get());
  ASSERT_NE(lines_meta, nullptr);
  const GstCudaVisionLine *lines = gst_cuda_vision_lines_meta_get_lines(lines_meta, &n);
  ASSERT_EQ(n, some_lines().size());
  for (guint i = 0; i < n; ++i) {
    expect_near(lines[i], scaled(some_lines()[i], sx, sy));
    for (const auto &[x, y] : {std::pair(lines[i].x1, lines[i].y1), std::pair(lines[i].x2, lines[i].y2)})
      EXPECT_NEAR(x * std::cos(lines[i].theta) + y * std::sin(lines[i].theta), lines[i].rho, 1e-3);
  }
}

constexpr bool kMetasSeeBorders =
    GST_CHECK_VERSION(1, 28, 0);  // the elements then tell where the picture lies

std::string videoscale(int width, int height) {
  return "videoscale add-borders=false ! capsfilter caps=video/x-raw,pixel-aspect-ratio=1/1,width=" +
         std::to_string(width) + ",height=" + std::to_string(height);
}

TEST_F(MetaPipeline, videoscale_scales_the_coordinates) {
  // In the fourth size the height is rounded to whole pixels. The last two stretch the picture.
  const int sizes[][2] = {{160, 120}, {640, 480}, {32, 24}, {333, 250}, {100, 200}, {333, 77}};
  for (const auto &[width, height] : std::span(sizes).first(kMetasSeeBorders ? 6 : 4)) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    memory_counts().reset();
    THROUGH_OR_SKIP(out, videoscale(width, height));
    expect_scaled(out, width / double(kWidth), height / double(kHeight));
  }
}

TEST_F(MetaPipeline, scaled_there_and_back_is_where_it_was) {
  THROUGH_OR_SKIP(out, videoscale(kMetasSeeBorders ? 123 : 160, kMetasSeeBorders ? 457 : 120) + " ! " +
                           videoscale(kWidth, kHeight));
  expect_scaled(out, 1, 1);
}

TEST_F(MetaPipeline, tee_shares_and_copies_nothing) {
  GstElement *pipeline = gst_parse_launch(
      "appsrc name=src format=time caps=video/x-raw,format=RGB,width=320,height=240,framerate=30/1 ! tee "
      "name=t "
      "t. ! queue ! appsink name=plain sync=false "
      "t. ! queue ! videoconvert ! video/x-raw,format=I420 ! appsink name=converted sync=false",
      nullptr);
  ASSERT_NE(pipeline, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstElement *src = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  gst_app_src_push_buffer(GST_APP_SRC(src), frame_with_all().release());
  gst_app_src_end_of_stream(GST_APP_SRC(src));
  gst_object_unref(src);

  const GstBuffer *data = nullptr;
  for (const char *name : {"plain", "converted"}) {
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
    GstSample *sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 600 * GST_SECOND);
    gst_object_unref(sink);
    ASSERT_NE(sample, nullptr) << name;
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    const auto *grid = gst_cuda_vision_buffer_get_tensor_meta(buffer, "grid");
    ASSERT_NE(grid, nullptr) << name;
    if (data != nullptr) {
      EXPECT_EQ(grid->data, data);
    }
    data = grid->data;
    expect_same(gst_cuda_vision_buffer_get_keypoints_meta(buffer), some_keypoints());
    expect_same(gst_cuda_vision_buffer_get_lines_meta(buffer), some_lines());
    gst_sample_unref(sample);
  }
  EXPECT_EQ(memory_counts().maps + memory_counts().copies, 0);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

TEST_F(MetaPipeline, scaling_from_a_frame_without_size_is_refused) {
  const Owned<GstBuffer> buffer = frame_with_all(), other = frame();
  GstVideoInfo none, some;
  gst_video_info_init(&none);
  gst_video_info_set_format(&some, GST_VIDEO_FORMAT_RGB, 10, 10);
  GstVideoMetaTransform transform{&none, &some};
  GstMeta *meta = &gst_cuda_vision_buffer_get_lines_meta(buffer.get())->meta;
  EXPECT_FALSE(meta->info->transform_func(other.get(), meta, buffer.get(),
                                          gst_video_meta_transform_scale_get_quark(), &transform));
}

// Asks all metas of a frame to follow a scaling, and counts those that do.
int followers_of_scaling(const GstVideoInfo &in, const GstVideoInfo &out) {
  const Owned<GstBuffer> from = frame(), to = frame();
  attach_all(from.get());
  GstVideoMetaTransform scaling{const_cast<GstVideoInfo *>(&in), const_cast<GstVideoInfo *>(&out)};
  gpointer state = nullptr;
  int followers = 0;
  while (GstMeta *meta = gst_buffer_iterate_meta(from.get(), &state))
    followers += meta->info->transform_func(to.get(), meta, from.get(),
                                            gst_video_meta_transform_scale_get_quark(), &scaling) != FALSE;
  return followers;
}

GstVideoInfo info_of(int width, int height, int par_n = 1, int par_d = 1) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, guint(width), guint(height));
  info.par_n = par_n, info.par_d = par_d;
  return info;
}

TEST_F(MetaPipeline, scaling_with_another_display_aspect_ratio_drops_all) {
  const GstVideoInfo wide = info_of(320, 240);
  EXPECT_EQ(followers_of_scaling(wide, wide), 3);
  EXPECT_EQ(followers_of_scaling(wide, info_of(640, 480)), 3);
  EXPECT_EQ(followers_of_scaling(wide, info_of(640, 240, 1, 2)), 3);  // narrow pixels
  EXPECT_EQ(followers_of_scaling(info_of(720, 576, 16, 15), info_of(768, 576)), 3);
  EXPECT_EQ(followers_of_scaling(info_of(1920, 1080), info_of(500, 281)), 3);  // 281.25, rounded
  EXPECT_EQ(followers_of_scaling(info_of(1366, 768), info_of(640, 360)), 3);   // 359.8, rounded
  EXPECT_EQ(followers_of_scaling(wide, info_of(640, 240)), 0);
  EXPECT_EQ(followers_of_scaling(wide, info_of(320, 480)), 0);
  EXPECT_EQ(followers_of_scaling(wide, info_of(320, 240, 2, 1)), 0);  // wide pixels, the same size
  EXPECT_EQ(followers_of_scaling(wide, info_of(320, 242)), 0);
  EXPECT_EQ(followers_of_scaling(wide, info_of(320, 240, 0, 1)), 0);
}

// Counts the warnings of the whole program.
class MetaWarnings : public testing::Environment {
 public:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    gst_debug_set_threshold_for_name("cudavisionmeta", GST_LEVEL_WARNING);
    gst_debug_add_log_function(add, this, nullptr);
  }
  void TearDown() override { gst_debug_remove_log_function(add); }
  int count() const { return count_; }

 private:
  static void add(GstDebugCategory *category, GstDebugLevel, const char *, const char *, int, GObject *,
                  GstDebugMessage *, gpointer self) {
    if (g_str_equal(gst_debug_category_get_name(category), "cudavisionmeta"))
      ++static_cast<MetaWarnings *>(self)->count_;
  }
  std::atomic<int> count_ = 0;
};
const auto *const kMetaWarnings =
    static_cast<MetaWarnings *>(testing::AddGlobalTestEnvironment(new MetaWarnings));

TEST_F(MetaPipeline, results_that_are_dropped_for_borders_are_warned_of_once) {
  for (const int width : {640, 200, 640}) followers_of_scaling(info_of(320, 240), info_of(width, 240));
  EXPECT_EQ(kMetaWarnings->count(), 1);
}

#if GST_CHECK_VERSION(1, 28, 0)
void expect_place(const GstCudaVisionTensorMeta *tensor, guint width, guint height, double x, double y) {
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->frame_width, width);
  EXPECT_EQ(tensor->frame_height, height);
  EXPECT_NEAR(tensor->origin_x, x, 1e-9);
  EXPECT_NEAR(tensor->origin_y, y, 1e-9);
  EXPECT_EQ(tensor->step_x, 106.5);
  EXPECT_EQ(tensor->step_y, 120);
}

TEST_F(MetaPipeline, videocrop_moves_and_drops) {
  THROUGH_OR_SKIP(out, "videocrop left=100 top=5 right=20 bottom=35");  // leaves 200 x 200
  expect_place(gst_cuda_vision_buffer_get_tensor_meta(out.get(), "grid"), 200, 200, 53 - 100, 59.5 - 5);
  const auto *keypoints = gst_cuda_vision_buffer_get_keypoints_meta(out.get());
  ASSERT_NE(keypoints, nullptr);
  ASSERT_EQ(gst_cuda_vision_keypoints_meta_get_n(keypoints), 1u);
  GstCudaVisionKeypoint keypoint;
  gst_cuda_vision_keypoints_meta_get_keypoint(keypoints, 0, &keypoint);
  expect_near(keypoint, {0, 2, -2, -3});

  const float diagonal = std::sqrt(0.5f), pi_4 = float(pi / 4), pi_2 = float(pi / 2);
  const std::vector<GstCudaVisionLine> expected{{20, 0, 230, 20, 0, 20, 199},
                                                {45, pi_2, 100, 0, 45, 199, 45},
                                                {95 * diagonal, pi_4, 90, 0, 95, 95, 0},
                                                {45 * diagonal, 3 * pi_4, 10, 0, 35, 164, 199}};
  guint n = 0;
  const GstCudaVisionLine *lines =
      gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(out.get()), &n);
  ASSERT_EQ(n, expected.size());
  for (guint i = 0; i < 3; ++i) expect_near(lines[i], expected[i]);
  // In the new frame, x - y = 60 is (x + 100) - (y + 5) = 60.
  EXPECT_NEAR(lines[3].x1 + 100 - (lines[3].y1 + 5), 60, 1e-3);
  EXPECT_NEAR(lines[3].x1, 0, 1e-4);
  EXPECT_NEAR(lines[3].y2, 199, 1e-4);
}

TEST_F(MetaPipeline, videoflip_turns) {
  THROUGH_OR_SKIP(out, "videoflip method=clockwise");  // maps (x, y) to (239 - y, x)
  EXPECT_EQ(gst_cuda_vision_buffer_get_tensor_meta(out.get(), "grid"), nullptr);
  guint n = 0;
  const GstCudaVisionKeypoint *keypoints =
      gst_cuda_vision_keypoints_meta_get_keypoints(gst_cuda_vision_buffer_get_keypoints_meta(out.get()), &n);
  ASSERT_EQ(n, 4u);
  expect_near(keypoints[0], {239, 0, 1.5f, float(pi / 2)});
  expect_near(keypoints[1], {218.5f, 10.25f, 3, float(1.25 + pi / 2)});
  expect_near(keypoints[3], {232, 100, -2, float(-3 + pi / 2)});
  const GstCudaVisionLine *lines =
      gst_cuda_vision_lines_meta_get_lines(gst_cuda_vision_buffer_get_lines_meta(out.get()), &n);
  ASSERT_EQ(n, 4u);
  expect_near(lines[0], {120, float(pi / 2), 230, 0, 120, 239, 120});
  expect_near(lines[1], {189, 0, 100, 189, 0, 189, 319});
}

TEST_F(MetaPipeline, borders_move_the_coordinates) {
  THROUGH_OR_SKIP(out,
                  "videoscale add-borders=true ! capsfilter "
                  "caps=video/x-raw,pixel-aspect-ratio=1/1,width=640,height=640");
  // Twice as large, with borders of 80 pixels, which are 40 pixels of the frame that the tensor was computed from.
  expect_place(gst_cuda_vision_buffer_get_tensor_meta(out.get(), "grid"), 320, 320, 53, 59.5 + 40);
  GstCudaVisionKeypoint keypoint;
  ASSERT_TRUE(gst_cuda_vision_keypoints_meta_get_keypoint(
      gst_cuda_vision_buffer_get_keypoints_meta(out.get()), 1, &keypoint));
  expect_near(keypoint, {20.5f, 41 + 80, 3, 1.25f});
}
#endif

}  // namespace
}  // namespace cudavision::test
