// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's YAML, by libyaml, which reads a file as events: nothing is built up that a file could blow up.
#include <yaml.h>

#include "hog/model_file.h"

namespace cudavision::hog {
namespace {

// any name: {member: scalar or [scalars], ...}: what lies deeper, and further maps, are passed over.
class Reader {
 public:
  explicit Reader(ModelFields *fields) : fields_(fields) {}

  void take(const yaml_event_t &event) {
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
        if (depth_++ == 1) ++maps_;
        is_key_ = true;
        break;
      case YAML_SEQUENCE_START_EVENT:
        ++depth_;
        break;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        --depth_;
        is_key_ = true;
        break;
      case YAML_SCALAR_EVENT:
        take_scalar({reinterpret_cast<const char *>(event.data.scalar.value), event.data.scalar.length});
        break;
      default:
        break;
    }
  }

 private:
  void take_scalar(std::string word) {
    if (maps_ != 1) return;
    if (depth_ == 2 && is_key_) {
      member_ = std::move(word);
      (*fields_)[member_];
      is_key_ = false;
    } else if (depth_ == 2) {
      (*fields_)[member_].push_back(std::move(word));
      is_key_ = true;
    } else if (depth_ == 3) {
      (*fields_)[member_].push_back(std::move(word));
    }
  }

  ModelFields *fields_;
  std::string member_;
  int depth_ = 0, maps_ = 0;
  bool is_key_ = true;
};

}  // namespace

Status parse_yaml(std::string_view text, ModelFields *fields) {
  // OpenCV's first line, "%YAML:1.0", is no directive that YAML knows.
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return out_of_memory("the host has no memory left for a parser");
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char *>(text.data()), text.size());
  Reader reader(fields);
  Status status;
  for (bool done = false; !done && status.ok();) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) {
      status = invalid_argument("it is no complete YAML: " + std::string(parser.problem) + " in line " +
                                std::to_string(parser.problem_mark.line + 2));
      break;
    }
    done = event.type == YAML_STREAM_END_EVENT;
    reader.take(event);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return status;
}

}  // namespace cudavision::hog
