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

  // Return an error about a member of an object, or about an item of a list, with its line: "line 3: ...".
  Status fault(JsonObject *object, const std::string &member, const std::string &reason) const;
  Status fault(JsonArray *array, guint index, const std::string &reason) const;

 private:
  using Place = std::pair<gconstpointer, std::string>;
  Status fault_at(const Place &place, const std::string &reason) const;

  std::unique_ptr<JsonParser, decltype(&g_object_unref)> parser_;
  // A member of an object, or an item of an array.
  struct Part {
    gconstpointer container;
    const char *member;  // null for an item
    gint index;
  };
  static Place place_of(const Part &part) {
    return {part.container, part.member != nullptr ? part.member : std::to_string(part.index)};
  }
  // Remembers the line on which a member or an item ends. A callback of json-glib, through which no exception may pass.
  void note(const Part &part) noexcept;

  std::map<Place, guint> lines_;  // the line on which each member and item ends
  bool has_failed_ = false;       // note() had no memory for a line
};

}  // namespace cudavision
