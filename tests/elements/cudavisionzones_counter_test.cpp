// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of cudavisionzones: its geometry and its counts are those of their definition in straight loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gst/visionzones/geometry.h"
#include "gst/visionzones/zone_counter.h"

namespace cudavision::test {
namespace {

constexpr GstClockTime kFrame = 40 * GST_MSECOND;

// --- the definition ---

// The point where the way p-q meets the line is a fraction of the segment, with a whole numerator and denominator.
// Coordinates below 2^16 do not overflow.
Crossing defined_crossing(const Segment &s, FixedPoint p, FixedPoint q) {
  const auto right = [&s](FixedPoint a) {
    return std::int64_t{s.to.x - s.from.x} * (a.y - s.from.y) -
           std::int64_t{s.to.y - s.from.y} * (a.x - s.from.x);
  };
  const auto along = [&s](std::int64_t x, std::int64_t y) {
    return x * (s.to.x - s.from.x) + y * (s.to.y - s.from.y);
  };
  const std::int64_t before = right(p), after = right(q);
  if ((before >= 0) == (after >= 0)) return Crossing::none;
  std::int64_t denominator = before - after, numerator = along(p.x - s.from.x, p.y - s.from.y) * denominator +
                                                         before * along(q.x - p.x, q.y - p.y);
  if (denominator < 0) denominator = -denominator, numerator = -numerator;
  if (numerator < 0 || numerator >= denominator * squared_distance(s.from, s.to)) return Crossing::none;
  return after >= 0 ? Crossing::to_right : Crossing::to_left;
}

bool defined_contains(const Polygon &polygon, FixedPoint p) {
  int to_the_right = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    FixedPoint upper = polygon[i], lower = polygon[(i + 1) % polygon.size()];
    if (upper.y > lower.y) std::swap(upper, lower);
    if (p.y < upper.y || p.y >= lower.y) continue;
    // p.x < upper.x + (p.y - upper.y) (lower.x - upper.x) / (lower.y - upper.y)
    to_the_right +=
        std::int64_t{p.x - upper.x} * (lower.y - upper.y) < std::int64_t{p.y - upper.y} * (lower.x - upper.x);
  }
  return to_the_right % 2 == 1;
}

double distance(const Segment &s, FixedPoint p) {
  const double dx = s.to.x - s.from.x, dy = s.to.y - s.from.y, x = p.x - s.from.x, y = p.y - s.from.y;
  const double share = std::clamp((x * dx + y * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(x - share * dx, y - share * dy);
}

// One event: the rule, the kind, the track, the direction, the frame that tells of it and the one in which it happened.
using Told = std::tuple<std::size_t, ZoneEvent::Kind, guint64, int, std::size_t, std::size_t>;
using Walk = std::vector<FixedPoint>;

bool lasts(const CountedRule &rule, std::size_t since, std::size_t until) {
  return (until - since) * kFrame >= rule.rule.least_stay;
}

// Who is not seen any more stands where the walk ends. frames: of the whole run.
void define_line(const CountedRule &line, std::size_t rule, guint64 id, const Walk &walk, std::size_t frames,
                 std::vector<Told> *told) {
  const Segment segment{line.points[0], line.points[1]};
  bool can_cross = false;
  int balance = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    const FixedPoint at = walk[std::min(i, walk.size() - 1)];
    const Crossing crossed =
        i > 0 && i < walk.size() ? defined_crossing(segment, walk[i - 1], at) : Crossing::none;
    if (crossed != Crossing::none) balance += crossed == Crossing::to_right ? 1 : -1, last = i;
    if (distance(segment, at) < line.reach || (balance != 0 && !lasts(line, last, i))) continue;
    if (can_cross && balance != 0)
      told->emplace_back(rule, ZoneEvent::Kind::cross, id, balance > 0 ? kToRight : kToLeft, i, last);
    can_cross = true, balance = 0;
  }
}

void define_zone(const CountedRule &zone, std::size_t rule, guint64 id, const Walk &walk, std::size_t,
                 std::vector<Told> *told) {
  bool is_in = false, is_counted = false, dwelt = false;
  std::size_t changed = 0, entered = 0;
  for (std::size_t i = 0; i < walk.size(); ++i) {
    double nearest = 1e9;
    for (std::size_t k = 0; k < zone.points.size(); ++k)
      nearest =
          std::min(nearest, distance({zone.points[k], zone.points[(k + 1) % zone.points.size()]}, walk[i]));
    const bool inside = defined_contains(zone.points, walk[i]) != zone.rule.is_inverse;
    const bool is_in_now = inside || (is_in && nearest < zone.reach);
    if (is_in_now != is_in) is_in = is_in_now, changed = i;
    if (is_in != is_counted && lasts(zone, changed, i)) {
      is_counted = is_in;
      told->emplace_back(rule, is_in ? ZoneEvent::Kind::enter : ZoneEvent::Kind::leave, id, 0, i, changed);
      if (is_in) entered = changed, dwelt = false;
    }
    if (is_in && is_counted && !dwelt && zone.rule.dwell != 0 && (i - entered) * kFrame >= zone.rule.dwell) {
      dwelt = true;
      told->emplace_back(rule, ZoneEvent::Kind::dwell, id, 0, i, i);
    }
  }
}

std::size_t longest_of(const std::vector<Walk> &walks) {
  std::size_t longest = 0;
  for (const Walk &walk : walks) longest = std::max(longest, walk.size());
  return longest;
}

std::vector<Told> defined(const std::vector<CountedRule> &rules, const std::vector<Walk> &walks) {
  std::vector<Told> told;
  for (std::size_t rule = 0; rule < rules.size(); ++rule)
    for (std::size_t w = 0; w < walks.size(); ++w)
      (rules[rule].rule.is_line() ? define_line : define_zone)(rules[rule], rule, w + 1, walks[w],
                                                               longest_of(walks), &told);
  std::sort(told.begin(), told.end());
  return told;
}

// --- walks ---

// Without a least stay, unless a test sets one.
ZoneRule line(const char *name, PlannedPoint from, PlannedPoint to) {
  ZoneRule rule;
  rule.name = name, rule.points = {from, to}, rule.hysteresis = 1, rule.least_stay = 0;
  return rule;
}
ZoneRule zone(const char *name, std::vector<PlannedPoint> points) {
  ZoneRule rule;
  rule.name = name, rule.points = std::move(points), rule.hysteresis = 1, rule.least_stay = 0;
  return rule;
}

// Two lines in a row, a slanting one, a polygon with a notch and an inverse one.
ZonePlan plan_of_walks() {
  ZonePlan plan;
  ZoneRule notched = zone("notched", {{4, 4}, {26, 5}, {15, 12}, {27, 25}, {5, 24}}),
           inverse = zone("inverse", {{10, 8}, {22, 8}, {16, 20}});
  notched.dwell = 5 * kFrame;
  inverse.is_inverse = true;
  plan.rules = {line("upper", {15, 2}, {15, 14}), line("lower", {15, 14}, {15, 25}),
                line("slanting", {3, 20}, {28, 9}), notched, inverse};
  plan.patience = 1000 * GST_SECOND;
  return plan;
}

// A walk of `legs` straight parts, each of some equal steps. The grid is coarse, so that points often lie on lines.
// turns: for each frame of the walk, whether the walk turns there.

Walk random_walk(std::mt19937 *random, int legs, std::vector<bool> *turns) {
  const auto any = [random](int least, int most) {
    return std::uniform_int_distribution(least, most)(*random);
  };
  constexpr int kGrid = 64;
  FixedPoint at{any(0, 120) * kGrid, any(0, 120) * kGrid};
  Walk walk{at};
  turns->assign(1, true);
  for (int leg = 0; leg < legs; ++leg) {
    // Walks back towards the lines from the margins, which have none.
    const auto step = [&](int from) {
      return (from > 110 * kGrid ? any(-8, 0) : from < 10 * kGrid ? any(0, 8) : any(-8, 8)) * kGrid;
    };
    const int count = any(1, 6), x = step(at.x), y = step(at.y);
    for (int i = 1; i <= count; ++i) {
      at = {at.x + x, at.y + y};
      walk.push_back(at);
      turns->push_back(i == count);
    }
  }
  return walk;
}

// A box whose bottom centre is the point, exactly.
CountedBox box_at(FixedPoint p, guint64 id, GQuark type = 0) {
  return {id, type, p.x / 256.0 - 1, p.y / 256.0 - 4, 2, 4};
}

struct Run {
  std::vector<std::size_t> order;             // the order of the tracks in each frame
  const std::vector<bool> *frames = nullptr;  // whether each frame is used; null: all are
  std::size_t reload = 0;                     // the plan is set again after so many frames; 0: never
};

std::vector<Told> counted(ZoneCounter *counter, const ZonePlan &plan, const std::vector<Walk> &walks,
                          const Run &run) {
  counter->follow(plan, {64, 48});
  std::vector<Told> told;
  for (std::size_t i = 0; i < longest_of(walks); ++i) {
    if (run.frames != nullptr && !(*run.frames)[i]) continue;
    if (run.reload != 0 && i % run.reload == 0) counter->follow(plan, {64, 48});
    std::vector<CountedBox> boxes;
    for (const std::size_t w : run.order)
      if (i < walks[w].size()) boxes.push_back(box_at(walks[w][i], w + 1));
    for (const ZoneEvent &e : counter->next(boxes, i * kFrame))
      told.emplace_back(e.rule, e.kind, e.id, e.direction, i, e.moment.time / kFrame);
  }
  return told;
}

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  return order;
}

TEST(ZoneGeometry, crossings_and_polygons_are_those_of_the_definition) {
  std::mt19937 random(1);
  const auto point = [&random] {
    std::uniform_int_distribution coordinate(-9, 9);
    return FixedPoint{coordinate(random), coordinate(random)};
  };
  int crossed = 0, inside = 0;
  for (int i = 0; i < 200000; ++i) {
    const Segment segment{point(), point()};
    const FixedPoint p = point(), q = point();
    if (segment.from == segment.to) continue;
    ASSERT_EQ(crossing(segment, p, q), defined_crossing(segment, p, q));
    crossed += crossing(segment, p, q) != Crossing::none;
    const Polygon polygon{point(), point(), point(), point(), point()};
    ASSERT_EQ(contains(polygon, p), defined_contains(polygon, p));
    inside += contains(polygon, p);
  }
  EXPECT_GT(crossed, 10000);
  EXPECT_GT(inside, 10000);
}

TEST(ZoneGeometry, segments_in_a_row_are_crossed_once_and_polygons_side_by_side_share_no_point) {
  const FixedPoint a{0, 0}, b{0, 10}, c{5, 20};
  for (int y = -3; y < 24; ++y) {
    const FixedPoint p{9, y}, q{-9, y};
    const int count =
        (crossing({a, b}, p, q) == Crossing::to_right) + (crossing({b, c}, p, q) == Crossing::to_right);
    EXPECT_EQ(count, y >= 0 && y < 20 ? 1 : 0) << y;
    EXPECT_EQ(crossing({a, b}, q, p), y >= 0 && y < 10 ? Crossing::to_left : Crossing::none) << y;
  }
  const Polygon left{{0, 0}, {10, 0}, {7, 10}, {0, 10}}, right{{10, 0}, {20, 0}, {20, 10}, {7, 10}};
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 20; ++x) EXPECT_NE(contains(left, {x, y}), contains(right, {x, y})) << x << ' ' << y;
}

TEST(ZoneGeometry, coordinates_of_any_size_are_exact) {
  const Segment segment{fixed_point(-1e30, 1e30), fixed_point(1e30, -1e30)};
  EXPECT_EQ(segment.from, (FixedPoint{-(1 << 23), 1 << 23}));
  // The points lie 1/256 pixel beside the diagonal.
  EXPECT_EQ(crossing(segment, {-1, 0}, {1, 0}), Crossing::to_right);
  EXPECT_EQ(crossing(segment, {1, 0}, {-1, 0}), Crossing::to_left);
  EXPECT_EQ(crossing(segment, {0, 0}, {1, 0}), Crossing::none) << "the line belongs to its right side";
  EXPECT_EQ(fixed_point(0.0 / 0.0, 1.0 / 512), (FixedPoint{0, 1}));
}

TEST(ZoneGeometry, share_inside_is_the_area_of_a_box_that_a_polygon_covers) {
  const Polygon square{{0, 0}, {100, 0}, {100, 100}, {0, 100}}, triangle{{0, 0}, {100, 0}, {0, 100}};
  EXPECT_EQ(share_inside(square, {{25, 25}, {75, 75}}), 1);
  EXPECT_EQ(share_inside(square, {{50, 0}, {150, 100}}), 0.5);
  EXPECT_EQ(share_inside(square, {{200, 0}, {300, 100}}), 0);
  EXPECT_EQ(share_inside(square, {{-100, -100}, {300, 300}}), 1.0 / 16);
  EXPECT_EQ(share_inside(triangle, {{0, 0}, {100, 100}}), 0.5);
  EXPECT_EQ(share_inside(square, {{5, 5}, {5, 9}}), 0);
}

TEST(ZoneCounter, random_walks_give_the_events_of_the_definition_in_any_order_and_after_reloads) {
  std::mt19937 random(2);
  ZonePlan plan = plan_of_walks();
  for (const std::size_t rule : {1, 2, 4}) plan.rules[rule].least_stay = 2 * kFrame;
  std::map<std::pair<std::size_t, ZoneEvent::Kind>, int> seen;
  for (int batch = 0; batch < 100; ++batch) {
    std::vector<Walk> walks;
    std::vector<bool> turns;
    for (int w = 0; w < 100; ++w) walks.push_back(random_walk(&random, 8, &turns));
    std::vector<std::size_t> order = in_order(walks.size());
    ZoneCounter counter, shuffled, reloaded;
    const std::vector<Told> told = counted(&counter, plan, walks, {order});
    std::vector<Told> sorted = told;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, defined(counter.rules(), walks)) << "batch " << batch;
    std::shuffle(order.begin(), order.end(), random);
    ASSERT_EQ(counted(&shuffled, plan, walks, {order}), told);
    ASSERT_EQ(counted(&reloaded, plan, walks, {order, nullptr, 3}), told);
    for (std::size_t rule = 0; rule < plan.rules.size(); ++rule)
      for (int direction = 0; direction < kDirections; ++direction) {
        const bool is_line = plan.rules[rule].is_line();
        const auto kind = is_line               ? ZoneEvent::Kind::cross
                          : direction == kEnter ? ZoneEvent::Kind::enter
                                                : ZoneEvent::Kind::leave;
        const auto count = std::count_if(told.begin(), told.end(), [&](const Told &t) {
          return std::get<0>(t) == rule && std::get<1>(t) == kind &&
                 (!is_line || std::get<3>(t) == direction);
        });
        ASSERT_EQ(reloaded.rules()[rule].counts.all(direction).total, static_cast<guint64>(count));
      }
    for (const Told &t : told) ++seen[{std::get<0>(t), std::get<1>(t)}];
  }
  for (std::size_t rule = 0; rule < 3; ++rule)
    EXPECT_GT((seen[{rule, ZoneEvent::Kind::cross}]), 1000) << rule;
  for (std::size_t rule = 3; rule < 5; ++rule) {
    EXPECT_GT((seen[{rule, ZoneEvent::Kind::enter}]), 1000) << rule;
    EXPECT_GT((seen[{rule, ZoneEvent::Kind::leave}]), 1000) << rule;
  }
  EXPECT_GT((seen[{3, ZoneEvent::Kind::dwell}]), 1000);
}

// The frames in which a walk turns stay, half of the others do not.
TEST(ZoneCounter, dropped_frames_change_no_crossing) {
  std::mt19937 random(3);
  const ZonePlan plan = plan_of_walks();
  const auto crossings = [](const std::vector<Told> &all) {
    std::vector<std::tuple<std::size_t, std::size_t, int>>
        kept;  // the rule, the frame (for the order only), the direction
    for (const auto &[rule, kind, id, direction, frame, happened] : all)
      if (kind == ZoneEvent::Kind::cross) kept.emplace_back(rule, frame, direction);
    std::sort(kept.begin(), kept.end());
    std::vector<std::pair<std::size_t, int>> order;
    for (const auto &[rule, frame, direction] : kept) order.emplace_back(rule, direction);
    return order;
  };
  std::size_t count = 0, dropped = 0;
  for (int walk = 0; walk < 10000; ++walk) {
    std::vector<bool> frames;
    const std::vector<Walk> walks{random_walk(&random, 12, &frames)};
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (!frames[i]) frames[i] = random() % 2 == 0;
      dropped += !frames[i];
    }
    ZoneCounter all, some;
    const auto of_all = crossings(counted(&all, plan, walks, {{0}}));
    ASSERT_EQ(crossings(counted(&some, plan, walks, {{0}, &frames})), of_all) << "walk " << walk;
    count += of_all.size();
  }
  EXPECT_GT(count, 5000u);
  EXPECT_GT(dropped, 50000u);
}

// --- cases that can be counted by hand ---

// A counter with one rule. at() and along() send frames of one object at these x, on the horizontal y = 10.
class OneTrack {
 public:
  explicit OneTrack(const ZoneRule &rule, GstClockTime patience = GST_SECOND) {
    ZonePlan plan;
    plan.rules = {rule}, plan.patience = patience;
    counter.follow(plan, {100, 100});
  }
  // What is told of the frame, as one letter for each event: > < for crossings, + - ! c w for the others.
  std::string at(double x, double y = 10) {
    return frame({{1, g_quark_from_static_string("person"), x - 1, y - 4, 2, 4}});
  }
  std::string frame(const std::vector<CountedBox> &boxes) {
    std::string text;
    for (const ZoneEvent &event : counter.next(boxes, time += kFrame)) {
      const bool cross = event.kind == ZoneEvent::Kind::cross;
      text += cross ? (event.direction == kToRight ? '>' : '<') : " +-!cw"[static_cast<int>(event.kind)];
      last = event;
    }
    return text;
  }
  std::string along(std::initializer_list<double> xs) {
    std::string text;
    for (const double x : xs) text += at(x);
    return text;
  }

  ZoneCounter counter;
  ZoneEvent last;
  GstClockTime time = 0;
};

// In the order of the list.
std::string joined(std::initializer_list<std::string> texts) {
  std::string all;
  for (const std::string &text : texts) all += text;
  return all;
}

// A line from top to bottom: whoever looks along it has the larger x to the left.
ZoneRule door(double hysteresis) {
  ZoneRule rule = line("door", {50, 0}, {50, 20});
  rule.hysteresis = hysteresis;
  return rule;
}

TEST(ZoneCounter, trembling_counts_once_and_there_and_back_both_ways) {
  EXPECT_EQ(OneTrack(door(3)).along({60, 51, 49, 51, 49, 51, 49, 40}), ">");
  EXPECT_EQ(OneTrack(door(3)).along({60, 51, 49, 51, 49, 51, 60}), "") << "it went back in the end";
  EXPECT_EQ(OneTrack(door(3)).along({49, 51, 49, 40}), "") << "it has not come from a side";
  EXPECT_EQ(OneTrack(door(3)).along({60, 40, 60, 40}), "><>");
  EXPECT_EQ(OneTrack(door(0)).along({51, 49, 51, 49}), "><>");
  EXPECT_EQ(OneTrack(door(3)).along({60, 90, 55}), "");
}

TEST(ZoneCounter, only_the_segment_counts_and_fast_objects_do) {
  OneTrack beyond(door(3));
  EXPECT_EQ(joined({beyond.at(60, 25), beyond.at(40, 25)}), "");
  OneTrack fast(door(3));
  EXPECT_EQ(joined({fast.at(95, 30), fast.at(5, -10)}), ">") << "through y = 10";
  OneTrack past(door(3));
  EXPECT_EQ(joined({past.at(95, 45), past.at(5, 5)}), "") << "through y = 25";
}

TEST(ZoneCounter, a_track_that_was_lost_begins_anew) {
  OneTrack lost(door(3), 3 * kFrame);
  EXPECT_EQ(joined({lost.at(60), lost.frame({}), lost.frame({}), lost.at(40)}), ">");
  EXPECT_EQ(joined({lost.frame({}), lost.frame({}), lost.frame({}), lost.at(60)}), "");
}

TEST(ZoneCounter, a_track_that_is_lost_near_the_line_has_crossed_if_it_is_beyond) {
  OneTrack back(door(10), kFrame);
  EXPECT_EQ(joined({back.along({60, 49, 51}), back.frame({}), back.frame({})}), "");
  OneTrack over(door(10), kFrame);
  EXPECT_EQ(joined({over.along({60, 49, 47}), over.frame({})}), "");
  EXPECT_EQ(over.frame({}), ">");
  EXPECT_EQ(over.last.moment.anchor, fixed_point(49, 10));
  EXPECT_EQ(over.last.moment.time, 2 * kFrame);
}

// --- the usual rules: what trembles, flickers and changes its id is not counted ---

// Somebody stands on a line for six seconds. The id changes every half second.
TEST(ZoneCounter, who_stands_on_a_line_has_not_crossed_it_whatever_the_id) {
  ZoneRule rule;
  rule.name = "line", rule.points = {{320, 100}, {320, 380}};
  ZonePlan plan;
  plan.rules = {rule};
  ZoneCounter counter;
  counter.follow(plan, {640, 480});
  std::mt19937 random(4);
  std::uniform_real_distribution tremble(-2.0, 2.0);
  for (guint64 n = 0; n < 60; ++n) {
    const CountedBox box{1 + n / 5, 0, 310 + tremble(random), 200 + tremble(random), 20, 40};
    EXPECT_TRUE(counter.next({box}, n * 100 * GST_MSECOND).empty()) << n;
  }
  EXPECT_TRUE(counter.next({}, 60 * GST_SECOND).empty()) << "nor when the last one is lost";
}

ZoneRule hall() { return zone("hall", {{20, 0}, {60, 0}, {60, 20}, {20, 20}}); }

TEST(ZoneCounter, a_box_in_a_wrong_place_counts_nowhere) {
  ZoneRule line = door(3), crowded = hall();
  crowded.crowd = 1;
  line.least_stay = crowded.least_stay = ZoneRule().least_stay;
  const std::initializer_list<double> flick = {90, 90, 90, 90, 30, 90, 90, 90, 90, 90, 90},
                                      back = {30, 30, 30, 30, 30, 30, 30, 90, 30, 30, 30, 30, 30, 30};
  EXPECT_EQ(OneTrack(line).along(flick), "");
  EXPECT_EQ(OneTrack(line).along(back), "");
  EXPECT_EQ(OneTrack(crowded).along(flick), "");
  EXPECT_EQ(OneTrack(crowded).along(back), "+c") << "it has always been in the hall";
}

TEST(ZoneCounter, a_passage_is_told_after_the_least_stay_with_the_time_and_place_where_it_happened) {
  ZoneRule line = door(3), stay = hall();
  line.least_stay = stay.least_stay = 2 * kFrame;
  OneTrack over(line);
  EXPECT_EQ(over.along({70, 60, 49, 45}), "");
  EXPECT_EQ(over.at(40), ">");
  EXPECT_EQ(over.last.moment.time, 3 * kFrame);
  EXPECT_EQ(over.last.moment.anchor, fixed_point(49, 10));
  OneTrack gone(line);
  EXPECT_EQ(joined({gone.along({60, 40}), gone.frame({})}), "");
  EXPECT_EQ(gone.frame({}), ">") << "it left the picture behind the line";
  OneTrack track(stay);
  EXPECT_EQ(track.along({70, 65, 55, 54}), "");
  EXPECT_EQ(track.at(53), "+");
  EXPECT_EQ(track.last.moment.time, 3 * kFrame);
  EXPECT_EQ(track.last.moment.anchor, fixed_point(55, 10));
  EXPECT_EQ(track.along({70, 53, 70, 71}), "");
  EXPECT_EQ(track.at(72), "-");
  EXPECT_EQ(track.last.moment.time, 8 * kFrame);
  EXPECT_EQ(track.last.duration, 5 * kFrame);
  OneTrack lost(stay, kFrame);
  EXPECT_EQ(joined({lost.along({55, 55, 55, 70, 70}), lost.frame({})}), "+");
  EXPECT_EQ(lost.frame({}), "-");
  EXPECT_EQ(lost.last.duration, 3 * kFrame) << "until it was outside";
}

TEST(ZoneCounter, lost_tracks_leave_and_stays_are_measured_in_time) {
  ZoneRule rule = hall();
  rule.dwell = 2 * kFrame;
  OneTrack track(rule, 2 * kFrame);
  EXPECT_EQ(track.along({10, 30, 31}), "+");
  EXPECT_EQ(track.at(32), "!");
  EXPECT_EQ(track.last.duration, 2 * kFrame);
  EXPECT_EQ(track.counter.rules()[0].occupancy, 1u);
  EXPECT_EQ(joined({track.along({33, 34}), track.frame({}), track.frame({})}), "");
  EXPECT_EQ(track.frame({}), "-");
  EXPECT_EQ(track.last.duration, 4 * kFrame) << "until it was seen last";
  EXPECT_EQ(track.last.moment.anchor, fixed_point(34, 10));
  EXPECT_EQ(track.counter.rules()[0].occupancy, 0u);
}

// A tracker goes on where nobody has looked, and may go too far.
TEST(ZoneCounter, predicted_boxes_make_no_step_and_keep_a_track) {
  const auto expected = [](double x) { return CountedBox{1, 0, x - 1, 6, 2, 4, true}; };
  for (const ZoneRule &rule : {door(0), hall()}) {
    OneTrack track(rule, 2 * kFrame);
    EXPECT_EQ(joined({track.frame({expected(90)}), track.frame({expected(40)})}), "") << "nobody was seen";
    EXPECT_EQ(track.at(65), "");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(track.frame({expected(64.0 - 5 * i)}), "");
    EXPECT_EQ(track.at(40), rule.is_line() ? ">" : "+") << "it was not lost";
  }
}

TEST(ZoneCounter, outside_of_an_inverse_zone_is_inside) {
  ZoneRule rule = hall();
  rule.is_inverse = true;
  EXPECT_EQ(OneTrack(rule).along({30, 10, 19.5, 20.5, 30, 70}), "+-+");
}

TEST(ZoneCounter, an_overlap_counts_by_the_share_of_the_box) {
  ZoneRule rule = hall();
  rule.share = 0.5;
  OneTrack track(rule);
  const auto at = [&track](double x) { return track.frame({{1, 0, x, 5, 10, 10}}); };
  EXPECT_EQ(at(14), "") << "0.4";
  EXPECT_EQ(at(15), "+") << "0.5";
  EXPECT_EQ(at(13), "") << "0.3: not less than half the share";
  EXPECT_EQ(at(12), "-") << "0.2";
}

TEST(ZoneCounter, crowds_are_told_over_and_again) {
  ZoneRule rule = hall();
  rule.crowd = 2, rule.crowd_time = 2 * kFrame;
  OneTrack track(rule, kFrame);
  const std::vector<CountedBox> one{{1, 0, 30, 5, 2, 4}}, two{{2, 0, 40, 5, 2, 4}, {1, 0, 30, 5, 2, 4}};
  std::string told;
  for (const auto *boxes : {&one, &two, &two, &two, &one, &one, &two, &two, &two})
    told += track.frame(*boxes) + ' ';
  EXPECT_EQ(told, "+ +  c  - +  c ");
  EXPECT_EQ(track.last.count, 2u);
  EXPECT_EQ(track.last.duration, 2 * kFrame);
}

TEST(ZoneCounter, the_wrong_way_is_within_an_angle_of_the_opposite_direction) {
  ZoneRule rule = hall();
  rule.way = PlannedPoint{1, 0}, rule.angle = 30;
  EXPECT_EQ(OneTrack(rule).along({25, 30, 35, 40}), "+");
  EXPECT_EQ(OneTrack(rule).along({50, 49, 47, 40}), "+w") << "once";
  EXPECT_EQ(OneTrack(rule).along({50, 48.1}), "+") << "a step of less than twice the hysteresis";
  EXPECT_EQ(OneTrack(rule).along({50, 48}), "+w");
  OneTrack flat(rule), steep(rule);
  EXPECT_EQ(joined({flat.at(50, 10), flat.at(40, 15)}), "+w") << "27 degrees";
  EXPECT_EQ(joined({steep.at(50, 10), steep.at(40, 16)}), "+") << "31 degrees";
}

TEST(ZoneCounter, counts_are_by_type_and_direction_and_recent_ones_end) {
  ZonePlan plan;
  plan.rules = {door(1)}, plan.window = 3 * kFrame;
  plan.rules[0].types = {"person", "car"};
  ZoneCounter counter;
  counter.follow(plan, {100, 100});
  GstClockTime time = 0;
  const auto step = [&](const char *type, guint64 id, double x) {
    counter.next({{id, g_quark_from_string(type), x, 5, 2, 4}}, time += kFrame);
  };
  step("person", 1, 60), step("person", 1, 40);
  step("dog", 2, 60), step("dog", 2, 40);
  step("car", 3, 40), step("car", 3, 60);
  const ZoneCounts &counts = counter.rules()[0].counts;
  EXPECT_EQ(counts.all(kToRight).total, 1u);
  EXPECT_EQ(counts.all(kToRight).recent, 0u) << "four frames ago";
  EXPECT_EQ(counts.all(kToLeft).recent, 1u);
  EXPECT_EQ(counts.types(kToRight).at("person").total, 1u);
  EXPECT_EQ(counts.types(kToRight).at("person").recent, 0u);
  EXPECT_EQ(counts.types(kToLeft).at("car").recent, 1u);
  EXPECT_EQ(counts.types(kToLeft).size(), 1u);
}

TEST(ZoneCounter, a_new_plan_keeps_the_counts_of_names_that_stay) {
  ZonePlan plan;
  plan.rules = {door(1), hall()};
  ZoneCounter counter;
  counter.follow(plan, {100, 100});
  counter.next({{1, 0, 70, 5, 2, 4}}, 0), counter.next({{1, 0, 30, 5, 2, 4}}, kFrame);
  plan.rules.insert(plan.rules.begin(), line("new", {1, 1}, {2, 2}));
  plan.rules.back().name = "room";
  counter.follow(plan, {100, 100});
  EXPECT_EQ(counter.rules()[0].counts.all(kToRight).total, 0u);
  EXPECT_EQ(counter.rules()[1].counts.all(kToRight).total, 1u);
  EXPECT_EQ(counter.rules()[2].occupancy, 0u);
}

TEST(ZoneCounter, of_boxes_with_one_id_the_upper_one_counts) {
  ZonePlan plan;
  plan.rules = {hall()};
  const CountedBox upper{1, 0, 30, 2, 2, 4}, lower{1, 0, 30, 40, 2, 4};
  for (const auto &boxes : {std::vector{upper, lower}, std::vector{lower, upper}}) {
    ZoneCounter counter;
    counter.follow(plan, {100, 100});
    counter.next(boxes, 0);
    EXPECT_EQ(counter.rules()[0].occupancy, 1u);
  }
}

TEST(ZoneCounter, tracks_beyond_the_bound_are_left_out) {
  ZonePlan plan;
  plan.rules = {hall()};
  ZoneCounter counter;
  counter.follow(plan, {100, 100});
  std::vector<CountedBox> boxes;
  for (guint64 id = 1; id <= ZoneCounter::kMostTracks + 5; ++id) boxes.push_back({id, 0, 30, 5, 2, 4});
  counter.next(boxes, 0);
  EXPECT_TRUE(counter.has_too_many());
  EXPECT_EQ(counter.rules()[0].occupancy, ZoneCounter::kMostTracks);
}

}  // namespace
}  // namespace cudavision::test
