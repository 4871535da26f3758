// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads models in OpenCV's YAML with libyaml. It reads events instead of building a document, so that a
// malicious file cannot expand to a large tree.
#include <yaml.h>

#include <algorithm>

#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"
#include "gst/hog/model_file.h"

namespace cudavision::hog {
namespace {

// The limit of a file's events: numbers, names, starts and ends of collections. Deeply nested ones take longer.
constexpr int kMostEvents = 1 << 22;

// Reads {any name: {member: scalar or [scalars], ...}}. Deeper collections, values that are no maps, and all
// maps but the first one are ignored.
class Reader {
 public:
  explicit Reader(ModelFields *fields) : fields_(fields) {}

  Status take(const yaml_event_t &event) {
    if (++events_ > kMostEvents)
      return invalid_argument("it has more than " + std::to_string(kMostEvents) + " values and collections");
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT:
        return start(event.type == YAML_SEQUENCE_START_EVENT);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        end();
        return {};
      case YAML_SCALAR_EVENT:
        return take_scalar(
            {reinterpret_cast<const char *>(event.data.scalar.value), event.data.scalar.length});
      case YAML_ALIAS_EVENT:
        return invalid_argument("it has an alias, *" +
                                excerpt(reinterpret_cast<const char *>(event.data.alias.anchor)) +
                                ", which no model needs");
      default:
        return {};
    }
  }

 private:
  enum class Map { not_found, open, closed };  // the state of the first map

  Status start(bool is_list) {
    if (++depth_ > kMaxModelDepth)
      return invalid_argument("its collections lie within more than " + std::to_string(kMaxModelDepth) +
                              " others");
    if (depth_ == 1) root_is_map_ = !is_list;
    if (depth_ == 2 && root_is_map_ && map_ == Map::not_found && !is_list) {
      map_ = Map::open;
    } else if (depth_ == 3 && map_ == Map::open) {
      if (is_key_) return invalid_argument("the name of a member is no text");
      in_list_ = is_list;
    }
    return {};
  }

  void end() {
    --depth_;
    if (map_ != Map::open) return;
    if (depth_ == 1) map_ = Map::closed;
    if (depth_ == 2) is_key_ = true;
  }

  Status take_scalar(std::string_view word) {
    if (map_ != Map::open) return {};
    if (depth_ == 2) {
      is_key_ = !is_key_;
      if (!is_key_) return fields_->begin(word);
      fields_->append(word);
    } else if (depth_ == 3 && in_list_) {
      fields_->append(word);
    }
    return {};
  }

  ModelFields *fields_;
  int events_ = 0, depth_ = 0;
  Map map_ = Map::not_found;
  bool root_is_map_ = false;
  bool is_key_ = true;  // whether the next scalar of the first map is the name of a member
  bool in_list_ = false;
};

// The error of the parser. text: its input, which begins with the line feed at the end of the file's first line.
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
      if (text.substr(0, at).ends_with(line_break))
        return invalid_argument("it has a directive at byte " + std::to_string(at) +
                                " after its first line, which no model needs");
  return {};
}

}  // namespace

Status parse_yaml(std::string_view text, ModelFields *fields) {
  // The first line, "%YAML:1.0", is not valid YAML. Its line feed is kept, so that line numbers are right.
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  CUDAVISION_TRY(refuse_directives(text));
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return out_of_memory("the host has no memory left for a parser");
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char *>(text.data()), text.size());
  Reader reader(fields);
  Status status;
  for (bool done = false; !done && status.ok();) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) {
      status = error_of(parser, text);
      break;
    }
    done = event.type == YAML_STREAM_END_EVENT;
    status = catch_bad_alloc([&] { return reader.take(event); });
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return status;
}

}  // namespace cudavision::hog
