// SPDX-License-Identifier: LGPL-2.1-or-later
// Cells of subsampled chroma: the pixels that share one chroma sample.
#pragma once

#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"

namespace cudavision {

// A cell of the frame is 2^cell_shift_x x 2^cell_shift_y pixels; both shifts are 0 where the frame has no
// subsampled chroma (gray, RGB, YUV 4:4:4).
CUDAVISION_HOST_DEVICE constexpr int cell_shift_x(const Frame &f) {
  return f.model == ColorModel::yuv ? f.component[1].shift_x : 0;
}
CUDAVISION_HOST_DEVICE constexpr int cell_shift_y(const Frame &f) {
  return f.model == ColorModel::yuv ? f.component[1].shift_y : 0;
}

}  // namespace cudavision
