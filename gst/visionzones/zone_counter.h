// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts tracks that cross lines, and that enter, leave and stay in polygons.
//
// A track crosses a line if the straight way between its anchors (points of its boxes, see ZoneRule) in two consecutive
// frames does (geometry.h). It can cross when one of its anchors has been at least the hysteresis away from the line.
// Its crossings are settled when an anchor is as far away again, ZoneRule::least_stay after the last of them, or when
// the track is lost: if those in one direction are more, one is counted, at the time of the last one.
//
// A track is in a polygon from its first anchor inside until one outside is the hysteresis or more away from the edges.
// Both are counted when they have lasted for ZoneRule::least_stay.
#pragma once

#include <gst/gst.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/common/stop.h"
#include "gst/visionzones/geometry.h"
#include "gst/visionzones/zone_plan.h"

namespace cudavision {

// A box of a frame whose track is known, in pixels.
struct CountedBox {
  guint64 id = 0;
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;
  bool predicted = false;  // a tracker's guess: the track lives on, but makes no step
};

// The time and the place of a change.
struct Moment {
  GstClockTime time = 0;
  FixedPoint anchor{};
};

struct ZoneEvent {
  enum class Kind { cross, enter, leave, dwell, crowd, wrong_way, close };
  Kind kind = Kind::cross;
  std::size_t rule = 0;
  guint64 id = 0;  // of the track; 0 for a crowd
  GQuark type = 0;
  Direction direction = kToRight;  // of a crossing
  GroundWay way;                   // of the track up to this frame
  Moment moment;                   // when and where it happened: not after the frame
  GstClockTime duration = 0;       // leave, dwell: since the track entered; crowd: since the crowd began
  guint64 count = 0;               // the number of objects of a crowd
  guint64 other = 0;               // close: the nearest other track
  double distance = 0;             // close: metres between both
};

struct Tally {
  guint64 total = 0, recent = 0;  // since the start, and in the last ZonePlan::window
};

// How often a line was crossed, or a polygon entered and left.
class ZoneCounts {
 public:
  // Bounds of the memory. Types beyond kMostTypes are counted in all() only. If there are more recent passages than
  // kMostRecent, the oldest ones no longer count as recent.
  static constexpr std::size_t kMostTypes = 64, kMostRecent = 16384;
  void add(Direction direction, GQuark type, GstClockTime time);
  void forget_before(GstClockTime time);
  // Set totals of earlier runs.
  void begin_at(int direction, guint64 total) { all_[direction].total = total; }
  void begin_at(int direction, const std::string &type, guint64 total);
  const Tally &all(int direction) const { return all_[direction]; }
  const std::map<std::string, Tally> &types(int direction) const { return types_[direction]; }

 private:
  struct Passage {
    GstClockTime time;
    Direction direction;
    GQuark type;
  };
  void forget_oldest();

  Tally all_[kDirections];
  std::map<std::string, Tally> types_[kDirections];
  std::deque<Passage> recent_;
};

// A rule of the plan, converted to pixels of the frame, with its counts.
struct CountedRule {
  ZoneRule rule;
  std::vector<FixedPoint> points;
  FixedBox around;   // the smallest box around the points, grown by the hysteresis
  double reach = 0;  // the hysteresis, in 1/256 pixel
  ZoneCounts counts;
  guint64 occupancy = 0;  // tracks in the polygon
  GstClockTime crowd_since = GST_CLOCK_TIME_NONE;
  bool crowd_told = false;
};

class ZoneCounter {
 public:
  static constexpr std::size_t kMostTracks = 2048;

  // Uses the plan from the next frame on. Lines and polygons whose names stay keep their counts. size: of the frames.
  void follow(const ZonePlan &plan, Size size);
  // Sets the counts of the rules, in their order; `counts` has one for each rule.
  void restore(std::vector<ZoneCounts> counts);
  // Call it if the next frame does not continue the last one: all tracks end without events, and polygons become empty.
  void forget_tracks();
  // Processes the boxes of a frame, in any order. Returns its events: those of tracks that have ended, then those of
  // boxes, both ordered by id and then by rule, then those of crowds; some are missing if the flag asks to stop. Of
  // boxes with one id, only the uppermost one not predicted counts. now: the time of the frame, which never goes back.
  const std::vector<ZoneEvent> &next(const std::vector<CountedBox> &boxes, GstClockTime now,
                                     const StopFlag &stop = StopFlag());
  const std::vector<CountedRule> &rules() const { return rules_; }
  // The tracks with a box in the last frame whose place on the ground is known, by their ids.
  std::vector<std::pair<guint64, GroundWay>> ways() const;
  bool has_too_many() const { return has_too_many_; }  // whether a track of the last frame was left out

 private:
  // The state of a track at one rule.
  struct Stay {
    FixedPoint anchor;       // of the track's last box
    Moment changed;          // the last crossing, entering or leaving
    bool can_cross = false;  // lines: an anchor was away from the line
    int balance = 0;         // lines: crossings to the right minus to the left that are not settled
    bool is_in = false, is_counted = false;  // polygons: the track is inside, and is counted as inside
    Moment entered;                          // polygons: the begin of what is counted
    bool has_dwelt = false, was_wrong = false;
    FixedPoint reference;                            // where the next step of watch_way() begins
    bool is_close = false;                           // polygons: another track is near, and was told
    GstClockTime close_since = GST_CLOCK_TIME_NONE;  // polygons: when it came near
  };
  struct Track {
    CountedBox box;  // the last one
    GstClockTime last_seen = 0;
    GroundWay way;
    std::vector<Stay> stays;  // one for each rule
  };

  bool is_lost(const Track &track) const { return now_ - track.last_seen > plan_.patience; }
  void end_lost_tracks();
  void settle_unseen();
  void settle(std::size_t rule, const Track &track, Stay *stay);
  void take(const CountedBox &box);
  void step_over_line(std::size_t rule, const Track &track, FixedPoint before, Stay *stay);
  void step_in_polygon(std::size_t rule, const Track &track, Stay *stay);
  void watch_way(std::size_t rule, const Track &track, Stay *stay);
  void enter(std::size_t rule, const Track &track, Stay *stay);
  void leave(std::size_t rule, const Track &track, Stay *stay, const Moment &moment);
  void watch_crowd(std::size_t rule);
  void watch_distance(std::size_t rule);
  bool is_placed_in(const Track &track, std::size_t rule) const;
  void add_event(ZoneEvent::Kind kind, std::size_t rule, const Track &track, const Moment &moment,
                 GstClockTime duration = 0, Direction direction = kToRight);

  ZonePlan plan_;
  std::optional<Ground> ground_;
  std::vector<CountedRule> rules_;
  std::map<guint64, Track> tracks_;
  std::vector<CountedBox> sorted_;
  std::vector<ZoneEvent> events_;
  GstClockTime now_ = 0;
  Size size_;
  bool has_too_many_ = false;
};

}  // namespace cudavision
