// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visiontrack/assignment.h"

#include <algorithm>
#include <limits>

namespace cudavision {
namespace {

Costs transposed(const Costs &costs) {
  Costs result{costs.columns, costs.rows, std::vector<double>(costs.values.size())};
  for (int row = 0; row < costs.rows; ++row)
    for (int column = 0; column < costs.columns; ++column) result.at(column, row) = costs.at(row, column);
  return result;
}

// For matrices with at least as many columns as rows. Rows and columns have prices (dual variables): the sum of two
// never exceeds the cost of their pair, and equals it for assigned pairs. Shortest paths add one row after the other.
class Assignment {
 public:
  Assignment(const Costs &costs, const StopFlag &stop)
      : costs_(costs),
        stop_(stop),
        row_price_(size(costs.rows)),
        column_price_(size(costs.columns)),
        row_of_(size(costs.columns), kNone),
        distance_(size(costs.columns)),
        before_(size(costs.columns)),
        reached_(size(costs.columns)) {}

  std::vector<int> solve() {
    for (int row = 0; row < costs_.rows && !stop_.requested(); ++row) add(row);
    std::vector<int> columns(size(costs_.rows), kNone);
    for (int column = 0; column < costs_.columns; ++column)
      if (row_of(column) != kNone) columns[size(row_of(column))] = column;
    return columns;
  }

 private:
  static constexpr int kNone = -1;
  static std::size_t size(int count) { return static_cast<std::size_t>(count); }

  int &row_of(int column) { return row_of_[size(column)]; }

  // Adds a row: finds the shortest path from it to a free column by Dijkstra's algorithm, and reassigns the rows on it.
  void add(int start) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::infinity());
    std::fill(reached_.begin(), reached_.end(), char{0});
    int row = start, last = kNone, free = kNone;
    double length = 0;
    while (free == kNone) {
      const int nearest = step(row, last, length);
      reached_[size(nearest)] = 1;
      length = distance_[size(nearest)];
      if (row_of(nearest) == kNone) free = nearest;
      row = row_of(nearest), last = nearest;
    }
    change_prices(start, length);
    for (int column = free; column != kNone; column = before_[size(column)])
      row_of(column) = before_[size(column)] == kNone ? start : row_of(before_[size(column)]);
  }

  // Updates the distances by the edges from a row, which was reached through the column `last`. Returns the nearest
  // column that is not reached; among equally near ones a free one, which ends the path.
  int step(int row, int last, double length) {
    const double *costs = costs_.values.data() + size(row) * size(costs_.columns);
    const double spent = length - row_price_[size(row)];
    int nearest = kNone;
    for (int column = 0; column < costs_.columns; ++column) {
      const std::size_t c = size(column);
      if (reached_[c] != 0) continue;
      const double through = spent + costs[c] - column_price_[c];
      if (through < distance_[c]) distance_[c] = through, before_[c] = last;
      if (nearest == kNone || distance_[c] < distance_[size(nearest)] ||
          (distance_[c] == distance_[size(nearest)] && row_of_[c] == kNone && row_of(nearest) != kNone))
        nearest = column;
    }
    return nearest;
  }

  void change_prices(int start, double length) {
    row_price_[size(start)] += length;
    for (int column = 0; column < costs_.columns; ++column) {
      const std::size_t c = size(column);
      if (reached_[c] == 0) continue;
      if (row_of(column) != kNone) row_price_[size(row_of(column))] += length - distance_[c];
      column_price_[c] -= length - distance_[c];
    }
  }

  const Costs &costs_;
  const StopFlag &stop_;
  std::vector<double> row_price_, column_price_;
  std::vector<int> row_of_;
  // While a row is added: how far each column is, the column before it on the path (kNone if the path comes directly
  // from the row), and which columns are reached.
  std::vector<double> distance_;
  std::vector<int> before_;
  std::vector<char> reached_;
};

}  // namespace

std::vector<int> least_costs(const Costs &costs, const StopFlag &stop) {
  if (costs.rows <= costs.columns) return Assignment(costs, stop).solve();
  const Costs turned = transposed(costs);
  const std::vector<int> rows = Assignment(turned, stop).solve();
  std::vector<int> columns(static_cast<std::size_t>(costs.rows), -1);
  for (int column = 0; column < costs.columns; ++column)
    if (const int row = rows[static_cast<std::size_t>(column)]; row != -1)
      columns[static_cast<std::size_t>(row)] = column;
  return columns;
}

}  // namespace cudavision
