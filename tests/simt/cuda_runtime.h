// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated <cuda_runtime.h>: compiles .cu files with an ordinary C++ compiler and runs them on the CPU.
#pragma once

// Declared by CUDA's own header in every .cu file, including the global abs(float) and similar functions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUDAVISION_EMULATED_CUDA 1

#include "tests/simt/emulated/atomics.h"
#include "tests/simt/emulated/errors.h"
#include "tests/simt/emulated/host_api.h"
#include "tests/simt/emulated/intrinsics.h"
#include "tests/simt/emulated/launch.h"
#include "tests/simt/emulated/min_max.h"
#include "tests/simt/emulated/synchronisation.h"
#include "tests/simt/emulated/types.h"
