// SPDX-License-Identifier: LGPL-2.1-or-later
// Asks whether the current device can run the kernels of this build.
#pragma once

#include "cuda/common/status.h"

namespace cudavision {

// Fails with no_device when the build holds neither native code nor PTX that the current device can use.
Status probe_kernels();

}  // namespace cudavision
