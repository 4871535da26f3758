// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts tracks that cross lines, and that enter, leave and stay in polygons.
//
// A line is crossed by the straight way between two consecutive anchors of a track (geometry.h). A track that crosses it is
// counted, and then held by the line until an anchor lies at least the hysteresis away. While it is held, nothing is
// counted. If it has crossed back more often than forth when the hold ends, or forth more often than back, this counts then,
// once. The end of a track ends the hold, too.
//
// A track is in a polygon from the first anchor inside on, until an anchor lies outside at least the hysteresis from its edges.
#pragma once

#include <gst/gst.h>

#include <deque>
#include <map>
#include <string>
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
  bool predicted = false;  // nobody has seen it there: its track goes on, but makes no step
};

struct ZoneEvent {
  enum class Kind { cross, enter, leave, dwell, crowd, wrong_way };
  Kind kind = Kind::cross;
  std::size_t rule = 0;
  guint64 id = 0;  // of the track; of a crowd: 0
  GQuark type = 0;
  Direction direction = kToRight;  // of a crossing
  FixedPoint anchor{};             // of the track, where it was seen last
  GstClockTime duration = 0;       // since the track entered, of leave and dwell, or since the crowd began
  guint64 count = 0;               // of the objects of a crowd
};

struct Tally {
  guint64 total = 0, recent = 0;  // since the start, and in the window
};

// How often a line was crossed, or a polygon entered and left.
class ZoneCounts {
 public:
  // Types beyond this many are only part of `all`, and passages beyond this many in a window are not recent any more: a bound of
  // the memory.
  static constexpr std::size_t kMostTypes = 64, kMostRecent = 16384;
  void add(Direction direction, GQuark type, GstClockTime time);
  void forget_before(GstClockTime time);
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

// A rule of the plan in the frame, and what was counted.
struct CountedRule {
  ZoneRule rule;
  std::vector<FixedPoint> points;
  std::vector<GQuark> types;  // of the rule; 0 for those that no box has had yet
  std::size_t anchor = 0;     // the number of its anchor among those of all rules
  FixedBox around;            // the points and what is less than the hysteresis away
  double reach = 0;           // the hysteresis, in 1/256 pixel
  ZoneCounts counts;
  guint64 occupancy = 0;  // tracks in the polygon
  GstClockTime crowd_since = GST_CLOCK_TIME_NONE;
  bool crowd_told = false;
};

class ZoneCounter {
 public:
  static constexpr std::size_t kMostTracks = 2048;

  // From the next frame on this plan holds. What was counted by lines and polygons whose names stay is kept. size: of the frames.
  void follow(const ZonePlan &plan, Size size);
  // The next frame shows another time: no track goes on, and nobody is in a polygon.
  void forget_tracks();
  // Takes the boxes of a frame in any order. Of boxes with one id, the upper one at the left counts. now: of the frame, not
  // before the last one. The events are in the order of tracks, then of rules; those of a crowd are last.
  // Some are missing if the flag asks to stop.
  const std::vector<ZoneEvent> &next(const std::vector<CountedBox> &boxes, GstClockTime now,
                                     const StopFlag &stop = StopFlag());
  const std::vector<CountedRule> &rules() const { return rules_; }
  bool has_too_many() const { return has_too_many_; }  // whether a track was left out

 private:
  // What a rule knows of a track.
  struct Stay {
    bool is_in = false;  // of a line: it is held
    bool has_dwelt = false, was_wrong = false;
    int balance = 0;       // of a line: crossings to the right, less those to the left, since it was counted
    FixedPoint reference;  // from where the next step is measured
    GstClockTime since = 0;
  };
  struct Track {
    CountedBox box;                   // the last one
    std::vector<FixedPoint> anchors;  // of it
    GstClockTime last_seen = 0;
    std::vector<Stay> stays;  // of each rule
  };
  struct Step {
    guint64 id;
    FixedPoint before, after;
    FixedBox box;
  };

  bool is_lost(const Track &track) const { return now_ - track.last_seen > plan_.patience; }
  void end_lost_tracks();
  void count_crossing(std::size_t rule, guint64 id, const Track &track, bool to_right);
  void number_anchors();
  void find_anchors(const CountedBox &box, std::vector<FixedPoint> *anchors) const;
  void take(const CountedBox &box);
  void step_over_line(std::size_t rule, const Track &track, const Step &step, Stay *stay);
  void step_in_polygon(std::size_t rule, const Track &track, const Step &step, Stay *stay);
  void watch_way(std::size_t rule, const Track &track, const Step &step, Stay *stay);
  void leave(std::size_t rule, guint64 id, const Track &track, Stay *stay, GstClockTime until);
  void watch_crowd(std::size_t rule);
  void add_event(ZoneEvent::Kind kind, std::size_t rule, guint64 id, const Track &track,
                 GstClockTime duration = 0, Direction direction = kToRight);

  ZonePlan plan_;
  std::vector<CountedRule> rules_;
  std::vector<PlannedPoint> anchors_;  // of all rules, each once
  std::vector<FixedPoint> before_;     // the anchors of a track in the frame before
  std::map<guint64, Track> tracks_;
  std::vector<CountedBox> sorted_;
  std::vector<ZoneEvent> events_;
  GstClockTime now_ = 0;
  Size size_;
  bool has_too_many_ = false;
};

}  // namespace cudavision
