// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/awaited_results.h"

#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <string_view>

#include "gst/base/input/excerpt.h"
#include "gst/meta/reading.h"

namespace cudavision {
namespace {

constexpr GstClockTime kLongest = 5 * GST_SECOND;
constexpr std::size_t kMostTypes = 5;  // named in the sentence for the user

// Compares the names of the metas' API types, because some of these types exist only in newer versions of GStreamer.
bool is_result(const GstMeta &meta, AwaitedResults::Kind kind) {
  const std::string_view name = g_type_name(meta.info->api);
  return meta.info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE ||
         name.starts_with("GstAnalyticsRelation") || name == "GstCudaVisionAnalysisMeta-api" ||
         name.starts_with("GstCudaVisionNote") ||
         (kind == AwaitedResults::Kind::all && name.starts_with("GstCudaVision"));
}

std::string names_of(const std::set<GQuark> &types) {
  std::string names;
  for (const GQuark type : types) {
    const char *text = text_of(type);
    names += (names.empty() ? "\"" : ", \"") + excerpt(text != nullptr ? text : "") + "\"";
  }
  return names;
}

// The part of [first, first + length) that lies in [0, side).
struct Interval {
  int first, length;
};
Interval clipped(double first, double length, int side) {
  const double from = std::clamp<double>(first, 0, side), to = std::clamp<double>(first + length, 0, side);
  return {static_cast<int>(from), static_cast<int>(to - from)};
}

}  // namespace

bool Patience::is_over(const GstBuffer *frame) {
  elapsed_ += std::min<GstClockTime>(clock_.next(GST_BUFFER_PTS(frame), false, false).time, GST_SECOND);
  return elapsed_ >= kLongest;
}

std::string AwaitedType::take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes,
                              const char *property, const std::string &type) {
  const WantedType wanted(type.c_str());
  return take(frame, boxes, property, type, [&](GQuark own) { return wanted.includes(own); });
}

std::string AwaitedType::take(const GstBuffer *frame, const std::vector<AttachedBox> &boxes,
                              const char *property, const std::string &text,
                              const std::function<bool(GQuark)> &includes) {
  if (text != type_) *this = {};
  type_ = text;
  if (is_settled_) return {};
  is_settled_ =
      std::any_of(boxes.begin(), boxes.end(), [&](const AttachedBox &box) { return includes(box.type); });
  for (const AttachedBox &box : boxes)
    if (others_.size() < kMostTypes) others_.insert(box.type);
  if (is_settled_ || others_.empty() || !patience_.is_over(frame)) return {};
  is_settled_ = true;
  return "For 5 s no region or detection of the type \"" + excerpt(text) + "\" has come, but of " +
         names_of(others_) + ": does " + property + " name the right type?";
}

void TypedRegions::read(GstBuffer *buffer, Size frame, const StopFlag &stop, const char *property,
                        const std::string &type) {
  regions_.clear(), complaint_.clear();
  collect_boxes(buffer, stop, &boxes_);
  if (type != "*") complaint_ = awaited_.take(buffer, boxes_, property, type);
  const WantedType wanted = type == "*" ? WantedType::all() : WantedType(type.c_str());
  for (const AttachedBox &box : boxes_) {
    const Interval x = clipped(box.x, box.width, frame.width), y = clipped(box.y, box.height, frame.height);
    if (stop.requested()) return;
    if (!wanted.includes(box.type) || x.length == 0 || y.length == 0) continue;
    const Region region{x.first, y.first, x.length, y.length};
    if (regions_.empty() || regions_.back() != region) regions_.push_back(region);
  }
}

bool AwaitedResults::are_missing(GstBuffer *frame, Kind kind) {
  gpointer state = nullptr;
  while (!is_settled_) {
    const GstMeta *meta = gst_buffer_iterate_meta(frame, &state);
    if (meta == nullptr) break;
    is_settled_ = is_result(*meta, kind);
  }
  if (is_settled_) return false;
  is_settled_ = patience_.is_over(frame);
  return is_settled_;
}

}  // namespace cudavision
