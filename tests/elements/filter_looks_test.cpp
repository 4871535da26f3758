// SPDX-License-Identifier: LGPL-2.1-or-later
// The marks of detectors: only a frame that a detector has seen whole and upright is marked (the table "Who has looked"
// in gst/docs/common.md).
#include <gst/app/gstappsink.h>

#include <set>
#include <string>
#include <vector>

#include "gst/base/results/frame_notes.h"
#include "tests/elements/every_element.h"
#include "tests/elements/json_lines.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;

class FilterLooks : public ElementTest {};

enum class Looked { whole, in_part, no };

Looked look_at(GstBuffer *buffer, const char *type = nullptr) {
  const bool is_marked = gst_cuda_vision_buffer_get_n_results(buffer, type) >= 0;
  EXPECT_FALSE(is_marked && cudavision::has_partial_look(buffer, type));
  return is_marked                                    ? Looked::whole
         : cudavision::has_partial_look(buffer, type) ? Looked::in_part
                                                      : Looked::no;
}

Owned<GstEvent> orientation(const char *tag) {
  return Owned<GstEvent>(gst_event_new_tag(gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, tag, nullptr)));
}

// How an element has looked at the second and the third of three frames. The first one teaches it a background.
std::vector<Looked> looks(const std::string &use, const char *tag = "rotate-0") {
  static const VideoFrame frame("GRAY8", {80, 140}, 1);
  Harness harness(use);
  std::vector<Looked> looks;
  for (int i = 0; i < 3; ++i) {
    harness.negotiate(frame);
    gst_harness_push_event(harness.get(), orientation(tag).release());
    const Owned<GstBuffer> out = harness.exchange(frame.buffer());
    if (i > 0 && out) looks.push_back(look_at(out.get()));
  }
  return looks;
}

// The elements that mark frames, as the registry lists them, with what they need to find anything.
std::vector<std::string> detectors() {
  std::vector<std::string> detectors;
  for (const std::string &use : every_element({.property = "roi-x", .own = {"cudahog model=people"}}))
    if (looks(use).back() == Looked::whole) detectors.push_back(use);
  return detectors;
}

TEST_F(FilterLooks, every_detector_marks_what_it_has_seen_whole) {
  constexpr auto kWhole = Looked::whole, kPart = Looked::in_part, kNo = Looked::no;
  std::set<std::string> names;
  for (const std::string &use : detectors()) {
    SCOPED_TRACE(use);
    names.insert(use.substr(0, use.find(' ')));
    EXPECT_EQ(looks(use + " every-nth=2"), (std::vector{kNo, kWhole}));
    for (const char *part : {"roi-x=4", "roi-y=4", "roi-width=76", "roi-height=136"})
      EXPECT_EQ(looks(use + " " + part), (std::vector{kPart, kPart})) << part;
    for (const char *whole : {"roi-width=80 roi-height=140", "roi-width=99 roi-height=150"})
      EXPECT_EQ(looks(use + " " + whole), (std::vector{kWhole, kWhole})) << whole;
    EXPECT_EQ(looks(use + " roi-x=100"), (std::vector{kNo, kNo})) << "outside of the frame";
    const Looked turned = use.starts_with("cudahog") ? kPart : kWhole;
    for (const char *tag : {"rotate-90", "rotate-180", "flip-rotate-0"})
      EXPECT_EQ(looks(use, tag), (std::vector{turned, turned})) << tag;
  }
  EXPECT_EQ(names, (std::set<std::string>{"cudabgsub", "cudahog"}));
}

// With roi-type, a detector has looked where its source has: one that sets marks, or one that sets none.
TEST_F(FilterLooks, with_roi_type_a_detector_has_looked_if_its_source_has) {
  const VideoFrame frame("GRAY8", {80, 140}, 1);
  enum class Source { mark, part, box, nothing, prediction };
  for (const std::string type : {"motion", "*"})
    for (const auto &[sources, expected] :
         {std::pair{std::vector{Source::mark, Source::nothing, Source::part, Source::prediction},
                    std::vector{Looked::whole, Looked::no, Looked::in_part, Looked::no}},
          {std::vector{Source::nothing, Source::box, Source::nothing},
           std::vector{Looked::in_part, Looked::whole, Looked::in_part}}}) {
      Harness hog("cudahog model=people display=false roi-type=\"" + type + "\"");
      hog.negotiate(frame);
      std::vector<Looked> found;
      for (const Source source : sources) {
        Owned<GstBuffer> buffer = frame.buffer();
        EXPECT_TRUE(source != Source::mark ||
                    gst_cuda_vision_buffer_mark_analysed(buffer.get(), "motion", 0, nullptr));
        if (source == Source::part) cudavision::attach_partial_look(buffer.get(), "motion");
        if (source == Source::box || source == Source::prediction) add_region(buffer.get(), "motion");
        found.push_back(look_at(hog.exchange(std::move(buffer)).get(), "person"));
      }
      EXPECT_EQ(found, expected) << type;
    }
}

// While the light changes, nobody knows what moves: a gated detector looks everywhere.
TEST_F(FilterLooks, a_detector_looks_everywhere_where_its_source_is_blind) {
  const VideoFrame dark("GRAY8", {80, 140}, 1);
  VideoFrame light = dark;
  for (std::uint8_t &byte : light.bytes()) byte = static_cast<std::uint8_t>(255 - byte / 4);
  for (const char *type : {"motion", "*"}) {
    GstHarness *harness =
        gst_harness_new_parse(("cudabgsub display=false detect-shadows=false backend=" + backend() +
                               " ! cudahog model=people display=false post-messages=true hit-threshold=-9 "
                               "group-threshold=0 roi-type=\"" +
                               type + "\" backend=" + backend())
                                  .c_str());
    gst_harness_set_src_caps(harness, dark.caps().release());
    for (int i = 0; i < 24; ++i) {
      ASSERT_EQ(gst_harness_push(harness, (i < 20 ? dark : light).buffer().release()), GST_FLOW_OK);
      const Owned<GstBuffer> out(gst_harness_pull(harness));
      const gint64 found = gst_cuda_vision_buffer_get_n_results(out.get(), "person");
      if (i == 0) continue;
      EXPECT_EQ(look_at(out.get(), "motion"), i < 20 ? Looked::whole : Looked::no) << i;
      EXPECT_EQ(found > 0, i >= 20) << i << ": " << found;
    }
    gst_harness_teardown(harness);
  }
}

// --- frames that lie on their side ---

TEST_F(FilterLooks, a_turned_frame_is_told_until_it_is_turned) {
  const VideoFrame frame("GRAY8", {80, 140}, 1);
  Harness hog("cudahog model=people display=false");
  JsonHarness json;
  hog.negotiate(frame);
  for (const auto &[tag, is_turned] :
       {std::pair{"rotate-90", true}, {"rotate-0", false}, {"rotate-270", true}}) {
    gst_harness_push_event(hog.get(), orientation(tag).release());
    for (int i = 0; i < 2; ++i) {
      Owned<GstBuffer> out = hog.exchange(frame.buffer());
      EXPECT_EQ(look_at(out.get()), is_turned ? Looked::in_part : Looked::whole) << tag;
      const Json line = json.json_of(std::move(out));
      ASSERT_EQ(line.has("warnings"), is_turned) << tag;
      EXPECT_TRUE(!is_turned || line.text("warnings.0") == "cudahog: turned");
    }
  }
}

// The frames of a video in portrait, whose pixels are stored sideways, behind these elements.
std::vector<Looked> looks_behind(const std::string &elements) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=3 ! video/x-raw,width=240,height=160 ! taginject "
      "tags=image-orientation=rotate-90 ! " +
      elements + " cudahog model=people display=false backend=" + backend() +
      " ! appsink name=sink sync=false");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink"));
  std::vector<Looked> looks;
  while (GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(sink.get()))) {
    looks.push_back(look_at(gst_sample_get_buffer(sample)));
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return looks;
}

TEST_F(FilterLooks, a_frame_that_was_turned_is_seen_whole) {
  EXPECT_EQ(looks_behind(""), std::vector(3, Looked::in_part));
  EXPECT_EQ(looks_behind("videoflip video-direction=identity !"), std::vector(3, Looked::in_part));
  EXPECT_EQ(looks_behind("videoflip video-direction=auto !"), std::vector(3, Looked::whole));
  EXPECT_EQ(looks_behind("videoflip video-direction=auto ! videoconvert ! queue !"),
            std::vector(3, Looked::whole));
}

}  // namespace
