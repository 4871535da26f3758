// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether the current device can run the kernels of this build.
#pragma once

#include "cuda/common/status.h"

namespace cudavision {

// Fails with no_device if the build contains neither machine code nor PTX for the current device.
Status probe_kernels();

}  // namespace cudavision
