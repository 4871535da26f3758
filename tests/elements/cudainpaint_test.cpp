// SPDX-License-Identifier: LGPL-2.1-or-later
// cudainpaint in every format: its properties, its modes, its messages and its GPU calls per frame.
#include <gst/video/video.h>

#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/elements/cuda_memory.h"
#include "tests/elements/frame_budget.h"
#include "tests/elements/inpaint_reference.h"
#include "tests/elements/tensor.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;
using cudavision::InpaintParams;
using cudavision::InpaintReport;
using cudavision::Region;
using cudavision::Size;

class CudaInpaint : public ElementTest {};

constexpr Size kSize{40, 32};
constexpr Region kRegion{14, 10, 9, 8};
// Small patches for small frames.
constexpr char kSmall[] = "cudainpaint patch-size=5 ";
const std::string kRegionSet = "region-x=14 region-y=10 region-width=9 region-height=8 ";

InpaintParams small_params() {
  InpaintParams params;
  params.patch_size = 5;
  return params;
}

// --- every format ---

class CudaInpaintFormat : public ElementTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaInpaintFormat, testing::ValuesIn(kFormats),
                         [](const auto &format) { return format.param; });

TEST_P(CudaInpaintFormat, region_is_filled_and_every_other_byte_stays) {
  for (const Layout layout : {Layout::of_the_caps, Layout::apart}) {
    const VideoFrame frame(GetParam(), {41, 33}, 3, layout);
    Harness inpaint(kSmall + kRegionSet);
    const VideoFrame expected = with_filled(frame, mask_of(frame.size(), {kRegion}), small_params());
    EXPECT_NE(expected.bytes(), frame.bytes());
    EXPECT_TRUE(same_bytes(inpaint.work(frame), expected));
  }
}

TEST_P(CudaInpaintFormat, frame_without_anything_removed_stays) {
  const VideoFrame frame(GetParam(), {33, 21}, 4, Layout::apart);
  Harness nothing("cudainpaint"), outside("cudainpaint region-x=33 region-width=5 region-height=9");
  EXPECT_TRUE(same_bytes(nothing.pass(frame), frame));
  EXPECT_TRUE(same_bytes(outside.work(frame), frame));
}

TEST_F(CudaInpaint, colorimetry_says_what_is_compared) {
  for (const char *colorimetry : {"bt601", "bt709", "1:3:5:1"}) {
    VideoFrame frame("NV12", kSize, 5);
    frame.set_colorimetry(colorimetry);
    Harness inpaint(kSmall + kRegionSet + "lab=true");
    InpaintParams params = small_params();
    params.lab = true;
    EXPECT_TRUE(same_bytes(inpaint.work(frame), with_filled(frame, mask_of(kSize, {kRegion}), params)))
        << colorimetry;
  }
}

// --- properties ---

TEST_F(CudaInpaint, properties_have_their_defaults) {
  const Owned<GstElement> element = parse("cudainpaint");
  EXPECT_EQ(integer(element.get(), "patch-size"), 9);
  EXPECT_EQ(integer(element.get(), "search-radius"), 0);
  EXPECT_EQ(integer(element.get(), "max-patches"), 0);
  EXPECT_EQ(integer(element.get(), "history"), 0);
  EXPECT_EQ(integer(element.get(), "learn-frames"), 100);
  EXPECT_EQ(integer(element.get(), "dilate"), 0);
  EXPECT_EQ(integer(element.get(), "mask-tolerance"), 16);
  for (const char *name : {"region-x", "region-y", "region-width", "region-height"})
    EXPECT_EQ(integer(element.get(), name), 0) << name;
  EXPECT_EQ(text(element.get(), "mode"), "frame");
  gboolean lab = TRUE, alpha = TRUE;
  gchar *location = nullptr, *type = nullptr;
  g_object_get(element.get(), "lab", &lab, "mask-alpha", &alpha, "mask-location", &location, "remove-type",
               &type, nullptr);
  EXPECT_FALSE(lab);
  EXPECT_FALSE(alpha);
  EXPECT_EQ(text(element.get(), "mask-color"), "none");
  EXPECT_EQ(location, nullptr);
  EXPECT_EQ(type, nullptr);
}

TEST_F(CudaInpaint, refused_values_warn_and_change_nothing) {
  const Owned<GstElement> element = parse("cudainpaint");
  for (const auto &[property, refused] : {std::pair{"patch-size", 2},
                                          {"patch-size", 16},
                                          {"search-radius", -1},
                                          {"max-patches", -1},
                                          {"history", -1},
                                          {"learn-frames", 0},
                                          {"learn-frames", 65536},
                                          {"dilate", -1},
                                          {"dilate", 256},
                                          {"mask-tolerance", -1},
                                          {"mask-tolerance", 256},
                                          {"region-x", -1},
                                          {"region-width", -1},
                                          {"mode", 2}}) {
    const int before = integer(element.get(), property);
    g_object_set(element.get(), property, refused, nullptr);
    EXPECT_EQ(take_glib_complaints(), 1u) << property << " " << refused;
    EXPECT_EQ(integer(element.get(), property), before) << property << " " << refused;
  }
  EXPECT_NE(why_refused("fakesrc ! cudainpaint mode=video ! fakesink").find("mode"), std::string::npos);
}

TEST_F(CudaInpaint, even_patches_are_an_error_at_the_start_and_a_warning_in_playing) {
  {
    const Owned<GstElement> element = parse("cudainpaint patch-size=8 backend=" + backend());
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "patch-size"));
  }
  Harness inpaint(kSmall + kRegionSet);
  const VideoFrame frame("RGB", kSize, 6);
  const VideoFrame expected = with_filled(frame, mask_of(kSize, {kRegion}), small_params());
  set(inpaint.element(), "patch-size", "6");
  EXPECT_TRUE(same_bytes(inpaint.work(frame), expected));
  EXPECT_TRUE(
      is(take_warning(inpaint.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "patch-size"));
}

TEST_F(CudaInpaint, properties_take_effect_on_the_next_frame) {
  Harness inpaint(kSmall + kRegionSet);
  const VideoFrame frame("BGR", kSize, 7);
  InpaintParams params = small_params();
  Region region = kRegion;
  std::vector<std::uint8_t> last = frame.bytes();
  const struct {
    const char *property, *value;
    void (*change)(InpaintParams *, Region *);
  } changes[] = {{"patch-size", "7", [](InpaintParams *p, Region *) { p->patch_size = 7; }},
                 {"search-radius", "9", [](InpaintParams *p, Region *) { p->search_radius = 9; }},
                 {"max-patches", "3", [](InpaintParams *p, Region *) { p->max_patches = 3; }},
                 {"lab", "true", [](InpaintParams *p, Region *) { p->lab = true; }},
                 {"max-patches", "0", [](InpaintParams *p, Region *) { p->max_patches = 0; }},
                 {"region-x", "20", [](InpaintParams *, Region *r) { r->x = 20; }},
                 {"region-y", "3", [](InpaintParams *, Region *r) { r->y = 3; }},
                 {"region-width", "4", [](InpaintParams *, Region *r) { r->width = 4; }},
                 {"region-height", "12", [](InpaintParams *, Region *r) { r->height = 12; }},
                 {"dilate", "2", [](InpaintParams *, Region *r) {
                    *r = {r->x - 2, r->y - 2, r->width + 4, r->height + 4};
                  }}};
  for (const auto &change : changes) {
    SCOPED_TRACE(std::string(change.property) + "=" + change.value);
    set(inpaint.element(), change.property, change.value);
    change.change(&params, &region);
    const VideoFrame expected = with_filled(frame, mask_of(kSize, {region}), params);
    EXPECT_NE(expected.bytes(), last) << "the change proves nothing";
    EXPECT_TRUE(same_bytes(inpaint.work(frame), expected));
    last = expected.bytes();
  }
}

// --- frames that pass unchanged ---

TEST_F(CudaInpaint, frame_without_a_source_patch_passes_with_one_warning) {
  Harness inpaint("cudainpaint message=true region-width=40 region-height=30");
  const VideoFrame frame("I420", kSize, 8);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(same_bytes(inpaint.work(frame), frame));
  EXPECT_TRUE(
      is(take_warning(inpaint.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "1200 pixels"));
  EXPECT_FALSE(take_warning(inpaint.element()));
  set(inpaint.element(), "region-width", "5");
  EXPECT_NE(inpaint.work(frame), frame.bytes());
  EXPECT_FALSE(take_warning(inpaint.element()));
  set(inpaint.element(), "region-width", "40");
  EXPECT_TRUE(same_bytes(inpaint.work(frame), frame));
  EXPECT_FALSE(take_warning(inpaint.element()));
}

TEST_F(CudaInpaint, display_off_and_skipped_frames_pass) {
  Harness off(kSmall + kRegionSet + "display=false"), nth(kSmall + kRegionSet + "every-nth=2");
  const VideoFrame frame("NV12", kSize, 9);
  EXPECT_TRUE(same_bytes(off.pass(frame), frame));
  const VideoFrame expected = with_filled(frame, mask_of(kSize, {kRegion}), small_params());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(same_bytes(nth.pass(frame), i % 2 == 0 ? expected : frame));
}

TEST_F(CudaInpaint, nothing_outside_of_the_region_of_interest_is_removed) {
  Harness inpaint(kSmall + kRegionSet + "roi-x=16 roi-width=4 roi-y=6 roi-height=7 dilate=1");
  const VideoFrame frame("RGBx", kSize, 10);
  EXPECT_TRUE(
      same_bytes(inpaint.work(frame), with_filled(frame, mask_of(kSize, {{16, 9, 4, 4}}), small_params())));
}

// --- temporal mode ---

TEST_F(CudaInpaint, temporal_mode_restores_the_background_until_the_history_is_dropped) {
  Harness inpaint(kSmall + kRegionSet + "mode=temporal");
  InpaintReference reference(kSize);
  InpaintParams params = small_params();
  params.temporal = true;
  const Picture mask = mask_of(kSize, {kRegion}), none(kSize);
  const auto next = [&](const VideoFrame &frame, const Picture &removed) {
    EXPECT_TRUE(same_bytes(inpaint.work(frame), reference.filled(frame, removed, params)));
    return reference.report().remembered;
  };
  const VideoFrame background("NV12", kSize, 11);
  VideoFrame frame = background;
  for (int y = 10; y < 18; ++y)
    for (int x = 14; x < 23; ++x) frame.sample(0, x, y) = 7;
  EXPECT_EQ(next(frame, mask), 0);
  set(inpaint.element(), "region-width", "0");
  EXPECT_EQ(next(background, none), 0);
  set(inpaint.element(), "region-width", "9");
  EXPECT_EQ(next(frame, mask), 10 * 8);  // whole chroma samples
  // The history is dropped at a flush and at a discontinuity.
  reference = InpaintReference(kSize);
  inpaint.flush();
  EXPECT_EQ(next(frame, mask), 0);
  reference = InpaintReference(kSize);
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  const Owned<GstBuffer> out = inpaint.exchange(std::move(buffer));
  EXPECT_TRUE(same_bytes(bytes_of(out.get()), reference.filled(frame, mask, params)));
}

// The background may have changed during frames that were not learned.
TEST_F(CudaInpaint, frames_that_are_not_learned_drop_the_history) {
  const VideoFrame background("NV12", kSize, 18);
  VideoFrame frame = background;
  for (int y = 10; y < 18; ++y)
    for (int x = 14; x < 23; ++x) frame.sample(0, x, y) = 7;
  const Picture mask = mask_of(kSize, {kRegion});
  const VideoFrame alone = with_filled(frame, mask, small_params());
  for (const auto &[property, off, on] :
       {std::tuple{"mode", "frame", "temporal"}, {"display", "false", "true"}}) {
    SCOPED_TRACE(property);
    Harness inpaint(kSmall + kRegionSet + "mode=temporal");
    set(inpaint.element(), "region-width", "0");
    EXPECT_TRUE(same_bytes(inpaint.work(background), background));
    set(inpaint.element(), "region-width", "9");
    set(inpaint.element(), property, off);
    inpaint.pass(background);
    set(inpaint.element(), property, on);
    EXPECT_NE(alone.bytes(), background.bytes());
    EXPECT_TRUE(same_bytes(inpaint.work(frame), alone));
  }
}

TEST_F(CudaInpaint, history_limits_how_long_pixels_are_remembered) {
  Harness inpaint(kSmall + kRegionSet + "mode=temporal history=2 message=true");
  InpaintReference reference(kSize);
  InpaintParams params = small_params();
  params.temporal = true, params.history = 2;
  const VideoFrame frame("GRAY8", kSize, 12);
  set(inpaint.element(), "region-width", "0");
  EXPECT_TRUE(same_bytes(inpaint.work(frame), reference.filled(frame, Picture(kSize), params)));
  set(inpaint.element(), "region-width", "9");
  for (int i = 1; i < 5; ++i) {
    EXPECT_TRUE(same_bytes(inpaint.work(frame), reference.filled(frame, mask_of(kSize, {kRegion}), params)));
    EXPECT_EQ(reference.report().remembered, i <= 2 ? 72 : 0);
  }
}

// --- messages and costs ---

InpaintReport report_of(GstElement *element) {
  const Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT);
  EXPECT_NE(message, nullptr);
  if (!message) return {};
  const GstStructure *structure = gst_message_get_structure(message.get());
  EXPECT_STREQ(gst_structure_get_name(structure), "cudainpaint");
  const auto number = [structure](const char *name) {
    guint value = 0;
    EXPECT_TRUE(gst_structure_get_uint(structure, name, &value)) << name;
    return static_cast<int>(value);
  };
  gboolean refused = FALSE;
  EXPECT_TRUE(gst_structure_get_boolean(structure, "refused", &refused));
  return {.removed = number("removed"),
          .remembered = number("remembered"),
          .patches = number("patches"),
          .diffused = number("diffused"),
          .refused = refused != FALSE};
}

TEST_F(CudaInpaint, message_has_the_report) {
  Harness inpaint(kSmall + kRegionSet + "message=true max-patches=4");
  const VideoFrame frame("RGBA", kSize, 13);
  InpaintReference reference(kSize);
  InpaintParams params = small_params();
  params.max_patches = 4;
  const VideoFrame expected = reference.filled(frame, mask_of(kSize, {kRegion}), params);
  EXPECT_GT(reference.report().diffused, 0);
  EXPECT_TRUE(same_bytes(inpaint.work(frame), expected));
  EXPECT_EQ(report_of(inpaint.element()), reference.report());
  set(inpaint.element(), "region-width", "0");
  EXPECT_TRUE(same_bytes(inpaint.pass(frame), frame));
  EXPECT_EQ(report_of(inpaint.element()), InpaintReport{});
}

TEST_F(CudaInpaint, gpu_calls_per_frame_stay_in_the_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", kSize, 14);
  const struct {
    const char *description;
    FrameBudget budget;
  } cases[] = {// Launches: mask, pixel words, candidates, fill, frame. Downloads: two planes and the report.
               {"", {5, 2, 3}},
               {"dilate=2", {7, 2, 3}},
               {"mode=temporal", {6, 2, 3}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.description);
    Harness inpaint(kSmall + kRegionSet + c.description);
    expect_budget(&inpaint, frame, c.budget);
  }
  Harness nothing("cudainpaint");
  nothing.pass(frame);
  const simt::Counters before = simt::counters();
  nothing.pass(frame);
  EXPECT_EQ((simt::counters() - before).launches, 0u);
}

class CudaInpaintMemory : public CudaMemoryTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaInpaintMemory, testing::ValuesIn(cuda_formats()),
                         [](const auto &format) { return format.param; });

TEST_P(CudaInpaintMemory, frames_are_filled_where_they_lie) {
  const CudaSource source;
  CudaHarness inpaint(kSmall + kRegionSet);
  const VideoFrame frame(GetParam(), kSize, 15);
  inpaint.negotiate_cuda(frame);
  Owned<GstBuffer> buffer = source.buffer(frame);
  const GstMemory *const memory = gst_buffer_peek_memory(buffer.get(), 0);
  const Owned<GstBuffer> out = inpaint.exchange(std::move(buffer));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_TRUE(same_bytes(samples_of(out.get(), frame),
                         with_filled(frame, mask_of(kSize, {kRegion}), small_params())));
}

// A frame of noise, in which no two patches are similar.
VideoFrame noisy(Size size) {
  VideoFrame frame("RGB", size, 16);
  Random random(3);
  for (auto &byte : frame.bytes()) byte = random.byte();
  return frame;
}

struct Progress {
  GstProgressType type;
  std::string text;
};
// The next progress message.
std::optional<Progress> next_progress(GstElement *element, GstClockTime wait = 0) {
  const Owned<GstMessage> message = take_message(element, GST_MESSAGE_PROGRESS, wait);
  if (!message) return std::nullopt;
  Progress progress;
  gchar *code = nullptr, *text = nullptr;
  gst_message_parse_progress(message.get(), &progress.type, &code, &text);
  EXPECT_STREQ(code, "inpaint");
  progress.text = text;
  g_free(code);
  g_free(text);
  return progress;
}

// The hole is enlarged until a fill takes long enough.
TEST_F(CudaInpaint, long_fills_post_progress_messages) {
  if (backend() != "cpu") GTEST_SKIP() << "the GPU reports no progress";
  std::vector<Progress> messages;
  int side = 60;
  for (; messages.empty() && side <= 1920; side *= 2) {
    Harness inpaint("cudainpaint patch-size=3 n-threads=1 region-x=20 region-y=20 region-width=" +
                    std::to_string(side) + " region-height=" + std::to_string(side));
    inpaint.work(noisy({2 * side + 40, side + 40}));
    while (const std::optional<Progress> next = next_progress(inpaint.element())) messages.push_back(*next);
  }
  side /= 2;
  ASSERT_GE(messages.size(), 2u);
  EXPECT_EQ(messages.front().type, GST_PROGRESS_TYPE_START);
  EXPECT_EQ(messages.back().type, GST_PROGRESS_TYPE_COMPLETE);
  for (std::size_t i = 1; i + 1 < messages.size(); ++i)
    EXPECT_EQ(messages[i].type, GST_PROGRESS_TYPE_CONTINUE);
  const std::string all = std::to_string(side * side);
  EXPECT_EQ(messages.back().text, "Filled " + all + " of " + all + " pixels");
}

// The fill would take minutes.
TEST_F(CudaInpaint, flush_and_state_change_stop_a_long_fill) {
  if (backend() != "cpu") GTEST_SKIP() << "an emulated fill takes too long, and progress is not reported";
  const VideoFrame frame = noisy({1800, 900});
  for (const bool flush : {true, false}) {
    SCOPED_TRACE(flush);
    Harness inpaint(
        "cudainpaint patch-size=3 n-threads=1 region-x=20 region-y=20 region-width=860 region-height=860");
    inpaint.negotiate(frame);
    std::thread streaming([&] { (void)inpaint.push(frame.buffer()); });
    std::vector<GstProgressType> types;
    while (types.empty() || types.back() != GST_PROGRESS_TYPE_CONTINUE) {
      const std::optional<Progress> next = next_progress(inpaint.element(), kPatience);
      if (!next) break;
      types.push_back(next->type);
    }
    EXPECT_EQ(types, (std::vector{GST_PROGRESS_TYPE_START, GST_PROGRESS_TYPE_CONTINUE}));
    if (flush)
      EXPECT_TRUE(gst_harness_push_event(inpaint.get(), gst_event_new_flush_start()));
    else
      gst_element_set_state(inpaint.element(), GST_STATE_READY);
    streaming.join();
    std::optional<Progress> last;
    while (const std::optional<Progress> next = next_progress(inpaint.element())) last = next;
    ASSERT_TRUE(last);
    EXPECT_EQ(last->type, GST_PROGRESS_TYPE_CANCELED) << last->text;
    EXPECT_NE(last->text.find(" of 739600 pixels"), std::string::npos) << last->text;
  }
}

TEST_F(CudaInpaint, two_elements_in_one_pipeline_remove_two_objects) {
  const VideoFrame frame("I420", {64, 48}, 17);
  const Owned<GstElement> pipeline = parse(
      "appsrc name=in format=time ! cudainpaint patch-size=5 region-x=10 region-y=10 region-width=8 "
      "region-height=8 backend=" +
      backend() +
      " ! cudainpaint patch-size=5 mode=temporal region-x=40 region-y=20 region-width=8 region-height=8 "
      "backend=" +
      backend() + " ! appsink name=out sync=false");
  const VideoFrame one = with_filled(frame, mask_of(frame.size(), {{10, 10, 8, 8}}), small_params());
  InpaintParams params = small_params();
  params.temporal = true;
  EXPECT_TRUE(same_bytes(through(pipeline, frame),
                         with_filled(one, mask_of(frame.size(), {{40, 20, 8, 8}}), params)));
}

}  // namespace
