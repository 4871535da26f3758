// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of JSON text.
//
// json-glib escapes the strings. It does not write everything, because it needs a tree node for every number, which for
// a tensor of four million numbers takes eight times the memory of the text, and because it writes reals with 17 digits
// (0.9 becomes 0.90000000000000002).
#pragma once

#include <gst/gst.h>

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

// Begins a member of an open object: after its brace, or after a comma. The name needs no escapes. Returns the text.
std::string &append_name(std::string *text, const char *name);

// Appends members that are numbers, given as names and values, to an open object.
template <typename T, typename... More>
void append_numbers(std::string *text, const char *name, T value, More... more) {
  append_number(&append_name(text, name), value);
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

// Appends an object with a member for each field: numbers, booleans and strings as such, arrays and lists of GStreamer
// as lists, structures as objects, other values as strings of gst_value_serialize(), or null if that is impossible.
// Values that are nested too deeply are null. Some fields are left out if the flag asks to stop.
void append_structure(std::string *text, const GstStructure *structure, const StopFlag &stop);

// Appends the member "detections" if object detections of GstAnalytics are attached: each with its class, box and
// confidence, the id that a tracker gave it, and the classes that a classifier gave it. Appends "classifications" if
// classes are attached that belong to the whole frame. Appends nothing with GStreamer before 1.24. Leaves items out if
// asked to stop.
void append_analytics(std::string *text, GstBuffer *buffer, const StopFlag &stop);

}  // namespace cudavision
