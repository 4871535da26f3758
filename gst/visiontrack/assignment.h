// SPDX-License-Identifier: LGPL-2.1-or-later
// The assignment problem: pairs of rows and columns with the least sum of costs.
#pragma once

#include <vector>

#include "cuda/common/stop.h"

namespace cudavision {

// A matrix in row-major order.
struct Costs {
  int rows = 0, columns = 0;
  std::vector<double> values;

  double &at(int row, int column) { return values[static_cast<std::size_t>(row) * columns + column]; }
  double at(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
};

// Returns the column of each row, or -1. If there are more rows than columns, each column has a row, otherwise each row
// has a column. Of equal costs, a column that is still free is preferred, then the first one. The method is that of
// H. W. Kuhn, "The Hungarian Method for the Assignment Problem", Naval Research Logistics Quarterly, 1955, by shortest
// augmenting paths: n^3 steps at most, and about n^2 if most rows have one column that suits them. If the flag asks to
// stop, the result is useless.
std::vector<int> least_costs(const Costs &costs, const StopFlag &stop);

}  // namespace cudavision
