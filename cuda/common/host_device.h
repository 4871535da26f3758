// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDAVISION_HOST_DEVICE marks functions that both backends compile.
#pragma once

#ifdef __CUDACC__
#define CUDAVISION_HOST_DEVICE __host__ __device__
#else
#define CUDAVISION_HOST_DEVICE
#endif
