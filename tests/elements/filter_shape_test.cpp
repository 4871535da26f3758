// SPDX-License-Identifier: LGPL-2.1-or-later
// Warnings about frames that are to be turned or stretched when they are shown, from elements for which it matters.
#include <string>

#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class FilterShape : public ElementTest {};

const std::string kPeople = "cudahog model=people display=false";

Owned<GstEvent> orientation(const char *tag, GstTagScope scope = GST_TAG_SCOPE_STREAM) {
  GstTagList *tags = gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, tag, nullptr);
  gst_tag_list_set_scope(tags, scope);
  return Owned<GstEvent>(gst_event_new_tag(tags));
}

// An element that gets small frames with this pixel aspect ratio.
class Shaped {
 public:
  explicit Shaped(const std::string &description, const std::string &aspect = "1/1") : harness_(description) {
    use_aspect(aspect);
  }

  GstElement *element() const { return harness_.element(); }
  void use_aspect(const std::string &aspect) {
    const Owned<GstCaps> caps = frame_.caps();
    gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION, std::stoi(aspect),
                        std::stoi(aspect.substr(aspect.find('/') + 1)), nullptr);
    gst_harness_set_src_caps(harness_.get(), gst_caps_ref(caps.get()));
  }
  void push(Owned<GstEvent> event) { EXPECT_TRUE(gst_harness_push_event(harness_.get(), event.release())); }
  // The warnings that two frames cause; the second one must cause none.
  std::string warnings() {
    std::string texts;
    for (int i = 0; i < 2; ++i) {
      EXPECT_NE(harness_.exchange(frame_.buffer()), nullptr);
      while (const auto warning = take_warning(element()))
        texts += (i == 0 ? "" : "again: ") + warning->text + "\n";
    }
    return texts;
  }

 private:
  VideoFrame frame_{"GRAY8", Size{72, 136}, 1};
  Harness harness_;
};

bool is_warning(const Owned<GstMessage> &message) {
  return message != nullptr && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING;
}

testing::AssertionResult is_one_line(const std::string &texts, const std::string &words) {
  if (texts.find(words) != std::string::npos && texts.find('\n') == texts.size() - 1)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << texts << "\" is not one warning with \"" << words << "\"";
}

TEST_F(FilterShape, every_orientation_but_the_upright_one_is_told_once) {
  for (const char *tag : {"rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-90",
                          "flip-rotate-180", "flip-rotate-270"}) {
    Shaped people(kPeople);
    people.push(orientation(tag));
    EXPECT_TRUE(is_one_line(people.warnings(), std::string("image-orientation=") + tag + ":"));
    people.push(orientation("rotate-180"));
    EXPECT_EQ(people.warnings(), "") << "once in a run";
  }
  Shaped people(kPeople);
  EXPECT_EQ(people.warnings(), "");
  people.push(orientation("rotate-0"));
  people.push(orientation("sideways"));
  EXPECT_EQ(people.warnings(), "");
  people.push(orientation("rotate-90"));
  EXPECT_TRUE(is_one_line(people.warnings(), "videoflip video-direction=auto"))
      << "also in the middle of the stream";
}

// videoflip leaves the tag of the file and adds one of the stream, which takes precedence.
TEST_F(FilterShape, tag_of_the_stream_takes_precedence) {
  Shaped people(kPeople);
  people.push(Owned<GstEvent>(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "other tags", nullptr))));
  people.push(orientation("rotate-0"));
  people.push(orientation("rotate-90", GST_TAG_SCOPE_GLOBAL));
  EXPECT_EQ(people.warnings(), "");
  people.push(Owned<GstEvent>(gst_event_new_stream_start("another")));
  people.push(Owned<GstEvent>(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "its tags", nullptr))));
  EXPECT_EQ(people.warnings(), "") << "the tags are those of the stream before";
  people.push(orientation("rotate-270", GST_TAG_SCOPE_GLOBAL));
  EXPECT_TRUE(is_one_line(people.warnings(), "rotate-270"));
}

TEST_F(FilterShape, pixels_that_are_not_square_are_told_once) {
  for (const char *aspect : {"16/11", "1/2"}) {
    Shaped people(kPeople, aspect);
    EXPECT_TRUE(is_one_line(people.warnings(), std::string("pixel-aspect-ratio=") + aspect + ")"));
    people.use_aspect("2/1");
    EXPECT_EQ(people.warnings(), "");
  }
  Shaped people(kPeople, "2/2");
  EXPECT_EQ(people.warnings(), "");
  people.use_aspect("12/11");
  EXPECT_TRUE(is_one_line(people.warnings(), "pixel-aspect-ratio=12/11)"));
}

TEST_F(FilterShape, only_elements_for_which_it_matters_tell) {
  for (const auto &[element, tells] : {std::pair{"cudahog", false},
                                       {"cudacanny", false},
                                       {"cudasigma2kp orientation=true", false},
                                       {"cudahough", false},
                                       {"cudabgsub", false},
                                       {"cudahough min-theta=0.1", true},
                                       {"cudahough min-angle=80 max-angle=100", true},
                                       {"cudahough mode=segments max-theta=1.5", true},
                                       {"cudahog model=people every-nth=1000", true}}) {
    Shaped turned(element), stretched(element, "16/11");
    turned.push(orientation("rotate-90"));
    EXPECT_EQ(!turned.warnings().empty(), tells) << element;
    EXPECT_EQ(!stretched.warnings().empty(), tells) << element;
  }
}

// The warnings of cudahog with a model behind these elements, which get frames of 240x160 pixels.
int warnings_behind(const std::string &elements, const std::string &aspect = "1/1") {
  const Owned<GstElement> pipeline =
      parse("videotestsrc num-buffers=3 ! video/x-raw,width=240,height=160,pixel-aspect-ratio=" + aspect +
            " ! " + elements + " ! cudahog model=people display=false backend=" + backend() + " ! fakesink");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  constexpr auto kAwaited =
      static_cast<GstMessageType>(GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  int warnings = 0;
  Owned<GstMessage> message = take_message(pipeline.get(), kAwaited, kPatience);
  for (; is_warning(message); message = take_message(pipeline.get(), kAwaited, kPatience)) ++warnings;
  EXPECT_TRUE(message != nullptr && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) << elements;
  return warnings;
}

// Some versions of videoflip leave the tag as it is.
TEST_F(FilterShape, frames_that_were_turned_after_the_tag_are_right) {
  const std::string tag = "taginject tags=image-orientation=rotate-90";
  EXPECT_EQ(warnings_behind(tag), 1);
  EXPECT_EQ(warnings_behind(tag + " ! queue ! videoflip video-direction=auto ! videoconvert ! queue"), 0);
  EXPECT_EQ(warnings_behind(tag + " ! ( videoflip video-direction=90r ) ! identity"), 0);
  EXPECT_EQ(warnings_behind(tag + " ! videoflip video-direction=identity"), 1);
  EXPECT_EQ(warnings_behind("videoflip video-direction=90l ! " + tag), 1) << "a portrait is stored sideways";
}

TEST_F(FilterShape, what_the_warnings_advise_ends_them) {
  const std::string tag = "taginject tags=image-orientation=rotate-90";
  EXPECT_EQ(warnings_behind(tag, "16/11"), 2);
  EXPECT_EQ(warnings_behind(tag + " ! videoflip video-direction=auto ! videoscale add-borders=false ! "
                                  "video/x-raw,pixel-aspect-ratio=1/1",
                            "16/11"),
            0);
}

}  // namespace
