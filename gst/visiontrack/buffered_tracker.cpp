// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/buffered_tracker.h"

#include <algorithm>
#include <cmath>

#include "gst/visiontrack/assignment.h"

namespace cudavision {
namespace {

// In longer sides of the box: how far off a measured centre and a measured side are, and how fast somebody is who is
// seen for the first time (standard deviations).
constexpr double kCentreError = 0.06, kSideError = 0.1, kFirstVelocity = 0.5;
// How much the variances of the velocity and of the sides grow in a second.
constexpr double kVelocityDrift = 0.1, kSideDrift = 0.00225;
// Each side of a box is enlarged by this share at both ends. Pairs that overlap less than the least are none.
constexpr double kBuffer = 0.3, kLeastBuffered = 0.1, kLeastWeak = 0.2;
// A box is weak if more than this share of the last boxes of its type has a higher score.
constexpr double kStrongShare = 0.8;
constexpr double kWeakHit = 0.75;  // most false tracks have weak boxes alone: they need one more
constexpr std::size_t kScores = 256, kMostTypes = 256;

double square(double value) { return value * value; }

TypedBox enlarged(TypedBox box) {
  box.x -= kBuffer * box.width, box.y -= kBuffer * box.height;
  box.width *= 1 + 2 * kBuffer, box.height *= 1 + 2 * kBuffer;
  return box;
}

std::vector<TypedBox> enlarged(std::vector<TypedBox> boxes) {
  for (TypedBox &box : boxes) box = enlarged(box);
  return boxes;
}

// Gives tracks to the boxes that may have one, so that the sum of the overlaps is largest. *own: the track of each box,
// or -1. *taken: whether each track has a box.
void pair_round(const std::vector<TypedBox> &boxes, const std::vector<bool> &may_have,
                const std::vector<TypedBox> &predictions, double least, const StopFlag &stop,
                std::vector<int> *own, std::vector<bool> *taken) {
  Costs negative{static_cast<int>(boxes.size()), static_cast<int>(predictions.size()),
                 std::vector<double>(boxes.size() * predictions.size())};
  double *pair = negative.values.data();
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t k = 0; k < predictions.size(); ++k, ++pair) {
      if (!may_have[i] || (*taken)[k]) continue;
      const double common = overlap(boxes[i], predictions[k]);
      if (common >= least) *pair = -common;
    }
  const std::vector<int> columns = least_costs(negative, stop);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (columns[i] == -1 || negative.at(static_cast<int>(i), columns[i]) == 0) continue;
    (*own)[i] = columns[i], (*taken)[static_cast<std::size_t>(columns[i])] = true;
  }
}

}  // namespace

// --- the filter ---

BufferedFilter::BufferedFilter(const TypedBox &box)
    : x_(box.x + box.width / 2, square(kCentreError * std::max(box.width, box.height)),
         square(kFirstVelocity * std::max(box.width, box.height))),
      y_(box.y + box.height / 2, square(kCentreError * std::max(box.width, box.height)),
         square(kFirstVelocity * std::max(box.width, box.height))),
      width_(box.width, square(kSideError * std::max(box.width, box.height)), 0),
      height_(box.height, square(kSideError * std::max(box.width, box.height)), 0) {}

std::optional<TypedBox> BufferedFilter::box() const {
  const double width = width_.value(), height = height_.value();
  return TypedBox{
      .x = x_.value() - width / 2, .y = y_.value() - height / 2, .width = width, .height = height};
}

// The acceleration is white noise, so that two short steps are the same as a long one: missing frames change nothing.
void BufferedFilter::predict(const Tick &tick) {
  const double time = static_cast<double>(tick.step) / static_cast<double>(GST_SECOND),
               unit = square(std::max(width_.value(), height_.value())), drift = kVelocityDrift * unit;
  const ConstantVelocity::Noise centre{drift * time * time * time / 3, drift * time * time / 2, drift * time},
      side{kSideDrift * unit * time, 0, 0};
  x_.predict(time, centre), y_.predict(time, centre);
  width_.predict(time, side), height_.predict(time, side);
}

void BufferedFilter::take(const TypedBox &box) {
  const double unit = std::max(width_.value(), height_.value()), centre = square(kCentreError * unit),
               side = square(kSideError * unit);
  x_.measure(box.x + box.width / 2, centre);
  y_.measure(box.y + box.height / 2, centre);
  width_.measure(box.width, side);
  height_.measure(box.height, side);
}

// --- pairs ---

void BufferedPairing::learn(const std::vector<TypedBox> &boxes) {
  for (const TypedBox &box : boxes) {
    if (std::isnan(box.score)) continue;
    if (scores_.size() >= kMostTypes && !scores_.contains(box.type)) scores_.clear();
    std::deque<double> &own = scores_[box.type];
    own.push_back(box.score);
    if (own.size() > kScores) own.pop_front();
  }
}

// A box without a score is not weak.
bool BufferedPairing::is_weak(const TypedBox &box) const {
  const auto own = scores_.find(box.type);
  if (std::isnan(box.score) || own == scores_.end()) return false;
  const auto higher =
      std::count_if(own->second.begin(), own->second.end(), [&](double score) { return score > box.score; });
  return static_cast<double>(higher) > kStrongShare * static_cast<double>(own->second.size());
}

Pairing BufferedPairing::pair(const std::vector<TypedBox> &boxes, const std::vector<TypedBox> &predictions,
                              const StopFlag &stop) {
  learn(boxes);
  std::vector<bool> weak, strong, taken(predictions.size());
  for (const TypedBox &box : boxes) weak.push_back(is_weak(box)), strong.push_back(!weak.back());
  Pairing result{std::vector<int>(boxes.size(), -1), {}, {}};
  for (const bool is_weak : weak) result.hits.push_back(is_weak ? kWeakHit : 1);
  const std::vector<TypedBox> large = enlarged(boxes), large_predictions = enlarged(predictions);
  pair_round(large, strong, large_predictions, kLeastBuffered, stop, &result.tracks, &taken);
  pair_round(boxes, weak, predictions, kLeastWeak, stop, &result.tracks, &taken);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto is_near = [&](const TypedBox &prediction) {
      return overlap(large[i], prediction) >= kLeastBuffered;
    };
    if (result.tracks[i] == -1 &&
        (strong[i] || std::none_of(large_predictions.begin(), large_predictions.end(), is_near)))
      result.new_boxes.push_back(static_cast<int>(i));
  }
  return result;
}

}  // namespace cudavision
