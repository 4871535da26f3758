// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudacameracheck: its messages, metas and lines of JSON, what others make of a blind camera, the file of its
// looks, and lost frames. What it decides is tested in cudacameracheck_judge_test.cpp.
#include <gst/check/gsttestclock.h>
#include <gst/video/gstvideometa.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/elements/frame_budget.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/tensor.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

constexpr Size kSize{160, 120};
constexpr int kRate = 10;  // frames a second

// A picture with many edges, which differs a little from frame to frame, or a cover of this brightness.
VideoFrame scene(unsigned seed, int cover = -1, const std::string &format = "GRAY8", Size size = kSize) {
  VideoFrame frame(format, size, 7);
  Random random(seed);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int block = (x / 20 * 53 + y / 20 * 97) % 160 + 40;
      frame.sample(0, x, y) = static_cast<std::uint8_t>((cover >= 0 ? cover : block) + random.below(5));
    }
  return frame;
}

class CheckHarness {
 public:
  explicit CheckHarness(const std::string &properties = "")
      : harness_("cudacameracheck display=false learn-time=2 " + properties) {}

  Owned<GstBuffer> push(const VideoFrame &frame) {
    harness_.negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_ += GST_SECOND / kRate;
    return harness_.exchange(std::move(buffer));
  }
  // Shows the scene, or a cover, for so many seconds; returns the last frame.
  Owned<GstBuffer> show(double seconds, int cover = -1) {
    Owned<GstBuffer> last;
    for (int i = 0; i < static_cast<int>(seconds * kRate + 0.5); ++i) last = push(scene(++number_, cover));
    return last;
  }
  GstElement *element() const { return harness_.element(); }
  Harness &harness() { return harness_; }

 private:
  Harness harness_;
  unsigned number_ = 0;
  GstClockTime time_ = 0;
};

// The messages of events since the last call, as text.
std::vector<std::string> events_of(GstElement *element) {
  std::vector<std::string> events;
  while (const Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT)) {
    g_autofree gchar *text = gst_structure_to_string(gst_message_get_structure(message.get()));
    if (std::string(text).starts_with("cudacameracheck-event")) events.emplace_back(text);
  }
  return events;
}

Json line_of(JsonHarness *json, const Owned<GstBuffer> &frame) {
  return json->json_of(Owned<GstBuffer>(gst_buffer_ref(frame.get())));
}

class CudaCameraCheck : public ElementTest {};

TEST_F(CudaCameraCheck, frame_does_not_change_without_display) {
  for (const std::string &format : kFormats) {
    Harness element("cudacameracheck display=false");
    const VideoFrame frame(format, {67, 65}, 1, Layout::apart);
    EXPECT_TRUE(same_bytes(element.work(frame), frame)) << format;
  }
}

TEST_F(CudaCameraCheck, display_writes_what_is_wrong_on_the_frame) {
  Harness element("cudacameracheck hysteresis=0");
  const VideoFrame light = scene(1), dark = scene(1, 0);
  EXPECT_TRUE(same_bytes(element.work(light), light));
  element.work(dark);  // only then is it known
  const std::vector<std::uint8_t> drawn = element.work(dark);
  EXPECT_FALSE(same_bytes(drawn, dark));
  EXPECT_TRUE(
      std::equal(drawn.begin() + 60 * kSize.width, drawn.end(), dark.bytes().begin() + 60 * kSize.width))
      << "below the text nothing changes";
}

TEST_F(CudaCameraCheck, begin_and_end_are_messages_and_entries_of_the_line) {
  CheckHarness check;
  JsonHarness json;
  EXPECT_FALSE(line_of(&json, check.show(5)).has("events"));
  EXPECT_TRUE(events_of(check.element()).empty());
  check.show(2, 90);
  const Json begin = line_of(&json, check.show(0.1, 90));
  ASSERT_EQ(begin.length("events"), 1u);
  EXPECT_EQ(begin.members("events.0"),
            (std::vector<std::string>{"event", "state", "measure", "running-time"}));
  EXPECT_EQ(begin.text("events.0.event"), "covered");
  EXPECT_EQ(begin.text("events.0.state"), "begin");
  EXPECT_EQ(begin.real("events.0.measure"), 1);
  EXPECT_EQ(begin.whole("events.0.running-time"), gint64{5100} * 1000000)
      << "when it began, not when it was told";
  EXPECT_EQ(begin.text("warnings.0"), "cudacameracheck: covered");
  EXPECT_EQ(line_of(&json, check.show(0.1, 90)).text("warnings.0"), "cudacameracheck: covered");
  EXPECT_EQ(events_of(check.element()),
            std::vector<std::string>{"cudacameracheck-event, event=(string)covered, state=(string)begin, "
                                     "measure=(double)1, running-time=(guint64)5100000000;"});
  check.show(2);
  const Json end = line_of(&json, check.show(0.1));
  EXPECT_EQ(end.text("events.0.state"), "end");
  EXPECT_EQ(end.whole("events.0.duration"), gint64{2200} * 1000000);
  EXPECT_FALSE(end.has("warnings"));
  EXPECT_EQ(events_of(check.element()).size(), 1u);
}

// The caps of these frames have 25 frames a second.
TEST_F(CudaCameraCheck, frames_without_timestamps_last_as_the_caps_say) {
  Harness element("cudacameracheck display=false hysteresis=1");
  for (int i = 0; i < 28; ++i) element.work(scene(1, 0));
  EXPECT_EQ(events_of(element.element()).size(), 1u) << "it has been dark for more than a second";
}

TEST_F(CudaCameraCheck, a_view_without_edges_is_told_once) {
  CheckHarness check;
  check.show(5, 120);
  EXPECT_TRUE(is(take_warning(check.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "The camera shows too few edges"));
  check.show(5, 120);
  EXPECT_FALSE(take_warning(check.element()));
}

TEST_F(CudaCameraCheck, events_have_the_time_of_day_at_which_they_happened) {
  CheckHarness check;
  JsonHarness json;
  check.show(5), check.show(2, 90);
  Owned<GstBuffer> frame = check.show(0.1, 90);
  frame.reset(gst_buffer_make_writable(frame.release()));
  const Owned<GstCaps> unix_time(gst_caps_from_string("timestamp/x-unix"));
  gst_buffer_add_reference_timestamp_meta(frame.get(), unix_time.get(), 1000 * GST_SECOND,
                                          GST_CLOCK_TIME_NONE);
  EXPECT_EQ(json.json_of(std::move(frame)).text("events.0.utc"), "1970-01-01T00:16:38.000000000Z")
      << "two seconds before the frame that tells it";
}

TEST_F(CudaCameraCheck, message_of_a_frame_has_the_measures) {
  CheckHarness check("post-messages=true");
  check.show(5);
  while (take_message(check.element(), GST_MESSAGE_ELEMENT)) {
  }
  check.show(0.1, 90);
  const Owned<GstMessage> message = take_message(check.element(), GST_MESSAGE_ELEMENT);
  ASSERT_NE(message, nullptr);
  const GstStructure *fields = gst_message_get_structure(message.get());
  gboolean learnt = FALSE;
  double covered = 0, kept = 0, changed = 0, brightness = 0;
  EXPECT_TRUE(gst_structure_get(fields, "learnt", G_TYPE_BOOLEAN, &learnt, "covered-share", G_TYPE_DOUBLE,
                                &covered, "kept-share", G_TYPE_DOUBLE, &kept, "changed", G_TYPE_DOUBLE,
                                &changed, "brightness", G_TYPE_DOUBLE, &brightness, nullptr));
  EXPECT_TRUE(learnt);
  EXPECT_EQ(covered, 1);
  EXPECT_EQ(kept, 0);
  EXPECT_GT(changed, 0.6);
  EXPECT_NEAR(brightness, 92, 0.5);
}

// --- who has looked ---

// Pushes the frame, marked by a detector, through an element; returns what comes out.
Owned<GstBuffer> looked_at(Harness *behind, Owned<GstBuffer> frame) {
  frame.reset(gst_buffer_make_writable(frame.release()));
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(frame.get(), "person", 0, nullptr));
  return behind->exchange(std::move(frame));
}

TEST_F(CudaCameraCheck, redaction_hides_what_a_blind_camera_shows) {
  CheckHarness check;
  Harness redact("cudavisionredact timeout=0.5");
  redact.negotiate(scene(1));
  const auto is_hidden = [&](Owned<GstBuffer> frame) {
    const std::vector<std::uint8_t> shown = bytes_of(frame.get()),
                                    out = bytes_of(looked_at(&redact, std::move(frame)).get());
    return out != shown;
  };
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(is_hidden(check.show(0.1))) << i;
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(is_hidden(check.show(0.1, 90))) << "not told yet, " << i;
  for (int i = 0; i < 6; ++i) is_hidden(check.show(0.1, 90));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(is_hidden(check.show(0.1, 90))) << i;
}

TEST_F(CudaCameraCheck, tracks_outlive_a_cover) {
  CheckHarness check;
  const std::unique_ptr<GstHarness, decltype(&gst_harness_teardown)> track(
      gst_harness_new_parse("cudavisiontrack min-hits=0 max-age=5"), gst_harness_teardown);
  gst_harness_set_src_caps(track.get(), scene(1).caps().release());
  const auto id_in = [&](Owned<GstBuffer> frame, bool is_seen) -> guint64 {
    frame.reset(gst_buffer_make_writable(frame.release()));
    if (is_seen) gst_buffer_add_video_region_of_interest_meta(frame.get(), "person", 20, 20, 30, 60);
    EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(frame.get(), "person", is_seen ? 1 : 0, nullptr));
    EXPECT_EQ(gst_harness_push(track.get(), frame.release()), GST_FLOW_OK);
    const Owned<GstBuffer> out(gst_harness_pull(track.get()));
    gpointer state = nullptr;
    auto *meta = reinterpret_cast<GstVideoRegionOfInterestMeta *>(
        gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    guint64 id = 0;
    const GstStructure *tracking =
        meta != nullptr ? gst_video_region_of_interest_meta_get_param(meta, "tracking") : nullptr;
    if (tracking != nullptr) gst_structure_get_uint64(tracking, "id", &id);
    return id;
  };
  guint64 before = 0;
  for (int i = 0; i < 50; ++i) before = id_in(check.show(0.1), true);
  for (int i = 0; i < 25; ++i) id_in(check.show(0.1, 90), true);
  for (int i = 0; i < 20; ++i) id_in(check.show(0.1, 90), false);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(id_in(check.show(0.1, 90), true), before);
}

// --- the file ---

TEST_F(CudaCameraCheck, looks_are_kept_from_one_run_to_the_next) {
  const Folder folder;
  const std::string file = folder.path("looks"), property = "model-location=" + file;
  {
    CheckHarness check(property);
    check.show(5);
  }
  EXPECT_TRUE(content(file).starts_with("gst-cudavision camera looks 1\n"));
  CheckHarness check(property);
  check.show(3, 90);
  EXPECT_EQ(events_of(check.element()).size(), 1u) << "what is usual is known from the first frame on";
}

TEST_F(CudaCameraCheck, files_for_other_frames_are_told_and_those_of_other_kinds_kept) {
  const Folder folder;
  const std::string file = folder.path("looks"), property = "model-location=" + file;
  {
    CheckHarness check(property);
    check.show(5);
  }
  CheckHarness other(property);
  other.push(scene(1, -1, "GRAY8", {80, 60}));
  EXPECT_TRUE(is(take_warning(other.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "The file of model-location is for 160x120 pixels"));
  const std::string text = folder.path("text");
  std::ofstream(text) << "something of the user";
  CheckHarness check;
  g_object_set(check.element(), "model-location", text.c_str(), nullptr);
  gst_element_set_state(check.element(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(check.element(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(check.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "model-location: " + text + " cannot be used"));
  EXPECT_EQ(content(text), "something of the user");
}

// --- lost frames ---

// A pipeline whose time is the test's.
class LostFrames : public ElementTest {
 protected:
  void SetUp() override {
    ElementTest::SetUp();
    if (IsSkipped()) return;
    pipeline_ = parse(
        "appsrc name=in format=time caps=video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1 ! "
        "cudacameracheck name=check display=false lost-time=3 backend=" +
        backend() + " ! cudavisionjson name=json ! fakesink name=out sync=false async=false");
    clock_.reset(gst_test_clock_new_with_start_time(100 * GST_SECOND));
    gst_pipeline_use_clock(GST_PIPELINE(pipeline_.get()), clock_.get());
    g_object_set(child(pipeline_, "json"), "location", folder_.path("lines").c_str(), nullptr);
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    EXPECT_EQ(gst_element_get_state(pipeline_.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
  }

  void TearDown() override {
    pipeline_.reset();
    ElementTest::TearDown();
  }

  GstTestClock *clock() const { return GST_TEST_CLOCK(clock_.get()); }
  void pass(GstClockTime time) {
    constexpr guint kMilliseconds = kPatience / GST_MSECOND;
    ASSERT_TRUE(gst_test_clock_timed_wait_for_multiple_pending_ids(clock(), 1, kMilliseconds, nullptr));
    gst_test_clock_advance_time(clock(), static_cast<GstClockTimeDiff>(time));
    while (GstClockID due = gst_test_clock_process_next_clock_id(clock())) gst_clock_id_unref(due);
  }
  void push(GstClockTime pts) {
    GstBuffer *frame = gst_buffer_new_allocate(nullptr, 256, nullptr);
    gst_buffer_memset(frame, 0, 100, 256);
    GST_BUFFER_PTS(frame) = pts;
    GstFlowReturn flow = GST_FLOW_OK;
    g_signal_emit_by_name(child(pipeline_, "in"), "push-buffer", frame, &flow);
    EXPECT_EQ(flow, GST_FLOW_OK);
    gst_buffer_unref(frame);
    ++pushed_;
    for (GstClockTime waited = 0; lines(folder_.path("lines")).size() < pushed_; waited += GST_MSECOND) {
      ASSERT_LT(waited, kPatience) << "no line comes";
      g_usleep(1000);
    }
  }
  std::vector<std::string> told() {
    std::vector<std::string> events;
    while (const Owned<GstMessage> message = take_message(pipeline_.get(), GST_MESSAGE_ELEMENT)) {
      const GstStructure *s = gst_message_get_structure(message.get());
      if (gst_structure_has_name(s, "cudacameracheck-event"))
        events.push_back(std::string(gst_structure_get_string(s, "event")) + " " +
                         gst_structure_get_string(s, "state"));
    }
    return events;
  }
  Json last_line() { return Json(lines(folder_.path("lines")).back()); }

  Folder folder_;
  Owned<GstElement> pipeline_;
  std::unique_ptr<GstClock, decltype(&gst_object_unref)> clock_{nullptr, gst_object_unref};
  std::size_t pushed_ = 0;
};

using Told = std::vector<std::string>;

TEST_F(LostFrames, are_told_at_once_and_end_with_the_next_frame) {
  push(0);
  pass(2 * GST_SECOND);
  EXPECT_EQ(told(), Told{});
  push(2 * GST_SECOND);
  pass(2 * GST_SECOND);
  EXPECT_EQ(told(), Told{}) << "the last frame came two seconds ago";
  pass(1 * GST_SECOND);
  EXPECT_EQ(told(), Told{"lost begin"});
  gst_test_clock_advance_time(clock(), 4 * GST_SECOND);
  push(9 * GST_SECOND);
  EXPECT_EQ(told(), Told{"lost end"});
  const Json line = last_line();
  ASSERT_EQ(line.length("events"), 2u);
  EXPECT_EQ(line.text("events.0.event") + line.text("events.0.state"), "lostbegin");
  EXPECT_EQ(line.text("events.1.event") + line.text("events.1.state"), "lostend");
  EXPECT_EQ(line.real("events.1.measure"), 7);
  EXPECT_EQ(line.whole("events.1.duration"), gint64{7} * GST_SECOND);
  pass(3 * GST_SECOND);
  EXPECT_EQ(told(), Told{"lost begin"}) << "it goes on";
  gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  push(12 * GST_SECOND);
  EXPECT_EQ(told(), Told{"lost end"}) << "a pause does not leave it open";
}

TEST_F(LostFrames, are_not_told_in_a_pause_or_after_the_end) {
  push(0);
  gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
  EXPECT_EQ(gst_test_clock_peek_id_count(clock()), 0u);
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  EXPECT_EQ(gst_test_clock_peek_id_count(clock()), 1u) << "it is watched again";
  GstFlowReturn flow = GST_FLOW_OK;
  g_signal_emit_by_name(child(pipeline_, "in"), "end-of-stream", &flow);
  EXPECT_NE(take_message(pipeline_.get(), GST_MESSAGE_EOS, kPatience), nullptr);
  // The pad is told only after the event has come back from the sink, which posts the message.
  const Owned<GstPad> pad(gst_element_get_static_pad(child(pipeline_, "check"), "sink"));
  while (!GST_PAD_IS_EOS(pad.get())) g_usleep(1000);
  pass(4 * GST_SECOND);
  EXPECT_EQ(told(), Told{});
  EXPECT_EQ(gst_test_clock_peek_id_count(clock()), 0u);
}

// --- the GPU ---

TEST_F(CudaCameraCheck, frame_keeps_to_its_budget) {
  CUDAVISION_NEEDS_EMULATION();
  const struct {
    const char *description, *format;
    FrameBudget budget;
  } cases[] = {{"display=false", "NV12", {1, 1, 1}}, {"display=false", "RGB", {2, 1, 1}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(std::string(c.description) + " " + c.format);
    Harness element(std::string("cudacameracheck ") + c.description);
    expect_budget(&element, VideoFrame(c.format, {66, 34}), c.budget);
  }
}

}  // namespace
