// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/assignment.h"

#include <limits>

namespace cudavision {
namespace {

Costs transposed(const Costs &costs) {
  Costs result{costs.columns, costs.rows, std::vector<double>(costs.values.size())};
  for (int row = 0; row < costs.rows; ++row)
    for (int column = 0; column < costs.columns; ++column) result.at(column, row) = costs.at(row, column);
  return result;
}

// For matrices that are not higher than wide. Rows and columns have prices whose sum never exceeds the cost of a pair and
// equals that of each pair in the assignment. One row after the other is added along a shortest path.
class Assignment {
 public:
  explicit Assignment(const Costs &costs)
      : costs_(costs),
        row_price_(size(costs.rows)),
        column_price_(size(costs.columns)),
        row_of_(size(costs.columns), kNone) {}

  std::vector<int> solve() {
    for (int row = 0; row < costs_.rows; ++row) add(row);
    std::vector<int> columns(size(costs_.rows), kNone);
    for (int column = 0; column < costs_.columns; ++column)
      if (row_of(column) != kNone) columns[size(row_of(column))] = column;
    return columns;
  }

 private:
  static constexpr int kNone = -1;
  static std::size_t size(int count) { return static_cast<std::size_t>(count); }

  int &row_of(int column) { return row_of_[size(column)]; }

  // Dijkstra's algorithm over the columns, from `start` to the nearest free one.
  void add(int start) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<double> distance(size(costs_.columns), kFar);
    std::vector<int> before(size(costs_.columns),
                            kNone);  // the column before on the path; none: `start` itself
    std::vector<bool> reached(size(costs_.columns));
    int row = start, last = kNone, free = kNone;
    double length = 0;
    while (free == kNone) {
      int nearest = kNone;
      for (int column = 0; column < costs_.columns; ++column) {
        const std::size_t c = size(column);
        if (reached[c]) continue;
        const double through = length + costs_.at(row, column) - row_price_[size(row)] - column_price_[c];
        if (through < distance[c]) distance[c] = through, before[c] = last;
        // Of equally near columns a free one ends the path.
        if (nearest == kNone || distance[c] < distance[size(nearest)] ||
            (distance[c] == distance[size(nearest)] && row_of(column) == kNone && row_of(nearest) != kNone))
          nearest = column;
      }
      reached[size(nearest)] = true;
      length = distance[size(nearest)];
      if (row_of(nearest) == kNone) free = nearest;
      row = row_of(nearest), last = nearest;
    }
    change_prices(start, length, distance, reached);
    for (int column = free; column != kNone; column = before[size(column)])
      row_of(column) = before[size(column)] == kNone ? start : row_of(before[size(column)]);
  }

  void change_prices(int start, double length, const std::vector<double> &distance,
                     const std::vector<bool> &reached) {
    row_price_[size(start)] += length;
    for (int column = 0; column < costs_.columns; ++column) {
      const std::size_t c = size(column);
      if (!reached[c]) continue;
      if (row_of(column) != kNone) row_price_[size(row_of(column))] += length - distance[c];
      column_price_[c] -= length - distance[c];
    }
  }

  const Costs &costs_;
  std::vector<double> row_price_, column_price_;
  std::vector<int> row_of_;
};

}  // namespace

std::vector<int> least_costs(const Costs &costs) {
  if (costs.rows <= costs.columns) return Assignment(costs).solve();
  const Costs turned = transposed(costs);
  const std::vector<int> rows = Assignment(turned).solve();
  std::vector<int> columns(static_cast<std::size_t>(costs.rows), -1);
  for (int column = 0; column < costs.columns; ++column)
    columns[static_cast<std::size_t>(rows[static_cast<std::size_t>(column)])] = column;
  return columns;
}

}  // namespace cudavision
