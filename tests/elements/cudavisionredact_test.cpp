// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudavisionredact: what it hides in every format, what it hides in doubt, and the frames that it holds back.
#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>
#include <zlib.h>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/redact/redact.h"
#include "tests/elements/drawn_frame.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/tensor.h"
#include "tests/elements/track_harness.h"
#include "tests/support/decode.h"
#include "tests/support/opencv_hog.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;
using namespace cudavision;

constexpr GstClockTime kFrame = 100 * GST_MSECOND;

// The frame with the boxes hidden by the CPU backend of cuda/redact, which has its own tests.
VideoFrame with_hidden(VideoFrame frame, const std::vector<Region> &boxes, RedactParams params = {},
                       std::uint32_t color = 0xff000000) {
  static const Workers workers(1);
  std::unique_ptr<Redact> redact;
  EXPECT_TRUE(make_redact({Backend::cpu, &workers, nullptr}, frame.size(), &redact).ok());
  params.color = color_in(frame, color);
  const Status status =
      redact->run(view_of(&frame), {boxes.data(), static_cast<int>(boxes.size()), nullptr, 0, {}}, params);
  EXPECT_TRUE(status.ok()) << status.text();
  return frame;
}
VideoFrame with_all_hidden(const VideoFrame &frame) {
  return with_hidden(frame, {{0, 0, frame.size().width, frame.size().height}});
}

// The element in a stream of frames, kFrame apart.
class Stream {
 public:
  explicit Stream(const std::string &properties = "",
                  const VideoFrame &picture = VideoFrame("NV12", {64, 48}, 3))
      : picture_(picture), harness_("cudavisionredact " + properties) {
    gst_harness_set_src_caps(harness_.get(), caps(picture).release());
  }

  static Owned<GstCaps> caps(const VideoFrame &picture) {
    Owned<GstCaps> caps = picture.caps();
    caps.reset(gst_caps_make_writable(caps.release()));
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 10, 1, nullptr);
    return caps;
  }
  Harness &harness() { return harness_; }
  GstElement *element() const { return harness_.element(); }
  const VideoFrame &picture() const { return picture_; }

  // A frame in which a detector has looked for persons.
  Owned<GstBuffer> frame(const std::vector<Box> &boxes, guint64 track = 0, const char *type = "person",
                         bool marked = true) {
    Owned<GstBuffer> buffer = picture_.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_;
    time_ += kFrame;
    for (const Box &box : boxes)
      if (track != 0)
        add_track(buffer.get(), box, track, type);
      else
        add_region(buffer.get(), box, type);
    EXPECT_TRUE(!marked || gst_cuda_vision_buffer_mark_analysed(buffer.get(), "person", 0, nullptr));
    return buffer;
  }
  Owned<GstBuffer> unmarked(const std::vector<Box> &boxes = {}) { return frame(boxes, 0, "person", false); }
  // A frame in which a tracker has found a person, who moves by `velocity` pixels a second.
  Owned<GstBuffer> moving(const Box &box, guint64 track, const std::array<double, 2> &velocity) {
    Owned<GstBuffer> buffer = frame({box});
    gst_video_region_of_interest_meta_add_param(regions_of(buffer)[0], tracking(box, track, velocity));
    return buffer;
  }
  // A frame in which a tracker expects a person, and nobody has looked.
  Owned<GstBuffer> predicted(const Box &box, guint64 track) {
    Owned<GstBuffer> buffer = unmarked({box});
    gst_video_region_of_interest_meta_add_param(
        regions_of(buffer)[0], gst_structure_new("tracking", "id", G_TYPE_UINT64, track, "predicted",
                                                 G_TYPE_BOOLEAN, TRUE, nullptr));
    return buffer;
  }

  void push(Owned<GstBuffer> buffer) { EXPECT_EQ(harness_.push(std::move(buffer)), GST_FLOW_OK); }
  Owned<GstBuffer> pull() { return Owned<GstBuffer>(gst_harness_try_pull(harness_.get())); }
  Owned<GstBuffer> exchange(Owned<GstBuffer> buffer) {
    push(std::move(buffer));
    Owned<GstBuffer> out = pull();
    EXPECT_NE(out, nullptr);
    return out;
  }

  // Whether exactly these boxes are hidden.
  testing::AssertionResult hides(const Owned<GstBuffer> &out, const std::vector<Region> &boxes) const {
    return same_bytes(bytes_of(out.get()), with_hidden(picture_, boxes));
  }
  testing::AssertionResult hides_all(const Owned<GstBuffer> &out) const {
    return same_bytes(bytes_of(out.get()), with_all_hidden(picture_));
  }
  // Whether the pixel, of a picture that is not black there, is hidden.
  bool hides_pixel(const Owned<GstBuffer> &out, int x, int y) const {
    VideoFrame frame = picture_;
    frame.bytes() = bytes_of(out.get());
    EXPECT_NE(picture_.sample(0, x, y), with_all_hidden(picture_).sample(0, x, y));
    return frame.sample(0, x, y) == with_all_hidden(picture_).sample(0, x, y);
  }
  GstClockTime &time() { return time_; }

 private:
  VideoFrame picture_;
  Harness harness_;
  GstClockTime time_ = 0;
};

class CudaVisionRedact : public ElementTest {};
class CudaVisionRedactFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaVisionRedactFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

// --- what is hidden ---

TEST_P(CudaVisionRedactFormat, boxes_are_hidden_and_every_other_byte_stays) {
  const struct {
    const char *properties;
    RedactParams params;
    std::uint32_t color = 0xff000000;
  } cases[] = {
      {"", {}},
      {"color=#80ff8000 dilate=3", {.dilation = 3}, 0xffff8000},
      {"shape=ellipse inverse=true", {.shape = RedactShape::ellipse, .inverse = true}},
      {"mode=pixelate cells=2", {.mode = RedactMode::pixelate, .cells = 2}},
      {"mode=blur strength=3", {.mode = RedactMode::blur, .strength = 3}},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.properties);
    const VideoFrame picture(GetParam(), {67, 45}, 4, Layout::apart);
    Stream stream(c.properties, picture);
    const Owned<GstBuffer> out = stream.exchange(stream.frame({{5, 3, 21, 17}, {50, -4, 30, 20}}));
    EXPECT_TRUE(same_bytes(bytes_of(out.get()),
                           with_hidden(picture, {{5, 3, 21, 17}, {50, -4, 30, 20}}, c.params, c.color)));
    EXPECT_EQ(regions_of(out).size(), 2u) << "boxes stay";
  }
}

// A small box in a large one, such as a false one in a face, does not make the cells of the large one finer.
TEST_F(CudaVisionRedact, where_boxes_overlap_the_cells_of_the_largest_count) {
  const VideoFrame picture("GRAY8", {128, 96}, 4);
  Stream stream("mode=pixelate", picture);
  EXPECT_TRUE(same_bytes(
      bytes_of(stream.exchange(stream.frame({{10, 10, 96, 60}, {30, 20, 24, 24}, {100, 50, 20, 40}})).get()),
      with_hidden(picture, {{30, 20, 24, 24}, {100, 50, 20, 40}, {10, 10, 96, 60}},
                  {.mode = RedactMode::pixelate}, 0xff000000)));
}

TEST_F(CudaVisionRedact, both_fields_are_hidden_in_mixed_video) {
  const VideoFrame picture = bright("I420", {64, 48});
  for (const bool is_mixed : {false, true}) {
    Stream stream("", picture);
    Owned<GstCaps> caps = Stream::caps(picture);
    if (is_mixed) gst_caps_set_simple(caps.get(), "interlace-mode", G_TYPE_STRING, "mixed", nullptr);
    gst_harness_set_src_caps(stream.harness().get(), caps.release());
    const Owned<GstBuffer> out = stream.exchange(stream.frame({{0, 9, 64, 1}}));
    for (int y = 4; y < 16; ++y)
      EXPECT_EQ(stream.hides_pixel(out, 20, y), is_mixed ? y >= 8 && y < 12 : y == 8 || y == 9) << y;
  }
}

TEST_F(CudaVisionRedact, nothing_is_left_in_the_lower_bits_of_wide_samples) {
  const struct {
    const char *format;
    int mask;  // the bits of a sample in its word
  } formats[] = {{"P010_10LE", 0xffff}, {"P012_LE", 0xffff},  {"P016_LE", 0xffff},   {"I420_10LE", 0x3ff},
                 {"I422_10LE", 0x3ff},  {"I422_12LE", 0xfff}, {"Y444_16LE", 0xffff}, {"GRAY16_LE", 0xffff}};
  for (const auto &f : formats) {
    std::vector<int> first;
    for (const unsigned seed : {5u, 6u}) {
      const VideoFrame picture(f.format, {32, 16}, seed);
      Stream stream("", picture);
      const std::vector<std::uint8_t> bytes = bytes_of(stream.exchange(stream.unmarked()).get());
      std::vector<int> samples;
      for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
        samples.push_back((bytes[i] | bytes[i + 1] << 8) & f.mask);
      if (first.empty()) first = samples;
      EXPECT_TRUE(samples == first) << f.format << ": the result depends on the picture";
    }
  }
  Stream part("", VideoFrame("P016_LE", {32, 16}, 7));
  const Owned<GstBuffer> out = part.exchange(part.frame({{8, 4, 8, 8}}));
  const std::vector<std::uint8_t> bytes = bytes_of(out.get()), old = part.picture().bytes();
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 32; ++x) {
      const std::size_t at = static_cast<std::size_t>(y * part.picture().info().stride[0] + 2 * x);
      const bool is_hidden = x >= 8 && x < 16 && y >= 4 && y < 12;
      ASSERT_EQ(bytes[at] | bytes[at + 1] << 8, is_hidden ? 16 << 8 : old[at] | old[at + 1] << 8)
          << x << " " << y;
    }
}

TEST_F(CudaVisionRedact, type_selects_and_a_box_without_a_type_is_hidden_too) {
  Stream stream("type=person");
  const Box box{10, 8, 12, 9};
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({box}, 0, "car")), {}));
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({box})), {{10, 8, 12, 9}}));
  Stream other("type=person hold=0");
  Owned<GstBuffer> untyped = other.frame({box});
  regions_of(untyped)[0]->roi_type = 0;
  EXPECT_TRUE(other.hides(other.exchange(std::move(untyped)), {{10, 8, 12, 9}}));
  for (const char *every : {"", "type=*"}) {
    Stream all(every);
    EXPECT_TRUE(all.hides(all.exchange(all.frame({box}, 0, "car")), {{10, 8, 12, 9}}));
  }
}

TEST_F(CudaVisionRedact, no_frame_passes_unseen) {
  Stream stream("every-nth=3 roi-x=100 roi-y=100");  // outside of the frame: the whole frame counts
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({{10, 8, 12, 9}})), {{10, 8, 12, 9}})) << i;
  EXPECT_TRUE(is(take_warning(stream.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "the whole frame counts"));
  EXPECT_FALSE(take_warning(stream.element()));
  Stream limited("roi-x=0 roi-y=0 roi-width=16 roi-height=48");
  EXPECT_TRUE(limited.hides(limited.exchange(limited.frame({{10, 8, 12, 9}})), {{10, 8, 6, 9}}));
}

TEST_F(CudaVisionRedact, too_many_boxes_hide_the_whole_frame) {
  Stream stream;
  std::vector<Box> boxes;
  for (int i = 0; i < 300; ++i) boxes.push_back({i % 60 * 1.0, i / 60 * 9.0, 2, 2});
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame(boxes))));
  EXPECT_TRUE(
      is(take_warning(stream.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "256 boxes"));
}

// The boxes of a frame with too many boxes are not searched for in the frames before it.
TEST_F(CudaVisionRedact, too_many_boxes_hide_the_frames_that_are_held) {
  Stream stream("look-back-time=300000000", bright("NV12", {64, 48}));
  for (int i = 0; i < 3; ++i) stream.push(stream.frame({}));
  stream.push(stream.frame(std::vector<Box>(300, Box{5, 5, 2, 2})));
  EXPECT_TRUE(gst_harness_push_event(stream.harness().get(), gst_event_new_eos()));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(stream.hides_all(stream.pull())) << i;
}

TEST_F(CudaVisionRedact, inverse_for_a_frame_does_not_end_hold) {
  Stream stream("hold=0.5", bright("NV12", {64, 48}));
  stream.exchange(stream.frame({{8, 10, 12, 16}}));
  for (const gboolean inverse : {1, 0}) {
    g_object_set(stream.element(), "inverse", inverse, nullptr);
    const Owned<GstBuffer> out = stream.exchange(stream.frame({}));
    EXPECT_TRUE(inverse ? stream.hides_all(out) : stream.hides(out, {{8, 10, 12, 16}}));
  }
}

// Who was found while `inverse` was set is held, too.
TEST_F(CudaVisionRedact, objects_are_followed_while_inverse_is_set) {
  Stream stream("hold=0.5 inverse=true", bright("GRAY8", {64, 48}));
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(stream.hides_pixel(stream.exchange(stream.frame({{8, 10, 12, 16}})), 12, 14));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame({}))));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame({{8, 10, 0, 0}}))));
  g_object_set(stream.element(), "inverse", FALSE, nullptr);
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{8, 10, 12, 16}}));
}

TEST_F(CudaVisionRedact, on_silence_holds_for_frames_that_are_held) {
  Stream stream("look-back-time=200000000 on-silence=pass", bright("NV12", {64, 48}));
  for (int i = 0; i < 3; ++i) stream.push(stream.unmarked());
  EXPECT_TRUE(stream.hides(stream.pull(), {}));
  gst_util_set_object_arg(G_OBJECT(stream.element()), "on-silence", "hide-all");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.hides_all(stream.exchange(stream.unmarked()))) << i;
}

// Objects that were lost are known for `hold`.
TEST_F(CudaVisionRedact, too_many_objects_hide_the_whole_frame) {
  Stream stream("hold=60", bright("GRAY8", {200, 48}));
  const auto boxes_at = [](double y) {
    std::vector<Box> boxes;
    for (int i = 0; i < 200; ++i) boxes.push_back({1.0 * i, y, 1, 1});
    return boxes;
  };
  for (const double y : {2., 12.}) EXPECT_FALSE(stream.hides_all(stream.exchange(stream.frame(boxes_at(y)))));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame(boxes_at(22)))));
  EXPECT_TRUE(
      is(take_warning(stream.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "512 objects"));
}

TEST_F(CudaVisionRedact, frames_held_while_type_inverse_or_shape_change_are_hidden_as_a_whole) {
  for (const auto &[name, value] : {std::pair{"inverse", "true"}, {"type", "person"}, {"shape", "ellipse"}}) {
    Stream stream("look-back-time=200000000", bright("NV12", {64, 48}));
    for (int i = 0; i < 3; ++i) stream.push(stream.frame({{10, 10, 12, 16}}));
    EXPECT_TRUE(stream.hides(stream.pull(), {{10, 10, 12, 16}}));
    gst_util_set_object_arg(G_OBJECT(stream.element()), name, value);
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame({{10, 10, 12, 16}})))) << i;
    EXPECT_FALSE(stream.hides_all(stream.exchange(stream.frame({{10, 10, 12, 16}}))));
  }
}

TEST_F(CudaVisionRedact, polygons_are_hidden_in_every_frame) {
  const std::string triangle =
      "always=\"0.25,0.25 0.75,0.25 0.25,0.75; 0.9,0 1,0 1,0.5 0.9,0.5\" on-silence=pass ";
  for (const char *others : {"", "inverse=true", "type=face masks=false", "roi-width=8 roi-height=8",
                             "mode=pixelate", "mode=blur"}) {
    Stream stream(triangle + others, VideoFrame("GRAY8", {64, 48}, 3));
    const bool is_inverse = std::string(others) == "inverse=true";
    const Owned<GstBuffer> out =
        stream.exchange(stream.frame(is_inverse ? std::vector<Box>{{0, 0, 64, 48}} : std::vector<Box>{}));
    VideoFrame frame = stream.picture();
    frame.bytes() = bytes_of(out.get());
    int hidden = 0;
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 64; ++x) {
        const double u = (x + 0.5) / 64, v = (y + 0.5) / 48;
        const bool is_in = (u >= 0.25 && v >= 0.25 && u + v < 1) || (u >= 0.9 && v < 0.5);
        const bool is_same = frame.sample(0, x, y) == stream.picture().sample(0, x, y);
        if (!is_in) {
          ASSERT_TRUE(is_same) << others << " " << x << " " << y;
        }
        hidden += is_in && !is_same ? 1 : 0;
      }
    EXPECT_GE(hidden, 500) << others;  // of 528; some pixels already have the value that hides them
  }
}

TEST_F(CudaVisionRedact, polygons_that_cannot_be_read_are_refused) {
  for (const char *text :
       {"0.1,0.1 0.5,0.5", "0.1,0.1 0.5,0.5 0.9", "0.1,0.1 0.5,0.5 1.5,0", "0,0 1,0 1,x", "all"}) {
    Harness harness("cudavisionredact");
    g_object_set(harness.element(), "always", text, nullptr);
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << text;
  }
}

// --- an object that is not found any more ---

TEST_F(CudaVisionRedact, lost_object_stays_hidden_where_it_was_for_the_hold_time) {
  for (const auto &[track, hold] : {std::pair{guint64{0}, "hold=0.45"}, {7, "hold=0.45"}, {7, "hold=0.4"}}) {
    Stream stream(hold, bright("NV12", {64, 48}));
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({{4.0 + 2 * i, 10, 12, 16}}, track)),
                               {{4 + 2 * i, 10, 12, 16}}));
    for (int i = 1; i <= 4; ++i)
      EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{10, 10, 12, 16}})) << i;
    EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {}));
  }
}

TEST_F(CudaVisionRedact, lost_track_is_carried_on_by_its_velocity_for_half_a_second) {
  Stream stream("hold=0.8", bright("NV12", {64, 48}));
  stream.exchange(stream.moving({30, 20, 12, 16}, 7, {-20, 10}));  // 2 pixels left and 1 down a frame
  for (int i = 1; i <= 8; ++i) {
    const int frames = std::min(i, 5);
    EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})),
                             {{30 - 2 * frames, 20, 12 + 2 * frames, 16 + frames}}))
        << i;
  }
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {}));
}

// An ellipse in a box around both places need not cover these places.
TEST_F(CudaVisionRedact, ellipse_covers_the_way_of_a_lost_object) {
  Stream stream("shape=ellipse", bright("GRAY8", {200, 200}));
  stream.exchange(stream.moving({34, 34, 20, 50}, 7, {80, 80}));
  for (int i = 1; i < 5; ++i) {
    const Owned<GstBuffer> out = stream.exchange(stream.frame({}));
    for (const int at : {34, 34 + 8 * i})  // it has stood still, or has gone on
      for (const auto &[x, y] :
           {std::pair{at + 10, at + 2}, {at + 10, at + 47}, {at + 2, at + 25}, {at + 17, at + 25}})
        EXPECT_TRUE(stream.hides_pixel(out, x, y)) << i << ": " << x << ", " << y;
  }
}

TEST_F(CudaVisionRedact, who_was_on_the_way_out_is_not_held_where_nothing_moves) {
  for (const auto &[velocity, held] : {std::pair{30., 20}, {50., 2}}) {  // 49 + 12 + half of it
    Stream stream("type=person hold=0.2", bright("GRAY8", {80, 48}));
    stream.exchange(stream.moving({49, 10, 12, 16}, 7, {velocity, 0}));
    int hidden = 0;
    for (int i = 0; i < 30; ++i) {
      Owned<GstBuffer> frame = stream.frame({});
      gst_cuda_vision_buffer_mark_analysed(frame.get(), "motion", 0, nullptr);
      hidden += stream.hides_pixel(stream.exchange(std::move(frame)), 52, 14) ? 1 : 0;
    }
    EXPECT_EQ(hidden, held) << velocity;
  }
}

// Whoever stands before a still camera becomes a part of its background, and a detector behind cudabgsub looks no more.
TEST_F(CudaVisionRedact, lost_track_is_held_ten_times_as_long_where_nothing_moves) {
  const struct {
    const char *what;
    guint64 track;
    std::optional<Box> moving;
    bool is_marked;
    int held;
  } cases[] = {{"nothing moves", 7, {}, true, 20},
               {"something moves beside", 7, Box{22, 10, 20, 16}, true, 20},
               {"something moves there", 7, Box{14, 12, 12, 16}, true, 2},
               {"nobody looks for motion", 7, {}, false, 2},
               {"a box without an id may be a mistake", 0, {}, true, 2}};
  for (const auto &c : cases) {
    Stream stream("type=person hold=0.2", bright("GRAY8", {64, 48}));
    stream.exchange(stream.frame({{10, 10, 12, 16}}, c.track));
    int held = 0;
    for (int i = 0; i < 30; ++i) {
      Owned<GstBuffer> frame = stream.frame({});
      if (c.moving) add_region(frame.get(), *c.moving, "motion");
      if (c.is_marked) gst_cuda_vision_buffer_mark_analysed(frame.get(), "motion", 0, nullptr);
      held += stream.hides_pixel(stream.exchange(std::move(frame)), 12, 14) ? 1 : 0;
    }
    EXPECT_EQ(held, c.held) << c.what;
  }
}

TEST_F(CudaVisionRedact, motion_is_hidden_in_its_own_frame_and_held_if_it_has_an_id) {
  for (const guint64 track : {0, 7}) {
    Stream stream("hold=0.1", bright("NV12", {64, 48}));
    EXPECT_TRUE(
        stream.hides(stream.exchange(stream.frame({{10, 10, 12, 16}}, track, "motion")), {{10, 10, 12, 16}}));
    const Owned<GstBuffer> out = stream.exchange(stream.frame({}));
    EXPECT_TRUE(track == 0 ? stream.hides(out, {}) : stream.hides(out, {{10, 10, 12, 16}}));
  }
}

// With `inverse`, a guessed box would show more of the frame, so only boxes of the frame are used.
TEST_F(CudaVisionRedact, inverse_shows_only_boxes_that_the_frame_has) {
  Stream stream("inverse=true look-back-time=200000000 type=person", bright("GRAY8", {64, 48}));
  const auto shows = [&](const Owned<GstBuffer> &out, const std::vector<Region> &boxes) {
    RedactParams params;
    params.inverse = true;
    return same_bytes(bytes_of(out.get()), with_hidden(stream.picture(), boxes, params));
  };
  const std::vector<std::vector<Box>> boxes = {{}, {}, {{10, 10, 12, 16}}, {{12, 10, 12, 16}},
                                               {}, {}, {{20, 10, 12, 16}}};
  for (const std::vector<Box> &in_frame : boxes) stream.push(stream.frame(in_frame, 5));
  Owned<GstBuffer> untyped = stream.frame({{30, 10, 12, 16}});
  regions_of(untyped)[0]->roi_type = 0;
  stream.push(std::move(untyped));
  EXPECT_TRUE(gst_harness_push_event(stream.harness().get(), gst_event_new_eos()));
  for (const std::vector<Box> &in_frame : boxes) {
    std::vector<Region> regions;
    for (const Box &b : in_frame) regions.push_back({int(b.x), int(b.y), int(b.width), int(b.height)});
    EXPECT_TRUE(shows(stream.pull(), regions));
  }
  EXPECT_TRUE(shows(stream.pull(), {})) << "a box of an unknown type";
}

// The detector analyses every third frame, and the tracker predicts places that are too far away.
TEST_F(CudaVisionRedact, what_a_tracker_predicts_is_hidden_and_ends_no_hold) {
  for (const bool looks_back : {false, true}) {
    Stream stream(looks_back ? "look-back-time=300000000" : "", bright("NV12", {64, 48}));
    stream.push(stream.frame({{10, 10, 12, 16}}, 5));
    for (const double x : {20., 30.}) stream.push(stream.predicted({x, 10, 12, 16}, 5));
    stream.push(stream.frame({{16, 10, 12, 16}}, 5));
    if (looks_back)
      for (int i = 0; i < 3; ++i) stream.push(stream.frame({}));
    EXPECT_TRUE(stream.hides(stream.pull(), {{10, 10, 12, 16}}));
    for (const int i : {1, 2}) {
      const Owned<GstBuffer> out = stream.pull();
      EXPECT_TRUE(stream.hides_pixel(out, 21 + 10 * i, 11)) << "where it is expected";
      EXPECT_TRUE(stream.hides_pixel(out, 10 + 2 * i, 11)) << "where it is";
      EXPECT_TRUE(!looks_back || stream.hides_pixel(out, 21 + 2 * i, 11)) << "on the way";
    }
  }
  Stream inverse("inverse=true", bright("NV12", {64, 48}));
  inverse.exchange(inverse.frame({{10, 10, 12, 16}}, 5));
  EXPECT_TRUE(inverse.hides_all(inverse.exchange(inverse.predicted({20, 10, 12, 16}, 5))));
}

// The id may have gone over to somebody else, unless the boxes overlap.
TEST_F(CudaVisionRedact, an_id_that_jumps_ends_no_hold) {
  for (const double x : {18., 24., 60.}) {
    Stream stream("", bright("GRAY8", {100, 48}));
    stream.exchange(stream.frame({{10, 10, 20, 30}}, 7));
    for (int i = 0; i < 3; ++i) {
      const Owned<GstBuffer> out = stream.exchange(stream.frame({{x, 10, 20, 30}}, 7));
      EXPECT_TRUE(stream.hides_pixel(out, static_cast<int>(x) + 18, 20));
      EXPECT_EQ(stream.hides_pixel(out, 12, 20), x > 20) << x << " " << i;
    }
  }
}

// Somebody without an id who comes near does not take the place of a lost object, but of one that the box overlaps.
TEST_F(CudaVisionRedact, a_box_without_an_id_replaces_one_that_it_overlaps) {
  for (const double x : {24., 40.})
    for (const guint64 track : {0, 7}) {
      Stream stream("", bright("GRAY8", {100, 48}));
      stream.exchange(stream.frame({{10, 10, 40, 30}}, track));
      const Owned<GstBuffer> out = stream.exchange(stream.frame({{x, 10, 40, 30}}));
      EXPECT_TRUE(stream.hides_pixel(out, static_cast<int>(x) + 38, 20));
      EXPECT_EQ(stream.hides_pixel(out, 12, 20), track != 0 || x == 40) << x << " " << track;
    }
}

// Objects that were found only in a crowd are not held one by one.
TEST_F(CudaVisionRedact, frames_are_hidden_as_a_whole_for_as_long_as_a_crowd_would_be_held) {
  Stream stream("hold=0.25", bright("GRAY8", {64, 48}));
  std::vector<Box> boxes(300, Box{5, 5, 2, 2});
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame(boxes))));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame({})))) << i;
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {}));
}

// Frames must not leave during a flush, because boxes may be left out then.
TEST_F(CudaVisionRedact, no_frame_leaves_while_a_flush_begins) {
  Stream stream("hold=0");
  const Owned<GstPad> sink(gst_element_get_static_pad(stream.element(), "sink")),
      source(gst_element_get_static_pad(stream.element(), "src"));
  stream.exchange(stream.frame({}));
  GST_PAD_EVENTFUNC(sink.get())(sink.get(), GST_OBJECT(stream.element()), gst_event_new_flush_start());
  const Owned<GstPad> end(gst_pad_get_peer(source.get()));
  for (GstPad *pad : {source.get(), end.get()})
    GST_PAD_UNSET_FLUSHING(pad);  // as if the event had not got there yet
  EXPECT_EQ(gst_pad_chain(sink.get(), stream.frame({{10, 8, 12, 9}}).release()), GST_FLOW_FLUSHING);
  EXPECT_EQ(stream.pull(), nullptr);
}

TEST_F(CudaVisionRedact, hold_of_zero_forgets_at_once) {
  Stream stream("hold=0");
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({{4, 10, 12, 16}})), {{4, 10, 12, 16}}));
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {}));
}

TEST_F(CudaVisionRedact, held_object_survives_flushes_jumps_and_new_caps) {
  Stream stream("hold=0.5", bright("NV12", {64, 48}));
  stream.exchange(stream.frame({{8, 10, 12, 16}}));
  stream.harness().flush();
  stream.time() = 3600 * GST_SECOND;
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{8, 10, 12, 16}})) << "after a flush";
  stream.time() = 5 * GST_SECOND;
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{8, 10, 12, 16}})) << "after a jump";
  const VideoFrame larger = bright("NV12", {128, 96});
  gst_harness_set_src_caps(stream.harness().get(), Stream::caps(larger).release());
  EXPECT_TRUE(same_bytes(bytes_of(stream.exchange(larger.buffer()).get()), with_all_hidden(larger)))
      << "nobody has looked at frames of this size";
  Owned<GstBuffer> buffer = larger.buffer();
  GST_BUFFER_PTS(buffer.get()) = stream.time();
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 0, nullptr));
  const Owned<GstBuffer> out = stream.exchange(std::move(buffer));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_hidden(larger, {{16, 20, 24, 32}})));
}

// A part of the picture may have been cut out, or the picture turned: held objects would be hidden in a wrong place.
TEST_F(CudaVisionRedact,
       frames_are_hidden_until_a_detector_has_looked_where_the_picture_may_be_another_part) {
  const VideoFrame all = bright("GRAY8", {64, 48});
  const auto crop_of = [&all](bool is_marked,
                              guint x) {  // the right end of a frame of 68x48 pixels is cut off
    Owned<GstBuffer> frame(gst_buffer_new_memdup(std::vector(68 * 48, kBrightByte).data(), 68 * 48));
    gsize offsets[] = {0};
    gint strides[] = {68};
    gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 68, 48, 1,
                                   offsets, strides);
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(frame.get());
    crop->x = x, crop->y = 0, crop->width = 64, crop->height = 48;
    EXPECT_TRUE(!is_marked || gst_cuda_vision_buffer_mark_analysed(frame.get(), "person", 0, nullptr));
    return frame;
  };
  const auto is_hidden = [](const Owned<GstBuffer> &frame, std::size_t x, std::size_t y) {
    return bytes_of(frame.get()).at(y * 68 + x) != kBrightByte;
  };
  Stream crop("hold=9", all);
  crop.exchange(crop.frame({{20, 20, 12, 16}}));
  EXPECT_TRUE(is_hidden(crop.exchange(crop_of(false, 0)), 24, 24)) << "the same corner";
  EXPECT_FALSE(is_hidden(crop.exchange(crop_of(false, 0)), 40, 30));
  EXPECT_TRUE(is_hidden(crop.exchange(crop_of(false, 4)), 40, 30)) << "nobody has looked";
  EXPECT_FALSE(is_hidden(crop.exchange(crop_of(true, 4)), 24, 24)) << "the object is let go";
  EXPECT_FALSE(is_hidden(crop.exchange(crop_of(false, 4)), 40, 30));

  Stream turned("hold=9", bright("GRAY8", {64, 48}));
  const auto push_orientation = [&turned](const char *orientation) {
    gst_harness_push_event(turned.harness().get(), gst_event_new_tag(gst_tag_list_new(
                                                       GST_TAG_IMAGE_ORIENTATION, orientation, nullptr)));
  };
  push_orientation("rotate-0");
  turned.exchange(turned.frame({{20, 20, 12, 16}}));
  push_orientation("rotate-0");
  EXPECT_TRUE(turned.hides(turned.exchange(turned.unmarked()), {{20, 20, 12, 16}}));
  push_orientation("rotate-90");
  EXPECT_TRUE(turned.hides_all(turned.exchange(turned.unmarked())));
  EXPECT_TRUE(turned.hides(turned.exchange(turned.frame({})), {}));
}

TEST_F(CudaVisionRedact, held_object_is_let_go_if_the_shape_of_the_frame_changes) {
  for (const auto &[size, is_same_shape] :
       {std::pair{Size{128, 96}, true}, {Size{63, 47}, true}, {Size{64, 36}, false}}) {
    Stream stream("hold=9", bright("GRAY8", {64, 48}));
    stream.exchange(stream.frame({{20, 20, 12, 16}}));
    VideoFrame other = bright("GRAY8", size);
    gst_harness_set_src_caps(stream.harness().get(), Stream::caps(other).release());
    Owned<GstBuffer> frame = other.buffer();
    EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(frame.get(), nullptr, 0, nullptr));
    const std::vector<std::uint8_t> bytes = bytes_of(stream.exchange(std::move(frame)).get());
    EXPECT_EQ(!bool(same_bytes(bytes, other)), is_same_shape) << size.width;
  }
}

// --- frames that are held back ---

TEST_F(CudaVisionRedact, look_back_hides_an_object_before_it_was_found_and_loses_no_frame) {
  Stream stream("look-back-time=300000000 hold=0", bright("NV12", {64, 48}));
  std::vector<Owned<GstBuffer>> outs;
  for (int i = 0; i < 9; ++i) {
    stream.push(i == 4 ? stream.moving({20, 10, 12, 16}, 7, {20, 0}) : stream.frame({}));
    Owned<GstBuffer> out = stream.pull();
    EXPECT_EQ(out != nullptr, i >= 3) << "a frame leaves when three more have come";
    if (out) outs.push_back(std::move(out));
  }
  EXPECT_TRUE(gst_harness_push_event(stream.harness().get(), gst_event_new_eos()));
  while (Owned<GstBuffer> out = stream.pull()) outs.push_back(std::move(out));
  ASSERT_EQ(outs.size(), 9u);
  for (std::size_t i = 0; i < outs.size(); ++i) EXPECT_EQ(GST_BUFFER_PTS(outs[i].get()), i * kFrame);
  EXPECT_TRUE(stream.hides(outs[0], {})) << "it had left";
  // The place where it was found, and its way there at 2 pixels a frame.
  for (int i = 1; i <= 4; ++i)
    EXPECT_TRUE(stream.hides(outs[static_cast<std::size_t>(i)], {{12 + 2 * i, 10, 20 - 2 * i, 16}})) << i;
  for (std::size_t i = 5; i < 9; ++i) EXPECT_TRUE(stream.hides(outs[i], {}));
}

TEST_F(CudaVisionRedact, look_back_carries_an_object_back_for_half_a_second) {
  Stream stream("look-back-time=900000000", bright("NV12", {64, 48}));
  for (int i = 0; i < 9; ++i) stream.push(stream.frame({}));
  stream.push(stream.moving({30, 10, 12, 16}, 7, {20, 0}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(stream.hides(stream.pull(), {{20, 10, 22, 16}})) << i;
    stream.push(stream.frame({}));
  }
  EXPECT_TRUE(stream.hides(stream.pull(), {{22, 10, 20, 16}}));
}

TEST_F(CudaVisionRedact, look_back_hides_an_object_between_two_frames_that_have_it) {
  for (const bool is_held : {true, false}) {
    Stream stream(is_held ? "look-back-time=300000000 hold=2" : "look-back-time=300000000 hold=0",
                  bright("NV12", {64, 48}));
    stream.push(stream.frame({{10, 10, 12, 16}}, 4));
    stream.push(stream.frame({}));
    stream.push(stream.frame({{14, 12, 12, 16}}, 4));
    EXPECT_TRUE(gst_harness_push_event(stream.harness().get(), gst_event_new_eos()));
    EXPECT_TRUE(stream.hides(stream.pull(), {{10, 10, 12, 16}}));
    std::vector<Region> between{{12, 11, 12, 16}};
    if (is_held) between.push_back({10, 10, 12, 16});
    EXPECT_TRUE(stream.hides(stream.pull(), between));
    EXPECT_TRUE(stream.hides(stream.pull(), {{14, 12, 12, 16}}));
  }
}

// The detector looks at every tenth frame, and `hold` is shorter than that.
TEST_F(CudaVisionRedact, look_back_hides_an_object_between_two_looks) {
  for (const guint64 track : {guint64{0}, guint64{4}}) {
    Stream stream("look-back-time=2500000000 hold=0", bright("GRAY8", {300, 100}));
    for (int n = 0, out = 0; n < 75; ++n) {
      stream.push(n % 10 == 0 ? stream.frame({{20.0 + n, 10, 40, 80}}, track) : stream.unmarked());
      const Owned<GstBuffer> left = stream.pull();
      if (left == nullptr) continue;
      for (const int x : {1, 38})
        EXPECT_TRUE(stream.hides_pixel(left, 20 + out + x, 50)) << track << " " << out << " " << x;
      ++out;
    }
  }
}

// Whoever is lost for longer than `hold` and has no id is forgotten.
TEST_F(CudaVisionRedact, many_short_boxes_are_not_too_many_objects) {
  Stream stream("look-back-time=20000000000 hold=0", bright("GRAY8", {200, 100}));
  for (int n = 0; n < 220; ++n) {
    std::vector<Box> boxes;
    for (int i = 0; i < 3; ++i) boxes.push_back({n % 99 * 2.0, n / 99 * 4 + 30.0 * i, 1, 1});
    stream.push(stream.frame(boxes));
    const Owned<GstBuffer> out = stream.pull();
    EXPECT_FALSE(out && stream.hides_all(out)) << n;
  }
}

// Orders of frames: rising, each timestamp twice, and the order of decoding.
TEST_F(CudaVisionRedact, time_goes_on_as_fast_with_timestamps_that_repeat_or_go_back) {
  for (const std::vector<int> &order :
       {std::vector<int>{0, 1, 2, 3, 4, 5}, {0, 0, 2, 2, 4, 4}, {2, 0, 1, 5, 3, 4}}) {
    Stream stream("hold=1.15", bright("NV12", {64, 48}));
    int held = 0;
    for (int n = 0; n < 24; ++n) {
      stream.time() = static_cast<GstClockTime>(n / 6 * 6 + order[static_cast<std::size_t>(n % 6)]) * kFrame;
      const Owned<GstBuffer> out =
          stream.exchange(stream.frame(n == 0 ? std::vector<Box>{{8, 10, 12, 16}} : std::vector<Box>{}));
      held += stream.hides(out, {{8, 10, 12, 16}}) ? 1 : 0;
    }
    EXPECT_GE(held, 11) << order[0] << order[1];
    EXPECT_LE(held, 14) << order[0] << order[1];
  }
}

TEST_F(CudaVisionRedact, look_back_changes_at_the_next_start) {
  Stream stream("look-back=2", bright("NV12", {64, 48}));
  for (const int value : {2, 0, 5}) {
    g_object_set(stream.element(), "look-back", value, nullptr);
    stream.push(stream.frame({}));
    stream.push(stream.frame({}));
  }
  EXPECT_EQ(gst_harness_buffers_in_queue(stream.harness().get()), 4u);
}

TEST_F(CudaVisionRedact, frames_that_leave_too_early_are_hidden_as_a_whole) {
  Stream stream("look-back-time=200000000", bright("NV12", {64, 48}));
  stream.push(stream.frame({}));
  stream.push(stream.frame({}));
  EXPECT_EQ(stream.pull(), nullptr);
  gst_harness_set_src_caps(stream.harness().get(), Stream::caps(bright("NV12", {32, 48})).release());
  for (int i = 0; i < 2; ++i) {
    const Owned<GstBuffer> out = stream.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(stream.hides_all(out));
  }
}

TEST_F(CudaVisionRedact, flush_and_stop_let_held_frames_go) {
  Stream stream("look-back-time=200000000", bright("NV12", {64, 48}));
  stream.push(stream.frame({}));
  stream.harness().flush();
  EXPECT_EQ(stream.pull(), nullptr);
  stream.push(stream.frame({}));
  EXPECT_EQ(gst_element_set_state(stream.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
}

TEST_F(CudaVisionRedact, tags_between_held_frames_outlive_a_flush) {
  Stream stream("look-back-time=100000000", bright("NV12", {64, 48}));
  stream.push(stream.frame({}));
  gst_harness_push_event(stream.harness().get(),
                         gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "held", nullptr)));
  stream.harness().flush();
  while (GstEvent *event = gst_harness_try_pull_event(stream.harness().get())) gst_event_unref(event);
  for (int i = 0; i < 2; ++i) stream.push(stream.frame({}));
  EXPECT_NE(stream.pull(), nullptr);
  const Owned<GstEvent> event(gst_harness_try_pull_event(stream.harness().get()));
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(GST_EVENT_TYPE(event.get()), GST_EVENT_TAG);
}

TEST_F(CudaVisionRedact, events_keep_their_places_between_held_frames) {
  Stream stream("look-back-time=100000000", bright("NV12", {64, 48}));
  stream.push(stream.frame({}));
  while (GstEvent *event = gst_harness_try_pull_event(stream.harness().get())) gst_event_unref(event);
  gst_harness_push_event(stream.harness().get(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                                      gst_structure_new_empty("between")));
  EXPECT_EQ(gst_harness_try_pull_event(stream.harness().get()), nullptr) << "the frame before it is held";
  stream.push(stream.frame({}));
  EXPECT_NE(stream.pull(), nullptr);
  Owned<GstEvent> event(gst_harness_try_pull_event(stream.harness().get()));
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(gst_event_has_name(event.get(), "between"));
}

// A video that is muted sends gaps and no frames: nothing is held then.
TEST_F(CudaVisionRedact, gaps_let_held_frames_go_and_events_are_bounded) {
  Stream stream("look-back-time=300000000", bright("NV12", {64, 48}));
  stream.push(stream.frame({}));
  EXPECT_EQ(stream.pull(), nullptr);
  while (GstEvent *event = gst_harness_try_pull_event(stream.harness().get())) gst_event_unref(event);
  gst_harness_push_event(stream.harness().get(), gst_event_new_gap(GST_SECOND, GST_SECOND));
  const Owned<GstBuffer> out = stream.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(stream.hides_all(out)) << "later frames could not tell what was in it";
  const Owned<GstEvent> gap(gst_harness_try_pull_event(stream.harness().get()));
  ASSERT_NE(gap, nullptr);
  EXPECT_EQ(GST_EVENT_TYPE(gap.get()), GST_EVENT_GAP);
  stream.push(stream.frame({}));
  for (int i = 0; i < 3000; ++i)
    gst_harness_push_event(stream.harness().get(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                                        gst_structure_new_empty("note")));
  EXPECT_NE(stream.pull(), nullptr);
  EXPECT_EQ(gst_harness_events_in_queue(stream.harness().get()), 3000u);
}

// The latency that a stream has before its caps are known, with the caps, and after frames at these times in seconds.
void expect_latency(const std::string &properties, GstClockTime at_first, GstClockTime by_caps,
                    const std::vector<guint64> &times) {
  Harness harness("cudavisionredact " + properties);
  gst_harness_set_upstream_latency(harness.get(), 7 * GST_MSECOND);
  EXPECT_EQ(gst_harness_query_latency(harness.get()), 7 * GST_MSECOND + at_first) << properties;
  const VideoFrame picture = bright("NV12", {64, 48});
  gst_harness_set_src_caps(harness.get(), Stream::caps(picture).release());
  const Owned<GstMessage> message = take_message(harness.element(), GST_MESSAGE_LATENCY);
  EXPECT_EQ(message != nullptr, at_first != by_caps) << properties;
  for (const guint64 time : times) {
    Owned<GstBuffer> frame = picture.buffer();
    GST_BUFFER_PTS(frame.get()) = time * GST_SECOND;
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  }
  EXPECT_EQ(gst_harness_query_latency(harness.get()), 7 * GST_MSECOND + by_caps) << properties;
}

// Frames that pause or come seldom do not change it: sinks would have to wait anew.
TEST_F(CudaVisionRedact, look_back_time_is_a_constant_part_of_the_latency) {
  expect_latency("look-back-time=400000000", 400 * GST_MSECOND, 400 * GST_MSECOND, {0, 3600, 7200});
  expect_latency("look-back-time=400000000 look-back=9", 400 * GST_MSECOND, 400 * GST_MSECOND, {});
  expect_latency("look-back=3", 100 * GST_MSECOND - 1, 3 * kFrame, {0, 3600, 7200});
  expect_latency("look-back=300", 256 * (GST_SECOND / 30), 256 * kFrame, {});
  expect_latency("look-back-time=18446744073709551615", 60 * GST_SECOND, 256 * kFrame, {});
}

// A frame leaves before it has waited for longer than was promised, also if the time is no multiple of its duration.
TEST_F(CudaVisionRedact, a_frame_waits_for_look_back_time_and_at_most_for_256_frames) {
  for (const auto &[time, held] : {std::pair{"0", 0u},
                                   {"99000000", 0u},
                                   {"100000000", 1u},
                                   {"399000000", 3u},
                                   {"400000000", 4u},
                                   {"60000000000", 256u}}) {
    Stream stream(std::string("on-silence=pass look-back-time=") + time, bright("GRAY8", {8, 8}));
    for (int i = 0; i < 300; ++i) stream.push(stream.unmarked());
    EXPECT_EQ(gst_harness_buffers_in_queue(stream.harness().get()), 300u - held) << time;
  }
}

// As from a camera that takes fewer frames in the dark, or behind a leaky queue.
TEST_F(CudaVisionRedact, a_frame_leaves_in_time_if_frames_come_less_often_than_the_caps_say) {
  Stream stream("on-silence=pass look-back-time=600000000", bright("GRAY8", {8, 8}));
  for (int i = 0; i < 9; ++i) {
    stream.push(stream.unmarked());
    const Owned<GstBuffer> out = stream.pull();
    ASSERT_EQ(out != nullptr, i >= 2) << i;  // two frames are 500 ms, and three would be 750
    if (out != nullptr) {
      EXPECT_EQ(GST_BUFFER_PTS(out.get()), static_cast<GstClockTime>(i - 2) * 250 * GST_MSECOND);
    }
    stream.time() += 150 * GST_MSECOND;
  }
}

TEST_F(CudaVisionRedact, the_frame_behind_a_gap_is_marked) {
  Stream stream("on-silence=pass look-back-time=200000000", bright("GRAY8", {8, 8}));
  for (int i = 0; i < 6; ++i) {
    Owned<GstBuffer> frame = stream.unmarked();
    if (i == 3) GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);
    stream.push(std::move(frame));
  }
  gst_harness_push_event(stream.harness().get(), gst_event_new_eos());
  for (int i = 0; i < 6; ++i) {
    const Owned<GstBuffer> out = stream.pull();
    ASSERT_NE(out, nullptr);
    if (i == 3) {
      EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
    }
  }
}

// A nonsense rate such as 90000/1 would ask for 256.
TEST_F(CudaVisionRedact, a_rate_that_no_camera_keeps_asks_for_no_more_buffers) {
  Harness harness("cudavisionredact look-back-time=500000000");
  Owned<GstCaps> caps = bright("NV12", {64, 48}).caps();
  caps.reset(gst_caps_make_writable(caps.release()));
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 90000, 1, nullptr);
  gst_harness_set_src_caps(harness.get(), gst_caps_ref(caps.get()));
  GstQuery *query = gst_query_new_allocation(caps.get(), TRUE);
  GstPad *source = gst_pad_get_peer(harness.get()->srcpad);
  EXPECT_TRUE(gst_pad_query(source, query));
  ASSERT_GE(gst_query_get_n_allocation_pools(query), 1u);
  guint least = 0;
  gst_query_parse_nth_allocation_pool(query, 0, nullptr, nullptr, &least, nullptr);
  EXPECT_GE(least, 15u);
  EXPECT_LE(least, 17u);
  gst_query_unref(query);
  gst_object_unref(source);
}

TEST_F(CudaVisionRedact, held_frames_add_to_the_buffers_of_a_pool) {
  Stream stream("look-back-time=350000000", bright("NV12", {64, 48}));
  const Owned<GstCaps> caps = Stream::caps(stream.picture());
  GstQuery *query = gst_query_new_allocation(caps.get(), TRUE);
  GstPad *source = gst_pad_get_peer(stream.harness().get()->srcpad);
  EXPECT_TRUE(gst_pad_query(source, query));
  ASSERT_GE(gst_query_get_n_allocation_pools(query), 1u);
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, nullptr, &size, &least, &most);
  EXPECT_GE(size, GST_VIDEO_INFO_SIZE(&stream.picture().info()));
  EXPECT_GE(least, 4u);
  EXPECT_EQ(most, 0u);
  gst_query_unref(query);
  gst_object_unref(source);
}

// --- a detector that falls silent ---

TEST_F(CudaVisionRedact, silence_of_a_detector_that_marks_frames_hides_all) {
  Stream stream("timeout=0.25", bright("NV12", {64, 48}));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.unmarked()))) << "nobody has looked yet";
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {}));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked()), {}));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.unmarked()))) << "0.3 s without a mark";
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.unmarked({{1, 1, 5, 5}})))) << "a box is no mark";
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{1, 1, 5, 5}}));
  EXPECT_TRUE(is(take_warning(stream.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "hidden as a whole"));
}

// A detector need not recognise at once what a new scene shows.
TEST_F(CudaVisionRedact, looks_of_before_do_not_count_in_another_scene) {
  const auto expect_hidden = [](const char *what, auto &&change, bool is_new_detector = false) {
    Stream stream("", bright("NV12", {64, 48}));
    stream.exchange(stream.frame({}));
    EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked()), {})) << what;
    change(&stream);
    Owned<GstBuffer> frame = stream.unmarked();
    EXPECT_TRUE(stream.hides_all(stream.exchange(std::move(frame)))) << what;
    EXPECT_EQ(bool(stream.hides_all(stream.exchange(stream.unmarked({{1, 1, 5, 5}})))), !is_new_detector)
        << what << ": a box is no mark";
    EXPECT_FALSE(take_warning(stream.element())) << what << ": no timeout has passed";
    EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({})), {{1, 1, 5, 5}})) << what;
  };
  expect_hidden("flush", [](Stream *stream) { stream->harness().flush(); });
  expect_hidden("jump", [](Stream *stream) { stream->time() += 5 * GST_SECOND; });
  expect_hidden("jump back", [](Stream *stream) {
    stream->time() += 900 * GST_MSECOND;
    stream->exchange(stream->unmarked());
    stream->time() = 0;
  });
  expect_hidden(
      "another stream",
      [](Stream *stream) {
        GstHarness *harness = stream->harness().get();
        EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_stream_start("another")));
        gst_harness_set_src_caps(harness, Stream::caps(stream->picture()).release());
        GstSegment segment;
        gst_segment_init(&segment, GST_FORMAT_TIME);
        EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
      },
      true);
  expect_hidden(
      "another type", [](Stream *stream) { g_object_set(stream->element(), "type", "person", nullptr); },
      true);
  const auto push_segment = [](Stream *stream) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    EXPECT_TRUE(gst_harness_push_event(stream->harness().get(), gst_event_new_segment(&segment)));
  };
  expect_hidden("jump behind a segment",
                [&](Stream *stream) { push_segment(stream), stream->time() += 5 * GST_SECOND; });
  expect_hidden("jump behind a gap event", [](Stream *stream) {
    gst_harness_push_event(stream->harness().get(), gst_event_new_gap(stream->time(), kFrame));
    stream->time() += 5 * GST_SECOND;
  });
  expect_hidden("jump at a frame without a timestamp", [](Stream *stream) {
    Owned<GstBuffer> frame = stream->unmarked();
    GST_BUFFER_PTS(frame.get()) = GST_CLOCK_TIME_NONE;
    stream->exchange(std::move(frame));
    stream->time() += 5 * GST_SECOND;
  });
}

// It may show another scene, unless a detector has looked at it. The next frame shows the one of before again.
TEST_F(CudaVisionRedact, a_stray_timestamp_hides_its_own_frame_alone) {
  for (const bool is_marked : {false, true})
    for (const GstClockTime stray : {GstClockTime{0}, GstClockTime{7200} * GST_SECOND}) {
      Stream stream("timeout=0.25", bright("NV12", {64, 48}));
      stream.time() = 3600 * GST_SECOND;
      for (int i = 0; i < 3; ++i) stream.exchange(stream.frame({}));
      const GstClockTime time = std::exchange(stream.time(), stray);
      const Owned<GstBuffer> out = stream.exchange(is_marked ? stream.frame({}) : stream.unmarked());
      EXPECT_TRUE(is_marked ? stream.hides(out, {}) : stream.hides_all(out));
      stream.time() = time + kFrame;
      EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked()), {}));
    }
}

// Frames of a variable rate, with gap events between them, and some without timestamps.
TEST_F(CudaVisionRedact, time_goes_on_over_gaps_and_frames_without_timestamps) {
  for (const int stamped : {0, 2, 15}) {  // one frame of so many has a timestamp; 0: gap events
    const bool has_gaps = stamped == 0;
    Stream stream("timeout=2", bright("NV12", {64, 48}));
    stream.exchange(stream.frame({}));
    int hidden_from = 0;
    for (int i = 1; hidden_from == 0 && i < 60; ++i) {
      if (has_gaps) {
        gst_harness_push_event(stream.harness().get(), gst_event_new_gap(stream.time(), 7 * kFrame));
        stream.time() += 7 * kFrame;
      }
      Owned<GstBuffer> frame = stream.unmarked();
      if (!has_gaps && i % stamped != 0) GST_BUFFER_PTS(frame.get()) = GST_CLOCK_TIME_NONE;
      if (stream.hides_all(stream.exchange(std::move(frame)))) hidden_from = i;
    }
    EXPECT_EQ(hidden_from, has_gaps ? 3 : 21);
  }
}

TEST_F(CudaVisionRedact, mark_of_another_type_does_not_count) {
  Stream stream("type=face", bright("NV12", {64, 48}));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.frame({}))));
}

TEST_F(CudaVisionRedact, silence_of_a_detector_without_marks_is_that_of_its_boxes) {
  Stream stream("timeout=0.25 hold=0", bright("NV12", {64, 48}));
  EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked({{1, 1, 5, 5}})), {{1, 1, 5, 5}}));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked()), {}));
  EXPECT_TRUE(stream.hides_all(stream.exchange(stream.unmarked())));
}

// Boxes of a detector that has not looked at all of the frame do not tell that there is nobody else.
TEST_F(CudaVisionRedact, a_look_at_a_part_of_the_frame_is_silence) {
  Stream stream("timeout=0.25", bright("NV12", {64, 48}));
  for (int i = 0; i < 4; ++i) {
    Owned<GstBuffer> frame = stream.unmarked({{1, 1, 5, 5}});
    add_partial_look(frame.get());
    EXPECT_TRUE(stream.hides_all(stream.exchange(std::move(frame)))) << i;
  }
}

// A camera of a frame every two seconds: its gaps are no jumps.
TEST_F(CudaVisionRedact, silence_of_a_slow_camera_is_noticed_in_its_own_time) {
  Stream stream("timeout=5", bright("NV12", {64, 48}));
  int hidden_from = -1;
  for (int i = 0; i < 12; ++i) {
    Owned<GstBuffer> frame = i < 3 ? stream.frame({}) : stream.unmarked();
    GST_BUFFER_PTS(frame.get()) = static_cast<GstClockTime>(i) * 2 * GST_SECOND;
    stream.push(std::move(frame));
    const Owned<GstBuffer> out = stream.pull();
    if (hidden_from < 0 && out && stream.hides_all(out)) hidden_from = i;
  }
  EXPECT_EQ(hidden_from, 5);
}

TEST_F(CudaVisionRedact, silence_may_pass) {
  Stream stream("on-silence=pass", bright("NV12", {64, 48}));
  EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked()), {}));
  EXPECT_TRUE(stream.hides(stream.exchange(stream.unmarked({{1, 1, 5, 5}})), {{1, 1, 5, 5}}));
}

// --- masks and pictures ---

GstCudaVisionTensorMeta *add_map(GstBuffer *buffer, const char *id, const Picture &map, double x, double y) {
  const gsize dims[] = {static_cast<gsize>(map.height()), static_cast<gsize>(map.width())};
  GstBuffer *data = gst_buffer_new_memdup(map.pixels().data(), map.pixels().size());
  GstCudaVisionTensorMeta *meta =
      gst_cuda_vision_buffer_add_tensor_meta(buffer, id, GST_CUDA_VISION_ELEMENT_TYPE_U8, 2, dims, data);
  gst_cuda_vision_tensor_meta_set_geometry(meta, 64, 48, x, y, 1, 1);
  return meta;
}

TEST_F(CudaVisionRedact, motion_masks_are_hidden) {
  Picture map(Size{6, 4});
  std::fill(map.pixels().begin(), map.pixels().end(), std::uint8_t{255});
  for (const char *properties : {"", "type=motion"}) {
    Stream stream(properties, bright("NV12", {64, 48}));
    Owned<GstBuffer> buffer = stream.frame({});
    EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), nullptr, 0, nullptr));
    add_map(buffer.get(), "foreground-mask", map, 20, 30);
    EXPECT_TRUE(stream.hides(stream.exchange(std::move(buffer)), {{20, 30, 6, 4}}));
  }
  for (const char *properties : {"masks=false", "type=person"}) {
    Stream stream(properties, bright("NV12", {64, 48}));
    Owned<GstBuffer> buffer = stream.frame({});
    add_map(buffer.get(), "foreground-mask", map, 20, 30);
    EXPECT_TRUE(stream.hides(stream.exchange(std::move(buffer)), {}));
  }
}

TEST_F(CudaVisionRedact, mask_that_cannot_be_read_hides_the_whole_frame) {
  const Picture map(Size{6, 4});
  const auto expect_hidden = [&](const char *what, auto &&spoil) {
    Stream stream("", bright("NV12", {64, 48}));
    Owned<GstBuffer> buffer = stream.frame({});
    spoil(add_map(buffer.get(), "foreground-mask", map, 20, 30));
    EXPECT_TRUE(stream.hides_all(stream.exchange(std::move(buffer)))) << what;
  };
  expect_hidden("another frame", [](GstCudaVisionTensorMeta *meta) { meta->frame_width = 65; });
  expect_hidden("not at a pixel", [](GstCudaVisionTensorMeta *meta) { meta->origin_x = 0.5; });
  expect_hidden("no step", [](GstCudaVisionTensorMeta *meta) { meta->step_x = meta->step_y = NAN; });
  expect_hidden("too long", [](GstCudaVisionTensorMeta *meta) { meta->dims[0] = 1000; });
}

TEST_F(CudaVisionRedact, tensors_that_are_pictures_are_dropped_unless_they_are_asked_for) {
  for (const bool dropped : {true, false}) {
    Stream stream(dropped ? "" : "drop-pictures=false", bright("NV12", {64, 48}));
    Owned<GstBuffer> buffer = stream.frame({{1, 1, 5, 5}});
    for (const char *id : {"edges", "foreground-mask", "histogram", "of-somebody"})
      add_map(buffer.get(), id, Picture(Size{6, 4}), 0, 0);
    const Owned<GstBuffer> out = stream.exchange(std::move(buffer));
    EXPECT_EQ(tensor_count(out), dropped ? 1 : 4);
    EXPECT_NE(gst_cuda_vision_buffer_get_tensor_meta(out.get(), "histogram"), nullptr);
    EXPECT_EQ(regions_of(out).size(), 1u);
  }
}

// A video holds a frame of its own as its cover, for example.
TEST_F(CudaVisionRedact,
       tags_that_are_pictures_and_tables_of_contents_are_dropped_unless_they_are_asked_for) {
  for (const bool dropped : {true, false}) {
    Stream stream(dropped ? "" : "drop-pictures=false", bright("NV12", {64, 48}));
    stream.exchange(stream.frame({}));
    while (GstEvent *event = gst_harness_try_pull_event(stream.harness().get())) gst_event_unref(event);
    const auto push = [&stream](GstEvent *event) {
      EXPECT_TRUE(gst_harness_push_event(stream.harness().get(), event));
      return Owned<GstEvent>(gst_harness_try_pull_event(stream.harness().get()));
    };
    const Owned<GstBuffer> file(gst_buffer_new_allocate(nullptr, 4, nullptr));
    for (const char *name : {GST_TAG_IMAGE, GST_TAG_PREVIEW_IMAGE, GST_TAG_ATTACHMENT}) {
      GstSample *sample = gst_sample_new(file.get(), nullptr, nullptr, nullptr);
      EXPECT_EQ(push(gst_event_new_tag(gst_tag_list_new(name, sample, nullptr))) == nullptr, dropped) << name;
      const Owned<GstEvent> event =
          push(gst_event_new_tag(gst_tag_list_new(name, sample, GST_TAG_TITLE, "film", nullptr)));
      gst_sample_unref(sample);
      ASSERT_NE(event, nullptr);
      GstTagList *tags = nullptr;
      gst_event_parse_tag(event.get(), &tags);
      EXPECT_EQ(gst_tag_list_get_tag_size(tags, name), dropped ? 0u : 1u) << name;
      EXPECT_EQ(gst_tag_list_get_tag_size(tags, GST_TAG_TITLE), 1u);
    }
    GstEvent *title = gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "film", nullptr));
    EXPECT_EQ(push(title).get(), title) << "it is not made anew";
    GstToc *toc = gst_toc_new(GST_TOC_SCOPE_GLOBAL);
    EXPECT_EQ(push(gst_event_new_toc(toc, FALSE)) == nullptr, dropped);
    gst_toc_unref(toc);
  }
}

// --- faces ---

// The frontal face detector of OpenCV, or nothing if its packages lack it.
std::unique_ptr<cv::CascadeClassifier> face_detector() {
  const std::filesystem::path docs = test_data_folder() / "../../opencv4/html";
  for (const std::filesystem::path &path :
       {docs / "haarcascade_frontalface_default.xml.gz", docs / "haarcascade_frontalface_default.xml",
        std::filesystem::path("/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml")}) {
    std::string text;
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
    char part[4096];
    for (int count = 0; file != nullptr && (count = gzread(file.get(), part, sizeof part)) > 0;)
      text.append(part, static_cast<std::size_t>(count));
    if (text.empty()) continue;
    const std::string copy =
        testing::TempDir() + "faces-" + backend() + (kEmulated ? "-emulated" : "") + ".xml";
    FILE *out = std::fopen(copy.c_str(), "w");
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), out), text.size());
    std::fclose(out);
    auto detector = std::make_unique<cv::CascadeClassifier>(copy);
    if (!detector->empty()) return detector;
  }
  return nullptr;
}

std::vector<cv::Rect> faces_in(cv::CascadeClassifier *detector, const std::vector<std::uint8_t> &gray,
                               Size size) {
  const cv::Mat picture(size.height, size.width, CV_8U, const_cast<std::uint8_t *>(gray.data()),
                        static_cast<std::size_t>(size.width));
  std::vector<cv::Rect> faces;
  detector->detectMultiScale(picture, faces, 1.05, 3);
  return faces;
}

cv::Mat gray(const std::vector<std::uint8_t> &bytes, Size size) {
  return cv::Mat(size.height, size.width, CV_8U, const_cast<std::uint8_t *>(bytes.data())).clone();
}

// The correlation of two pictures, scaled to 64x36 pixels.
double correlation(const cv::Mat &a, const cv::Mat &b) {
  cv::Mat part[2], deviation[2];
  for (int i : {0, 1}) {
    cv::resize(i == 0 ? a : b, part[i], {64, 36}, 0, 0, cv::INTER_AREA);
    part[i].convertTo(deviation[i], CV_64F);
    deviation[i] -= cv::mean(deviation[i]);
  }
  return deviation[0].dot(deviation[1]) / (cv::norm(deviation[0]) * cv::norm(deviation[1]));
}

TEST_F(CudaVisionRedact, what_is_left_of_a_face_is_the_same_at_all_sizes) {
  if (kEmulated || kSanitized)
    GTEST_SKIP() << "takes too long; the kernels equal their definitions at all sizes";
  const Photo &photo = gray_photo("messi5.jpg");
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const cv::Mat all(photo.pixels.size().height, photo.pixels.size().width, CV_8U,
                    const_cast<std::uint8_t *>(photo.pixels.pixels().data()));
  for (const std::string mode : {"pixelate", "blur"})
    for (const int cells : {4, 6, 12}) {
      std::vector<double> left;
      for (const Size size : {Size{640, 360}, {1920, 1080}, {3840, 2160}}) {
        VideoFrame picture("GRAY8", size);
        cv::Mat scaled;
        cv::resize(all, scaled, {size.width, size.height}, 0, 0, cv::INTER_CUBIC);
        picture.bytes().assign(scaled.data, scaled.data + scaled.total());
        const cv::Rect face(size.width * 2 / 5, size.height / 4, size.width / 9, size.height / 5);
        Stream stream("mode=" + mode + " cells=" + std::to_string(cells), picture);
        const Owned<GstBuffer> out = stream.exchange(
            stream.frame({{1.0 * face.x, 1.0 * face.y, 1.0 * face.width, 1.0 * face.height}}));
        left.push_back(correlation(scaled(face), gray(bytes_of(out.get()), size)(face)));
      }
      const auto [least, most] = std::minmax_element(left.begin(), left.end());
      EXPECT_LE(*most - *least, 0.05) << mode << " " << cells << ": " << testing::PrintToString(left);
      EXPECT_LE(*most, cells < 12 ? 0.9 : 0.97) << mode << " " << cells;
    }
}

TEST_F(CudaVisionRedact, opencv_finds_no_face_again) {
  const std::unique_ptr<cv::CascadeClassifier> detector = face_detector();
  if (detector == nullptr) GTEST_SKIP() << "opencv-doc has no face detector";
  const Photo &photo = gray_photo("messi5.jpg");
  if (!photo.ok()) GTEST_SKIP() << photo.why_not;
  const Size all = photo.pixels.size(), size{all.width / 4 * 4, all.height};  // rows without padding
  VideoFrame picture("GRAY8", size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.sample(0, x, y) = photo.pixels.at(x, y);
  const std::vector<cv::Rect> faces = faces_in(detector.get(), picture.bytes(), size);
  ASSERT_FALSE(faces.empty());
  for (const char *properties : {"", "mode=pixelate", "mode=pixelate shape=ellipse", "mode=blur"}) {
    Stream stream(properties, picture);
    std::vector<Box> boxes;
    for (const cv::Rect &face : faces)
      boxes.push_back({1.0 * face.x, 1.0 * face.y, 1.0 * face.width, 1.0 * face.height});
    const Owned<GstBuffer> out = stream.exchange(stream.frame(boxes));
    for (const cv::Rect &again : faces_in(detector.get(), bytes_of(out.get()), size))
      for (const cv::Rect &face : faces) EXPECT_EQ((again & face).area(), 0) << properties << " " << again;
  }
}

// --- messages, properties, cost ---

TEST_F(CudaVisionRedact, message_tells_what_was_hidden) {
  Stream stream("post-messages=true");
  stream.exchange(stream.frame({{1, 1, 5, 5}, {20, 20, 5, 5}}));
  const Owned<GstMessage> message = take_message(stream.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  gint regions = 0, masks = -1;
  gboolean whole = TRUE;
  EXPECT_TRUE(gst_structure_get(gst_message_get_structure(message.get()), "regions", G_TYPE_INT, &regions,
                                "masks", G_TYPE_INT, &masks, "whole", G_TYPE_BOOLEAN, &whole, nullptr));
  EXPECT_EQ(regions, 2);
  EXPECT_EQ(masks, 0);
  EXPECT_FALSE(whole);
}

TEST_F(CudaVisionRedact, properties_take_effect_on_the_next_frame_and_refuse_other_values) {
  Stream stream("hold=0", bright("NV12", {64, 48}));
  g_object_set(stream.element(), "dilate", 4, nullptr);
  EXPECT_TRUE(stream.hides(stream.exchange(stream.frame({{20, 20, 5, 5}})), {{16, 16, 13, 13}}));
  for (const auto &[name, value] :
       {std::pair{"cells", 0}, {"cells", 33}, {"dilate", 256}, {"look-back", 301}}) {
    g_object_set(stream.element(), name, value, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << name;
  }
}

TEST_F(CudaVisionRedact, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *properties;
    FrameBudget budget;
  } cases[] = {{"", {1, 3, 2}}, {"mode=pixelate", {2, 3, 2}}, {"mode=blur strength=4", {6, 3, 2}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.properties);
    Stream stream(c.properties, VideoFrame("NV12", {66, 34}));
    stream.exchange(stream.frame({{4, 4, 20, 20}}));
    stream.exchange(stream.frame({{4, 4, 20, 20}}));
    Owned<GstBuffer> buffer = stream.frame({{4, 4, 20, 20}});
    const simt::Counters before = simt::counters();
    const Owned<GstBuffer> out = stream.exchange(std::move(buffer));
    expect_spent(simt::counters() - before, c.budget);
  }
}

}  // namespace
