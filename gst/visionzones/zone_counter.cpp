// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/zone_counter.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

namespace cudavision {
namespace {

// The default hysteresis of a rule, as a fraction of the frame's height.
constexpr double kUsualHysteresis = 0.01;
// Who was too close to another one is so until they are this many times the distance apart.
constexpr double kApart = 1.25;

bool wants(const ZoneRule &rule, GQuark type) {
  if (rule.types.empty()) return true;
  const char *name = g_quark_to_string(type);
  return name != nullptr && std::find(rule.types.begin(), rule.types.end(), name) != rule.types.end();
}

FixedPoint anchor_of(const ZoneRule &rule, const CountedBox &box) {
  return fixed_point(box.x + rule.anchor.x * box.width, box.y + rule.anchor.y * box.height);
}

bool has_speed(const ZoneRule &line, const GroundWay &way) {
  const std::optional<double> speed = way.speed();
  return !line.asks_speed() || (speed && *speed >= line.min_speed && *speed <= line.max_speed);
}

CountedRule placed(const ZoneRule &rule, bool is_fraction, Size size) {
  CountedRule placed;
  placed.rule = rule;
  const double x_unit = is_fraction ? size.width : 1, y_unit = is_fraction ? size.height : 1;
  for (const PlannedPoint &point : rule.points)
    placed.points.push_back(fixed_point(point.x * x_unit, point.y * y_unit));
  const double pixels = rule.hysteresis ? *rule.hysteresis * y_unit : kUsualHysteresis * size.height;
  placed.reach = std::round(std::min(pixels, kFarthestPixel) * kUnitsOfPixel);
  placed.around = box_around(placed.points);
  const auto reach = static_cast<std::int32_t>(placed.reach);
  placed.around.least = {placed.around.least.x - reach, placed.around.least.y - reach};
  placed.around.most = {placed.around.most.x + reach, placed.around.most.y + reach};
  return placed;
}

// Rules with a share need that share of the box inside, or half of it to stay inside; others test the anchor.
bool is_inside(const CountedRule &counted, FixedPoint anchor, const CountedBox &box, bool was_inside) {
  const ZoneRule &rule = counted.rule;
  if (rule.share != 0) {
    const FixedBox area{fixed_point(box.x, box.y), fixed_point(box.x + box.width, box.y + box.height)};
    const bool was_in_polygon = was_inside != rule.is_inverse;
    const double share = counted.around.meets(area) ? share_inside(counted.points, area) : 0;
    return (share >= (was_in_polygon ? rule.share / 2 : rule.share)) != rule.is_inverse;
  }
  const bool is_around = counted.around.contains(anchor);
  if ((is_around && contains(counted.points, anchor)) != rule.is_inverse) return true;
  return was_inside && is_around && is_near_edge(counted.points, anchor, counted.reach);
}

}  // namespace

// --- counts ---

void ZoneCounts::add(Direction direction, GQuark type, GstClockTime time) {
  if (recent_.size() == kMostRecent) forget_oldest();
  const char *text = g_quark_to_string(type);
  const std::string name = text != nullptr ? text : "";
  auto &types = types_[direction];
  ++all_[direction].total, ++all_[direction].recent;
  if (types.size() < kMostTypes || types.contains(name)) ++types[name].total, ++types[name].recent;
  recent_.push_back({time, direction, type});
}

void ZoneCounts::begin_at(int direction, const std::string &type, guint64 total) {
  if (types_[direction].size() < kMostTypes) types_[direction][type].total = total;
}

void ZoneCounts::forget_oldest() {
  const Passage passage = recent_.front();
  recent_.pop_front();
  --all_[passage.direction].recent;
  const char *text = g_quark_to_string(passage.type);
  auto &types = types_[passage.direction];
  if (const auto own = types.find(text != nullptr ? text : ""); own != types.end()) --own->second.recent;
}

void ZoneCounts::forget_before(GstClockTime time) {
  while (!recent_.empty() && recent_.front().time < time) forget_oldest();
}

// --- plans ---

void ZoneCounter::follow(const ZonePlan &plan, Size size) {
  if (std::exchange(size_, size) != size) forget_tracks();
  std::vector<CountedRule> rules;
  std::vector<std::size_t> places;  // for each new rule: the index of its old rule, or rules_.size()
  for (const ZoneRule &rule : plan.rules) {
    CountedRule next = placed(rule, plan.is_fraction, size);
    const auto old = std::find_if(rules_.begin(), rules_.end(), [&rule](const CountedRule &other) {
      return other.rule.name == rule.name && other.rule.is_line() == rule.is_line();
    });
    places.push_back(static_cast<std::size_t>(old - rules_.begin()));
    if (old != rules_.end()) {
      next.counts = std::move(old->counts);
      next.occupancy = old->occupancy;
      next.crowd_since = old->crowd_since, next.crowd_told = old->crowd_told;
    }
    rules.push_back(std::move(next));
  }
  for (auto &[id, track] : tracks_) {
    std::vector<Stay> stays;
    for (std::size_t i = 0; i < places.size(); ++i) {
      stays.push_back(places[i] < track.stays.size() ? track.stays[places[i]] : Stay());
      stays.back().anchor = anchor_of(rules[i].rule, track.box);
    }
    track.stays = std::move(stays);
  }
  rules_ = std::move(rules);
  plan_ = plan;
  ground_.reset();
  if (!plan.ground) return;
  Corners picture = plan.ground->picture;
  if (plan.is_fraction)
    for (GroundPoint &corner : picture) corner.x *= size.width, corner.y *= size.height;
  if (is_quadrilateral(picture)) ground_.emplace(picture, plan.ground->places);
}

void ZoneCounter::restore(std::vector<ZoneCounts> counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) rules_[i].counts = std::move(counts[i]);
}

void ZoneCounter::forget_tracks() {
  tracks_.clear();
  for (CountedRule &rule : rules_) {
    rule.occupancy = 0;
    rule.crowd_since = GST_CLOCK_TIME_NONE, rule.crowd_told = false;
  }
}

// --- frames ---

const std::vector<ZoneEvent> &ZoneCounter::next(const std::vector<CountedBox> &boxes, GstClockTime now,
                                                const StopFlag &stop) {
  events_.clear();
  now_ = now, has_too_many_ = false;
  for (CountedRule &rule : rules_) rule.counts.forget_before(now > plan_.window ? now - plan_.window : 0);
  end_lost_tracks();
  sorted_ = boxes;
  const auto key = [](const CountedBox &box) {
    return std::tuple(box.id, box.predicted, box.y, box.x, box.width, box.height, box.type);
  };
  std::sort(sorted_.begin(), sorted_.end(),
            [key](const CountedBox &a, const CountedBox &b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < sorted_.size() && !stop.requested(); ++i)
    if (i == 0 || sorted_[i].id != sorted_[i - 1].id) take(sorted_[i]);
  settle_unseen();
  for (std::size_t i = 0; i < rules_.size() && !stop.requested(); ++i) watch_crowd(i), watch_distance(i);
  return events_;
}

void ZoneCounter::end_lost_tracks() {
  for (auto &[id, track] : tracks_)
    for (std::size_t i = 0; i < rules_.size() && is_lost(track); ++i) {
      Stay &stay = track.stays[i];
      const Moment last{track.last_seen, stay.anchor};
      if (rules_[i].rule.is_line())
        settle(i, track, &stay);
      else if (stay.is_counted)
        leave(i, track, &stay, stay.is_in ? last : stay.changed);
    }
  std::erase_if(tracks_, [this](const auto &entry) { return is_lost(entry.second); });
}

std::vector<std::pair<guint64, GroundWay>> ZoneCounter::ways() const {
  std::vector<std::pair<guint64, GroundWay>> ways;
  for (const auto &[id, track] : tracks_)
    if (track.last_seen == now_ && track.way.is_known()) ways.emplace_back(id, track.way);
  return ways;
}

void ZoneCounter::take(const CountedBox &box) {
  if (box.predicted) {
    if (const auto known = tracks_.find(box.id); known != tracks_.end()) known->second.last_seen = now_;
    return;
  }
  const auto [place, is_first] = tracks_.try_emplace(box.id);
  if (is_first && tracks_.size() > kMostTracks) {
    tracks_.erase(place);
    has_too_many_ = true;
    return;
  }
  Track &track = place->second;
  track.stays.resize(rules_.size());
  track.box = box, track.last_seen = now_;
  const GroundPoint feet{box.x + box.width / 2, box.y + box.height};
  if (const auto on_ground = ground_ ? ground_->place_of(feet) : std::nullopt)
    track.way.add(*on_ground, now_);
  FixedPoint anchor;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    Stay &stay = track.stays[i];
    const bool is_same = i > 0 && rules_[i].rule.anchor == rules_[i - 1].rule.anchor;  // as most are
    if (!is_same) anchor = anchor_of(rules_[i].rule, box);
    const FixedPoint before = std::exchange(stay.anchor, anchor);
    if (rules_[i].rule.is_line())
      step_over_line(i, track, is_first ? anchor : before, &stay);
    else
      step_in_polygon(i, track, &stay);
  }
}

void ZoneCounter::step_over_line(std::size_t rule, const Track &track, FixedPoint before, Stay *stay) {
  const CountedRule &line = rules_[rule];
  if (!wants(line.rule, track.box.type)) return;
  const Segment segment{line.points[0], line.points[1]};
  const bool is_around = box_between(before, stay->anchor).meets(line.around);
  const Crossing crossed = is_around ? crossing(segment, before, stay->anchor) : Crossing::none;
  if (crossed != Crossing::none) {
    stay->balance += crossed == Crossing::to_right ? 1 : -1;
    stay->changed = {now_, stay->anchor};
  }
  if (is_around && is_near(segment, stay->anchor, line.reach)) return;
  if (stay->balance != 0 && now_ - stay->changed.time < line.rule.least_stay) return;
  settle(rule, track, stay);
  stay->can_cross = true;
}

// Settles the crossings of tracks that have no box in this frame, as those who walk out of the picture.
void ZoneCounter::settle_unseen() {
  for (auto &[id, track] : tracks_)
    for (std::size_t i = 0; i < rules_.size() && track.last_seen != now_; ++i) {
      const CountedRule &line = rules_[i];
      Stay &stay = track.stays[i];
      if (stay.balance != 0 && now_ - stay.changed.time >= line.rule.least_stay &&
          !is_near({line.points[0], line.points[1]}, stay.anchor, line.reach))
        settle(i, track, &stay);
    }
}

void ZoneCounter::settle(std::size_t rule, const Track &track, Stay *stay) {
  const int balance = std::exchange(stay->balance, 0);
  if (balance == 0 || !stay->can_cross || !has_speed(rules_[rule].rule, track.way)) return;
  const Direction direction = balance > 0 ? kToRight : kToLeft;
  rules_[rule].counts.add(direction, track.box.type, now_);
  add_event(ZoneEvent::Kind::cross, rule, track, stay->changed, 0, direction);
}

void ZoneCounter::step_in_polygon(std::size_t rule, const Track &track, Stay *stay) {
  const CountedRule &zone = rules_[rule];
  const bool is_in =
      wants(zone.rule, track.box.type) && is_inside(zone, stay->anchor, track.box, stay->is_in);
  if (is_in != stay->is_in) stay->is_in = is_in, stay->changed = {now_, stay->anchor};
  if (is_in != stay->is_counted && now_ - stay->changed.time >= zone.rule.least_stay)
    is_in ? enter(rule, track, stay) : leave(rule, track, stay, stay->changed);
  if (!is_in || !stay->is_counted) return;
  if (zone.rule.way && !stay->was_wrong) watch_way(rule, track, stay);
  const GstClockTime stayed = now_ - stay->entered.time;
  if (zone.rule.dwell == 0 || stay->has_dwelt || stayed < zone.rule.dwell) return;
  stay->has_dwelt = true;
  add_event(ZoneEvent::Kind::dwell, rule, track, {now_, stay->anchor}, stayed);
}

// Adds an event if the track moves in the wrong direction. Measures steps of at least a pixel and twice the hysteresis.
void ZoneCounter::watch_way(std::size_t rule, const Track &track, Stay *stay) {
  const CountedRule &zone = rules_[rule];
  const double least = std::max(2 * zone.reach, double{kUnitsOfPixel});
  const double length = std::sqrt(static_cast<double>(squared_distance(stay->reference, stay->anchor)));
  if (length < least) return;
  const PlannedPoint way = *zone.rule.way;
  const double back =
      -(way.x * (stay->anchor.x - stay->reference.x) + way.y * (stay->anchor.y - stay->reference.y));
  stay->reference = stay->anchor;
  if (back < std::cos(zone.rule.angle * std::numbers::pi / 180) * length * std::hypot(way.x, way.y)) return;
  stay->was_wrong = true;
  add_event(ZoneEvent::Kind::wrong_way, rule, track, {now_, stay->anchor});
}

void ZoneCounter::enter(std::size_t rule, const Track &track, Stay *stay) {
  CountedRule &zone = rules_[rule];
  stay->is_counted = true, stay->has_dwelt = stay->was_wrong = false;
  stay->entered = stay->changed, stay->reference = stay->changed.anchor;
  ++zone.occupancy;
  zone.counts.add(kEnter, track.box.type, now_);
  add_event(ZoneEvent::Kind::enter, rule, track, stay->entered);
}

void ZoneCounter::leave(std::size_t rule, const Track &track, Stay *stay, const Moment &moment) {
  CountedRule &zone = rules_[rule];
  stay->is_counted = false;
  --zone.occupancy;
  zone.counts.add(kLeave, track.box.type, now_);
  add_event(ZoneEvent::Kind::leave, rule, track, moment, moment.time - stay->entered.time);
}

void ZoneCounter::watch_crowd(std::size_t rule) {
  CountedRule &zone = rules_[rule];
  if (zone.rule.crowd == 0) return;
  if (zone.occupancy < static_cast<guint64>(zone.rule.crowd)) {
    zone.crowd_since = GST_CLOCK_TIME_NONE, zone.crowd_told = false;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID(zone.crowd_since)) zone.crowd_since = now_;
  if (zone.crowd_told || now_ - zone.crowd_since < zone.rule.crowd_time) return;
  zone.crowd_told = true;
  ZoneEvent event;
  event.kind = ZoneEvent::Kind::crowd, event.rule = rule, event.moment.time = now_;
  event.duration = now_ - zone.crowd_since, event.count = zone.occupancy;
  events_.push_back(event);
}

bool ZoneCounter::is_placed_in(const Track &track, std::size_t rule) const {
  return track.last_seen == now_ && track.way.is_known() && track.stays[rule].is_counted;
}

// Adds an event for each track in the zone that has another one near it for the least stay.
void ZoneCounter::watch_distance(std::size_t rule) {
  const ZoneRule &zone = rules_[rule].rule;
  if (zone.distance == 0) return;
  for (auto &[id, track] : tracks_) {
    if (!is_placed_in(track, rule)) continue;
    Stay &stay = track.stays[rule];
    double nearest = zone.distance * (stay.is_close ? kApart : 1);
    guint64 other = id;
    for (const auto &[other_id, other_track] : tracks_) {
      if (other_id == id || !is_placed_in(other_track, rule)) continue;
      const double apart = distance(track.way.place(), other_track.way.place());
      if (apart < nearest) nearest = apart, other = other_id;
    }
    if (other == id) stay.is_close = false, stay.close_since = GST_CLOCK_TIME_NONE;
    if (other == id || stay.is_close) continue;
    if (!GST_CLOCK_TIME_IS_VALID(stay.close_since)) stay.close_since = now_;
    if (now_ - stay.close_since < zone.least_stay) continue;
    stay.is_close = true;
    add_event(ZoneEvent::Kind::close, rule, track, {now_, stay.anchor});
    events_.back().other = other, events_.back().distance = nearest;
  }
}

void ZoneCounter::add_event(ZoneEvent::Kind kind, std::size_t rule, const Track &track, const Moment &moment,
                            GstClockTime duration, Direction direction) {
  events_.push_back({.kind = kind,
                     .rule = rule,
                     .id = track.box.id,
                     .type = track.box.type,
                     .direction = direction,
                     .way = track.way,
                     .moment = moment,
                     .duration = duration});
}

}  // namespace cudavision
