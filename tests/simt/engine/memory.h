// SPDX-License-Identifier: LGPL-2.1-or-later
// The emulated device memory: which address belongs to what, and when it may be touched. Needs the device
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
  // Of cudaMallocPitch; height 0 otherwise.
  std::size_t pitch_bytes = 0, width_bytes = 0, height = 0;
  Context owner = kNoContext;
};

// The allocation that the address lies in, or one with a null begin.
Allocation find_allocation(const void *address);

// What of this memory was made in the context.
void count_owned(Context context, Owned *owned);
void release_memory(Context context);

// While it lives, the row padding of the allocation is accessible too: a flat copy or memset may cover it.
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
