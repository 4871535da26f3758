// SPDX-License-Identifier: LGPL-2.1-or-later
// The statistics of a frame and of the one before it by their definition, in plain loops.
#pragma once

#include <cstdlib>
#include <vector>

#include "cuda/camerastats/camerastats.h"
#include "tests/support/picture.h"

namespace cudavision::test {

struct CameraResult {
  CameraNumbers numbers{};
  Picture cells;
};

inline int laplacian_definition(const Picture &picture, int x, int y) {
  const auto at = [&](int column, int row) {
    return int{picture.at(mirror_index(column, picture.width()), mirror_index(row, picture.height()))};
  };
  return at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y);
}

inline Picture cells_definition(const Picture &now) {
  Picture cells(camera_cells(now.size()));
  for (int y = 0; y < cells.height(); ++y)
    for (int x = 0; x < cells.width(); ++x) {
      int sum = 0, count = 0;
      for (int row = 8 * y; row < 8 * y + 8 && row < now.height(); ++row)
        for (int column = 8 * x; column < 8 * x + 8 && column < now.width(); ++column)
          sum += now.at(column, row), ++count;
      cells.at(x, y) = static_cast<std::uint8_t>((2 * sum + count) / (2 * count));
    }
  return cells;
}

inline CameraResult camerastats_definition(const Picture &now, const Picture &before, int noise) {
  CameraResult result;
  CameraSums &sums = result.numbers.sums;
  for (int y = 0; y < now.height(); ++y)
    for (int x = 0; x < now.width(); ++x) {
      const std::int64_t own = laplacian_definition(now, x, y), last = laplacian_definition(before, x, y);
      const int difference = std::abs(now.at(x, y) - before.at(x, y));
      sums.laplacian += own;
      sums.laplacian_square += own * own;
      sums.laplacian_common += own * last;
      if (difference > noise)
        ++sums.changed;
      else
        sums.difference += difference;
      ++result.numbers.histogram[now.at(x, y)];
    }
  result.cells = cells_definition(now);
  return result;
}

}  // namespace cudavision::test
