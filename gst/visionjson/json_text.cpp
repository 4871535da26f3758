// SPDX-License-Identifier: LGPL-2.1-or-later
// Strings of JSON, escaped by json-glib.
#include "gst/visionjson/json_text.h"

#include <json-glib/json-glib.h>

namespace cudavision {

std::string &append_name(std::string *text, const char *name) {
  if (text->back() != '{') text->push_back(',');
  return text->append(1, '"').append(name).append("\":");
}

void append_string(std::string *text, const char *value) {
  if (value == nullptr) {
    text->append("null");
    return;
  }
  g_autofree gchar *valid = g_utf8_make_valid(value, -1);
  g_autoptr(JsonNode) node = json_node_init_string(json_node_alloc(), valid);
  g_autofree gchar *written = json_to_string(node, FALSE);
  for (const char *c = written; *c != '\0'; ++c) {
    if (*c == '\x1f')  // the only control character that json-glib (1.6) does not escape
      text->append("\\u001f");
    else
      text->push_back(*c);
  }
}

void append_unreadable(std::string *text, const char *fault) {
  append_string(&append_name(&text->append("{"), "unreadable"), fault);
  text->push_back('}');
}

}  // namespace cudavision
