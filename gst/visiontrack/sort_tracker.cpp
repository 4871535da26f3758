// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/sort_tracker.h"

#include <algorithm>
#include <cmath>

#include "gst/visiontrack/assignment.h"

namespace cudavision {
namespace {

// The variances of a first estimate (those of velocities: 10000), of a measurement, and the noise of a step.
constexpr double kFirst = 10, kFirstVelocity = 10000, kMeasuredCentre = 1, kMeasuredShape = 10;
constexpr ConstantVelocity::Noise kCentreNoise{1, 0, 0.01}, kAreaNoise{1, 0, 0.0001}, kRatioNoise{1, 0, 0};

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

SortFilter::SortFilter(const TypedBox &box)
    : u_(box.x + box.width / 2, kFirst, kFirstVelocity),
      v_(box.y + box.height / 2, kFirst, kFirstVelocity),
      area_(box.width * box.height, kFirst, kFirstVelocity),
      ratio_(box.width / box.height, kFirst, 0) {}

std::optional<TypedBox> SortFilter::box() const {
  const double width = std::sqrt(area_.value() * ratio_.value()), height = area_.value() / width;
  if (!std::isfinite(width) || !std::isfinite(height) || !std::isfinite(u_.value()) ||
      !std::isfinite(v_.value()))
    return {};
  return TypedBox{
      .x = u_.value() - width / 2, .y = v_.value() - height / 2, .width = width, .height = height};
}

Velocity SortFilter::velocity(const Tick &tick) const {
  const double frames_a_second = static_cast<double>(GST_SECOND) / static_cast<double>(tick.duration);
  return {u_.velocity() * frames_a_second, v_.velocity() * frames_a_second};
}

void SortFilter::predict(const Tick &tick) {
  if (tick.scale != 1)
    for (ConstantVelocity *number : {&u_, &v_, &area_, &ratio_}) number->scale(tick.scale);
  for (int i = 0; i < std::min(tick.frames, kMostSteps); ++i) {
    if (area_.value() + area_.velocity() <= 0) area_.stop();
    u_.predict(1, kCentreNoise);
    v_.predict(1, kCentreNoise);
    area_.predict(1, kAreaNoise);
    ratio_.predict(1, kRatioNoise);
  }
}

void SortFilter::take(const TypedBox &box) {
  u_.measure(box.x + box.width / 2, kMeasuredCentre);
  v_.measure(box.y + box.height / 2, kMeasuredCentre);
  area_.measure(box.width * box.height, kMeasuredShape);
  ratio_.measure(box.width / box.height, kMeasuredShape);
}

Pairing pair_by_sort(const std::vector<TypedBox> &boxes, const std::vector<TypedBox> &predictions,
                     double threshold, const StopFlag &stop) {
  const int rows = static_cast<int>(boxes.size()), columns = static_cast<int>(predictions.size());
  Costs negative{rows, columns, std::vector<double>(boxes.size() * predictions.size())};
  double *pair = negative.values.data();
  for (const TypedBox &box : boxes)
    for (const TypedBox &prediction : predictions) *pair++ = -overlap(box, prediction);
  Pairing result{
      only_pairs(negative, threshold).value_or(std::vector<int>()), {}, std::vector<double>(boxes.size(), 1)};
  if (result.tracks.empty()) result.tracks = least_costs(negative, stop);
  for (int row = 0; row < rows; ++row)
    if (result.tracks[static_cast<std::size_t>(row)] == -1) result.new_boxes.push_back(row);
  for (int row = 0; row < rows; ++row) {
    int &own = result.tracks[static_cast<std::size_t>(row)];
    const double common = own == -1 ? 0 : -negative.at(row, own);
    if (own != -1 && (common < threshold || common == 0)) own = -1, result.new_boxes.push_back(row);
  }
  return result;
}

}  // namespace cudavision
