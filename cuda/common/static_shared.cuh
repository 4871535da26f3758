// SPDX-License-Identifier: LGPL-2.1-or-later
// Static shared memory: CUDAVISION_SHARED(T, name) declares the variable `name` of the type T, for example int or
// float[4][33], in the shared memory of a block. In the emulator of tests/simt each block has its own.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#ifdef CUDAVISION_EMULATED_CUDA
#define CUDAVISION_SHARED(T, name) SIMT_SHARED(T, name)
#else
#define CUDAVISION_SHARED(T, name) __shared__ std::type_identity_t<T> name
#endif
