// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which boxes of a frame are hidden. In doubt it hides more: boxes that are missing for a while, where an object must
// have been before it was found, and the whole frame if nobody looks for objects any more. With `inverse` only the boxes
// that a frame itself carries count.
#pragma once

#include <gst/gst.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "gst/base/results/attached_boxes.h"
#include "gst/visionredact/redact_settings.h"

namespace cudavision {

struct HiddenFrame {
  bool whole = false;
  bool is_silent = false;   // and the timeout has passed: nobody has looked for objects
  bool is_crowded = false;  // it has more boxes than are looked at, or there are more objects than are known
  std::vector<Region> boxes;        // within RedactRanges::edge
  std::optional<std::string> type;  // the settings by which they were chosen
  bool inverse = false;
};

// Frames arrive, and leave in the same order; what later frames tell is added to those that have not left. An object is known
// by the id of its track or, without one, by the overlap of its box with where it is expected. If that is in doubt, the box
// may be that of somebody else who has just come: it counts as both. Time is that of the timestamps, but a jump counts as one
// frame.
class HiddenRegions {
 public:
  void restart() { *this = {}; }
  // The frames have this size, and by the caps this duration or 0. Objects keep their places in the picture.
  void follow_caps(Size size, GstClockTime duration);
  // What comes may show another place: that somebody has looked at frames counts no longer.
  void forget_looks() { last_mark_ = last_box_ = GST_CLOCK_TIME_NONE, scene_ = now_; }
  // Takes the results that the next frame carries.
  void arrive(GstBuffer *buffer, const RedactSettings &settings);
  // The frame that arrived last does not leave.
  void drop_last() { frames_.pop_back(); }
  // None of the frames that have arrived leaves.
  void drop_all() { frames_.clear(), last_pts_ = GST_CLOCK_TIME_NONE; }
  // What is hidden in the next frame that leaves.
  HiddenFrame leave();

 private:
  struct Place {
    double x = 0, y = 0, width = 0, height = 0;  // pixels
  };
  struct Sighting {
    GstClockTime time;
    Place place;
  };
  struct Object {
    GQuark type;
    guint64 track;              // its id, or 0
    GstClockTime first;         // when it was found first
    GstClockTime since;         // the same if what was found before was another object
    std::deque<Sighting> seen;  // the last ones
    bool is_here = false;       // the frame that arrives has a box of it
  };
  // A box may be that of an object.
  struct Match {
    double overlap;  // or kSameId
    std::size_t box, object;
  };
  struct Frame {
    GstClockTime time;
    HiddenFrame hidden;
  };

  static bool has_moved(const Object &object);
  static Place moved(const Sighting &from, const Sighting &to, Place place, double after);
  static Place expected(const Object &object, GstClockTime time);
  static Place both(const Place &a, const Place &b);
  static Place around(const Place &place);
  static double overlap(const Place &a, const Place &b);
  static void add(const Place &place, Frame *frame);
  static void add_between(const Place &seen, const Place &expected, const RedactSettings &settings,
                          Frame *frame);
  GstClockTime advance(GstClockTime pts);
  bool is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes);
  void follow(const RedactSettings &settings);
  void match();
  Object *object_of(const AttachedBox &box, const Match *match);
  void see(Object *object, const Place &place, const RedactSettings &settings);

  Size size_;
  GstClockTime duration_ = 0;
  GstClockTime now_ = 0, last_pts_ = GST_CLOCK_TIME_NONE, last_gap_ = 0;
  GstClockTime scene_ = 0;  // began then
  GstClockTime last_mark_ = GST_CLOCK_TIME_NONE, last_box_ = GST_CLOCK_TIME_NONE;
  GstClockTime last_look_ =
      0;                    // the last frame in front of this one in which an object would have been found
  bool has_marks_ = false;  // the stream has had one
  std::deque<Frame> frames_;
  std::vector<Object> objects_;
  std::vector<AttachedBox> boxes_;
  std::vector<Match> matches_;               // the best ones first
  std::vector<const Match *> match_of_box_;  // or null
};

}  // namespace cudavision
