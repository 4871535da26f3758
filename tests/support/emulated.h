// SPDX-License-Identifier: LGPL-2.1-or-later
// Says whether a test program uses emulated kernels, includes the emulator's controls, and says whether the
// program is built with AddressSanitizer.
//
// A test file is compiled once and linked into two programs: one with the product's library, one with
// emulated kernels. In the first the controls do nothing and count nothing (no_emulation.cpp).
#pragma once

#include "tests/simt/simt.h"

namespace cudavision::test {

// Emulated kernels are a thousand times slower, so tests use fewer and smaller pictures.
extern const bool kEmulated;

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer makes tests five times as slow.
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// True if tests should do less work and use smaller pictures.
extern const bool kSlow;

}  // namespace cudavision::test

// The first statement of a test that counts CUDA calls or makes one of them fail.
#define CUDAVISION_NEEDS_EMULATION()  \
  if (!::cudavision::test::kEmulated) \
  GTEST_SKIP() << "only the emulated CUDA counts CUDA calls and can make them fail"
