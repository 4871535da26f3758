// SPDX-License-Identifier: LGPL-2.1-or-later
// The JSON of cudavisionzones: all members, and texts that are refused with their line and the reason.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "gst/visionzones/zone_counter.h"
#include "gst/visionzones/zone_plan.h"

namespace cudavision::test {
namespace {

const std::string kPlan = R"({
  "units": "fraction", "patience": 2.5, "window": 10,
  "metres": {"picture": [[0, 0.5], [1, 0.5], [1, 1], [0, 1]], "ground": [[-9, 30], [9, 30], [3, 5], [-3, 5.5]]},
  "lines": [{"name": "door", "from": [0.5, 0.25], "to": [0.5, 1], "anchor": "center",
             "types": ["person", "dog"], "directions": ["in", "out"], "hysteresis": 0.02,
             "least-stay": 0.5, "min-speed": 0.5, "max-speed": 3}],
  "zones": [{"name": "hall", "polygon": [[0, 0], [1, 0], [0.5, 1e-1]], "anchor": 0.25, "inverse": true, "dwell": 3,
             "crowd": {"count": 5, "seconds": 1.5}, "direction": [0, -2], "angle": 45, "distance": 1.5},
            {"name": "door", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]], "anchor": [0.5, 0.875]}]
})";

// The text of the error; empty if there is none.
std::string fault(const std::string &json) {
  ZonePlan plan;
  return read_zone_plan(json, &plan).text();
}

TEST(ZonePlan, all_members_are_read) {
  ZonePlan plan;
  const Status status = read_zone_plan(kPlan, &plan);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(plan.is_fraction);
  EXPECT_EQ(plan.patience, 2500 * GST_MSECOND);
  EXPECT_EQ(plan.window, 10 * GST_SECOND);
  ASSERT_TRUE(plan.ground);
  EXPECT_EQ(plan.ground->picture[2].x, 1);
  EXPECT_EQ(plan.ground->places[3].y, 5.5);
  ASSERT_EQ(plan.rules.size(), 3u);
  const ZoneRule &door = plan.rules[0], &hall = plan.rules[1], &plain = plan.rules[2];
  EXPECT_EQ(door.name, "door");
  ASSERT_TRUE(door.is_line());
  EXPECT_EQ(door.points[0].y, 0.25);
  EXPECT_EQ(door.points[1].y, 1);
  EXPECT_EQ(door.anchor, (PlannedPoint{0.5, 0.5}));
  ASSERT_EQ(door.types.size(), 2u);
  EXPECT_EQ(door.types[1], "dog");
  EXPECT_EQ(door.directions[kToRight], "in");
  EXPECT_EQ(door.directions[kToLeft], "out");
  EXPECT_EQ(door.hysteresis, 0.02);
  EXPECT_EQ(door.least_stay, 500 * GST_MSECOND);
  EXPECT_EQ(door.min_speed, 0.5);
  EXPECT_EQ(door.max_speed, 3);
  EXPECT_EQ(hall.least_stay, 200 * GST_MSECOND);
  EXPECT_FALSE(hall.is_line());
  EXPECT_EQ(hall.points[2].y, 0.1);
  EXPECT_EQ(hall.share, 0.25);
  EXPECT_TRUE(hall.is_inverse);
  EXPECT_EQ(hall.dwell, 3 * GST_SECOND);
  EXPECT_EQ(hall.crowd, 5);
  EXPECT_EQ(hall.crowd_time, 1500 * GST_MSECOND);
  ASSERT_TRUE(hall.way);
  EXPECT_EQ(hall.way->y, -2);
  EXPECT_EQ(hall.angle, 45);
  EXPECT_EQ(hall.distance, 1.5);
  EXPECT_EQ(plain.anchor, (PlannedPoint{0.5, 0.875}));
  EXPECT_EQ(plain.share, 0);
  EXPECT_EQ(hall.anchor, (PlannedPoint{0.5, 1}));
  EXPECT_FALSE(plain.hysteresis || plain.way || plain.is_inverse || plain.distance > 0 || plain.asks_speed());
}

// GLib never frees a quark, so a host that sets other zones again and again would otherwise need ever more memory.
TEST(ZonePlan, types_that_no_box_has_are_no_quarks) {
  ZonePlan plan;
  const char *text =
      R"({"lines": [{"name": "a", "from": [0, 0], "to": [9, 9], "types": ["a type of no box"]}]})";
  ASSERT_TRUE(read_zone_plan(text, &plan).ok());
  ZoneCounter counter;
  counter.follow(plan, {20, 20});
  counter.next({{1, 0, 3, 5, 2, 2}}, 0);
  EXPECT_EQ(g_quark_try_string("a type of no box"), 0u);
}

TEST(ZonePlan, bad_texts_are_refused_with_line_and_reason) {
  const struct {
    std::string json, fault;
  } cases[] = {
      {"", "line 1: the text is no object, {...}"},
      {"[]", "line 1: the text is no object, {...}"},
      {"{}", "line 1: there is neither a line nor a zone"},
      {"{\n\"lines\": [\n{\"name\": \"a\", \"from\": [1 2]}]}", "line 3: this is no JSON: "},
      {"{\"lines\":\n[{\"name\":\"middle\"",
       "line 2: the text ends within an object or a list: '}' or ']' is missing"},
      {"{\"lines\":\n[{\"name\":\"mid", "line 2: the text ends within a string: '\"' is missing"},
      {"{/* \" */}", "line 1: '/' is no part of JSON"},
      {"{\n'a': 1}", "line 2: ''' is no part of JSON"},
      {"\xff", "this is no text in UTF-8"},
      {"{\n\"patience\": 010}", "line 2: '010' is no number of JSON with at most 15 digits before the point"},
      {"{\"patience\": 0x10}", "line 1: '0x10' is no number of JSON"},
      {"{\"patience\": 18446744073709551617}", "line 1: '18446744073709551617' is no number of JSON"},
      {"{\"patience\": -01}", "line 1: '-01' is no number of JSON"},
      {std::string(100000, '['), "line 1: objects and lists are nested too deeply"},
      {"{\"lins\": []}", "line 1: 'lins' is no member of the plan"},
      {"{\n\n\"units\": \"metres\"}", R"(line 3: 'units' of the plan is neither "pixels" nor "fraction")"},
      {"{\"patience\": -1}", "line 1: 'patience' of the plan is no number from 0 to 1000000"},
      {"{\"metres\": 7}", "line 1: 'metres' of the plan is no object"},
      {"{\"metres\": {\n\"picture\": [[0, 0], [9, 0], [9, 9]], \"ground\": []}}",
       "line 2: 'picture' of 'metres' is no list of 4 to 64 items"},
      {"{\"metres\": {\"picture\": [[0, 0], [9, 9], [9, 0], [0, 9]], \"ground\": [[0, 0], [9, 0], [9, 9], "
       "[0, 9]]}}",
       "line 1: 'picture' of 'metres' is no convex quadrilateral, "
       "whose points follow one another around it"},
      {"{\"metres\": {\"picture\": [[0, 0], [9, 0], [9, 9], [0, 9]], \"ground\": [[0, 0], [1, 1], [2, 2], "
       "[3, 3]]}}",
       "line 1: 'ground' of 'metres' is no convex quadrilateral"},
      {"{\"lines\": {}}", "line 1: 'lines' of the plan is no list of 0 to 128 items"},
      {"{\"lines\": [\n7]}", "line 2: item 0 of 'lines' of the plan is no object, {...}"},
      {"{\"lines\": [\n{\"from\": [1, 2],\n\"to\": [3, 4]}\n]}",
       "line 3: item 0 of 'lines' of the plan has no 'name'"},
      {"{\"lines\": [{\"name\": \"a\"}]}", "line 1: item 0 of 'lines' of the plan has no 'from' and 'to'"},
      {"{\"lines\": [{\"name\": \"a\", \"from\": [1, 2]}]}",
       "line 1: item 0 of 'lines' of the plan has no 'from' and 'to'"},
      {"{\"lines\": [{\"name\": \"a\",\n\"from\": [1, 2, 3]}]}",
       "line 2: 'from' of 'a' is no list of two numbers from -x to x, where x is 32768"},
      {"{\"units\": \"fraction\", \"lines\": [{\"name\": \"a\", \"from\": [1, 2.5]}]}",
       "line 1: 'from' of 'a' is no list of two numbers from -x to x, where x is 2"},
      {"{\"lines\": [{\"name\": \"a\", \"from\": [1, 2],\n\"to\": [1, 2]}]}",
       "line 2: 'to' of 'a' is the same point as 'from'"},
      {"{\"lines\": [{\"name\": \"a\", \"from\": [1, 2], \"to\": [1, 3], \"anchor\": 0.5}]}",
       "line 1: 'anchor' of 'a' is a share, which lines do not have"},
      {"{\"lines\": [{\"name\": \"a\", \"from\": [1, 2], \"to\": [1, 3], \"directions\": [\"in\", \"in\"]}]}",
       "line 1: 'directions' of 'a' are the same"},
      {"{\"lines\": [{\"name\": \"a\", \"from\": [1, 2], \"to\": [1, 3]},\n{\"name\": \"a\", \"from\": [1, "
       "2], \"to\": [1, 3]}]}",
       "line 2: 'name' of 'a' is that of another one, too"},
      {"{\"lines\": [{\"name\": \"\"}]}", "line 1: 'name' of a line has not 1 to 64 bytes"},
      {"{\"zones\": [{\"name\": \"a\",\n\"polygon\": [[1, 2], [3, 4]]}]}",
       "line 2: 'polygon' of 'a' is no list of 3 to 64 items"},
      {"{\"zones\": [{\"name\": \"a\",\n\"polygon\": [[1, 2], [3, 4],\n[5, null]]}]}",
       "line 3: item 2 of 'polygon' of 'a' is no list of two numbers from -x to x, where x is 32768"},
      {"{\"lines\": [{\"name\": \"a\",\n\"min-speed\": 1}]}",
       "line 2: 'min-speed' of 'a' needs 'metres' of the plan"},
      {"{\"lines\": [{\"name\": \"a\",\n\"max-speed\": -1}]}",
       "line 2: 'max-speed' of 'a' is no number from 0 to 1000"},
      {R"({"metres": {"picture": [[0, 0], [9, 0], [9, 9], [0, 9]], "ground": [[0, 0], [9, 0], [9, 9], [0, 9]]},
          "lines": [{"name": "a", "min-speed": 3, "max-speed": 2}]})",
       "line 2: 'min-speed' of 'a' is above 'max-speed'"},
      {"{\"zones\": [{\"name\": \"a\",\n\"distance\": 1}]}",
       "line 2: 'distance' of 'a' needs 'metres' of the plan"},
      {"{\"zones\": [{\"name\": \"a\",\n\"anchor\": \"top\"}]}",
       R"(line 2: 'anchor' of 'a' is neither "bottom" nor "center" nor a point nor a share)"},
      {"{\"zones\": [{\"name\": \"a\",\n\"anchor\": 2}]}",
       "line 2: 'anchor' of 'a' is no number from 0.01 to 1"},
      {"{\"zones\": [{\"name\": \"a\",\n\"dwell\": \"long\"}]}",
       "line 2: 'dwell' of 'a' is no number from 0 to 1000000"},
      {"{\"zones\": [{\"name\": \"a\",\n\"inverse\": 1}]}",
       "line 2: 'inverse' of 'a' is neither true nor false"},
      {"{\"zones\": [{\"name\": \"a\",\n\"angle\": 1}]}", "line 2: 'angle' of 'a' needs a 'direction'"},
      {"{\"zones\": [{\"name\": \"a\",\n\"direction\": [0, 0]}]}",
       "line 2: 'direction' of 'a' is no direction: both numbers are 0"},
      {"{\"zones\": [{\"name\": \"a\",\n\"types\": [\"\"]}]}",
       "line 2: item 0 of 'types' of 'a' has not 1 to 64 bytes"},
      {"{\"zones\": [{\"name\": \"a\",\n\"crowd\": 5}]}", "line 2: 'crowd' of 'a' is no object, "},
      {"{\"zones\": [{\"name\": \"a\",\n\"crowd\": {\"seconds\": 5}}]}",
       "line 2: 'crowd' of 'a' has no 'count'"},
      {"{\n\"metres\": {\"picture\": [[0, 0], [9, 0], [9, 9], [0, 9]]}}",
       "line 2: 'metres' of the plan has no 'ground'"},
      {std::string((1 << 20) + 1, ' '), "this is longer than 1048576 bytes"}};
  for (const auto &c : cases) EXPECT_EQ(fault(c.json).substr(0, c.fault.size()), c.fault) << fault(c.json);
}

// Texts that differ a little from a good one are read or refused, and never more.
TEST(ZonePlan, changed_texts_are_read_or_refused) {
  std::mt19937 random(4);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = kPlan;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random() % 127 + 1);
      else
        text.erase(at, random() % 20);
    }
    ZonePlan plan;
    const Status status = read_zone_plan(text, &plan);
    refused += !status.ok();
    ASSERT_EQ(status.ok(), status.text().empty());
    for (const ZoneRule &rule : plan.rules) ASSERT_GE(rule.points.size(), 2u);
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace cudavision::test
