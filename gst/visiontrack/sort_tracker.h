// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives boxes an identity over time: A. Bewley, Z. Ge, L. Ott, F. Ramos and B. Upcroft, "Simple Online and Realtime
// Tracking", ICIP 2016.
//
// Each track has a Kalman filter of constant velocity (section 3.2) with the state [u, v, s, r, u', v', s']: the centre
// of the box, its area and its ratio of width to height, which has no velocity. Boxes of a frame are assigned to the
// boxes that the filters predict so that the sum of the intersections over union is largest (section 3.3), unless the
// pairs that overlap enough leave no choice. A box without a track begins one; a track without a box for a number of
// frames ends (section 3.4). The variances are those of the authors' program.
//
// In the paper, all frames arrive, and the detector looks at all of them. Here frames may be missing, and detectors may
// skip some. The filters predict over the time that has passed, in steps of a frame duration. A frame in which no
// detector looked for a type of objects is not a miss for tracks of this type.
#pragma once

#include <glib.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/stream_clock.h"

namespace cudavision {

// A box in pixels. All boxes of a track have the same type.
struct TypedBox {
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;
  unsigned tag = 0;  // set by the caller; the identities of the track return that of its last box
};

struct TrackerSettings {
  double iou_threshold = 0.3;  // a box and a prediction that overlap less are not assigned to each other
  // A track is confirmed when it has had a box in each of this many frames in succession after its first one.
  int min_hits = 3;
  // A track ends in a frame without a box of it, if its last box is more than this many frame durations ago; or, if
  // max_age_time is not 0, more than that many nanoseconds.
  int max_age = 30;
  GstClockTime max_age_time = 0;

  friend bool operator==(const TrackerSettings &, const TrackerSettings &) = default;
};

// A Kalman filter of one number and its velocity. Four of them make up the paper's filter of seven numbers, whose
// covariances between the four start at 0 and stay 0.
class ConstantVelocity {
 public:
  // The variances of a first estimate, of the noise that each frame adds, and of a measurement.
  struct Noise {
    double first, first_velocity, added, added_velocity, measured;
  };
  ConstantVelocity(const Noise &noise, double value)
      : noise_(noise), value_(value), variance_(noise.first), velocity_variance_(noise.first_velocity) {}

  double value() const { return value_; }
  double velocity() const { return velocity_; }
  void stop() { velocity_ = 0; }
  // Makes all later steps of predict() longer by this factor.
  void scale(double factor);
  void predict();
  void measure(double value);

 private:
  Noise noise_;
  double value_, velocity_ = 0;
  double variance_, covariance_ = 0, velocity_variance_;
};

class Track {
 public:
  Track(const TypedBox &box, guint64 id, guint64 first_seen);

  guint64 id() const { return id_; }
  guint64 first_seen() const { return first_seen_; }
  // The box that the filter estimates; nullopt if its numbers are not finite.
  std::optional<TypedBox> box() const;
  GQuark type() const { return type_; }
  void predict(const Tick &tick);
  void take(const TypedBox &box, guint64 time);
  // Call it if a detector looked for the type in a frame that has no box of this track.
  void miss() { hits_in_succession_ = 0, is_shown_ = false; }
  bool is_too_old(const TrackerSettings &settings) const;
  std::int64_t frames_without_box() const { return frames_without_box_; }
  std::int64_t hits_in_succession() const { return hits_in_succession_; }
  std::int64_t frames() const { return frames_; }
  guint64 last_seen() const { return last_seen_; }
  // The velocity of the centre, in pixels for each frame duration.
  double velocity_x() const { return u_.velocity(); }
  double velocity_y() const { return v_.velocity(); }
  // True if the track had a box with its identity in the last frame in which a detector looked for its type.
  bool is_shown() const { return is_shown_; }
  void show(bool shown) { is_shown_ = shown; }

 private:
  guint64 id_;
  guint64 first_seen_, last_seen_;
  GQuark type_;
  unsigned tag_;
  ConstantVelocity u_, v_, area_, ratio_;
  std::int64_t frames_ = 0, hits_in_succession_ = 0, frames_without_box_ = 0;
  GstClockTime time_without_box_ = 0;
  bool is_shown_ = false;
};

// What the tracker tells of an object.
struct Identity {
  guint64 id;                     // of the track; never used again
  guint64 first_seen;             // the time of the track's first box, as it was given to next()
  guint64 last_seen;              // the time of the track's last box
  std::int64_t frames;            // frame durations since the first box
  TypedBox box;                   // as the filter estimates it
  double velocity_x, velocity_y;  // of the box's centre, in pixels a second
};

// What detectors looked for in a frame.
struct Search {
  bool is_any = true;  // whether they looked for anything
  std::function<bool(GQuark type)> includes = [](GQuark) { return true; };  // true for the types of all boxes
};

struct TrackedFrame {
  std::vector<std::optional<Identity>> boxes;  // one for each box; nullopt if its track is not confirmed
  // Predicted boxes of objects that have no box in this frame because no detector looked for their types in it. Each
  // object had an identity when a detector last looked for its type.
  std::vector<Identity> predictions;
};

class SortTracker {
 public:
  // Bounds of the time and the memory that a frame may take: half a second, and some megabytes.
  static constexpr int kMostBoxes = 512, kMostTracks = 1024;
  // Each tracker has a block of ids: with n trackers upstream, the ids from n * kIdsOfTracker + 1 on.
  static constexpr guint64 kIdsOfTracker = 1'000'000'000'000, kMostTrackers = 1000;
  // Takes the boxes of the next frame, at most kMostBoxes, whose sides are positive. In the first min_hits frames in
  // which a detector looked for anything, all tracks are confirmed. While there are kMostTracks, no track begins. time:
  // of the frame, in any unit. If the flag asks to stop, the result is useless, and restart() must follow.
  TrackedFrame next(const std::vector<TypedBox> &boxes, const TrackerSettings &settings, const Tick &tick,
                    guint64 time, const Search &search, const StopFlag &stop);
  // Ends all tracks, because the next frame does not follow the last one. Ids are not used again.
  void restart() { tracks_.clear(), frames_ = 0; }
  // What state() returns and take_back() restores.
  struct State {
    std::vector<Track> tracks;
    std::int64_t frames = 0;
  };
  State state() const { return {tracks_, frames_}; }
  void take_back(State state) { tracks_ = std::move(state.tracks), frames_ = state.frames; }
  // Tells how many trackers are upstream. All tracks end if there are more than was known before.
  void follow_trackers(guint64 count);
  // Ends all tracks, and forgets the trackers upstream. Ids are not used again.
  void start() { restart(), trackers_before_ = 0; }
  guint64 trackers_before() const { return trackers_before_; }

 private:
  static bool ends_tracks(const TrackerSettings &settings, const Tick &tick);
  void predict(const Tick &tick);
  // Assigns boxes to tracks; others begin tracks, up to kMostTracks. Returns an index of tracks_ for each box, or -1.
  std::vector<int> tracks_of(const std::vector<TypedBox> &boxes, double threshold, guint64 time,
                             const StopFlag &stop);
  // Assigns boxes to existing tracks, as tracks_of() returns them. *new_boxes: the others, in the order of new ids.
  std::vector<int> assign(const std::vector<TypedBox> &boxes, double threshold, const StopFlag &stop,
                          std::vector<int> *new_boxes) const;

  std::vector<Track> tracks_;
  guint64 last_id_ = 0, trackers_before_ = 0;
  std::int64_t frames_ = 0;
};

}  // namespace cudavision
