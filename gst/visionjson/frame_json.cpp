// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionjson/frame_json.h"

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/common/standard_arithmetic.h"
#include "gst/base/results/frame_notes.h"
#include "gst/base/results/tensor_list.h"
#include "gst/base/results/zones_meta.h"
#include "gst/meta/reading.h"
#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

// Appends a member that is null if it is not known.
void append_whole(std::string *text, const char *name, bool is_known, gint64 value) {
  if (is_known)
    append_numbers(text, name, value);
  else
    append_string(&append_name(text, name), nullptr);
}

void append_time(std::string *text, const char *name, GstClockTime time) {
  append_whole(text, name, time <= G_MAXINT64, static_cast<gint64>(time));  // false for GST_CLOCK_TIME_NONE
}

// Begins the object of a frame.
void append_facts(std::string *text, const FrameFacts &facts) {
  text->push_back('{');
  if (facts.source) append_string(&append_name(text, "source"), facts.source->c_str());
  append_numbers(text, "frame", facts.number);
  append_time(text, "pts", facts.pts);
  append_time(text, "running-time", facts.running_time);
  if (facts.utc) append_string(&append_name(text, "utc"), rfc3339(*facts.utc).c_str());
  append_whole(text, "width", facts.size.width > 0, facts.size.width);
  append_whole(text, "height", facts.size.height > 0, facts.size.height);
}

void append_keypoint(std::string *text, const GstCudaVisionKeypoint &keypoint) {
  text->push_back('{');
  append_numbers(text, "x", keypoint.x, "y", keypoint.y, "response", keypoint.response, "angle",
                 keypoint.angle);
  text->push_back('}');
}

void append_line(std::string *text, const GstCudaVisionLine &line) {
  text->push_back('{');
  append_numbers(text, "rho", line.rho, "theta", line.theta, "votes", line.votes, "x1", line.x1, "y1",
                 line.y1, "x2", line.x2, "y2", line.y2);
  text->push_back('}');
}

// True if the structure holds the confidence only, which the JSON member "score" of the region gives, too.
bool is_score_alone(const GstStructure *detection) {
  return gst_structure_n_fields(detection) == 1 && number_in(detection, "confidence");
}

// The parameters of one name, in the order in which they are attached.
struct SameParams {
  std::string_view name;
  std::vector<const GstStructure *> structures;
};

// The parameters of a region, grouped by name, in the order of the first parameter of each name. Two classifiers, for
// example, attach two of the same name. The first "detection" is left out if is_score_alone().
std::vector<SameParams> params_of(const GstVideoRegionOfInterestMeta &region, const StopFlag &stop) {
  std::vector<SameParams> params;
  std::unordered_map<std::string_view, std::size_t> places;
  bool has_detection = false;  // a "detection" was found; "score" is the confidence of the first one
  for_each_param(region, [&](std::string_view name, const GstStructure *structure) {
    if (stop.requested()) return;
    if (name == "detection" && !std::exchange(has_detection, true) && is_score_alone(structure)) return;
    const auto [place, is_new] = places.try_emplace(name, params.size());
    if (is_new) params.push_back({name, {}});
    params[place->second].structures.push_back(structure);
  });
  return params;
}

// Appends the member "params" if there are parameters: an object for each name or, if several have the name, a list of
// objects, because readers of JSON lose all but one of the members of an object that have the same name.
void append_params(std::string *text, const GstVideoRegionOfInterestMeta &region, const StopFlag &stop) {
  const std::vector<SameParams> params = params_of(region, stop);
  if (params.empty()) return;
  text->append(",\"params\":");
  char before = '{';
  for (const SameParams &same : params) {
    text->push_back(std::exchange(before, ','));
    append_string(text, same.name.data());
    text->push_back(':');
    if (same.structures.size() == 1) {
      append_structure(text, same.structures[0], stop);
      continue;
    }
    text->push_back('[');
    append_items(
        text, same.structures.data(), same.structures.size(),
        [&stop](std::string *out, const GstStructure *structure) { append_structure(out, structure, stop); },
        stop);
    text->push_back(']');
  }
  text->push_back('}');
}

void append_region(std::string *text, const GstVideoRegionOfInterestMeta &meta, const StopFlag &stop) {
  const RegionReading region = reading_of(meta);
  append_string(&text->append("{\"type\":"), region.type);
  append_numbers(text, "x", region.x, "y", region.y, "width", region.width, "height", region.height, "score",
                 region.score);
  append_params(text, meta, stop);
  text->push_back('}');
}

// Appends the member `name`, a list of the items of all metas of a type, if there is such a meta.
template <typename Item, typename Meta, typename Append>
void append_lists(std::string *text, GstBuffer *buffer, const char *name, GType api, const Append &append,
                  const StopFlag &stop, const char **unreadable) {
  gpointer state = nullptr;
  GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer, &state, api);
  if (meta == nullptr) return;
  text->append(",\"").append(name).append("\":[");
  for (; meta != nullptr; meta = gst_buffer_iterate_meta_filtered(buffer, &state, api)) {
    const ListReading<Item> list = list_in<Item>(reinterpret_cast<Meta *>(meta)->items);
    append_items(text, list.items, list.count, append, stop);
    if (list.fault == nullptr) continue;
    append_item(text, list.fault, append_unreadable);
    *unreadable = list.fault;
  }
  text->push_back(']');
}

void append_regions(std::string *text, GstBuffer *buffer, const StopFlag &stop) {
  text->append(",\"regions\":[");
  for_each_region(buffer, [&](const GstVideoRegionOfInterestMeta &meta) {
    if (stop.requested()) return;
    append_item(text, meta,
                [&stop](std::string *out, const auto &region) { append_region(out, region, stop); });
  });
  text->push_back(']');
}

void append_tensors(std::string *text, GstBuffer *buffer, TensorStyle *style, const StopFlag &stop,
                    const char **unreadable) {
  const TensorList tensors = tensors_of(buffer);
  text->append(",\"tensors\":[");
  for (std::size_t i = 0; i < tensors.size() && !stop.requested(); ++i)
    append_item(text, std::span(tensors).subspan(i), [&](std::string *, const auto &tensor_and_rest) {
      if (const char *fault = append_tensor(text, tensor_and_rest, style, stop); fault != nullptr)
        *unreadable = fault;
    });
  text->push_back(']');
}

// Appends an event with the time of day at which it happened, which can be before that of the frame. The subtraction
// wraps around, because other programs can attach any number.
void append_event(std::string *text, const GstStructure *event, const FrameFacts &facts,
                  const StopFlag &stop) {
  append_structure(text, event, stop);
  if (!facts.utc) return;
  guint64 happened = 0;
  const bool is_timed = GST_CLOCK_TIME_IS_VALID(facts.running_time) &&
                        gst_structure_get_uint64(event, "running-time", &happened);
  const guint64 before = is_timed ? facts.running_time - happened : 0;
  const auto frame = static_cast<guint64>(facts.utc->time_since_epoch().count());
  text->pop_back();  // the brace
  append_string(&append_name(text, "utc"),
                rfc3339(Utc(std::chrono::nanoseconds(static_cast<gint64>(frame - before)))).c_str());
  text->push_back('}');
}

// Appends the member `list` if a meta of cudavisionzones is attached: the joined lists of this name of all such metas.
// Those of cudacameracheck have no zones. Empty lists of tracks are left out.
template <typename Append>
void append_zones(std::string *text, GstBuffer *buffer, const char *list, const Append &append,
                  const StopFlag &stop) {
  bool begun = false;
  for_each_zones(buffer, [&](const GstStructure &zones) {
    const std::string_view name(list);
    if (name == "zones" && gst_structure_has_field(&zones, list) == FALSE) return;
    if (name == "tracks" && count_in(zones, list) == 0) return;
    if (!std::exchange(begun, true)) text->append(",\"").append(list).append("\":[");
    for (guint i = 0; i < count_in(zones, list) && !stop.requested(); ++i)
      if (const GstStructure *item = item_in(zones, list, i); item != nullptr)
        append_item(text, item, append);
  });
  if (begun) text->push_back(']');
}

void append_warnings(std::string *text, GstBuffer *buffer) {
  std::string warnings = "[";
  for_each_warning(buffer, [&](const std::string &warning) {
    append_item(&warnings, warning,
                [](std::string *out, const std::string &own) { append_string(out, own.c_str()); });
  });
  if (warnings.size() > 1) text->append(",\"warnings\":").append(warnings).append("]");
}

}  // namespace

const char *append_frame(std::string *text, const FrameFacts &facts, GstBuffer *buffer, TensorStyle *style,
                         const StopFlag &stop) {
  const StandardArithmetic standard_arithmetic;
  const char *unreadable = nullptr;
  append_facts(text, facts);
  append_warnings(text, buffer);
  append_lists<GstCudaVisionKeypoint, GstCudaVisionKeypointsMeta>(
      text, buffer, "keypoints", GST_CUDA_VISION_KEYPOINTS_META_API_TYPE, append_keypoint, stop, &unreadable);
  append_lists<GstCudaVisionLine, GstCudaVisionLinesMeta>(
      text, buffer, "lines", GST_CUDA_VISION_LINES_META_API_TYPE, append_line, stop, &unreadable);
  append_regions(text, buffer, stop);
  append_analytics(text, buffer, stop);
  const auto append_plain = [&](std::string *out, const GstStructure *item) {
    append_structure(out, item, stop);
  };
  append_zones(
      text, buffer, "events",
      [&](std::string *out, const GstStructure *event) { append_event(out, event, facts, stop); }, stop);
  append_zones(text, buffer, "zones", append_plain, stop);
  append_zones(text, buffer, "tracks", append_plain, stop);
  append_tensors(text, buffer, style, stop, &unreadable);
  text->append("}\n");
  return unreadable;
}

}  // namespace cudavision
