// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/input/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <string>

#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"

namespace cudavision {
namespace {

// The limit of a file's events: numbers, names, starts and ends of collections. Deeply nested ones take longer.
constexpr int kMostEvents = 1 << 22;

// The error of the parser. text: its input.
Status error_of(const yaml_parser_t &parser, std::string_view text) {
  if (parser.error == YAML_MEMORY_ERROR) return out_of_memory("the host has no memory left for it");
  // For an invalid character libyaml gives the offset only, not the line.
  const auto line =
      parser.error == YAML_READER_ERROR
          ? std::count(
                text.begin(),
                text.begin() + static_cast<std::ptrdiff_t>(std::min(parser.problem_offset, text.size())),
                '\n')
          : static_cast<std::ptrdiff_t>(parser.problem_mark.line);
  return invalid_argument(
      "it is no complete YAML: " + std::string(parser.problem != nullptr ? parser.problem : "an error") +
      " in line " + std::to_string(line + 1));
}

// Fails if there is a directive: a percent sign at the beginning of a line, after any of the line breaks that YAML 1.1
// knows. libyaml compares each %TAG with all before it, which takes hours for a file full of them.
Status refuse_directives(std::string_view text) {
  constexpr std::string_view kBreaks[] = {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
    for (const std::string_view line_break : kBreaks)
      if (at == 0 || text.substr(0, at).ends_with(line_break))
        return invalid_argument("it has a directive at byte " + std::to_string(at) +
                                " after its first line, which is not read");
  return {};
}

// Hands on what readers need, and checks the limits. count, depth: of the events and collections before it.
Status hand_on(const yaml_event_t &event, const std::function<Status(const YamlEvent &)> &take, int *count,
               int *depth) {
  if (++*count > kMostEvents)
    return invalid_argument("it has more than " + std::to_string(kMostEvents) + " values and collections");
  YamlEvent read{YamlEvent::Kind::end, {}, static_cast<int>(event.start_mark.line) + 1};
  switch (event.type) {
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
      if (++*depth > kMostYamlDepth)
        return invalid_argument("its collections lie within more than " + std::to_string(kMostYamlDepth) +
                                " others");
      read.kind =
          event.type == YAML_MAPPING_START_EVENT ? YamlEvent::Kind::map_start : YamlEvent::Kind::list_start;
      return take(read);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      --*depth;
      return take(read);
    case YAML_SCALAR_EVENT:
      read.kind = YamlEvent::Kind::scalar;
      read.text = {reinterpret_cast<const char *>(event.data.scalar.value), event.data.scalar.length};
      return take(read);
    case YAML_ALIAS_EVENT:
      return invalid_argument("it has an alias, *" +
                              excerpt(reinterpret_cast<const char *>(event.data.alias.anchor)) +
                              ", which is not read");
    default:
      return {};
  }
}

}  // namespace

Status read_yaml(std::string_view text, const std::function<Status(const YamlEvent &)> &take) {
  // The first line, "%YAML:1.0", is not valid YAML. Its line feed is kept, so that line numbers are right.
  if (text.starts_with("%YAML")) text.remove_prefix(std::min(text.find('\n'), text.size()));
  CUDAVISION_TRY(refuse_directives(text));
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return out_of_memory("the host has no memory left for a parser");
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char *>(text.data()), text.size());
  Status status;
  int count = 0, depth = 0;
  for (bool done = false; !done && status.ok();) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) {
      status = error_of(parser, text);
      break;
    }
    done = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
    status = catch_bad_alloc([&] { return hand_on(event, take, &count, &depth); });
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return status;
}

}  // namespace cudavision
