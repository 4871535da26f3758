// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives boxes an identity over time: A. Bewley, Z. Ge, L. Ott, F. Ramos and B. Upcroft, "Simple Online and Realtime
// Tracking", ICIP 2016.
//
// Each track has a Kalman filter of constant velocity (section 3.2) with the state [u, v, s, r, u', v', s']: the centre of the
// box, its area and its ratio of width to height, which has no velocity. Boxes of a frame are assigned to the boxes that
// the filters predict so that the sum of the intersections over union is largest (section 3.3), unless the pairs that overlap
// enough leave no choice. A box without a track begins one; a track without a box for a number of frames ends (section
// 3.4). The variances are those of the authors' program.
#pragma once

#include <glib.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/common/stop.h"

namespace cudavision {

// A box in pixels. All boxes of a track have the same type.
struct TypedBox {
  GQuark type = 0;
  double x = 0, y = 0, width = 0, height = 0;
};

struct TrackerSettings {
  double iou_threshold = 0.3;  // a box and a prediction that overlap less are not assigned to each other
  // A track is confirmed when it has had a box in each of this many frames in succession after its first one.
  int min_hits = 3;
  int max_age = 30;  // a track ends after more than this many frames in succession without a box

  friend bool operator==(const TrackerSettings &, const TrackerSettings &) = default;
};

// What a filter says of one number. Its variances and those of its velocity need not be kept for all seven numbers of the
// state together: the filter starts without covariances between the four, and none ever arises.
class ConstantVelocity {
 public:
  // The variances of a first estimate, of what a frame adds, and of a measurement.
  struct Noise {
    double first, first_velocity, added, added_velocity, measured;
  };
  ConstantVelocity(const Noise &noise, double value)
      : noise_(noise), value_(value), variance_(noise.first), velocity_variance_(noise.first_velocity) {}

  double value() const { return value_; }
  double velocity() const { return velocity_; }
  void stop() { velocity_ = 0; }
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
  // The box that the filter estimates; none if it is no box any more.
  std::optional<TypedBox> box() const;
  void predict();
  void take(const TypedBox &box);
  int frames_without_box() const { return frames_without_box_; }
  std::int64_t hits_in_succession() const { return hits_in_succession_; }
  std::int64_t frames() const { return frames_; }

 private:
  guint64 id_;
  guint64 first_seen_;
  GQuark type_;
  ConstantVelocity u_, v_, area_, ratio_;
  std::int64_t frames_ = 0, hits_in_succession_ = 0;
  int frames_without_box_ = 0;
};

// What is known of a box.
struct Identity {
  guint64 id;           // from 1 on, never used again
  guint64 first_seen;   // the time of the track's first box, as it was given to next()
  std::int64_t frames;  // since then
  TypedBox box;         // as the filter estimates it
};

class SortTracker {
 public:
  // Bounds of the time and the memory that a frame may take: half a second, and some megabytes.
  static constexpr int kMostBoxes = 512, kMostTracks = 1024;

  // Takes the boxes of the next frame, at most kMostBoxes, whose sides are positive. Returns the identity of each box whose
  // track is confirmed; in the first min_hits frames all tracks are confirmed. While there are kMostTracks, none
  // begins. time: of the frame, in any unit. If the flag asks to stop, the result is useless, and restart() must
  // follow.
  std::vector<std::optional<Identity>> next(const std::vector<TypedBox> &boxes,
                                            const TrackerSettings &settings, guint64 time,
                                            const StopFlag &stop);
  // The next frame does not follow the last one. Ids are not used again.
  void restart() { tracks_.clear(), frames_ = 0; }

 private:
  // The track of each box, as an index of tracks_, or -1; *new_boxes: those without one, in the order of their ids.
  std::vector<int> assign(const std::vector<TypedBox> &boxes, double threshold, const StopFlag &stop,
                          std::vector<int> *new_boxes) const;

  std::vector<Track> tracks_;
  guint64 last_id_ = 0;
  std::int64_t frames_ = 0;
};

}  // namespace cudavision
