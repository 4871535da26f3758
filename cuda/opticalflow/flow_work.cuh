// SPDX-License-Identifier: LGPL-2.1-or-later
// The inputs and outputs of the kernels that track the pixels of one level.
#pragma once

#include <cuda_runtime.h>

#include "cuda/opticalflow/flow_pyramid.cuh"

namespace cudavision::opticalflow {

// The sum of (Ix, Iy) I over a window.
struct FromSums {
  int x, y;
};

// The inputs and outputs of one level; LevelWork (flow_simd.h) is the same on the CPU.
struct DeviceWork {
  ImageView<const std::uint8_t> from, to;  // I and J
  ImageView<const ScharrGradient> gradient;
  ImageView<const GradientBytes> bytes;
  TrackingRules rules;
  Field coarse, fine;             // coarse: the flow of the next coarser level; fine: output
  ImageView<std::uint8_t> valid;  // output, of the size of fine; may be empty
  Places places;                  // in pixels of the level; vectors elsewhere need not be computed
};

__device__ inline void store(const DeviceWork &work, int column, int row, const Tracker &found) {
  work.fine.vectors.row(row)[column] = found.d;
  if (work.valid.data != nullptr) work.valid.row(row)[column] = found.valid ? 1 : 0;
}

}  // namespace cudavision::opticalflow
