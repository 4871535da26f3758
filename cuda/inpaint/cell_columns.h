// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers of the cells into which the fill kernel divides a picture. Cell i belongs to block i modulo the number of
// blocks.
#pragma once

#include "cuda/common/image.h"

namespace cudavision::inpaint {

// As how wide a picture with `columns` columns of cells is numbered: with this width, all cells that meet a window of 2
// * reach + 1 pixels a side belong to different blocks. If no width that is at most kMostMoreColumns larger does so, or
// if reach is 0, which stands for the whole picture, it is `columns`: then some blocks have more cells of a window than
// others. cell: in pixels.
constexpr int kMostMoreColumns = 16;
constexpr int columns_that_spread(int columns, Size cell, int reach, int blocks) {
  const int across = divide_up(2 * reach, cell.width) + 1, down = divide_up(2 * reach, cell.height) + 1;
  if (reach == 0 || across > blocks / down) return columns;
  for (int width = columns; width <= columns + kMostMoreColumns; ++width) {
    bool spreads = true;
    for (int row = 1; row < down && spreads; ++row) {
      const int shift = width * row % blocks;
      spreads = shift >= across && blocks - shift >= across;
    }
    if (spreads) return width;
  }
  return columns;
}

}  // namespace cudavision::inpaint
