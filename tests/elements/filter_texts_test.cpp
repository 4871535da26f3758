// SPDX-License-Identifier: LGPL-2.1-or-later
// What messages show of texts from outside: a short and printable excerpt.
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;

class FilterTexts : public ElementTest {};

// The message of an element that is started with this property.
std::string message_of(const char *element, const char *property, const std::string &value,
                       GstMessageType type = GST_MESSAGE_ERROR) {
  const Owned<GstElement> made = parse(element);
  g_object_set(made.get(), property, value.c_str(), nullptr);
  gst_element_set_state(made.get(), GST_STATE_PAUSED);
  const Owned<GstMessage> message = take_message(made.get(), type);
  if (message == nullptr) return {};
  GError *error = nullptr;
  gchar *debug = nullptr;
  type == GST_MESSAGE_ERROR ? gst_message_parse_error(message.get(), &error, &debug)
                            : gst_message_parse_info(message.get(), &error, &debug);
  std::string text = error->message;
  g_error_free(error);
  g_free(debug);
  return text;
}

std::string error_of_location(const std::string &location) {
  return message_of("cudahog", "model-location", location);
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST_F(FilterTexts, texts_of_a_megabyte_are_shown_by_their_ends) {
  const std::string middle(1000000, 'm'), text = "/begin" + middle + "end";
  for (const auto &[element, property] : {std::pair{"cudahog", "model-location"},
                                          {"cudainpaint", "mask-location"},
                                          {"cudabgsub", "mask-location"},
                                          {"cudabgsub", "color"},
                                          {"cudavisionjson", "location"},
                                          {"cudainpaint", "mask-color"},
                                          {"cudahough", "color"},
                                          {"cudasigma2kp", "color"},
                                          {"cudaopticalflow", "color"},
                                          {"cudahog", "color"}}) {
    const std::string error = message_of(element, property, text);
    EXPECT_TRUE(has(error, "/beginmmm") && has(error, "mmm\u2026mmm") && has(error, "mmmend"))
        << error.substr(0, 600);
    EXPECT_LT(error.size(), 500u) << element << " " << property;
  }
  const std::string zeros(1000000, '0');
  const std::string hint = message_of("cudainpaint", "mask-color", "0x" + zeros + "ff0000", GST_MESSAGE_INFO);
  EXPECT_TRUE(has(hint, "0x000") && has(hint, "000\u2026000") && has(hint, "0ff0000")) << hint.substr(0, 600);
  EXPECT_LT(hint.size(), 500u);
}

TEST_F(FilterTexts, texts_of_200_bytes_are_shown_whole) {
  const std::string name = "/" + std::string(195, 'm');
  EXPECT_TRUE(has(error_of_location(name + "1234"), name + "1234: "));
  EXPECT_FALSE(has(error_of_location(name + "12345"), name + "12345"));
}

TEST_F(FilterTexts, what_cannot_be_printed_is_escaped) {
  const std::pair<std::string, std::string> cases[] = {
      {"/a\n\t\x1b[31m\x7f", "/a\\x0a\\x09\\x1b[31m\\x7f"},  // control characters
      {"/a\xc2\x9b", "/a\\xc2\\x9b"},                        // one of those beyond ASCII
      {"/a\xe2\x80\xae"
       "b",
       "/a\\xe2\\x80\\xaeb"},                                       // writes from right to left
      {"/a\xff\xc3(\xed\xa0\x80", "/a\\xff\\xc3(\\xed\\xa0\\x80"},  // no UTF-8
      {"/a\xf0\x9f\x98", "/a\\xf0\\x9f\\x98"},                      // the begin of a character
      {"/a\u00e4\u4e2d\U0001f600", "/a\u00e4\u4e2d\U0001f600"},     // three characters
  };
  for (const auto &[location, shown] : cases) {
    const std::string error = error_of_location(location);
    EXPECT_TRUE(has(error, shown + ": ")) << error;
  }
}

TEST_F(FilterTexts, characters_are_not_cut) {
  const std::vector<std::string> characters = {"\u00e4", "\u4e2d", "\U0001f600", "\x01", "\xff"};
  for (const std::string &character : characters)
    for (int before = 0; before < 5; ++before)
      for (int after = 0; after < 5; ++after) {
        std::string location = "/" + std::string(static_cast<std::size_t>(before), 'b');
        for (int i = 0; i < 300; ++i) location += character;
        location += std::string(static_cast<std::size_t>(after), 'e');
        const std::string error = error_of_location(location);
        EXPECT_TRUE(g_utf8_validate(error.c_str(), -1, nullptr)) << error;
        EXPECT_TRUE(has(error, std::string(static_cast<std::size_t>(after), 'e') + ": ")) << error;
        EXPECT_EQ(has(error, "\\x"), character.size() == 1)
            << error;  // a part of a character is escaped, too
        const std::size_t begin = error.find('/'), end = error.find(": it cannot");
        EXPECT_LE(end - begin, 200u) << error;
        EXPECT_GE(end - begin, 180u) << error;
      }
}

TEST_F(FilterTexts, old_names_of_properties_set_the_new_ones) {
  const struct {
    const char *element, *old, *now, *value;
  } names[] = {{"cudacanny", "message", "post-messages", "true"},
               {"cudahog", "labels", "draw-labels", "false"},
               {"cudavisionoverlay", "labels", "draw-labels", "false"},
               {"cudavisionoverlay", "max-lines", "max-drawn", "7"},
               {"cudainpaint", "roi-type", "remove-type", "car"}};
  for (const auto &[name, old, now, value] : names) {
    const Owned<GstElement> element = parse(std::string(name) + " " + old + "=" + value);
    EXPECT_EQ(text(element.get(), now), value) << name;
    const GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), old);
    EXPECT_NE(spec->flags & G_PARAM_DEPRECATED, 0) << name << " " << old;
  }
}

}  // namespace
