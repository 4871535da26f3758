// SPDX-License-Identifier: LGPL-2.1-or-later
// Results of other elements that never come: one warning says so, and none where their absence is normal.
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <functional>
#include <string>

#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterAwaited : public ElementTest {};

// What is attached to frame number i.
using Attach = std::function<void(GstBuffer *, int i)>;

Attach box_of(const char *type) {
  return [type](GstBuffer *buffer, int) {
    gst_buffer_add_video_region_of_interest_meta(buffer, type, 4, 4, 20, 20);
  };
}
void nothing(GstBuffer *, int) {}

// An element that gets frames of 25 a second.
class Stream {
 public:
  explicit Stream(const std::string &description)
      : element_(parse(description)), harness_(gst_harness_new_with_element(element_.get(), "sink", "src")) {
    start();
  }
  ~Stream() { gst_harness_teardown(harness_); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  void restart() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
    gst_harness_push_event(harness_, gst_event_new_stream_start("again"));
    start();
  }
  // The warnings that so many frames cause, each on a line.
  std::string warnings(int frames, const Attach &attach, bool with_times = true) {
    std::string texts;
    for (int i = 0; i < frames; ++i) {
      Owned<GstBuffer> buffer = frame_.buffer();
      GST_BUFFER_PTS(buffer.get()) =
          with_times ? static_cast<GstClockTime>(number_++) * 40 * GST_MSECOND : GST_CLOCK_TIME_NONE;
      attach(buffer.get(), i);
      EXPECT_EQ(gst_harness_push(harness_, buffer.release()), GST_FLOW_OK);
      const Owned<GstBuffer> out(gst_harness_pull(harness_));
      while (const auto warning = take_warning(element_.get())) texts += warning->text + "\n";
    }
    return texts;
  }

 private:
  void start() { gst_harness_set_src_caps(harness_, frame_.caps().release()); }

  VideoFrame frame_{"GRAY8", Size{48, 32}, 1};
  Owned<GstElement> element_;
  GstHarness *harness_;
  int number_ = 0;
};

testing::AssertionResult is_one_line(const std::string &texts, const std::string &words) {
  if (texts.find(words) != std::string::npos && texts.find('\n') == texts.size() - 1)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << texts << "\" is not one warning with \"" << words << "\"";
}

const std::string kBackend = " backend=" + backend();
const std::string kInpaint = "cudainpaint display=false attach-mask=true ";  // does not fill

// --- a type that does not come, while others do ---

TEST_F(FilterAwaited, type_that_never_comes_is_told_once) {
  for (const std::string &element :
       {kInpaint + "remove-type=Person" + kBackend, "cudacanny display=false roi-type=Person" + kBackend,
        std::string("cudavisiontrack type=Person")}) {
    Stream stream(element);
    EXPECT_EQ(stream.warnings(125, box_of("person")), "") << element << ": less than 5 s have passed";
    EXPECT_TRUE(is_one_line(stream.warnings(200, box_of("car")), "\"Person\" has come, but of \""))
        << element;
    stream.restart();
    EXPECT_TRUE(is_one_line(stream.warnings(126, box_of("person")), "but of \"person\"")) << element;
  }
}

// Only `show` and `hide` of cudavisionoverlay take lists of types.
TEST_F(FilterAwaited, list_of_types_is_told_where_one_type_is_meant) {
  EXPECT_TRUE(is_one_line(Stream("cudavisiontrack type=person,car").warnings(200, box_of("person")),
                          "\"person,car\" has come, but of \"person\""));
}

TEST_F(FilterAwaited, type_that_comes_or_cannot_be_missed_is_not_told) {
  const Attach cars_and_a_person = [](GstBuffer *buffer, int i) {
    box_of(i == 100 ? "person" : "car")(buffer, i);
  };
  for (const std::string &type : {kInpaint + "remove-type=", std::string("cudavisiontrack type=")}) {
    const std::string rest = type.starts_with("cudainpaint") ? kBackend : "";
    EXPECT_EQ(Stream(type + "person" + rest).warnings(300, cars_and_a_person), "") << type;
    EXPECT_EQ(Stream(type + "car" + rest).warnings(200, box_of("car")), "") << type;
  }
  EXPECT_EQ(Stream(kInpaint + "remove-type=person" + kBackend).warnings(300, nothing), "")
      << "an empty street";
  EXPECT_EQ(Stream(kInpaint + "remove-type=*" + kBackend).warnings(200, box_of("car")), "");
  EXPECT_EQ(Stream("cudavisiontrack").warnings(200, box_of("car")), "");
}

// --- nothing at all ---

TEST_F(FilterAwaited, absence_of_all_results_is_told_once) {
  for (const std::string &element : {"cudavisionoverlay" + kBackend, std::string("cudavisiontrack")}) {
    Stream stream(element);
    EXPECT_EQ(stream.warnings(125, nothing), "") << element;
    EXPECT_TRUE(is_one_line(stream.warnings(300, nothing), "For 5 s no frame has carried")) << element;
    stream.restart();
    EXPECT_TRUE(is_one_line(stream.warnings(151, nothing, false), "For 5 s"))
        << element << ": frames are counted";
  }
}

TEST_F(FilterAwaited, one_result_is_enough) {
  const Attach first_box = [](GstBuffer *buffer, int i) {
    if (i == 3) box_of("car")(buffer, i);
  };
  const Attach points = [](GstBuffer *buffer, int) {
    gst_cuda_vision_buffer_add_keypoints_meta(buffer, nullptr, 0);
  };
  const std::string overlay = "cudavisionoverlay" + kBackend;
  EXPECT_EQ(Stream(overlay).warnings(300, first_box), "");
  EXPECT_EQ(Stream(overlay).warnings(300, points), "") << "an empty list is a result";
  EXPECT_EQ(Stream("cudavisiontrack").warnings(300, first_box), "");
  EXPECT_TRUE(is_one_line(Stream("cudavisiontrack").warnings(300, points), "put a detector"))
      << "keypoints are no boxes";
  EXPECT_EQ(Stream(overlay + " display=false").warnings(300, nothing), "") << "nothing is to be drawn";
}

// A detector that finds nothing marks its frames.
TEST_F(FilterAwaited, an_empty_street_is_normal) {
  const Attach mark = [](GstBuffer *buffer, int) {
    EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer, "person", 0, nullptr));
  };
  for (const std::string &element : {"cudavisionoverlay" + kBackend, std::string("cudavisiontrack")})
    EXPECT_EQ(Stream(element).warnings(300, mark), "") << element;
}

}  // namespace
