// SPDX-License-Identifier: LGPL-2.1-or-later
// Says whether a test program uses emulated kernels, and then includes the emulator's controls, and whether
// it is built with AddressSanitizer.
#pragma once

#if CUDAVISION_EMULATED
#include "tests/simt/simt.h"
#endif

namespace cudavision::test {

#if CUDAVISION_EMULATED
// Emulated kernels are a thousand times slower, so tests use fewer and smaller pictures.
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer makes tests five times as slow.
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// True if tests should do less work and use smaller pictures.
inline constexpr bool kSlow = kEmulated || kSanitized;

}  // namespace cudavision::test
