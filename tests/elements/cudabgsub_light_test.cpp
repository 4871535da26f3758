// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudabgsub does while the light changes, and what it learns with learning-rate=0.
#include <gst/video/gstvideometa.h>

#include <string>
#include <vector>

#include "tests/elements/json_lines.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Region;
using cudavision::Size;

constexpr Size kSize{320, 64};
// Without the search for shadows, darker pixels move, too.
const std::string kBgsub = "cudabgsub display=false open=0 close=0 min-area=20 detect-shadows=false ";

// A wall with a pattern, and in front of it a square of another brightness.
VideoFrame wall(int light, Region square = {}) {
  VideoFrame frame("GRAY8", kSize);
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x) {
      const bool inside =
          x >= square.x && x < square.x + square.width && y >= square.y && y < square.y + square.height;
      frame.sample(0, x, y) = static_cast<std::uint8_t>(light + (inside ? 60 : (x * 7 + y * 3) % 16));
    }
  return frame;
}

class CudaBgsubLight : public ElementTest {
 protected:
  // Pushes a frame that comes 1/rate s after the one before.
  Owned<GstBuffer> push(Harness *bgsub, const VideoFrame &frame, int rate = 25) {
    bgsub->negotiate(frame);
    Owned<GstBuffer> buffer = frame.buffer();
    GST_BUFFER_PTS(buffer.get()) = time_ += GST_SECOND / static_cast<guint64>(rate);
    return bgsub->exchange(std::move(buffer));
  }

 private:
  GstClockTime time_ = 0;
};

gint64 found(const Owned<GstBuffer> &frame) {
  return gst_cuda_vision_buffer_get_n_results(frame.get(), "motion");
}

// The line of cudavisionjson for this frame.
Json line_of(JsonHarness *json, const Owned<GstBuffer> &frame) {
  return json->json_of(Owned<GstBuffer>(gst_buffer_ref(frame.get())));
}

struct LightMessage {
  gboolean blind = -1;
  guint64 timestamp = 0, running_time = 0;
};
std::vector<LightMessage> light_messages(GstElement *element) {
  std::vector<LightMessage> messages;
  while (const Owned<GstMessage> message = take_message(element, GST_MESSAGE_ELEMENT)) {
    const GstStructure *s = gst_message_get_structure(message.get());
    if (!gst_structure_has_name(s, "cudabgsub-light")) continue;
    LightMessage own;
    EXPECT_TRUE(gst_structure_get(s, "blind", G_TYPE_BOOLEAN, &own.blind, "timestamp", G_TYPE_UINT64,
                                  &own.timestamp, "running-time", G_TYPE_UINT64, &own.running_time, nullptr));
    messages.push_back(own);
  }
  return messages;
}

// --- learning-rate=0 ---

TEST_F(CudaBgsubLight, a_fixed_model_learns_the_first_twenty_frames) {
  Harness bgsub(kBgsub + "learning-rate=0");
  push(&bgsub, wall(0));  // dark, as many videos begin
  for (int i = 1; i < 20; ++i) push(&bgsub, wall(100));
  EXPECT_EQ(found(push(&bgsub, wall(100))), 0);
  const VideoFrame visited = wall(100, {20, 20, 10, 10});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(found(push(&bgsub, visited)), 1) << i << ": nothing more is learnt";
}

TEST_F(CudaBgsubLight, a_fixed_model_learns_another_light) {
  Harness bgsub(kBgsub + "learning-rate=0");
  for (int i = 0; i < 30; ++i) push(&bgsub, wall(50));
  for (int i = 0; i < 50; ++i) push(&bgsub, wall(130));
  EXPECT_EQ(found(push(&bgsub, wall(130))), 0);
  const VideoFrame visited = wall(130, {20, 20, 10, 10});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(found(push(&bgsub, visited)), 1) << i;
}

// --- a change of light ---

// Also if the model changes slowly or not at all, and at any frame rate: half of blind-time suffices.
TEST_F(CudaBgsubLight, blindness_is_bounded_by_time_and_told) {
  const struct {
    const char *learning;
    int rate;
    double blind_time;
  } cases[] = {{"", 25, 2},
               {"history=5000", 25, 2},
               {"learning-rate=0", 25, 0.4},
               {"history=5000", 5, 2},
               {"background-ratio=0.6", 60, 1}};
  const VideoFrame before = wall(50), after = wall(130);
  for (const auto &[learning, rate, blind_time] : cases) {
    SCOPED_TRACE(std::string(learning) + " " + std::to_string(rate) + " " + std::to_string(blind_time));
    Harness bgsub(kBgsub + learning + " blind-time=" + std::to_string(blind_time));
    for (int i = 0; i < 60; ++i) push(&bgsub, before, rate);
    EXPECT_TRUE(light_messages(bgsub.element()).empty());
    JsonHarness json;
    std::vector<GstClockTime> blind;
    GstClockTime seen = 0;
    for (int i = 0; i < 3 * rate; ++i) {
      const Owned<GstBuffer> out = push(&bgsub, after, rate);
      const bool sees = found(out) >= 0;
      const Json line = line_of(&json, out);
      ASSERT_EQ(line.has("warnings"), !sees);
      if (sees && seen == 0) seen = GST_BUFFER_PTS(out.get());
      ASSERT_EQ(sees, seen != 0) << "blind again";
      if (sees) continue;
      blind.push_back(GST_BUFFER_PTS(out.get()));
      EXPECT_EQ(line.text("warnings.0"), "cudabgsub: light-changed");
      EXPECT_EQ(line.length("regions"), 0u);
    }
    ASSERT_FALSE(blind.empty());
    EXPECT_LE(static_cast<double>(seen - blind.front()), (blind_time * 3 / 4 + 3.0 / rate) * GST_SECOND);
    const std::vector<LightMessage> messages = light_messages(bgsub.element());
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_TRUE(messages[0].blind && !messages[1].blind);
    EXPECT_EQ(messages[0].timestamp, blind.front());
    EXPECT_EQ(messages[1].timestamp, seen);
    EXPECT_EQ(messages[1].running_time, seen);
  }
}

// Half of the picture is still to be learnt: it would be one large object.
TEST_F(CudaBgsubLight, an_element_sees_again_only_when_nearly_all_is_learnt) {
  const Region much{0, 0, kSize.width, 2 * kSize.height / 5}, little{0, 0, kSize.width, kSize.height / 16};
  Harness bgsub(kBgsub + "open=0 close=0");
  for (int i = 0; i < 100; ++i) push(&bgsub, wall(50));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found(push(&bgsub, wall(130))), -1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found(push(&bgsub, wall(50, much))), -1);
  EXPECT_EQ(found(push(&bgsub, wall(50, little))), -1);
  EXPECT_EQ(found(push(&bgsub, wall(50, much))), -1);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(found(push(&bgsub, wall(50, little))), -1) << "less than half as long";
  EXPECT_EQ(found(push(&bgsub, wall(50, little))), 1);
  EXPECT_EQ(found(push(&bgsub, wall(50, much))), 1) << "no change of the light";
}

TEST_F(CudaBgsubLight, what_moves_for_longer_than_blind_time_is_told) {
  Harness bgsub(kBgsub + "mixtures=1");
  for (int i = 0; i < 50; ++i) push(&bgsub, wall(50));
  std::vector<gint64> marks;
  for (int i = 0; i < 100; ++i) marks.push_back(found(push(&bgsub, wall(i % 2 == 0 ? 130 : 50))));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(marks[static_cast<std::size_t>(i)], -1) << i;
  for (int i = 50; i < 100; ++i) ASSERT_GE(marks[static_cast<std::size_t>(i)], 0) << i;
  const auto warning = take_warning(bgsub.element());
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->text.find("longer than blind-time"), std::string::npos) << warning->text;
  EXPECT_FALSE(take_warning(bgsub.element()));
}

TEST_F(CudaBgsubLight, the_end_is_told_at_a_flush_and_at_a_stop) {
  for (const bool flushes : {true, false}) {
    Harness bgsub(kBgsub);
    for (int i = 0; i < 50; ++i) push(&bgsub, wall(50));
    push(&bgsub, wall(130));
    ASSERT_EQ(light_messages(bgsub.element()).size(), 1u);
    if (flushes)
      bgsub.flush(), push(&bgsub, wall(130));
    else
      gst_element_set_state(bgsub.element(), GST_STATE_NULL);
    const std::vector<LightMessage> messages = light_messages(bgsub.element());
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_FALSE(messages[0].blind);
  }
}

// --- who was there ---

// Two people walk into a zone, one before the light changes and one while the element is blind. They cover a pixel for
// a third and a quarter of a second, as people do who walk.
TEST_F(CudaBgsubLight, who_was_there_keeps_the_id_and_enters_once) {
  for (const char *history : {"", "history=5000"}) {
    Harness bgsub(kBgsub + history);
    GstHarness *behind = gst_harness_new_parse(
        "cudavisiontrack type=motion ! cudavisionzones zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"room\\\","
        "\\\"polygon\\\":[[115,0],[310,0],[310,64],[115,64]]}]}\"");
    gst_harness_set_src_caps(behind, wall(0).caps().release());
    for (int i = 0; i < 60; ++i) push(&bgsub, wall(50));
    JsonHarness json;
    std::vector<gint64> ids, entered;
    int blind = 0;
    for (int i = 0; i < 110; ++i) {
      VideoFrame frame = wall(i < 60 ? 50 : 120, {4 + 3 * i / 2, 5, 12, 20});
      const VideoFrame other = wall(i < 60 ? 50 : 120, {2 * i, 35, 12, 20});
      for (int y = 32; y < kSize.height; ++y)
        for (int x = 0; x < kSize.width; ++x) frame.sample(0, x, y) = other.sample(0, x, y);
      Owned<GstBuffer> out = push(&bgsub, frame);
      blind += found(out) < 0;
      ASSERT_EQ(gst_harness_push(behind, out.release()), GST_FLOW_OK);
      const Json line = line_of(&json, Owned<GstBuffer>(gst_harness_pull(behind)));
      for (std::size_t r = 0; r < line.length("regions"); ++r) {
        const std::string id = "regions." + std::to_string(r) + ".params.tracking.id";
        if (line.has(id)) ids.push_back(line.whole(id));
      }
      for (std::size_t e = 0; e < line.length("events"); ++e) {
        const std::string event = "events." + std::to_string(e);
        EXPECT_EQ(line.text(event + ".event"), "enter");
        entered.push_back(line.whole(event + ".id"));
      }
    }
    gst_harness_teardown(behind);
    EXPECT_GT(blind, 10);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::unique(ids.begin(), ids.end()) - ids.begin(), 2) << "two people, two ids";
    std::sort(entered.begin(), entered.end());
    EXPECT_EQ(entered.size(), 2u);
    EXPECT_EQ(std::unique(entered.begin(), entered.end()) - entered.begin(), 2);
  }
}

}  // namespace
