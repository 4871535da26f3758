// SPDX-License-Identifier: LGPL-2.1-or-later
// The gate of the current device.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/launch_gate.h"

namespace cudavision {

inline LaunchGate &current_gate() {
  int device = 0;
  (void)cudaGetDevice(&device);
  return LaunchGate::of_device(device);
}

}  // namespace cudavision
