// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/zone_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <set>
#include <string_view>

#include "gst/base/input/excerpt.h"
#include "gst/visionzones/geometry.h"
#include "gst/visionzones/numbered_json.h"

namespace cudavision {
namespace {

constexpr double kMostSeconds = 1e6;

// Reads the members of one JSON object. status() returns the first error.
class Members {
 public:
  Members(const NumberedJson &json, JsonObject *object, std::string what)
      : json_(json), object_(object), what_(std::move(what)) {}

  const Status &status() const { return status_; }
  JsonObject *object() const { return object_; }
  void fail(const char *name, const std::string &reason) {
    if (status_.ok())
      status_ = json_.fault(object_, name, '\'' + std::string(name) + "' of " + what_ + ' ' + reason);
  }
  void name_it(const std::string &what) { what_ = what; }

  // Fails if the object has a member that is not in the list: it is probably misspelt.
  void allow(const std::vector<std::string_view> &names) {
    g_autoptr(GList) members = json_object_get_members(object_);
    for (const GList *member = members; member != nullptr; member = member->next) {
      const auto *name = static_cast<const char *>(member->data);
      if (std::find(names.begin(), names.end(), name) == names.end() && status_.ok())
        status_ = json_.fault(object_, name, '\'' + excerpt(name) + "' is no member of " + what_);
    }
  }
  // The member's node, or null.
  JsonNode *find(const char *name) const { return json_object_get_member(object_, name); }
  bool has(const char *name) const { return find(name) != nullptr; }

  bool text(const char *name, std::string *value) {
    JsonNode *node = find(name);
    if (node == nullptr) return false;
    const std::string fault = read_text(node, value);
    if (!fault.empty()) fail(name, fault);
    return fault.empty();
  }
  bool flag(const char *name, bool *value) {
    JsonNode *node = find(name);
    if (node == nullptr) return false;
    if (!holds(node, G_TYPE_BOOLEAN)) return fail(name, "is neither true nor false"), false;
    *value = json_node_get_boolean(node) != FALSE;
    return true;
  }
  bool number(const char *name, double least, double most, double *value) {
    JsonNode *node = find(name);
    if (node == nullptr) return false;
    if (!is_number(node, least, most))
      return fail(name, "is no number from " + shown(least) + " to " + shown(most)), false;
    *value = json_node_get_double(node);
    return true;
  }
  void seconds(const char *name, GstClockTime *value) {
    double read = 0;
    if (number(name, 0, kMostSeconds, &read))
      *value = static_cast<GstClockTime>(std::llround(read * static_cast<double>(GST_SECOND)));
  }
  // An object. read() reads its members, of these names, of which the first `needed` must be there.
  void object(const char *name, std::initializer_list<const char *> names, std::size_t needed,
              const std::function<void(Members *)> &read) {
    JsonNode *node = find(name);
    if (node == nullptr) return;
    if (!JSON_NODE_HOLDS_OBJECT(node)) return fail(name, "is no object, {...}");
    Members own(json_, json_node_get_object(node), '\'' + std::string(name) + '\'');
    own.allow({names.begin(), names.end()});
    for (const char *const *each = names.begin(); each != names.begin() + needed; ++each)
      if (!own.has(*each)) fail(name, "has no '" + std::string(*each) + '\'');
    read(&own);
    if (status_.ok()) status_ = own.status_;
  }
  // A list of two numbers.
  bool point(const char *name, double farthest, PlannedPoint *value) {
    JsonNode *node = find(name);
    if (node == nullptr) return false;
    if (!read_point(node, farthest, value)) return fail(name, kNoPoint + shown(farthest)), false;
    return true;
  }
  bool points(const char *name, std::size_t least, double farthest, std::vector<PlannedPoint> *values) {
    return list(name, least, kMostPointsOfRule, [&](JsonNode *node) -> std::string {
      values->emplace_back();
      return read_point(node, farthest, &values->back()) ? "" : kNoPoint + shown(farthest);
    });
  }
  bool texts(const char *name, std::size_t least, std::size_t most, std::vector<std::string> *values) {
    return list(name, least, most,
                [&](JsonNode *node) -> std::string { return read_text(node, &values->emplace_back()); });
  }
  // take: called with each item; returns what is wrong with the item, or an empty text.
  bool list(const char *name, std::size_t least, std::size_t most,
            const std::function<std::string(JsonNode *)> &take) {
    JsonNode *node = find(name);
    if (node == nullptr) return false;
    JsonArray *items = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : nullptr;
    const guint count = items != nullptr ? json_array_get_length(items) : 0;
    if (items == nullptr || count < least || count > most)
      return fail(name, "is no list of " + std::to_string(least) + " to " + std::to_string(most) + " items"),
             false;
    for (guint i = 0; i < count && status_.ok(); ++i)
      if (const std::string fault = take(json_array_get_element(items, i)); !fault.empty())
        status_ = json_.fault(items, std::to_string(i),
                              "item " + std::to_string(i) + " of '" + name + "' of " + what_ + ' ' + fault);
    return status_.ok();
  }

 private:
  inline static const std::string kNoPoint = "is no list of two numbers from -x to x, where x is ";

  static bool holds(JsonNode *node, GType type) {
    return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
  }
  // Returns what is wrong, or an empty text.
  static std::string read_text(JsonNode *node, std::string *value) {
    if (!holds(node, G_TYPE_STRING)) return "is no text";
    *value = json_node_get_string(node);
    return value->empty() || value->size() > 64 ? "has not 1 to 64 bytes" : "";
  }
  static bool is_number(JsonNode *node, double least, double most) {
    if (!holds(node, G_TYPE_INT64) && !holds(node, G_TYPE_DOUBLE)) return false;
    const double value = json_node_get_double(node);
    return value >= least && value <= most;  // false for NaN
  }
  static std::string shown(double value) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    return g_ascii_formatd(text, sizeof text, "%.10g", value);
  }
  static bool read_point(JsonNode *node, double farthest, PlannedPoint *value) {
    JsonArray *pair = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : nullptr;
    if (pair == nullptr || json_array_get_length(pair) != 2) return false;
    for (guint i = 0; i < 2; ++i)
      if (!is_number(json_array_get_element(pair, i), -farthest, farthest)) return false;
    *value = {json_array_get_double_element(pair, 0), json_array_get_double_element(pair, 1)};
    return true;
  }

  const NumberedJson &json_;
  JsonObject *object_;
  std::string what_;
  Status status_;
};

class PlanReader {
 public:
  PlanReader(const NumberedJson &json, ZonePlan *plan) : json_(json), plan_(plan) {}

  Status read() {
    Members top(json_, json_.root(), "the plan");
    top.allow({"units", "patience", "window", "metres", "lines", "zones"});
    std::string units = "pixels";
    if (top.text("units", &units) && units != "pixels" && units != "fraction")
      top.fail("units", "is neither \"pixels\" nor \"fraction\"");
    plan_->is_fraction = units == "fraction";
    top.seconds("patience", &plan_->patience);
    top.seconds("window", &plan_->window);
    top.object("metres", {"picture", "ground"}, 2, [this](Members *metres) {
      PlannedGround &ground = plan_->ground.emplace();
      read_corners(metres, "picture", farthest(), &ground.picture);
      read_corners(metres, "ground", kFarthestPixel, &ground.places);
    });
    CUDAVISION_TRY(top.status());
    CUDAVISION_TRY(read_rules(&top, "lines", "a line", &PlanReader::read_line));
    CUDAVISION_TRY(read_rules(&top, "zones", "a zone", &PlanReader::read_zone));
    if (plan_->rules.empty()) return invalid_argument("line 1: there is neither a line nor a zone");
    return {};
  }

 private:
  double farthest() const { return plan_->is_fraction ? 2 : kFarthestPixel; }

  Status read_rules(Members *top, const char *list, const char *what,
                    void (PlanReader::*read_rule)(Members *, ZoneRule *)) {
    std::set<std::string> names;
    Status status;
    top->list(list, 0, kMostRules / 2, [&](JsonNode *node) -> std::string {
      if (!JSON_NODE_HOLDS_OBJECT(node)) return "is no object, {...}";
      Members members(json_, json_node_get_object(node), what);
      ZoneRule rule;
      if (!members.has("name")) return "has no 'name'";
      if (members.text("name", &rule.name)) members.name_it('\'' + excerpt(rule.name) + '\'');
      if (!names.insert(rule.name).second) members.fail("name", "is that of another one, too");
      (this->*read_rule)(&members, &rule);
      status = members.status();
      if (!status.ok()) return "is wrong";
      if (rule.points.empty())
        return std::string("has no ") + (list[0] == 'l' ? "'from' and 'to'" : "'polygon'");
      plan_->rules.push_back(std::move(rule));
      return {};
    });
    return status.ok() ? top->status() : status;
  }

  static void read_corners(Members *metres, const char *name, double farthest, Corners *corners) {
    std::vector<PlannedPoint> points;
    metres->points(name, 4, farthest, &points);
    if (points.size() != 4) return metres->fail(name, "has not four points");
    std::copy(points.begin(), points.end(), corners->begin());
    if (!is_quadrilateral(*corners))
      metres->fail(name, "is no convex quadrilateral, whose points follow one another around it");
  }

  void read_line(Members *line, ZoneRule *rule) {
    line->allow({"name", "from", "to", "anchor", "types", "directions", "hysteresis", "least-stay",
                 "min-speed", "max-speed"});
    read_common(line, rule);
    if (rule->share != 0) line->fail("anchor", "is a share, which lines do not have");
    PlannedPoint from, to;
    const bool has_from = line->point("from", farthest(), &from), has_to = line->point("to", farthest(), &to);
    if (has_from && has_to) rule->points = {from, to};
    if (has_from && has_to && from.x == to.x && from.y == to.y)
      line->fail("to", "is the same point as 'from'");
    if (std::vector<std::string> directions; line->texts("directions", 2, 2, &directions)) {
      if (directions[0] == directions[1]) line->fail("directions", "are the same");
      std::move(directions.begin(), directions.end(), rule->directions);
    }
    read_metres(line, "min-speed", kFastest, &rule->min_speed);
    read_metres(line, "max-speed", kFastest, &rule->max_speed);
    if (rule->min_speed > rule->max_speed) line->fail("min-speed", "is above 'max-speed'");
  }

  // A number for which places on the ground must be known.
  void read_metres(Members *rule, const char *name, double most, double *value) {
    if (rule->number(name, 0, most, value) && !plan_->ground) rule->fail(name, "needs 'metres' of the plan");
  }

  void read_zone(Members *zone, ZoneRule *rule) {
    zone->allow({"name", "polygon", "anchor", "types", "inverse", "dwell", "crowd", "direction", "angle",
                 "distance", "hysteresis", "least-stay"});
    read_common(zone, rule);
    zone->points("polygon", 3, farthest(), &rule->points);
    zone->flag("inverse", &rule->is_inverse);
    zone->seconds("dwell", &rule->dwell);
    zone->number("angle", 0, 180, &rule->angle);
    if (PlannedPoint way; zone->point("direction", kFarthestPixel, &way)) {
      if (way.x == 0 && way.y == 0) zone->fail("direction", "is no direction: both numbers are 0");
      rule->way = way;
    } else if (zone->has("angle")) {
      zone->fail("angle", "needs a 'direction'");
    }
    zone->object("crowd", {"count", "seconds"}, 1, [rule](Members *crowd) {
      double count = 0;
      crowd->number("count", 1, 10000, &count);
      rule->crowd = static_cast<int>(count);
      crowd->seconds("seconds", &rule->crowd_time);
    });
    read_metres(zone, "distance", kFarthestPixel, &rule->distance);
  }

  void read_common(Members *members, ZoneRule *rule) {
    read_anchor(members, rule);
    members->texts("types", 0, 64, &rule->types);
    if (double hysteresis = 0; members->number("hysteresis", 0, farthest(), &hysteresis))
      rule->hysteresis = hysteresis;
    members->seconds("least-stay", &rule->least_stay);
  }

  // "bottom", "center", a point in fractions of the box, or a share.
  void read_anchor(Members *members, ZoneRule *rule) {
    JsonNode *node = members->find("anchor");
    if (node == nullptr) return;
    if (JSON_NODE_HOLDS_ARRAY(node)) {
      members->point("anchor", 2, &rule->anchor);
    } else if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
      members->number("anchor", 0.01, 1, &rule->share);
    } else if (const std::string_view name = json_node_get_string(node); name == "center") {
      rule->anchor = {0.5, 0.5};
    } else if (name != "bottom") {
      members->fail("anchor", "is neither \"bottom\" nor \"center\" nor a point nor a share");
    }
  }

  const NumberedJson &json_;
  ZonePlan *plan_;
};

}  // namespace

Status read_zone_plan(const std::string &json, ZonePlan *plan) {
  if (json.size() > kMostPlanBytes)
    return invalid_argument("this is longer than " + std::to_string(kMostPlanBytes) + " bytes");
  NumberedJson numbered;
  CUDAVISION_TRY(numbered.parse(json));
  *plan = {};
  g_autofree char *plain = json_to_string(numbered.root_node(), FALSE);
  g_autofree char *checksum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, plain, -1);
  plan->checksum = checksum;
  return PlanReader(numbered, plan).read();
}

}  // namespace cudavision
