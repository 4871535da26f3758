// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON objects with few members, written by json-glib.
#include "gst/visionjson/json_text.h"

#include <string_view>

namespace cudavision {
namespace {

// The only control character that json-glib does not escape (json_strescape() of version 1.6): U+001F.
constexpr char kUnescaped = '\x1f';
constexpr std::string_view kEscaped = "\\u001f";

void append_escaped(std::string *text, std::string_view written) {
  for (const char c : written) {
    if (c == kUnescaped)
      text->append(kEscaped);
    else
      text->push_back(c);
  }
}

}  // namespace

void append_string(std::string *text, const char *value) {
  if (value == nullptr) {
    text->append("null");
    return;
  }
  g_autofree gchar *valid = g_utf8_make_valid(value, -1);
  g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), valid);
  g_autofree gchar *written = json_to_string(node, FALSE);
  append_escaped(text, written);
}

void append_unreadable(std::string *text, const char *fault) {
  append_string(&text->append("{\"unreadable\":"), fault);
  text->push_back('}');
}

JsonHead::JsonHead() : builder_(json_builder_begin_object(json_builder_new())) {}
JsonHead::~JsonHead() { g_object_unref(builder_); }

JsonHead &JsonHead::string(const char *name, const char *value) {
  g_autofree gchar *valid = value != nullptr ? g_utf8_make_valid(value, -1) : nullptr;
  json_builder_add_string_value(json_builder_set_member_name(builder_, name), valid);
  return *this;
}

JsonHead &JsonHead::whole(const char *name, gint64 value) {
  json_builder_add_int_value(json_builder_set_member_name(builder_, name), value);
  return *this;
}

JsonHead &JsonHead::null(const char *name) {
  json_builder_add_null_value(json_builder_set_member_name(builder_, name));
  return *this;
}

void JsonHead::append_open(std::string *text) {
  json_builder_end_object(builder_);
  g_autoptr(JsonNode) root = json_builder_get_root(builder_);
  g_autofree gchar *written = json_to_string(root, FALSE);
  std::string_view open(written);
  open.remove_suffix(1);  // the closing bracket
  append_escaped(text, open);
}

}  // namespace cudavision
