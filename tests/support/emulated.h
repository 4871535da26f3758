// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the kernels of a test program are emulated, with the emulator's controls where they are, and
// whether AddressSanitizer watches it.
#pragma once

#if CUDAVISION_EMULATED
#include "tests/simt/simt.h"
#endif

namespace cudavision::test {

#if CUDAVISION_EMULATED
inline constexpr bool kEmulated = true;  // kernels run a thousand times slower: fewer and smaller pictures
#else
inline constexpr bool kEmulated = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;  // everything takes five times as long
#else
inline constexpr bool kSanitized = false;
#endif

// Whether tests do less, and with smaller pictures.
inline constexpr bool kSlow = kEmulated || kSanitized;

}  // namespace cudavision::test
