// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/zone_results.h"

#include <algorithm>

#include "gst/base/results/zones_meta.h"

namespace cudavision {
namespace {

constexpr const char *kKinds[] = {"cross", "enter", "leave", "dwell", "crowd", "wrong-way", "close"};

double pixels(std::int32_t fixed) { return static_cast<double>(fixed) / kUnitsOfPixel; }

void set_way(GstStructure *structure, const GroundWay &way) {
  if (!way.is_known()) return;
  gst_structure_set(structure, "place-x", G_TYPE_DOUBLE, way.place().x, "place-y", G_TYPE_DOUBLE,
                    way.place().y, "way", G_TYPE_DOUBLE, way.length(), nullptr);
  if (const auto speed = way.speed()) gst_structure_set(structure, "speed", G_TYPE_DOUBLE, *speed, nullptr);
}

GstStructure *make_tally(const char *field, const char *value, const Tally &tally) {
  return gst_structure_new("tally", field, G_TYPE_STRING, value, "total", G_TYPE_UINT64, tally.total,
                           "recent", G_TYPE_UINT64, tally.recent, nullptr);
}

GstStructure *make_counts(const CountedRule &rule, int direction) {
  const char *usual[] = {"enter", "leave"};
  GstStructure *counts = make_tally(
      "direction", rule.rule.is_line() ? rule.rule.directions[direction].c_str() : usual[direction],
      rule.counts.all(direction));
  const auto &types = rule.counts.types(direction);
  auto type = types.begin();
  set_list(counts, "types", types.size(), [&type](std::size_t) {
    GstStructure *own = make_tally("type", type->first.c_str(), type->second);
    ++type;
    return own;
  });
  return counts;
}

GstStructure *make_counters(const CountedRule &rule) {
  GstStructure *counters = gst_structure_new("zone", "name", G_TYPE_STRING, rule.rule.name.c_str(), nullptr);
  if (!rule.rule.is_line())
    gst_structure_set(counters, "occupancy", G_TYPE_UINT64, rule.occupancy, "crowded", G_TYPE_BOOLEAN,
                      rule.crowd_told ? TRUE : FALSE, nullptr);
  set_list(counters, "counts", kDirections,
           [&rule](std::size_t direction) { return make_counts(rule, static_cast<int>(direction)); });
  return counters;
}

// Makes the structure of a line or polygon to draw: its name and its points.
GstStructure *make_shape(const CountedRule &rule) {
  GstStructure *shape = gst_structure_new("shape", "name", G_TYPE_STRING, rule.rule.name.c_str(), nullptr);
  set_list(shape, "points", rule.points.size(), [&rule](std::size_t i) {
    const FixedPoint point = rule.points[i];
    return gst_structure_new("point", "x", G_TYPE_DOUBLE, pixels(point.x), "y", G_TYPE_DOUBLE,
                             pixels(point.y), nullptr);
  });
  return shape;
}

}  // namespace

GstStructure *make_event(const char *name, const ZoneEvent &event, const CountedRule &rule, FrameTime time) {
  const char *type = g_quark_to_string(event.type);
  using Kind = ZoneEvent::Kind;
  GstStructure *made = gst_structure_new(name, "event", G_TYPE_STRING, kKinds[static_cast<int>(event.kind)],
                                         "name", G_TYPE_STRING, rule.rule.name.c_str(), nullptr);
  if (event.kind == Kind::crowd)
    gst_structure_set(made, "count", G_TYPE_UINT64, event.count, nullptr);
  else
    gst_structure_set(made, "id", G_TYPE_UINT64, event.id, "type", G_TYPE_STRING, type != nullptr ? type : "",
                      "x", G_TYPE_DOUBLE, pixels(event.moment.anchor.x), "y", G_TYPE_DOUBLE,
                      pixels(event.moment.anchor.y), nullptr);
  set_way(made, event.way);
  if (event.kind == Kind::cross)
    gst_structure_set(made, "direction", G_TYPE_STRING, rule.rule.directions[event.direction].c_str(),
                      nullptr);
  if (event.kind == Kind::close)
    gst_structure_set(made, "other", G_TYPE_UINT64, event.other, "distance", G_TYPE_DOUBLE, event.distance,
                      nullptr);
  if (event.kind == Kind::leave || event.kind == Kind::dwell || event.kind == Kind::crowd)
    gst_structure_set(made, "duration", G_TYPE_UINT64, event.duration, nullptr);
  if (GST_CLOCK_TIME_IS_VALID(time.running))
    gst_structure_set(made, "running-time", G_TYPE_UINT64,
                      time.running - std::min(time.running, time.now - event.moment.time), nullptr);
  return made;
}

bool attach_zone_results(GstBuffer *buffer, const ZoneCounter &counter, const std::vector<ZoneEvent> &events,
                         std::size_t count, Size size, FrameTime time) {
  GstStructure *zones = attach_zones(buffer);
  if (zones == nullptr) return false;
  const std::vector<CountedRule> &rules = counter.rules();
  gst_structure_set(zones, "width", G_TYPE_INT, size.width, "height", G_TYPE_INT, size.height, nullptr);
  set_list(zones, "events", count,
           [&](std::size_t i) { return make_event("event", events[i], rules[events[i].rule], time); });
  set_list(zones, "zones", rules.size(), [&](std::size_t i) { return make_counters(rules[i]); });
  set_list(zones, "shapes", rules.size(), [&](std::size_t i) { return make_shape(rules[i]); });
  const auto ways = counter.ways();
  if (ways.empty()) return true;
  set_list(zones, "tracks", ways.size(), [&](std::size_t i) {
    GstStructure *track = gst_structure_new("track", "id", G_TYPE_UINT64, ways[i].first, nullptr);
    set_way(track, ways[i].second);
    return track;
  });
  return true;
}

}  // namespace cudavision
