// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which boxes of a frame are hidden. In doubt it hides more: objects that are missing for a while, places where
// an object must have been before it was found, and the whole frame if no detector looks for objects any more. With
// `inverse`, only the boxes that the frame itself carries count.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/stream_clock.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/visionredact/redact_settings.h"

namespace cudavision {

// The settings with which the boxes of a frame were chosen. If they have changed since, the whole frame is hidden.
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
  bool is_unseen = false;     // no detector has looked at a frame within the timeout
  bool is_silent = false;     // is_unseen, and the scene began longer ago than the timeout
  bool is_crowded = false;    // there are too many boxes, objects or places
  std::vector<Region> boxes;  // within RedactRanges::edge
  HiddenBy by;
};

// Frames arrive and leave in the same order. What a later frame reveals is added to the frames that have not left. A
// box is assigned to an object by the id of its track or, without one, by its overlap with where the object is
// expected. If the overlap is small, the box may be of a newcomer: it counts as both. A box that a tracker predicts is
// hidden, but is no sighting. A jump in time counts as one frame.
class HiddenRegions {
 public:
  void restart() { *this = {}; }
  // Call it for new caps. duration: of a frame, 0 if the caps have no rate. Objects keep their places in the picture.
  void follow_caps(Size size, GstClockTime duration);
  // Call it if the next frame may show another scene: that a detector looked at earlier frames no longer counts.
  void forget_looks() { last_mark_ = last_box_ = GST_CLOCK_TIME_NONE, scene_ = now_; }
  // Call it for a segment event.
  void expect_jump() { clock_.expect_jump(); }
  // Call it at a flush and where another stream begins. What was seen before is a frame duration old then.
  void forget_time() {
    now_ += std::max<GstClockTime>(clock_.duration(), 1);
    clock_.restart();
    forget_looks();
  }
  // Call it if the next frame may also come from another detector.
  void forget_detector() { forget_looks(), has_marks_ = false; }
  // Adds the next frame with the results that it carries. reverse: playback is backwards. If the flag asks to stop,
  // some results are left out.
  void arrive(GstBuffer *buffer, bool reverse, const RedactSettings &settings, const StopFlag &stop);
  // Removes the frame that arrived last.
  void drop_last() { frames_.pop_back(); }
  // Removes all frames.
  void drop_all() { frames_.clear(); }
  // The time from the oldest frame to the last one.
  GstClockTime span() const { return frames_.empty() ? 0 : frames_.back().time - frames_.front().time; }
  // The time between the last two frames; 0 if there are none.
  GstClockTime last_distance() const {
    return frames_.size() < 2 ? 0 : frames_.back().time - frames_[frames_.size() - 2].time;
  }
  // Removes the oldest frame, and returns what is hidden in it.
  HiddenFrame leave();

 private:
  struct Place {
    double x = 0, y = 0, width = 0, height = 0;  // pixels
  };
  struct Sighting {
    GstClockTime time;
    Place place;
    GstClockTime begin;  // of the first sighting that was merged into this one
  };
  struct Object {
    std::uint64_t number;  // unique; grows with each new object
    GQuark type;
    guint64 track;               // the id of the track, or 0
    GstClockTime first;          // when it was found first
    GstClockTime since;          // when it was found first if earlier sightings were of another object
    GstClockTime or_since;       // another possible, earlier value of `since`; or `since`
    std::vector<Sighting> seen;  // of the last kMotionTime; never empty
    int found = 1;               // the sightings since it became an object of its own
    std::uint64_t copy_of = 0;   // the number of the object that it may be instead; 0: none, or it was found
    bool is_here = false;        // the arriving frame has a box of it
    Place expected = {};         // its place in the arriving frame
  };
  // A possible pair of a box and an object.
  struct Match {
    GstClockTime last;  // when the object was found last, if the box is surely of it; otherwise 0
    bool is_same;       // the track ids are equal
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
    std::vector<Way> ways = {};  // sorted by Way::object
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
  StreamClock clock_;
  GstClockTime now_ = 0;
  GstClockTime scene_ = 0;  // when the scene began
  GstClockTime last_mark_ = GST_CLOCK_TIME_NONE, last_box_ = GST_CLOCK_TIME_NONE;
  GstClockTime last_crowd_ = GST_CLOCK_TIME_NONE;  // when there were last too many boxes to follow
  GstClockTime last_look_ = 0;       // the time of the last frame before this one that was analysed
  bool has_marks_ = false;           // the detector marks frames
  std::optional<std::string> type_;  // the property `type` at the last frame
  std::uint64_t objects_so_far_ = 0;
  std::deque<Frame> frames_;
  std::vector<Object> objects_;
  std::vector<AttachedBox> boxes_;
  std::vector<Match> matches_;               // the best ones first
  std::vector<const Match *> match_of_box_;  // the match of each box, or null
  std::vector<const Match *> missed_;  // for each box, the best match among objects without a box; or null
  std::vector<double> slopes_;
};

}  // namespace cudavision
