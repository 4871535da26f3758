// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated device memory: maps addresses to allocations and controls access to them. All functions need the device
// lock.
#pragma once

#include <cstddef>

#include "tests/simt/driver_support.h"

namespace simt {

// Makes all device memory accessible except row padding, or inaccessible again.
void show_device_memory();
void hide_device_memory();

struct Allocation {
  char *begin = nullptr;
  std::size_t bytes = 0;
  // set by cudaMallocPitch; otherwise height is 0
  std::size_t pitch_bytes = 0, width_bytes = 0, height = 0;
  Context owner = kNoContext;
};

// The allocation that contains the address, or one with a null begin.
Allocation find_allocation(const void *address);

// Counts an atomic; returns whether its address is in global memory.
bool count_atomic(const void *address);

// Adds the memory that was allocated in the context to `owned`.
void count_owned(Context context, Owned *owned);
void release_memory(Context context);

// Makes the row padding of the allocation accessible while it exists, because a flat copy or memset may cover it.
class PaddingAccess {
 public:
  explicit PaddingAccess(const void *address);
  PaddingAccess(const PaddingAccess &) = delete;
  PaddingAccess &operator=(const PaddingAccess &) = delete;
  ~PaddingAccess();

 private:
  Allocation allocation_;
};

}  // namespace simt
