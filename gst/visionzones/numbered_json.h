// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON from outside whose faults are told with their line.
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

  // Fails if the text is not one object in JSON, or is nested deeply. The texts of errors begin with the number of the line.
  Status parse(const std::string &text);
  JsonObject *root() const { return json_node_get_object(json_parser_get_root(parser_.get())); }

  // An error about a member of an object, or about an item of a list: "line 3: ...".
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
  // Called by json-glib, through which no exception may pass, with what has just ended.
  void note(const Part &part) noexcept;

  std::map<Place, guint> lines_;  // on which members and items end
  bool has_failed_ = false;       // there was no memory for a line
};

}  // namespace cudavision
