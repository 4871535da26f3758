// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads models in OpenCV's YAML.
#include "gst/base/input/yaml.h"
#include "gst/hog/model_file.h"

namespace cudavision::hog {
namespace {

// Reads {any name: {member: scalar or [scalars], ...}}. Deeper collections, values that are no maps, and all
// maps but the first one are ignored.
class Reader {
 public:
  explicit Reader(ModelFields *fields) : fields_(fields) {}

  Status take(const YamlEvent &event) {
    if (event.kind == YamlEvent::Kind::scalar) return take_scalar(event.text);
    if (event.kind == YamlEvent::Kind::end)
      end();
    else
      CUDAVISION_TRY(start(event.kind == YamlEvent::Kind::list_start));
    return {};
  }

 private:
  enum class Map { not_found, open, closed };  // the state of the first map

  Status start(bool is_list) {
    ++depth_;
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
  int depth_ = 0;
  Map map_ = Map::not_found;
  bool root_is_map_ = false;
  bool is_key_ = true;  // whether the next scalar of the first map is the name of a member
  bool in_list_ = false;
};

}  // namespace

Status parse_yaml(std::string_view text, ModelFields *fields) {
  Reader reader(fields);
  return read_yaml(text, [&](const YamlEvent &event) { return reader.take(event); });
}

}  // namespace cudavision::hog
