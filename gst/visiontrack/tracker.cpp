// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/tracker.h"

#include <algorithm>

namespace cudavision {
namespace {

// How long a track without a box lives with the method `buffered`, unless the settings tell a time: most tracks that
// are never confirmed are false.
constexpr GstClockTime kAge = 3 * GST_SECOND, kUnconfirmedAge = 200 * GST_MSECOND;
constexpr int kSortAge = 30;  // in frame durations

using Filter = std::variant<SortFilter, BufferedFilter>;

Filter filter_for(TrackMethod method, const TypedBox &box) {
  return method == TrackMethod::sort ? Filter(SortFilter(box)) : Filter(BufferedFilter(box));
}

// Whether so much time without a box is too much. The default of 3 s is not decided by jitter.
bool is_too_long(GstClockTime time, std::int64_t frames, const TrackerSettings &settings, const Tick &tick) {
  if (settings.max_age_time != 0) return time > settings.max_age_time;
  if (settings.max_age >= 0) return frames > settings.max_age;
  return settings.method == TrackMethod::sort ? frames > kSortAge : time > kAge + tick.duration / 2;
}

Identity identity_of(const Track &track, const Tick &tick) {
  return {track.id, track.first_seen, track.last_seen, track.frames, *track.box(), track.velocity(tick)};
}

}  // namespace

// --- a track ---

std::optional<TypedBox> Track::box() const {
  std::optional<TypedBox> box = std::visit([](const auto &own) { return own.box(); }, filter);
  if (box) box->type = type, box->tag = tag;
  return box;
}

Velocity Track::velocity(const Tick &tick) const {
  return std::visit([&](const auto &own) { return own.velocity(tick); }, filter);
}

void Track::predict(const Tick &tick) {
  std::visit([&](auto &own) { own.predict(tick); }, filter);
  frames += tick.frames;
  frames_without_box += tick.frames;
  time_without_box += tick.step;
}

void Track::take(const TypedBox &new_box, double hit, guint64 time) {
  frames_without_box = 0, time_without_box = 0;
  last_seen = time, tag = new_box.tag;
  hits += hit;
  std::visit([&](auto &own) { own.take(new_box); }, filter);
}

void Track::miss(TrackMethod method) {
  is_shown = false;
  if (method == TrackMethod::sort) hits = 0;
}

bool Track::is_too_old(const TrackerSettings &settings, const Tick &tick) const {
  if (id == 0 && time_without_box > kUnconfirmedAge + tick.duration / 2) return true;
  return is_too_long(time_without_box, frames_without_box, settings, tick);
}

// --- all tracks ---

std::vector<int> Tracker::tracks_of(const std::vector<TypedBox> &boxes, const TrackerSettings &settings,
                                    guint64 time, const StopFlag &stop) {
  if (boxes.empty()) return {};
  const bool is_sort = settings.method == TrackMethod::sort;
  std::vector<TypedBox> predictions;
  for (const Track &track : tracks_) predictions.push_back(*track.box());
  Pairing pairing = is_sort ? pair_by_sort(boxes, predictions, settings.iou_threshold, stop)
                            : buffered_.pair(boxes, predictions, stop);
  std::vector<int> &own = pairing.tracks;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (own[i] != -1) tracks_[static_cast<std::size_t>(own[i])].take(boxes[i], pairing.hits[i], time);
  for (const int i : pairing.new_boxes) {
    if (tracks_.size() >= kMostTracks) break;
    own[static_cast<std::size_t>(i)] = static_cast<int>(tracks_.size());
    const TypedBox &box = boxes[static_cast<std::size_t>(i)];
    tracks_.push_back({.id = is_sort ? next_id() : 0,
                       .first_seen = time,
                       .last_seen = time,
                       .type = box.type,
                       .tag = box.tag,
                       .filter = filter_for(settings.method, box)});
  }
  return own;
}

void Tracker::follow_trackers(guint64 count) {
  if (count <= trackers_before_ || count > kMostTrackers) return;
  trackers_before_ = count;
  restart();
}

// Tracks end if the timestamp went back, or at an unusually long step that alone exceeds the maximum age.
bool Tracker::ends_tracks(const TrackerSettings &settings, const Tick &tick) {
  return tick.step == 0 || (tick.is_long && is_too_long(tick.step, tick.frames - 1, settings, tick));
}

void Tracker::predict(const Tick &tick) {
  for (Track &track : tracks_) track.predict(tick);
  std::erase_if(tracks_, [](const Track &track) { return !track.box(); });
}

// With the method `buffered`, a track that has an id keeps it.
bool Tracker::is_confirmed(const Track &track, const TrackerSettings &settings) const {
  return track.hits >= settings.min_hits || frames_ <= settings.min_hits ||
         (settings.method == TrackMethod::buffered && track.id != 0);
}

TrackedFrame Tracker::next(const std::vector<TypedBox> &boxes, const TrackerSettings &settings,
                           const Tick &tick, guint64 time, const Search &search, const StopFlag &stop) {
  const bool is_other = std::exchange(method_, settings.method) != settings.method;
  if (is_other || ends_tracks(settings, tick)) restart();
  predict(tick);
  frames_ += search.is_any;
  TrackedFrame result;
  for (const int own : tracks_of(boxes, settings, time, stop)) {
    result.boxes.emplace_back();
    if (own == -1) continue;
    Track &track = tracks_[static_cast<std::size_t>(own)];
    track.is_shown = track.box() && is_confirmed(track, settings);
    if (track.is_shown && track.id == 0) track.id = next_id();
    if (track.is_shown) result.boxes.back() = identity_of(track, tick);
  }
  std::erase_if(tracks_, [&](Track &track) {
    if (track.frames_without_box == 0) return false;
    const bool is_sought = search.includes(track.type), is_too_old = track.is_too_old(settings, tick);
    if (is_sought) track.miss(settings.method);
    if (track.is_shown && !is_too_old) result.predictions.push_back(identity_of(track, tick));
    // If nobody looked for its type, a track that is too old is kept, but not beyond kMostSteps frames without a box.
    return is_too_old && (is_sought || track.frames_without_box > kMostSteps);
  });
  return result;
}

}  // namespace cudavision
