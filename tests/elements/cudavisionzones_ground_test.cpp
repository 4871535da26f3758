// SPDX-License-Identifier: LGPL-2.1-or-later
// The places, speeds and ways on the ground that cudavisionzones finds are those of walks in front of a synthetic
// camera.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "gst/visionzones/ground.h"
#include "gst/visionzones/zone_counter.h"

namespace cudavision::test {
namespace {

// A camera 4 m above the ground that looks ahead and 20 degrees down. x runs to the right and y ahead.
GroundPoint seen(GroundPoint at) {
  constexpr double kFocal = 1000, kHeight = 4, kDown = 20 * std::numbers::pi / 180;
  const double depth = at.y * std::cos(kDown) + kHeight * std::sin(kDown),
               below = kHeight * std::cos(kDown) - at.y * std::sin(kDown);
  return {640 + kFocal * at.x / depth, 360 + kFocal * below / depth};
}

constexpr Corners kPlaces{{{-4, 8}, {4, 8}, {6, 25}, {-6, 25}}};

Corners picture() { return {seen(kPlaces[0]), seen(kPlaces[1]), seen(kPlaces[2]), seen(kPlaces[3])}; }

TEST(Ground, places_are_those_that_the_camera_sees_also_outside_of_the_corners) {
  const Ground ground(picture(), kPlaces);
  for (double x = -20; x <= 20; x += 2.5)
    for (double y = 5; y <= 100; y += 2.5) {
      const auto place = ground.place_of(seen({x, y}));
      ASSERT_TRUE(place) << x << ' ' << y;
      EXPECT_NEAR(place->x, x, 1e-6);
      EXPECT_NEAR(place->y, y, 1e-6);
    }
  const double horizon = 360 - 1000 * std::tan(20 * std::numbers::pi / 180);
  EXPECT_TRUE(ground.place_of({300, horizon + 1}));
  EXPECT_FALSE(ground.place_of({300, horizon - 1})) << "the sky is no place on the ground";
}

TEST(Ground, corners_of_maps_may_run_either_way_round) {
  const Corners places{{{0, 4.8}, {6.4, 4.8}, {6.4, 0}, {0, 0}}},
      pixels{{{0, 0}, {64, 0}, {64, 48}, {0, 48}}};
  const auto place = Ground(pixels, places).place_of({10, 12});
  ASSERT_TRUE(place);
  EXPECT_NEAR(place->x, 1, 1e-9);
  EXPECT_NEAR(place->y, 3.6, 1e-9);
}

TEST(Ground, quadrilaterals_are_convex_and_have_four_corners) {
  EXPECT_TRUE(is_quadrilateral({{{0, 0}, {9, 0}, {9, 9}, {0, 9}}}));
  EXPECT_TRUE(is_quadrilateral({{{0, 0}, {0, 9}, {9, 9}, {9, 0}}}));
  EXPECT_FALSE(is_quadrilateral({{{0, 0}, {9, 9}, {9, 0}, {0, 9}}})) << "edges cross";
  EXPECT_FALSE(is_quadrilateral({{{0, 0}, {9, 0}, {2, 2}, {0, 9}}})) << "a corner goes inwards";
  EXPECT_FALSE(is_quadrilateral({{{0, 0}, {4, 0}, {9, 0}, {0, 9}}})) << "three corners on a line";
  EXPECT_FALSE(is_quadrilateral({{{0, 0}, {9, 0}, {9, 0}, {0, 9}}})) << "two corners in one place";
}

// Sends a walk of 12 seconds through a counter, and returns the way at its end. at: the place after so many seconds.
GroundWay walked(int rate, const std::function<GroundPoint(double)> &at) {
  ZonePlan plan;
  plan.rules.emplace_back().points = {{1, 1}, {2, 2}};
  plan.ground = PlannedGround{picture(), kPlaces};
  ZoneCounter counter;
  counter.follow(plan, {1280, 720});
  for (int n = 0; n <= 12 * rate; ++n) {
    const GroundPoint feet = seen(at(static_cast<double>(n) / rate));
    counter.next({{7, 0, feet.x - 20, feet.y - 80, 40, 80}},
                 static_cast<GstClockTime>(n) * GST_SECOND / rate);
    const auto speed = counter.ways().at(0).second.speed();
    EXPECT_EQ(speed.has_value(), n >= rate) << n;
    EXPECT_NEAR(speed.value_or(1.4), 1.4, 0.014) << n;
  }
  EXPECT_EQ(counter.ways().at(0).first, 7u);
  return counter.ways().at(0).second;
}

TEST(Ground, speeds_and_ways_of_walks_are_right_to_a_hundredth) {
  for (const int rate : {2, 7, 10, 25, 30, 60}) {
    SCOPED_TRACE(rate);
    const GroundWay ahead = walked(rate, [](double time) { return GroundPoint{1, 8 + 1.4 * time}; });
    EXPECT_NEAR(ahead.length(), 16.8, 0.168);
    EXPECT_NEAR(ahead.place().y, 24.8, 1e-3);
    const GroundWay across = walked(rate, [](double time) { return GroundPoint{-8 + 1.4 * time, 12}; });
    EXPECT_NEAR(across.length(), 16.8, 0.168);
    const GroundWay around = walked(rate, [](double time) {
      return GroundPoint{6 * std::cos(1.4 * time / 6), 16 + 6 * std::sin(1.4 * time / 6)};
    });
    EXPECT_NEAR(around.length(), 16.8, 0.168);
  }
}

// Ten boxes a second of tracks that stand or walk straight on in front of the camera, with ids from 1 on.
struct Walker {
  GroundPoint from;
  double speed_y = 0;  // metres a second, ahead
};

std::vector<CountedBox> boxes_at(const std::vector<Walker> &walkers, double time) {
  std::vector<CountedBox> boxes;
  for (const Walker &walker : walkers) {
    const GroundPoint feet = seen({walker.from.x, walker.from.y + walker.speed_y * time});
    boxes.push_back({boxes.size() + 1, 0, feet.x - 20, feet.y - 80, 40, 80});
  }
  return boxes;
}

std::vector<ZoneEvent> events_of(const ZoneRule &rule, const std::vector<Walker> &walkers) {
  ZonePlan plan;
  plan.rules = {rule};
  plan.ground = PlannedGround{picture(), kPlaces};
  ZoneCounter counter;
  counter.follow(plan, {1280, 720});
  std::vector<ZoneEvent> events;
  for (int n = 0; n <= 80; ++n)
    for (const ZoneEvent &event :
         counter.next(boxes_at(walkers, n / 10.0), static_cast<GstClockTime>(n) * GST_SECOND / 10))
      events.push_back(event);
  return events;
}

// Four walk over a line across the picture, 12 m away, at 0.5, 1, 2 and 4 m/s. The speeds asked for are those of the
// walks up to a hundredth.
TEST(Ground, lines_may_ask_for_a_speed) {
  const std::vector<Walker> walkers{{{-3, 10}, 0.5}, {{-1, 9}, 1}, {{1, 9}, 2}, {{3, 7}, 4}};
  const auto crossed = [&walkers](double least, double most) {
    ZoneRule line;
    line.points = {{0, seen({0, 12}).y}, {1280, seen({0, 12}).y}};
    line.min_speed = least, line.max_speed = most;
    std::string ids;
    for (const ZoneEvent &event : events_of(line, walkers)) ids += std::to_string(event.id);
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  EXPECT_EQ(crossed(0, kFastest), "1234");
  EXPECT_EQ(crossed(0.99, kFastest), "234");
  EXPECT_EQ(crossed(1.01, kFastest), "34");
  EXPECT_EQ(crossed(0, 0.99), "1");
  EXPECT_EQ(crossed(0, 1.01), "12");
  EXPECT_EQ(crossed(1.98, 2.02), "3");
  // Nobody is so fast in the first second, when the speed is not known.
  ZoneRule line;
  line.points = {{0, seen({0, 12}).y}, {1280, seen({0, 12}).y}};
  EXPECT_EQ(events_of(line, {{{0, 11.5}, 2}}).size(), 1u);
  line.max_speed = 900;
  EXPECT_TRUE(events_of(line, {{{0, 11.5}, 2}}).empty());
}

// One walks past two who stand 1.5 m and 2.5 m beside the way, and a last one stands outside of the zone.
TEST(Ground, zones_tell_who_comes_too_close) {
  ZoneRule zone;
  zone.points = {{0, seen({0, 18}).y}, {1280, seen({0, 18}).y}, {1280, 720}, {0, 720}};
  const std::vector<Walker> walkers{{{0, 8}, 1.5}, {{-1.5, 12}}, {{2.5, 16}}, {{0, 19.5}}};
  const auto close = [&](double metres, GstClockTime least_stay) {
    zone.distance = metres, zone.least_stay = least_stay;
    std::vector<ZoneEvent> events = events_of(zone, walkers);
    std::erase_if(events, [](const ZoneEvent &event) { return event.kind != ZoneEvent::Kind::close; });
    return events;
  };
  const std::vector<ZoneEvent> events = close(2, 0);
  ASSERT_EQ(events.size(), 2u) << "one for each of both";
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(events[i].id, i + 1);
    EXPECT_EQ(events[i].other, 2 - i);
    // They come within 2 m of each other where the walker is at 12 m less the other leg of the triangle.
    const double y = 12 - std::sqrt(4 - 2.25),
                 told = 8 + 1.5 * 1e-9 * static_cast<double>(events[i].moment.time);
    EXPECT_NEAR(told, y, 0.15) << "in the first frame after that";
    EXPECT_GE(told, y);
    EXPECT_NEAR(events[i].distance, std::hypot(1.5, 12 - told), 0.02);
  }
  EXPECT_TRUE(close(1.485, 0).empty());
  EXPECT_EQ(close(1.515, 0).size(), 2u) << "right to a hundredth";
  EXPECT_EQ(close(2.55, 0).size(), 3u)
      << "the walker comes to the second one before it has left the first one";
  EXPECT_TRUE(close(0, 0).empty());
  // They are within 2 m of each other for 2 * sqrt(4 - 2.25) / 1.5 = 1.76 s.
  EXPECT_EQ(close(2, 1700 * GST_MSECOND).size(), 2u);
  EXPECT_TRUE(close(2, 1900 * GST_MSECOND).empty());
}

TEST(Ground, who_trembles_at_the_distance_comes_close_once) {
  ZoneRule zone;
  zone.points = {{0, 0}, {1280, 0}, {1280, 720}, {0, 720}};
  zone.distance = 2, zone.least_stay = 0;
  ZonePlan plan;
  plan.rules = {zone};
  plan.ground = PlannedGround{picture(), kPlaces};
  ZoneCounter counter;
  counter.follow(plan, {1280, 720});
  std::string told;
  GstClockTime time = 0;
  for (const double apart : {3.0, 1.9, 2.1, 1.9, 2.4, 1.9, 2.6, 1.9, 9.0}) {
    const auto &events = counter.next(boxes_at({{{0, 12}}, {{apart, 12}}}, 0), time += GST_SECOND);
    told += std::to_string(std::count_if(events.begin(), events.end(), [](const ZoneEvent &event) {
      return event.kind == ZoneEvent::Kind::close;
    }));
  }
  EXPECT_EQ(told, "020000020");
}

TEST(Ground, corners_may_be_fractions_of_the_frame) {
  ZonePlan plan;
  plan.rules.emplace_back().points = {{0, 0}, {1, 1}};
  plan.is_fraction = true;
  plan.ground = PlannedGround{{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}, {{{0, 0}, {8, 0}, {8, 6}, {0, 6}}}};
  ZoneCounter counter;
  counter.follow(plan, {1280, 720});
  counter.next({{7, 0, 300, 100, 40, 80}}, 0);
  EXPECT_NEAR(counter.ways().at(0).second.place().x, 2, 1e-9);
  EXPECT_NEAR(counter.ways().at(0).second.place().y, 1.5, 1e-9);
}

TEST(Ground, without_metres_and_in_the_sky_there_is_no_way) {
  ZonePlan plan;
  plan.rules.emplace_back().points = {{1, 1}, {2, 2}};
  ZoneCounter counter;
  counter.follow(plan, {1280, 720});
  counter.next({{7, 0, 620, 400, 40, 80}}, 0);
  EXPECT_TRUE(counter.ways().empty());
  plan.ground = PlannedGround{picture(), kPlaces};
  counter.follow(plan, {1280, 720});
  counter.next({{8, 0, 620, -300, 40, 80}}, 1);
  EXPECT_TRUE(counter.ways().empty());
}

}  // namespace
}  // namespace cudavision::test
