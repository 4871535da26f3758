// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which boxes of a frame are hidden. In doubt it hides more: boxes that are missing for a while, where an object must
// have been before it was found, and the whole frame if nobody looks for objects any more. With `inverse` only the boxes
// that a frame itself carries count.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/visionredact/redact_settings.h"

namespace cudavision {

// The settings by which boxes are chosen. What was chosen by others would show what is to be hidden.
struct HiddenBy {
  std::optional<std::string> type;
  bool inverse = false;
  RedactShape shape = RedactShape::box;

  HiddenBy() = default;
  explicit HiddenBy(const RedactSettings &s) : type(s.type), inverse(s.inverse), shape(s.shape) {}
  friend bool operator==(const HiddenBy &, const HiddenBy &) = default;
};

struct HiddenFrame {
  bool whole = false;
  bool is_unseen = false;     // nobody has looked for objects within the timeout
  bool is_silent = false;     // and the timeout has passed since the scene began
  bool is_crowded = false;    // there are more boxes, objects or places than are looked at
  std::vector<Region> boxes;  // within RedactRanges::edge
  HiddenBy by;
};

// Frames arrive, and leave in the same order; what later frames tell is added to those that have not left. An object is known
// by the id of its track or, without one, by the overlap of its box with where it is expected. If the overlap is small, the box
// may be that of somebody else who has just come: it counts as both. A box that a tracker predicts is hidden, and says nothing
// of its object. Time is that of the timestamps, but a jump counts as one
// frame.
class HiddenRegions {
 public:
  void restart() { *this = {}; }
  // The frames have this size, and by the caps this duration or 0. Objects keep their places in the picture.
  void follow_caps(Size size, GstClockTime duration);
  // What comes may show another place: that somebody has looked at frames counts no longer.
  void forget_looks() { last_mark_ = last_box_ = GST_CLOCK_TIME_NONE, scene_ = now_; }
  // And it may come from another detector.
  void forget_detector() { forget_looks(), has_marks_ = false; }
  // Takes the results that the next frame carries. If the flag asks to stop, some are left out.
  void arrive(GstBuffer *buffer, const RedactSettings &settings, const StopFlag &stop);
  // The frame that arrived last does not leave.
  void drop_last() { frames_.pop_back(); }
  // None of the frames that have arrived leaves.
  void drop_all() { frames_.clear(); }
  // What is hidden in the next frame that leaves.
  HiddenFrame leave();

 private:
  struct Place {
    double x = 0, y = 0, width = 0, height = 0;  // pixels
  };
  struct Sighting {
    GstClockTime time;
    Place place;
    GstClockTime begin;  // of those that count as this one
  };
  struct Object {
    std::uint64_t number;  // grows
    GQuark type;
    guint64 track;               // its id, or 0
    GstClockTime first;          // when it was found first
    GstClockTime since;          // the same if what was found before was another object
    GstClockTime or_since;       // an earlier time for which this may be so, too; or the same
    std::vector<Sighting> seen;  // the last ones; never empty
    int found = 1;               // how often, since it is an object of its own
    std::uint64_t copy_of = 0;  // the number of the object that this one may be, too, until it is found; or 0
    bool is_here = false;       // the frame that arrives has a box of it
    Place expected = {};        // in the frame that arrives
  };
  // A box may be that of an object.
  struct Match {
    GstClockTime last;  // when the object was found last, if the id or the overlap is enough to know it
    bool is_same;       // by the id
    double overlap;
    std::size_t box, object;
  };
  // Where an object must have been in a frame before it was found.
  struct Way {
    std::uint64_t object;
    Place place;
  };
  struct Frame {
    GstClockTime time;
    HiddenFrame hidden;
    std::vector<Way> ways = {};  // by increasing numbers of objects
  };
  struct Motion {
    double x = 0, y = 0;  // pixels a second
  };

  static Place place_of(const AttachedBox &box) { return {box.x, box.y, box.width, box.height}; }
  static Place moved(const Place &place, const Motion &motion, double seconds);
  static Motion motion_of(const Sighting &from, const Sighting &to);
  Motion steady_motion_of(const Sighting *begin, const Sighting *end);
  static Place straight_on(const Object &object, GstClockTime since, GstClockTime time);
  static const Sighting &first_since(const Object &object, GstClockTime since);
  Place expected(const Object &object, GstClockTime time);
  static Place both(const Place &a, const Place &b);
  static Place around(const Place &place);
  static double overlap(const Place &a, const Place &b);
  static void put(const Place &place, Frame *frame);
  static void add(const Place &place, Frame *frame);
  static void add_between(const Place &seen, const Place &expected, Frame *frame);
  static void extend(const Place &place, const Object &object, Frame *frame);
  GstClockTime advance(GstClockTime pts);
  bool is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes);
  void follow(const RedactSettings &settings);
  void hide_all_held();
  void match();
  double fit(const Match &match) const;
  static bool is_known(const Object &object, const Match &match);
  static void add_sighting(const Sighting &sighting, std::vector<Sighting> *seen);
  bool hold_copy(const Object &object, Object *better);
  const Object *see(const AttachedBox &box, const Match *match);
  void settle();
  void add_way(const Sighting &from, const Sighting &to);
  void add_to_held_frames(const Object &object);
  void look_back(const Object &object, GstClockTime begin);

  Size size_;
  GstClockTime duration_ = 0;
  GstClockTime now_ = 0, last_gap_ = 0;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE,
               frame_pts_ = GST_CLOCK_TIME_NONE;  // the latest one, and that of the last frame
  GstClockTime ahead_ = 0;  // what frames without a later timestamp have added since last_pts_
  GstClockTime scene_ = 0;  // began then
  GstClockTime last_mark_ = GST_CLOCK_TIME_NONE, last_box_ = GST_CLOCK_TIME_NONE;
  GstClockTime last_crowd_ = GST_CLOCK_TIME_NONE;  // when not all boxes could be followed
  GstClockTime last_look_ = 0;                     // the frame before this one that a detector has looked at
  bool has_marks_ = false;                         // the stream has had one
  std::optional<std::string> type_;                // that was wanted last
  std::uint64_t objects_so_far_ = 0;
  std::deque<Frame> frames_;
  std::vector<Object> objects_;
  std::vector<AttachedBox> boxes_;
  std::vector<Match> matches_;               // the best ones first
  std::vector<const Match *> match_of_box_;  // or null
  std::vector<const Match *> missed_;        // that fits the box best, of objects without a box; or null
  std::vector<double> slopes_;
};

}  // namespace cudavision
