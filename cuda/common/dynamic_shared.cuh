// SPDX-License-Identifier: LGPL-2.1-or-later
// Dynamic shared memory: CUDAVISION_DYNAMIC_SHARED(T, name) declares `T *name`, which points to the dynamic
// shared memory of the launch, aligned to 16 bytes. Use it at most once in a kernel.
#pragma once

#include <cuda_runtime.h>

#ifdef CUDAVISION_EMULATED_CUDA
#define CUDAVISION_DYNAMIC_SHARED(T, name) T *const name = static_cast<T *>(simt::dynamic_shared_memory())
#else
#define CUDAVISION_DYNAMIC_SHARED(T, name)                         \
  extern __shared__ __align__(16) unsigned char dynamic_shared_[]; \
  T *const name = reinterpret_cast<T *>(dynamic_shared_)
#endif
