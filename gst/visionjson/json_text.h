// SPDX-License-Identifier: LGPL-2.1-or-later
// The pieces that JSON text is put together from: objects of a few members, which json-glib writes, and
// numbers.
//
// Why not all by json-glib: it wants every number as a node of a tree, which for a tensor of four million is
// eight times the text, and it writes reals with 17 digits (0.9 becomes 0.90000000000000002). So it writes
// what needs care, names and strings and nulls; lists of numbers are appended behind as they are read.
#pragma once

#include <json-glib/json-glib.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

namespace cudavision {

// Whole numbers as they are. Reals as the shortest text that reads back as the same number, with a point or
// an exponent so that a reader sees a real; null when not finite, which JSON cannot say.
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

// Appends an item to a list that is open: after its bracket, or after a comma.
template <typename Item, typename Append>
void append_item(std::string *text, const Item &item, Append append) {
  if (text->back() != '[') text->push_back(',');
  append(text, item);
}

// The first members of an object, at least one.
class JsonHead {
 public:
  JsonHead();
  ~JsonHead();
  JsonHead(const JsonHead &) = delete;
  JsonHead &operator=(const JsonHead &) = delete;

  // value: null becomes JSON's null; what is no UTF-8 becomes U+FFFD.
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

  // {"name":value,...  with more members to come, and the bracket that closes it.
  void append_open(std::string *text);

 private:
  JsonBuilder *builder_;
};

}  // namespace cudavision
