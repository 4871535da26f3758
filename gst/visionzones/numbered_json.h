// SPDX-License-Identifier: LGPL-2.1-or-later
// A parser for untrusted JSON. Its errors name the line of the text.
#pragma once

#include <json-glib/json-glib.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cuda/common/status.h"

namespace cudavision {

class NumberedJson {
 public:
  NumberedJson();
  NumberedJson(const NumberedJson &) = delete;
  NumberedJson &operator=(const NumberedJson &) = delete;

  // Fails if the text is not a JSON object, or is nested too deeply. Error texts begin with the line: "line 3: ...".
  Status parse(const std::string &text);
  JsonNode *root_node() const { return json_parser_get_root(parser_.get()); }
  JsonObject *root() const { return json_node_get_object(root_node()); }

  // Returns an error about a member of a JsonObject, or the item of a JsonArray with this index, with its line:
  // "line 3: ...".
  Status fault(gconstpointer container, const std::string &part, const std::string &reason) const;

 private:
  // Remembers the line on which a member or, without one, an item ends. No exception may pass through json-glib.
  void note(gconstpointer container, const char *member, gint index) noexcept;

  std::unique_ptr<JsonParser, decltype(&g_object_unref)> parser_;
  std::map<std::pair<gconstpointer, std::string>, guint> lines_;  // on which each member and item ends
  bool has_failed_ = false;                                       // note() had no memory for a line
};

}  // namespace cudavision
