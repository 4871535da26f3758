// SPDX-License-Identifier: LGPL-2.1-or-later
// Marks functions that both backends call, so that a rule is written once.
#pragma once

#ifdef __CUDACC__
#define CUDAVISION_HOST_DEVICE __host__ __device__
#else
#define CUDAVISION_HOST_DEVICE
#endif
