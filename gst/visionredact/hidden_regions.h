// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which boxes of a frame are hidden. In doubt it hides more: objects that are missing for a while, places where
// an object must have been before it was found, and the whole frame if no detector looks for objects any more. With
// `inverse`, only the boxes that the frame itself carries count.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
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
// box is of an object that was found before if both have the same id or, if both have none, if they overlap. A box that
// a tracker predicts is hidden, but is no sighting; nor is a box of the type `motion` without an id, which tells only
// where something moves. A jump in time counts as one frame.
class HiddenRegions {
 public:
  void restart() { *this = {}; }
  // Call it for new caps. duration: of a frame, 0 if the caps have no rate. Objects keep their places in the picture if
  // the shape of the frame stays; otherwise a part may have been cut out, and nobody knows where they are.
  void follow_caps(Size size, GstClockTime duration);
  // Call it for tags: a picture that is turned is another scene.
  void follow_tags(const GstTagList *tags);
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

    friend bool operator==(const Place &, const Place &) = default;
  };
  // What is known of an object since it was found last.
  struct Object {
    GQuark type;
    std::optional<guint64> track;           // its id
    Place place;                            // its last box
    double velocity_x = 0, velocity_y = 0;  // pixels a second
    GstClockTime found = 0;                 // when it was found last
    GstClockTime missed = 0;  // the time since then, but for frames in which nothing has moved at its place
  };
  struct Frame {
    GstClockTime time;
    HiddenFrame hidden;
  };

  static Place place_of(const AttachedBox &box) { return {box.x, box.y, box.width, box.height}; }
  static void put(const Place &place, Frame *frame);
  static void hide(const Place &place, Frame *frame);
  static void hide_near(const Object &object, double seconds, Frame *frame);
  // Whatever was found before may be in another place now.
  void forget_places() { forget_looks(), objects_.clear(); }
  void follow_crop(GstBuffer *buffer);
  bool is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes);
  void hide_all_held();
  void collect(GstBuffer *buffer, const RedactSettings &settings, const StopFlag &stop);
  void take(const AttachedBox &box, const RedactSettings &settings);
  Object *find(const Object &seen);
  void see(const Object &seen);
  static Place between(const Object &from, const Object &to, GstClockTime time);
  bool is_still(const Object &object) const;
  void hold(GstClockTime most, GstClockTime step);

  Size size_;
  std::pair<guint, guint> corner_;  // where the picture begins in a frame with a crop meta
  std::string orientation_ = "rotate-0";
  StreamClock clock_;
  GstClockTime now_ = 0;
  GstClockTime scene_ = 0;  // when the scene began
  GstClockTime last_mark_ = GST_CLOCK_TIME_NONE, last_box_ = GST_CLOCK_TIME_NONE;
  GstClockTime last_crowd_ = GST_CLOCK_TIME_NONE;  // when there were last too many boxes to follow
  GstClockTime last_look_ = 0;       // the time of the last frame before this one that was analysed
  bool has_marks_ = false;           // the detector marks frames
  std::optional<std::string> type_;  // the property `type` at the last frame
  std::deque<Frame> frames_;
  std::vector<Object> objects_;
  std::vector<AttachedBox> boxes_;
  std::vector<Place> moving_;  // where something moves in the arriving frame
  bool knows_motion_ = false;  // somebody has looked for it
};

}  // namespace cudavision
