// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks and parses JSON, and remembers the lines of its members and items.
#include "gst/visionzones/numbered_json.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "gst/base/input/excerpt.h"

namespace cudavision {
namespace {

constexpr int kMostNested = 16;

Status at_line(guint line, const std::string &reason) {
  return invalid_argument("line " + std::to_string(line) + ": " + reason);
}

// Whether json-glib reads the number correctly: it takes a leading 0 for octal or hexadecimal, others modulo 2^64.
bool is_number(std::string_view token) {
  constexpr std::string_view kDigits = "0123456789";
  if (token.front() == '-') token.remove_prefix(1);
  const std::size_t whole = std::min(token.find_first_not_of(kDigits), token.size());
  return whole > 0 && whole <= 15 && (whole == 1 || token.front() != '0') &&
         token.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

// Checks the text before json-glib, which also accepts what is not JSON, such as comments, and calls itself for nested
// objects and lists. Allows only the characters of JSON outside of strings, and bounds the nesting.
Status check_characters(const std::string &text) {
  constexpr std::string_view kAllowed = " \t\r\n{}[],:+-.0123456789abcdefghijklmnopqrstuvwxyzE";
  guint line = 1;
  int nested = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string || c == '"') continue;
    if (kAllowed.find(c) == std::string_view::npos)
      return at_line(line, std::string("'").append(excerpt({&c, 1})).append("' is no part of JSON"));
    if (c == '-' || g_ascii_isdigit(c)) {
      std::size_t end = i + 1;
      while (end < text.size() && (g_ascii_isalnum(text[end]) || std::strchr("+-.", text[end]) != nullptr))
        ++end;
      const std::string_view token(&text[i], end - i);
      if (!is_number(token))
        return at_line(line, std::string("'")
                                 .append(excerpt(token))
                                 .append("' is no number of JSON with at most 15 digits before the point"));
      i = end - 1;
    }
    nested += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (nested > kMostNested) return at_line(line, "objects and lists are nested too deeply");
  }
  if (in_string) return at_line(line, "the text ends within a string: '\"' is missing");
  if (nested > 0) return at_line(line, "the text ends within an object or a list: '}' or ']' is missing");
  return {};
}

}  // namespace

NumberedJson::NumberedJson() : parser_(json_parser_new_immutable(), g_object_unref) {
  // The parser emits these signals when it has just read a member of an object or an item of a list.
  const auto take_member = +[](JsonParser *, JsonObject *object, const gchar *name, gpointer self) {
    static_cast<NumberedJson *>(self)->note(object, name, 0);
  };
  const auto take_item = +[](JsonParser *, JsonArray *array, gint index, gpointer self) {
    static_cast<NumberedJson *>(self)->note(array, nullptr, index);
  };
  g_signal_connect(parser_.get(), "object-member", G_CALLBACK(take_member), this);
  g_signal_connect(parser_.get(), "array-element", G_CALLBACK(take_item), this);
}

void NumberedJson::note(gconstpointer container, const char *member, gint index) noexcept {
  try {
    const std::string part = member != nullptr ? member : std::to_string(index);
    lines_[{container, part}] = json_parser_get_current_line(parser_.get());
  } catch (const std::bad_alloc &) {
    has_failed_ = true;
  }
}

Status NumberedJson::parse(const std::string &text) {
  if (!g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr))
    return invalid_argument("this is no text in UTF-8");
  CUDAVISION_TRY(check_characters(text));
  g_autoptr(GError) error = nullptr;
  if (!json_parser_load_from_data(parser_.get(), text.data(), static_cast<gssize>(text.size()), &error)) {
    // json-glib's text, such as "<data>:3:7: Parse error: ...": the number after the first colon is the line.
    const std::string message = error->message;
    const std::size_t first = message.find(':'), last = message.rfind(": ");
    const auto line =
        first == std::string::npos ? 0 : g_ascii_strtoull(message.c_str() + first + 1, nullptr, 10);
    return at_line(
        static_cast<guint>(std::max<guint64>(line, 1)),
        "this is no JSON: " + excerpt(last == std::string::npos ? message : message.substr(last + 2)));
  }
  if (has_failed_) throw std::bad_alloc();
  JsonNode *root = json_parser_get_root(parser_.get());
  if (root == nullptr || !JSON_NODE_HOLDS_OBJECT(root)) return at_line(1, "the text is no object, {...}");
  return {};
}

Status NumberedJson::fault(gconstpointer container, const std::string &part,
                           const std::string &reason) const {
  const auto line = lines_.find({container, part});
  return at_line(line != lines_.end() ? line->second : 1, reason);
}

}  // namespace cudavision
