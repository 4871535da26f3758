// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of JSON text: objects with few members, written by json-glib, and numbers.
//
// json-glib does not write everything, because it needs a tree node for every number, which for a tensor of
// four million numbers takes eight times the memory of the text, and because it writes reals with 17 digits
// (0.9 becomes 0.90000000000000002). It writes the parts that need care: names, strings and nulls. Lists of
// numbers are appended as they are read.
#pragma once

#include <json-glib/json-glib.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "cuda/common/stop.h"

namespace cudavision {

// Appends a number. A real becomes the shortest text that reads back as the same number, with a decimal point
// or an exponent, so that readers recognise a real. A number that is not finite becomes null, because JSON
// has no text for it.
template <typename T>
void append_number(std::string *text, T value) {
  char digits[32];
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      text->append("null");
      return;
    }
  }
  const std::string_view written(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  text->append(written);
  if constexpr (std::is_floating_point_v<T>) {
    if (written.find_first_of(".e") == std::string_view::npos) text->append(".0");
  }
}

// Appends a quoted and escaped string; null becomes JSON's null, invalid UTF-8 becomes U+FFFD.
void append_string(std::string *text, const char *value);

// Appends members that are numbers, given as names and values, to an open object: after its brace, or after a
// comma. The names need no escapes.
template <typename T, typename... More>
void append_numbers(std::string *text, const char *name, T value, More... more) {
  if (text->back() != '{') text->push_back(',');
  text->append(1, '"').append(name).append("\":");
  append_number(text, value);
  if constexpr (sizeof...(more) > 0) append_numbers(text, more...);
}

// Appends an item to an open list: after its bracket, or after a comma.
template <typename Item, typename Append>
void append_item(std::string *text, const Item &item, Append append) {
  if (text->back() != '[') text->push_back(',');
  append(text, item);
}

// Appends items to an open list until the flag asks to stop.
template <typename Item, typename Append>
void append_items(std::string *text, const Item *items, std::size_t count, Append append,
                  const StopFlag &stop) {
  for (std::size_t i = 0; i < count && !stop.requested(); ++i) append_item(text, items[i], append);
}

// Appends {"unreadable":"..."}, which takes the place of what cannot be read.
void append_unreadable(std::string *text, const char *fault);

// The first members of an object, at least one.
class JsonHead {
 public:
  JsonHead();
  ~JsonHead();
  JsonHead(const JsonHead &) = delete;
  JsonHead &operator=(const JsonHead &) = delete;

  // value: null becomes JSON's null; invalid UTF-8 becomes U+FFFD.
  JsonHead &string(const char *name, const char *value);
  JsonHead &whole(const char *name, gint64 value);
  JsonHead &null(const char *name);
  template <typename T>
  JsonHead &whole_list(const char *name, const T *values, std::size_t count) {
    json_builder_begin_array(json_builder_set_member_name(builder_, name));
    for (std::size_t i = 0; i < count; ++i)
      json_builder_add_int_value(builder_, static_cast<gint64>(values[i]));
    json_builder_end_array(builder_);
    return *this;
  }

  // Appends {"name":value,... without the closing bracket, so that members can follow.
  void append_open(std::string *text);

 private:
  JsonBuilder *builder_;
};

}  // namespace cudavision
