// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads YAML with libyaml. It hands out events instead of building a document, so that a malicious file cannot expand
// to a large tree.
#pragma once

#include <functional>
#include <string_view>

#include "cuda/common/status.h"

namespace cudavision {

struct YamlEvent {
  enum class Kind { map_start, list_start, end, scalar };
  Kind kind;
  std::string_view text;  // the scalar
  int line;               // counted from 1
};

constexpr int kMostYamlDepth = 16;  // nesting of maps and lists

// Calls take() for each event of the first document until one call fails, and returns that error or the one of the
// YAML. The first line may be OpenCV's "%YAML:1.0". Refuses other directives, aliases, more events than any file of the
// project needs, and deeper nesting than kMostYamlDepth. Catches std::bad_alloc of take() alone.
Status read_yaml(std::string_view text, const std::function<Status(const YamlEvent &)> &take);

}  // namespace cudavision
