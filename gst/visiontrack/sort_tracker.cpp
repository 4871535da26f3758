// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/sort_tracker.h"

#include <algorithm>
#include <cmath>

#include "gst/visiontrack/assignment.h"

namespace cudavision {
namespace {

constexpr ConstantVelocity::Noise kCentre{10, 10000, 1, 0.01, 1}, kArea{10, 10000, 1, 0.0001, 10},
    kRatio{10, 0, 1, 0, 10};  // the ratio has no velocity: it begins at 0 and has no variance

// The length that two intervals have in common; at most 0 if they do not overlap.
double overlap(double a, double a_length, double b, double b_length) {
  return std::min(a + a_length, b + b_length) - std::max(a, b);
}

double intersection_over_union(const TypedBox &a, const TypedBox &b) {
  if (a.type != b.type) return 0;
  const double width = overlap(a.x, a.width, b.x, b.width);
  if (width <= 0) return 0;  // most pairs end here
  const double height = overlap(a.y, a.height, b.y, b.height);
  if (height <= 0) return 0;
  const double common = width * height;
  return common / (a.width * a.height + b.width * b.height - common);
}

// Returns the column of each row, or -1, if the choice is clear: there are overlaps above the threshold, and no row or
// column has more than one. This is also better than the least costs, where pairs that overlap too little, and are
// rejected later, could outweigh one that overlaps enough. negative: the overlaps, negated.
std::optional<std::vector<int>> only_pairs(const Costs &negative, double threshold) {
  std::vector<int> columns(static_cast<std::size_t>(negative.rows), -1);
  std::vector<bool> taken(static_cast<std::size_t>(negative.columns));
  bool any = false;
  for (int row = 0; row < negative.rows; ++row)
    for (int column = 0; column < negative.columns; ++column) {
      if (-negative.at(row, column) <= threshold) continue;
      int &own = columns[static_cast<std::size_t>(row)];
      if (own != -1 || taken[static_cast<std::size_t>(column)]) return {};
      own = column, taken[static_cast<std::size_t>(column)] = any = true;
    }
  return any ? std::optional(columns) : std::nullopt;
}

}  // namespace

// --- the filter ---

void ConstantVelocity::scale(double factor) {
  velocity_ *= factor;
  covariance_ *= factor;
  velocity_variance_ *= factor * factor;
}

void ConstantVelocity::predict() {
  value_ += velocity_;
  variance_ += 2 * covariance_ + velocity_variance_ + noise_.added;
  covariance_ += velocity_variance_;
  velocity_variance_ += noise_.added_velocity;
}

void ConstantVelocity::measure(double value) {
  const double total = variance_ + noise_.measured, gain = variance_ / total,
               velocity_gain = covariance_ / total, difference = value - value_;
  value_ += gain * difference;
  velocity_ += velocity_gain * difference;
  velocity_variance_ -= velocity_gain * covariance_;
  covariance_ *= 1 - gain;
  variance_ *= 1 - gain;
}

// --- a track ---

Track::Track(const TypedBox &box, guint64 id, guint64 first_seen)
    : id_(id),
      first_seen_(first_seen),
      last_seen_(first_seen),
      type_(box.type),
      tag_(box.tag),
      u_(kCentre, box.x + box.width / 2),
      v_(kCentre, box.y + box.height / 2),
      area_(kArea, box.width * box.height),
      ratio_(kRatio, box.width / box.height) {}

std::optional<TypedBox> Track::box() const {
  const double width = std::sqrt(area_.value() * ratio_.value()), height = area_.value() / width;
  if (!std::isfinite(width) || !std::isfinite(height) || !std::isfinite(u_.value()) ||
      !std::isfinite(v_.value()))
    return {};
  return TypedBox{type_, u_.value() - width / 2, v_.value() - height / 2, width, height, tag_};
}

void Track::predict(const Tick &tick) {
  const auto numbers = {&u_, &v_, &area_, &ratio_};
  if (tick.scale != 1)
    for (ConstantVelocity *number : numbers) number->scale(tick.scale);
  for (int i = 0; i < std::min(tick.frames, kMostSteps); ++i) {
    if (area_.value() + area_.velocity() <= 0) area_.stop();
    for (ConstantVelocity *number : numbers) number->predict();
  }
  frames_ += tick.frames;
  frames_without_box_ += tick.frames;
  time_without_box_ += tick.step;
}

void Track::take(const TypedBox &box, guint64 time) {
  frames_without_box_ = 0, time_without_box_ = 0;
  last_seen_ = time, tag_ = box.tag;
  ++hits_in_succession_;
  u_.measure(box.x + box.width / 2);
  v_.measure(box.y + box.height / 2);
  area_.measure(box.width * box.height);
  ratio_.measure(box.width / box.height);
}

bool Track::is_too_old(const TrackerSettings &settings) const {
  return settings.max_age_time != 0 ? time_without_box_ > settings.max_age_time
                                    : frames_without_box_ > settings.max_age;
}

// --- all tracks ---

namespace {

Identity identity_of(const Track &track, const Tick &tick) {
  const double rate = static_cast<double>(GST_SECOND) / static_cast<double>(tick.duration);
  return {track.id(),   track.first_seen(),        track.last_seen(),        track.frames(),
          *track.box(), track.velocity_x() * rate, track.velocity_y() * rate};
}

}  // namespace

std::vector<int> SortTracker::assign(const std::vector<TypedBox> &boxes, double threshold,
                                     const StopFlag &stop, std::vector<int> *new_boxes) const {
  const int rows = static_cast<int>(boxes.size()), columns = static_cast<int>(tracks_.size());
  Costs negative{rows, columns, std::vector<double>(boxes.size() * tracks_.size())};
  std::vector<TypedBox> predicted;
  for (const Track &track : tracks_) predicted.push_back(*track.box());
  double *pair = negative.values.data();
  for (const TypedBox &box : boxes)
    for (const TypedBox &prediction : predicted) *pair++ = -intersection_over_union(box, prediction);
  std::vector<int> track = only_pairs(negative, threshold).value_or(std::vector<int>());
  if (track.empty()) track = least_costs(negative, stop);
  for (int row = 0; row < rows; ++row)
    if (track[static_cast<std::size_t>(row)] == -1) new_boxes->push_back(row);
  for (int row = 0; row < rows; ++row) {
    int &own = track[static_cast<std::size_t>(row)];
    const double overlap = own == -1 ? 0 : -negative.at(row, own);
    if (own != -1 && (overlap < threshold || overlap == 0)) own = -1, new_boxes->push_back(row);
  }
  return track;
}

std::vector<int> SortTracker::tracks_of(const std::vector<TypedBox> &boxes, double threshold, guint64 time,
                                        const StopFlag &stop) {
  std::vector<int> new_boxes, own = assign(boxes, threshold, stop, &new_boxes);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (own[i] != -1) tracks_[static_cast<std::size_t>(own[i])].take(boxes[i], time);
  for (const int i : new_boxes) {
    if (tracks_.size() >= kMostTracks) break;
    own[static_cast<std::size_t>(i)] = static_cast<int>(tracks_.size());
    tracks_.emplace_back(boxes[static_cast<std::size_t>(i)], trackers_before_ * kIdsOfTracker + ++last_id_,
                         time);
  }
  return own;
}

void SortTracker::follow_trackers(guint64 count) {
  if (count <= trackers_before_ || count > kMostTrackers) return;
  trackers_before_ = count;
  restart();
}

// Tracks end if the timestamp went back, or at an unusually long step that alone exceeds the maximum age.
bool SortTracker::ends_tracks(const TrackerSettings &settings, const Tick &tick) {
  const bool is_too_long =
      settings.max_age_time != 0 ? tick.step > settings.max_age_time : tick.frames - 1 > settings.max_age;
  return tick.step == 0 || (tick.is_long && is_too_long);
}

void SortTracker::predict(const Tick &tick) {
  for (Track &track : tracks_) track.predict(tick);
  std::erase_if(tracks_, [](const Track &track) { return !track.box(); });
}

TrackedFrame SortTracker::next(const std::vector<TypedBox> &boxes, const TrackerSettings &settings,
                               const Tick &tick, guint64 time, const Search &search, const StopFlag &stop) {
  if (ends_tracks(settings, tick)) restart();
  predict(tick);
  frames_ += search.is_any;
  TrackedFrame result;
  for (const int own : tracks_of(boxes, settings.iou_threshold, time, stop)) {
    result.boxes.emplace_back();
    if (own == -1) continue;
    Track &track = tracks_[static_cast<std::size_t>(own)];
    track.show(track.box() &&
               (track.hits_in_succession() >= settings.min_hits || frames_ <= settings.min_hits));
    if (track.is_shown()) result.boxes.back() = identity_of(track, tick);
  }
  std::erase_if(tracks_, [&](Track &track) {
    if (track.frames_without_box() == 0) return false;
    const bool is_sought = search.includes(track.type()), is_too_old = track.is_too_old(settings);
    if (is_sought) track.miss();
    if (track.is_shown() && !is_too_old) result.predictions.push_back(identity_of(track, tick));
    // If nobody looked for its type, a track that is too old is kept, but not beyond kMostSteps frames without a box.
    return is_too_old && (is_sought || track.frames_without_box() > kMostSteps);
  });
  return result;
}

}  // namespace cudavision
