// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated <cuda_runtime.h>: compiles .cu files with an ordinary C++ compiler and runs them on the CPU.
#pragma once

// What CUDA's own header brings into every .cu file, global abs(float) and friends included.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUDAVISION_EMULATED_CUDA 1

#include "emulated/atomics.h"
#include "emulated/errors.h"
#include "emulated/host_api.h"
#include "emulated/intrinsics.h"
#include "emulated/launch.h"
#include "emulated/min_max.h"
#include "emulated/synchronisation.h"
#include "emulated/types.h"
