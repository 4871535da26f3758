// SPDX-License-Identifier: LGPL-2.1-or-later
// Gives boxes an identity over time. The methods differ in the filter that predicts where the box of a track goes, in
// the way in which boxes are paired with predictions, and in when a track is confirmed and ends. A box without a track
// begins one; a track without a box for a while ends.
//
// In the papers all frames arrive, and the detector looks at all of them. Here frames may be missing, and detectors may
// skip some. The filters predict over the time that has passed. A frame in which no detector looked for a type of
// objects is not a miss for tracks of this type.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/stream_clock.h"
#include "gst/visiontrack/buffered_tracker.h"
#include "gst/visiontrack/sort_tracker.h"
#include "gst/visiontrack/tracked_box.h"

namespace cudavision {

enum class TrackMethod { buffered, sort };

struct TrackerSettings {
  TrackMethod method = TrackMethod::buffered;
  double iou_threshold = 0.3;  // SORT: a box and a prediction that overlap less are not paired
  // A track is confirmed when it has had a box in this many frames after its first one; SORT: in succession.
  int min_hits = 3;
  // A track ends in a frame without a box of it, if its last box is more than this many frame durations ago; or, if
  // max_age_time is not 0, more than that many nanoseconds. -1 is 30 frame durations for SORT, otherwise 3 s.
  int max_age = -1;
  GstClockTime max_age_time = 0;

  friend bool operator==(const TrackerSettings &, const TrackerSettings &) = default;
};

struct Track {
  // The box that the filter estimates; nullopt if its numbers are not finite.
  std::optional<TypedBox> box() const;
  Velocity velocity(const Tick &tick) const;  // tick: the last one
  void predict(const Tick &tick);
  // hit: how much the box counts for `hits`.
  void take(const TypedBox &new_box, double hit, guint64 time);
  // Call it if a detector looked for the type in a frame that has no box of this track.
  void miss(TrackMethod method);
  bool is_too_old(const TrackerSettings &settings, const Tick &tick) const;

  guint64 id;  // 0 for one that is given later
  guint64 first_seen, last_seen;
  GQuark type;
  unsigned tag;
  std::variant<SortFilter, BufferedFilter> filter;
  std::int64_t frames = 0, frames_without_box = 0;
  double hits = 0;
  GstClockTime time_without_box = 0;
  bool is_shown = false;  // it had a box with its identity when a detector last looked for its type
};

// What the tracker tells of an object.
struct Identity {
  guint64 id;           // of the track; never used again
  guint64 first_seen;   // the time of the track's first box, as it was given to next()
  guint64 last_seen;    // the time of the track's last box
  std::int64_t frames;  // frame durations since the first box
  TypedBox box;         // as the filter estimates it
  Velocity velocity;
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

class Tracker {
 public:
  // Bounds of the time and the memory that a frame may take: half a second, and some megabytes.
  static constexpr int kMostBoxes = 512, kMostTracks = 1024;
  // Each tracker has a block of ids: with n trackers upstream, the ids from n * kIdsOfTracker + 1 on.
  static constexpr guint64 kIdsOfTracker = 1'000'000'000'000, kMostTrackers = 1000;
  // Takes the boxes of the next frame, at most kMostBoxes, whose sides are positive. In the first min_hits frames in
  // which a detector looked for anything, all tracks are confirmed. While there are kMostTracks, no track begins. time:
  // of the frame, in any unit. If the flag asks to stop, the result is useless, and restart() must follow. Another
  // method than before ends all tracks.
  TrackedFrame next(const std::vector<TypedBox> &boxes, const TrackerSettings &settings, const Tick &tick,
                    guint64 time, const Search &search, const StopFlag &stop);
  // Ends all tracks, because the next frame does not follow the last one. Ids are not used again.
  void restart() { tracks_.clear(), buffered_.restart(), frames_ = 0; }
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
  // Gives boxes to tracks; others begin tracks, up to kMostTracks. Returns an index of tracks_ for each box, or -1.
  std::vector<int> tracks_of(const std::vector<TypedBox> &boxes, const TrackerSettings &settings,
                             guint64 time, const StopFlag &stop);
  // Whether the track, which has a box in this frame, gets an id.
  bool is_confirmed(const Track &track, const TrackerSettings &settings) const;
  guint64 next_id() { return trackers_before_ * kIdsOfTracker + ++last_id_; }

  std::vector<Track> tracks_;
  BufferedPairing buffered_;
  TrackMethod method_ = TrackMethod::buffered;
  guint64 last_id_ = 0, trackers_before_ = 0;
  std::int64_t frames_ = 0;
};

}  // namespace cudavision
