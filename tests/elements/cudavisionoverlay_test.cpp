// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisionoverlay: what one element has found looks as if that element had drawn it; labels, tracks, metas of others.
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cuda/draw/text.h"
#include "gst/visionoverlay/trails.h"
#include "tests/elements/hog_reference.h"
#include "tests/elements/inpaint_reference.h"

#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace {

using namespace cudavision::test;
using cudavision::append_text;
using cudavision::make_primitive;
using cudavision::Primitive;
using cudavision::Size;
using cudavision::text_width;

class CudaVisionOverlay : public ElementTest {};
class CudaVisionOverlayFormat : public ElementTest, public testing::WithParamInterface<const char *> {};
INSTANTIATE_TEST_SUITE_P(, CudaVisionOverlayFormat,
                         testing::Values("GRAY8", "NV12", "I420", "YUY2", "RGB", "BGRA"));

// The frame that comes out of these elements.
std::vector<std::uint8_t> shown(const std::string &elements, const VideoFrame &frame) {
  return through(parse("appsrc name=in format=time ! " + elements + " ! appsink name=out sync=false"), frame);
}

// --- as the elements themselves ---

testing::AssertionResult looks_the_same(const std::string &element, const VideoFrame &frame,
                                        const std::string &overlay = {}) {
  const std::string on_backend = " backend=" + backend();
  const std::vector<std::uint8_t> own = shown(element + on_backend, frame),
                                  drawn = shown(element + on_backend + " display=false ! cudavisionoverlay " +
                                                    overlay + on_backend,
                                                frame);
  if (own == frame.bytes()) return testing::AssertionFailure() << element << " draws nothing";
  VideoFrame expected = frame;
  expected.bytes() = own;
  return same_bytes(drawn, expected);
}

TEST_P(CudaVisionOverlayFormat, keypoints_and_lines_look_the_same) {
  unsigned seed = 1;
  for (const Size size : {Size{61, 47}, Size{120, 90}}) {
    const VideoFrame frame(GetParam(), size, seed++);
    EXPECT_TRUE(looks_the_same("cudasigma2kp tau=1", frame));
    EXPECT_TRUE(looks_the_same("cudasigma2kp tau=1 window=4 orientation=true min-contrast=3", frame,
                               "min-contrast=3"));
    EXPECT_TRUE(
        looks_the_same("cudasigma2kp tau=1 window=3 cell=4 orientation=true min-contrast=1 line-width=2 "
                       "point-size=3 color=blue",
                       frame, "min-contrast=1 line-width=2 point-size=3 keypoint-color=blue"));
    EXPECT_TRUE(looks_the_same("cudahough threshold=15", frame));
    EXPECT_TRUE(looks_the_same("cudahough threshold=15 color=0x80ff0000 line-width=3 max-drawn=4", frame,
                               "line-color=0x80ff0000 line-width=3 max-drawn=4"));
    EXPECT_TRUE(looks_the_same("cudahough mode=segments threshold=10", frame));
  }
}

TEST_P(CudaVisionOverlayFormat, boxes_and_labels_look_the_same) {
  const ModelFile model("model.yml");
  const VideoFrame frame(GetParam(), {90, 70}, 31);
  const std::string hog = "cudahog win-stride=4 group-threshold=1 model-location=" + model.location();
  EXPECT_TRUE(looks_the_same(hog, frame));
  EXPECT_TRUE(looks_the_same(hog + " draw-labels=false color=navy line-width=4", frame,
                             "draw-labels=false color=navy line-width=4"));
  EXPECT_TRUE(looks_the_same(hog + " label=dog roi-x=7 roi-y=5 roi-width=70 roi-height=61", frame,
                             "roi-x=7 roi-y=5 roi-width=70 roi-height=61"));
}

// --- regions ---

struct Region {
  guint x, y, width, height;
  const char *type = "car";
  double score = NAN;
  guint64 track = 0;
};

Owned<GstBuffer> with_regions(const VideoFrame &frame, const std::vector<Region> &regions) {
  Owned<GstBuffer> buffer = frame.buffer();
  for (const Region &r : regions) {
    GstVideoRegionOfInterestMeta *meta =
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), r.type, r.x, r.y, r.width, r.height);
    if (!std::isnan(r.score))
      gst_video_region_of_interest_meta_add_param(
          meta, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, r.score, nullptr));
    if (r.track != 0)
      gst_video_region_of_interest_meta_add_param(
          meta, gst_structure_new("tracking", "id", G_TYPE_UINT64, r.track, nullptr));
  }
  return buffer;
}

std::vector<std::uint8_t> drawn(Harness *overlay, const VideoFrame &frame, Owned<GstBuffer> buffer) {
  overlay->negotiate(frame);
  const Owned<GstBuffer> out = overlay->exchange(std::move(buffer));
  return bytes_of(out.get());
}

// The count of the last message.
gint regions_in_message(const Harness &overlay) {
  gint regions = -1;
  while (const Owned<GstMessage> message = take_message(overlay.element(), GST_MESSAGE_ELEMENT))
    EXPECT_TRUE(gst_structure_get_int(gst_message_get_structure(message.get()), "regions", &regions));
  return regions;
}

// A box with a text above its corner.
void append_box(std::vector<Primitive> *outlines, std::vector<Primitive> *labels, const VideoFrame &frame,
                const Region &r, const std::string &text, guint32 argb, guint32 text_argb) {
  const int x = static_cast<int>(r.x), y = static_cast<int>(r.y);
  outlines->push_back(make_primitive(Primitive::Kind::rectangle, 1, color_in(frame, argb), x, y,
                                     x + static_cast<int>(r.width) - 1, y + static_cast<int>(r.height) - 1));
  append_text(labels, text, x + 1, y - 8,
              {.scale = 1, .color = color_in(frame, text_argb), .background = color_in(frame, argb)});
}

TEST_F(CudaVisionOverlay, label_has_what_is_known) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay");
  const struct {
    Region region;
    const char *text;
    guint32 color;  // the colour of a track: ids go on by 5 of 12 hues
  } cases[] = {{{20, 30, 40, 50}, "car", 0xff00ff00},
               {{20, 30, 40, 50, "car", 0.5}, "car 0.50", 0xff00ff00},
               {{20, 30, 40, 50, "car", 0.5, 12}, "car #12 0.50", 0xffff0000},
               {{20, 30, 40, 50, "car", NAN, 1}, "car #1", 0xff00ff80},
               {{20, 30, 40, 50, "", -1.25, 7}, "#7 -1.25", 0xffff0080},
               {{20, 30, 40, 50, "car", std::numeric_limits<float>::infinity()}, "car", 0xff00ff00},
               {{20, 30, 40, 50, "Größe é", 0.5}, "Grosse e 0.50", 0xff00ff00},
               {{20, 30, 40, 50, "行人 a"}, "?? a", 0xff00ff00}};
  for (const auto &c : cases) {
    const std::vector<std::uint8_t> bytes = drawn(&overlay, frame, with_regions(frame, {c.region}));
    std::vector<Primitive> outlines, labels;
    const bool bright = (c.color >> 8 & 255) != 0;
    append_box(&outlines, &labels, frame, c.region, c.text, c.color, bright ? 0xff000000 : 0xffffffff);
    outlines.insert(outlines.end(), labels.begin(), labels.end());
    EXPECT_TRUE(same_bytes(bytes, with_primitives(frame, outlines))) << c.text;
  }
}

TEST_F(CudaVisionOverlay, tracks_have_one_color_on_request) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay color-by-track=false draw-labels=false");
  std::vector<Primitive> outlines, labels;
  append_box(&outlines, &labels, frame, {20, 30, 40, 50}, "", 0xff00ff00, 0);
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {{20, 30, 40, 50, "car", 1, 5}})),
                         with_primitives(frame, outlines)));
}

// The outlines of all boxes come first, so that no label is crossed out.
TEST_F(CudaVisionOverlay, labels_lie_on_top) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay");
  const Region first{20, 30, 60, 50}, second{30, 10, 60, 40, "bus"};
  std::vector<Primitive> outlines, labels;
  append_box(&outlines, &labels, frame, first, "car", 0xff00ff00, 0xff000000);
  append_box(&outlines, &labels, frame, second, "bus", 0xff00ff00, 0xff000000);
  outlines.insert(outlines.end(), labels.begin(), labels.end());
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {first, second})),
                         with_primitives(frame, outlines)));
}

// Equal boxes: the label of the second one lies at their right, and that of the third one inside.
TEST_F(CudaVisionOverlay, labels_do_not_cover_one_another) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay");
  const Region region{20, 30, 60, 50};
  std::vector<Primitive> primitives, label;
  for (int i = 0; i < 3; ++i) append_box(&primitives, &label, frame, region, "", 0xff00ff00, 0);
  for (const auto &[x, y] : {std::pair{21, 22}, std::pair{80 - 19 + 1, 22}, std::pair{21, 32}})
    append_text(
        &primitives, "car", x, y,
        {.scale = 1, .color = color_in(frame, 0xff000000), .background = color_in(frame, 0xff00ff00)});
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {region, region, region})),
                         with_primitives(frame, primitives)));
}

TEST_F(CudaVisionOverlay, labels_have_the_size_and_opacity_that_are_set) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay text-size=14 label-opacity=0.5 color=0x80ff0000");
  const Region region{20, 30, 60, 50};
  std::vector<Primitive> primitives;
  append_box(&primitives, &primitives, frame, region, "", 0x80ff0000, 0);
  append_text(&primitives, "car", 22, 30 - 18 + 2,
              {.scale = 2, .color = color_in(frame, 0xffffffff), .background = color_in(frame, 0x40ff0000)});
  EXPECT_TRUE(
      same_bytes(drawn(&overlay, frame, with_regions(frame, {region})), with_primitives(frame, primitives)));
}

TEST_F(CudaVisionOverlay, types_are_shown_and_hidden) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  const Region car{20, 30, 30, 20}, bus{60, 30, 30, 20, "bus"}, dog{100, 30, 30, 20, "a dog"},
      none{140, 30, 30, 20, ""};
  const struct {
    const char *properties;
    std::vector<Region> seen;
  } cases[] = {{"", {car, bus, dog, none}},
               {"show=\" \"", {car, bus, dog, none}},
               {"show=car", {car}},
               {"show=\" a dog ,, bus\"", {bus, dog}},
               {"hide=\"car,bus\"", {dog, none}},
               {"show=\"car,bus\" hide=bus", {car}},
               {"show=nothing", {}}};
  Harness plain("cudavisionoverlay");
  for (const auto &c : cases) {
    Harness overlay(std::string("cudavisionoverlay message=true ") + c.properties);
    VideoFrame expected = frame;
    expected.bytes() = drawn(&plain, frame, with_regions(frame, c.seen));
    EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {car, bus, dog, none})), expected))
        << c.properties;
    EXPECT_EQ(regions_in_message(overlay), static_cast<gint>(c.seen.size())) << c.properties;
  }
}

// --- trails ---

class CudaVisionOverlayTrail : public CudaVisionOverlay {
 protected:
  static constexpr const char *kElement = "cudavisionoverlay trail=1 draw-labels=false color-by-track=false";
  struct Step {
    int from, to;
    guint32 argb;
  };

  // Whether the frame at this time shows these steps of the trail and, if x is not negative, the box of a track with
  // the middle of its lower edge at (x, 40).
  testing::AssertionResult shows(Harness *overlay, GstClockTime time, int x,
                                 const std::vector<Step> &steps) const {
    std::vector<Primitive> primitives;
    for (const Step &step : steps)
      primitives.push_back(
          make_primitive(Primitive::Kind::line, 1, color_in(frame_, step.argb), step.from, 40, step.to, 40));
    std::vector<Region> regions;
    if (x >= 0) regions = {{static_cast<guint>(x) - 5, 20, 10, 20, "car", NAN, 7}};
    for (const Region &region : regions)
      append_box(&primitives, &primitives, frame_, region, "", 0xff00ff00, 0);
    Owned<GstBuffer> buffer = with_regions(frame_, regions);
    GST_BUFFER_PTS(buffer.get()) = time;
    return same_bytes(drawn(overlay, frame_, std::move(buffer)), with_primitives(frame_, primitives));
  }

  const VideoFrame frame_{"RGB", {100, 48}, 3};
};

TEST_F(CudaVisionOverlayTrail, follows_a_track_and_fades) {
  constexpr GstClockTime kTenth = GST_SECOND / 10;
  Harness overlay(kElement);
  EXPECT_TRUE(shows(&overlay, 0, 50, {}));
  EXPECT_TRUE(shows(&overlay, 2 * kTenth, 60, {{50, 60, 0xff00ff00}}));
  EXPECT_TRUE(shows(&overlay, 4 * kTenth, 70, {{50, 60, 0xcc00ff00}, {60, 70, 0xff00ff00}}));
  // The way of a track that is lost is seen until it is too old.
  EXPECT_TRUE(shows(&overlay, 9 * kTenth, -1, {{50, 60, 0x4d00ff00}, {60, 70, 0x8000ff00}}));
  EXPECT_TRUE(shows(&overlay, 11 * kTenth, -1, {{60, 70, 0x4d00ff00}}));
  EXPECT_TRUE(shows(&overlay, 12 * kTenth, -1, {})) << "a second later";
}

TEST_F(CudaVisionOverlayTrail, begins_anew_when_time_jumps) {
  Harness overlay(kElement);
  EXPECT_TRUE(shows(&overlay, GST_SECOND, 50, {}));
  EXPECT_TRUE(shows(&overlay, GST_SECOND / 2, 60, {})) << "back";
  overlay.flush();
  EXPECT_TRUE(shows(&overlay, GST_SECOND, 70, {})) << "after a seek";
  EXPECT_TRUE(shows(&overlay, GST_CLOCK_TIME_NONE, 80, {})) << "without a time";
  g_object_set(overlay.element(), "trail", 0.0, nullptr);
  EXPECT_TRUE(shows(&overlay, 2 * GST_SECOND, 50, {}));
  EXPECT_TRUE(shows(&overlay, 2 * GST_SECOND + 1, 60, {})) << "no trail is wanted";
}

// A way has few points, however many frames there are.
TEST_F(CudaVisionOverlayTrail, is_bounded) {
  cudavision::Trails trails;
  const Owned<GstBuffer> frame(gst_buffer_new());
  std::vector<cudavision::AttachedBox> boxes(2000);
  for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].track_id = i + 1;
  std::size_t steps = 0;
  for (int i = 0; i < 300; ++i) {
    GST_BUFFER_PTS(frame.get()) = static_cast<GstClockTime>(i) * GST_MSECOND * 10;
    for (cudavision::AttachedBox &box : boxes) box.x = i;
    trails.take(frame.get(), boxes, 2);
    steps = 0;
    double last = 0;
    trails.for_each_step([&](guint64, const cudavision::TrailStep &step) { ++steps, last = step.to_x; });
    ASSERT_EQ(last, i) << "it ends where the box is";
  }
  EXPECT_LE(steps, cudavision::Trails::kMostTracks * (cudavision::Trails::kMostPoints - 1));
  EXPECT_GE(steps, cudavision::Trails::kMostTracks * cudavision::Trails::kMostPoints / 2);
}

#if CUDAVISION_HAVE_ANALYTICS
TEST_F(CudaVisionOverlay, detection_looks_like_a_region_and_is_drawn_once) {
  const VideoFrame frame("RGB", {200, 100}, 3);
  Harness overlay("cudavisionoverlay message=true");
  const Region region{20, 30, 40, 50, "car", 0.5};
  VideoFrame expected = frame;
  expected.bytes() = drawn(&overlay, frame, with_regions(frame, {region}));
  EXPECT_EQ(regions_in_message(overlay), 1);
  for (const bool with_region : {true, false}) {
    Owned<GstBuffer> buffer = with_region ? with_regions(frame, {region}) : frame.buffer();
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
    GstAnalyticsODMtd detection;
    ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("car"), 20, 30, 40, 50,
                                                       0.5f, &detection));
    EXPECT_TRUE(same_bytes(drawn(&overlay, frame, std::move(buffer)), expected)) << with_region;
    EXPECT_EQ(regions_in_message(overlay), 1) << with_region;
  }
}
#endif

// --- the rest ---

TEST_F(CudaVisionOverlay, frame_without_results_stays) {
  const VideoFrame frame("NV12", {64, 48}, 3);
  Harness overlay("cudavisionoverlay");
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, frame.buffer()), frame));
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {{5, 5, 0, 9}, {5, 5, 9, 0}})), frame));
  g_object_set(overlay.element(), "display", FALSE, nullptr);
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, with_regions(frame, {{5, 5, 9, 9}})), frame));
}

TEST_F(CudaVisionOverlay, kinds_can_be_left_out) {
  const VideoFrame frame("RGB", {64, 48}, 3);
  Harness overlay("cudavisionoverlay regions=false keypoints=false lines=false");
  Owned<GstBuffer> buffer = with_regions(frame, {{5, 5, 20, 9}});
  const GstCudaVisionKeypoint keypoint{20, 20, 2500, 1};
  const GstCudaVisionLine line{3, 0, 9, 3, 0, 3, 40};
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), &keypoint, 1);
  gst_cuda_vision_buffer_add_lines_meta(buffer.get(), &line, 1);
  for (const char *kind : {"", "regions", "keypoints", "lines"}) {
    if (*kind != '\0') g_object_set(overlay.element(), kind, TRUE, nullptr);
    const bool changed =
        drawn(&overlay, frame, Owned<GstBuffer>(gst_buffer_copy_deep(buffer.get()))) != frame.bytes();
    EXPECT_EQ(changed, *kind != '\0') << kind;
    if (*kind != '\0') g_object_set(overlay.element(), kind, FALSE, nullptr);
  }
}

// Another program may give the normal of a line any direction.
TEST_F(CudaVisionOverlay, directions_that_differ_by_half_turns_have_one_color) {
  const VideoFrame frame("RGB", {64, 48}, 3);
  Harness overlay("cudavisionoverlay");
  const auto with_direction = [&](double theta) {
    Owned<GstBuffer> buffer = frame.buffer();
    const GstCudaVisionLine line{3, static_cast<float>(theta), 9, 3, 0, 3, 40};
    gst_cuda_vision_buffer_add_lines_meta(buffer.get(), &line, 1);
    return drawn(&overlay, frame, std::move(buffer));
  };
  std::vector<std::uint8_t> before;
  for (const double theta : {0.3, 1.5, 2.8, 3.1}) {
    const std::vector<std::uint8_t> expected = with_direction(theta);
    EXPECT_FALSE(expected == before) << theta;
    for (const int half_turns : {-7, -1, 1, 2})
      EXPECT_TRUE(with_direction(theta + half_turns * G_PI) == expected) << theta << " and " << half_turns;
    before = expected;
  }
}

// Coordinates that are no numbers, lie far away, or are as large as they can be.
TEST_F(CudaVisionOverlay, metas_of_others_may_say_anything) {
  const VideoFrame frame("NV12", {64, 48}, 3);
  Harness overlay("cudavisionoverlay min-contrast=0");
  Owned<GstBuffer> buffer = with_regions(
      frame, {{G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, "far", 1e300},
              {0, 0, G_MAXUINT, G_MAXUINT, "all", -1e300},
              {60, 40, 1, 1, "a type of more than forty characters, of which some are \xc3\xa4\xc3\xb6"}});
  std::vector<GstCudaVisionKeypoint> keypoints;
  std::vector<GstCudaVisionLine> lines;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {NAN, kInfinity, -kInfinity, 1e30f, -1e30f, 32000.0f, -32000.0f, 20.5f}) {
    keypoints.push_back({value, 10, value, value});
    keypoints.push_back({10, value, 100, NAN});
    lines.push_back({value, value, 1, value, 10, 20, value});
    lines.push_back({1, 1, 1, 10, value, value, 20});
  }
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), keypoints.data(),
                                            static_cast<guint>(keypoints.size()));
  gst_cuda_vision_buffer_add_lines_meta(buffer.get(), lines.data(), static_cast<guint>(lines.size()));
  EXPECT_NE(drawn(&overlay, frame, std::move(buffer)), frame.bytes());
}

// Regions whose type nobody knows, whose parameters are none, and lists that are none.
TEST_F(CudaVisionOverlay, metas_of_others_may_be_broken) {
  const VideoFrame frame("NV12", {64, 48}, 3);
  Harness overlay("cudavisionoverlay min-contrast=0");
  Owned<GstBuffer> buffer = frame.buffer();
  auto *region = gst_buffer_add_video_region_of_interest_meta_id(buffer.get(), G_MAXUINT32, 5, 5, 20, 20);
  region->params = g_list_append(nullptr, nullptr);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "\xff\xfe", 5, 5, 20, 20);
  for (const GstMetaInfo *info : {GST_CUDA_VISION_KEYPOINTS_META_INFO, GST_CUDA_VISION_LINES_META_INFO})
    ASSERT_NE(gst_buffer_add_meta(buffer.get(), info, nullptr), nullptr);
  const GstCudaVisionKeypoint bright{20, 20, std::numeric_limits<float>::infinity(), 1e30f};
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), &bright, 1);
  overlay.negotiate(frame);
  const Owned<GstBuffer> out = overlay.exchange(std::move(buffer));
  EXPECT_NE(bytes_of(out.get()), frame.bytes());
  region = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0);
  g_clear_pointer(&region->params, g_list_free);  // GStreamer would release null
}

TEST_F(CudaVisionOverlay, what_is_far_away_is_not_seen) {
  const VideoFrame frame("NV12", {64, 48}, 3);
  Harness overlay("cudavisionoverlay min-contrast=0 point-size=255 line-width=1");
  Owned<GstBuffer> buffer =
      with_regions(frame, {{30000, 5, 20, 20, "far"}, {5, 30000, 20, 20}, {G_MAXUINT - 90, 5, 20, 20}});
  std::vector<GstCudaVisionKeypoint> keypoints;
  for (const float value : {31990.0f, -31990.0f, 30000.0f, 29000.0f, -29000.0f, 27000.0f})
    for (const float angle : {0.0f, 3.1415926f, 1.5707963f, -1.5707963f}) {
      keypoints.push_back({value, 20, 100, angle});
      keypoints.push_back({20, value, 100, angle});
    }
  gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), keypoints.data(),
                                            static_cast<guint>(keypoints.size()));
  EXPECT_TRUE(same_bytes(drawn(&overlay, frame, std::move(buffer)), frame));
}

// The id is seen even if the type is too long.
TEST_F(CudaVisionOverlay, long_types_are_cut_before_the_id) {
  const VideoFrame frame("RGB", {640, 100}, 3);
  Harness overlay("cudavisionoverlay color-by-track=false");
  const std::string type(60, 'x');
  std::vector<Primitive> outlines, labels;
  const Region region{20, 30, 40, 50, type.c_str(), NAN, 123};
  append_box(&outlines, &labels, frame, region, std::string(35, 'x') + " #123", 0xff00ff00, 0xff000000);
  outlines.insert(outlines.end(), labels.begin(), labels.end());
  EXPECT_TRUE(
      same_bytes(drawn(&overlay, frame, with_regions(frame, {region})), with_primitives(frame, outlines)));
}

TEST_F(CudaVisionOverlay, too_many_keypoints_leave_room_for_boxes) {
  if (kSlow) GTEST_SKIP() << "it would take too long";
  const VideoFrame frame("GRAY8", {64, 48}, 3);
  Harness overlay(
      "cudavisionoverlay draw-labels=false color=lime keypoint-color=0x00000000 min-contrast=0 message=true");
  std::vector<GstCudaVisionKeypoint> keypoints(std::size_t{1} << 20, {50, 40, 1, 0});
  const auto draw = [&] {
    Owned<GstBuffer> buffer = with_regions(frame, {{5, 5, 20, 20}});
    gst_cuda_vision_buffer_add_keypoints_meta(buffer.get(), keypoints.data(),
                                              static_cast<guint>(keypoints.size()));
    drawn(&overlay, frame, std::move(buffer));
  };
  draw();
  EXPECT_FALSE(take_warning(overlay.element()));
  keypoints.push_back(keypoints.front());
  draw();
  EXPECT_TRUE(is(take_warning(overlay.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "some are left out"));
  EXPECT_EQ(regions_in_message(overlay), 1);
}

TEST_F(CudaVisionOverlay, message_has_the_counts) {
  const VideoFrame frame("RGB", {64, 48}, 3);
  Harness overlay("cudavisionoverlay message=true");
  drawn(&overlay, frame, with_regions(frame, {{5, 5, 20, 9}, {9, 9, 9, 9}}));
  EXPECT_EQ(regions_in_message(overlay), 2);
}

TEST_F(CudaVisionOverlay, properties_have_the_defaults_of_the_elements) {
  const Owned<GstElement> overlay = parse("cudavisionoverlay"), hog = parse("cudahog"),
                          points = parse("cudasigma2kp"), hough = parse("cudahough");
  EXPECT_EQ(text(overlay.get(), "color"), text(hog.get(), "color"));
  EXPECT_EQ(text(overlay.get(), "keypoint-color"), text(points.get(), "color"));
  EXPECT_EQ(text(overlay.get(), "line-color"), text(hough.get(), "color"));
  EXPECT_EQ(integer(overlay.get(), "max-drawn"), integer(hough.get(), "max-drawn"));
  EXPECT_EQ(real(overlay.get(), "min-contrast"), real(points.get(), "min-contrast"));
  for (const char *property : {"line-width", "point-size"})
    EXPECT_EQ(integer(overlay.get(), property), integer(points.get(), property));
}

}  // namespace
