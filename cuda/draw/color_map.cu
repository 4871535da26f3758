// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of painting maps: one thread per cell of pixels that share a chroma sample.
#include <cuda_runtime.h>

#include "cuda/common/chroma.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/draw/color_map_rules.h"
#include "cuda/draw/draw_backends.h"

namespace cudavision::draw {
namespace {

// (x0, y0): the first pixel of the first cell.
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    paint_cells_kernel(Frame frame, MapElements elements, MapPlace place,
                       const __grid_constant__ ColorMap map, Span span, int x0, int y0) {
  const int x =
      x0 + ((static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x)) << cell_shift_x(frame));
  const int y =
      y0 + ((static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y)) << cell_shift_y(frame));
  if (x < span.x1 && y < span.y1) paint_cell(frame, elements, place, map, span, x, y);
}

}  // namespace

Status paint_color_map_cuda(const Execution &execution, const Frame &frame, const MapElements &elements,
                            const MapPlace &place, const ColorMap &map) {
  const Span span = painted_span(elements, place);
  const int shift_x = cell_shift_x(frame), shift_y = cell_shift_y(frame);
  const int x0 = span.x0 >> shift_x << shift_x, y0 = span.y0 >> shift_y << shift_y;
  const dim3 grid = grid_2d(span.x1 - x0, span.y1 - y0, kBlockX << shift_x, kBlockY << shift_y);
  return CUDAVISION_LAUNCH(paint_cells_kernel, grid, block_2d(), execution.stream, frame, elements, place,
                           map, span, x0, y0);
}

}  // namespace cudavision::draw
