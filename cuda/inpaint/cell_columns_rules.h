// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers the cells into which the fill kernel divides a picture. Cell i belongs to block i modulo the number of
// blocks.
#pragma once

#include "cuda/common/image.h"

namespace cudavision::inpaint {

constexpr int kMostMoreColumns = 16;

// Cells may be numbered as if the picture had more than its `columns` columns of cells. Returns the smallest number of
// columns, at most columns + kMostMoreColumns, with which all cells that meet a window of 2 * reach + 1 pixels a side
// belong to different blocks. Returns `columns` if there is no such number, or if reach is 0, which stands for the
// whole picture: then some blocks have more cells of a window than others. cell: the size of a cell in pixels.
constexpr int columns_that_spread(int columns, Size cell, int reach, int blocks) {
  if (reach == 0 || reach / cell.width >= blocks)
    return columns;  // so large a window has more cells than there are blocks
  const int across = divide_up(2 * reach, cell.width) + 1, down = divide_up(2 * reach, cell.height) + 1;
  if (across > blocks / down) return columns;
  for (int wide = columns; wide <= columns + kMostMoreColumns; ++wide) {
    bool spreads = true;
    for (int row = 1; row < down && spreads; ++row) {
      const int shift = wide * row % blocks;
      spreads = shift >= across && blocks - shift >= across;
    }
    if (spreads) return wide;
  }
  return columns;
}

}  // namespace cudavision::inpaint
