// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the kernels of a test program are emulated, and the emulator's controls where they are.
#pragma once

#if CUDAVISION_EMULATED
#include "simt.h"
#endif

namespace cudavision::test {

#if CUDAVISION_EMULATED
inline constexpr bool kEmulated = true;  // kernels run a thousand times slower: fewer and smaller pictures
#else
inline constexpr bool kEmulated = false;
#endif

}  // namespace cudavision::test
