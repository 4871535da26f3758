// SPDX-License-Identifier: LGPL-2.1-or-later
// AddressSanitizer's interface; empty in a build without AddressSanitizer.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_HAS_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SIMT_HAS_ASAN 1
#endif

#ifdef SIMT_HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

inline void poison([[maybe_unused]] const void *address, [[maybe_unused]] std::size_t bytes) {
#ifdef SIMT_HAS_ASAN
  ASAN_POISON_MEMORY_REGION(address, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void *address, [[maybe_unused]] std::size_t bytes) {
#ifdef SIMT_HAS_ASAN
  ASAN_UNPOISON_MEMORY_REGION(address, bytes);
#endif
}

// Call this right before a switch to the given stack. Saves the state of the current stack in `kept`.
inline void before_switch([[maybe_unused]] void **kept, [[maybe_unused]] const void *bottom,
                          [[maybe_unused]] std::size_t size) {
#ifdef SIMT_HAS_ASAN
  __sanitizer_start_switch_fiber(kept, bottom, size);
#endif
}

// Call this right after a switch. Returns the bounds of the stack that was left.
inline void after_switch([[maybe_unused]] void *kept, [[maybe_unused]] const void **old_bottom,
                         [[maybe_unused]] std::size_t *old_size) {
#ifdef SIMT_HAS_ASAN
  __sanitizer_finish_switch_fiber(kept, old_bottom, old_size);
#endif
}

}  // namespace simt
