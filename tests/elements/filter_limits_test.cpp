// SPDX-License-Identifier: LGPL-2.1-or-later
// What bounds an element: max-memory, requests to stop, and regions that are too small.
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterLimits : public ElementTest {};

std::vector<std::string> elements() {
  return every_element(
      {.property = "max-memory",
       .own = {"cudavisionredact mode=blur inverse=true on-silence=pass"},  // filling needs next to no memory
       .left_out = {{"cudavisionoverlay", "needs memory only for what an element before it has found"}}});
}

// The elements, or a third of them where a frame takes a second.
std::vector<std::string> tested_elements() {
  const std::vector<std::string> all = elements();
  std::vector<std::string> tested;
  for (std::size_t i = 0; i < all.size(); i += kEmulated && kSanitized ? 3 : 1) tested.push_back(all[i]);
  return tested;
}

// --- max-memory ---

// Negotiates and pushes a few frames. Returns the first error, or nothing if every frame was processed.
std::optional<Complaint> error_of(const std::string &description, guint64 max_memory) {
  Harness harness(description + " max-memory=" + std::to_string(max_memory));
  for (unsigned seed = 1; seed < 4; ++seed) {
    const VideoFrame frame("NV12", {64, 48}, seed);
    harness.negotiate(frame);
    const GstFlowReturn result = harness.push(frame.buffer());
    if (auto error = take_error(harness.element())) return error;
    EXPECT_EQ(result, GST_FLOW_OK) << description;
    while (take_message(harness.element(), GST_MESSAGE_ELEMENT)) {
    }
  }
  return std::nullopt;
}

// An error names the bytes that were needed when the memory ran out. With as many bytes the element comes
// further, until it has all that it needs.
TEST_F(FilterLimits, max_memory_is_the_limit_to_a_byte) {
  for (const std::string &description : tested_elements()) {
    SCOPED_TRACE(description);
    guint64 needed = 1;
    int steps = 0;
    for (std::optional<Complaint> error; (error = error_of(description, needed)); ++steps) {
      const std::string begin = "at least ",
                        end = " bytes are needed, and max-memory allows " + std::to_string(needed);
      const auto from = error->text.find(begin), to = error->text.find(end);
      ASSERT_NE(from, std::string::npos) << error->text;
      ASSERT_NE(to, std::string::npos) << error->text;
      EXPECT_EQ(error->code, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
      const guint64 said = std::stoull(error->text.substr(from + begin.size()));
      ASSERT_GT(said, needed);
      needed = said;
      ASSERT_LT(steps, 500);
    }
    EXPECT_GT(steps, 0);
    EXPECT_TRUE(error_of(description, needed - 1)) << needed;
  }
}

TEST_F(FilterLimits, less_memory_in_playing_is_an_error_and_a_restart_works) {
  for (const std::string &description : tested_elements()) {
    SCOPED_TRACE(description);
    Harness harness(description);
    const VideoFrame frame("NV12", {64, 48});
    harness.negotiate(frame);
    EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_OK);
    set(harness.element(), "max-memory", "1000");
    EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_ERROR);
    EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                   "max-memory allows 1000"));
    set(harness.element(), "max-memory", "0");
    harness.restart();
    harness.negotiate(frame);
    EXPECT_EQ(harness.push(frame.buffer()), GST_FLOW_OK);
  }
}

// --- requests to stop ---

// While set, this element is flushed at the moment when it begins a frame: the request to stop precedes the work.
GstElement *armed = nullptr;

gboolean flush_at_this_moment(GstControlSource *, GstClockTime, gdouble *value) {
  *value = 0;
  if (GstElement *element = std::exchange(armed, nullptr); element != nullptr) {
    GstPad *pad = gst_element_get_static_pad(element, "sink");
    gst_pad_send_event(pad, gst_event_new_flush_start());
    gst_object_unref(pad);
  }
  return TRUE;
}

void end_flush(Harness *harness) {
  ASSERT_TRUE(gst_harness_push_event(harness->get(), gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(gst_harness_push_event(harness->get(), gst_event_new_segment(&segment)));
}

// Sends a frame that is given up, and ends the flush.
void give_up(Harness *harness, const VideoFrame &frame) {
  GstControlSource *source = gst_interpolation_control_source_new();
  source->get_value = flush_at_this_moment;
  GstObject *element = GST_OBJECT(harness->element());
  GstControlBinding *binding = gst_direct_control_binding_new(element, "roi-x", source);
  gst_object_add_control_binding(element, binding);
  gst_object_unref(source);
  armed = harness->element();
  Owned<GstBuffer> buffer = frame.buffer();
  GST_BUFFER_PTS(buffer.get()) = 0;  // properties follow their controllers at the time of a frame
  EXPECT_EQ(harness->push(std::move(buffer)), GST_FLOW_FLUSHING);
  EXPECT_EQ(armed, nullptr);
  gst_object_remove_control_binding(element, binding);
  end_flush(harness);
}

TEST_F(FilterLimits, flush_gives_up_the_frame_and_the_next_one_is_right) {
  for (const std::string &description : elements()) {
    // A frame takes the GPU milliseconds: only fills are stopped there.
    if (backend() != "cpu" && !description.starts_with("cudainpaint region")) continue;
    SCOPED_TRACE(description);
    const VideoFrame first("NV12", {64, 48}, 1), second("NV12", {64, 48}, 2);
    Harness fresh(description), harness(description);
    harness.negotiate(first);
    give_up(&harness, first);
    EXPECT_EQ(gst_harness_try_pull(harness.get()), nullptr);
    EXPECT_FALSE(take_error(harness.element()));
    for (const VideoFrame &frame : {second, first}) EXPECT_EQ(harness.pass(frame), fresh.pass(frame));
  }
}

// --- regions ---

TEST_F(FilterLimits, region_that_slides_over_the_edge_warns_once_and_comes_back) {
  for (const std::string &description : tested_elements()) {
    SCOPED_TRACE(description);
    if (description.starts_with("cudarectify"))
      continue;  // works on whole frames, and has said so at the start
    Harness harness(description + " roi-width=30 roi-height=30");
    const VideoFrame frame("NV12", {64, 48});
    const std::vector<std::uint8_t> before = harness.work(frame);
    for (int x = 36; x <= 66; x += 3) {
      set(harness.element(), "roi-x", std::to_string(x));
      harness.pass(frame);
    }
    EXPECT_TRUE(
        is(take_warning(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
           description.starts_with("cudavisionredact") ? "the whole frame counts" : "frames pass unchanged"));
    EXPECT_FALSE(take_warning(harness.element()));
    set(harness.element(), "roi-x", "0");
    harness.work(frame);
    const std::vector<std::uint8_t> after = harness.work(frame);
    // The display of these elements depends on earlier frames.
    const bool depends_on_the_past = description.find("flow") != std::string::npos ||
                                     description.find("temporal") != std::string::npos ||
                                     description.starts_with("cudacameracheck");
    EXPECT_TRUE(after == before || depends_on_the_past);
  }
}

// A region that the edge cuts off may be too small; what is refused for another reason ends the stream.
TEST_F(FilterLimits, region_that_the_edge_cuts_off_hides_no_other_error) {
  const VideoFrame frame("NV12", {640, 480});
  const auto error_with = [&frame](const char *properties) {
    Harness harness(std::string("cudahough roi-x=600 roi-width=100 ") + properties);
    harness.negotiate(frame);
    harness.push(frame.buffer());
    return take_error(harness.element());
  };
  EXPECT_FALSE(error_with(""));
  EXPECT_TRUE(is(error_with("rho=0.01 theta=0.0001"), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "rho or theta must be coarser"));
}

// --- what changes in PLAYING must not make an element forget ---

// The tensor with this id that an element attaches to the frame.
std::vector<std::uint8_t> tensor_from(Harness *harness, const VideoFrame &frame, const char *id) {
  const Owned<GstBuffer> out = harness->exchange(frame.buffer());
  return bytes_of(tensor_of(out, id)->data);
}

TEST_F(FilterLimits, model_survives_changes_of_threads_and_of_the_region) {
  Harness harness("cudalocalhist feature=brightness bins=32 reduce=distance display=false n-threads=1");
  const VideoFrame first("NV12", {64, 48}, 1), second("NV12", {64, 48}, 2);
  const auto distances = [&] { return tensor_from(&harness, second, "local-histogram-distance"); };
  harness.work(first);  // the model
  const std::vector<std::uint8_t> expected = distances();
  for (const char *threads : {"2", "1", "3"}) {
    set(harness.element(), "n-threads", threads);
    EXPECT_EQ(distances(), expected) << threads;
  }
  for (const char *width : {"40", "8", "0"}) {  // a window does not fit into 8 columns
    set(harness.element(), "roi-width", width);
    harness.pass(second);
  }
  EXPECT_EQ(distances(), expected);
}

TEST_F(FilterLimits, model_survives_flushes_in_the_middle_of_a_frame_and_while_the_region_is_too_small) {
  if (backend() != "cpu") GTEST_SKIP() << "only fills are stopped on a GPU";
  Harness harness("cudalocalhist feature=brightness bins=32 reduce=distance display=false");
  const VideoFrame first("NV12", {64, 48}, 1), second("NV12", {64, 48}, 2);
  const auto distances = [&] { return tensor_from(&harness, second, "local-histogram-distance"); };
  harness.work(first);  // the model
  const std::vector<std::uint8_t> expected = distances();
  give_up(&harness, second);
  EXPECT_EQ(distances(), expected);
  set(harness.element(), "roi-width", "8");
  harness.pass(second);
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
  end_flush(&harness);
  set(harness.element(), "roi-width", "0");
  EXPECT_EQ(distances(), expected);
}

// Properties that concern only the picture or the bus must not change the tensors of an element that remembers.
TEST_F(FilterLimits, display_and_message_change_no_result) {
  for (const auto &[description, id] :
       {std::pair{"cudaopticalflow window-size=7 levels=1 iterations=2", "optical-flow"},
        {"cudalocalhist feature=brightness bins=32 reduce=distance", "local-histogram-distance"}}) {
    SCOPED_TRACE(description);
    Harness plain(std::string(description) + " display=false"),
        changed(std::string(description) + " display=false");
    const auto tensor = [id = id](Harness *harness, unsigned seed) {
      const Owned<GstBuffer> out = buffer_from(harness, VideoFrame("NV12", {64, 48}, seed));
      GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_get_tensor_meta(out.get(), id);
      return meta != nullptr ? bytes_of(meta->data) : std::vector<std::uint8_t>();
    };
    for (unsigned seed = 1; seed < 9; ++seed) {
      set(changed.element(), "display", seed % 2 == 0 ? "true" : "false");
      set(changed.element(), "message", seed % 3 == 0 ? "true" : "false");
      EXPECT_EQ(tensor(&changed, seed), tensor(&plain, seed)) << seed;
    }
  }
}

// The new caps differ only in their frame rate.
TEST_F(FilterLimits, settings_that_were_refused_in_playing_are_refused_after_new_caps) {
  const VideoFrame frame("NV12", {64, 48});
  for (const auto &[element, property, value] : {std::tuple{"cudalocalhist", "window-width", "65"},
                                                 {"cudalocalhist", "roi-width", "4"},
                                                 {"cudahog", "roi-width", "4"}}) {
    SCOPED_TRACE(std::string(element) + " " + property);
    Harness harness(element);
    harness.work(frame);
    set(harness.element(), property, value);
    harness.pass(frame);
    Owned<GstCaps> caps = frame.caps();
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, 7, 1, nullptr);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_caps(caps.get())));
    EXPECT_NE(harness.exchange(frame.buffer()), nullptr);
    EXPECT_FALSE(take_error(harness.element()));
  }
}

// Caps may change in the middle of a video without a change of the samples: television changes the shape of its pixels,
// and a decoder learns the colorimetry late.
TEST_F(FilterLimits, what_was_learnt_survives_caps_that_change_no_sample) {
  const std::pair<const char *, const char *> changes[] = {
      {"framerate", "7/1"},      {"pixel-aspect-ratio", "16/15"}, {"colorimetry", "bt709"},
      {"colorimetry", "bt601"},  {"chroma-setup", "jpeg"},        {"interlace-mode", "mixed"},
      {"multiview-mode", "mono"}};
  for (const auto &[description, id] :
       {std::pair{"cudaopticalflow window-size=7 levels=1 iterations=2", "optical-flow"},
        {"cudalocalhist feature=brightness bins=32 reduce=distance", "local-histogram-distance"},
        {"cudainpaint mode=temporal patch-size=5 region-x=20 region-y=10 region-width=12", ""}}) {
    SCOPED_TRACE(description);
    const std::string element = std::string(description) + (*id != '\0' ? " display=false" : "");
    Harness plain(element), changed(element);
    const auto result_of = [id = id](Harness *harness, Owned<GstBuffer> frame) {
      const Owned<GstBuffer> out = harness->exchange(std::move(frame));
      GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_get_tensor_meta(out.get(), id);
      return meta != nullptr ? bytes_of(meta->data) : bytes_of(out.get());
    };
    unsigned seed = 1;
    for (const auto &[field, value] : changes) {
      if (seed == 3 && *id == '\0')  // earlier frames have shown what is behind all of the hole
        for (Harness *harness : {&plain, &changed}) set(harness->element(), "region-height", "9");
      for (int i = 0; i < 2; ++i, ++seed) {
        // A background is learned only where the picture stands still.
        const VideoFrame frame("NV12", {64, 48}, *id == '\0' ? 1 : seed);
        plain.negotiate(frame);
        if (seed == 1) changed.negotiate(frame);
        EXPECT_EQ(result_of(&changed, frame.buffer()), result_of(&plain, frame.buffer())) << seed;
      }
      Owned<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(changed.element())));
      caps.reset(gst_caps_make_writable(caps.release()));
      const Owned<GstCaps> fields(
          gst_caps_from_string((std::string("video/x-raw,") + field + "=" + value).c_str()));
      gst_caps_set_value(caps.get(), field,
                         gst_structure_get_value(gst_caps_get_structure(fields.get(), 0), field));
      ASSERT_TRUE(gst_harness_push_event(changed.get(), gst_event_new_caps(caps.get()))) << field;
    }
    EXPECT_FALSE(take_error(changed.element()));
  }
}

// A sender adapts the size to the network, and makes frames large again later.
TEST_F(FilterLimits, frames_that_become_too_small_pass_with_one_warning) {
  for (const char *description : {"cudalocalhist window-width=32 window-height=32", "cudahog"}) {
    SCOPED_TRACE(description);
    Harness fresh(description), harness(description);
    const VideoFrame large("NV12", {64, 48}, 1), small("NV12", {8, 8}, 2), narrow("NV12", {6, 48}, 3);
    const std::vector<std::uint8_t> expected = fresh.work(large);
    EXPECT_EQ(harness.work(large), expected);
    for (const VideoFrame *frame : {&small, &small, &narrow, &small})
      EXPECT_EQ(harness.pass(*frame), bytes_of(frame->buffer().get()));
    EXPECT_TRUE(is(take_warning(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "frames pass unchanged"));
    EXPECT_FALSE(take_warning(harness.element()));
    EXPECT_EQ(harness.work(large), expected);
    EXPECT_FALSE(take_error(harness.element()));
  }
}

TEST_F(FilterLimits, background_survives_changes_of_threads_and_of_the_region) {
  Harness harness("cudainpaint mode=temporal patch-size=5 message=true n-threads=1");
  const VideoFrame frame("NV12", {64, 48});
  const auto remembered = [&] {
    harness.work(frame);
    const Owned<GstMessage> message = take_message(harness.element(), GST_MESSAGE_ELEMENT);
    guint pixels = 0;
    gst_structure_get_uint(gst_message_get_structure(message.get()), "remembered", &pixels);
    return pixels;
  };
  EXPECT_EQ(remembered(), 0u);
  for (const char *threads : {"2", "1"}) {
    set(harness.element(), "n-threads", threads);
    EXPECT_EQ(remembered(), 0u);
  }
  set(harness.element(), "roi-width", "40");
  EXPECT_EQ(remembered(), 0u);
  for (const char *property : {"region-width", "region-height"}) set(harness.element(), property, "8");
  EXPECT_EQ(remembered(), 64u) << "all of the hole was seen in earlier frames";
}

TEST_F(FilterLimits, flow_survives_changes_of_threads) {
  Harness harness("cudaopticalflow display=false window-size=7 levels=1 iterations=2 n-threads=1");
  const VideoFrame first("NV12", {64, 48}, 1), second("NV12", {64, 48}, 2);
  const auto flow_of = [&](const VideoFrame &frame) { return tensor_from(&harness, frame, "optical-flow"); };
  harness.work(first);
  const std::vector<std::uint8_t> expected = flow_of(second);
  ASSERT_FALSE(expected.empty());
  for (const char *threads : {"2", "1", "4"}) {
    flow_of(first);
    set(harness.element(), "n-threads", threads);
    EXPECT_EQ(flow_of(second), expected) << threads;
  }
}

}  // namespace
